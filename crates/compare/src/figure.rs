//! The figures that are compared, and their value in one run.

use crate::compared::Compared;
use drumfire_measure::{Digest, LatencyKind};

/// The least difference of the shares of failures that matters.
const FAILED_LEAST: f64 = 0.001;

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// A quantile of *the* latency, with its name.
    Latency(&'static str, f64),
    /// The share of the requests that ended which failed.
    Failed,
    /// Requests that ended, per second.
    Rate,
}

impl Figure {
    /// The figures of sets. Each costs power, since all are tested at once, so that they are few.
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

    /// The unit of its values in JSON.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Latency(..) => "ns",
            Self::Failed => "share",
            Self::Rate => "per_s",
        }
    }

    /// Whether a shift is a ratio; else it is a difference.
    #[must_use]
    pub const fn is_ratio(self) -> bool {
        !matches!(self, Self::Failed)
    }

    /// The least shift that matters: of failures as a difference of shares, since one failure in fifty
    /// requests is far from equal to none.
    #[must_use]
    pub const fn least(self, of_ratios: f64) -> f64 {
        match self {
            Self::Failed => FAILED_LEAST,
            Self::Latency(..) | Self::Rate => of_ratios,
        }
    }

    /// The least shift that matters, on the scale on which shifts are differences.
    pub(crate) fn least_difference(self, of_ratios: f64) -> f64 {
        match self.is_ratio() {
            true => of_ratios.ln_1p(),
            false => self.least(of_ratios),
        }
    }

    /// Whether a greater value is a better one.
    #[must_use]
    pub const fn is_better_greater(self) -> bool {
        matches!(self, Self::Rate)
    }

    /// The value in a run, with this time as *the* latency: nanoseconds, a share, or requests per
    /// second. `None` where too few
    /// requests support it, where it is only a lower bound, or where a ratio could not be made of it.
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

    /// The same of the digest of a run; `None` of other quantiles than a digest has, too.
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

    /// The value on the scale on which shifts are differences: of a ratio, its logarithm.
    pub(crate) fn scaled(self, value: f64) -> f64 {
        match self.is_ratio() {
            true => value.ln(),
            false => value,
        }
    }

    /// The shift of a difference on that scale.
    pub(crate) fn shift(self, difference: f64) -> f64 {
        match self.is_ratio() {
            true => difference.exp_m1(),
            false => difference,
        }
    }
}
