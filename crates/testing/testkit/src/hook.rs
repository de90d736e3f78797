//! Actions of a test at given times of a run.

use drumfire_units::Nanos;
use std::sync::Arc;

/// An action of a test in a worker's world, single or repeated. Times count from the start of the
/// run.
#[derive(Clone)]
pub(crate) struct Hook {
    /// The time of the first call.
    pub(crate) at: Nanos,
    /// The time between two calls; `None` for a single call.
    pub(crate) every: Option<Nanos>,
    pub(crate) action: Arc<dyn Fn() + Send + Sync>,
}
