//! How long a test waits for an event that must come: long enough for a machine that is busy with
//! other things, and not for ever.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a program may take to start, or anything else that only a broken program never does.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something is so, for as long as our patience lasts.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "after {PATIENCE:?} still not: {what}");
        sleep(Duration::from_millis(5));
    }
}
