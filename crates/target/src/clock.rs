//! The one place that reads time.

use drumfire_units::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// Now on the machine's monotonic clock, the same for every process of the machine.
#[inline]
pub(crate) fn now() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    // The monotonic clock starts at boot and is never negative.
    Nanos(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}
