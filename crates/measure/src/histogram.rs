//! A distribution of times: HdrHistogram's buckets, with the exact extremes and sum beside them.

use drumfire_units::Nanos;
use hdrhistogram::Histogram as Hdr;

/// The longest time that has a bucket of its own: 1 h, in nanoseconds. Longer times are recorded
/// as this one and counted in [`Histogram::beyond`].
pub const HIGHEST: u64 = 3_600_000_000_000;

/// Significant decimal digits of a bucket: its width is at most 1/1024 of its value.
pub(crate) const DIGITS: u8 = 3;

/// How often each time was seen, from 0 ns to 1 h, to three significant digits.
///
/// The memory (264 KiB) is taken at construction; recording takes none. Two histograms merge by
/// addition, so that any partition of the samples gives the same histogram in any order.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    pub(crate) buckets: Hdr<u64>,
    /// The exact least value; `u64::MAX` when there is none.
    pub(crate) min: u64,
    /// The exact greatest value; 0 when there is none.
    pub(crate) max: u64,
    /// The exact sum.
    pub(crate) sum: u128,
    /// How many values were above [`HIGHEST`].
    pub(crate) beyond: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram.
    #[must_use]
    #[expect(
        clippy::expect_used,
        reason = "the bounds are constants that the layout supports"
    )]
    pub fn new() -> Self {
        let buckets = Hdr::new_with_bounds(1, HIGHEST, DIGITS).expect("1 ns to 1 h, 3 digits");
        Self {
            buckets,
            min: u64::MAX,
            max: 0,
            sum: 0,
            beyond: 0,
        }
    }

    /// Records one time. Takes a few nanoseconds and never allocates.
    #[inline]
    pub fn record(&mut self, time: Nanos) {
        let value = time.0;
        // A value up to the bound always has a bucket, so this cannot fail.
        let recorded = self.buckets.record(value.min(HIGHEST));
        debug_assert!(recorded.is_ok(), "the bound has a bucket");
        self.beyond += u64::from(value > HIGHEST);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.sum += u128::from(value);
    }

    /// Adds every sample of `other`: associative, commutative and lossless.
    pub fn merge(&mut self, other: &Self) {
        let added = self.buckets.add(&other.buckets);
        debug_assert!(added.is_ok(), "every histogram has the same buckets");
        self.beyond += other.beyond;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
    }

    /// Takes away what was merged before. The least and the greatest value that remain are not
    /// known exactly afterwards: they become the bounds of their buckets.
    ///
    /// `other` must be part of `self`; anything else is a mistake of the caller, which a debug
    /// build reports.
    pub fn subtract(&mut self, other: &Self) {
        let taken = self.buckets.subtract(&other.buckets);
        debug_assert!(taken.is_ok(), "only what was merged can be taken away");
        self.beyond = self.beyond.saturating_sub(other.beyond);
        self.sum = self.sum.saturating_sub(other.sum);
        let bounds = self.bucket_bounds();
        (self.min, self.max) = match bounds {
            None => (u64::MAX, 0),
            Some((low, _)) if self.beyond == self.count() => (low, self.max),
            Some((low, _)) if self.beyond > 0 => (low.max(self.min), self.max),
            Some((low, high)) => (low.max(self.min), high.min(self.max)),
        };
    }

    /// The lower bound of the first bucket in use and the upper bound of the last.
    fn bucket_bounds(&self) -> Option<(u64, u64)> {
        if self.is_empty() {
            return None;
        }
        // The crate's least value is the bucket's lower bound, its greatest the upper one.
        Some((self.buckets.min(), self.buckets.max()))
    }

    /// Forgets every sample and keeps the memory. An empty histogram is left untouched, so that
    /// one that is never used never becomes resident.
    pub fn reset(&mut self) {
        if self.is_empty() {
            return;
        }
        self.buckets.reset();
        self.beyond = 0;
        self.min = u64::MAX;
        self.max = 0;
        self.sum = 0;
    }

    /// How many samples there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.len()
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
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

    /// The mean in nanoseconds, from the exact sum; 0 when empty.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        self.sum as f64 / self.count() as f64
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
        (squares / self.count() as f64).sqrt()
    }

    /// How many samples were longer than [`HIGHEST`]. They stand in its bucket, as "at least
    /// this long"; the greatest and the sum hold their exact values.
    #[must_use]
    pub fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Every bucket that holds a sample, from the shortest: its least and greatest time in
    /// nanoseconds (both inclusive) and its count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.buckets.iter_recorded().map(|step| {
            let high = step.value_iterated_to();
            let low = self.buckets.lowest_equivalent(high);
            (low, high, step.count_at_value())
        })
    }
}
