//! The state of a run on a screen: its standing, its books as of the newest interval, and the
//! messages of the session.
//!
//! [`Known::observe`] handles each event once, on the observer's thread; a frame reads a copy
//! ([`Known::moment`]). Books are closed once per interval, on a copy too.

use crate::failure_history::FailureHistory;
use crate::moment::{LoadPhase, Moment};
use crate::notes::Notes;
use drumfire_measure::{IntervalRow, RunEvent, Summary};
use drumfire_plan::Plan;
use drumfire_report::progress_line::{Stage, share_done, waiting};
use drumfire_report::screen::{Backlog, Suspense};
use drumfire_session::{Redactor, RunContext, Standing, Steering};
use drumfire_units::Nanos;
use std::collections::VecDeque;
use std::sync::Arc;

/// The number of newest intervals that can be shown separately.
const RECENT: usize = 60;

/// A run as a screen shows it.
pub(crate) struct Known {
    /// The current state of the run, from its events.
    pub(crate) standing: Standing,
    /// The books as of the newest interval's end.
    pub(crate) summary: Option<Arc<Summary>>,
    /// The newest rows, oldest first.
    pub(crate) rows: VecDeque<IntervalRow>,
    /// The failures of each kind over time.
    failures: FailureHistory,
    /// The end of the first interval in which a request was sent.
    first_sent: Option<Nanos>,
    /// The address of the run's page in a browser, if it has one.
    page: Option<String>,
    /// Grows with each change of what pictures show: approximately the number of intervals.
    pub(crate) generation: u64,
    /// Grows with each event of the run.
    pub(crate) events: u64,
    /// Messages of the session.
    pub(crate) notes: Notes,
}

impl Known {
    /// The state of a plan's run that has not begun.
    pub(crate) fn new(plan: &Plan, redactor: Redactor) -> Self {
        Self {
            standing: Standing::new(plan, redactor),
            summary: None,
            rows: VecDeque::new(),
            failures: FailureHistory::default(),
            first_sent: None,
            page: None,
            generation: 0,
            events: 0,
            notes: Notes::default(),
        }
    }

    /// Sets the control of a run that begins.
    pub(crate) fn set_run(&mut self, run: &RunContext) {
        self.standing.set_run(run);
    }

    /// Sets the address of the run's page in a browser.
    pub(crate) fn set_page(&mut self, page: String) {
        self.page = Some(page);
    }

    /// The address of the run's page in a browser, if it has one.
    pub(crate) fn page(&self) -> Option<&str> {
        self.page.as_deref()
    }

    /// Adds a message of the session. The address of the page has a row of its own.
    pub(crate) fn add_note(&mut self, message: &str) {
        let is_shown = |page: &String| message.contains(page.as_str());
        match self.page.as_ref().is_some_and(is_shown) {
            true => {}
            false => self.notes.add(message),
        }
    }

    /// Observes an event.
    pub(crate) fn observe(&mut self, event: &RunEvent) {
        self.events += 1;
        self.standing.observe(event);
        match event {
            RunEvent::IntervalClosed(interval) => {
                self.rows.extend(self.standing.take_row());
                let excess = self.rows.len().saturating_sub(RECENT);
                self.rows.drain(..excess);
                self.failures.absorb(interval);
                if self.standing.reading().is_some_and(|it| it.sent() > 0) {
                    self.first_sent.get_or_insert(interval.end);
                }
                self.close();
            }
            RunEvent::Finished(_) => self.close(),
            RunEvent::Stopping { .. } => self.generation += 1,
            RunEvent::Started(_)
            | RunEvent::Changed(_)
            | RunEvent::Kept(_)
            | RunEvent::Transcripts(_)
            | RunEvent::Failed(_) => {}
        }
    }

    fn close(&mut self) {
        self.summary = self.standing.closed();
        self.generation += 1;
    }

    /// A copy of what a frame shows at this time of the run.
    pub(crate) fn moment(&self, elapsed: Nanos) -> Moment {
        let standing = &self.standing;
        let progress = standing.progress();
        let in_flight = standing.in_flight();
        let backlog = Backlog {
            under_way: in_flight,
            waiting: progress.map_or(0, |(interval, progress)| {
                waiting(interval, progress.reading)
            }),
        };
        Moment {
            summary: self.summary.clone(),
            rows: self.rows.iter().cloned().collect(),
            failures: self.failures.clone(),
            generation: self.generation,
            elapsed,
            load_end: standing.load_end(),
            done: progress.and_then(|(interval, progress)| share_done(interval, &progress)),
            phase: self.phase(),
            suspense: Suspense {
                under_way: backlog.under_way,
                waiting: backlog.waiting,
                oldest: self.first_sent.map(|first| elapsed - first),
            },
            backlog,
            note: self.notes.newest().map(str::to_owned),
            page: self.page.clone(),
        }
    }

    /// The phase of the load.
    fn phase(&self) -> LoadPhase {
        let standing = &self.standing;
        if standing.is_over() {
            return LoadPhase::Over;
        }
        if let Some(reason) = standing.drain() {
            return LoadPhase::Drain(reason);
        }
        if standing.steering().is_some_and(Steering::is_paused) {
            return LoadPhase::Paused;
        }
        match standing.progress() {
            Some((_, progress)) if matches!(progress.stage, Stage::WarmUp(_)) => LoadPhase::WarmUp,
            _ => LoadPhase::Running,
        }
    }
}
