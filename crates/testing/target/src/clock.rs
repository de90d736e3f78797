//! The only module that reads the clocks.

use drumfire_units::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// The current time of the machine's monotonic clock, which all processes share.
#[inline]
pub(crate) fn now() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    // The monotonic clock starts at boot and is never negative.
    Nanos(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}

/// The current time since 1970, which a client's files may contain.
pub(crate) fn wall() -> Nanos {
    let time = clock_gettime(ClockId::Realtime);
    // A clock before 1970 is wrong anyway.
    Nanos(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}
