//! The only clock: monotonic time since an epoch, and the wall clock for stamps.

use drumfire_units::Nanos;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Monotonic time since an epoch that all workers of a run share.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch: u64,
}

impl Clock {
    /// A clock whose epoch is now.
    #[must_use]
    pub fn start() -> Self {
        Self { epoch: monotonic() }
    }

    /// Time since the epoch; never decreases, and does not follow changes of the wall clock.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Nanos {
        Nanos(monotonic().saturating_sub(self.epoch))
    }

    /// Makes a point in time of this clock its epoch.
    pub fn set_epoch(&mut self, at: Nanos) {
        self.epoch += at.0;
    }

    /// The wall clock: nanoseconds since 1970 in UTC.
    #[must_use]
    pub fn unix_time() -> u64 {
        read(ClockId::Realtime)
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
fn monotonic() -> u64 {
    read(ClockId::Monotonic)
}

/// The same on macOS, whose `CLOCK_MONOTONIC` ticks in microseconds and has a finer brother.
#[cfg(target_vendor = "apple")]
#[expect(unsafe_code, reason = "rustix does not know this clock")]
fn monotonic() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a timespec that lives through the call. The clock always exists, so
    // the call can't fail.
    unsafe { libc::clock_gettime(libc::CLOCK_UPTIME_RAW, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// A clock's reading in nanoseconds.
#[inline]
fn read(clock: ClockId) -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
    // Clocks read here are never negative.
    tv_sec as u64 * 1_000_000_000 + tv_nsec as u64
}
