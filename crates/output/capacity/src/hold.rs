//! The control of the rate during a hold: it keeps the share beyond the objectives at the allowed
//! share, without ever letting the queue run empty.
//!
//! The logarithm of the rate is the integral of the error, which is share / allowed − 1: −1 if no
//! request is beyond, and +99 if all are, for a p99. Errors come in bursts. An error above the
//! maximum is not cut off, which would hold the load too high. The control works it off over the
//! following intervals, and the errors sum to zero. As in stochastic approximation, the gain is 1 /
//! (e · t) with the elasticity e, down to a minimum at which the rate still moves.

use crate::Slo;
use crate::samples::IntervalSample;

/// The minimum gain, per second, before the division by the elasticity.
const GAIN_MIN: f64 = 0.03;
/// The number of seconds added to the time in the gain, which bounds the gain at the beginning.
const GAIN_FROM: f64 = 5.0;
/// The maximum error that is worked off per interval.
const ERROR_MAX: f64 = 10.0;
/// The maximum error that is kept for later: a burst of any length is one event.
const DEBT_MAX: f64 = 1e9;
/// If this many requests would have been allowed beyond, and hardly any came near the bound, the
/// level is far below the capacity…
const CALM: f64 = 100.0;
/// A request near the bound outweighs this many that were allowed beyond. At the capacity, at least
/// as many come near the bound as are allowed beyond, so a queue ends every calm. Slow requests
/// that come at any rate do not, if they are fewer than a fifth of the allowed ones: without this,
/// a pause of a target that can take twice the rate would hide this.
const CALM_NEAR: f64 = 5.0;
/// An interval ends a calm at once if more than this many requests come near the bound, and more
/// than are allowed beyond: a burst is one event, however many requests are in it.
const CALM_BURST: f64 = 2.0;
/// In a calm, the level rises by this much each second, and faster the longer this lasts.
const CALM_RISE: f64 = 0.002;
const CALM_RISE_MAX: f64 = 0.01;
/// The number of allowed requests per second from which the level rises at full speed. A slower
/// target builds up its queue more slowly.
const CALM_SECOND: f64 = 9.0;
/// The distance per second by which the level returns into its bounds.
const RETURN: f64 = 0.02;
/// The minimum elasticity for the gain: a heavy tail needs patience.
const ELASTICITY_MIN: f64 = 12.0;
/// The maximum distance of the level above the estimate, and below it.
const ABOVE: f64 = 0.05;
const BELOW: f64 = 0.25;

/// The state of the control, from the beginning of a hold.
#[derive(Clone, Debug)]
pub(crate) struct HeldRate {
    level: f64,
    /// The part of each objective's error that is not yet worked off.
    debts: Vec<f64>,
    /// For each objective, the number of requests allowed beyond it since the last burst, without
    /// those that requests near the bound outweigh.
    calm: Vec<f64>,
    /// The seconds since the hold began, and since the last burst near a bound, without those that
    /// requests near a bound outweigh.
    pub(crate) seconds: f64,
    pub(crate) quiet: f64,
    /// The level at which the calm began.
    calm_from: Option<f64>,
}

impl HeldRate {
    pub(crate) fn new(level: f64, slos: usize) -> Self {
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

    /// Moves the level by an interval's samples, one per objective, with their elasticities. The
    /// objective that requires the lowest rate decides.
    pub(crate) fn observe(
        &mut self,
        samples: &[IntervalSample],
        slos: &[Slo],
        elasticities: &[f64],
    ) {
        let Some(seconds) = samples.first().map(|sample| sample.seconds) else {
            return;
        };
        self.seconds += seconds;
        let loudest = samples
            .iter()
            .zip(slos)
            .map(|(sample, slo)| loudness(sample, slo));
        let loudest = loudest.fold(0.0, f64::max);
        self.quiet = (self.quiet + seconds * (1.0 - loudest)).max(0.0);
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
            let allowed = slo.share * sample.of;
            *calm = (*calm + allowed * (1.0 - loudness(sample, slo))).max(0.0);
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

    /// Moves the level towards an estimate that is far away, for an interval of `seconds` seconds,
    /// and limits the level to `most`.
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

    /// Removes an error that is not yet worked off.
    pub(crate) fn forgive(&mut self, slo: usize, error: f64) {
        self.debts[slo] = (self.debts[slo] - error).max(0.0);
    }

    /// Restarts the count of time in which hardly a request came near a bound.
    pub(crate) fn disturb(&mut self) {
        self.quiet = 0.0;
        self.calm_from = None;
        self.calm.fill(0.0);
    }

    /// How far the level has risen in the current calm; `None` without one.
    pub(crate) fn rise(&self) -> Option<f64> {
        Some(self.level - self.calm_from?)
    }
}

/// The requests of an interval near the bound of an objective, as a multiple of those that end a
/// calm slowly; infinite for a burst, which ends it at once.
fn loudness(sample: &IntervalSample, slo: &Slo) -> f64 {
    let allowed = slo.share * sample.of;
    match sample.near {
        near if near <= 0.0 => 0.0,
        near if near > CALM_BURST.max(allowed) => f64::INFINITY,
        near => CALM_NEAR * near / allowed,
    }
}
