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
        Self {
            epoch: read(ClockId::Monotonic),
        }
    }

    /// Time since the epoch; never decreases, and does not follow changes of the wall clock.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Nanos {
        Nanos(read(ClockId::Monotonic).saturating_sub(self.epoch))
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

/// A clock's reading in nanoseconds.
#[inline]
fn read(clock: ClockId) -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
    // Clocks read here are never negative.
    tv_sec as u64 * 1_000_000_000 + tv_nsec as u64
}
