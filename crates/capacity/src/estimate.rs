//! The estimate of a capacity from the samples of a hold, its interval, and its trend.

use crate::bracket::Bracket;
use crate::samples::{Samples, Sure};
use crate::{Slo, Terms};
use drumfire_units::Nanos;

/// The estimate by one objective. Levels are logarithms of rates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    /// The objective, by its place.
    pub(crate) slo: usize,
    pub(crate) level: f64,
    /// The elasticity of the share beyond the objective there.
    pub(crate) elasticity: f64,
}

/// An interval of levels that holds the capacity with a confidence of 90 %.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) slo: usize,
    pub(crate) low: f64,
    pub(crate) level: f64,
    pub(crate) high: f64,
}

/// The rounds in which an estimate and its elasticity are found.
const ROUNDS: usize = 6;
/// The parts of which the jackknife leaves out one, and the factor of its error: t with 7 degrees of
/// freedom is 1.9 at 90 %, and errors of shares are skewed.
const PARTS: usize = 8;
const ERRORS: f64 = 2.2;
/// An elasticity may be off by this factor, downwards and upwards. That of a share that is none of
/// response times follows from no queue, and may be much larger.
const OFF: (f64, f64) = (0.6, 1.7);
const OFF_OTHER: f64 = 10.0;
/// The standard errors by which the expected number of bursts may be lower.
const LEAST_ERRORS: f64 = 1.645;
/// Fewer independent events bound the capacity from below only.
const EVENTS_MIN: f64 = 3.0;
/// A hold is as long as so many bounds of response times, or it may end before a queue has reached
/// one.
const BOUNDS_MIN: f64 = 10.0;
/// Nothing is known so far above the greatest level that was held, if no rate was missed.
const UNKNOWN: f64 = 0.2;
/// A trend is larger than this, as a logarithm, and than so many standard errors of its slope.
const TREND_MIN: f64 = 0.1;
const TREND_ERRORS: f64 = 5.0;

/// The requests of a burst in a queue at its capacity, for a hold that had too few of them to tell.
///
/// Waiting times beyond the bound T are exponential with a mean of T / g, for a p99 with g = ln 100. A
/// queue that is so much longer takes T / g / (1 − ρ) to shrink, and as long to grow; and with
/// e = g · ρ / (1 − ρ), 1 / (1 − ρ) is 1 + e / g.
fn burst(rate: f64, elasticity: f64, slo: &Slo) -> f64 {
    let bound = slo.response.map_or(0.0, Nanos::as_secs_f64);
    let tail = (1.0 / slo.share).ln().max(1.0);
    (2.0 * rate * bound / tail * (1.0 + elasticity / tail)).max(1.0)
}

/// What is known of a target while and after the load is held.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) terms: &'a Terms,
    pub(crate) held: &'a [Samples],
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
        // Failures follow from no full queue.
        let is_of_queue = response.is_some() || held.has_tail() || before.has_tail();
        held.elasticity(before, level, share, saturation.filter(|_| is_of_queue))
    }

    /// The capacity of one objective by the samples so far, and the elasticity there.
    ///
    /// The elasticity is that at the capacity, which depends on it. It is found from above: far
    /// below, the share hardly depends on the rate, and any level explains that none is beyond.
    pub(crate) fn of(&self, slo: usize) -> Option<Estimate> {
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
        let each = (0..self.held.len()).filter_map(|slo| self.of(slo));
        each.min_by(|one, other| one.level.total_cmp(&other.level))
    }

    /// A level that is not above that at which the target is saturated. One that does less when it
    /// is overloaded than it has done before is not bounded by that.
    fn possible(&self, level: f64) -> f64 {
        match self.bracket.saturation.rate() {
            Some(rate) if rate.ln() > self.tried() => level.min(rate.ln()),
            _ => level,
        }
    }

    /// The greatest level that was held.
    fn tried(&self) -> f64 {
        let tops = self.held.iter().filter_map(Samples::top);
        tops.fold(f64::NEG_INFINITY, f64::max)
    }

    /// The interval of the capacity; `None` before anything was held.
    ///
    /// Three things are unknown: how the samples would scatter (the jackknife), how many bursts were
    /// to be expected (Poisson's bounds of those that came), and the elasticity. The interval has all.
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
        // The throughput of the overloaded target may be higher than it was seen.
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
        // A queue that grows slowly does not reach a long bound while the load is held.
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

    /// The least level that the target surely does not keep, as far as it is known.
    fn least_missed(&self) -> f64 {
        let missed = self.bracket.missed.map_or(f64::INFINITY, f64::ln);
        let bounds = self.bracket.saturation.bounds();
        let least = missed.min(bounds.map_or(f64::INFINITY, |(_, high)| high.ln()));
        match least > self.tried() && least.is_finite() {
            true => least,
            false => self.tried() + UNKNOWN,
        }
    }

    /// The levels of the capacity at the beginning and at the end of the first `count` samples, if it has
    /// changed meanwhile.
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
