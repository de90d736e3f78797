//! The one stream of a run's events.
//!
//! A run publishes each event once, in this order, from the collector's thread; every observer has
//! a queue of its own. An observer that falls behind is never waited for: intervals are merged in
//! its queue, so that it misses moments and no samples. [`crate::Reading::observe`] accumulates the
//! events, and [`crate::encode_event`] turns each into bytes.
//!
//! Large values are shared (`Arc`), so that publishing costs an observer a counter and no copy. An
//! interval that all observers have dropped goes back to a worker and is recorded into again; one
//! that an observer keeps is simply not used again.

use crate::{FailedBody, Interval, Kept, RunInfo, Summary, Transcript};
use drumfire_plan::{Command, StopReason};
use std::sync::Arc;

/// An event for a run's observers, in this order: `Started`, then any of the middle ones, then
/// `Finished`.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEvent {
    /// The run's load begins: connections that are opened ahead are open. Its facts have the time
    /// of that moment.
    Started(Arc<RunInfo>),
    /// An interval is over, merged over all workers.
    IntervalClosed(Arc<Interval>),
    /// Every sample of the interval that closes next, in the order of their ends within a worker:
    /// a channel of its own, only where the plan asks for it.
    Kept(Arc<Vec<Kept>>),
    /// Exchanges in full, in the order of their ends within a worker, where the plan asks for it.
    Transcripts(Vec<Transcript>),
    /// One of the first bodies of a kind of failure. Of several workers more may come of a kind than
    /// are kept of the run.
    Failed(Arc<FailedBody>),
    /// A command holds from now on, and not before its time.
    Changed(Arc<Command>),
    /// No new requests are sent; those in flight may finish. The first one has the reason; a later
    /// signal makes another.
    Stopping {
        /// The reason of the end.
        reason: StopReason,
    },
    /// The run is over.
    Finished(Arc<Summary>),
}
