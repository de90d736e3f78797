//! HdrHistogram's buckets for 1 ns to 1 h with three significant digits, and their counts.

use std::fmt;
use std::ops::{Range, RangeInclusive};

/// The range that the encoding names: 1 h, in nanoseconds.
pub(crate) const HOUR: u64 = 3_600_000_000_000;

/// The longest time that has a bucket, in nanoseconds: the end of the one that holds 1 h, some
/// 1.3 s later. Longer times are recorded as this one and counted in
/// [`Histogram::beyond`](crate::Histogram::beyond).
pub const HIGHEST: u64 = bounds(place(HOUR)).1;

/// How many buckets there are. No value above [`HIGHEST`] has a place below it.
pub(crate) const LENGTH: usize = place(HIGHEST) + 1;

/// Values of up to this many bits have a bucket each: the least power of two that separates 1999
/// from 2000, as three digits demand.
const UNIT_BITS: u32 = 11;
/// Above them, each doubling of the value has half as many buckets, each twice as wide as those
/// before.
const HALF_BITS: u32 = UNIT_BITS - 1;

/// The number of the bucket that holds `value`, or would if there were no end.
///
/// With s = max(0, bits of the value − 11), the width of its bucket is 2^s; the bucket's number is
/// 1024·s + ⌊value / 2^s⌋, for ⌊value / 2^s⌋ lies from 1024 to 2047 unless s is 0.
#[inline]
pub(crate) const fn place(value: u64) -> usize {
    let least = (1 << UNIT_BITS) - 1;
    let doublings = (u64::BITS - UNIT_BITS) - (value | least).leading_zeros();
    ((doublings as usize) << HALF_BITS) + (value >> doublings) as usize
}

/// The least and the greatest value of a bucket, the inverse of [`place`].
pub(crate) const fn bounds(place: usize) -> (u64, u64) {
    let doublings = (place >> HALF_BITS).saturating_sub(1);
    let low = ((place - (doublings << HALF_BITS)) as u64) << doublings;
    (low, low + ((1 << doublings) - 1))
}

/// The places that values from `min` to `max` have taken.
pub(crate) fn places(min: u64, max: u64) -> RangeInclusive<usize> {
    place(min.min(HIGHEST))..=place(max.min(HIGHEST))
}

/// How many counts lie in one page of memory, as most machines have them.
const PAGE: usize = 4096 / size_of::<u64>();

/// A count for each bucket. The memory is zeroed by the system, so that buckets which are never
/// touched never become resident.
pub(crate) struct Buckets(Box<[u64; LENGTH]>);

impl Buckets {
    #[expect(clippy::expect_used, reason = "the slice is as long as the array")]
    pub(crate) fn new() -> Self {
        let zeroed = vec![0; LENGTH].into_boxed_slice();
        Self(zeroed.try_into().expect("as long as the array"))
    }

    /// The count to which a value belongs; `None` above [`HIGHEST`].
    #[inline]
    pub(crate) fn slot(&mut self, value: u64) -> Option<&mut u64> {
        self.0.get_mut(place(value))
    }

    /// The first bucket's count: how often 0 was seen.
    #[inline]
    pub(crate) fn zero(&mut self) -> &mut u64 {
        &mut self.0[0]
    }

    /// The count to which a value belongs; above [`HIGHEST`] the last one.
    pub(crate) fn nearest(&mut self, value: u64) -> &mut u64 {
        &mut self.0[place(value.min(HIGHEST))]
    }

    /// The counts at these places.
    pub(crate) fn at(&self, places: RangeInclusive<usize>) -> &[u64] {
        &self.0[places]
    }

    /// Changes the counts at these places by those of another. Where that has none for a page
    /// long, this one is not touched either: a rare long time must not make all resident that lies
    /// between it and the others.
    pub(crate) fn change(
        &mut self,
        other: &Self,
        places: RangeInclusive<usize>,
        change: impl Fn(u64, u64) -> u64,
    ) {
        for places in pages(places) {
            let theirs = &other.0[places.clone()];
            if is_used(theirs) {
                for (mine, theirs) in self.0[places].iter_mut().zip(theirs) {
                    *mine = change(*mine, *theirs);
                }
            }
        }
    }

    /// Sets the counts at these places to 0; pages that are so are not touched.
    pub(crate) fn clear(&mut self, places: RangeInclusive<usize>) {
        for places in pages(places) {
            let counts = &mut self.0[places];
            if is_used(counts) {
                counts.fill(0);
            }
        }
    }
}

/// These places, cut where pages end.
fn pages(places: RangeInclusive<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = places.end() + 1;
    let starts = std::iter::successors(Some(*places.start()), |from| {
        Some(from / PAGE * PAGE + PAGE)
    });
    starts
        .take_while(move |from| *from < end)
        .map(move |from| from..end.min(from / PAGE * PAGE + PAGE))
}

/// Whether any count is above 0.
fn is_used(counts: &[u64]) -> bool {
    counts.iter().fold(0, |all, count| all | count) > 0
}

impl fmt::Debug for Buckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = self.0.iter().enumerate().filter(|(_, count)| **count > 0);
        f.debug_map()
            .entries(used.map(|(place, count)| (bounds(place), count)))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::reference;
    use proptest::prelude::*;

    #[test]
    fn every_bucket_begins_where_the_one_before_ends() {
        let mut next = 0;
        for number in 0..LENGTH {
            let (low, high) = bounds(number);
            assert_eq!(low, next, "{number}");
            assert_eq!((place(low), place(high)), (number, number));
            next = high + 1;
        }
        assert_eq!(next, HIGHEST + 1);
        assert_eq!(place(next), LENGTH);
        assert!(place(u64::MAX) > LENGTH);
    }

    #[test]
    fn places_are_cut_where_pages_end() {
        let cut = |places| {
            let pieces = pages(places).map(|piece| (piece.start, piece.end));
            pieces.collect::<Vec<_>>()
        };
        assert_eq!(cut(0..=0), [(0, 1)]);
        assert_eq!(cut(3..=PAGE - 1), [(3, PAGE)]);
        assert_eq!(cut(3..=PAGE), [(3, PAGE), (PAGE, PAGE + 1)]);
        let all = cut(0..=LENGTH - 1);
        assert_eq!((all.len(), all[0]), (LENGTH.div_ceil(PAGE), (0, PAGE)));
        assert_eq!(all.last().map(|piece| piece.1), Some(LENGTH));
    }

    #[test]
    fn the_crate_has_the_same_buckets() {
        let reference = reference();
        assert!(reference.distinct_values() >= LENGTH);
        for number in 0..LENGTH {
            let (low, high) = bounds(number);
            assert_eq!(reference.lowest_equivalent(high), low, "{number}");
            assert_eq!(reference.highest_equivalent(low), high, "{number}");
        }
    }

    proptest! {
        #[test]
        fn a_value_lies_within_its_bucket(value in any::<u64>()) {
            let (low, high) = bounds(place(value));
            prop_assert!(low <= value && value <= high);
            prop_assert!(high - low <= value / 1024);
        }
    }
}
