//! The only clock: monotonic time since an epoch, and the wall clock for dates.

use drumfire_units::Nanos;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Monotonic time since an epoch that all workers of a run share.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The monotonic clock's reading at the epoch, modulo 2^64: an epoch may be earlier than that
    /// clock's zero.
    epoch: u64,
}

impl Clock {
    /// Creates a clock whose epoch is now.
    #[must_use]
    pub fn start() -> Self {
        Self { epoch: monotonic() }
    }

    /// Creates a clock whose epoch is this long ago, possibly before the machine was booted. It
    /// suits points in time on other machines that may be earlier than the start of this process.
    #[must_use]
    pub fn aged(age: Nanos) -> Self {
        Self {
            epoch: monotonic().wrapping_sub(age.0),
        }
    }

    /// Creates the clock with this [`Self::epoch`], which is valid in any process since the machine
    /// was booted.
    #[must_use]
    pub const fn of_epoch(epoch: u64) -> Self {
        Self { epoch }
    }

    /// Creates a clock whose epoch was at this time of the wall clock, if the wall clock was not
    /// set since. It suits things that began before the machine was booted.
    #[must_use]
    pub fn of_unix_time(unix_ns: u64) -> Self {
        Self::aged(Nanos(Self::unix_time().saturating_sub(unix_ns)))
    }

    /// The monotonic clock's reading at the epoch.
    #[must_use]
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Time since the epoch; never decreases, and does not follow changes of the wall clock.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Nanos {
        let since = monotonic().wrapping_sub(self.epoch).cast_signed();
        Nanos(since.max(0).cast_unsigned())
    }

    /// Makes a point in time of this clock its new epoch.
    pub fn set_epoch(&mut self, at: Nanos) {
        self.epoch = self.epoch.wrapping_add(at.0);
    }

    /// The wall clock: nanoseconds since 1970 in UTC.
    #[must_use]
    pub fn unix_time() -> u64 {
        real_time()
    }

    /// The wall clock's reading at the epoch in nanoseconds since 1970, if the wall clock was not
    /// set since.
    #[must_use]
    pub fn unix_epoch(&self) -> u64 {
        let now = self.now();
        Self::unix_time().saturating_sub(now.0)
    }

    /// CPU time of the calling thread, user and system.
    #[must_use]
    pub fn thread_cpu() -> Nanos {
        Nanos(read(ClockId::ThreadCPUTime))
    }
}

/// The monotonic clock's reading in nanoseconds.
#[cfg(not(target_vendor = "apple"))]
#[inline]
pub(crate) fn monotonic() -> u64 {
    read(ClockId::Monotonic)
}

/// The monotonic clock's reading on macOS, where `CLOCK_MONOTONIC` ticks in microseconds and
/// `CLOCK_UPTIME_RAW` is finer.
#[cfg(target_vendor = "apple")]
#[expect(unsafe_code, reason = "rustix does not know this clock")]
pub(crate) fn monotonic() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a timespec that lives through the call. The clock always exists, so
    // the call can't fail.
    unsafe { libc::clock_gettime(libc::CLOCK_UPTIME_RAW, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The real-time clock's reading in nanoseconds since 1970.
pub(crate) fn real_time() -> u64 {
    read(ClockId::Realtime)
}

/// A clock's reading in nanoseconds.
#[inline]
fn read(clock: ClockId) -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
    // The clocks that are read here are never negative.
    tv_sec as u64 * 1_000_000_000 + tv_nsec as u64
}
