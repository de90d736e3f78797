//! The times of a histogram that are only lower bounds, such as the times of requests that were
//! running when a run ended.
//!
//! Lower bounds are counted among all times, and here in addition. The histogram passes its maximum
//! with each call, because it limits the range of places that may be in use.
//! [`LowerBounds::subtract`] leaves the smallest bound outdated: [`LowerBounds::narrow`] must
//! follow, or [`LowerBounds::forget`] if nothing is left.

use crate::buckets::{Buckets, bounds, places};
use drumfire_units::Nanos;
use std::ops::RangeInclusive;

/// The lower bounds among a histogram's times; the first one allocates memory.
#[derive(Debug)]
pub(super) struct LowerBounds {
    buckets: Option<Buckets>,
    /// The smallest lower bound; `u64::MAX` without lower bounds.
    from: u64,
}

impl LowerBounds {
    pub(super) const fn none() -> Self {
        Self {
            buckets: None,
            from: u64::MAX,
        }
    }

    /// Decoded counts, whose smallest time is `from`.
    pub(super) const fn from_buckets(buckets: Buckets, from: u64) -> Self {
        Self {
            buckets: Some(buckets),
            from,
        }
    }

    /// The smallest lower bound.
    pub(super) fn from(&self) -> Option<Nanos> {
        (self.from < u64::MAX).then_some(Nanos(self.from))
    }

    /// Counts a time. The first one allocates memory in the form of `like`, the histogram's own
    /// buckets.
    pub(super) fn record(&mut self, time: u64, count: u64, like: &Buckets) {
        let buckets = self.buckets.get_or_insert_with(|| like.empty_like());
        let slot = buckets.nearest(time);
        *slot = slot.saturating_add(count);
        self.from = self.from.min(time);
    }

    fn places(&self, max: u64) -> RangeInclusive<usize> {
        places(self.from.min(max), max)
    }

    /// The used places, with their counts.
    pub(super) fn used(&self, max: u64) -> impl Iterator<Item = (usize, u64)> + '_ {
        let buckets = self.buckets.iter().filter(|_| self.from < u64::MAX);
        buckets.flat_map(move |buckets| buckets.used(self.places(max)))
    }

    /// Adds the lower bounds of another histogram, whose maximum is `max`.
    pub(super) fn merge(&mut self, other: &Self, max: u64, like: &Buckets) {
        if let Some(theirs) = &other.buckets {
            let mine = self.buckets.get_or_insert_with(|| like.empty_like());
            mine.change(theirs, other.places(max), u64::saturating_add);
        }
        self.from = self.from.min(other.from);
    }

    /// Subtracts the lower bounds of a histogram that was merged before, whose maximum is `max`.
    /// Call [`Self::narrow`] afterwards.
    pub(super) fn subtract(&mut self, other: &Self, max: u64) {
        let less = |mine: u64, theirs: u64| {
            debug_assert!(mine >= theirs, "only merged values can be subtracted");
            mine.saturating_sub(theirs)
        };
        if let (Some(mine), Some(theirs)) = (&mut self.buckets, &other.buckets) {
            mine.change(theirs, other.places(max), less);
        }
    }

    /// Updates the smallest lower bound after a subtraction; if the exact one was subtracted, the
    /// bound of its bucket is used.
    pub(super) fn narrow(&mut self, max: u64) {
        let least = self.used(max).next();
        self.from = match least {
            Some((place, _)) => bounds(place).0.max(self.from),
            None => u64::MAX,
        };
    }

    /// Notes that no lower bound is left; the counts must be zero.
    pub(super) const fn forget(&mut self) {
        self.from = u64::MAX;
    }

    /// Empties the counts and keeps the memory.
    pub(super) fn clear(&mut self, max: u64) {
        let places = self.places(max);
        if let (Some(buckets), true) = (&mut self.buckets, self.from < u64::MAX) {
            buckets.clear(places);
        }
        self.forget();
    }
}
