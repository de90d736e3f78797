//! Counts the user's requests to end a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A count of the user's requests for an end, shared by all clones. Anything that waits after a
/// run's end (a last scrape, a slow receiver) stops waiting when the count grows.
///
/// The first request ends the load, the second the drain; each later one ends a wait. A waiter
/// records the count when its wait begins, so that an earlier request does not end the wait.
#[derive(Clone, Debug, Default)]
pub struct EndRequests(Arc<AtomicU32>);

impl EndRequests {
    /// Counts a request.
    pub fn increment(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of requests so far.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}
