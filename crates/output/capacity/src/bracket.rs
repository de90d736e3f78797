//! The bracket: steps of a few seconds each, until the objectives are missed. The first pass
//! doubles the rate; the second takes finer steps from the last rate that was kept.
//!
//! A step is too short to reach equilibrium, so it only shows where to begin the hold. If the
//! target was overloaded, the finer steps are fractions of its throughput under overload.

use crate::medians::Medians;
use crate::samples::{IntervalSample, ObjectiveSamples};
use crate::saturation::Saturation;
use crate::step::{Shown, Step};
use crate::{Observation, Slo, Terms};

/// The factor between the rates of two steps.
const GROWTH: f64 = 2.0;
/// The factor in a climb after a hold that was too low.
const GROWTH_AGAIN: f64 = 1.4;
/// The factor between two finer steps if the target was never overloaded.
const FINE_GROWTH: f64 = 1.15;
/// The finer steps as fractions of the throughput of an overloaded target.
const PARTS: [f64; 5] = [0.7, 0.8, 0.87, 0.92, 0.955];
/// The fraction of that throughput that counts as kept if a step kept more.
const KEPT: f64 = 0.6;
/// The minimum distance of a finer step from its neighbours, as a factor.
const APART: f64 = 0.95;
/// How far the hold begins below the last kept step, as a logarithm: a queue that grows reaches its
/// equilibrium sooner than one that has to shrink.
const BELOW: f64 = 0.08;
/// The maximum distance of the hold's beginning below the last kept step, as a logarithm.
const BELOW_MAX: f64 = 0.3;

/// The current pass of the bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    Climb,
    Refine,
}

/// The state of the bracket.
#[derive(Clone, Debug)]
pub(crate) struct Bracket {
    pass: Pass,
    growth: f64,
    /// The rate of the current step.
    rate: f64,
    /// The highest rate that was kept, and the lowest that was missed.
    pub(crate) kept: Option<f64>,
    pub(crate) missed: Option<f64>,
    /// The time for which a request stays at the target, in seconds, at the last kept rate
    /// (Little's law).
    pub(crate) stay: f64,
    /// The medians at the kept rates.
    pub(crate) medians: Vec<(f64, Medians)>,
    /// The throughput of the target while it was overloaded.
    pub(crate) saturation: Saturation,
    step: Step,
    /// The samples of all finer steps, by objective.
    refined: Vec<ObjectiveSamples>,
    /// Whether the current step is a repetition.
    is_second: bool,
}

/// The consequence of an interval of the bracket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Turn {
    Stay,
    Rate(f64),
    /// Drain the queue before the next step, which [`Bracket::resume`] returns.
    Drain,
    /// The first rate misses the objectives.
    Below,
    /// The maximum rate keeps the objectives, for the seconds of a step.
    Above,
    /// The hold can begin.
    Hold,
}

impl Bracket {
    pub(crate) fn new(terms: &Terms) -> Self {
        Self {
            pass: Pass::Climb,
            growth: GROWTH,
            rate: terms.from,
            kept: None,
            missed: None,
            stay: 0.0,
            medians: Vec::new(),
            saturation: Saturation::default(),
            step: Step::new(terms.slos.len(), 0.0),
            refined: vec![ObjectiveSamples::default(); terms.slos.len()],
            is_second: false,
        }
    }

    /// Whether the bracket takes finer steps.
    pub(crate) fn is_fine(&self) -> bool {
        self.pass == Pass::Refine
    }

    /// The samples of the finer steps, by objective.
    pub(crate) fn refined(&self) -> &[ObjectiveSamples] {
        &self.refined
    }

    /// The samples of the current step, by objective.
    pub(crate) fn step(&self) -> &[ObjectiveSamples] {
        &self.step.samples
    }

    pub(crate) fn observe(
        &mut self,
        seen: &Observation,
        samples: &[IntervalSample],
        terms: &Terms,
    ) -> Turn {
        self.step.observe(seen, samples, terms);
        if self.pass == Pass::Refine {
            for (all, sample) in self.refined.iter_mut().zip(samples) {
                all.push(*sample);
            }
        }
        match self.step.judge(terms) {
            Shown::Open => Turn::Stay,
            Shown::Kept => {
                self.kept = Some(self.rate);
                self.stay = self.step.outstanding() / self.rate;
                self.medians.push((self.rate, self.step.medians.clone()));
                if self.rate >= terms.most {
                    return Turn::Above;
                }
                match self.pass {
                    Pass::Climb => self.start_step((self.rate * self.growth).min(terms.most)),
                    Pass::Refine => self.finer(terms),
                }
            }
            // A burst may be chance, and connections are cold at first.
            Shown::Doubted if !self.is_second && self.pass == Pass::Climb => self.repeat(),
            Shown::Missed if !self.is_second && self.kept.is_none() => self.repeat(),
            Shown::Doubted | Shown::Missed if self.kept.is_none() => {
                self.missed = Some(self.rate);
                Turn::Below
            }
            Shown::Doubted | Shown::Missed => {
                self.miss(self.rate);
                Turn::Drain
            }
        }
    }

    /// Removes requests that had crossed the bound of an objective from the newest samples.
    pub(crate) fn forgive(&mut self, slo: usize, crossed: f64) {
        self.step.samples[slo].forgive(crossed);
        if self.is_fine() {
            self.refined[slo].forgive(crossed);
        }
    }

    /// Records a rate that missed the objectives, after some that kept them.
    pub(crate) fn miss(&mut self, rate: f64) {
        self.missed = Some(rate);
        self.saturation.add(self.step.saturation);
        self.kept = self.kept.filter(|kept| *kept < rate);
    }

    /// Returns a climb that begins above a rate that is easily kept, because the target may have
    /// become faster.
    pub(crate) fn again(&self, rate: f64, outstanding: f64, terms: &Terms) -> (Self, Turn) {
        let mut again = Self {
            growth: GROWTH_AGAIN,
            kept: Some(rate),
            stay: self.stay,
            medians: self.medians.clone(),
            ..Self::new(terms)
        };
        again.step = Step::new(terms.slos.len(), outstanding);
        let turn = again.start_step((rate * GROWTH_AGAIN).min(terms.most));
        (again, turn)
    }

    /// Returns the next turn after a drain, which left this many outstanding requests.
    pub(crate) fn resume(
        &mut self,
        outstanding: f64,
        saturation: Saturation,
        terms: &Terms,
    ) -> Turn {
        self.step = Step::new(terms.slos.len(), outstanding);
        self.saturation.add(saturation);
        match self.pass {
            Pass::Climb => {
                self.pass = Pass::Refine;
                self.finer(terms)
            }
            Pass::Refine => Turn::Hold,
        }
    }

    /// The level at which to begin the hold, according to the finer steps.
    pub(crate) fn level(&self, slos: &[Slo]) -> f64 {
        let kept = self.kept.unwrap_or(self.rate).ln();
        let levels = self.refined.iter().zip(slos).filter_map(|(samples, slo)| {
            let centre = samples.centre()?;
            let none = ObjectiveSamples::default();
            let saturation = self.saturation.rate();
            let elasticity = samples.elasticity(&none, centre, slo.share, saturation);
            samples.level(slo.share, elasticity)
        });
        let level = levels.fold(kept - BELOW, f64::min);
        level.max(kept - BELOW_MAX)
    }

    /// The next finer step above the last kept rate, if there is room for one.
    fn finer(&mut self, terms: &Terms) -> Turn {
        let mut kept = self.kept.unwrap_or(self.rate);
        let most = self.missed.map_or(terms.most, |missed| missed * APART);
        let next = match self.saturation.rate() {
            Some(rate) => {
                // A short step may keep a rate that the target can't sustain.
                if kept > rate {
                    kept = KEPT * rate;
                    self.kept = Some(kept);
                }
                let mut parts = PARTS.into_iter().map(|part| part * rate);
                parts.find(|next| next * APART > kept)
            }
            None => Some(kept * FINE_GROWTH),
        };
        match next.filter(|next| *next <= most.min(terms.most)) {
            Some(next) => self.start_step(next),
            None => Turn::Hold,
        }
    }

    fn start_step(&mut self, rate: f64) -> Turn {
        self.step = Step::new(self.refined.len(), self.step.outstanding());
        self.rate = rate;
        self.is_second = false;
        Turn::Rate(rate)
    }

    fn repeat(&mut self) -> Turn {
        let turn = self.start_step(self.rate);
        self.is_second = true;
        turn
    }
}
