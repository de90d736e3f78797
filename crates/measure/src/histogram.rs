//! A distribution of times: HdrHistogram's buckets, with the exact extremes and sum beside them.

use crate::buckets::{Buckets, bounds, places};
use drumfire_units::Nanos;
use std::ops::RangeInclusive;

/// How often each time was seen, from 0 ns to 1 h, to three significant digits.
///
/// The memory (264 KiB, resident as far as it is touched) is taken at construction; recording
/// takes none. Two histograms merge by addition, so that any partition of the samples gives the
/// same histogram in any order.
///
/// Some of the times may be known only from below: see [`Self::record_at_least`].
#[derive(Debug)]
pub struct Histogram {
    buckets: Buckets,
    count: u64,
    /// The exact least value; `u64::MAX` when there is none.
    pub(crate) min: u64,
    /// The exact greatest value; 0 when there is none.
    pub(crate) max: u64,
    /// The exact sum.
    pub(crate) sum: u128,
    /// How many values were beyond the last bucket.
    pub(crate) beyond: u64,
    /// The least value that is only a lower bound; `u64::MAX` when there is none.
    censored_from: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for Histogram {
    fn clone(&self) -> Self {
        let mut clone = Self::new();
        clone.merge(self);
        clone
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        let figures = |of: &Self| (of.count, of.min, of.max, of.sum, of.beyond);
        // With the same extremes, the same buckets are in use.
        figures(self) == figures(other)
            && self.censored_from == other.censored_from
            && (self.is_empty() || self.counts() == other.counts())
    }
}

impl Histogram {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Self {
        Self {
            buckets: Buckets::new(),
            count: 0,
            min: u64::MAX,
            max: 0,
            sum: 0,
            beyond: 0,
            censored_from: u64::MAX,
        }
    }

    /// Records one time. Takes some 20 instructions and never allocates.
    #[inline]
    pub fn record(&mut self, time: Nanos) {
        match self.buckets.slot(time.0) {
            Some(count) => *count += 1,
            None => self.count_beyond(),
        }
        self.note(time.0);
    }

    /// The same for a time that usually is 0, and costs less then.
    #[inline]
    pub(crate) fn record_rare(&mut self, time: Nanos) {
        if time == Nanos::ZERO {
            *self.buckets.zero() += 1;
            self.count += 1;
            self.min = 0;
        } else {
            self.record(time);
        }
    }

    /// Records a time that is only known from below: it took at least this long. It counts as
    /// this long, and every figure at or above the least such time is a lower bound; see
    /// [`Self::is_at_least`].
    pub fn record_at_least(&mut self, time: Nanos) {
        self.record_at_least_of(time, 1);
    }

    /// The same for `count` times with one lower bound.
    pub fn record_at_least_of(&mut self, time: Nanos, count: u64) {
        if count == 0 {
            return;
        }
        match self.buckets.slot(time.0) {
            Some(slot) => *slot = slot.saturating_add(count),
            None => {
                let last = self.buckets.last();
                *last = last.saturating_add(count);
                self.beyond = self.beyond.saturating_add(count);
            }
        }
        self.count = self.count.saturating_add(count);
        self.sum += u128::from(time.0) * u128::from(count);
        self.min = self.min.min(time.0);
        self.max = self.max.max(time.0);
        self.censored_from = self.censored_from.min(time.0);
    }

    #[cold]
    #[inline(never)]
    fn count_beyond(&mut self) {
        *self.buckets.last() += 1;
        self.beyond += 1;
    }

    /// Keeps what is exact.
    #[inline]
    fn note(&mut self, value: u64) {
        self.count += 1;
        self.sum += u128::from(value);
        // Both are settled soon, and a branch that is never taken costs less than a store.
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
    }

    /// Adds `count` times of which only the bounds of their bucket are known.
    pub(crate) fn record_bucket(&mut self, low: u64, high: u64, count: u64) {
        match self.buckets.slot(low) {
            Some(slot) => *slot = slot.saturating_add(count),
            None => {
                let last = self.buckets.last();
                *last = last.saturating_add(count);
                self.beyond = self.beyond.saturating_add(count);
            }
        }
        self.count = self.count.saturating_add(count);
        self.min = self.min.min(low);
        self.max = self.max.max(high);
        self.sum += u128::from(low + (high - low) / 2) * u128::from(count);
    }

    /// The places that may be in use; there must be a sample.
    fn places(&self) -> RangeInclusive<usize> {
        places(self.min, self.max)
    }

    /// The counts at those places.
    fn counts(&self) -> &[u64] {
        self.buckets.at(self.places())
    }

    /// Adds every sample of `other`: associative, commutative and lossless. What it costs depends
    /// on how far apart the extremes of `other` are.
    pub fn merge(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        self.buckets
            .change(&other.buckets, other.places(), u64::saturating_add);
        self.count = self.count.saturating_add(other.count);
        self.beyond = self.beyond.saturating_add(other.beyond);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.censored_from = self.censored_from.min(other.censored_from);
    }

    /// Takes away what was merged before. The least and the greatest value that remain are not
    /// known exactly afterwards: they become the bounds of their buckets. As long as a sample
    /// remains, any time from the least lower bound on may still be one.
    ///
    /// `other` must be part of `self`; anything else is a mistake of the caller, which a debug
    /// build reports.
    pub fn subtract(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        let less = |mine: u64, theirs: u64| {
            debug_assert!(mine >= theirs, "only what was merged can be taken away");
            mine.saturating_sub(theirs)
        };
        self.buckets.change(&other.buckets, other.places(), less);
        self.count = self.count.saturating_sub(other.count);
        self.beyond = self.beyond.saturating_sub(other.beyond);
        self.sum = self.sum.saturating_sub(other.sum);
        let bounds = self.bucket_bounds();
        (self.min, self.max) = match bounds {
            None => (u64::MAX, 0),
            Some((low, _)) if self.beyond == self.count => (low, self.max),
            Some((low, _)) if self.beyond > 0 => (low.max(self.min), self.max),
            Some((low, high)) => (low.max(self.min), high.min(self.max)),
        };
        if bounds.is_none() {
            self.censored_from = u64::MAX;
        }
    }

    /// The lower bound of the first bucket in use and the upper bound of the last.
    fn bucket_bounds(&self) -> Option<(u64, u64)> {
        let counts = self.counts();
        let from = *self.places().start();
        let first = counts.iter().position(|count| *count > 0)?;
        let last = counts.iter().rposition(|count| *count > 0)?;
        Some((bounds(from + first).0, bounds(from + last).1))
    }

    /// Forgets every sample and keeps the memory. Touches only pages that were in use.
    pub fn reset(&mut self) {
        if self.is_empty() {
            return;
        }
        let places = self.places();
        self.buckets.clear(places);
        self.count = 0;
        self.beyond = 0;
        self.min = u64::MAX;
        self.max = 0;
        self.sum = 0;
        self.censored_from = u64::MAX;
    }

    /// How many samples there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The least time, exactly; zero when there is none.
    #[must_use]
    pub fn min(&self) -> Nanos {
        Nanos(if self.is_empty() { 0 } else { self.min })
    }

    /// The greatest time, exactly, also above an hour; zero when there is none.
    #[must_use]
    pub fn max(&self) -> Nanos {
        Nanos(self.max)
    }

    /// The exact sum in nanoseconds.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The mean in nanoseconds, from the exact sum; 0 when empty. A lower bound where
    /// [`Self::at_least_from`] is some.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        self.sum as f64 / self.count as f64
    }

    /// The standard deviation in nanoseconds, of the population, from the middle of each bucket
    /// around the exact mean; 0 when empty.
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

    /// How many samples were longer than [`HIGHEST`](crate::HIGHEST). They stand in its bucket, as "at least
    /// this long"; the greatest and the sum hold their exact values.
    #[must_use]
    pub fn beyond(&self) -> u64 {
        self.beyond
    }

    /// The least time that was recorded as a lower bound, if any was.
    #[must_use]
    pub fn at_least_from(&self) -> Option<Nanos> {
        (self.censored_from < u64::MAX).then_some(Nanos(self.censored_from))
    }

    /// Every bucket that holds a sample, from the shortest: its least and greatest time in
    /// nanoseconds (both inclusive) and its count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        // There is nothing in the first bucket of an empty one either.
        let places = if self.is_empty() {
            0..=0
        } else {
            self.places()
        };
        let counts = self.buckets.at(places.clone());
        let used = places.zip(counts).filter(|(_, count)| **count > 0);
        used.map(|(place, count)| {
            let (low, high) = bounds(place);
            (low, high, *count)
        })
    }
}
