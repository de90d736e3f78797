//! What a frame shows: a copy of the state of a run at one moment.
//!
//! A frame is drawn without the lock on the state, and a frozen screen keeps its moment.

use crate::failure_history::FailureHistory;
use drumfire_measure::{IntervalRow, Summary};
use drumfire_plan::StopReason;
use drumfire_report::screen::{Backlog, Suspense};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The phase of a run's load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadPhase {
    /// Requests start and are not measured yet.
    WarmUp,
    /// Requests start.
    Running,
    /// No request starts until a command resumes the load.
    Paused,
    /// No request starts any more, for this reason.
    Drain(StopReason),
    /// The books are closed.
    Over,
}

impl LoadPhase {
    /// The word for the phase.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::WarmUp => "warm-up",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Drain(_) => "drain",
            Self::Over => "over",
        }
    }
}

/// The state of a run at one moment.
#[derive(Clone)]
pub(crate) struct Moment {
    /// The books as of the newest interval's end; before the first interval is over, there are none.
    pub(crate) summary: Option<Arc<Summary>>,
    /// The newest rows, oldest first.
    pub(crate) rows: Vec<IntervalRow>,
    /// The failures of each kind over time.
    pub(crate) failures: FailureHistory,
    /// Grows with each change of what pictures show.
    pub(crate) generation: u64,
    /// The time since the load began.
    pub(crate) elapsed: Nanos,
    /// The end of the load, if known.
    pub(crate) load_end: Option<Nanos>,
    /// The share of the load that is done, if its end is known.
    pub(crate) done: Option<f64>,
    /// The phase of the load.
    pub(crate) phase: LoadPhase,
    /// The requests without an end.
    pub(crate) backlog: Backlog,
    /// The wait for the first answer, if the summary has none.
    pub(crate) suspense: Suspense,
    /// The newest message of the session.
    pub(crate) note: Option<String>,
    /// The address of the run's page in a browser, if it has one.
    pub(crate) page: Option<String>,
}

impl Moment {
    /// The newest whole interval; without one, the newest interval.
    pub(crate) fn newest(&self) -> Option<&IntervalRow> {
        let whole = self.summary.as_ref()?.info.interval;
        let mut newest = self.rows.iter().rev();
        let found = newest.find(|row| row.length() >= whole);
        found.or_else(|| self.rows.last())
    }

    /// Whether the run waits for its first answer. A run that is over has been judged.
    pub(crate) fn awaits_answer(&self, summary: &Summary) -> bool {
        self.phase != LoadPhase::Over && Suspense::holds(summary)
    }
}
