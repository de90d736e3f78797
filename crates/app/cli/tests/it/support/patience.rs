//! The time that a test waits for an event that must come: long enough for a busy machine, but
//! limited.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// The maximum time for a program's start, or for anything else that only a broken program never
/// does.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until a condition holds, at most [`PATIENCE`].
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        let waited = start.elapsed();
        assert!(waited < PATIENCE, "after {PATIENCE:?} still not: {what}");
        // Many conditions are requests to a server. What takes long may be noticed a little later.
        sleep((waited / 8).clamp(Duration::from_millis(5), Duration::from_millis(50)));
    }
}
