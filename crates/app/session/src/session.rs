//! One run from a prepared plan to its outcome.
//!
//! A session is first built: [`Session::new`], notes, observers. [`Session::run`] then opens the
//! observers in the order of attachment, starts the run, gives each observer its queue, lets it
//! begin, and hands out events in the caller's thread until the run is over. Observers finish in
//! the reverse order, starting with those in the caller's thread. Each gets a summary with the
//! notes of all observers that finished before it: the store, which is attached first, stores the
//! notes of all others.
//!
//! Each observer with a thread gets its queue before it could miss the run's first event, however
//! long others take to begin. After the run, the caller's thread takes over each of these observers
//! with its remaining events: a thread that yields ([`Observer::yields`]) may get no CPU time for
//! long if other programs keep the machine busy, and no load can be disturbed any more. If an
//! observer's thread panicked, the session panics when it takes the observer over.
//!
//! If an observer cannot begin, the load has already begun. The run is ended and joined, and so are
//! the threads of observers that have begun, before the error is returned.

use crate::describe;
use crate::history::CommandHistory;
use crate::limits::{connections_max, within_limits};
use crate::{EndRequests, InferenceBoard, Note, Observer, RunContext, SessionError};
use drumfire_engine::{Appointment, Events, Prepared, Run, RunError, Shares};
use drumfire_measure::{Doubt, RunInfo, Summary};
use drumfire_net::yield_to_others;
use drumfire_plan::StopReason;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// A run that is being built.
pub struct Session<'a> {
    info: RunInfo,
    start: Start,
    /// The notes of the caller.
    notes: Vec<String>,
    /// Whether an observer controls the rate.
    is_driven: bool,
    /// The observers with their own threads, in the order of attachment.
    beside: Vec<Beside>,
    /// The observers of the caller's thread.
    here: Vec<Box<dyn Observer + 'a>>,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The summary, with the notes of all observers.
    pub summary: Arc<Summary>,
    /// The missing results, in the order in which their observers were attached.
    pub failures: Vec<String>,
    /// The directory in which the run is completely stored.
    pub stored: Option<PathBuf>,
}

/// Starts the run with its facts, after all observers are open.
type Start = Box<dyn FnOnce(Arc<RunInfo>) -> Result<Run, RunError>>;

/// An observer with its own thread.
struct Beside {
    /// The name of the thread.
    name: &'static str,
    observer: Box<dyn Observer + Send>,
}

/// An observer with its own thread, during the run.
struct Observing {
    desk: Arc<ObserverDesk>,
    thread: JoinHandle<()>,
}

/// An observer and its queue, shared by its own thread and the caller's, which takes the observer
/// over after the run.
struct ObserverDesk {
    events: Events,
    /// `None` after the observer was taken over. Each event is taken and observed under the lock,
    /// so that all events are observed in order.
    observer: Mutex<Option<Box<dyn Observer + Send>>>,
    /// Whether the observer is about to be taken over: its thread must not lock it again.
    is_taken: AtomicBool,
}

impl<'a> Session<'a> {
    /// A session of a prepared plan, without observers.
    #[must_use]
    pub fn new(prepared: Arc<Prepared>) -> Self {
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

    /// A session of a run with these facts; `start` starts the run after all observers are open.
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

    /// Sets the version of the program that ran, with its commit if the build knows it.
    #[must_use]
    pub fn of_program(mut self, version: &str) -> Self {
        version.clone_into(&mut self.info.version);
        self
    }

    /// Adds notes for the report, before all others.
    #[must_use]
    pub fn noted(mut self, notes: &[String]) -> Self {
        self.notes.extend_from_slice(notes);
        self
    }

    /// Omits the changes of the rate from the report's notes, because an observer controls the rate
    /// with too many commands.
    #[must_use]
    pub fn driven(self) -> Self {
        Self {
            is_driven: true,
            ..self
        }
    }

    /// Adds an observer with a thread of this name and a separate queue. Observers that may wait,
    /// for a disk or a peer, must be attached in this way.
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

    /// Adds an observer in the caller's thread, which it shares with others.
    #[must_use]
    pub fn observed_by(mut self, observer: impl Observer + 'a) -> Self {
        self.here.push(Box::new(observer));
        self
    }

    /// Runs the plan to its end.
    ///
    /// # Errors
    /// If the run cannot start or is aborted, or a required observer cannot be opened. A target
    /// that does not answer is not an error but an outcome.
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
            inference: InferenceBoard::default(),
        };
        // All observers have their queues before the first of them uses time.
        let queues: Vec<Events> = self.beside.iter().map(|_| run.events()).collect();
        let events = run.events();
        let mut observing = Vec::with_capacity(queues.len());
        let mut history = Box::new(CommandHistory::default());
        history.is_driven = self.is_driven;
        let begun = begin_all(
            self.beside.into_iter().zip(queues),
            &context,
            &mut observing,
        )
        .and_then(|()| history.run_started(&context))
        .and_then(|()| {
            self.here
                .iter_mut()
                .try_for_each(|it| it.run_started(&context))
        });
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

/// Begins observers, each in a separate thread; `observing` gets those that have begun.
fn begin_all(
    beside: impl Iterator<Item = (Beside, Events)>,
    context: &RunContext,
    observing: &mut Vec<Observing>,
) -> Result<(), SessionError> {
    for (beside, events) in beside {
        observing.push(beside.start(context, events)?);
    }
    Ok(())
}

/// Ends a run that an observer cannot follow, and waits until nothing observes it any more.
fn give_up(run: Run, observing: Vec<Observing>) {
    run.control().stop_now(StopReason::Command);
    // The session returns the observer's error, and ignores how the run ends.
    let _unfinished = run.join();
    for observing in observing {
        drop(observing.take_over());
    }
}

impl Beside {
    /// Begins the observer in the caller's thread, and moves it to its own thread.
    fn start(mut self, context: &RunContext, events: Events) -> Result<Observing, SessionError> {
        self.observer.run_started(context)?;
        let yields = self.observer.yields();
        let desk = Arc::new(ObserverDesk {
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

impl ObserverDesk {
    /// Passes events to the observer as they come, until no more come or the observer is taken
    /// over.
    fn follow(&self) {
        while self.events.wait() && !self.is_taken.load(Ordering::Acquire) {
            // Only the observer can panic under the lock, in the caller's thread by then.
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
    /// Takes the observer over from its thread, which may be in the middle of an event, and passes
    /// all remaining events to the observer. The run is over.
    fn take_over(self) -> Box<dyn Observer + Send> {
        let Self { desk, thread } = self;
        desk.is_taken.store(true, Ordering::Release);
        let observer = desk.observer.lock().map(|mut observer| observer.take());
        let Ok(Some(mut observer)) = observer else {
            // Only a panic can have removed the observer.
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
    /// Finishes an observer, and adds its notes and failures.
    fn finish(&mut self, observer: Box<dyn Observer + '_>) {
        let mut notes = Vec::new();
        for note in observer.finish(&self.summary) {
            match note {
                Note::Report(text) => notes.push(text),
                Note::Doubt(text) => {
                    Arc::make_mut(&mut self.summary).add_doubt(Doubt { text, unknown: 0.0 })
                }
                Note::Inference(record) => {
                    Arc::make_mut(&mut self.summary).inference = Some(record);
                }
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
