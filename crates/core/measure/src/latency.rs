//! The distributions of time.
//!
//! ```text
//!   intended          due              sent         first byte          end
//!      │── waiting ────│──── lag ───────│───────────────│────────────────│
//!      │                                │── first_byte ─│                │
//!      │                                │──────── service time ──────────│
//!      │───────────────────────── response time ─────────────────────────│
//! ```
//!
//! Response time counts from the intended start, service time from the moment of sending. In
//! between is waiting for a connection, which the target causes, and lag, which is our own. All are
//! recorded for every model; the model decides which of the first two is *the* latency, and in the
//! closed model the waiting does, too ([`crate::Model::latency_kind`]). Failures have a separate
//! distribution, so that a fast refusal does not make a target look fast.
//!
//! Response and service times are recorded by the series of steps and only summed up here. The
//! other distributions exist only per pool, because no report shows them by step and each takes 264
//! KiB.

use crate::{Histogram, Outcome, Sample};
use drumfire_units::Nanos;

/// Waiting matters from one request in this number on, if users share connections.
const WAITING_PART: u64 = 100;

/// The distributions of time. Ok and failed exchanges are separate, except that a request whose end
/// was not seen stays among the ok ones as "at least this long": a request that timed out, was in
/// flight, or was due and not sent when the run ended. Without these, a target that drops requests
/// or stalls would look fast.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latency {
    /// From the intended start to the end, of ok samples and of all whose end was not seen: the
    /// latency of an open-model run.
    pub response_time: Histogram,
    /// From sent to the end, of ok samples and of sent ones whose end was not seen: the latency of
    /// a closed-model run.
    pub service_time: Histogram,
    /// From sent to the response's first byte, of ok samples.
    pub first_byte: Histogram,
    /// From sent to the response's first byte, of samples that failed by their answer: its status,
    /// or a check.
    pub first_byte_bad: Histogram,
    /// From due to sent, of all sent requests: our own lateness.
    pub lag: Histogram,
    /// From the intended start to due, of all requests that began, and as "at least this long" of
    /// requests that were due and not sent and of those that timed out before their connection was
    /// open: the wait for a free connection.
    pub waiting: Histogram,
    /// From the intended start to the end, of failed samples, including those that timed out.
    pub failed: Histogram,
}

impl Latency {
    fn all_mut(&mut self) -> [&mut Histogram; 7] {
        [
            &mut self.response_time,
            &mut self.service_time,
            &mut self.first_byte,
            &mut self.first_byte_bad,
            &mut self.lag,
            &mut self.waiting,
            &mut self.failed,
        ]
    }

    fn all(&self) -> [&Histogram; 7] {
        [
            &self.response_time,
            &self.service_time,
            &self.first_byte,
            &self.first_byte_bad,
            &self.lag,
            &self.waiting,
            &self.failed,
        ]
    }

    /// Records the times that exist only per pool. A request that did not wait is not yet added to
    /// `waiting`, because nearly all are such: their zeros are added when the figures are summed
    /// up.
    #[inline]
    pub(crate) fn record(&mut self, sample: &Sample) {
        self.lag.record(sample.lag());
        if sample.waiting() > Nanos::ZERO {
            self.record_waiting(sample);
        }
        if sample.outcome != Outcome::Ok {
            self.record_failed(sample);
        } else if sample.first_byte != Nanos::MAX {
            self.first_byte.record(sample.first_byte - sample.sent);
        }
    }

    /// Records the wait for a connection: a lower bound if the time was up before one was open. A
    /// request that failed otherwise has waited exactly this long.
    #[inline]
    fn record_waiting(&mut self, sample: &Sample) {
        match sample.outcome.is_cut_off() && !sample.was_sent() {
            true => self.waiting.record_at_least(sample.waiting()),
            false => self.waiting.record(sample.waiting()),
        }
    }

    /// Records the times of an exchange that was running at the end of the drain. If it still
    /// waited for its connection, its waiting is a lower bound.
    pub(crate) fn record_in_flight(&mut self, sample: &Sample) {
        self.lag.record(sample.lag());
        match sample.was_sent() {
            true => self.waiting.record(sample.waiting()),
            false => self.waiting.record_at_least(sample.waiting()),
        }
    }

    #[cold]
    #[inline(never)]
    fn record_failed(&mut self, sample: &Sample) {
        if sample.outcome.is_answered() && sample.first_byte != Nanos::MAX {
            self.first_byte_bad.record(sample.first_byte - sample.sent);
        }
        if sample.outcome.is_cut_off() {
            self.failed.record_at_least(sample.response_time());
        } else {
            self.failed.record(sample.response_time());
        }
    }

    /// Whether at least one request in a hundred waited for a connection or a stream. Fewer, such as
    /// requests after the few connections that a server closes, change no quantile up to p99.
    pub(crate) fn waits(&self) -> bool {
        let first = self.waiting.buckets().next();
        let zeros = first.map_or(0, |(_, greatest, count)| match greatest {
            0 => count,
            _ => 0,
        });
        let waited = self.waiting.count() - zeros;
        waited > 0 && waited.saturating_mul(WAITING_PART) >= self.waiting.count()
    }

    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.all_mut().into_iter().zip(other.all()) {
            mine.merge(theirs);
        }
    }

    /// Resets all values and keeps the memory.
    pub fn reset(&mut self) {
        for histogram in self.all_mut() {
            histogram.reset();
        }
    }
}
