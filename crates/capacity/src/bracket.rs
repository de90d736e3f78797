//! The bracket: steps of a few seconds each, until the objectives are missed, first by doubling the
//! rate and then in finer steps from the last one that was kept.
//!
//! A step is too short to be in equilibrium, so that it shows only where to begin to hold. Where the
//! target was overloaded, the finer steps are parts of what it did then.

use crate::samples::{Sample, Samples};
use crate::step::{Shown, judge};
use crate::{Slo, Terms};

/// The growth of the rate from step to step.
const GROWTH: f64 = 2.0;
/// The same of the finer steps, where the target was never overloaded.
const FINE_GROWTH: f64 = 1.15;
/// The finer steps as parts of the rate at which it was.
const PARTS: [f64; 5] = [0.7, 0.8, 0.87, 0.92, 0.955];
/// A finer step is no nearer to its neighbours than this.
const APART: f64 = 0.95;
/// The hold begins this far below the last step that was kept, as a logarithm: a queue that comes
/// from below finds its equilibrium sooner than one that has to shrink.
const BELOW: f64 = 0.08;
/// And no further below than this.
const BELOW_MAX: f64 = 0.3;

/// The pass that the bracket is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    Climb,
    Refine,
}

/// The bracket under way.
#[derive(Clone, Debug)]
pub(crate) struct Bracket {
    pass: Pass,
    /// The rate of the step under way.
    rate: f64,
    /// The greatest rate that was kept, and the least that was missed.
    pub(crate) kept: Option<f64>,
    pub(crate) missed: Option<f64>,
    /// The samples of the step under way, and of all finer steps.
    step: Vec<Samples>,
    refined: Vec<Samples>,
    /// Whether the step under way is made for the second time.
    is_second: bool,
}

/// What follows from an interval of the bracket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Turn {
    Stay,
    Rate(f64),
    /// The queue has to be drained before the next step, which [`Bracket::resume`] gives.
    Drain,
    /// The first rate misses the objectives.
    Below,
    /// The greatest rate keeps them.
    Above,
    /// The load can be held.
    Hold,
}

impl Bracket {
    pub(crate) fn of(terms: &Terms) -> Self {
        let none = vec![Samples::default(); terms.slos.len()];
        Self {
            pass: Pass::Climb,
            rate: terms.from,
            kept: None,
            missed: None,
            step: none.clone(),
            refined: none,
            is_second: false,
        }
    }

    /// Whether the finer steps are made.
    pub(crate) fn is_fine(&self) -> bool {
        self.pass == Pass::Refine
    }

    /// The samples of the finer steps, by objective.
    pub(crate) fn refined(&self) -> &[Samples] {
        &self.refined
    }

    /// The samples of the step under way, by objective.
    pub(crate) fn step(&self) -> &[Samples] {
        &self.step
    }

    pub(crate) fn observe(
        &mut self,
        samples: &[Sample],
        terms: &Terms,
        saturation: Option<f64>,
    ) -> Turn {
        for (at, sample) in samples.iter().enumerate() {
            self.step[at].push(*sample);
            if self.pass == Pass::Refine {
                self.refined[at].push(*sample);
            }
        }
        match judge(&self.step, &terms.slos, terms.step) {
            Shown::Open => Turn::Stay,
            Shown::Kept => {
                self.kept = Some(self.rate);
                if self.rate >= terms.most {
                    return Turn::Above;
                }
                match self.pass {
                    Pass::Climb => self.begin((self.rate * GROWTH).min(terms.most)),
                    Pass::Refine => self.finer(terms, saturation),
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
                self.missed = Some(self.rate);
                Turn::Drain
            }
        }
    }

    /// What follows once the queue is drained.
    pub(crate) fn resume(&mut self, terms: &Terms, saturation: Option<f64>) -> Turn {
        match self.pass {
            Pass::Climb => {
                self.pass = Pass::Refine;
                self.finer(terms, saturation)
            }
            Pass::Refine => Turn::Hold,
        }
    }

    /// The level at which to begin to hold, by the finer steps.
    pub(crate) fn level(&self, slos: &[Slo], saturation: Option<f64>) -> f64 {
        let kept = self.kept.unwrap_or(self.rate).ln();
        let levels = self.refined.iter().zip(slos).filter_map(|(samples, slo)| {
            let centre = samples.centre()?;
            let none = Samples::default();
            let elasticity = samples.elasticity(&none, centre, slo.share, saturation);
            samples.level(slo.share, elasticity)
        });
        let level = levels.fold(kept - BELOW, f64::min);
        level.max(kept - BELOW_MAX)
    }

    /// The next finer step above the last one that was kept, where there is room for one.
    fn finer(&mut self, terms: &Terms, saturation: Option<f64>) -> Turn {
        let kept = self.kept.unwrap_or(self.rate);
        let most = self.missed.map_or(terms.most, |missed| missed * APART);
        let next = match saturation {
            Some(rate) => {
                let mut parts = PARTS.into_iter().map(|part| part * rate);
                parts.find(|next| next * APART > kept)
            }
            None => Some(kept * FINE_GROWTH),
        };
        match next.filter(|next| *next <= most.min(terms.most)) {
            Some(next) => self.begin(next),
            None => Turn::Hold,
        }
    }

    fn begin(&mut self, rate: f64) -> Turn {
        self.step.iter_mut().for_each(Samples::clear);
        self.rate = rate;
        self.is_second = false;
        Turn::Rate(rate)
    }

    fn repeat(&mut self) -> Turn {
        let turn = self.begin(self.rate);
        self.is_second = true;
        turn
    }
}
