//! The state of a run on a screen: its standing, its books as of the newest interval, and the
//! messages of the session.
//!
//! [`Known::observe`] handles each event once, on the observer's thread; a frame only reads. Books
//! are closed once per interval, on a copy.

use crate::notes::Notes;
use drumfire_engine::Control;
use drumfire_measure::{IntervalRow, RunEvent, Summary};
use drumfire_plan::Plan;
use drumfire_session::{Redactor, Standing};
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
            generation: 0,
            events: 0,
            notes: Notes::default(),
        }
    }

    /// Sets the control of a run that begins.
    pub(crate) fn set_control(&mut self, control: Control) {
        self.standing.set_control(control);
    }

    /// Observes an event.
    pub(crate) fn observe(&mut self, event: &RunEvent) {
        self.events += 1;
        self.standing.observe(event);
        match event {
            RunEvent::IntervalClosed(_) => {
                self.rows.extend(self.standing.take_row());
                let excess = self.rows.len().saturating_sub(RECENT);
                self.rows.drain(..excess);
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
}
