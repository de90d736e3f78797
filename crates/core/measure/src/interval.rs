//! The measurements of one span of time, and their merge.
//!
//! A worker owns an interval while it records, and passes it on when its span is over; after that
//! the interval is shared and read-only. Intervals of workers and of minutes are merged by the same
//! operation.
//!
//! The life of an interval: [`Interval::of_pools`] allocates all memory; the worker records through
//! [`Interval::pool_mut`], sets `end` and sends the interval to the collector, which merges
//! intervals with the same number, calls [`Interval::sum_up`] once and publishes the result. When
//! all observers have dropped it, [`Interval::reset`] empties it, on the collector's thread, and a
//! worker reuses it. `total` and the sums of pools are valid only after `sum_up`.
//!
//! A stored or sent interval contains no sums ([`Interval::encode`]): they are computed again when
//! it is read.

mod form;

use crate::figures::CarriedOver;
use crate::form::FormError;
use crate::step::StepMemory;
use crate::{Figures, PoolInfo, PoolSeries, RunInfo, WorkerHealth};
use drumfire_units::Nanos;
use std::ops::Range;
use std::sync::Arc;

/// The measurements of one worker in one span of time, of many workers, or of a run in many spans.
///
/// Each pool has separate figures; the run's figures are their sum. A worker records only into the
/// series of the pools; [`Self::sum_up`] computes the sums, on the control plane, before they are
/// read.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// The number, from 0; of a merged interval, the smallest.
    pub index: u64,
    /// The beginning, from the run's start.
    pub start: Nanos,
    /// The end; not after `start` while the interval is being recorded.
    pub end: Nanos,
    /// The figures of all pools together.
    pub total: Figures,
    /// The health of the workers.
    pub health: WorkerHealth,
    /// The figures of each pool; empty with a single pool, whose figures are the total.
    pools: Vec<Figures>,
}

impl Interval {
    /// The length, unless the interval is shorter than the run's intervals because the run ended:
    /// counts of a few milliseconds are not a rate.
    #[must_use]
    pub fn whole_length(&self, info: &RunInfo) -> Option<Nanos> {
        let length = self.end - self.start;
        (length > Nanos::ZERO && length >= info.interval).then_some(length)
    }

    /// An empty interval of a run with one pool that has these steps. Allocates all the memory that
    /// recording needs.
    #[must_use]
    pub fn new(steps: &[Arc<str>]) -> Self {
        Self::of_pools([steps])
    }

    /// An empty interval of a run with these pools, at least one. A pool is given by its facts, by
    /// its series, or, if its iterations are single requests, by its steps.
    #[must_use]
    pub fn of_pools<'a, S: Into<PoolSeries<'a>>>(pools: impl IntoIterator<Item = S>) -> Self {
        let pools: Vec<PoolSeries<'_>> = pools.into_iter().map(Into::into).collect();
        let steps = pools.iter().map(|pool| pool.steps.len()).sum();
        Self::with(pools, StepMemory::for_steps(steps))
    }

    /// An empty interval for decoding, of a run with these pools, at least one.
    fn to_decode(pools: &[PoolInfo]) -> Self {
        Self::with(pools.iter().map(Into::into), StepMemory::AsNeeded)
    }

    fn with<'a>(pools: impl IntoIterator<Item = PoolSeries<'a>>, memory: StepMemory) -> Self {
        let figures = |pool| Figures::of_series(pool, memory);
        let pools = pools.into_iter().map(figures).collect();
        let (total, pools) = total_and_pools(pools);
        Self {
            index: 0,
            start: Nanos::ZERO,
            end: Nanos::ZERO,
            total,
            health: WorkerHealth::default(),
            pools,
        }
    }

    /// Empties the interval and keeps the memory for further recording.
    pub fn reset(&mut self, index: u64, start: Nanos) {
        self.index = index;
        self.start = start;
        self.end = start;
        self.total.reset();
        self.health.reset();
        self.pools.iter_mut().for_each(Figures::reset);
    }

    /// The total, the health and the figures of each pool; the last is empty with a single pool.
    pub(crate) fn into_parts(self) -> (Figures, WorkerHealth, Vec<Figures>) {
        (self.total, self.health, self.pools)
    }

    /// The figures of each pool, in the plan's order.
    #[must_use]
    pub fn pools(&self) -> &[Figures] {
        if self.pools.is_empty() {
            std::slice::from_ref(&self.total)
        } else {
            &self.pools
        }
    }

    /// The figures of a pool, for recording.
    ///
    /// # Panics
    /// If the run has no such pool.
    #[inline]
    pub fn pool_mut(&mut self, pool: usize) -> &mut Figures {
        if self.pools.is_empty() {
            debug_assert_eq!(pool, 0, "the run has one pool");
            &mut self.total
        } else {
            &mut self.pools[pool]
        }
    }

    /// Computes the figures of each pool from its steps' figures, and the figures of the run from
    /// its pools'. Calling it twice has no further effect.
    pub fn sum_up(&mut self) {
        if self.pools.is_empty() {
            return self.total.sum_up();
        }
        self.total.reset();
        for pool in &mut self.pools {
            pool.sum_up();
            self.total.merge_sums(pool);
        }
    }

    /// Adds `other`, of the same plan: associative, commutative and lossless.
    pub fn merge(&mut self, other: &Self) {
        self.merge_span(other);
        self.total.merge(&other.total);
        self.health.merge(&other.health);
        debug_assert_eq!(self.pools.len(), other.pools.len(), "one plan, one list");
        for (mine, theirs) in self.pools.iter_mut().zip(&other.pools) {
            mine.merge(theirs);
        }
    }

    /// Turns the connections of each pool into the warm-up's.
    pub fn leave_out_connections(&mut self) {
        if self.pools.is_empty() {
            return self.total.connections.leave_out();
        }
        for pool in &mut self.pools {
            pool.connections.leave_out();
        }
    }

    /// Turns the figures of each pool into the warm-up's, and returns the difference of arrivals
    /// and ends of each ([`Figures::leave_out`]).
    pub(crate) fn leave_out(&mut self) -> Vec<CarriedOver> {
        let carried = match self.pools.is_empty() {
            true => vec![self.total.leave_out()],
            false => self.pools.iter_mut().map(Figures::leave_out).collect(),
        };
        self.sum_up();
        carried
    }

    /// Counts in each pool the arrivals that became due in an omitted part.
    pub(crate) fn carry(&mut self, carried: &[CarriedOver]) {
        for (pool, carried) in carried.iter().enumerate() {
            self.pool_mut(pool).carry(*carried);
        }
        self.sum_up();
    }

    /// The summed-up interval in our own binary form: a byte or two for each distinct time, without
    /// sums.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        form::encode(self)
    }

    /// The interval that [`Self::encode`] wrote, of a run with these pools, at least one, summed
    /// up. The length of the bytes and the number of steps bound its memory.
    pub fn decode(bytes: &[u8], pools: &[PoolInfo]) -> Result<Self, FormError> {
        let mut decoded = Self::to_decode(pools);
        form::read(&mut decoded, bytes, pools)?;
        decoded.sum_up();
        Ok(decoded)
    }

    /// Decodes into an interval that an earlier call made, of the same pools, or into a new one: a
    /// reader of many intervals then uses the memory of one. Only the counts of each pool are
    /// summed up, which suffices for merging the interval into another one that is summed up
    /// afterwards.
    ///
    /// # Errors
    /// If the bytes are not an interval, as for [`Self::decode`]; `kept` is then empty.
    pub fn decode_into<'a>(
        kept: &'a mut Option<Self>,
        bytes: &[u8],
        pools: &[PoolInfo],
    ) -> Result<&'a Self, FormError> {
        let mut decoded = kept.take().unwrap_or_else(|| Self::to_decode(pools));
        form::read(&mut decoded, bytes, pools)?;
        Ok(kept.insert(decoded))
    }

    /// The span of the interval that [`Self::encode`] wrote, from the first bytes; the rest is not
    /// read. A store that merges old intervals sorts them by it without decoding.
    pub fn encoded_span(bytes: &[u8]) -> Result<Range<Nanos>, FormError> {
        form::span(bytes)
    }

    /// Replaces each message of a failure by the result of `rewrite`. Equal results are counted
    /// together.
    pub fn rewrite_messages(&mut self, rewrite: &dyn Fn(&str) -> String) {
        self.total.rewrite_messages(rewrite);
        for pool in &mut self.pools {
            pool.rewrite_messages(rewrite);
        }
    }

    /// Extends the span to include `other`'s, and takes the number of the first interval with a
    /// span.
    fn merge_span(&mut self, other: &Self) {
        let (mine, theirs) = (self.start..self.end, other.start..other.end);
        self.index = match (mine.is_empty(), theirs.is_empty()) {
            (true, false) => other.index,
            (false, true) => self.index,
            _ => self.index.min(other.index),
        };
        let both = hull(mine, theirs);
        (self.start, self.end) = (both.start, both.end);
    }
}

/// The smallest span that includes both. An empty span is ignored.
pub(crate) fn hull(one: Range<Nanos>, other: Range<Nanos>) -> Range<Nanos> {
    let start = one.start.min(other.start);
    match (one.is_empty(), other.is_empty()) {
        (true, true) => start..start,
        (true, false) => other,
        (false, true) => one,
        (false, false) => start..one.end.max(other.end),
    }
}

/// The figures of the run, and of its pools. A single pool's figures are the run's, so that its
/// samples are recorded and stored once.
fn total_and_pools(mut pools: Vec<Figures>) -> (Figures, Vec<Figures>) {
    if pools.len() == 1
        && let Some(only) = pools.pop()
    {
        return (only, pools);
    }
    let total = PoolSeries {
        steps: &[],
        iterations: pools.iter().any(|pool| pool.iterations.is_some()),
        scenarios: &[],
    };
    (Figures::of_series(total, StepMemory::Ready), pools)
}
