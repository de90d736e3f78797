//! How far a worker's part of a pool is: under way, draining, or accounted for.

use crate::limits::DRAIN_MAX;
use drumfire_plan::Drain;
use drumfire_units::Nanos;

/// How far a worker's part of a pool is.
#[derive(Debug)]
pub(crate) struct Course {
    /// The end of the drain; set when nothing more is started.
    drain_until: Option<Nanos>,
    last_end: Nanos,
    measure_from: Nanos,
    /// How many exchanges were under way when that was last noted.
    under_way: u32,
    finished: Option<Finish>,
}

/// The end of a worker's part of a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finish {
    /// When it was accounted for.
    pub(crate) at: Nanos,
    /// When its last exchange ended, or the time that was asked for is used.
    pub(crate) end: Nanos,
}

impl Course {
    /// Under way; what is intended before `measure_from` is the warm-up's.
    pub(crate) const fn new(measure_from: Nanos) -> Self {
        Self {
            drain_until: None,
            last_end: Nanos::ZERO,
            measure_from,
            under_way: 0,
            finished: None,
        }
    }

    /// What is intended earlier is the warm-up's.
    #[inline]
    pub(crate) const fn measure_from(&self) -> Nanos {
        self.measure_from
    }

    /// An exchange has ended.
    #[inline]
    pub(crate) const fn note_end(&mut self, end: Nanos) {
        self.last_end = end;
    }

    /// Notes how many exchanges are under way, and says how many more that are than before.
    pub(crate) fn note_under_way(&mut self, now: u32) -> i64 {
        i64::from(now) - i64::from(std::mem::replace(&mut self.under_way, now))
    }

    /// Nothing more is started.
    pub(crate) fn stop(&mut self, now: Nanos, drain: Drain) {
        self.drain_until = Some(match drain {
            Drain::Wait => now + DRAIN_MAX,
            Drain::Close | Drain::Ignore => now,
        });
    }

    /// Whether nothing more is started.
    pub(crate) const fn is_stopped(&self) -> bool {
        self.drain_until.is_some()
    }

    /// When the drain ends at the latest; `None` before the stop.
    pub(crate) const fn drained_by(&self) -> Option<Nanos> {
        self.drain_until
    }

    /// Everything is accounted for, where the load has used its time until `used_until` and this
    /// number of exchanges never ended.
    pub(crate) fn finish(&mut self, now: Nanos, used_until: Nanos, in_flight: u64) {
        let end = match in_flight {
            0 => self.last_end.max(used_until),
            _ => now,
        };
        self.finished = Some(Finish { at: now, end });
    }

    /// The end, when everything is accounted for.
    pub(crate) const fn finished(&self) -> Option<Finish> {
        self.finished
    }
}
