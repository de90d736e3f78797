//! Observers of a run, all attached in one way.
//!
//! A session calls each method in this order: `open` before anything is sent, `begin` when the run
//! has started, `observe` for every event from [`RunEvent::Started`] to [`RunEvent::Finished`], and
//! `finish` once, when the run is over. An error of `open` or `begin` ends the session; observers
//! that were opened before are dropped without `finish`, and so are all where the run breaks off.
//!
//! The [`RunContext`] that `begin` gets is the way back: an observer may command the run from any
//! thread as long as it lasts, and afterwards each command is refused. An observer that needs the
//! run to end for its own reason (a reader that has gone) stops it as a signal would.
//!
//! Events are shared and not copied. An interval may cover several periods, where this observer was
//! late; all counts in it are right.

use crate::{EndRequests, SessionError};
use drumfire_engine::Control;
use drumfire_measure::{RunEvent, RunInfo, Summary};
use std::path::PathBuf;
use std::sync::Arc;

/// A follower of a run, or a source of commands for it: the store, metrics, lines, the live line,
/// signals.
///
/// One that is attached by [`crate::Session::observed_beside`] has its own thread and queue, in
/// which intervals are merged when it is late. One that is attached by
/// [`crate::Session::observed_by`] shares the caller's thread with others, and holds them up when
/// it is slow. Neither can hold up the run.
pub trait Observer {
    /// Opens the resources of the observer, in the caller's thread, before anything is sent. It may
    /// add notes to the facts of the run.
    ///
    /// # Errors
    /// When the run must not take place without it.
    fn open(&mut self, _info: &mut RunInfo) -> Result<(), SessionError> {
        Ok(())
    }

    /// Takes its parts of the run that has started, in the caller's thread.
    ///
    /// # Errors
    /// When the session can't go on without it.
    fn begin(&mut self, _run: &RunContext) -> Result<(), SessionError> {
        Ok(())
    }

    /// Whether its thread lets those of the load run before it wherever they want to: for an
    /// observer that computes, and can be late. It has no effect on one in the caller's thread.
    fn yields(&self) -> bool {
        false
    }

    /// Takes note of an event: in its own thread while the run goes on, and in the caller's thread
    /// of those that are left when it is over.
    fn observe(&mut self, _event: &RunEvent) {}

    /// Ends its work, in the caller's thread, and may wait for it. The summary has the notes of the
    /// observers that have ended before.
    fn finish(self: Box<Self>, _summary: &Summary) -> Vec<Note> {
        Vec::new()
    }
}

/// A run that has started, as its observers have it.
#[derive(Clone, Debug)]
pub struct RunContext {
    /// The facts of the run.
    pub info: Arc<RunInfo>,
    /// The one way to command it, from any thread.
    pub control: Control,
    /// The count of the user's requests for its end.
    pub end_requests: EndRequests,
}

/// A word of an observer at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A line for the report, among the notes of the summary.
    Report(String),
    /// A result that was asked for and is lacking: the command has failed.
    Failure(String),
    /// The run is stored in this directory, to its end.
    Stored(PathBuf),
}
