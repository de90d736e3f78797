//! The only module that reads the clock.

use drumfire_units::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// The current time of the machine's monotonic clock, which all processes share.
#[inline]
pub(crate) fn now() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    // The monotonic clock starts at boot and is never negative.
    Nanos(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}
