//! The figures that are compared, and their value in one run.

use drumfire_measure::{Histogram, Summary};

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Figure {
    /// A quantile of *the* latency, with its name.
    Latency(&'static str, f64),
    /// The share of the requests that ended which failed.
    Failed,
    /// Requests that ended, per second.
    Rate,
}

impl Figure {
    /// The figures of sets. Each costs power, since all are tested at once, so that they are few.
    pub(super) const OF_SETS: [Self; 5] = [
        Self::Latency("p50", 0.5),
        Self::Latency("p95", 0.95),
        Self::Latency("p99", 0.99),
        Self::Failed,
        Self::Rate,
    ];

    /// The name in a table.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Latency(name, _) => name,
            Self::Failed => "failed",
            Self::Rate => "rate",
        }
    }

    /// Whether a shift is a ratio; else it is a difference.
    pub(super) const fn is_ratio(self) -> bool {
        !matches!(self, Self::Failed)
    }

    /// Whether a greater value is a better one.
    pub(super) const fn is_better_greater(self) -> bool {
        matches!(self, Self::Rate)
    }

    /// The value in a run: nanoseconds, a share, or requests per second. `None` where too few
    /// requests support it, where it is only a lower bound, or where a ratio could not be made of it.
    pub(super) fn value(self, run: &Summary) -> Option<f64> {
        match self {
            Self::Latency(_, q) => known(run.model().latency(&run.total.latency), q),
            Self::Failed => {
                let counts = &run.total.counts;
                let ended = counts.finished();
                (ended > 0).then(|| (ended - counts.ok) as f64 / ended as f64)
            }
            Self::Rate => Some(run.achieved_per_s()).filter(|rate| *rate > 0.0),
        }
    }

    /// The value on the scale on which shifts are differences: of a ratio, its logarithm.
    pub(super) fn scaled(self, value: f64) -> f64 {
        match self.is_ratio() {
            true => value.ln(),
            false => value,
        }
    }

    /// The shift of a difference on that scale.
    pub(super) fn shift(self, difference: f64) -> f64 {
        match self.is_ratio() {
            true => difference.exp_m1(),
            false => difference,
        }
    }
}

/// A quantile above 0 that is known exactly.
fn known(times: &Histogram, q: f64) -> Option<f64> {
    let value = times.quantile(q).filter(|_| !times.is_at_least(q))?;
    Some(value.0 as f64).filter(|value| *value > 0.0)
}
