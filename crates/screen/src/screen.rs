//! The screen as a session has it: an observer that keeps what is known, and the thread that draws.
//!
//! The session calls [`Screen`] as any observer. `begin` enters the terminal and starts the thread;
//! each `observe` brings the shared [`Known`] up to date; `finish` ends the thread, leaves the
//! terminal, and only then prints the messages that came meanwhile, which would have torn the
//! screen. A screen that is dropped without `finish`, as where the run breaks off, leaves the
//! terminal too.
//!
//! The order within `show` matters: the terminal is entered when everything else but the thread is
//! there, so that a failure before leaves it as it was.

use crate::console::{Behind, Shared, lock};
use crate::known::Known;
use crate::look::Look;
use crate::terminal;
use crate::watcher::{Flags, Watcher, register};
use drumfire_measure::{RunEvent, Summary};
use drumfire_net::yield_to_others;
use drumfire_plan::Plan;
use drumfire_report::Naming;
use drumfire_session::{Console, Note, Observer, Redactor, RunContext, SessionError};
use rustix::fd::OwnedFd;
use rustix::pipe::{PipeFlags, pipe_with};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// A run on the whole terminal, as long as its load lasts; the head of this crate says how.
pub struct Screen {
    /// The state that the observer writes and the thread reads.
    shared: Shared,
    /// The console beneath, for messages before and after the screen.
    console: Arc<dyn Console>,
    redactor: Redactor,
    naming: Naming,
    flags: Flags,
    /// The thread and its pipe, between `begin` and `finish`.
    shown: Option<Shown>,
}

/// The parts of a screen that is shown.
struct Shown {
    /// The thread that draws.
    thread: JoinHandle<()>,
    /// The end of the pipe that wakes the thread.
    waker: OwnedFd,
    /// The signals that are watched, to be let go of at the end.
    signals: Vec<signal_hook::SigId>,
}

impl Screen {
    /// A screen for a plan's run. Messages go to `console` when the screen has gone.
    #[must_use]
    pub fn new(
        plan: &Plan,
        naming: Naming,
        redactor: &Redactor,
        console: Arc<dyn Console>,
    ) -> Self {
        Self {
            shared: Arc::new(Mutex::new(Known::new(plan, redactor.clone()))),
            console,
            redactor: redactor.clone(),
            naming,
            flags: Flags::default(),
            shown: None,
        }
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
    /// When the system has no pipe or thread, or the terminal refuses to be entered.
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

    /// Ends the thread and leaves the terminal; nothing where the screen is not shown. A panic of
    /// the thread is raised here, behind the leaving, so that its message can be read.
    fn hide(&mut self) {
        let Some(shown) = self.shown.take() else {
            return;
        };
        self.flags.is_over.store(true, Ordering::Release);
        // A full pipe wakes as well.
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
    fn begin(&mut self, run: &RunContext) -> Result<(), SessionError> {
        lock(&self.shared).begin(run.control.clone());
        self.shown = Some(self.show(run).map_err(SessionError::Thread)?);
        Ok(())
    }

    /// Closing the books on a worker's core would make its requests late.
    fn yields(&self) -> bool {
        true
    }

    fn observe(&mut self, event: &RunEvent) {
        lock(&self.shared).observe(event);
    }

    fn finish(mut self: Box<Self>, _summary: &Summary) -> Vec<Note> {
        self.hide();
        let notes = std::mem::take(&mut lock(&self.shared).notes);
        for note in notes.into_messages() {
            self.console.note(&note);
        }
        Vec::new()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.hide();
    }
}
