//! Metrics of several threads as one.

use super::{Sink, Values};

impl Sink {
    /// Add the samples of another one of the same kind. Of two gauges the other's last value is the later one.
    ///
    /// Sinks of different kinds are not added: the registry that owns them never mixes these.
    pub fn absorb(&mut self, other: &Self) {
        match (self, other) {
            (Self::Counter(sum), Self::Counter(more)) => *sum += more,
            (
                Self::Gauge {
                    last,
                    min,
                    max,
                    count,
                },
                Self::Gauge {
                    last: later,
                    min: low,
                    max: high,
                    count: more,
                },
            ) if *more > 0 => {
                (*min, *max) = if *count == 0 {
                    (*low, *high)
                } else {
                    (min.min(*low), max.max(*high))
                };
                *last = *later;
                *count += more;
            }
            (
                Self::Rate { passes, total },
                Self::Rate {
                    passes: more,
                    total: all,
                },
            ) => {
                *passes += more;
                *total += all;
            }
            (Self::Trend(values), Self::Trend(more)) => values.absorb(more),
            _ => {}
        }
    }
}

impl Values {
    /// Add the values of another trend. Percentiles stay exact if all values fit.
    pub fn absorb(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        (self.min, self.max) = if self.count == 0 {
            (other.min, other.max)
        } else {
            (self.min.min(other.min), self.max.max(other.max))
        };
        self.count += other.count;
        self.sum += other.sum;
        let is_exact = self.buckets.is_empty() && other.buckets.is_empty();
        if is_exact && self.exact.len() + other.exact.len() <= Self::EXACT {
            self.exact.extend_from_slice(&other.exact);
            return;
        }
        for value in std::mem::take(&mut self.exact).iter().chain(&other.exact) {
            *self.buckets.entry(Self::bucket(*value)).or_default() += 1;
        }
        for (bucket, count) in &other.buckets {
            *self.buckets.entry(*bucket).or_default() += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::metric::{Kind, Sink, Values};

    fn sink(kind: Kind, values: &[f64]) -> Sink {
        let mut sink = Sink::new(kind);
        values.iter().for_each(|value| sink.add(*value));
        sink
    }

    proptest! {
        /// The samples of two threads are those of one that had both.
        #[test]
        fn parts_are_the_whole(one in prop::collection::vec(-99_i32..99, 0..40), other in prop::collection::vec(-99_i32..99, 0..40)) {
            let one: Vec<f64> = one.into_iter().map(f64::from).collect();
            let other: Vec<f64> = other.into_iter().map(f64::from).collect();
            let all: Vec<f64> = one.iter().chain(&other).copied().collect();
            for kind in [Kind::Counter, Kind::Gauge, Kind::Rate, Kind::Trend] {
                let mut merged = sink(kind, &one);
                merged.absorb(&sink(kind, &other));
                prop_assert_eq!(merged, sink(kind, &all));
            }
        }
    }

    #[test]
    fn many_values_become_a_histogram() {
        let values = |from: usize, to: usize| {
            let mut values = Values::default();
            (from..to).for_each(|value| values.add(value as f64));
            values
        };
        let (mut merged, whole) = (values(0, 5000), values(0, 20_000));
        merged.absorb(&values(5000, 10_000));
        merged.absorb(&values(10_000, 20_000));
        assert_eq!(
            (merged.count(), merged.min(), merged.max()),
            (20_000, 0.0, 19_999.0)
        );
        for percent in [10.0, 50.0, 99.0] {
            assert_eq!(merged.percentile(percent), whole.percentile(percent));
        }
    }
}
