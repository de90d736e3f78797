//! The part of an interval for a run over time: counts, *the* latency, and the lag.
//!
//! A whole interval has some ten distributions, and a run over time has hundreds of cells. An
//! overview has the two distributions that rows and the drift test need, so that the timeline stays
//! small for runs of any length.

use crate::form;
use crate::interval::hull;
use crate::llm::LlmOverview;
use crate::{
    Figures, Histogram, Interval, LlmFigures, Model, Outcome, OutcomeCounts, RunInfo, Step,
};
use drumfire_units::Nanos;
use std::ops::Range;

/// Counts for rows and the drift test. They merge by addition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Exchanges that met the plan's expectation.
    pub(crate) good: u64,
    /// Exchanges that failed by their answer.
    pub(crate) bad: u64,
    /// Exchanges that failed in any other way.
    pub(crate) failed: u64,
    /// The exchanges of `bad` that failed a check.
    pub(crate) checks_failed: u64,
    /// Exchanges of the warm-up.
    pub(crate) warmup: u64,
    /// Requests that became due.
    pub(crate) intended: u64,
    /// Iterations that became due; equal to `intended` if iterations are single requests.
    pub(crate) iterations_intended: u64,
    /// Requests that were due and will not be sent.
    pub(crate) dropped: u64,
    /// Exchanges running at the end less those at the beginning.
    pub(crate) under_way: i64,
}

form! {
    struct Tally {
        good, bad, failed, checks_failed, warmup, intended, iterations_intended, dropped, under_way,
    }
}

impl Tally {
    pub(crate) fn from_figures(figures: &Figures) -> Self {
        let counts = &figures.counts;
        let bad = failures(figures.outcomes(), Outcome::is_answered);
        let iterations = figures.iterations.as_ref();
        Self {
            good: counts.ok,
            bad,
            failed: counts.failed.saturating_sub(bad),
            checks_failed: failures(figures.outcomes(), Outcome::is_check),
            warmup: figures.warmup.finished(),
            intended: counts.intended,
            iterations_intended: iterations.map_or(counts.intended, |of| of.counts.intended),
            dropped: counts.dropped,
            under_way: figures.under_way,
        }
    }

    /// The counts of one step. Dropped arrivals and the warm-up are not counted by step.
    fn of_step(step: &Step) -> Self {
        let counts = &step.counts;
        let bad = failures(&step.errors, Outcome::is_answered);
        Self {
            good: counts.ok,
            bad,
            failed: counts.failed.saturating_sub(bad),
            checks_failed: failures(&step.errors, Outcome::is_check),
            intended: counts.intended,
            iterations_intended: counts.intended,
            ..Self::default()
        }
    }

    /// Exchanges that ended, without the warm-up.
    pub(crate) fn ended(&self) -> u64 {
        self.good.saturating_add(self.unsuccessful())
    }

    /// Exchanges that failed in any way.
    pub(crate) fn unsuccessful(&self) -> u64 {
        self.bad.saturating_add(self.failed)
    }

    fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts_mut().into_iter().zip(other.counts()) {
            *mine = mine.saturating_add(theirs);
        }
        self.under_way = self.under_way.saturating_add(other.under_way);
    }

    const fn counts(&self) -> [u64; 8] {
        [
            self.good,
            self.bad,
            self.failed,
            self.checks_failed,
            self.warmup,
            self.intended,
            self.iterations_intended,
            self.dropped,
        ]
    }

    const fn counts_mut(&mut self) -> [&mut u64; 8] {
        [
            &mut self.good,
            &mut self.bad,
            &mut self.failed,
            &mut self.checks_failed,
            &mut self.warmup,
            &mut self.intended,
            &mut self.iterations_intended,
            &mut self.dropped,
        ]
    }
}

/// The number of failures whose outcome is of some kind.
fn failures(outcomes: &OutcomeCounts, of_kind: fn(Outcome) -> bool) -> u64 {
    let counted = outcomes.failures();
    let counted = counted.filter(|(outcome, _)| of_kind(*outcome));
    counted.fold(0, |sum: u64, (_, count)| sum.saturating_add(count))
}

/// The part of a run that an overview covers: all pools, one pool, or one of its steps; and the
/// model that chooses *the* latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aspect {
    pub(crate) model: Model,
    /// The pool's number; `None` for all pools.
    pub(crate) pool: Option<usize>,
    /// The step's number, in a pool of several.
    pub(crate) step: Option<usize>,
}

impl Aspect {
    pub(crate) fn of_run(info: &RunInfo) -> Self {
        Self {
            model: info.model(),
            pool: None,
            step: None,
        }
    }

    pub(crate) fn of_pool(info: &RunInfo, number: usize) -> Self {
        Self {
            model: info.pools[number].model,
            pool: Some(number),
            step: None,
        }
    }

    pub(crate) fn of_step(info: &RunInfo, pool: usize, step: usize) -> Self {
        Self {
            step: Some(step),
            ..Self::of_pool(info, pool)
        }
    }

    fn step(self, interval: &Interval) -> Option<&Step> {
        self.figures(interval).steps.get(self.step?)
    }

    fn figures(self, interval: &Interval) -> &Figures {
        self.pool
            .map_or(&interval.total, |number| &interval.pools()[number])
    }
}

/// The figures of an interval, or of several merged ones, that rows and the drift test need.
#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    pub(crate) start: Nanos,
    pub(crate) end: Nanos,
    pub(crate) tally: Tally,
    /// *The* latency of the model.
    pub(crate) latency: Histogram,
    /// The generator's lag.
    pub(crate) lag: Histogram,
    /// The maximum resident memory of the generator, in bytes; 0 if it is unknown.
    pub(crate) memory: u64,
    /// Answers of language models, if there are any.
    pub(crate) llm: Option<Box<LlmOverview>>,
}

form! { struct Overview { start, end, tally, memory, latency, lag, llm } }

impl Overview {
    /// An empty overview. It allocates as needed: there may be many, and most contain a single
    /// interval.
    pub(crate) fn new() -> Self {
        Self {
            start: Nanos::ZERO,
            end: Nanos::ZERO,
            tally: Tally::default(),
            latency: Histogram::small(),
            lag: Histogram::small(),
            memory: 0,
            llm: None,
        }
    }

    /// The beginning, from the run's start.
    #[must_use]
    pub const fn start(&self) -> Nanos {
        self.start
    }

    /// The end, from the run's start.
    #[must_use]
    pub const fn end(&self) -> Nanos {
        self.end
    }

    /// *The* latency of the run's model.
    #[must_use]
    pub const fn latency(&self) -> &Histogram {
        &self.latency
    }

    /// The gaps between two events with tokens; `None` without answers of language models.
    #[must_use]
    pub fn gaps(&self) -> Option<&Histogram> {
        self.llm.as_deref().map(LlmOverview::gaps)
    }

    /// The maximum resident memory of the generator, in bytes; 0 if it is unknown.
    #[must_use]
    pub const fn memory(&self) -> u64 {
        self.memory
    }

    /// Empties the overview and keeps the memory.
    pub(crate) fn reset(&mut self, start: Nanos) {
        (self.start, self.end) = (start, start);
        self.tally = Tally::default();
        self.latency.reset();
        self.lag.reset();
        self.memory = 0;
        self.llm = None;
    }

    /// Adds an interval, which must be summed up, as far as this aspect covers it. A step has
    /// neither lag nor memory.
    pub(crate) fn add(&mut self, interval: &Interval, aspect: Aspect) {
        self.cover(interval.start..interval.end);
        let figures = aspect.figures(interval);
        let kind = aspect.model.latency_kind(&figures.latency);
        if let Some(step) = aspect.step(interval) {
            self.tally.merge(&Tally::of_step(step));
            self.latency.merge(step.times(kind));
            self.add_llm(step.llm(), aspect.model);
            return;
        }
        self.tally.merge(&Tally::from_figures(figures));
        self.latency.merge(kind.histogram(&figures.latency));
        self.lag.merge(&figures.latency.lag);
        self.memory = self.memory.max(interval.health.memory);
        self.add_llm(figures.llm(), aspect.model);
    }

    fn add_llm(&mut self, llm: Option<&LlmFigures>, model: Model) {
        if let Some(llm) = llm {
            let mine = self
                .llm
                .get_or_insert_with(|| Box::new(LlmOverview::small()));
            mine.add(llm, model);
        }
    }

    /// Adds `other`, of the same pools: associative, commutative and lossless.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.cover(other.start..other.end);
        self.tally.merge(&other.tally);
        self.latency.merge(&other.latency);
        self.lag.merge(&other.lag);
        self.memory = self.memory.max(other.memory);
        if let Some(theirs) = &other.llm {
            let mine = self
                .llm
                .get_or_insert_with(|| Box::new(LlmOverview::small()));
            mine.merge(theirs);
        }
    }

    fn cover(&mut self, span: Range<Nanos>) {
        let both = hull(self.start..self.end, span);
        (self.start, self.end) = (both.start, both.end);
    }
}
