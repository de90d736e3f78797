//! A worker thread's clock: the run's clock, read by the processor's counter if that is cheap and
//! trusted.

use crate::Clock;
use crate::tsc::TscClock;
use drumfire_units::Nanos;

/// The run's clock as one thread reads it.
pub(crate) struct ThreadClock {
    clock: Clock,
    /// The cheap way to read the same time, if it is available.
    tsc: TscClock,
}

impl ThreadClock {
    /// Creates the clock of the calling thread.
    pub(crate) fn new(clock: Clock) -> Self {
        let tsc = TscClock::new(|| clock.now().0);
        Self { clock, tsc }
    }

    /// Time since the epoch; never decreases.
    #[inline(always)]
    pub(crate) fn now(&self) -> Nanos {
        match self.tsc.read() {
            Some(now) => Nanos(now),
            None => self.system_time(),
        }
    }

    /// Time since the epoch by the system's clock.
    fn system_time(&self) -> Nanos {
        Nanos(self.tsc.hold(self.clock.now().0))
    }

    /// The monotonic clock's reading at the epoch.
    pub(crate) const fn epoch(&self) -> u64 {
        self.clock.epoch()
    }

    /// Makes a point in time of this clock its new epoch.
    pub(crate) fn set_epoch(&mut self, at: Nanos) {
        self.clock.set_epoch(at);
        self.tsc = TscClock::new(|| self.clock.now().0);
    }

    /// Whether the counter's last anchor is old; always true without a counter.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.tsc.is_due()
    }

    /// Anchors the counter to the system's clock.
    pub(crate) fn anchor(&self) {
        self.tsc.anchor(|| self.clock.now().0);
    }
}
