//! Metrics: counters, gauges, rates and trends.

mod merge;
mod words;

use std::collections::BTreeMap;

/// The kind of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A sum.
    Counter,
    /// The last value, with the least and the greatest.
    Gauge,
    /// The share of values that are not zero.
    Rate,
    /// A distribution.
    Trend,
}

/// The samples of a metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Sink {
    /// The sum.
    Counter(f64),
    /// The last value and the bounds; all 0 without a sample.
    Gauge {
        /// The last value.
        last: f64,
        /// The least value.
        min: f64,
        /// The greatest value.
        max: f64,
        /// The number of samples.
        count: u64,
    },
    /// Samples that are not zero, and all samples.
    Rate {
        /// Samples that are not zero.
        passes: u64,
        /// All samples.
        total: u64,
    },
    /// A distribution.
    Trend(Values),
}

impl Sink {
    /// A metric without a sample.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        match kind {
            Kind::Counter => Self::Counter(0.0),
            Kind::Gauge => Self::Gauge {
                last: 0.0,
                min: 0.0,
                max: 0.0,
                count: 0,
            },
            Kind::Rate => Self::Rate {
                passes: 0,
                total: 0,
            },
            Kind::Trend => Self::Trend(Values::default()),
        }
    }

    /// Whether there is a sample; of a counter: whether the sum is not 0.
    #[must_use]
    pub fn has_samples(&self) -> bool {
        match self {
            Self::Counter(sum) => *sum != 0.0,
            Self::Gauge { count, .. } => *count > 0,
            Self::Rate { total, .. } => *total > 0,
            Self::Trend(values) => values.count() > 0,
        }
    }

    /// Add a sample.
    pub fn add(&mut self, value: f64) {
        match self {
            Self::Counter(sum) => *sum += value,
            Self::Gauge {
                last,
                min,
                max,
                count,
            } => {
                (*min, *max) = if *count == 0 {
                    (value, value)
                } else {
                    (min.min(value), max.max(value))
                };
                *last = value;
                *count += 1;
            }
            Self::Rate { passes, total } => {
                *passes += u64::from(value != 0.0);
                *total += 1;
            }
            Self::Trend(values) => values.add(value),
        }
    }
}

/// Values whose percentiles are exact up to [`Values::EXACT`], and within 0.1 % of a value beyond.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    exact: Vec<f64>,
    buckets: BTreeMap<i32, u64>,
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
}

impl Values {
    /// The number of values that are kept.
    pub const EXACT: usize = 8192;

    /// The ratio of a bucket's bounds: its middle is within 0.1 % of each of its values.
    const RATIO: f64 = 1.002;

    /// Add a value.
    pub fn add(&mut self, value: f64) {
        (self.min, self.max) = if self.count == 0 {
            (value, value)
        } else {
            (self.min.min(value), self.max.max(value))
        };
        self.count += 1;
        self.sum += value;
        if self.buckets.is_empty() && self.exact.len() < Self::EXACT {
            self.exact.push(value);
            return;
        }
        for value in std::mem::take(&mut self.exact).into_iter().chain([value]) {
            *self.buckets.entry(Self::bucket(value)).or_default() += 1;
        }
    }

    /// The number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean; 0 without a value.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum / self.count as f64
        }
    }

    /// The least value; 0 without a value.
    #[must_use]
    pub fn min(&self) -> f64 {
        self.min
    }

    /// The greatest value; 0 without a value.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.max
    }

    /// A percentile from 0 to 100; 0 without a value. The rank `q (n − 1)` counts from 0, and between two
    /// ranks the value is interpolated.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let mut sorted = self.exact.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let rank = percent / 100.0 * (self.count - 1) as f64;
        let (low, part) = (rank.floor(), rank.fract());
        let (below, above) = (
            self.at(&sorted, low as u64),
            self.at(&sorted, low as u64 + 1),
        );
        below + (above - below) * part
    }

    /// The value of a rank from 0, or the last one.
    fn at(&self, sorted: &[f64], rank: u64) -> f64 {
        if rank == 0 {
            return self.min;
        }
        if rank + 1 >= self.count {
            return self.max;
        }
        if let Some(value) = sorted.get(rank as usize) {
            return *value;
        }
        let mut passed = 0;
        for (bucket, count) in &self.buckets {
            passed += count;
            if passed > rank {
                return Self::middle(*bucket).clamp(self.min, self.max);
            }
        }
        self.max
    }

    /// The number of the bucket of a value: 0 for values nearer to 0 than 10⁻⁹, and growing with the value.
    fn bucket(value: f64) -> i32 {
        const LEAST: f64 = 1e-9;
        let number = (value.abs() / LEAST).ln() / Self::RATIO.ln();
        let number = number.max(-1.0).floor() as i32 + 1;
        if value < 0.0 { -number } else { number }
    }

    fn middle(bucket: i32) -> f64 {
        const LEAST: f64 = 1e-9;
        let size = Self::RATIO.powi(bucket.abs() - 1) * Self::RATIO.sqrt() * LEAST;
        match bucket {
            0 => 0.0,
            1.. => size,
            _ => -size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(list: impl IntoIterator<Item = f64>) -> Values {
        let mut values = Values::default();
        list.into_iter().for_each(|value| values.add(value));
        values
    }

    #[test]
    fn percentiles_are_interpolated() {
        let values = values([4.0, 1.0, 3.0, 2.0]);
        for (percent, expected) in [
            (0.0, 1.0),
            (50.0, 2.5),
            (90.0, 3.7),
            (95.0, 3.85),
            (100.0, 4.0),
        ] {
            assert!(
                (values.percentile(percent) - expected).abs() < 1e-12,
                "p({percent})"
            );
        }
        assert_eq!(Values::default().percentile(95.0), 0.0);
    }

    #[test]
    fn gauges_and_rates() {
        let mut gauge = Sink::new(Kind::Gauge);
        [3.0, 1.0, 2.0]
            .into_iter()
            .for_each(|value| gauge.add(value));
        assert_eq!(
            gauge,
            Sink::Gauge {
                last: 2.0,
                min: 1.0,
                max: 3.0,
                count: 3
            }
        );
        let mut rate = Sink::new(Kind::Rate);
        [0.0, 1.0, -2.0]
            .into_iter()
            .for_each(|value| rate.add(value));
        assert_eq!(
            rate,
            Sink::Rate {
                passes: 2,
                total: 3
            }
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn many_values_are_nearly_exact(seed in 1_u64..1 << 40, spread in 1.0_f64..20.0) {
            let mut random = drumfire_units::Random::from_state(seed);
            let list: Vec<f64> = (0..Values::EXACT + 500)
                .map(|_| (random.unit() * spread).exp() * if random.below(4) == 0 { -1.0 } else { 1.0 })
                .collect();
            let many = values(list.iter().copied());
            let mut sorted = list;
            sorted.sort_by(f64::total_cmp);
            for rank in [0, 1, 100, 4000, 8000, sorted.len() - 1] {
                let percent = rank as f64 / (sorted.len() - 1) as f64 * 100.0;
                let error = (many.percentile(percent) - sorted[rank]).abs();
                prop_assert!(error <= sorted[rank].abs() * 0.0015 , "rank {rank}: {error}");
            }
        }
    }
}
