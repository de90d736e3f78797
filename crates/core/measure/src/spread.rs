//! A distribution in a few figures.

use crate::Histogram;
use drumfire_units::Nanos;

/// A distribution in a few figures; a quantile that the count does not support is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// The minimum.
    pub min: Option<SpreadTime>,
    /// The median.
    pub p50: Option<SpreadTime>,
    /// The 90th percentile.
    pub p90: Option<SpreadTime>,
    /// The 95th percentile.
    pub p95: Option<SpreadTime>,
    /// The 99th percentile.
    pub p99: Option<SpreadTime>,
    /// The 99.9th percentile.
    pub p999: Option<SpreadTime>,
    /// The maximum.
    pub max: Option<SpreadTime>,
}

impl Spread {
    /// The figures of a histogram.
    #[must_use]
    pub fn from_histogram(times: &Histogram) -> Self {
        let reading = |q| {
            Some(SpreadTime {
                time: times.quantile(q)?,
                is_at_least: times.is_at_least(q),
            })
        };
        Self {
            min: reading(0.0),
            p50: reading(0.5),
            p90: reading(0.9),
            p95: reading(0.95),
            p99: reading(0.99),
            p999: reading(0.999),
            max: reading(1.0),
        }
    }

    /// Each figure with its name in outputs, in ascending order.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, Option<SpreadTime>); 7] {
        [
            ("min", self.min),
            ("p50", self.p50),
            ("p90", self.p90),
            ("p95", self.p95),
            ("p99", self.p99),
            ("p999", self.p999),
            ("max", self.max),
        ]
    }
}

/// A time of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpreadTime {
    /// The time.
    pub time: Nanos,
    /// Whether the time is only a lower bound.
    pub is_at_least: bool,
}
