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
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "after {PATIENCE:?} still not: {what}");
        sleep(Duration::from_millis(5));
    }
}
