//! The lifecycle of a worker's part of a pool: it runs, drains, and is finished.
//!
//! ```text
//!   running ── stop ──► draining, until a time at the latest ── finish ──► finished
//! ```
//!
//! `stop` and `finish` are called once each, in this order where the load stops at all: a run whose
//! load has used itself up is finished without a stop. Every end of an exchange is noted before
//! `finish`, which takes the end of the run from the last of them.
//!
//! An exchange that is lent to another worker ends there, in that worker's lifecycle; the pool's
//! end is the latest of all.

use crate::limits::DRAIN_MAX;
use drumfire_plan::Drain;
use drumfire_units::Nanos;

/// A moment from which connections count anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Milestone {
    /// The run's start: all times count from there.
    Start,
    /// The end of the warm-up: requests count from there.
    WarmupEnd,
}

/// The state of a worker's part of a pool, from its start to its account.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    /// The time of the stop.
    pub(crate) stopped_at: Option<Nanos>,
    /// The latest end of the drain; set by the stop.
    pub(crate) drain_until: Option<Nanos>,
    /// The end of the exchange that was accounted for last.
    last_end: Nanos,
    /// The end of the warm-up: what is intended earlier is not measured.
    pub(crate) measure_from: Nanos,
    /// The number of exchanges under way when it was last noted.
    under_way: u32,
    /// The end, once it is finished.
    pub(crate) finished: Option<Finish>,
}

/// The end of a worker's part of a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finish {
    /// The time of the account.
    pub(crate) at: Nanos,
    /// The end of its last exchange, or of the time that was asked for where that is later.
    pub(crate) end: Nanos,
}

impl Lifecycle {
    /// Running; what is intended before `measure_from` belongs to the warm-up.
    pub(crate) const fn new(measure_from: Nanos) -> Self {
        Self {
            stopped_at: None,
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

    /// Notes the number of exchanges under way; gives by how many it has grown since the last call.
    pub(crate) fn note_under_way(&mut self, now: u32) -> i64 {
        i64::from(now) - i64::from(std::mem::replace(&mut self.under_way, now))
    }

    /// Stops the load: the drain begins, as the plan has it. It lasts [`DRAIN_MAX`] at most,
    /// whatever timeouts the requests have.
    pub(crate) fn stop(&mut self, now: Nanos, drain: Drain) {
        self.stopped_at = Some(now);
        self.drain_until = Some(match drain {
            Drain::Wait => now + DRAIN_MAX,
            Drain::Close | Drain::Ignore => now,
        });
    }

    /// Whether the load has stopped.
    pub(crate) const fn is_stopped(&self) -> bool {
        self.drain_until.is_some()
    }

    /// Finishes it when everything is accounted for. The load has used its time until `used_until`,
    /// and `in_flight` exchanges never ended: the run then lasted until now.
    pub(crate) fn finish(&mut self, now: Nanos, used_until: Nanos, in_flight: u64) {
        let end = match in_flight {
            0 => self.last_end.max(used_until),
            _ => now,
        };
        self.finished = Some(Finish { at: now, end });
    }
}
