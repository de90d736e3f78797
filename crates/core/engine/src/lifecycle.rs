//! The lifecycle of a worker's part of a pool: running, draining, finished.
//!
//! ```text
//!   running ── stop ──► draining, until a time at the latest ── finish ──► finished
//! ```
//!
//! `stop` and `finish` are called at most once each, in this order. A run whose load ends by itself
//! is finished without a stop. Every end of an exchange is noted before `finish`, which computes
//! the end of the run from the last of them.
//!
//! An exchange that is lent to another worker ends in that worker's lifecycle; the pool's end is
//! the latest of all.

use crate::limits::DRAIN_MAX;
use drumfire_plan::Drain;
use drumfire_units::Nanos;

/// A moment at which the counting of connections restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Milestone {
    /// The run's start, from which all times are counted.
    Start,
    /// The end of the warm-up, from which requests are counted.
    WarmupEnd,
}

/// The state of a worker's part of a pool, from its start to its final account.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    /// The latest end of the drain; set by the stop.
    pub(crate) drain_until: Option<Nanos>,
    /// The end of the exchange that was accounted for last.
    last_end: Nanos,
    /// The end of the warm-up: requests with an earlier intended start are not measured.
    pub(crate) measure_from: Nanos,
    /// The number of running exchanges at the last call of [`Self::note_under_way`].
    under_way: u32,
    /// The end, after `finish`.
    pub(crate) finished: Option<PoolEnd>,
}

/// The end of a worker's part of a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoolEnd {
    /// The time of the final account.
    pub(crate) at: Nanos,
    /// The end of the last exchange, or of the load's time if that is later.
    pub(crate) end: Nanos,
    /// The end of the load; `None` if it is unknown.
    pub(crate) load_end: Option<Nanos>,
}

impl Lifecycle {
    /// A running part; requests intended before `measure_from` belong to the warm-up.
    pub(crate) const fn new(measure_from: Nanos) -> Self {
        Self {
            drain_until: None,
            last_end: Nanos::ZERO,
            measure_from,
            under_way: 0,
            finished: None,
        }
    }

    /// Notes the end of an exchange.
    #[inline]
    pub(crate) const fn note_end(&mut self, end: Nanos) {
        self.last_end = end;
    }

    /// Notes the number of running exchanges; returns the increase since the last call.
    pub(crate) fn note_under_way(&mut self, now: u32) -> i64 {
        i64::from(now) - i64::from(std::mem::replace(&mut self.under_way, now))
    }

    /// Stops the load and begins the drain that the plan requests. The drain lasts at most
    /// [`DRAIN_MAX`], even if the requests have longer timeouts.
    pub(crate) fn stop(&mut self, now: Nanos, drain: Drain) {
        self.drain_until = Some(match drain {
            Drain::Wait => now + DRAIN_MAX,
            Drain::Close | Drain::Ignore => now,
        });
    }

    /// Whether the load has stopped.
    pub(crate) const fn is_stopped(&self) -> bool {
        self.drain_until.is_some()
    }

    /// Finishes the part after everything is accounted for. The load's time was used until
    /// `used_until`, which is 0 if that is unknown, and the end of the load was noticed at
    /// `noticed_at`. If `in_flight` exchanges never ended, the run lasts until now.
    pub(crate) fn finish(
        &mut self,
        now: Nanos,
        used_until: Nanos,
        noticed_at: Option<Nanos>,
        in_flight: u64,
    ) {
        let end = match in_flight {
            0 => self.last_end.max(used_until),
            _ => now,
        };
        let used = Some(used_until).filter(|used| *used > Nanos::ZERO);
        self.finished = Some(PoolEnd {
            at: now,
            end,
            // A stop may come after the end of the load, and a count is used up only when its last
            // request has found a connection.
            load_end: [used, noticed_at].into_iter().flatten().min(),
        });
    }
}
