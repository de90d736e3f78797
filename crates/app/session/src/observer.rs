//! The interface of all observers of a run.
//!
//! A session calls each method in this order: `open` before anything is sent, `begin` when the run
//! has started, `observe` for every event from [`RunEvent::Started`] to [`RunEvent::Finished`], and
//! `finish` once after the run. An error of `open` or `begin` ends the session; observers that were
//! opened before are dropped without `finish`, and so are all observers if the run is aborted.
//!
//! `begin` gets the [`RunContext`], through which an observer may control the run from any thread;
//! after the run, each command is refused. If an observer needs the run to end for its own reason
//! (such as a closed pipe), it stops the run as a signal would.
//!
//! Events are shared and not copied. If an observer was late, an interval may cover several
//! periods; all counts in it are correct.

use crate::{EndRequests, SessionError};
use drumfire_engine::Control;
use drumfire_measure::{InferenceRecord, RunEvent, RunInfo, Summary};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Follows a run, or is a source of commands for it: the store, metrics, lines, the live line,
/// signals.
///
/// An observer attached with [`crate::Session::observed_beside`] has its own thread and queue; if
/// it is late, intervals are merged in the queue. An observer attached with
/// [`crate::Session::observed_by`] shares the caller's thread with others, and delays them if it is
/// slow. Neither can delay the run.
pub trait Observer {
    /// Opens the resources of the observer, in the caller's thread, before anything is sent. May
    /// add notes to the facts of the run.
    ///
    /// # Errors
    /// If the run must not start without the observer.
    fn open(&mut self, _info: &mut RunInfo) -> Result<(), SessionError> {
        Ok(())
    }

    /// Starts to observe the run that has started, in the caller's thread.
    ///
    /// # Errors
    /// If the session cannot continue without the observer.
    fn run_started(&mut self, _run: &RunContext) -> Result<(), SessionError> {
        Ok(())
    }

    /// Whether the observer's thread yields to the threads of the load: for observers that compute
    /// and may be late. Without effect for an observer in the caller's thread.
    fn yields(&self) -> bool {
        false
    }

    /// Observes an event: during the run in the observer's own thread, and for remaining events
    /// after the run in the caller's thread.
    fn observe(&mut self, _event: &RunEvent) {}

    /// Ends the observer's work, in the caller's thread, and may wait for it. The summary contains
    /// the notes of the observers that ended before.
    fn finish(self: Box<Self>, _summary: &Summary) -> Vec<Note> {
        Vec::new()
    }
}

/// A run that has started, as observers see it.
#[derive(Clone, Debug)]
pub struct RunContext {
    /// The facts of the run.
    pub info: Arc<RunInfo>,
    /// The only handle to control the run, usable from any thread.
    pub control: Control,
    /// The count of the user's requests for an end.
    pub end_requests: EndRequests,
    /// What an inference server has reported about itself so far.
    pub inference: InferenceBoard,
}

/// What an inference server has reported about itself so far, for observers that show a run while it
/// is active.
#[derive(Clone, Debug, Default)]
pub struct InferenceBoard(Arc<Mutex<Option<Box<InferenceRecord>>>>);

impl InferenceBoard {
    /// Replaces the record.
    pub fn set(&self, record: Box<InferenceRecord>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(record);
    }

    /// The record; `None` if no metrics are read.
    #[must_use]
    pub fn record(&self) -> Option<Box<InferenceRecord>> {
        let record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        record.clone()
    }
}

/// A message of an observer at the end of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// A line for the report, among the notes of the summary.
    Report(String),
    /// A reason why the run is suspect, as a clause.
    Doubt(String),
    /// What an inference server reported about itself.
    Inference(Box<InferenceRecord>),
    /// A requested result is missing: the command has failed.
    Failure(String),
    /// The run is completely stored in this directory.
    Stored(PathBuf),
}
