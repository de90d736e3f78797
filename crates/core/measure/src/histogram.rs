//! A distribution of times: HdrHistogram's buckets, with the exact extremes and sum.
//!
//! The buckets give quantiles to three significant digits. The count, the extremes and the sum are
//! always exact, even beyond the last bucket, so the width of buckets never affects a mean or a
//! maximum.
//!
//! Some times are only known to be at least so long: a request that timed out, or was running when
//! the run ended, took at least the observed time. Such a time is recorded like any other and
//! additionally among the lower bounds ([`Histogram::record_at_least`]). Leaving it out would hide
//! the slowest requests; counting it as exact would claim an end that was not seen.
//! [`Histogram::is_at_least`] shows whether a quantile depends on lower bounds.

pub(crate) mod form;
mod lower_bounds;

use crate::buckets::{Buckets, HIGHEST, bounds, place, places};
use crate::quantile::{bucket_at, rank, supports};
use drumfire_units::Nanos;
use lower_bounds::LowerBounds;
use std::ops::RangeInclusive;

/// A distribution of times from 0 ns to 1 h, to three significant digits.
///
/// A worker records into a histogram (`record`), which increments a bucket and updates the exact
/// figures; everything else is for the control plane. `merge` and `subtract` add and subtract whole
/// histograms, `reset` empties one and keeps its memory.
///
/// The memory (264 KiB, resident as far as it is touched) is allocated by the constructor, and the
/// same amount again with the first lower bound; other recording does not allocate. A
/// [small](Self::small) histogram allocates as needed. Histograms merge by addition, so that any
/// partition of the samples gives the same histogram in any order.
///
/// Some of the times may be lower bounds; see [`Self::record_at_least`].
#[derive(Debug)]
pub struct Histogram {
    buckets: Buckets,
    /// The part of the counts that are lower bounds.
    bounds: LowerBounds,
    count: u64,
    /// The exact minimum; `u64::MAX` if the histogram is empty.
    min: u64,
    /// The exact maximum; 0 if the histogram is empty.
    max: u64,
    /// The exact sum.
    sum: u128,
    /// The number of values beyond the last bucket.
    beyond: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// The clone is small: it allocates only for the recorded times.
impl Clone for Histogram {
    fn clone(&self) -> Self {
        let mut clone = Self::small();
        clone.merge(self);
        clone
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        let figures = |of: &Self| (of.count, of.min, of.max, of.sum, of.beyond);
        figures(self) == figures(other)
            && self.bounds.from() == other.bounds.from()
            && self.used().eq(other.used())
            && self.bounds.used(self.max).eq(other.bounds.used(other.max))
    }
}

impl Histogram {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Buckets::new())
    }

    /// An empty histogram that has no memory yet: it takes some 10 bytes for each used bucket, up
    /// to 5 KiB, and only then the whole array. For thousands of histograms with few times each.
    /// Recording into it may allocate.
    #[must_use]
    pub fn small() -> Self {
        Self::with(Buckets::small())
    }

    fn with(buckets: Buckets) -> Self {
        Self {
            buckets,
            bounds: LowerBounds::none(),
            count: 0,
            min: u64::MAX,
            max: 0,
            sum: 0,
            beyond: 0,
        }
    }

    /// Records one time. Takes some 20 instructions and never allocates.
    #[inline]
    pub fn record(&mut self, time: Nanos) {
        match self.buckets.slot(time.0) {
            Some(count) => *count += 1,
            None => self.count_apart(time.0),
        }
        self.note(time.0);
    }

    /// Records `count` equal times.
    pub(crate) fn record_many(&mut self, time: Nanos, count: u64) {
        if count == 0 {
            return;
        }
        self.beyond = match time.0 > HIGHEST {
            true => self.beyond.saturating_add(count),
            false => self.beyond,
        };
        let slot = self.buckets.nearest(time.0);
        *slot = slot.saturating_add(count);
        self.count = self.count.saturating_add(count);
        let sum = u128::from(time.0) * u128::from(count);
        self.sum = self.sum.saturating_add(sum);
        self.min = self.min.min(time.0);
        self.max = self.max.max(time.0);
    }

    /// Records zeros until there are `count` times.
    pub(crate) fn fill_with_zeros(&mut self, count: u64) {
        let zeros = count.saturating_sub(self.count);
        if zeros > 0 {
            *self.buckets.nearest(0) += zeros;
            self.count = count;
            self.min = 0;
        }
    }

    /// Records a time that is a lower bound. It counts with this length, and figures that depend on
    /// its end are lower bounds; see [`Self::is_at_least`].
    ///
    /// The first such time allocates as much memory as the histogram itself; this happens after a
    /// timeout or at a run's end.
    pub fn record_at_least(&mut self, time: Nanos) {
        self.record_at_least_of(time, 1);
    }

    /// Records `count` times with one lower bound, as [`Self::record_at_least`] does.
    pub fn record_at_least_of(&mut self, time: Nanos, count: u64) {
        if count == 0 {
            return;
        }
        // The maximum means "no lower bound".
        let time = time.min(Nanos(u64::MAX - 1));
        if time.0 > HIGHEST {
            self.beyond = self.beyond.saturating_add(count);
        }
        let slot = self.buckets.nearest(time.0);
        *slot = slot.saturating_add(count);
        self.bounds.record(time.0, count, &self.buckets);
        self.count = self.count.saturating_add(count);
        let sum = u128::from(time.0) * u128::from(count);
        self.sum = self.sum.saturating_add(sum);
        self.min = self.min.min(time.0);
        self.max = self.max.max(time.0);
    }

    /// Counts a value without a slot in an array: a time beyond the range, or any time of a small
    /// histogram.
    #[cold]
    #[inline(never)]
    fn count_apart(&mut self, value: u64) {
        *self.buckets.nearest(value) += 1;
        self.beyond += u64::from(value > HIGHEST);
    }

    /// Updates the exact figures.
    #[inline]
    fn note(&mut self, value: u64) {
        self.count += 1;
        self.sum += u128::from(value);
        // Both extremes settle soon, and a branch that is never taken costs less than a store.
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
    }

    /// Adds `count` times of which only the bounds of their bucket are known, as in other tools'
    /// encodings. Extremes and sum become estimates.
    pub(crate) fn record_bucket(&mut self, low: u64, high: u64, count: u64) {
        if low > HIGHEST {
            self.beyond = self.beyond.saturating_add(count);
        }
        let slot = self.buckets.nearest(low);
        *slot = slot.saturating_add(count);
        self.count = self.count.saturating_add(count);
        self.min = self.min.min(low);
        self.max = self.max.max(high);
        self.sum += u128::from(low + (high - low) / 2) * u128::from(count);
    }

    /// The places that may be in use; the histogram must not be empty.
    fn places(&self) -> RangeInclusive<usize> {
        places(self.min, self.max)
    }

    /// The used places, with their counts.
    fn used(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        // The first bucket of an empty histogram is also empty.
        let places = if self.is_empty() {
            0..=0
        } else {
            self.places()
        };
        self.buckets.used(places)
    }

    /// Every bucket with lower bounds, from the shortest: its minimum and maximum in nanoseconds
    /// (both inclusive) and the number of its lower bounds.
    pub fn lower_bounds(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.bounds.used(self.max).map(|(place, count)| {
            let (low, high) = bounds(place);
            (low, high, count)
        })
    }

    /// The longest exact time, rounded up to its bucket's upper bound; `None` if all times are
    /// lower bounds.
    #[must_use]
    pub fn longest_exact(&self) -> Option<Nanos> {
        let exact = self.exact_buckets().last();
        exact.map(|(high, _)| Nanos(high.min(self.max)))
    }

    /// The buckets of exact times, from the shortest: upper bound and count. Both lists ascend, so
    /// one pass subtracts the lower bounds from the counts.
    fn exact_buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let mut bounds = self.bounds.used(self.max).peekable();
        let exact = self.buckets().map(move |(low, high, count)| {
            let bound = bounds.next_if(|(at, _)| *at == place(low));
            (
                high,
                count.saturating_sub(bound.map_or(0, |(_, count)| count)),
            )
        });
        exact.filter(|(_, count)| *count > 0)
    }

    /// Adds every sample of `other`: associative, commutative and lossless. The cost depends on the
    /// distance between the extremes of `other`.
    pub fn merge(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        self.buckets
            .change(&other.buckets, other.places(), u64::saturating_add);
        self.bounds.merge(&other.bounds, other.max, &self.buckets);
        self.count = self.count.saturating_add(other.count);
        self.beyond = self.beyond.saturating_add(other.beyond);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// Subtracts a histogram that was merged before, as a window does with an interval that leaves
    /// it.
    ///
    /// Afterwards the minimum and the maximum are not exact: they become the bounds of their
    /// buckets, and so does the smallest lower bound. `other` must be part of `self`; otherwise a
    /// debug build panics.
    pub fn subtract(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        let less = |mine: u64, theirs: u64| {
            debug_assert!(mine >= theirs, "only merged values can be subtracted");
            mine.saturating_sub(theirs)
        };
        self.buckets.change(&other.buckets, other.places(), less);
        self.bounds.subtract(&other.bounds, other.max);
        self.count = self.count.saturating_sub(other.count);
        self.beyond = self.beyond.saturating_sub(other.beyond);
        self.sum = self.sum.saturating_sub(other.sum);
        (self.min, self.max) = match self.bucket_bounds() {
            None => (u64::MAX, 0),
            Some((low, _)) if self.beyond == self.count => (low, self.max),
            Some((low, _)) if self.beyond > 0 => (low.max(self.min), self.max),
            Some((low, high)) => (low.max(self.min), high.min(self.max)),
        };
        match self.is_empty() {
            true => self.bounds.forget(),
            false => self.bounds.narrow(self.max),
        }
    }

    /// Restores the exact extremes, which [`Self::subtract`] lost, from the remaining parts.
    pub(crate) fn restore_extremes(&mut self, min: Nanos, max: Nanos) {
        if !self.is_empty() {
            (self.min, self.max) = (min.0, max.0);
        }
    }

    /// The lower bound of the first used bucket and the upper bound of the last.
    fn bucket_bounds(&self) -> Option<(u64, u64)> {
        let mut used = self.buckets.used(self.places());
        let (first, _) = used.next()?;
        let (last, _) = used.last().unwrap_or((first, 0));
        Some((bounds(first).0, bounds(last).1))
    }

    /// Removes every sample and keeps the memory. Touches only pages that were in use.
    pub fn reset(&mut self) {
        if self.is_empty() {
            return;
        }
        self.bounds.clear(self.max);
        self.buckets.clear(places(self.min, self.max));
        self.count = 0;
        self.beyond = 0;
        self.min = u64::MAX;
        self.max = 0;
        self.sum = 0;
    }

    /// Removes every sample and makes the histogram [small](Self::small), for a decoder.
    fn restart(&mut self) {
        self.buckets.restart();
        *self = Self::with(std::mem::replace(&mut self.buckets, Buckets::small()));
    }

    /// The number of samples.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether the histogram has no samples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The exact minimum; zero if the histogram is empty.
    #[must_use]
    pub fn min(&self) -> Nanos {
        Nanos(if self.is_empty() { 0 } else { self.min })
    }

    /// The exact maximum, even above an hour; zero if the histogram is empty.
    #[must_use]
    pub fn max(&self) -> Nanos {
        Nanos(self.max)
    }

    /// The exact sum in nanoseconds.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The mean in nanoseconds, from the exact sum; 0 if the histogram is empty. A lower bound if
    /// [`Self::at_least_from`] is `Some`.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        self.sum as f64 / self.count as f64
    }

    /// The population's standard deviation in nanoseconds, from the middle of each bucket around
    /// the exact mean; 0 if the histogram is empty.
    #[must_use]
    pub fn stddev(&self) -> f64 {
        if self.is_empty() || self.min == self.max {
            return 0.0;
        }
        let mean = self.mean();
        let squares: f64 = self
            .buckets()
            .map(|(low, high, count)| {
                let middle = low as f64 + (high - low) as f64 / 2.0;
                (middle - mean) * (middle - mean) * count as f64
            })
            .sum();
        (squares / self.count as f64).sqrt()
    }

    /// The number of samples longer than [`HIGHEST`]. They are in its bucket, as "at least this
    /// long"; the maximum and the sum include their exact values.
    #[must_use]
    pub fn beyond(&self) -> u64 {
        self.beyond
    }

    /// The shortest time that was recorded as a lower bound, if any was.
    #[must_use]
    pub fn at_least_from(&self) -> Option<Nanos> {
        self.bounds.from()
    }

    /// Every bucket with samples, from the shortest: its minimum and maximum in nanoseconds (both
    /// inclusive) and its count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.used().map(|(place, count)| {
            let (low, high) = bounds(place);
            (low, high, count)
        })
    }

    /// The number of times that are not certain to be below a bound: a bucket counts with its
    /// maximum, as in a quantile.
    #[must_use]
    pub fn count_from(&self, bound: Nanos) -> u64 {
        if self.max() < bound {
            return 0;
        }
        let beyond = self.buckets().filter(|(_, high, _)| *high >= bound.0);
        beyond.map(|(.., count)| count).sum()
    }

    /// The quantile `q` (0 to 1): the smallest recorded time that at least ⌈q·n⌉ samples do not
    /// exceed. `None` if the count does not [support](crate::count_needed) it.
    ///
    /// The value is its bucket's upper bound, but never outside the exact extremes.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        supports(self.count(), q).then(|| self.quantile_unchecked(q))
    }

    /// The quantile `q` for any number of samples; zero if the histogram is empty.
    #[must_use]
    pub fn quantile_unchecked(&self, q: f64) -> Nanos {
        let count = self.count();
        if count == 0 {
            return Nanos::ZERO;
        }
        if q <= 0.0 {
            return self.min();
        }
        let rank = rank(count, q);
        if rank == count {
            return self.max();
        }
        if rank == 1 {
            return self.min();
        }
        Nanos(self.quantile_by_rank(rank))
    }

    /// The upper bound of the bucket with this rank, but never outside the extremes.
    fn quantile_by_rank(&self, rank: u64) -> u64 {
        let reached = bucket_at(rank, self.buckets().map(|(_, high, count)| (high, count)));
        let value = reached.unwrap_or(self.max);
        value.clamp(self.min, self.max)
    }

    /// Whether the quantile `q` is only a lower bound: whether it would change if all lower bounds
    /// ([`Self::record_at_least`]) were infinite. The true ends are between both cases, so a
    /// quantile on which both agree is exact.
    #[must_use]
    pub fn is_at_least(&self, q: f64) -> bool {
        if self.at_least_from().is_none() || self.is_empty() {
            return false;
        }
        let rank = rank(self.count(), q);
        let latest = bucket_at(rank, self.exact_buckets());
        let latest = latest.map(|high| high.clamp(self.min, self.max));
        latest != Some(self.quantile_by_rank(rank))
    }
}
