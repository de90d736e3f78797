//! Everything that was seen in one span of time, and its merge.

use crate::errors::ErrorTable;
use crate::{
    Bytes, Counts, ErrorRow, HeldBack, Histogram, Kept, Leniency, Messages, Outcome, OutcomeCounts,
    Sample, StatusCounts, Step, WorkerHealth,
};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The distributions of time. Those of ok and of failed exchanges are kept apart, except that a
/// request whose end was not seen stays among the ok ones as "at least this long": one that timed
/// out, that was in flight or that was due and not sent when the run ended. Left out, it would make
/// a target that drops requests or stalls look fast.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latency {
    /// Intended start to end, of ok samples and of all whose end was not seen: the latency of an
    /// open-model run.
    pub response_time: Histogram,
    /// Sent to end, of ok samples and of those sent whose end was not seen: the latency of a
    /// closed-model run.
    pub service_time: Histogram,
    /// Sent to the response's first byte, of ok samples.
    pub first_byte: Histogram,
    /// Due to sent, of all that was sent: our own lateness.
    pub lag: Histogram,
    /// Intended start to due, of all that was sent, and as "at least this long" of what was due
    /// and not sent: the wait for a free connection.
    pub waiting: Histogram,
    /// Intended start to end, of failed samples, those that timed out included.
    pub failed: Histogram,
}

impl Latency {
    fn all_mut(&mut self) -> [&mut Histogram; 6] {
        [
            &mut self.response_time,
            &mut self.service_time,
            &mut self.first_byte,
            &mut self.lag,
            &mut self.waiting,
            &mut self.failed,
        ]
    }

    fn all(&self) -> [&Histogram; 6] {
        [
            &self.response_time,
            &self.service_time,
            &self.first_byte,
            &self.lag,
            &self.waiting,
            &self.failed,
        ]
    }

    #[inline]
    fn record(&mut self, sample: &Sample) {
        self.lag.record(sample.lag());
        self.waiting.record_rare(sample.waiting());
        if sample.outcome == Outcome::Ok {
            self.response_time.record(sample.response_time());
            self.service_time.record(sample.service_time());
            if sample.first_byte != Nanos::MAX {
                self.first_byte.record(sample.first_byte - sample.sent);
            }
        } else {
            self.record_failed(sample);
        }
    }

    #[cold]
    #[inline(never)]
    fn record_failed(&mut self, sample: &Sample) {
        if sample.outcome.is_cut_off() {
            self.response_time.record_at_least(sample.response_time());
            self.service_time.record_at_least(sample.service_time());
            self.failed.record_at_least(sample.response_time());
        } else {
            self.failed.record(sample.response_time());
        }
    }

    /// A request that was due and not sent waits without an end; see [`Interval::record_pending`].
    fn record_pending(&mut self, waited: Nanos, count: u64) {
        self.waiting.record_at_least_of(waited, count);
        self.response_time.record_at_least_of(waited, count);
    }

    /// An exchange that the run left behind; see [`Interval::record_in_flight`].
    fn record_in_flight(&mut self, sample: &Sample) {
        self.lag.record(sample.lag());
        self.waiting.record(sample.waiting());
        self.response_time.record_at_least(sample.response_time());
        self.service_time.record_at_least(sample.service_time());
    }

    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.all_mut().into_iter().zip(other.all()) {
            mine.merge(theirs);
        }
    }

    /// Forgets everything and keeps the memory.
    pub fn reset(&mut self) {
        for histogram in self.all_mut() {
            histogram.reset();
        }
    }
}

/// All samples that ended in one span of time, of one worker or of many.
///
/// Nothing in it is an average or a quantile, so it merges by addition: a worker, a machine and a
/// minute are merged by one operation, in any order, losslessly.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Its number, from 0; of a merged one, the least.
    pub index: u64,
    /// Where it begins, from the run's start.
    pub start: Nanos,
    /// Where it ends; not after `start` while it is being recorded.
    pub end: Nanos,
    /// Requests; `sent` is `ok + failed`, for a sample is recorded when it ends.
    pub counts: Counts,
    /// Bytes of all samples.
    pub bytes: Bytes,
    /// Times of all samples.
    pub latency: Latency,
    /// Time to open a connection.
    pub connect: Histogram,
    /// Time for a TLS handshake.
    pub tls_handshake: Histogram,
    /// One entry for each step, or none where the plan has a single step.
    pub steps: Vec<Step>,
    /// How often each leniency was granted, by its index in [`Leniency::ALL`].
    pub leniencies: [u64; Leniency::ALL.len()],
    /// Interim (1xx) responses.
    pub interim: u64,
    /// Requests sent once more because a kept-alive connection turned out to be closed.
    pub retried: u64,
    /// Requests that waited for streams which servers did not allow.
    pub held_back: HeldBack,
    /// Connections that were opened.
    pub connections_opened: u64,
    /// Samples that the warm-up left out of everything above; all its samples were intended.
    pub warmup: Counts,
    /// Messages of gRPC calls.
    pub messages: Messages,
    /// Every sample, where the plan asks for them; no part of what is merged.
    pub kept: Vec<Kept>,
    /// How the worker itself fared.
    pub health: WorkerHealth,
    outcomes: OutcomeCounts,
    status: StatusCounts,
    errors: ErrorTable,
}

impl Interval {
    /// An empty interval for a plan with these steps. Takes all the memory that recording needs.
    #[must_use]
    pub fn new(steps: &[Arc<str>]) -> Self {
        Self {
            index: 0,
            start: Nanos::ZERO,
            end: Nanos::ZERO,
            counts: Counts::default(),
            bytes: Bytes::default(),
            latency: Latency::default(),
            connect: Histogram::new(),
            tls_handshake: Histogram::new(),
            steps: Step::all(steps),
            leniencies: [0; Leniency::ALL.len()],
            interim: 0,
            retried: 0,
            held_back: HeldBack::default(),
            connections_opened: 0,
            warmup: Counts::default(),
            messages: Messages::default(),
            kept: Vec::new(),
            health: WorkerHealth::default(),
            outcomes: OutcomeCounts::default(),
            status: StatusCounts::default(),
            errors: ErrorTable::default(),
        }
    }

    /// Empties it and keeps the memory, to be recorded again. Clearing the buckets takes up to
    /// 10 µs a histogram in use, so this is work for the control plane.
    pub fn reset(&mut self, index: u64, start: Nanos) {
        self.index = index;
        self.start = start;
        self.end = start;
        self.counts = Counts::default();
        self.bytes = Bytes::default();
        self.latency.reset();
        self.connect.reset();
        self.tls_handshake.reset();
        self.steps.iter_mut().for_each(Step::reset);
        self.leniencies.fill(0);
        self.interim = 0;
        self.retried = 0;
        self.held_back = HeldBack::default();
        self.connections_opened = 0;
        self.warmup = Counts::default();
        self.messages.reset();
        self.kept.clear();
        self.health.reset();
        self.outcomes = OutcomeCounts::default();
        self.status.reset();
        self.errors.reset();
    }

    /// Records one finished exchange: no allocation, no hashing, a few tens of nanoseconds.
    #[inline]
    pub fn record(&mut self, sample: &Sample) {
        self.counts.record(sample.outcome);
        self.outcomes.record(sample.outcome);
        self.status.record(sample.status);
        self.bytes.sent += u64::from(sample.bytes_sent);
        self.bytes.received += sample.bytes_received;
        self.latency.record(sample);
        if sample.leniencies.0 != 0 {
            self.record_leniencies(sample);
        }
        if let Some(step) = self.step_mut(sample.step) {
            step.record(sample);
        }
    }

    #[cold]
    #[inline(never)]
    fn record_leniencies(&mut self, sample: &Sample) {
        for (leniency, count) in Leniency::ALL.iter().zip(&mut self.leniencies) {
            *count += u64::from(sample.leniencies.contains(*leniency));
        }
    }

    /// Counts a finished exchange whose intended start lies in the warm-up, and nothing else of
    /// it. It counts as intended here: do not record it as intended in `counts`.
    #[inline]
    pub fn record_warmup(&mut self, sample: &Sample) {
        self.warmup.intended += 1;
        self.warmup.record(sample.outcome);
    }

    /// Keeps what a failure has to say beyond [`Outcome::words`]. To be called beside
    /// [`Self::record`], at most once for each failed sample, and not for one of the warm-up.
    #[cold]
    pub fn record_error_detail(&mut self, outcome: Outcome, detail: &str) {
        self.errors.record(outcome, detail);
    }

    /// Counts requests that were due and will never be sent.
    #[inline]
    pub fn record_dropped(&mut self, n: u64) {
        self.counts.dropped += n;
    }

    /// Counts requests as they become due.
    #[inline]
    pub fn record_intended(&mut self, n: u64) {
        self.counts.intended += n;
    }

    /// Records `count` requests of a step that were due and neither sent nor dropped when starting
    /// ended: each had waited for at least `waited` by then. They stand in response time and
    /// waiting as "at least this long"; how many there are is counted in
    /// [`Unfinished::pending`](crate::Unfinished::pending).
    pub fn record_pending(&mut self, step: u16, waited: Nanos, count: u64) {
        self.latency.record_pending(waited, count);
        if let Some(step) = self.step_mut(step) {
            step.response_time.record_at_least_of(waited, count);
        }
    }

    /// Records an exchange that was under way when the drain ended, which is its sample's end. It
    /// stands in response time and service time as "at least this long" and is not counted here
    /// but in [`Unfinished::in_flight`](crate::Unfinished::in_flight).
    pub fn record_in_flight(&mut self, sample: &Sample) {
        self.latency.record_in_flight(sample);
        if let Some(step) = self.step_mut(sample.step) {
            step.response_time.record_at_least(sample.response_time());
            step.service_time.record_at_least(sample.service_time());
        }
    }

    /// The figures of the step with this index, where steps have figures of their own.
    #[inline]
    fn step_mut(&mut self, step: u16) -> Option<&mut Step> {
        let last = self.steps.len().checked_sub(1)?;
        self.steps.get_mut(usize::from(step).min(last))
    }

    /// Records the time that it took to open a connection, and counts the connection.
    pub fn record_connect(&mut self, time: Nanos) {
        self.connections_opened += 1;
        self.connect.record(time);
    }

    /// Records the time that a TLS handshake took.
    pub fn record_tls(&mut self, time: Nanos) {
        self.tls_handshake.record(time);
    }

    /// Adds `other`, of the same plan: associative, commutative and lossless.
    pub fn merge(&mut self, other: &Self) {
        self.merge_span(other);
        self.counts.merge(&other.counts);
        self.bytes.merge(&other.bytes);
        self.latency.merge(&other.latency);
        self.connect.merge(&other.connect);
        self.tls_handshake.merge(&other.tls_handshake);
        debug_assert_eq!(self.steps.len(), other.steps.len(), "one plan, one list");
        for (mine, theirs) in self.steps.iter_mut().zip(&other.steps) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.leniencies.iter_mut().zip(&other.leniencies) {
            *mine += theirs;
        }
        self.interim += other.interim;
        self.retried += other.retried;
        self.held_back.merge(&other.held_back);
        self.connections_opened += other.connections_opened;
        self.warmup.merge(&other.warmup);
        self.messages.merge(&other.messages);
        self.health.merge(&other.health);
        self.outcomes.merge(&other.outcomes);
        self.status.merge(&other.status);
        self.errors.merge(&other.errors);
    }

    /// The least span that holds both. An interval without length says nothing about the span.
    fn merge_span(&mut self, other: &Self) {
        let lasts = |interval: &Self| interval.start < interval.end;
        if lasts(self) == lasts(other) {
            let both_last = lasts(self);
            self.index = self.index.min(other.index);
            self.start = self.start.min(other.start);
            self.end = if both_last {
                self.end.max(other.end)
            } else {
                self.start
            };
        } else if lasts(other) {
            (self.index, self.start, self.end) = (other.index, other.start, other.end);
        }
    }

    /// How often each outcome was seen.
    #[must_use]
    pub fn outcomes(&self) -> &OutcomeCounts {
        &self.outcomes
    }

    /// Failures with what they had to say, the most frequent first. The counts add up to
    /// `counts.failed`.
    #[must_use]
    pub fn errors(&self) -> Vec<ErrorRow> {
        self.errors.rows(&self.outcomes)
    }

    /// Every status that was seen, ascending, with its count.
    pub fn status(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.status.iter()
    }

    /// The same counts as [`Self::status`], to look one up.
    #[must_use]
    pub fn status_counts(&self) -> &StatusCounts {
        &self.status
    }

    /// The steps by name. Where the plan has one step, `only` names it and the totals are its
    /// figures.
    #[must_use]
    pub fn steps_named(&self, only: &Arc<str>) -> Vec<Step> {
        if !self.steps.is_empty() {
            return self.steps.clone();
        }
        vec![Step {
            name: only.clone(),
            counts: self.counts,
            bytes: self.bytes,
            response_time: self.latency.response_time.clone(),
            service_time: self.latency.service_time.clone(),
            status: self.status.clone(),
            errors: self.outcomes.clone(),
        }]
    }
}
