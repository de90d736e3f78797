//! The estimate of a capacity from the samples of a hold, its interval, and its trend.

use crate::bracket::Bracket;
use crate::samples::{ObjectiveSamples, Sure};
use crate::{Slo, Terms};
use drumfire_units::Nanos;

/// The estimate for one objective. Levels are logarithms of rates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    /// The index of the objective.
    pub(crate) slo: usize,
    pub(crate) level: f64,
    /// The elasticity of the share beyond the objective at the level.
    pub(crate) elasticity: f64,
}

/// An interval of levels that contains the capacity with a confidence of 90 %.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) slo: usize,
    pub(crate) low: f64,
    pub(crate) level: f64,
    pub(crate) high: f64,
}

/// The number of iterations that find an estimate and its elasticity.
const ROUNDS: usize = 6;
/// The number of parts for the jackknife, which leaves out one at a time, and the factor of its
/// error: t with 7 degrees of freedom is 1.9 at 90 %, and errors of shares are skewed.
const PARTS: usize = 8;
const ERRORS: f64 = 2.2;
/// An elasticity may be wrong by this factor, downwards and upwards. The share of an objective
/// without response times follows from no queue, so its elasticity may be much larger.
const OFF: (f64, f64) = (0.6, 1.7);
const OFF_OTHER: f64 = 10.0;
/// The number of standard errors by which the expected number of bursts may be lower.
const LEAST_ERRORS: f64 = 1.645;
/// With fewer independent events, the samples bound the capacity only from below.
const EVENTS_MIN: f64 = 3.0;
/// The minimum length of a hold, in bounds of response times. A shorter hold may end before a queue
/// has reached the bound.
const BOUNDS_MIN: f64 = 10.0;
/// If no rate was missed, the interval extends this far above the highest held level.
const UNKNOWN: f64 = 0.2;
/// The minimum size of a trend, as a logarithm, and in standard errors of its slope.
const TREND_MIN: f64 = 0.1;
const TREND_ERRORS: f64 = 5.0;

/// The number of requests in a burst of a queue at its capacity, for a hold with too few bursts to
/// measure it.
///
/// Waiting times beyond the bound T are exponential with a mean of T / g; a p99 has g = ln 100. A
/// queue that exceeds T by this mean takes T / g / (1 − ρ) to shrink, and as long to grow. With
/// e = g · ρ / (1 − ρ), 1 / (1 − ρ) is 1 + e / g.
fn burst(rate: f64, elasticity: f64, slo: &Slo) -> f64 {
    let bound = slo.response.map_or(0.0, Nanos::as_secs_f64);
    let tail = (1.0 / slo.share).ln().max(1.0);
    (2.0 * rate * bound / tail * (1.0 + elasticity / tail)).max(1.0)
}

/// The knowledge about a target during and after the hold.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) terms: &'a Terms,
    pub(crate) held: &'a [ObjectiveSamples],
    pub(crate) bracket: &'a Bracket,
}

impl Known<'_> {
    /// The elasticity of an objective's share at a level.
    pub(crate) fn elasticity(&self, slo: usize, level: f64) -> f64 {
        self.elasticity_of(slo, level, self.bracket.saturation.rate())
    }

    fn elasticity_of(&self, slo: usize, level: f64, saturation: Option<f64>) -> f64 {
        let (before, held) = (&self.bracket.refined()[slo], &self.held[slo]);
        let Slo { share, response } = self.terms.slos[slo];
        // Failures do not follow from a full queue.
        let is_of_queue = response.is_some() || held.has_tail() || before.has_tail();
        held.elasticity(before, level, share, saturation.filter(|_| is_of_queue))
    }

    /// The capacity for one objective by the samples so far, and the elasticity at the capacity.
    ///
    /// The elasticity depends on the capacity, so both are found by iteration from above. Far below
    /// the capacity, the share hardly depends on the rate, and every level explains that no request
    /// is beyond.
    pub(crate) fn estimate_for(&self, slo: usize) -> Option<Estimate> {
        let (held, allowed) = (&self.held[slo], self.terms.slos[slo].share);
        let mut level = held.top()?;
        let mut elasticity = self.elasticity(slo, level);
        for _ in 0..ROUNDS {
            level = self.possible(held.level(allowed, elasticity)?);
            elasticity = self.elasticity(slo, level);
        }
        Some(Estimate {
            slo,
            level,
            elasticity,
        })
    }

    /// The estimate of the objective that bounds the capacity.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        let each = (0..self.held.len()).filter_map(|slo| self.estimate_for(slo));
        each.min_by(|one, other| one.level.total_cmp(&other.level))
    }

    /// Limits a level to the saturation of the target. A target whose throughput under overload is
    /// lower than a rate held before is not bounded by that throughput.
    fn possible(&self, level: f64) -> f64 {
        match self.bracket.saturation.rate() {
            Some(rate) if rate.ln() > self.tried() => level.min(rate.ln()),
            _ => level,
        }
    }

    /// The highest level that was held.
    fn tried(&self) -> f64 {
        let tops = self.held.iter().filter_map(ObjectiveSamples::top);
        tops.fold(f64::NEG_INFINITY, f64::max)
    }

    /// The interval of the capacity; `None` before anything was held.
    ///
    /// Three things are unknown: how the samples would scatter (the jackknife), the expected number
    /// of bursts (Poisson bounds), and the elasticity. The interval includes all three.
    pub(crate) fn range(&self) -> Option<Range> {
        let Estimate {
            slo,
            level,
            elasticity,
        } = self.estimate()?;
        let (held, Slo { share, response }) = (&self.held[slo], self.terms.slos[slo]);
        let error = ERRORS * held.error(share, elasticity, PARTS).unwrap_or(0.0);
        let (less, more) = match response {
            Some(_) => OFF,
            None => (OFF.0, OFF_OTHER),
        };
        // The throughput of the overloaded target may be higher than measured.
        let most = self.bracket.saturation.bounds().map(|(_, high)| high);
        let flat = self.elasticity_of(slo, level, most).min(elasticity * less);
        let off = [flat, elasticity * more].map(|elasticity| {
            let other = held.level_with(held.beyond(), share, elasticity);
            other.map_or(0.0, |other| (other - level).abs())
        });
        let half = error + off[0].max(off[1]);
        let burst = match held.events() < EVENTS_MIN {
            true => burst(level.exp(), elasticity, &self.terms.slos[slo]),
            false => 1.0,
        };
        let low = held.level_with(held.beyond_most(Sure::Interval, burst), share, flat)?;
        let low = low.min(level - half);
        let mut high = level + half;
        let least = held.beyond_least(LEAST_ERRORS);
        if least > 0.0 {
            high = high.max(held.level_with(least, share, flat)?);
        }
        // A queue that grows slowly does not reach a long bound during the hold.
        let bounds = self.terms.slos.iter().filter_map(|slo| slo.response);
        let longest = bounds.max().map_or(0.0, Nanos::as_secs_f64);
        let is_blind = held.seconds() < BOUNDS_MIN * longest;
        if is_blind || held.events() < EVENTS_MIN {
            high = high.max(self.least_missed());
        }
        let least = self.bracket.saturation.bounds().filter(|_| is_blind);
        let low = low.min(least.map_or(f64::INFINITY, |(least, _)| least.ln()));
        Some(Range {
            slo,
            low,
            level,
            high,
        })
    }

    /// The lowest level that the target certainly misses, as far as it is known.
    fn least_missed(&self) -> f64 {
        let missed = self.bracket.missed.map_or(f64::INFINITY, f64::ln);
        let bounds = self.bracket.saturation.bounds();
        let least = missed.min(bounds.map_or(f64::INFINITY, |(_, high)| high.ln()));
        match least > self.tried() && least.is_finite() {
            true => least,
            false => self.tried() + UNKNOWN,
        }
    }

    /// The levels of the capacity at the beginning and at the end of the first `count` samples, if
    /// the capacity changed in between.
    pub(crate) fn trend(&self, count: usize) -> Option<(f64, f64)> {
        let Estimate {
            slo, elasticity, ..
        } = self.estimate()?;
        let share = self.terms.slos[slo].share;
        let levels = self.held[slo].levels(count, PARTS, share, elasticity);
        let n = levels.len() as f64;
        if levels.len() < PARTS - 1 {
            return None;
        }
        let (mean, middle) = (levels.iter().sum::<f64>() / n, (n - 1.0) / 2.0);
        let each = || {
            levels
                .iter()
                .enumerate()
                .map(|(at, level)| (at as f64 - middle, *level))
        };
        let squares: f64 = each().map(|(at, _)| at * at).sum();
        let slope = each().map(|(at, level)| at * (level - mean)).sum::<f64>() / squares;
        let rest: f64 = each()
            .map(|(at, level)| (level - mean - slope * at).powi(2))
            .sum();
        let error = (rest / (n - 2.0) / squares).sqrt();
        let change = slope * (n - 1.0);
        (change.abs() > TREND_MIN && slope.abs() > TREND_ERRORS * error)
            .then_some((mean - change / 2.0, mean + change / 2.0))
    }
}
