//! The screen as a session uses it: an observer that keeps the state of the run, and the thread
//! that draws.
//!
//! The session calls [`Screen`] like any observer. `begin` enters the terminal and starts the
//! thread; each `observe` updates the shared [`Known`]; `finish` ends the thread, leaves the
//! terminal, and then prints the messages that came meanwhile, which would have damaged the screen.
//! If the screen stays, `finish` first waits for the user, so the screen has to be the last observer
//! that finishes.
//! A screen that is dropped without `finish`, such as when the run is aborted, leaves the terminal
//! too.
//!
//! The order in `show` matters: the terminal is entered after everything else except the thread
//! exists, so that a failure before leaves the terminal unchanged.

use crate::console::{Behind, Shared, lock};
use crate::known::Known;
use crate::look::Look;
use crate::terminal;
use crate::watcher::{Flags, Watcher, register, register_ends};
use drumfire_measure::{RunEvent, Summary};
use drumfire_net::yield_to_others;
use drumfire_plan::Plan;
use drumfire_report::Naming;
use drumfire_session::{Console, EndRequests, Note, Observer, Redactor, RunContext, SessionError};
use rustix::fd::OwnedFd;
use rustix::pipe::{PipeFlags, pipe_with};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// A run on the whole terminal while its load lasts; the documentation of the crate explains how.
pub struct Screen {
    /// The state that the observer writes and the thread reads.
    shared: Shared,
    /// The underlying console, for messages before and after the screen.
    console: Arc<dyn Console>,
    redactor: Redactor,
    naming: Naming,
    flags: Flags,
    /// The count of the user's requests for an end, once the run has begun.
    end_requests: EndRequests,
    /// The thread and its pipe, between `begin` and `finish`.
    shown: Option<Shown>,
}

/// When the screen is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// At the end of the run.
    #[default]
    WithRun,
    /// After the end of the run, by a key.
    ByKey,
}

/// The parts of a visible screen.
struct Shown {
    /// The thread that draws.
    thread: JoinHandle<()>,
    /// The end of the pipe that wakes the thread.
    waker: OwnedFd,
    /// The registered signals, which are unregistered at the end.
    signals: Vec<signal_hook::SigId>,
}

impl Screen {
    /// A screen for a plan's run. Messages go to `console` after the screen has been left.
    #[must_use]
    pub fn new(
        plan: &Plan,
        naming: Naming,
        redactor: &Redactor,
        console: Arc<dyn Console>,
    ) -> Self {
        Self {
            end_requests: EndRequests::default(),
            shared: Arc::new(Mutex::new(Known::new(plan, redactor.clone()))),
            console,
            redactor: redactor.clone(),
            naming,
            flags: Flags::default(),
            shown: None,
        }
    }

    /// A screen that is left in this way.
    #[must_use]
    pub fn until(self, end: End) -> Self {
        self.flags.stays.store(end == End::ByKey, Ordering::Release);
        self
    }

    /// Sets the address of the run's page in a browser, for a row of the screen.
    pub fn set_page(&self, page: String) {
        lock(&self.shared).set_page(page);
    }

    /// The console for a session's messages while the screen is shown.
    #[must_use]
    pub fn console(&self) -> Arc<dyn Console> {
        Arc::new(Behind {
            beneath: Arc::clone(&self.console),
            shared: Arc::clone(&self.shared),
            is_shown: terminal::is_shown,
        })
    }

    /// Shows the screen and starts its thread.
    ///
    /// # Errors
    /// If the system has no pipe or thread, or the terminal cannot be entered.
    fn show(&self, run: &RunContext) -> std::io::Result<Shown> {
        let (waiter, waker) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let signals = register(&self.flags, &waker)?;
        let style = self.console.style().naming(self.naming);
        let watcher = Watcher::new(
            Arc::clone(&self.shared),
            run,
            self.flags.clone(),
            waiter,
            Look::new(style, self.redactor.clone()),
        )?;
        terminal::enter()?;
        let thread = thread::Builder::new().name("screen".to_owned());
        let thread = thread.spawn(move || {
            yield_to_others();
            watcher.watch();
        })?;
        Ok(Shown {
            thread,
            waker,
            signals,
        })
    }

    /// Whether the screen of a run that is over stays until the user leaves it. After a second
    /// request for the end, the program has to end soon.
    fn lingers(&self, shown: &mut Shown) -> bool {
        if !self.flags.stays.load(Ordering::Acquire) || self.end_requests.count() > 1 {
            return false;
        }
        self.flags.is_interrupted.store(false, Ordering::Release);
        let registered = register_ends(&self.flags, &shown.waker);
        shown.signals.extend(registered.into_iter().flatten());
        true
    }

    /// Ends the thread, or waits until the user leaves a screen that stays, and leaves the terminal;
    /// does nothing if the screen is not shown. A panic of the thread is raised here after the
    /// terminal has been left, so that its message can be read.
    fn hide(&mut self, end: End) {
        let Some(mut shown) = self.shown.take() else {
            return;
        };
        if end == End::WithRun || !self.lingers(&mut shown) {
            self.flags.is_over.store(true, Ordering::Release);
        }
        // A full pipe wakes the thread as well.
        let _full = rustix::io::write(&shown.waker, &[0]);
        let ended = shown.thread.join();
        terminal::leave();
        for signal in shown.signals {
            signal_hook::low_level::unregister(signal);
        }
        if let Err(panic) = ended {
            std::panic::resume_unwind(panic);
        }
    }
}

impl Observer for Screen {
    fn run_started(&mut self, run: &RunContext) -> Result<(), SessionError> {
        lock(&self.shared).set_run(run);
        self.end_requests = run.end_requests.clone();
        self.shown = Some(self.show(run).map_err(SessionError::Thread)?);
        Ok(())
    }

    /// Closing the books on a worker's core would delay its requests.
    fn yields(&self) -> bool {
        true
    }

    fn observe(&mut self, event: &RunEvent) {
        lock(&self.shared).observe(event);
    }

    fn finish(mut self: Box<Self>, _summary: &Summary) -> Vec<Note> {
        self.hide(End::ByKey);
        let notes = std::mem::take(&mut lock(&self.shared).notes);
        for note in notes.into_messages() {
            self.console.note(&note);
        }
        Vec::new()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.hide(End::WithRun);
    }
}
