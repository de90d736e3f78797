//! The recording of a sample into a series.
//!
//! Steps, and the sums of a pool with a single step, have the same figures in types of different
//! layout. [`SeriesMut`] borrows the parts of either, so that one place decides what a sample
//! counts for.
//!
//! A time whose end was not seen, because of a timeout, a pending request or the end of the drain,
//! is recorded as a lower bound. Otherwise the slowest requests would be missing from the
//! distribution, and a target that stops answering would look better than one that answers slowly.
//! A failure of another kind has no time here: a refusal in a millisecond is not a fast answer.

use crate::{ByteCounts, Counts, Histogram, Outcome, OutcomeCounts, Sample, StatusCounts};
use drumfire_units::Nanos;

/// A series for recording. The caller counts requests as intended: a pool as they become due, a
/// step as they end.
pub(crate) struct SeriesMut<'a> {
    pub(crate) counts: &'a mut Counts,
    pub(crate) bytes: &'a mut ByteCounts,
    pub(crate) outcomes: &'a mut OutcomeCounts,
    pub(crate) status: &'a mut StatusCounts,
    pub(crate) response_time: &'a mut Histogram,
    pub(crate) service_time: &'a mut Histogram,
}

impl SeriesMut<'_> {
    /// Records one finished exchange.
    #[inline(always)]
    pub(crate) fn record(&mut self, sample: &Sample) {
        self.counts.record(sample.outcome);
        self.outcomes.record(sample.outcome);
        self.status.record(sample.status);
        self.bytes.sent += u64::from(sample.bytes_sent);
        self.bytes.received += sample.bytes_received;
        if sample.outcome == Outcome::Ok {
            self.response_time.record(sample.response_time());
            self.service_time.record(sample.service_time());
        } else {
            self.record_cut_off(sample);
        }
    }

    #[cold]
    #[inline(never)]
    fn record_cut_off(&mut self, sample: &Sample) {
        if sample.outcome.is_cut_off() {
            self.record_unfinished(sample);
        }
    }

    /// Records the times of an exchange whose end was not seen. Without a connection, there is no
    /// service time.
    fn record_unfinished(&mut self, sample: &Sample) {
        self.response_time.record_at_least(sample.response_time());
        if sample.was_sent() {
            self.service_time.record_at_least(sample.service_time());
        }
    }

    /// Records requests that were due and not sent.
    pub(crate) fn record_pending(&mut self, waited: Nanos, count: u64) {
        self.counts.pending = self.counts.pending.saturating_add(count);
        self.response_time.record_at_least_of(waited, count);
    }

    /// Records an exchange that was running at the end of the drain.
    pub(crate) fn record_in_flight(&mut self, sample: &Sample) {
        self.counts.record_in_flight();
        self.record_unfinished(sample);
    }
}
