//! The search: its stages, and what each makes of an interval.
//!
//! ```text
//! climb ──missed──► drain ──► refine ──missed──► drain ──► hold ──► confirm ──► over
//!   │                                                       │ ▲        │  ▲
//!   └─ kept at the greatest, missed at the first: over      ▼ │        └──┘ missed, twice at most
//!                                                          drain (the target fell behind)
//! ```

use crate::answer::{Answer, Capacity, Confirmation};
use crate::bracket::{Bracket, Turn};
use crate::hold::Hold;
use crate::samples::{Sample, Samples};
use crate::saturation::Saturation;
use crate::{Observation, Terms};
use drumfire_units::Nanos;

/// What the driver of a run is to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Act {
    /// Go on at the same rate.
    Stay,
    /// Ask for this rate, per second, from the next possible time on.
    Rate(f64),
    /// End the run.
    End,
}

/// The stage of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The rate doubles from step to step.
    Climb,
    /// It grows by finer steps.
    Refine,
    /// A queue is drained, at a rate that is surely kept.
    Drain,
    /// The load is held where the share beyond is as large as allowed.
    Hold,
    /// A rate just below the estimate is held without control.
    Confirm,
    /// The answer is final.
    Over,
}

impl Stage {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Climb => "climb",
            Self::Refine => "refine",
            Self::Drain => "drain",
            Self::Hold => "hold",
            Self::Confirm => "confirm",
            Self::Over => "over",
        }
    }
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Its stage.
    pub stage: Stage,
    /// The rate that it asks for, per second.
    pub rate: f64,
    /// The share of the newest requests that are beyond an objective, of the objective that is
    /// nearest to being missed.
    pub share: f64,
    /// The share that this one allows.
    pub allowed: f64,
    /// The time that is left at least, as planned.
    pub left: Nanos,
}

/// A search.
#[derive(Clone, Debug)]
pub struct Search {
    terms: Terms,
    stage: Stage,
    rate: f64,
    saturation: Saturation,
    bracket: Bracket,
    hold: Hold,
    /// The samples of the hold and of confirmations, by objective.
    held: Vec<Samples>,
    /// The samples since the rate of a drain or of a confirmation began, by objective.
    steady: Vec<Samples>,
    /// The requests of each objective that were overdue at the end of the last interval.
    overdue: Vec<f64>,
    /// The seconds of the hold in all, and of the stage under way.
    held_seconds: f64,
    stage_seconds: f64,
    /// The intervals in a row in which the target fell behind, and how often it did in a hold.
    behind: u32,
    setbacks: u32,
    confirmation: Option<Confirmation>,
    /// The seconds in a row, and in all, whose figures were the generator's own.
    unsound: f64,
    unsound_all: f64,
    outcome: Option<Answer>,
}

/// The estimate of a capacity.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    /// The objective, by its place.
    slo: usize,
    /// The logarithm of the rate.
    level: f64,
    /// The elasticity of the share beyond the objective there.
    elasticity: f64,
}

/// The rounds in which an estimate and its elasticity are found.
const ROUNDS: usize = 6;
/// The seconds at the beginning of a hold that are no samples: the queue finds its equilibrium.
const SETTLE: f64 = 20.0;
/// The part of a short hold that this may be.
const SETTLE_PART: f64 = 1.0 / 6.0;
/// The rate of a drain as a part of the last one that was kept.
const DRAIN: f64 = 0.7;
/// The longest drain, and the shortest, in seconds.
const DRAIN_MAX: f64 = 20.0;
const DRAIN_MIN: f64 = 1.5;
/// The confirmation's rate as a part of the estimate.
const CONFIRM: f64 = 0.97;
/// The confirmations that are made at most.
const CONFIRMATIONS: u32 = 3;
/// A queue of requests that were due so long ago…
const BEHIND: Nanos = Nanos::from_secs(1);
/// …as large as this part of a second's, in so many intervals in a row, is a target that fell behind.
const BEHIND_PART: f64 = 0.5;
const BEHIND_MAX: u32 = 2;
/// The fall of the level then, below what the target ends.
const SETBACK: f64 = 0.1;
/// The times that a hold is begun anew.
const SETBACKS: u32 = 2;
/// The parts of which the jackknife leaves out one, and the factor of its error: t with 7 degrees of
/// freedom is 1.9 at 90 %, and errors of shares are skewed.
const PARTS: usize = 8;
const ERRORS: f64 = 2.2;
/// An elasticity may be off by this factor.
const ELASTICITY_OFF: f64 = 0.6;
/// The seconds in a row for which the figures may be the generator's own.
const PATIENCE: f64 = 10.0;
/// How much of the newest samples the progress shows, in seconds.
const SHOWN: f64 = 10.0;

impl Search {
    /// A search that begins with the first rate of its terms.
    #[must_use]
    pub fn new(terms: Terms) -> Self {
        let none = vec![Samples::default(); terms.slos.len()];
        Self {
            stage: Stage::Climb,
            rate: terms.from,
            saturation: Saturation::default(),
            bracket: Bracket::of(&terms),
            hold: Hold::at(terms.from.ln(), terms.slos.len()),
            held: none.clone(),
            overdue: vec![0.0; terms.slos.len()],
            steady: none,
            held_seconds: 0.0,
            stage_seconds: 0.0,
            behind: 0,
            setbacks: 0,
            confirmation: None,
            unsound: 0.0,
            unsound_all: 0.0,
            outcome: None,
            terms,
        }
    }

    /// The terms.
    #[must_use]
    pub const fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Takes the next interval, and gives what follows.
    pub fn observe(&mut self, seen: &Observation) -> Act {
        let samples = self.samples(seen);
        let seconds = seen.span.as_secs_f64();
        if self.stage == Stage::Over {
            return Act::End;
        }
        if !seen.is_sound {
            return self.mistrust(seconds);
        }
        self.unsound = 0.0;
        self.stage_seconds += seconds;
        match self.stage {
            Stage::Climb | Stage::Refine => {
                // The first interval has a part at the rate before.
                if self.stage_seconds > 1.5 * seconds {
                    self.saturation.observe(seen);
                }
                let rate = self.saturation.rate();
                let turn = self.bracket.observe(&samples, &self.terms, rate);
                self.follow(turn)
            }
            Stage::Drain => self.drain(&samples),
            Stage::Hold => self.control(seen, &samples),
            Stage::Confirm => self.confirm(seen, &samples),
            Stage::Over => Act::End,
        }
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let newest = match self.stage {
            Stage::Climb | Stage::Refine => self.bracket.step(),
            Stage::Drain | Stage::Confirm => &self.steady,
            Stage::Hold | Stage::Over => &self.held,
        };
        // Of several that are alike, the first.
        let shares = newest.iter().zip(&self.terms.slos).rev();
        let shares = shares.map(|(samples, slo)| (samples.share_of_last(SHOWN), slo.share));
        let worst = shares.max_by(|one, other| (one.0 / one.1).total_cmp(&(other.0 / other.1)));
        let (share, allowed) = worst.unwrap_or_default();
        let Terms { hold, confirm, .. } = self.terms;
        let held = (hold.as_secs_f64() - self.held_seconds).max(0.0);
        let left = match self.stage {
            Stage::Over => 0.0,
            Stage::Confirm => confirm.as_secs_f64() - self.stage_seconds,
            _ => held + confirm.as_secs_f64(),
        };
        Progress {
            stage: self.stage,
            rate: self.rate,
            share,
            allowed,
            left: Nanos((left.max(0.0) * 1e9) as u64),
        }
    }

    /// The answer, or what is known so far where it is not over.
    #[must_use]
    pub fn answer(&self) -> Answer {
        if let Some(outcome) = &self.outcome {
            return outcome.clone();
        }
        self.capacity().map_or(
            Answer::Open {
                kept: self.bracket.kept,
                missed: self.bracket.missed,
            },
            Answer::Found,
        )
    }

    /// The interval's requests by objective, with those that have crossed its bound and not ended.
    fn samples(&mut self, seen: &Observation) -> Vec<Sample> {
        let each = seen.tallies.iter().zip(&self.terms.slos);
        let each = each.zip(&mut self.overdue);
        each.map(|((tally, slo), overdue)| {
            let now = slo.response.map_or(0.0, |bound| seen.overdue(bound));
            let crossed = now - std::mem::replace(overdue, now);
            let beyond = (tally.beyond as f64 + crossed).max(0.0);
            Sample {
                seconds: seen.span.as_secs_f64(),
                level: seen.rate.max(f64::MIN_POSITIVE).ln(),
                beyond,
                near: beyond.max(tally.near as f64),
                of: beyond.max(tally.of as f64),
            }
        })
        .collect()
    }

    /// Leaves out an interval that says more of the generator than of the target. Where there are
    /// too many, there is no answer.
    fn mistrust(&mut self, seconds: f64) -> Act {
        self.unsound += seconds;
        self.unsound_all += seconds;
        let hold = self.terms.hold.as_secs_f64();
        if self.unsound + 1e-6 < PATIENCE && self.unsound_all < hold {
            return Act::Stay;
        }
        // What was held is known, whatever came behind it.
        let held = self.capacity().filter(|_| self.stage == Stage::Confirm);
        self.end(held.map_or(
            Answer::Generator {
                rate: self.rate,
                kept: self.bracket.kept,
            },
            Answer::Found,
        ))
    }

    fn follow(&mut self, turn: Turn) -> Act {
        match turn {
            Turn::Stay => Act::Stay,
            Turn::Rate(rate) => {
                let stage = match self.bracket.is_fine() {
                    true => Stage::Refine,
                    false => Stage::Climb,
                };
                self.begin(stage, rate)
            }
            Turn::Drain => {
                let kept = self.bracket.kept.unwrap_or(self.rate);
                self.begin(Stage::Drain, DRAIN * kept)
            }
            Turn::Below => self.end(Answer::Below(self.rate)),
            Turn::Above => self.end(Answer::Above(self.rate)),
            Turn::Hold => {
                let level = self.bracket.level(&self.terms.slos, self.saturation.rate());
                self.hold_at(level)
            }
        }
    }

    fn drain(&mut self, samples: &[Sample]) -> Act {
        self.keep_steady(samples);
        let is_drained = self.overdue.iter().all(|overdue| *overdue <= 0.0)
            && samples.iter().all(|sample| sample.beyond < 0.5 * sample.of);
        let (least, most) = (DRAIN_MIN, DRAIN_MAX);
        if self.stage_seconds < least || (!is_drained && self.stage_seconds < most) {
            return Act::Stay;
        }
        // A confirmation that was interrupted goes on at a lower rate, and so does a hold.
        if self.confirmation.is_some() {
            let rate = self.hold.level().exp();
            return self.begin(Stage::Confirm, rate);
        }
        if self.setbacks > 0 {
            return self.hold_at(self.hold.level());
        }
        let turn = self.bracket.resume(&self.terms, self.saturation.rate());
        self.follow(turn)
    }

    fn control(&mut self, seen: &Observation, samples: &[Sample]) -> Act {
        let seconds = seen.span.as_secs_f64();
        self.held_seconds += seconds;
        if self.falls_behind(seen) {
            return self.set_back(seen);
        }
        let hold = self.terms.hold.as_secs_f64();
        if self.hold.seconds >= SETTLE.min(hold * SETTLE_PART) {
            for (held, sample) in self.held.iter_mut().zip(samples) {
                held.push(*sample);
            }
        }
        if self.held_seconds + 1e-6 >= hold {
            return self.begin_confirmation();
        }
        let elasticities: Vec<f64> = (0..self.held.len())
            .map(|slo| {
                let known = self.estimate_of(slo).map(|estimate| estimate.elasticity);
                known.unwrap_or_else(|| self.elasticity(slo, self.hold.level()))
            })
            .collect();
        self.hold.observe(samples, &self.terms.slos, &elasticities);
        let is_known = self.held[0].seconds() >= SHOWN;
        let estimate = self.estimate().filter(|_| is_known);
        let level = estimate.map(|estimate| estimate.level);
        self.hold.keep_near(level, seconds, self.terms.most.ln());
        self.rate = self.hold.level().exp();
        Act::Rate(self.rate)
    }

    /// Begins the hold anew below what the target ends now: it is another one than it was, and so
    /// are its samples. A target that falls behind again and again gets no more time.
    fn set_back(&mut self, seen: &Observation) -> Act {
        self.setbacks += 1;
        if self.setbacks <= SETBACKS {
            self.held.iter_mut().for_each(Samples::clear);
            self.held_seconds = 0.0;
            self.saturation = Saturation::default();
            self.saturation.observe(seen);
        }
        let ended = seen.ended as f64 / seen.span.as_secs_f64();
        let rate = self.rate.min(ended.max(1.0));
        self.hold = Hold::at(rate.ln() - SETBACK, self.terms.slos.len());
        self.begin(Stage::Drain, DRAIN * rate)
    }

    /// Whether the target has fallen behind by now.
    fn falls_behind(&mut self, seen: &Observation) -> bool {
        let is_behind = seen.overdue(BEHIND) > BEHIND_PART * seen.rate;
        self.behind = if is_behind { self.behind + 1 } else { 0 };
        let is_shown = self.behind >= BEHIND_MAX;
        if is_shown {
            self.behind = 0;
        }
        is_shown
    }

    fn confirm(&mut self, seen: &Observation, samples: &[Sample]) -> Act {
        self.keep_steady(samples);
        let is_behind = self.falls_behind(seen);
        for (held, sample) in self.held.iter_mut().zip(samples) {
            held.push(*sample);
        }
        if !is_behind && self.stage_seconds + 1e-6 < self.terms.confirm.as_secs_f64() {
            return Act::Stay;
        }
        let shares: Vec<f64> = self.steady.iter().map(Samples::share).collect();
        let mut each = shares.iter().zip(&self.terms.slos);
        let is_kept = !is_behind && each.all(|(share, slo)| *share <= slo.share);
        let made = self.confirmation.as_ref().map_or(0, |before| before.made) + 1;
        self.confirmation = Some(Confirmation {
            rate: self.rate,
            shares,
            is_kept,
            made,
        });
        if !is_kept && made < CONFIRMATIONS {
            if !is_behind {
                return self.begin_confirmation();
            }
            // A queue that grows to the end is in no equilibrium.
            let before = self.held[0].len() - self.steady[0].len();
            self.held.iter_mut().for_each(|held| held.truncate(before));
            self.hold = Hold::at(self.rate.ln() - SETBACK, self.terms.slos.len());
            return self.begin(Stage::Drain, DRAIN * self.rate);
        }
        let answer = self.answer();
        self.end(answer)
    }

    fn hold_at(&mut self, level: f64) -> Act {
        self.hold = Hold::at(level, self.terms.slos.len());
        self.hold.keep_near(None, 0.0, self.terms.most.ln());
        let rate = self.hold.level().exp();
        self.begin(Stage::Hold, rate)
    }

    fn begin_confirmation(&mut self) -> Act {
        let estimate = self.estimate();
        let level = estimate.map_or_else(|| self.hold.level(), |it| it.level);
        // What was never tried is not confirmed: the model ends where the samples do.
        let top = self.held.iter().filter_map(Samples::top);
        let level = top.fold(level, f64::min);
        let rate = CONFIRM * level.exp().min(self.terms.most);
        self.begin(Stage::Confirm, rate)
    }

    fn begin(&mut self, stage: Stage, rate: f64) -> Act {
        self.stage = stage;
        self.stage_seconds = 0.0;
        self.steady.iter_mut().for_each(Samples::clear);
        self.rate = rate;
        Act::Rate(rate)
    }

    fn end(&mut self, answer: Answer) -> Act {
        self.stage = Stage::Over;
        self.outcome = Some(answer);
        Act::End
    }

    fn keep_steady(&mut self, samples: &[Sample]) {
        for (steady, sample) in self.steady.iter_mut().zip(samples) {
            steady.push(*sample);
        }
    }

    /// The elasticity of an objective's share at a level.
    fn elasticity(&self, slo: usize, level: f64) -> f64 {
        let (before, allowed) = (&self.bracket.refined()[slo], self.terms.slos[slo].share);
        self.held[slo].elasticity(before, level, allowed, self.saturation.rate())
    }

    /// The capacity of one objective by the samples so far, and the elasticity there.
    ///
    /// The elasticity is that at the capacity, which depends on it. It is found from above: far
    /// below, the share hardly depends on the rate, and any level explains that none is beyond.
    fn estimate_of(&self, slo: usize) -> Option<Estimate> {
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
    fn estimate(&self) -> Option<Estimate> {
        let each = (0..self.held.len()).filter_map(|slo| self.estimate_of(slo));
        each.min_by(|one, other| one.level.total_cmp(&other.level))
    }

    /// A level that is not above that at which the target is saturated. One that does less when it
    /// is overloaded than it has done before is not bounded by that.
    fn possible(&self, level: f64) -> f64 {
        let tops = self.held.iter().filter_map(Samples::top);
        let tried = tops.fold(f64::NEG_INFINITY, f64::max);
        match self.saturation.rate() {
            Some(rate) if rate.ln() > tried => level.min(rate.ln()),
            _ => level,
        }
    }

    /// The capacity by the samples so far; `None` where they are too few for an interval.
    fn capacity(&self) -> Option<Capacity> {
        let Estimate {
            slo,
            level,
            elasticity,
        } = self.estimate()?;
        let (held, allowed) = (&self.held[slo], self.terms.slos[slo].share);
        let error = ERRORS * held.error(allowed, elasticity, PARTS)?;
        let off = [ELASTICITY_OFF, 1.0 / ELASTICITY_OFF].map(|factor| {
            let other = held.level(allowed, elasticity * factor);
            other.map_or(0.0, |other| (other - level).abs())
        });
        let half = error + off[0].max(off[1]);
        Some(Capacity {
            rate: level.exp(),
            low: (level - half).exp(),
            high: (level + half).exp(),
            slo,
            held: self.held_seconds,
            confirmation: self.confirmation.clone(),
        })
    }
}
