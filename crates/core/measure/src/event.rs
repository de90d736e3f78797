//! The single stream of a run's events.
//!
//! The collector's thread publishes each event once, in this order; every observer has its own
//! queue. The run never waits for a slow observer: intervals are merged in its queue, so that the
//! observer loses moments but no samples. [`crate::Reading::observe`] accumulates the events, and
//! [`crate::encode_event`] converts those between the first and the last to bytes.
//!
//! Large values are shared (`Arc`), so that an event costs an observer only a reference count. An
//! interval that all observers have dropped returns to a worker and is recorded into again; one
//! that an observer keeps is not reused.

use crate::{FailedBody, Interval, Kept, RunInfo, Summary, Transcript};
use drumfire_plan::{Command, StopReason};
use std::sync::Arc;

/// An event for a run's observers. The order is `Started`, then any of the others, then `Finished`.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEvent {
    /// The run's load begins: connections that are opened in advance are open. The facts contain
    /// the time of this moment.
    Started(Arc<RunInfo>),
    /// An interval is over, merged over all workers.
    IntervalClosed(Arc<Interval>),
    /// Every sample of the interval that closes next, in the order of their ends within a worker;
    /// only if the plan keeps samples.
    Kept(Arc<Vec<Kept>>),
    /// Transcripts of exchanges, in the order of their ends within a worker, if the plan requests
    /// them.
    Transcripts(Vec<Transcript>),
    /// One of the first bodies of a kind of failure. With several workers, more may come per kind
    /// than the run keeps.
    Failed(Arc<FailedBody>),
    /// A command takes effect.
    Changed(Arc<Command>),
    /// No new requests are sent; requests in flight may finish. Contains the first reason; a later
    /// signal publishes a second event.
    Stopping {
        /// The reason for the end.
        reason: StopReason,
    },
    /// The run is over.
    Finished(Arc<Summary>),
}
