//! One run from a prepared plan to its outcome.
//!
//! A session is built up first: [`Session::of`], notes, observers. [`Session::run`] then takes it
//! through its life: observers are opened in the order in which they were attached, the run starts,
//! each observer gets its queue and begins, and the caller's thread hands out events until the run
//! is over. Observers end in the opposite order, those of the caller's thread first, and each is
//! given a summary that has the notes of all before it: the store, which is attached first, stores
//! the notes of every other one.
//!
//! Each observer beside has its queue before the run's first event could be missed, whatever time
//! others take to begin. Behind the run the caller's thread takes each of them over, with the events
//! that still wait: a thread that yields ([`Observer::yields`]) may get no time for long where other
//! programs keep the machine busy, and there is no load left that it could disturb. A panic of an
//! observer's thread is the session's, when it is taken over.
//!
//! Where an observer can't begin, the load has begun: the run is ended and joined, and so are the
//! threads of observers that have begun, before the error is returned.

use crate::describe;
use crate::history::History;
use crate::limits::{connections_max, within_limits};
use crate::{EndRequests, Note, Observer, RunContext, SessionError};
use drumfire_engine::{Appointment, Events, Prepared, Run, RunError, Shares};
use drumfire_measure::{RunInfo, Summary};
use drumfire_net::yield_to_others;
use drumfire_plan::StopReason;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// A run that is being put together.
pub struct Session<'a> {
    info: RunInfo,
    start: Start,
    /// The notes of the caller.
    notes: Vec<String>,
    /// Whether an observer drives the rate.
    is_driven: bool,
    /// The observers with their own threads, in the order in which they were attached.
    beside: Vec<Beside>,
    /// The observers of the caller's thread.
    here: Vec<Box<dyn Observer + 'a>>,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The summary, with the notes of all observers.
    pub summary: Arc<Summary>,
    /// The results that are lacking, in the order in which their observers were attached.
    pub failures: Vec<String>,
    /// The directory in which the run is stored to its end.
    pub stored: Option<PathBuf>,
}

/// Starts the run with its facts, when all observers are open.
type Start = Box<dyn FnOnce(Arc<RunInfo>) -> Result<Run, RunError>>;

/// An observer with its own thread.
struct Beside {
    /// The name of the thread.
    name: &'static str,
    observer: Box<dyn Observer + Send>,
}

/// The same while the run goes on.
struct Observing {
    desk: Arc<Desk>,
    thread: JoinHandle<()>,
}

/// An observer and its queue, between its own thread and the caller's, which takes it over when the
/// run is over.
struct Desk {
    events: Events,
    /// `None` once it was taken over. Each event is taken and observed under the lock, so that all
    /// are observed in their order.
    observer: Mutex<Option<Box<dyn Observer + Send>>>,
    /// Whether the observer is about to be taken over: its thread must not lock it again.
    is_taken: AtomicBool,
}

impl<'a> Session<'a> {
    /// A session of a prepared plan, without observers.
    #[must_use]
    pub fn of(prepared: Arc<Prepared>) -> Self {
        let shares = Shares::all(&prepared.placement);
        let info = describe::info(&prepared);
        Self::with(info, move |info| Run::start(prepared, info, shares))
    }

    /// A session of some shares of a prepared plan, whose load begins at an appointment.
    #[must_use]
    pub fn of_shares(prepared: Arc<Prepared>, shares: Shares, appointment: Appointment) -> Self {
        let info = describe::info(&prepared);
        Self::with(info, move |info| {
            Run::start_at(prepared, info, shares, Some(appointment))
        })
    }

    /// A session of a run with these facts, which `start` starts when all observers are open.
    #[must_use]
    pub fn with(
        info: RunInfo,
        start: impl FnOnce(Arc<RunInfo>) -> Result<Run, RunError> + 'static,
    ) -> Self {
        Self {
            info,
            start: Box::new(start),
            notes: Vec::new(),
            is_driven: false,
            beside: Vec::new(),
            here: Vec::new(),
        }
    }

    /// The facts of its run.
    #[must_use]
    pub const fn info(&self) -> &RunInfo {
        &self.info
    }

    /// Adds notes for the report, which stand before all others.
    #[must_use]
    pub fn noted(mut self, notes: &[String]) -> Self {
        self.notes.extend_from_slice(notes);
        self
    }

    /// Leaves the changes of the rate out of the report's notes: an observer drives it, with more
    /// commands than anybody reads.
    #[must_use]
    pub fn driven(self) -> Self {
        Self {
            is_driven: true,
            ..self
        }
    }

    /// Adds an observer that has a thread of this name, and a queue of its own. Those that may
    /// wait, for a disk or a peer, belong there.
    #[must_use]
    pub fn observed_beside(
        mut self,
        name: &'static str,
        observer: impl Observer + Send + 'static,
    ) -> Self {
        self.beside.push(Beside {
            name,
            observer: Box::new(observer),
        });
        self
    }

    /// Adds an observer in the caller's thread, which shares that with the others.
    #[must_use]
    pub fn observed_by(mut self, observer: impl Observer + 'a) -> Self {
        self.here.push(Box::new(observer));
        self
    }

    /// Runs the plan to its end.
    ///
    /// # Errors
    /// When the run can't take place or breaks off, or an observer without which it must not take
    /// place can't be opened. A target that does not answer is no error but an outcome.
    pub fn run(mut self) -> Result<Outcome, SessionError> {
        let mut info = self.info;
        info.notes.splice(0..0, self.notes.drain(..));
        for beside in &mut self.beside {
            beside.observer.open(&mut info)?;
        }
        for observer in &mut self.here {
            observer.open(&mut info)?;
        }
        let info = Arc::new(info);
        let run = (self.start)(Arc::clone(&info)).map_err(SessionError::Run)?;
        let context = RunContext {
            info,
            control: run.control(),
            end_requests: EndRequests::default(),
        };
        // All have their queues before the first of them takes its time.
        let queues: Vec<Events> = self.beside.iter().map(|_| run.events()).collect();
        let events = run.events();
        let mut observing = Vec::with_capacity(queues.len());
        let mut history = Box::new(History::default());
        history.is_driven = self.is_driven;
        let begun = begin_all(
            self.beside.into_iter().zip(queues),
            &context,
            &mut observing,
        )
        .and_then(|()| history.begin(&context))
        .and_then(|()| self.here.iter_mut().try_for_each(|it| it.begin(&context)));
        if let Err(error) = begun {
            give_up(run, observing);
            return Err(error);
        }
        for event in events {
            history.observe(&event);
            for observer in &mut self.here {
                observer.observe(&event);
            }
        }
        let summary = run.join().map_err(SessionError::Run)?;
        let mut outcome = Outcome {
            summary: within_limits(summary, connections_max()),
            failures: Vec::new(),
            stored: None,
        };
        for observer in self.here.into_iter().rev() {
            outcome.finish(observer);
        }
        outcome.finish(history);
        for observing in observing.into_iter().rev() {
            outcome.finish(observing.take_over());
        }
        outcome.failures.reverse();
        Ok(outcome)
    }
}

/// Begins observers, each on a thread of its own; `observing` has those that have begun.
fn begin_all(
    beside: impl Iterator<Item = (Beside, Events)>,
    context: &RunContext,
    observing: &mut Vec<Observing>,
) -> Result<(), SessionError> {
    for (beside, events) in beside {
        observing.push(beside.begin(context, events)?);
    }
    Ok(())
}

/// Ends a run that an observer can't follow, and waits until nothing of it is observed any more.
fn give_up(run: Run, observing: Vec<Observing>) {
    run.control().end(StopReason::Command);
    // The observer's error is the session's, whatever the run makes of its end.
    let _unfinished = run.join();
    for observing in observing {
        drop(observing.take_over());
    }
}

impl Beside {
    /// Begins the observer in the caller's thread, and moves it to its own.
    fn begin(mut self, context: &RunContext, events: Events) -> Result<Observing, SessionError> {
        self.observer.begin(context)?;
        let yields = self.observer.yields();
        let desk = Arc::new(Desk {
            events,
            observer: Mutex::new(Some(self.observer)),
            is_taken: AtomicBool::new(false),
        });
        let body = {
            let desk = Arc::clone(&desk);
            move || {
                if yields {
                    yield_to_others();
                }
                desk.follow();
            }
        };
        let thread = thread::Builder::new().name(self.name.to_owned());
        let thread = thread.spawn(body).map_err(SessionError::Thread)?;
        Ok(Observing { desk, thread })
    }
}

impl Desk {
    /// Lets the observer see the events as they come, until none comes any more or it is taken over.
    fn follow(&self) {
        while self.events.wait() && !self.is_taken.load(Ordering::Acquire) {
            // Nothing else panics under the lock than the observer, in the caller's thread by then.
            let Ok(mut observer) = self.observer.lock() else {
                return;
            };
            if let Some(observer) = &mut *observer
                && let Some(event) = self.events.try_next()
            {
                observer.observe(&event);
            }
        }
    }
}

impl Observing {
    /// Takes the observer over from its thread, which may be in the middle of an event, and lets it
    /// see all that are left. The run is over.
    fn take_over(self) -> Box<dyn Observer + Send> {
        let Self { desk, thread } = self;
        desk.is_taken.store(true, Ordering::Release);
        let observer = desk.observer.lock().map(|mut observer| observer.take());
        let Ok(Some(mut observer)) = observer else {
            // Only a panic keeps it from being there.
            let panicked = thread.join();
            panicked.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            unreachable!("an observer is taken over once");
        };
        while let Some(event) = desk.events.try_next() {
            observer.observe(&event);
        }
        observer
    }
}

impl Outcome {
    /// Ends an observer, and takes in its notes and failures.
    fn finish(&mut self, observer: Box<dyn Observer + '_>) {
        let mut notes = Vec::new();
        for note in observer.finish(&self.summary) {
            match note {
                Note::Report(text) => notes.push(text),
                Note::Failure(text) => self.failures.push(text),
                Note::Stored(path) => self.stored = Some(path),
            }
        }
        if !notes.is_empty() {
            let summary = Arc::make_mut(&mut self.summary);
            Arc::make_mut(&mut summary.info).notes.extend(notes);
        }
    }
}
