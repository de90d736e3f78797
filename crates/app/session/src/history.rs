//! The report's notes on the changes of a run: commands, and an early end.
//!
//! The session's own observer makes them on the caller's thread. It finishes after the caller's
//! observers and before those with threads, so that the store gets its notes.

use crate::{Note, Observer, RunContext, SessionError};
use drumfire_measure::{RunEvent, RunInfo, Summary, command_note};
use drumfire_plan::{ChangeKind, StopReason};
use std::sync::Arc;

/// Collects commands when they take effect.
#[derive(Default)]
pub(crate) struct CommandHistory {
    info: Option<Arc<RunInfo>>,
    notes: Vec<String>,
    /// Whether a program controls the rate, so that its commands are too numerous for notes.
    pub(crate) is_driven: bool,
}

impl Observer for CommandHistory {
    fn run_started(&mut self, run: &RunContext) -> Result<(), SessionError> {
        self.info = Some(Arc::clone(&run.info));
        Ok(())
    }

    fn observe(&mut self, event: &RunEvent) {
        match (event, &self.info) {
            (RunEvent::Changed(command), _)
                if self.is_driven && command.change.kind() == ChangeKind::Rate => {}
            (RunEvent::Changed(command), Some(info)) => {
                self.notes.push(command_note(command, info));
            }
            _ => {}
        }
    }

    fn finish(self: Box<Self>, summary: &Summary) -> Vec<Note> {
        let end = summary.load_end.reason.and_then(StopReason::early_note);
        let end = end.map(str::to_owned);
        self.notes
            .into_iter()
            .chain(end)
            .map(Note::Report)
            .collect()
    }
}
