//! One of our histograms as monitoring systems expect it: with classic and with exponential
//! buckets.
//!
//! Every time counts as the maximum of its bucket in our histogram, which is at most 0.1 % longer.
//! So the number of times below a bound depends only on our buckets, and not on the order in which
//! intervals were merged.

use drumfire_measure::Histogram;

/// An upper bound of classic buckets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BucketBound {
    /// The bound in nanoseconds, inclusive.
    pub ns: u64,
    /// The bound in seconds, as every format writes it.
    pub text: &'static str,
}

const fn bound(ns: u64, text: &'static str) -> BucketBound {
    BucketBound { ns, text }
}

/// The bounds of the classic buckets; an unbounded bucket follows.
pub const BOUNDS: [BucketBound; 21] = [
    bound(10_000, "1e-05"),
    bound(25_000, "2.5e-05"),
    bound(50_000, "5e-05"),
    bound(100_000, "0.0001"),
    bound(250_000, "0.00025"),
    bound(500_000, "0.0005"),
    bound(1_000_000, "0.001"),
    bound(2_500_000, "0.0025"),
    bound(5_000_000, "0.005"),
    bound(10_000_000, "0.01"),
    bound(25_000_000, "0.025"),
    bound(50_000_000, "0.05"),
    bound(100_000_000, "0.1"),
    bound(250_000_000, "0.25"),
    bound(500_000_000, "0.5"),
    bound(1_000_000_000, "1.0"),
    bound(2_500_000_000, "2.5"),
    bound(5_000_000_000, "5.0"),
    bound(10_000_000_000, "10.0"),
    bound(30_000_000_000, "30.0"),
    bound(60_000_000_000, "60.0"),
];

/// The number of exponential buckets per doubling, as a power of two: each bound is a factor of
/// 2^(1/16), about 4.4 %, above the previous one.
const SCALE: u8 = 4;

/// A distribution of times; all figures are in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeDistribution {
    /// The number of times.
    pub count: u64,
    /// The exact sum.
    pub sum: f64,
    /// The number of times within each of [`BOUNDS`]; the counts are cumulative.
    pub within: [u64; BOUNDS.len()],
    /// The times in exponential buckets.
    pub exponential: ExponentialHistogram,
}

/// ExponentialHistogram buckets, as in native histograms and OpenTelemetry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExponentialHistogram {
    /// The number of times that are exactly zero.
    pub zeros: u64,
    /// The buckets in use, in ascending order.
    pub buckets: Vec<ExponentialBucket>,
}

/// A bucket for times above 2^((index − 1) / 2^scale) and at most 2^(index / 2^scale) seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExponentialBucket {
    /// The bucket's number.
    pub index: i32,
    /// The number of times in the bucket.
    pub count: u64,
}

impl ExponentialHistogram {
    /// The number of buckets per doubling, as a power of two.
    pub const SCALE: u8 = SCALE;

    fn add(&mut self, ns: u64, count: u64) {
        if ns == 0 {
            self.zeros = self.zeros.saturating_add(count);
            return;
        }
        let index = index_of(ns);
        match self.buckets.last_mut() {
            Some(last) if last.index == index => last.count = last.count.saturating_add(count),
            _ => self.buckets.push(ExponentialBucket { index, count }),
        }
    }
}

/// The number of the exponential bucket of a time above zero.
fn index_of(ns: u64) -> i32 {
    ((ns as f64 / 1e9).log2() * f64::from(1_u32 << SCALE)).ceil() as i32
}

impl TimeDistribution {
    /// The distribution of a histogram.
    #[must_use]
    pub fn from_histogram(times: &Histogram) -> Self {
        let mut all = Self {
            count: times.count(),
            sum: times.sum() as f64 / 1e9,
            ..Self::default()
        };
        let mut sum = 0_u64;
        let mut bounds = BOUNDS.iter().zip(&mut all.within).peekable();
        for (_, high, count) in times.buckets() {
            while let Some((_, within)) = bounds.next_if(|(bound, _)| bound.ns < high) {
                *within = sum;
            }
            sum = sum.saturating_add(count);
            all.exponential.add(high, count);
        }
        bounds.for_each(|(_, within)| *within = sum);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_units::Nanos;

    fn distribution(times: &[u64]) -> TimeDistribution {
        let mut histogram = Histogram::new();
        for ns in times {
            histogram.record(Nanos(*ns));
        }
        TimeDistribution::from_histogram(&histogram)
    }

    #[test]
    fn a_time_is_within_its_bound_and_all_above() {
        let all = distribution(&[
            0,
            9_000,
            1_000_000,
            1_000_001,
            59_000_000_000,
            100_000_000_000,
        ]);
        let within = |text: &str| {
            let at = BOUNDS.iter().position(|bound| bound.text == text).unwrap();
            all.within[at]
        };
        // 1 ms is in the 977th bucket of its octave, which ends at 1,000,447 ns.
        let counts = ["1e-05", "0.0005", "0.001", "0.0025", "30.0", "60.0"].map(within);
        assert_eq!(counts, [2, 2, 2, 4, 4, 5]);
        assert_eq!(all.count, 6);
        assert!((all.sum - 159.002_009_001).abs() < 1e-9, "{}", all.sum);
    }

    #[test]
    fn exponential_buckets_hold_every_time_once() {
        let all = distribution(&[0, 0, 1, 1_000, 1_000_000_000, 2_000_000_000, 2_000_000_001]);
        let exponential = &all.exponential;
        assert_eq!(exponential.zeros, 2);
        let held: u64 = exponential.buckets.iter().map(|bucket| bucket.count).sum();
        assert_eq!(held + exponential.zeros, all.count);
        for bucket in &exponential.buckets {
            let bound = |index: i32| (f64::from(index) / 16.0).exp2() * 1e9;
            let (low, high) = (bound(bucket.index - 1), bound(bucket.index));
            assert!(low < high && high / low < 1.045, "{bucket:?}");
        }
        let ascending = exponential.buckets.windows(2);
        assert!(ascending.into_iter().all(|two| two[0].index < two[1].index));
    }

    #[test]
    fn a_bound_belongs_to_the_bucket_below_it() {
        // 2^-3 s and 2^3 s are bounds at every scale.
        assert_eq!(index_of(125_000_000), -48);
        assert_eq!(index_of(125_000_001), -47);
        assert_eq!(index_of(8_000_000_000), 48);
        assert_eq!(index_of(8_000_000_001), 49);
        assert_eq!(index_of(1_000_000_000), 0);
    }

    #[test]
    fn the_sum_of_parts_is_that_of_the_whole() {
        let (mut one, mut other) = (Histogram::new(), Histogram::new());
        for n in 0..5_000_u64 {
            let histogram = if n % 3 == 0 { &mut one } else { &mut other };
            histogram.record(Nanos(n * n * 977));
        }
        let parts = [
            TimeDistribution::from_histogram(&one),
            TimeDistribution::from_histogram(&other),
        ];
        one.merge(&other);
        let whole = TimeDistribution::from_histogram(&one);
        for (at, within) in whole.within.iter().enumerate() {
            assert_eq!(parts[0].within[at] + parts[1].within[at], *within);
        }
        for bucket in &whole.exponential.buckets {
            let parts = parts.iter().flat_map(|part| &part.exponential.buckets);
            let parts = parts.filter(|part| part.index == bucket.index);
            assert_eq!(parts.map(|part| part.count).sum::<u64>(), bucket.count);
        }
    }
}
