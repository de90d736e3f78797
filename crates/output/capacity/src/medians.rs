//! Medians of response times at each rate, which show whether the target itself changed.
//!
//! A constant target is not slower at a lower rate than at a higher one. If a target is, or if it
//! is faster at a higher rate, it changed over time.

use crate::Observation;
use crate::answer::Trend;
use drumfire_units::Nanos;

/// The minimum number of requests for a median that is compared.
const REQUESTS_MIN: f64 = 100.0;
/// The factor by which a changed median differs.
const CHANGED: f64 = 1.5;
/// The factor by which a rate must be higher to count as higher: near the capacity, a queue that
/// begins empty stays short for the seconds of a step.
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

    /// The median of the intervals' medians, which a single interval with a pause of the target
    /// does not change.
    fn middle(&self) -> Option<f64> {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.get(sorted.len() / 2).copied();
        middle.filter(|_| self.requests >= REQUESTS_MIN)
    }
}

/// How the target changed, from the medians at earlier rates and at the current rate.
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
