//! The measurements of one span of time, and their merge.
//!
//! A worker owns an interval while it records, and gives it away when its span is over; from there
//! it is shared and no longer changed. Worker and minute are merged by the same operation.
//!
//! Its life: [`Interval::of_pools`] takes all memory; the worker records through
//! [`Interval::pool_mut`], sets `end` and sends it to the collector, which merges those of one
//! number, calls [`Interval::sum_up`] once and publishes the result. When no observer holds it any
//! more, [`Interval::reset`] empties it, on the collector's time, and a worker uses it again.
//! `total` and the sums of pools may be read only after `sum_up`.
//!
//! An interval that is stored or sent has no sums ([`Interval::encode`]): they are made again when
//! it is read.

mod form;

use crate::figures::Carried;
use crate::form::FormError;
use crate::step::StepMemory;
use crate::{Figures, PoolInfo, PoolSeries, RunInfo, WorkerHealth};
use drumfire_units::Nanos;
use std::ops::Range;
use std::sync::Arc;

/// The measurements of one worker in one span of time, or of many workers, or of a run in many
/// spans.
///
/// Each pool has figures of its own; the figures of the run are their sum. A worker records into
/// the series of the pools only: [`Self::sum_up`] makes the sums, on the control plane, before they
/// are read.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Its number, from 0; of a merged one, the least.
    pub index: u64,
    /// Its beginning, from the run's start.
    pub start: Nanos,
    /// Its end; not after `start` while it is being recorded.
    pub end: Nanos,
    /// The figures of all pools together.
    pub total: Figures,
    /// The health of the workers themselves.
    pub health: WorkerHealth,
    /// The figures of each pool, or none where there is a single pool, whose figures are the sum.
    pools: Vec<Figures>,
}

impl Interval {
    /// Its length, unless the end of the run has cut it short of that of the run's intervals:
    /// counts of a few milliseconds are no rate.
    #[must_use]
    pub fn whole_length(&self, info: &RunInfo) -> Option<Nanos> {
        let length = self.end - self.start;
        (length > Nanos::ZERO && length >= info.interval).then_some(length)
    }

    /// An empty interval of a run with one pool that has these steps. Takes all the memory that
    /// recording needs.
    #[must_use]
    pub fn new(steps: &[Arc<str>]) -> Self {
        Self::of_pools([steps])
    }

    /// An empty interval of a run with these pools, at least one: each given by its facts, by its
    /// series, or by its steps where its iterations are single requests.
    #[must_use]
    pub fn of_pools<'a, S: Into<PoolSeries<'a>>>(pools: impl IntoIterator<Item = S>) -> Self {
        let pools: Vec<PoolSeries<'_>> = pools.into_iter().map(Into::into).collect();
        let steps = pools.iter().map(|pool| pool.steps.len()).sum();
        Self::with(pools, StepMemory::of(steps))
    }

    /// An empty interval to be decoded into, of a run with these pools, at least one.
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

    /// Empties it and keeps the memory, to be recorded again.
    pub fn reset(&mut self, index: u64, start: Nanos) {
        self.index = index;
        self.start = start;
        self.end = start;
        self.total.reset();
        self.health.reset();
        self.pools.iter_mut().for_each(Figures::reset);
    }

    /// The sum, the health and the figures of each pool, or none where there is a single pool.
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

    /// The figures of a pool, to be recorded into.
    ///
    /// # Panics
    /// When the run has no such pool.
    #[inline]
    pub fn pool_mut(&mut self, pool: usize) -> &mut Figures {
        if self.pools.is_empty() {
            debug_assert_eq!(pool, 0, "the run has one pool");
            &mut self.total
        } else {
            &mut self.pools[pool]
        }
    }

    /// Makes the figures of each pool from those of its steps, and the figures of the run from
    /// those of its pools. Done twice, it changes nothing.
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

    /// Makes the connections of each pool part of the warm-up.
    pub fn leave_out_connections(&mut self) {
        if self.pools.is_empty() {
            return self.total.connections.leave_out();
        }
        for pool in &mut self.pools {
            pool.connections.leave_out();
        }
    }

    /// Makes the figures of each pool part of the warm-up, and returns the surplus of each
    /// ([`Figures::leave_out`]).
    pub(crate) fn leave_out(&mut self) -> Vec<Carried> {
        let carried = match self.pools.is_empty() {
            true => vec![self.total.leave_out()],
            false => self.pools.iter_mut().map(Figures::leave_out).collect(),
        };
        self.sum_up();
        carried
    }

    /// Counts in each pool the arrivals that became due in a part that was left out.
    pub(crate) fn carry(&mut self, carried: &[Carried]) {
        for (pool, carried) in carried.iter().enumerate() {
            self.pool_mut(pool).carry(*carried);
        }
        self.sum_up();
    }

    /// The interval, summed up, in our own binary form: a byte or two for each distinct time, and
    /// no sums.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        form::encode(self)
    }

    /// The interval that [`Self::encode`] wrote, of a run with these pools, at least one, summed
    /// up. Its memory is bounded by the length of the bytes and the number of steps.
    pub fn decode(bytes: &[u8], pools: &[PoolInfo]) -> Result<Self, FormError> {
        let mut decoded = Self::to_decode(pools);
        form::read(&mut decoded, bytes, pools)?;
        decoded.sum_up();
        Ok(decoded)
    }

    /// The same into an interval that this made before, of the same pools, or into none yet: a
    /// reader of many takes the memory of one. Only the counts of each pool are summed up, so that
    /// it can be merged into another, which is summed up then.
    ///
    /// # Errors
    /// When the bytes are none, as [`Self::decode`]; there is no interval then.
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
    /// looked at. A store that makes old intervals coarser sorts them by it without decoding.
    pub fn encoded_span(bytes: &[u8]) -> Result<Range<Nanos>, FormError> {
        form::span(bytes)
    }

    /// Replaces each message of a failure by what `rewrite` returns for it. Messages that become
    /// the same are counted together.
    pub fn rewrite_messages(&mut self, rewrite: &dyn Fn(&str) -> String) {
        self.total.rewrite_messages(rewrite);
        for pool in &mut self.pools {
            pool.rewrite_messages(rewrite);
        }
    }

    /// The least span that holds both, with the number of the first interval that has one.
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

/// The least span that holds both. What has no length has no span.
pub(crate) fn hull(one: Range<Nanos>, other: Range<Nanos>) -> Range<Nanos> {
    let start = one.start.min(other.start);
    match (one.is_empty(), other.is_empty()) {
        (true, true) => start..start,
        (true, false) => other,
        (false, true) => one,
        (false, false) => start..one.end.max(other.end),
    }
}

/// The figures of the run, and those of its pools. A single pool's are the run's, so that its
/// samples are recorded once and nothing is kept twice.
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
