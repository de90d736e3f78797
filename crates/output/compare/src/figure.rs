//! The figures of a comparison, and their values in a run.

use crate::compared::Compared;
use drumfire_measure::{Digest, LatencyKind};

/// The least difference of failure shares that matters.
const FAILED_LEAST: f64 = 0.001;

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// A quantile of the latency, with its name.
    Latency(&'static str, f64),
    /// The share of completed requests that failed.
    Failed,
    /// Completed requests per second.
    Rate,
}

impl Figure {
    /// The figures of sets. All are tested at once and each reduces the power of the test, so there
    /// are few.
    pub(crate) const TESTED: [Self; 5] = [
        Self::Latency("p50", 0.5),
        Self::Latency("p95", 0.95),
        Self::Latency("p99", 0.99),
        Self::Failed,
        Self::Rate,
    ];

    /// The name in a table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Latency(name, _) => name,
            Self::Failed => "failed",
            Self::Rate => "rate",
        }
    }

    /// The unit of the values in JSON.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Latency(..) => "ns",
            Self::Failed => "share",
            Self::Rate => "per_s",
        }
    }

    /// Whether a shift is a ratio; otherwise it is a difference.
    #[must_use]
    pub const fn is_ratio(self) -> bool {
        !matches!(self, Self::Failed)
    }

    /// The least shift that matters. For failures it is a difference of shares, because one failure
    /// in fifty requests is far from none.
    pub(crate) const fn least(self, of_ratios: f64) -> f64 {
        match self {
            Self::Failed => FAILED_LEAST,
            Self::Latency(..) | Self::Rate => of_ratios,
        }
    }

    /// Converts a shift to the scale of differences.
    pub(crate) fn difference(self, shift: f64) -> f64 {
        match self.is_ratio() {
            true => shift.ln_1p(),
            false => shift,
        }
    }

    /// Whether a larger value is better.
    #[must_use]
    pub const fn is_better_greater(self) -> bool {
        matches!(self, Self::Rate)
    }

    /// The value in a run, with `kind` as the latency: nanoseconds, a share, or requests per
    /// second. `None` if too few requests support the value, if it is only a lower bound, or if it
    /// allows no ratio.
    pub(crate) fn value(self, run: &Compared, kind: LatencyKind) -> Option<f64> {
        match self {
            Self::Latency(_, q) => run.known(kind, q),
            Self::Failed => {
                let counts = &run.summary().total.counts;
                let ended = counts.finished();
                (ended > 0).then(|| (ended - counts.ok) as f64 / ended as f64)
            }
            Self::Rate => Some(run.summary().achieved_per_s()).filter(|rate| *rate > 0.0),
        }
    }

    /// The value in the digest of a run, as for [`Self::value`]. Also `None` for quantiles that a
    /// digest does not contain.
    pub(crate) fn value_of_digest(self, run: &Digest) -> Option<f64> {
        match self {
            Self::Latency(name, _) => {
                let time = match name {
                    "p50" => run.latency.p50,
                    "p95" => run.latency.p95,
                    "p99" => run.latency.p99,
                    _ => None,
                };
                let time = time.filter(|time| !time.is_at_least)?;
                Some(time.time.0 as f64).filter(|value| *value > 0.0)
            }
            Self::Failed => run.failed_share(),
            Self::Rate => Some(run.achieved_per_s).filter(|rate| *rate > 0.0),
        }
    }

    /// The value on the scale of differences: the logarithm for figures whose shift is a ratio.
    pub(crate) fn scaled(self, value: f64) -> f64 {
        match self.is_ratio() {
            true => value.ln(),
            false => value,
        }
    }

    /// Converts a difference on that scale to a shift.
    pub(crate) fn shift(self, difference: f64) -> f64 {
        match self.is_ratio() {
            true => difference.exp_m1(),
            false => difference,
        }
    }
}
