//! Iterations of a pool whose users run a program: counts, and the time of each.
//!
//! A pool has them only if an iteration may contain several requests; otherwise requests are
//! iterations, and counting both would be redundant. If a pool has several scenarios, an iteration
//! is recorded for the pool and for its scenario.
//!
//! An iteration fails with its first failed request, and its time includes pauses and waits: it is
//! the time that a user takes, not the sum of response times.

use crate::{Counts, Histogram, Outcome};
use drumfire_units::Nanos;

/// The iterations of a pool in one span of time, if an iteration may contain several requests.
///
/// The counts balance as for requests: intended = started + dropped + pending, and started =
/// completed + failed + in flight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Iterations {
    /// Iterations: `sent` of them started, `ok` of them completed.
    pub counts: Counts,
    /// The time from the intended start to the end, with all pauses and waits, of completed
    /// iterations and, as "at least this long", of all whose end was not seen: those with a request
    /// that was cut off, those in flight, and those that were due and not started when the run
    /// ended.
    pub time: Histogram,
    /// The time from the intended start to the end of failed iterations, at whichever step they
    /// failed.
    pub failed: Histogram,
}

/// One iteration, recorded once, after it has ended. Times count from the run's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IterationSample {
    /// The number of the iteration's scenario in the pool, from 0.
    pub scenario: u32,
    /// The intended start, which is also its first request's.
    pub intended: Nanos,
    /// The end of its last step.
    pub end: Nanos,
    /// The outcome of its first failed request; ok if none failed.
    pub outcome: Outcome,
}

impl IterationSample {
    /// `end − intended`.
    #[inline]
    #[must_use]
    pub fn time(&self) -> Nanos {
        self.end - self.intended
    }
}

impl Iterations {
    /// Records an iteration that has ended. It counts as started here, not at its beginning.
    #[inline]
    pub fn record(&mut self, sample: &IterationSample) {
        self.counts.record(sample.outcome);
        if sample.outcome == Outcome::Ok {
            self.time.record(sample.time());
        } else {
            self.record_failed(sample);
        }
    }

    #[cold]
    #[inline(never)]
    fn record_failed(&mut self, sample: &IterationSample) {
        if sample.outcome.is_cut_off() {
            self.time.record_at_least(sample.time());
            self.failed.record_at_least(sample.time());
        } else {
            self.failed.record(sample.time());
        }
    }

    /// Records `count` iterations that were due and neither started nor dropped when starting
    /// ended: each had waited for at least `waited`.
    pub fn record_pending(&mut self, waited: Nanos, count: u64) {
        self.counts.pending = self.counts.pending.saturating_add(count);
        self.time.record_at_least_of(waited, count);
    }

    /// Records an iteration that was running at the end of the drain, after this time.
    pub fn record_in_flight(&mut self, time: Nanos) {
        self.counts.record_in_flight();
        self.time.record_at_least(time);
    }

    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        self.time.merge(&other.time);
        self.failed.merge(&other.failed);
    }

    /// Resets all values and keeps the memory.
    pub fn reset(&mut self) {
        self.counts = Counts::default();
        self.time.reset();
        self.failed.reset();
    }
}
