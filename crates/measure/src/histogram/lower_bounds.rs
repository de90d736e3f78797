//! The times of a histogram of which only a lower bound is known, as those of requests that were
//! under way when a run ended.
//!
//! They are counted among all times, and here once more. The histogram passes its greatest time
//! with each call, since that ends the range of places that may be in use.
//! [`LowerBounds::subtract`] leaves the least one stale: [`LowerBounds::narrow`] must follow, or
//! [`LowerBounds::forget`] where nothing is left.

use crate::buckets::{Buckets, bounds, places};
use drumfire_units::Nanos;
use std::ops::RangeInclusive;

/// The lower bounds among a histogram's times; they take memory with the first of them.
#[derive(Debug)]
pub(super) struct LowerBounds {
    buckets: Option<Buckets>,
    /// The least of them; `u64::MAX` when there is none.
    from: u64,
}

impl LowerBounds {
    pub(super) const fn none() -> Self {
        Self {
            buckets: None,
            from: u64::MAX,
        }
    }

    /// These counts, whose least time is `from`, as a decoder has them.
    pub(super) const fn of(buckets: Buckets, from: u64) -> Self {
        Self {
            buckets: Some(buckets),
            from,
        }
    }

    /// The least lower bound.
    pub(super) fn from(&self) -> Option<Nanos> {
        (self.from < u64::MAX).then_some(Nanos(self.from))
    }

    /// Counts a time. The memory is taken with the first one, in the form of `like`, the
    /// histogram's own buckets.
    pub(super) fn record(&mut self, time: u64, count: u64, like: &Buckets) {
        let buckets = self.buckets.get_or_insert_with(|| like.empty_like());
        let slot = buckets.nearest(time);
        *slot = slot.saturating_add(count);
        self.from = self.from.min(time);
    }

    fn places(&self, max: u64) -> RangeInclusive<usize> {
        places(self.from.min(max), max)
    }

    /// The places in use, with their counts.
    pub(super) fn used(&self, max: u64) -> impl Iterator<Item = (usize, u64)> + '_ {
        let buckets = self.buckets.iter().filter(|_| self.from < u64::MAX);
        buckets.flat_map(move |buckets| buckets.used(self.places(max)))
    }

    /// Adds those of another histogram, whose greatest time is `max`.
    pub(super) fn merge(&mut self, other: &Self, max: u64, like: &Buckets) {
        if let Some(theirs) = &other.buckets {
            let mine = self.buckets.get_or_insert_with(|| like.empty_like());
            mine.change(theirs, other.places(max), u64::saturating_add);
        }
        self.from = self.from.min(other.from);
    }

    /// Subtracts those of a histogram that was merged before, whose greatest time is `max`. The least
    /// that is left is found by [`Self::narrow`].
    pub(super) fn subtract(&mut self, other: &Self, max: u64) {
        let less = |mine: u64, theirs: u64| {
            debug_assert!(mine >= theirs, "only merged values can be subtracted");
            mine.saturating_sub(theirs)
        };
        if let (Some(mine), Some(theirs)) = (&mut self.buckets, &other.buckets) {
            mine.change(theirs, other.places(max), less);
        }
    }

    /// Finds the least lower bound anew after some were subtracted: that of its bucket, where the
    /// exact one is gone.
    pub(super) fn narrow(&mut self, max: u64) {
        let least = self.used(max).next();
        self.from = match least {
            Some((place, _)) => bounds(place).0.max(self.from),
            None => u64::MAX,
        };
    }

    /// Sets that there is no lower bound any more; the counts must be zero.
    pub(super) const fn forget(&mut self) {
        self.from = u64::MAX;
    }

    /// Empties them and keeps the memory.
    pub(super) fn clear(&mut self, max: u64) {
        let places = self.places(max);
        if let (Some(buckets), true) = (&mut self.buckets, self.from < u64::MAX) {
            buckets.clear(places);
        }
        self.forget();
    }
}
