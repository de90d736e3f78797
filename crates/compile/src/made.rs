//! The requests of a pool, as far as they were made.

use drumfire_document::Count;
use drumfire_plan::{Choice, HttpRequest};
use drumfire_units::Nanos;

/// The requests of a pool that were made so far.
///
/// Both kinds of pools add to it, and so do lists, steps and files of requests. The index of a
/// request here is its index in the plan, by which the steps of a program name it.
#[derive(Default)]
pub(crate) struct Made {
    pub(crate) requests: Vec<HttpRequest>,
    /// The number of requests, or of iterations of a scenario, for which there is data, where some
    /// of it is used once.
    pub(crate) count: Option<u64>,
    /// The weight of each request, where it was written.
    pub(crate) weights: Vec<Option<Count>>,
    /// The choice of the request that an arrival takes, where a file decides it.
    pub(crate) choice: Option<Choice>,
    /// The times at which the requests are sent, where a file has them.
    pub(crate) times: Option<Vec<Nanos>>,
}

impl Made {
    /// Gives the requests that were added last this weight.
    pub(crate) fn weigh(&mut self, weight: Option<&Count>) {
        self.weights.resize(self.requests.len(), weight.cloned());
    }

    /// Adds a request that has data for `count` arrivals; `None` is no bound. Of several bounds the
    /// least one holds, for the pool as a whole.
    pub(crate) fn add(&mut self, request: HttpRequest, count: Option<u64>) {
        self.requests.push(request);
        self.count = self.count.into_iter().chain(count).min();
    }
}
