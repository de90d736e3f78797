//! The only operation that a thread may do on another thread's driver: end its wait.

use std::fmt;
use std::sync::Arc;

/// Ends the wait of one driver from any thread: the current one, or else the next.
///
/// Wakes are not counted: several before the driver waits end one wait.
#[derive(Clone)]
pub struct Waker(Arc<dyn Fn() + Send + Sync>);

impl Waker {
    /// Creates a waker that calls this function.
    #[must_use]
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(wake))
    }

    /// Ends the driver's wait; the wait returns without any readiness.
    pub fn wake(&self) {
        (self.0)();
    }
}

impl fmt::Debug for Waker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waker")
    }
}
