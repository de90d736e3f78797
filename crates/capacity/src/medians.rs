//! Medians of response times by the rate, from which it follows whether the target itself changed.
//!
//! A target that stays the same is not slower at a lower rate than at a higher one. If it is, or if it
//! is faster at a higher rate, time has changed it.

use crate::Observation;
use crate::answer::Trend;
use drumfire_units::Nanos;

/// Medians of fewer requests are not compared.
const REQUESTS_MIN: f64 = 100.0;
/// A median that differs by this factor has changed.
const CHANGED: f64 = 1.5;
/// A rate is only surely higher if it is by this factor: near the capacity, a queue that begins empty
/// is short for the seconds of a step.
const APART: f64 = 1.5;

/// The medians of the intervals at one rate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Medians {
    requests: f64,
    seconds: Vec<f64>,
}

impl Medians {
    pub(crate) fn observe(&mut self, seen: &Observation) {
        if let Some(median) = seen.median {
            self.requests += seen.ended as f64;
            self.seconds.push(median.as_secs_f64());
        }
    }

    /// The median of them: an interval with a pause of the target does not change it.
    fn middle(&self) -> Option<f64> {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.get(sorted.len() / 2).copied();
        middle.filter(|_| self.requests >= REQUESTS_MIN)
    }
}

/// How the target changed, by the medians at rates of before and at the rate now.
pub(crate) fn trend(before: &[(f64, Medians)], rate: f64, medians: &Medians) -> Option<Trend> {
    let now = medians.middle()?;
    let known = || {
        let each = before.iter();
        each.filter_map(|(rate, medians)| Some((*rate, medians.middle()?)))
    };
    let higher = known().filter(|(other, _)| *other >= APART * rate);
    let lower = known().filter(|(other, _)| *other <= rate);
    let quickest = higher.min_by(|one, other| one.1.total_cmp(&other.1));
    let slowest = lower.max_by(|one, other| one.1.total_cmp(&other.1));
    let slower = quickest.filter(|(_, then)| now > CHANGED * then);
    let changed = slower.or_else(|| slowest.filter(|(_, then)| *then > CHANGED * now))?;
    let time = |seconds: f64| Nanos((seconds * 1e9) as u64);
    Some(Trend::Median {
        before: (changed.0, time(changed.1)),
        now: (rate, time(now)),
    })
}
