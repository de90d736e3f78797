//! All counts and times of a pool.
//!
//! Two sides use the figures, one after the other. First a worker calls only the `record` methods,
//! under these conditions: [`Figures::record`] for a sample whose intended start is measured and
//! [`Figures::record_warmup`] for any other; [`Figures::record_error_detail`] at most once after
//! the former; `record_intended`, `record_dropped` and `record_pending` for arrivals instead of
//! exchanges; [`Figures::record_in_flight`] instead of `record` for exchanges that the end of the
//! drain cut off. Only the text of a new failure, the first status of a page and the first lower
//! bound of a histogram allocate memory.
//!
//! Then the control plane calls [`Figures::sum_up`] on a closed interval; the sums of several steps
//! are valid only after that. [`Figures::merge`] adds the figures of the same pool, including
//! steps, before that call (then the result must be summed up) or after it. [`Figures::merge_sums`]
//! adds a pool's sums to the run's, which has no steps. [`Figures::reset`] returns the memory to a
//! worker.
//!
//! After the beginning and the end of all requests are recorded, `counts` add up
//! ([`Counts::conservation`]); within a single interval they need not.

pub(crate) mod form;

use crate::errors::ErrorTable;
use crate::llm::Llm;
use crate::messages::StepMessages;
use crate::series::SeriesMut;
use crate::step::StepMemory;
use crate::{
    ByteCounts, Cause, Connections, Counts, ErrorRow, HeldBack, IterationSample, Iterations,
    Latency, Leniency, LlmFigures, Messages, Outcome, OutcomeCounts, PoolInfo, PoolSeries, Sample,
    StatusCounts, Step,
};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The figures of a pool in one span of time, of one worker or of many; for a run, the sum of its
/// pools.
///
/// Figures contain no averages and no quantiles, so they merge by addition: workers, machines and
/// minutes are merged by one operation, in any order, without loss.
///
/// A sample is recorded into one series: its step's, or the sums if the pool has a single step.
/// [`Self::sum_up`] computes the sums of several steps, on the control plane, before they are read:
/// `counts` (except intended and dropped, which belong to the pool), `bytes`, `messages`, outcomes,
/// statuses, response time and service time.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Requests by their result.
    pub counts: Counts,
    /// Bytes of all samples.
    pub bytes: ByteCounts,
    /// Times of all samples.
    pub latency: Latency,
    /// Samples of the warm-up, which are left out of everything above; all of them were intended.
    pub warmup: Counts,
    /// The number of times each leniency was granted, by its index in [`Leniency::ALL`].
    pub leniencies: [u64; Leniency::ALL.len()],
    /// The number of running exchanges at the end of the span less the number at its beginning.
    /// Over all spans up to a time, the sum is the number running then.
    pub under_way: i64,
    /// Interim (1xx) responses.
    pub interim: u64,
    /// Requests that were sent again after a failure.
    pub retried: u64,
    /// Requests that waited because servers did not allow more streams.
    pub held_back: HeldBack,
    /// Iterations, if one may contain several requests. `None` if each is one request, so that the
    /// counts are equal.
    pub iterations: Option<Iterations>,
    /// One entry for each scenario of a pool with several: its iterations that ended or were in
    /// flight. Arrivals that became due, were dropped or are pending have no scenario yet and are
    /// counted for the pool.
    pub scenarios: Vec<Iterations>,
    /// Messages, if exchanges have messages. Record them with [`Self::messages_mut`].
    pub messages: Messages,
    /// The connections of the pool, opened or closed in the span.
    pub connections: Connections,
    /// One entry for each step; empty if there is a single step, whose figures are the sums.
    pub steps: Vec<Step>,
    llm: Llm,
    outcomes: OutcomeCounts,
    status: StatusCounts,
    errors: ErrorTable,
}

/// The difference of arrivals and ends in a part of a run that is left out: requests that became
/// due in it and ended after it. Negative if more ended than became due.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CarriedOver {
    requests: i64,
    iterations: i64,
}

impl CarriedOver {
    /// The sum of two parts.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(other.requests),
            iterations: self.iterations.saturating_add(other.iterations),
        }
    }
}

/// Requests that became due, less those that ended or were dropped.
fn balance(counts: &Counts) -> i64 {
    signed(counts.intended) - signed(counts.finished()) - signed(counts.dropped)
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl Figures {
    /// Empty figures of a pool with these steps, whose iterations are single requests. Allocates
    /// all the memory that recording needs.
    #[must_use]
    pub fn new(steps: &[Arc<str>]) -> Self {
        Self::of_series(steps.into(), StepMemory::for_steps(steps.len()))
    }

    /// Empty sums of a pool without steps, for [`Self::merge_sums`].
    #[must_use]
    pub fn of_sums(pool: &PoolInfo) -> Self {
        let sums = PoolSeries {
            steps: &[],
            iterations: pool.iterations,
            scenarios: &[],
        };
        Self::of_series(sums, StepMemory::Ready)
    }

    /// Empty figures of a pool with these series.
    pub(crate) fn of_series(series: PoolSeries<'_>, memory: StepMemory) -> Self {
        Self {
            counts: Counts::default(),
            bytes: ByteCounts::default(),
            latency: Latency::default(),
            warmup: Counts::default(),
            leniencies: [0; Leniency::ALL.len()],
            under_way: 0,
            interim: 0,
            retried: 0,
            held_back: HeldBack::default(),
            iterations: series.iterations.then(Iterations::default),
            // Each entry is made for recording; a clone would not be.
            scenarios: std::iter::repeat_with(Iterations::default)
                .take(series.scenarios.len())
                .collect(),
            messages: Messages::default(),
            connections: Connections::default(),
            steps: Step::all(series.steps, memory),
            llm: Llm::default(),
            outcomes: OutcomeCounts::default(),
            status: StatusCounts::default(),
            errors: ErrorTable::default(),
        }
    }

    /// Empties the figures and keeps the memory for further recording. Clearing the buckets takes
    /// up to 10 µs per used histogram, so the control plane should do it.
    pub fn reset(&mut self) {
        self.counts = Counts::default();
        self.bytes = ByteCounts::default();
        self.latency.reset();
        self.warmup = Counts::default();
        self.leniencies.fill(0);
        self.under_way = 0;
        self.interim = 0;
        self.retried = 0;
        self.held_back = HeldBack::default();
        self.iterations.iter_mut().for_each(Iterations::reset);
        self.scenarios.iter_mut().for_each(Iterations::reset);
        self.messages.reset();
        self.connections.reset();
        self.steps.iter_mut().for_each(Step::reset);
        self.llm.reset();
        self.outcomes = OutcomeCounts::default();
        self.status.reset();
        self.errors.reset();
    }

    /// Turns the measurements of a span into the warm-up's, except for running exchanges and the
    /// number of open connections. Returns the difference of arrivals and ends, which
    /// [`Self::carry`] adds to the next measured span, because these requests end there.
    ///
    /// Called only by [`Summary`](crate::Summary), after it has determined when the run settled.
    pub(crate) fn leave_out(&mut self) -> CarriedOver {
        let mut carried = CarriedOver {
            requests: balance(&self.counts),
            iterations: self.iterations.as_ref().map_or(0, |of| balance(&of.counts)),
        };
        // Requests that never end belong to the run's end, and are measured there.
        carried.requests -= signed(self.counts.in_flight + self.counts.pending);
        let mut warmup = self.warmup;
        warmup.merge(&Counts {
            intended: self.counts.finished(),
            sent: self.counts.finished(),
            dropped: 0,
            pending: 0,
            in_flight: 0,
            ..self.counts
        });
        let under_way = self.under_way;
        self.connections.leave_out();
        let connections = std::mem::take(&mut self.connections);
        self.reset();
        (self.warmup, self.under_way, self.connections) = (warmup, under_way, connections);
        carried
    }

    /// Counts the arrivals that became due in an omitted part, and end in this one, as due here.
    pub(crate) fn carry(&mut self, carried: CarriedOver) {
        let add = |count: &mut u64, more: i64| *count = count.saturating_add_signed(more);
        add(&mut self.counts.intended, carried.requests);
        if let Some(iterations) = &mut self.iterations {
            add(&mut iterations.counts.intended, carried.iterations);
        }
    }

    /// Records one finished exchange: no allocation, no hashing, a few tens of nanoseconds.
    #[inline]
    pub fn record(&mut self, sample: &Sample) {
        self.latency.record(sample);
        if sample.leniencies.0 != 0 {
            self.record_leniencies(sample);
        }
        match self.step_mut(sample.step) {
            Some(step) => step.record(sample),
            None => self.sums_mut().record(sample),
        }
    }

    /// The sums, if they are the only series.
    #[inline]
    fn sums_mut(&mut self) -> SeriesMut<'_> {
        SeriesMut {
            counts: &mut self.counts,
            bytes: &mut self.bytes,
            outcomes: &mut self.outcomes,
            status: &mut self.status,
            response_time: &mut self.latency.response_time,
            service_time: &mut self.latency.service_time,
        }
    }

    /// The messages of a step, for recording. A message belongs to the span in which it is sent or
    /// received, which may come before the span in which its exchange ends.
    #[inline]
    pub fn messages_mut(&mut self, step: u16) -> &mut Messages {
        match self.steps.len().checked_sub(1) {
            Some(last) => self.steps[usize::from(step).min(last)].messages.get_mut(),
            None => &mut self.messages,
        }
    }

    /// The answers of language models, if there are any.
    #[must_use]
    pub fn llm(&self) -> Option<&LlmFigures> {
        self.llm.get()
    }

    /// The answers of a step, for recording. The first record of a pool or a step allocates.
    #[inline]
    pub fn llm_mut(&mut self, step: u16) -> &mut LlmFigures {
        match self.steps.len().checked_sub(1) {
            Some(last) => self.steps[usize::from(step).min(last)].llm.get_mut(),
            None => self.llm.get_mut(),
        }
    }

    /// The parts that are stored after all other figures.
    pub(crate) const fn llm_parts_mut(&mut self) -> (&mut Llm, &mut Vec<Step>) {
        (&mut self.llm, &mut self.steps)
    }

    #[cold]
    #[inline(never)]
    fn record_leniencies(&mut self, sample: &Sample) {
        for (leniency, count) in Leniency::ALL.iter().zip(&mut self.leniencies) {
            *count += u64::from(sample.leniencies.contains(*leniency));
        }
    }

    /// Counts a finished exchange whose intended start is in the warm-up; nothing else of it is
    /// recorded.
    #[inline]
    pub fn record_warmup(&mut self, sample: &Sample) {
        self.warmup.record(sample.outcome);
    }

    /// Counts arrivals that became due in the warm-up: requests, or iterations if these may contain
    /// several requests.
    pub const fn record_warmup_due(&mut self, count: u64) {
        self.warmup.intended = self.warmup.intended.saturating_add(count);
    }

    /// Keeps the text and the cause of a failure, in addition to [`Outcome::words`]. Call it after
    /// [`Self::record`], at most once for each failed sample, and not for samples of the warm-up.
    #[cold]
    pub fn record_error_detail(&mut self, outcome: Outcome, cause: Option<Cause>, text: &str) {
        self.errors.record((outcome, cause), text);
    }

    /// Counts requests that were due and will not be sent.
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
    /// ended: each had waited for at least `waited`. They count in response time and waiting as "at
    /// least this long".
    pub fn record_pending(&mut self, step: u16, waited: Nanos, count: u64) {
        self.latency.waiting.record_at_least_of(waited, count);
        match self.step_mut(step) {
            Some(step) => step.record_pending(waited, count),
            None => self.sums_mut().record_pending(waited, count),
        }
    }

    /// Records an exchange that was running at the end of the drain, which is its sample's end. The
    /// exchange counts in response time and service time as "at least this long".
    pub fn record_in_flight(&mut self, sample: &Sample) {
        self.latency.record_in_flight(sample);
        match self.step_mut(sample.step) {
            Some(step) => step.record_in_flight(sample),
            None => self.sums_mut().record_in_flight(sample),
        }
    }

    /// Counts iterations as they become due. All methods for iterations do nothing if iterations
    /// are single requests.
    #[inline]
    pub fn record_iterations_intended(&mut self, n: u64) {
        if let Some(iterations) = &mut self.iterations {
            iterations.counts.intended += n;
        }
    }

    /// Counts iterations that were due and will never be started.
    #[inline]
    pub fn record_iterations_dropped(&mut self, n: u64) {
        if let Some(iterations) = &mut self.iterations {
            iterations.counts.dropped += n;
        }
    }

    /// Records `count` iterations that were due and neither started nor dropped when starting
    /// ended: each had waited for at least `waited`.
    pub fn record_iterations_pending(&mut self, waited: Nanos, count: u64) {
        if let Some(iterations) = &mut self.iterations {
            iterations.record_pending(waited, count);
        }
    }

    /// Records one iteration that has ended; does not allocate. An iteration with an intended start
    /// in the warm-up is neither recorded nor counted as intended.
    #[inline]
    pub fn record_iteration(&mut self, sample: &IterationSample) {
        if let Some(iterations) = &mut self.iterations {
            iterations.record(sample);
        }
        if let Some(scenario) = self.scenarios.get_mut(sample.scenario as usize) {
            scenario.record(sample);
        }
    }

    /// Records one iteration that was running, or in a pause, at the end of the drain, which is its
    /// sample's end.
    pub fn record_iteration_in_flight(&mut self, sample: &IterationSample) {
        if let Some(iterations) = &mut self.iterations {
            iterations.record_in_flight(sample.time());
        }
        if let Some(scenario) = self.scenarios.get_mut(sample.scenario as usize) {
            scenario.record_in_flight(sample.time());
        }
    }

    /// Computes the sums from the steps, and adds the requests that did not wait to the
    /// distribution of waiting: recording leaves these zeros out, because they are the majority.
    /// Calling it twice has no further effect.
    pub fn sum_up(&mut self) {
        if !self.steps.is_empty() {
            self.sum_up_steps();
        }
        let Counts { sent, pending, .. } = self.counts;
        self.latency
            .waiting
            .fill_with_zeros(sent.saturating_add(pending));
    }

    /// Computes only the counts from the steps' counts.
    fn sum_up_counts(&mut self) {
        if self.steps.is_empty() {
            return;
        }
        let Counts {
            intended, dropped, ..
        } = self.counts;
        self.counts = Counts::default();
        for step in &self.steps {
            self.counts.merge(&step.counts);
        }
        (self.counts.intended, self.counts.dropped) = (intended, dropped);
    }

    fn sum_up_steps(&mut self) {
        self.sum_up_counts();
        self.bytes = ByteCounts::default();
        self.outcomes = OutcomeCounts::default();
        self.status.reset();
        self.latency.response_time.reset();
        self.latency.service_time.reset();
        self.messages.reset();
        self.llm.reset();
        for step in self.steps.iter().filter(|step| !step.is_empty()) {
            self.bytes.merge(&step.bytes);
            self.outcomes.merge(&step.errors);
            self.status.merge(&step.status);
            self.latency.response_time.merge(&step.response_time);
            self.latency.service_time.merge(&step.service_time);
            if let Some(messages) = step.messages() {
                self.messages.merge(messages);
            }
            self.llm.merge(&step.llm);
        }
    }

    /// The series of a step, if steps have separate series; indexes from [`STEPS`](crate::STEPS) on
    /// share the last one.
    #[inline]
    fn step_mut(&mut self, step: u16) -> Option<&mut Step> {
        let last = self.steps.len().checked_sub(1)?;
        self.steps.get_mut(usize::from(step).min(last))
    }

    /// Adds `other`, of the same pool: associative, commutative and lossless. Both have the same
    /// steps in the same order, because both come from one plan.
    pub fn merge(&mut self, other: &Self) {
        debug_assert_eq!(self.steps.len(), other.steps.len(), "one plan, one list");
        for (mine, theirs) in self.steps.iter_mut().zip(&other.steps) {
            mine.merge(theirs);
        }
        debug_assert_eq!(self.scenarios.len(), other.scenarios.len(), "one plan");
        for (mine, theirs) in self.scenarios.iter_mut().zip(&other.scenarios) {
            mine.merge(theirs);
        }
        self.merge_sums(other);
    }

    /// Adds `other`, of any pool, without its steps and scenarios.
    pub fn merge_sums(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        self.bytes.merge(&other.bytes);
        self.latency.merge(&other.latency);
        self.warmup.merge(&other.warmup);
        for (mine, theirs) in self.leniencies.iter_mut().zip(&other.leniencies) {
            *mine = mine.saturating_add(*theirs);
        }
        self.under_way = self.under_way.saturating_add(other.under_way);
        self.interim = self.interim.saturating_add(other.interim);
        self.retried = self.retried.saturating_add(other.retried);
        self.held_back.merge(&other.held_back);
        if let (Some(mine), Some(theirs)) = (&mut self.iterations, &other.iterations) {
            mine.merge(theirs);
        } else {
            debug_assert!(other.iterations.is_none(), "one plan, one set of series");
        }
        self.messages.merge(&other.messages);
        self.llm.merge(&other.llm);
        self.connections.merge(&other.connections);
        self.outcomes.merge(&other.outcomes);
        self.status.merge(&other.status);
        self.errors.merge(&other.errors);
    }

    /// Accounts for running exchanges at the end of an incomplete record: they become in flight,
    /// and other arrivals without an end become pending. The number of running exchanges is then 0.
    pub(crate) fn break_off(&mut self) {
        let under_way = u64::try_from(self.under_way).unwrap_or(0);
        self.counts.break_off(under_way);
        if let Some(iterations) = &mut self.iterations {
            // The number of iterations that had begun is not recorded.
            iterations.counts.break_off(u64::MAX);
        }
        self.under_way = 0;
    }

    /// The failed requests that were not sent because their data could not be rendered.
    #[must_use]
    pub fn without_data(&self) -> u64 {
        self.outcomes.get(Outcome::BadData)
    }

    /// The requests that should be in a distribution of times, even as "at least", but are not:
    /// those that were running or due at the end of an incomplete record.
    #[must_use]
    pub fn untimed(&self) -> u64 {
        let Counts {
            ok,
            pending,
            in_flight,
            ..
        } = self.counts;
        let cut_off = self.outcomes.failures();
        let cut_off = cut_off.filter(|(outcome, _)| outcome.is_cut_off());
        let all = cut_off.fold(ok, |sum, (_, count)| sum.saturating_add(count));
        let all = all.saturating_add(pending).saturating_add(in_flight);
        all.saturating_sub(self.latency.response_time.count())
    }

    /// Sets the counts to the sum over these pools.
    pub(crate) fn sum_counts(&mut self, pools: &[Self]) {
        let mut counts = Counts::default();
        let mut iterations = Counts::default();
        for pool in pools {
            counts.merge(&pool.counts);
            if let Some(of_pool) = &pool.iterations {
                iterations.merge(&of_pool.counts);
            }
        }
        self.counts = counts;
        if let Some(mine) = &mut self.iterations {
            mine.counts = iterations;
        }
    }

    /// The exchanges of each outcome.
    #[must_use]
    pub fn outcomes(&self) -> &OutcomeCounts {
        &self.outcomes
    }

    /// Failures with their details, the most frequent first. The counts add up to `counts.failed`.
    #[must_use]
    pub fn errors(&self) -> Vec<ErrorRow> {
        self.errors.rows(&self.outcomes)
    }

    /// Replaces each message of a failure by the result of `rewrite`; equal results are counted
    /// together.
    pub(crate) fn rewrite_messages(&mut self, rewrite: &dyn Fn(&str) -> String) {
        self.errors.rewrite(rewrite);
    }

    pub(crate) fn error_table(&self) -> &ErrorTable {
        &self.errors
    }

    pub(crate) fn error_table_mut(&mut self) -> &mut ErrorTable {
        &mut self.errors
    }

    /// Every status that occurred, ascending, with its count.
    pub fn status(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.status.iter()
    }

    /// The counts of all statuses, to look one up.
    #[must_use]
    pub fn status_counts(&self) -> &StatusCounts {
        &self.status
    }

    /// The steps of this pool. For a pool with one step, the pool's sums under the step's name.
    #[must_use]
    pub fn steps_of(&self, pool: &PoolInfo) -> Vec<Step> {
        let first = pool.steps.first();
        first.map_or_else(Vec::new, |first| self.steps_named(first))
    }

    /// The steps by name. With a single step, `only` is its name and the sums are its figures.
    fn steps_named(&self, only: &Arc<str>) -> Vec<Step> {
        if !self.steps.is_empty() {
            return self.steps.clone();
        }
        vec![Step {
            pool: None,
            name: only.clone(),
            counts: self.counts,
            bytes: self.bytes,
            response_time: self.latency.response_time.clone(),
            service_time: self.latency.service_time.clone(),
            status: self.status.clone(),
            errors: self.outcomes.clone(),
            messages: StepMessages::of(&self.messages),
            llm: self.llm.clone(),
        }]
    }
}
