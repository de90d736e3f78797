//! Actions that a test arranges for times of a run.

use drumfire_units::Nanos;
use std::sync::Arc;

/// An action of a test in a worker's world, once or again and again. Times count from the run's
/// start.
#[derive(Clone)]
pub(crate) struct Hook {
    /// The time of the first call.
    pub(crate) at: Nanos,
    /// The time from one call to the next; `None` for a single call.
    pub(crate) every: Option<Nanos>,
    pub(crate) action: Arc<dyn Fn() + Send + Sync>,
}
