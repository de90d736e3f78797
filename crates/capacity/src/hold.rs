//! The control of the load that is held: it keeps the share beyond the objectives where it is
//! allowed, without ever letting the queue run empty.
//!
//! The logarithm of the rate is the integral of the error, which is share / allowed − 1: −1 where no
//! request is beyond, and +99 where all are under a p99. Errors come in bursts. What a burst exceeds
//! is not cut off, which would hold the load too high, but worked off over the intervals behind it,
//! so that the error sums up to zero. The gain is that of a stochastic approximation, 1 / (e · t)
//! with the elasticity e, down to one with which the rate still moves.

use crate::Slo;
use crate::samples::Sample;

/// The least gain, per second, before it is divided by the elasticity.
const GAIN_MIN: f64 = 0.03;
/// Seconds before which the gain is no greater than at them.
const GAIN_FROM: f64 = 5.0;
/// The greatest error that is worked off at a time.
const ERROR_MAX: f64 = 10.0;
/// The greatest error that is kept for later: one burst, however long, is one event.
const DEBT_MAX: f64 = 1e9;
/// Where so many of the requests that are allowed beyond had room to come, and not one came near the
/// bound, the level is far below the capacity…
const CALM: f64 = 100.0;
/// …and rises by this much each second, and by more the longer it lasts.
const CALM_RISE: f64 = 0.002;
const CALM_RISE_MAX: f64 = 0.01;
/// So it does if so many are allowed in a second. A slower target builds up its queue more slowly.
const CALM_SECOND: f64 = 9.0;
/// Beyond its bounds the level moves back by this much each second.
const RETURN: f64 = 0.02;
/// Smaller elasticities make no greater gain: a heavy tail needs patience.
const ELASTICITY_MIN: f64 = 12.0;
/// The level goes no further above the estimate than this, and below it than that.
const ABOVE: f64 = 0.05;
const BELOW: f64 = 0.25;

/// The control, from the beginning of a hold.
#[derive(Clone, Debug)]
pub(crate) struct Hold {
    level: f64,
    /// The error of each objective that is not yet worked off.
    debts: Vec<f64>,
    /// For each objective, the requests that were allowed beyond it since one came near.
    calm: Vec<f64>,
    /// The seconds for which it holds, and those since a request came near a bound.
    pub(crate) seconds: f64,
    pub(crate) quiet: f64,
    /// The level at which it became calm.
    calm_from: Option<f64>,
}

impl Hold {
    pub(crate) fn at(level: f64, slos: usize) -> Self {
        Self {
            level,
            debts: vec![0.0; slos],
            calm: vec![0.0; slos],
            seconds: 0.0,
            quiet: 0.0,
            calm_from: None,
        }
    }

    /// The logarithm of the rate.
    pub(crate) const fn level(&self) -> f64 {
        self.level
    }

    /// Moves the level by an interval's samples, one for each objective, with their elasticities.
    /// The objective that asks for the lowest rate decides.
    pub(crate) fn observe(&mut self, samples: &[Sample], slos: &[Slo], elasticities: &[f64]) {
        let Some(seconds) = samples.first().map(|sample| sample.seconds) else {
            return;
        };
        self.seconds += seconds;
        self.quiet = match samples.iter().any(|sample| sample.near > 0.0) {
            true => 0.0,
            false => self.quiet + seconds,
        };
        let gain = GAIN_MIN.max(1.0 / (self.seconds + GAIN_FROM));
        let mut fall = f64::NEG_INFINITY;
        let each = samples.iter().zip(slos).zip(elasticities);
        let memory = self.debts.iter_mut().zip(&mut self.calm);
        for ((debt, calm), ((sample, slo), elasticity)) in memory.zip(each) {
            let share = match sample.of > 0.0 {
                true => sample.beyond / sample.of,
                false => 0.0,
            };
            *debt += (share / slo.share - 1.0) * seconds;
            let worked = debt.clamp(-seconds, ERROR_MAX * seconds);
            *debt = (*debt - worked).min(DEBT_MAX);
            *calm = match sample.near > 0.0 {
                true => 0.0,
                false => *calm + slo.share * sample.of,
            };
            fall = fall.max(gain * worked / elasticity.max(ELASTICITY_MIN));
        }
        if !self.is_calm() {
            self.calm_from = None;
        } else {
            self.calm_from.get_or_insert(self.level);
            let calm = self.calm.iter().copied().fold(f64::INFINITY, f64::min);
            let rise = CALM_RISE * (calm / (2.0 * CALM)).max(1.0);
            let slower = (calm / self.quiet / CALM_SECOND).min(1.0);
            fall = fall.min(-slower * rise.min(CALM_RISE_MAX) * seconds);
        }
        self.level -= fall;
    }

    /// Moves the level towards an estimate where it is far from it, for an interval of so many
    /// seconds, and keeps it at most at `most`.
    pub(crate) fn keep_near(&mut self, estimate: Option<f64>, seconds: f64, most: f64) {
        if let Some(estimate) = estimate {
            let back = RETURN * seconds;
            let (below, above) = (estimate - BELOW, estimate + ABOVE);
            self.level += (below - self.level).clamp(0.0, back);
            if !self.is_calm() {
                self.level -= (self.level - above).clamp(0.0, back);
            }
        }
        self.level = self.level.min(most);
    }

    fn is_calm(&self) -> bool {
        self.calm.iter().all(|calm| *calm >= CALM)
    }

    /// Takes back an error that is not worked off yet.
    pub(crate) fn forgive(&mut self, slo: usize, error: f64) {
        self.debts[slo] = (self.debts[slo] - error).max(0.0);
    }

    /// Begins to count again from when on no request comes near a bound.
    pub(crate) fn disturb(&mut self) {
        self.quiet = 0.0;
        self.calm_from = None;
        self.calm.fill(0.0);
    }

    /// How far it has risen since no request came near a bound; `None` if some do.
    pub(crate) fn rise(&self) -> Option<f64> {
        Some(self.level - self.calm_from?)
    }
}
