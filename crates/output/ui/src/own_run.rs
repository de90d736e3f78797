//! The run of this process: an observer writes its state, and the server's threads read it.
//!
//! The observer holds the lock while it handles an event, and a reader while it copies the books.
//! Nothing is drawn under the lock.

use crate::look::Look;
use drumfire_measure::{RunEvent, RunInfo, Summary};
use drumfire_plan::Plan;
use drumfire_report::Naming;
use drumfire_report::html::{self, Origin, Part, RunPhase, RunProgress, ToList};
use drumfire_report::progress_line::Stage;
use drumfire_session::{Order, Redactor, RunContext, Standing, Steering};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The run of a page, before it begins.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The plan of the run.
    pub plan: &'a Plan,
    /// The plan in YAML, without secrets; empty if it is unknown.
    pub text: &'a str,
    /// How the run's caller names settings.
    pub naming: Naming,
    /// The secrets that the page masks.
    pub redactor: &'a Redactor,
}

/// The run of this process.
pub(crate) struct OwnRun {
    state: Mutex<State>,
    /// Grows with each change of the page.
    version: AtomicU64,
    redactor: Redactor,
    naming: Naming,
    /// The plan without secrets.
    plan: String,
}

/// The state of the run while it is active, and its books at the end.
struct State {
    standing: Standing,
    /// The final books, with the notes of all observers.
    last: Option<Arc<Summary>>,
}

impl State {
    /// The progress of the run.
    fn progress(&self) -> RunProgress {
        let newest = self.standing.progress();
        let is_paused = self.standing.steering().is_some_and(Steering::is_paused);
        let stage = newest.as_ref().map(|(_, progress)| progress.stage);
        let phase = match stage {
            _ if self.last.is_some() => RunPhase::Over,
            None => RunPhase::Start,
            Some(Stage::Drain) => RunPhase::Drain,
            Some(_) if is_paused => RunPhase::Paused,
            Some(Stage::WarmUp(_)) => RunPhase::WarmUp,
            Some(Stage::Load) => RunPhase::Load,
        };
        RunProgress {
            phase,
            done: newest.map_or_else(|| self.standing.elapsed(), |(interval, _)| interval.end),
            planned: self.standing.load_end(),
        }
    }
}

/// The parts of the state from which a page is made.
struct Seen {
    info: Arc<RunInfo>,
    summary: Option<Arc<Summary>>,
    progress: RunProgress,
}

impl OwnRun {
    /// A run that has not begun.
    pub(crate) fn new(subject: &Subject<'_>) -> Self {
        Self {
            state: Mutex::new(State {
                standing: Standing::new(subject.plan, subject.redactor.clone()),
                last: None,
            }),
            version: AtomicU64::new(0),
            redactor: subject.redactor.clone(),
            naming: subject.naming,
            plan: subject.text.to_owned(),
        }
    }

    /// Sets the control of the run that begins.
    pub(crate) fn set_run(&self, run: &RunContext) {
        self.lock().standing.set_run(run);
    }

    /// Observes an event.
    pub(crate) fn observe(&self, event: &RunEvent) {
        self.lock().standing.observe(event);
        self.version.fetch_add(1, Ordering::Release);
    }

    /// Sets the books of the run that has ended.
    pub(crate) fn set_books(&self, summary: &Summary) {
        self.lock().last = Some(Arc::new(summary.clone()));
        self.version.fetch_add(1, Ordering::Release);
    }

    /// A number that changes with the page.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The id of the run, once it has begun.
    pub(crate) fn id(&self) -> Option<String> {
        Some(self.lock().standing.info()?.id.clone())
    }

    /// The current run; `None` before it has begun.
    pub(crate) fn look(&self) -> Option<Look> {
        let seen = self.seen()?;
        let mut parts = Vec::new();
        let mut title = "drumfire".to_owned();
        if let Some(summary) = &seen.summary {
            let origin = Origin {
                naming: self.naming,
                plan: &self.plan,
                files: &[],
                teardown: None,
                against: None,
            };
            title = self.redactor.text(&html::title(summary)).into_owned();
            parts = html::parts(summary, &origin);
        }
        let phase = seen.progress.phase;
        // After the run's name.
        let place = parts.len().min(1);
        parts.insert(place, html::progress(&seen.progress));
        if phase != RunPhase::Over {
            parts.insert(place + 1, html::control(&seen.info, phase));
        }
        parts.insert(0, html::back(ToList::FromUnstored));
        Some(Look {
            title,
            parts: parts.into_iter().map(|part| self.masked(part)).collect(),
            is_live: phase != RunPhase::Over,
        })
    }

    /// Carries out a user's order. Returns the answer.
    ///
    /// # Errors
    /// If the order is invalid for the run, or the run refuses it; the text has the reason.
    pub(crate) fn carry_out(&self, order: &Order<'_>) -> Result<String, String> {
        let mut state = self.lock();
        let info = state.standing.info().map(Arc::clone);
        let info = info.ok_or("the load has not started")?;
        let command = order.command(&info)?;
        state.standing.carry_out(&command)
    }

    /// The state from which a page is made, copied under the lock; `None` before the run has begun.
    /// Closes the books as if the run ended now.
    fn seen(&self) -> Option<Seen> {
        let state = self.lock();
        let standing = &state.standing;
        Some(Seen {
            info: Arc::clone(standing.info()?),
            summary: state.last.clone().or_else(|| standing.closed()),
            progress: state.progress(),
        })
    }

    /// A part with the plan's secrets masked.
    fn masked(&self, part: Part) -> Part {
        let html = self.redactor.markup(part.html.as_bytes());
        Part {
            html: String::from_utf8_lossy(&html).into_owned(),
            ..part
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
