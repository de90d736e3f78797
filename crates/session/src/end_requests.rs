//! The count of the user's requests for a run's end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A count of the user's requests for an end, which all clones share. Whatever waits for something
/// behind a run's end (a last scrape, a slow receiver) gives up as soon as the count grows.
///
/// The first request ends the load, the second the drain; each later one ends a wait. A waiter
/// notes the count as its wait begins and compares, so that a request that came before does not end
/// it.
#[derive(Clone, Debug, Default)]
pub struct EndRequests(Arc<AtomicU32>);

impl EndRequests {
    /// Counts a request.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of requests so far.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}
