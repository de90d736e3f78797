//! The notes that a report has of the changes of a run: commands, and an end before the plan's own.
//!
//! It is the session's own observer, on the caller's thread, and is finished between the caller's
//! observers and those with threads: the store has its notes.

use crate::{Note, Observer, RunContext, SessionError};
use drumfire_measure::{RunEvent, RunInfo, Summary, command_note};
use drumfire_plan::{ChangeKind, StopReason};
use std::sync::Arc;

/// The note on a run that a signal ended.
const INTERRUPTED: &str = "a signal ended the run before its planned end";

/// The note on a run whose load had nothing left that sent it.
const LOST: &str = "the loss of all agents ended the run before its planned end";

/// The note on a run that a command ended.
const COMMANDED: &str = "a command ended the run before its planned end";

/// The note on a run that a threshold ended.
const ABORTED: &str = "a threshold ended the run before its planned end";

/// Collects commands as they take hold.
#[derive(Default)]
pub(crate) struct History {
    info: Option<Arc<RunInfo>>,
    notes: Vec<String>,
    /// Whether the rate is a program's to change, whose commands no note tells one by one.
    pub(crate) is_driven: bool,
}

impl Observer for History {
    fn begin(&mut self, run: &RunContext) -> Result<(), SessionError> {
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
        let end = match summary.load_end.reason {
            Some(StopReason::Signal) => Some(INTERRUPTED),
            Some(StopReason::Threshold) => Some(ABORTED),
            Some(StopReason::Command) => Some(COMMANDED),
            Some(StopReason::Lost) => Some(LOST),
            _ => None,
        };
        let end = end.map(str::to_owned);
        self.notes
            .into_iter()
            .chain(end)
            .map(Note::Report)
            .collect()
    }
}
