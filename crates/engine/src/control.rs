//! The only way back from outside: stopping a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A handle that stops a run from any thread, or from a signal handler.
#[derive(Clone, Debug, Default)]
pub struct Control {
    stop: Arc<AtomicBool>,
}

impl Control {
    /// A handle for a run that goes on until its plan's stop.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A handle whose flag a signal handler sets.
    #[must_use]
    pub fn with_flag(stop: Arc<AtomicBool>) -> Self {
        Self { stop }
    }

    /// Starts no further request; what is in flight may finish.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the run was asked to stop.
    #[inline]
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
