//! Iterations of a pool whose users run a program: their counts, and the time that each took.
//!
//! A pool has them only where an iteration may be more than one request; elsewhere the requests are
//! the iterations, and counting both would say everything twice. Where a pool has several
//! scenarios, an iteration is recorded for the pool and once more for its scenario.
//!
//! An iteration fails by the first of its requests that does, and its time includes pauses and
//! waits: it is the time that a user takes, not the sum of response times.

use crate::{Counts, Histogram, Outcome};
use drumfire_units::Nanos;

/// The iterations of a pool in one span of time, where an iteration is more than one request.
///
/// They have the same books as requests, one level above them: intended = started + dropped +
/// pending, and started = completed + failed + in flight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Iterations {
    /// Iterations: `sent` of them started, `ok` of them completed.
    pub counts: Counts,
    /// Intended start to end, with all pauses and waits, of those completed and, as "at least this
    /// long", of all whose end was not seen: those with a request that was cut off, in flight, and
    /// due and not started when the run ended.
    pub time: Histogram,
    /// The same of those that failed, however far they had come.
    pub failed: Histogram,
}

/// One iteration, made once, when it has ended in any way. Times count from the run's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IterationSample {
    /// The number of its scenario in the pool, from 0.
    pub scenario: u32,
    /// Its start by the schedule, which is that of its first request.
    pub intended: Nanos,
    /// The end of its last step.
    pub end: Nanos,
    /// The outcome of the first request that made it fail; ok where none did.
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
    /// Records an iteration that has ended. It counts as started here, not when it began.
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
    /// ended: each had waited for at least `waited` by then.
    pub fn record_pending(&mut self, waited: Nanos, count: u64) {
        self.counts.pending = self.counts.pending.saturating_add(count);
        self.time.record_at_least_of(waited, count);
    }

    /// Records an iteration that was under way when the drain ended, after this time.
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

    /// Forgets everything and keeps the memory.
    pub fn reset(&mut self) {
        self.counts = Counts::default();
        self.time.reset();
        self.failed.reset();
    }
}
