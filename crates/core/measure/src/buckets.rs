//! HdrHistogram's buckets for 1 ns to 1 h with three significant digits, and their counts.
//!
//! The layout equals HdrHistogram's (Gil Tene), so that histograms can be exchanged with other
//! tools bucket for bucket (`encoding`). [`place`] and [`bounds`] are its only arithmetic, and are
//! inverse to each other.
//!
//! [`Buckets`] have a count for each place, in one of two forms. A worker's buckets are an array of
//! all places from the start, which never allocates while recording. The array costs address space
//! more than memory: the system zeroes pages when they are touched, and `change` and `clear` do not
//! touch unused pages. Buckets made by [`Buckets::small`] are a list of the used places, which
//! becomes an array at [`FEW`] entries, or at [`MANY`] if whole lists are added to it. The form has
//! no effect on results.
//!
//! An array is for recording, and for sums of many histograms. A list is for passing on, and for
//! sums of few: its length is the number of used buckets, while most of the array between the
//! minimum and the maximum contains zeros.
//!
//! The counts do not include the extremes. Callers pass the range of places that may be in use,
//! which a histogram knows from its exact minimum and maximum; counts outside that range must be
//! zero.

use std::fmt;
use std::ops::{Range, RangeInclusive};

/// The range in the encoding's header: 1 h, in nanoseconds.
pub(crate) const HOUR: u64 = 3_600_000_000_000;

/// The longest time that has a bucket, in nanoseconds: the end of the bucket that contains 1 h,
/// some 1.3 s later. Longer times are recorded as this one and counted in
/// [`Histogram::beyond`](crate::Histogram::beyond).
pub const HIGHEST: u64 = bounds(place(HOUR)).1;

/// The number of buckets: one for each place up to the place of [`HIGHEST`].
pub(crate) const LENGTH: usize = place(HIGHEST) + 1;

/// Values of up to this many bits have one bucket each: the smallest power of two that separates
/// 1999 from 2000, as three digits require.
const UNIT_BITS: u32 = 11;
/// Above these, each doubling of the value has half as many buckets, each twice as wide as the
/// previous ones.
const HALF_BITS: u32 = UNIT_BITS - 1;

/// The number of the bucket for `value`, if buckets continued without end.
///
/// With s = max(0, bits of the value − 11), the width of the bucket is 2^s; the bucket's number is
/// 1024·s + ⌊value / 2^s⌋, because ⌊value / 2^s⌋ is from 1024 to 2047 unless s is 0.
#[inline]
pub(crate) const fn place(value: u64) -> usize {
    let least = (1 << UNIT_BITS) - 1;
    let doublings = (u64::BITS - UNIT_BITS) - (value | least).leading_zeros();
    ((doublings as usize) << HALF_BITS) + (value >> doublings) as usize
}

/// The minimum and the maximum value of a bucket, the inverse of [`place`].
pub(crate) const fn bounds(place: usize) -> (u64, u64) {
    let doublings = (place >> HALF_BITS).saturating_sub(1);
    let low = ((place - (doublings << HALF_BITS)) as u64) << doublings;
    (low, low + ((1 << doublings) - 1))
}

/// The range of places for values from `min` to `max`.
pub(crate) fn places(min: u64, max: u64) -> RangeInclusive<usize> {
    place(min.min(HIGHEST))..=place(max.min(HIGHEST))
}

/// The number of counts in one page of memory, on most machines.
const PAGE: usize = 4096 / size_of::<u64>();

/// The maximum length of a list that grows by single values; then it becomes an array. At that
/// length the list takes some 5 KiB, as much as the touched pages of an array with the same counts.
const FEW: usize = 512;

/// The maximum length of a list that grows by whole lists; it then takes a quarter of the array.
const MANY: usize = LENGTH / 5;

/// The number of counts of an array that are checked together; most of them are 0.
const GROUP: usize = 8;

/// A count for each bucket: an array of all, or a list of the used ones while they are few.
pub(crate) struct Buckets {
    /// A count for each bucket, or empty while `few` has the counts. The system zeroes the memory,
    /// so that buckets that are never touched never become resident.
    all: Box<[u64]>,
    /// The used buckets while `all` is empty; empty otherwise.
    few: Few,
}

/// The used buckets, as two lists of equal length in ascending order of places: 10 bytes each.
#[derive(Default)]
struct Few {
    places: Vec<u16>,
    counts: Vec<u64>,
}

const _: () = assert!(LENGTH <= 1 << u16::BITS, "a place fits into 16 bits");

impl Buckets {
    /// Empty buckets with an array of all, so that counting does not allocate.
    pub(crate) fn new() -> Self {
        Self {
            all: vec![0; LENGTH].into_boxed_slice(),
            few: Few::default(),
        }
    }

    /// Empty buckets that take no memory at first and grow with the number of used ones.
    pub(crate) fn small() -> Self {
        Self {
            all: Box::default(),
            few: Few::default(),
        }
    }

    /// Empties the buckets and makes them small; a list keeps its memory, an array is freed.
    pub(crate) fn restart(&mut self) {
        self.all = Box::default();
        self.few.places.clear();
        self.few.counts.clear();
    }

    /// Empty buckets in the same form.
    pub(crate) fn empty_like(&self) -> Self {
        if self.all.is_empty() {
            Self::small()
        } else {
            Self::new()
        }
    }

    /// The count for a value; `None` above [`HIGHEST`], and for a list.
    #[inline]
    pub(crate) fn slot(&mut self, value: u64) -> Option<&mut u64> {
        self.all.get_mut(place(value))
    }

    /// The count for a value; above [`HIGHEST`] the last count.
    pub(crate) fn nearest(&mut self, value: u64) -> &mut u64 {
        self.count_mut(place(value.min(HIGHEST)))
    }

    /// The count at a place.
    fn count_mut(&mut self, place: usize) -> &mut u64 {
        if self.all.is_empty() {
            if let Some(at) = self.few.find_or_insert(place) {
                return &mut self.few.counts[at];
            }
            self.spread();
        }
        &mut self.all[place]
    }

    /// The counts at these places as a list.
    fn listed(&self, places: RangeInclusive<usize>) -> Few {
        if self.all.is_empty() {
            return self.few.part(places);
        }
        let counts = &self.all[places.clone()];
        let length = counts.iter().filter(|count| **count > 0).count();
        let mut list = Few::with_capacity(length);
        let mut place = *places.start();
        for group in counts.chunks(GROUP) {
            if is_used(group) {
                let used = (place..).zip(group.iter().copied());
                used.filter(|(_, count)| *count > 0)
                    .for_each(|used| list.push(used));
            }
            place += GROUP;
        }
        list
    }

    /// Moves the counts from the list into an array of all; does nothing if there is an array.
    fn spread(&mut self) {
        if self.all.is_empty() {
            let few = std::mem::replace(self, Self::new()).few;
            for (place, count) in few.places.iter().zip(few.counts) {
                self.all[usize::from(*place)] = count;
            }
        }
    }

    /// Reserves memory for `length` more buckets; the buckets must be small.
    pub(crate) fn reserve(&mut self, length: usize) {
        self.few.places.reserve(length);
        self.few.counts.reserve(length);
    }

    /// Appends a bucket after all others, for decoders, whose places ascend; the buckets must be
    /// small.
    ///
    /// The list may grow beyond [`FEW`] in this way. Its memory is proportional to the decoded
    /// bytes, whereas an array would take 264 KiB for a histogram of one byte.
    pub(crate) fn push(&mut self, place: usize, count: u64) {
        debug_assert!(self.all.is_empty(), "a list");
        self.few.push((place, count));
    }

    /// The count at a place.
    pub(crate) fn count_at(&self, place: usize) -> u64 {
        let count = self.used(place..=place).next();
        count.map_or(0, |(_, count)| count)
    }

    /// The used buckets at these places, with their counts.
    pub(crate) fn used(
        &self,
        places: RangeInclusive<usize>,
    ) -> impl Iterator<Item = (usize, u64)> + '_ {
        let from = *places.start();
        let all = self.all.get(places.clone()).unwrap_or_default();
        let all = all.iter().enumerate();
        let all = all.map(move |(at, count)| (from + at, *count));
        let few = self.few.within(places);
        all.filter(|(_, count)| *count > 0).chain(few)
    }

    /// Changes the counts at these places by the counts of `other`, with `change` as addition or
    /// subtraction.
    ///
    /// A list stays a list while both together are short ([`MANY`]).
    ///
    /// A page that is zero in `other` is not touched here: a rare long time must not make
    /// everything between it and the usual times resident.
    pub(crate) fn change(
        &mut self,
        other: &Self,
        places: RangeInclusive<usize>,
        change: impl Fn(u64, u64) -> u64,
    ) {
        if self.all.is_empty() {
            let theirs = other.listed(places.clone());
            if self.few.places.len() + theirs.places.len() <= MANY {
                return self.few.join(theirs, change);
            }
            self.spread();
        }
        if other.all.is_empty() {
            for (place, theirs) in other.few.within(places) {
                let mine = &mut self.all[place];
                *mine = change(*mine, theirs);
            }
            return;
        }
        self.spread();
        for places in pages(places) {
            let theirs = &other.all[places.clone()];
            if is_used(theirs) {
                for (mine, theirs) in self.all[places].iter_mut().zip(theirs) {
                    *mine = change(*mine, *theirs);
                }
            }
        }
    }

    /// Sets the counts at these places to 0; no others are in use. Pages that are already 0 are not
    /// touched.
    pub(crate) fn clear(&mut self, places: RangeInclusive<usize>) {
        self.few.places.clear();
        self.few.counts.clear();
        if self.all.is_empty() {
            return;
        }
        for places in pages(places) {
            let counts = &mut self.all[places];
            if is_used(counts) {
                counts.fill(0);
            }
        }
    }
}

impl Few {
    /// Adds a count after all others.
    fn push(&mut self, (place, count): (usize, u64)) {
        self.places.push(place as u16);
        self.counts.push(count);
    }

    /// Changes the counts by another list, in one pass over both. If this list is empty, as in a
    /// histogram's clone, the other list is moved here unchanged.
    fn join(&mut self, theirs: Self, change: impl Fn(u64, u64) -> u64) {
        if self.places.is_empty() {
            *self = theirs;
            self.counts
                .iter_mut()
                .for_each(|count| *count = change(0, *count));
            return;
        }
        let length = self.places.len() + theirs.places.len();
        let mine = std::mem::replace(self, Self::with_capacity(length));
        let mut mine = mine.used().peekable();
        for (place, theirs) in theirs.used() {
            while let Some(before) = mine.next_if(|(at, _)| *at < place) {
                self.push(before);
            }
            let same = mine.next_if(|(at, _)| *at == place);
            let count = change(same.map_or(0, |(_, count)| count), theirs);
            if count > 0 {
                self.push((place, count));
            }
        }
        mine.for_each(|rest| self.push(rest));
    }

    fn with_capacity(length: usize) -> Self {
        Self {
            places: Vec::with_capacity(length),
            counts: Vec::with_capacity(length),
        }
    }

    /// Places and counts, in ascending order.
    fn used(self) -> impl Iterator<Item = (usize, u64)> {
        self.places.into_iter().map(usize::from).zip(self.counts)
    }

    /// The index of a place's count, which is inserted as zero if it is missing. `None` if the list
    /// is full.
    fn find_or_insert(&mut self, place: usize) -> Option<usize> {
        let place = place as u16;
        match self.places.binary_search(&place) {
            Ok(at) => Some(at),
            Err(_) if self.places.len() >= FEW => None,
            Err(at) => {
                self.places.insert(at, place);
                self.counts.insert(at, 0);
                Some(at)
            }
        }
    }

    /// The used places in this range, with their counts. Subtraction leaves zeros in the list,
    /// which are skipped.
    fn within(&self, places: RangeInclusive<usize>) -> impl Iterator<Item = (usize, u64)> + '_ {
        let held = self.held(places);
        let counts = self.counts[held.clone()].iter().copied();
        let places = self.places[held].iter().copied().map(usize::from);
        places.zip(counts).filter(|(_, count)| *count > 0)
    }

    /// A copy of the part in this range.
    fn part(&self, places: RangeInclusive<usize>) -> Self {
        let held = self.held(places);
        Self {
            places: self.places[held.clone()].to_vec(),
            counts: self.counts[held].to_vec(),
        }
    }

    /// The indices of the places in this range.
    fn held(&self, places: RangeInclusive<usize>) -> Range<usize> {
        let before = |at: &u16| usize::from(*at) < *places.start();
        let from = self.places.partition_point(before);
        let within = |at: &u16| usize::from(*at) <= *places.end();
        from..from + self.places[from..].partition_point(within)
    }
}

/// The range, split at page boundaries of the array.
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
        let used = self.used(0..=LENGTH - 1);
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

    #[test]
    fn a_list_becomes_an_array_when_it_is_long() {
        let (mut small, mut large) = (Buckets::small(), Buckets::new());
        for n in 0..2 * FEW as u64 {
            let value = n * 7919 % 1_000_003;
            *small.nearest(value) += n + 1;
            *large.nearest(value) += n + 1;
            assert_eq!(
                small.all.is_empty(),
                small.few.places.len() > n as usize,
                "{n}"
            );
            let all = 0..=LENGTH - 1;
            assert!(small.used(all.clone()).eq(large.used(all)));
        }
        assert!(!small.all.is_empty() && small.few.places.is_empty());
    }

    #[test]
    fn a_list_and_an_array_change_each_other() {
        let add = |mine: u64, theirs: u64| mine + theirs;
        let of = |mut buckets: Buckets, values: &[u64]| {
            for value in values {
                *buckets.nearest(*value) += 1;
            }
            buckets
        };
        let (left, right) = ([5, 70_000, 5], [5, 900, 1 << 40]);
        let all = 0..=LENGTH - 1;
        let sum: Vec<_> = [(5, 3), (900, 1), (70_000, 1), (1 << 40, 1)]
            .map(|(value, count)| (place(value), count))
            .to_vec();
        for (mine, theirs) in [
            (Buckets::small(), Buckets::small()),
            (Buckets::small(), Buckets::new()),
            (Buckets::new(), Buckets::small()),
            (Buckets::new(), Buckets::new()),
        ] {
            let (mut mine, theirs) = (of(mine, &left), of(theirs, &right));
            mine.change(&theirs, all.clone(), add);
            assert_eq!(mine.used(all.clone()).collect::<Vec<_>>(), sum);
            assert_eq!(mine.used(place(6)..=place(900)).count(), 1);
            assert_eq!((mine.count_at(place(5)), mine.count_at(place(6))), (3, 0));
            mine.clear(place(5)..=place(1 << 40));
            assert_eq!(mine.used(all.clone()).count(), 0);
        }
    }

    #[test]
    fn lists_join_until_an_array_is_smaller() {
        let add = |mine: u64, theirs: u64| mine + theirs;
        let all = 0..=LENGTH - 1;
        // Each list has every second of the places that are multiples of three.
        let lists = [0, 1].map(|first| {
            let mut list = Buckets::small();
            (0..MANY / 2).for_each(|n| list.push(3 * (2 * n + first), 1));
            list
        });
        let mut joined = Buckets::small();
        for (round, list) in (1..).zip(lists.iter().cycle().take(5)) {
            joined.change(list, all.clone(), add);
            assert_eq!(joined.all.is_empty(), round <= 2, "{round}");
        }
        let used: Vec<_> = joined.used(all).collect();
        let counts = (0..MANY / 2 * 2).map(|n| (3 * n, 3 - n as u64 % 2));
        assert!(used.into_iter().eq(counts));
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
