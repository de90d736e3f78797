//! The search: its stages, and how each processes an interval.
//!
//! ```text
//! climb ──missed──► drain ──► refine ──missed──► drain ──► hold ──► confirm ──► over
//!   │                                                       │ ▲        │  ▲
//!   │                                                       ▼ │        └──┘ not proven, twice at most
//!   │                                                      drain (the target fell behind)
//!   ├─ missed at the first: over
//!   └─ kept at the maximum: confirm ──► over
//! ```
//!
//! A hold begins again at most twice. Before each hold and each confirmation, the search checks
//! whether the maximum time leaves enough for it, and otherwise ends with the reason.

use crate::answer::{Answer, Capacity, Confirmation, Trend, Why};
use crate::bracket::{Bracket, Turn};
use crate::confirm::{Need, Proof, Trial};
use crate::drain::{DrainState, Drained};
use crate::estimate::Known;
use crate::hold::HeldRate;
use crate::medians;
use crate::samples::{IntervalSample, ObjectiveSamples};
use crate::{Observation, Terms};
use drumfire_units::Nanos;

/// The next action of the run's driver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Act {
    /// Keep the rate.
    Stay,
    /// Set this rate, per second, as soon as possible.
    Rate(f64),
    /// End the run.
    End,
}

/// The stage of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The rate doubles from step to step.
    Climb,
    /// The rate grows by finer steps.
    Refine,
    /// A queue is drained at a rate that is certainly kept.
    Drain,
    /// The load is held at which the share beyond is as large as allowed.
    Hold,
    /// A constant rate below the estimate is held.
    Confirm,
    /// The answer is final.
    Over,
}

impl Stage {
    /// The name of the stage.
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

/// The progress of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The current stage.
    pub stage: Stage,
    /// The requested rate, per second.
    pub rate: f64,
    /// The share of the newest requests beyond an objective, for the objective that is closest to
    /// being missed.
    pub share: f64,
    /// The allowed share of that objective.
    pub allowed: f64,
    /// The planned remaining time.
    pub left: Nanos,
}

/// A search.
#[derive(Clone, Debug)]
pub struct Search {
    terms: Terms,
    stage: Stage,
    rate: f64,
    /// The highest rate so far.
    highest: f64,
    bracket: Bracket,
    hold: HeldRate,
    /// The bracket before a repeated climb, and the rate at which the repeated climb began.
    before: Option<(Bracket, f64)>,
    drain: Option<DrainState>,
    trial: Option<Trial>,
    /// The samples of the hold and of the confirmations, by objective, and the number of samples of
    /// the hold.
    held: Vec<ObjectiveSamples>,
    held_count: usize,
    /// The overdue requests of each objective at the end of the last interval, and the number that
    /// became overdue in it.
    overdue: Vec<f64>,
    crossed: Vec<f64>,
    outstanding: f64,
    /// The seconds of the current hold, and of the search.
    held_seconds: f64,
    seconds: f64,
    /// The number of consecutive intervals in which the target fell behind, and of restarted holds.
    behind: u32,
    restarts: u32,
    /// The confirmations so far.
    tried: Vec<Confirmation>,
    /// The seconds whose figures do not describe the target: consecutive ones, and the total.
    unsound: f64,
    unsound_all: f64,
    outcome: Option<Answer>,
}

/// The seconds at the beginning of a hold that are not samples: the queue is reaching its
/// equilibrium.
const SETTLE: f64 = 20.0;
/// The maximum fraction of a short hold that these seconds take.
const SETTLE_PART: f64 = 1.0 / 6.0;
/// The maximum rate of a confirmation as a fraction of the estimate, and its distance below the
/// interval, as a fraction of the interval's lower half.
const CONFIRM: f64 = 0.97;
const CONFIRM_BELOW: f64 = 0.5;
/// The maximum number of confirmations, and the factor of the next rate: after a rate that was not
/// proven, after a missed rate, and after a rate that was missed by far.
const CONFIRMATIONS: usize = 3;
const LOWER: f64 = 0.9;
const LOWER_MISSED: f64 = 0.8;
const LOWER_FAR: f64 = 0.5;
/// A share beyond that exceeds the allowed share by this factor is missed by far.
const FAR: f64 = 3.0;
/// A share is independent of the rate if it grows with a power below `SAME`, between rates that
/// differ by more than the factor `APART`.
const SAME: f64 = 1.0;
const APART: f64 = 1.8;
/// If no rate keeps an objective, all requests beyond must exceed the allowed number by this many
/// standard errors.
const MISSED_ERRORS: f64 = 1.3;
/// A bound of response times longer than this fraction of a confirmation is crossed too late for
/// the confirmation to show it.
const BOUND_PART: f64 = 0.02;
/// A target falls behind if its outstanding requests exceed the load of `BEHIND` seconds, of
/// `BEHIND_BOUNDS` bounds and of `BEHIND_STAYS` usual stays, in `BEHIND_MAX` consecutive intervals.
const BEHIND: f64 = 1.5;
const BEHIND_BOUNDS: f64 = 2.0;
const BEHIND_STAYS: f64 = 3.0;
const BEHIND_MAX: u32 = 2;
/// The distance of the restarted hold below the target's throughput, as a logarithm.
const SETBACK: f64 = 0.1;
/// The maximum number of restarts of a hold.
const RESTARTS: u32 = 2;
/// The climb is repeated if a hold has risen by `RISE` because no request came near the bound, or
/// if none came near it in the last `QUIET` seconds and the last `QUIET_PART` of a completed hold.
const RISE: f64 = 0.15;
const QUIET: f64 = 30.0;
const QUIET_PART: f64 = 1.0 / 3.0;
/// The minimum rise that counts as a trend.
const RISING: f64 = 0.05;
/// The maximum number of consecutive seconds in which the figures need not describe the target.
const PATIENCE: f64 = 10.0;
/// The seconds of the newest samples that the progress shows.
const SHOWN: f64 = 10.0;

impl Search {
    /// Creates a search that begins with the first rate of its terms.
    #[must_use]
    pub fn new(terms: Terms) -> Self {
        Self {
            stage: Stage::Climb,
            rate: terms.from,
            highest: terms.from,
            bracket: Bracket::new(&terms),
            hold: HeldRate::new(terms.from.ln(), terms.slos.len()),
            before: None,
            drain: None,
            trial: None,
            held: vec![ObjectiveSamples::default(); terms.slos.len()],
            held_count: 0,
            overdue: vec![0.0; terms.slos.len()],
            crossed: vec![0.0; terms.slos.len()],
            outstanding: 0.0,
            held_seconds: 0.0,
            seconds: 0.0,
            behind: 0,
            restarts: 0,
            tried: Vec::new(),
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

    /// Processes the next interval, and returns the next act.
    pub fn observe(&mut self, seen: &Observation) -> Act {
        let samples = self.samples(seen);
        let seconds = seen.span.as_secs_f64();
        if self.stage == Stage::Over {
            return Act::End;
        }
        self.seconds += seconds;
        if self.left() < 0.0 {
            let announced = self.terms.announced().as_secs_f64();
            return self.end_without(Why::Time { announced });
        }
        if !seen.is_sound {
            return self.mistrust(seconds);
        }
        self.unsound = 0.0;
        self.outstanding = seen.outstanding as f64;
        match self.stage {
            Stage::Climb | Stage::Refine => {
                let turn = self.bracket.observe(seen, &samples, &self.terms);
                self.follow(turn)
            }
            Stage::Drain => self.recover(seen, &samples),
            Stage::Hold => self.control(seen, &samples),
            Stage::Confirm => self.confirm(seen, &samples),
            Stage::Over => Act::End,
        }
    }

    /// The progress of the search.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let newest = match (self.stage, &self.drain, &self.trial) {
            (Stage::Climb | Stage::Refine, ..) => self.bracket.step(),
            (Stage::Drain, Some(drain), _) => &drain.samples,
            (Stage::Confirm, _, Some(trial)) => &trial.samples,
            _ => &self.held,
        };
        // If several objectives are equally close, the first one counts.
        let shares = newest.iter().zip(&self.terms.slos).rev();
        let shares = shares.map(|(samples, slo)| {
            let (beyond, of) = samples.newest(SHOWN);
            (beyond / f64::max(of, 1.0), slo.share)
        });
        let worst = shares.max_by(|one, other| (one.0 / one.1).total_cmp(&(other.0 / other.1)));
        let (share, allowed) = worst.unwrap_or_default();
        Progress {
            stage: self.stage,
            rate: self.rate,
            share,
            allowed,
            left: Nanos((self.planned().max(0.0) * 1e9) as u64),
        }
    }

    /// The planned remaining seconds.
    fn planned(&self) -> f64 {
        let Terms { hold, confirm, .. } = self.terms;
        let held = (hold.as_secs_f64() - self.held_seconds).max(0.0);
        let rest = held + confirm.as_secs_f64();
        match (self.stage, &self.trial) {
            (Stage::Over, _) => 0.0,
            (Stage::Confirm, Some(trial)) => trial.planned - trial.seconds,
            (Stage::Climb | Stage::Refine, _) => {
                let announced = self.terms.announced().as_secs_f64();
                rest.max(announced - self.seconds)
            }
            _ => rest,
        }
    }

    /// The answer, or the knowledge so far if the search is not over.
    #[must_use]
    pub fn answer(&self) -> Answer {
        if let Some(outcome) = &self.outcome {
            return outcome.clone();
        }
        match self.capacity(None) {
            Some(capacity) => Answer::Found(capacity),
            None => self.unknown(Why::Ended),
        }
    }

    fn unknown(&self, why: Why) -> Answer {
        Answer::Unknown {
            why,
            kept: self.bracket.kept,
            missed: self.bracket.missed,
        }
    }

    /// The seconds until the maximum time.
    fn left(&self) -> f64 {
        self.terms.latest().as_secs_f64() - self.seconds
    }

    /// The interval's requests by objective: those that ended, and those that crossed the bound
    /// without an answer.
    fn samples(&mut self, seen: &Observation) -> Vec<IntervalSample> {
        if !seen.is_sound {
            self.forgive();
        }
        let each = seen.tallies.iter().zip(&mut self.overdue);
        let each = each.zip(&mut self.crossed);
        each.map(|((tally, overdue), kept)| {
            let now = tally.overdue as f64;
            let crossed = now - std::mem::replace(overdue, now);
            *kept = if seen.is_sound { crossed.max(0.0) } else { 0.0 };
            let beyond = (tally.beyond as f64 + crossed).max(0.0);
            IntervalSample {
                seconds: seen.span.as_secs_f64(),
                level: seen.rate.max(f64::MIN_POSITIVE).ln(),
                beyond,
                near: (tally.near as f64 + crossed).max(beyond),
                of: (tally.of as f64 + crossed).max(beyond),
            }
        })
        .collect()
    }

    /// Removes the requests that became overdue in the last interval: if the generator stood still
    /// then, that is known only now.
    fn forgive(&mut self) {
        for (slo, crossed) in self.crossed.iter_mut().map(std::mem::take).enumerate() {
            match (self.stage, &mut self.drain, &mut self.trial) {
                (Stage::Climb | Stage::Refine, ..) => self.bracket.forgive(slo, crossed),
                (Stage::Drain, Some(drain), _) => drain.samples[slo].forgive(crossed),
                (Stage::Confirm, _, Some(trial)) => trial.samples[slo].forgive(crossed),
                _ => {
                    let allowed = self.terms.slos[slo].share;
                    self.hold.forgive(slo, crossed / self.rate / allowed);
                    self.held[slo].forgive(crossed);
                }
            }
        }
    }

    /// Skips an interval that does not describe the target. After too many such intervals, the
    /// search ends without an answer.
    fn mistrust(&mut self, seconds: f64) -> Act {
        self.unsound += seconds;
        self.unsound_all += seconds;
        let hold = self.terms.hold.as_secs_f64();
        if self.unsound + 1e-6 < PATIENCE && self.unsound_all < hold {
            return Act::Stay;
        }
        // During a confirmation, the result of the hold is already known.
        let held = self.capacity(None).filter(|_| self.stage == Stage::Confirm);
        self.finish(held.map_or(
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
                self.start_stage(stage, rate)
            }
            Turn::Drain => {
                let kept = self.bracket.kept.unwrap_or(self.rate);
                self.begin_drain(kept)
            }
            Turn::Below => self.finish(Answer::Below(self.rate)),
            Turn::Above => self.begin_confirmation_of_most(),
            Turn::Hold => {
                let level = self.bracket.level(&self.terms.slos);
                self.hold_at(level)
            }
        }
    }

    fn begin_drain(&mut self, kept: f64) -> Act {
        let drain = DrainState::new(self.held.len(), kept, self.outstanding, self.bracket.stay);
        let rate = drain.rate;
        self.drain = Some(drain);
        self.start_stage(Stage::Drain, rate)
    }

    fn recover(&mut self, seen: &Observation, samples: &[IntervalSample]) -> Act {
        let Some(drain) = &mut self.drain else {
            return Act::Stay;
        };
        match drain.observe(seen, samples, &self.terms.slos) {
            Drained::Stay => Act::Stay,
            Drained::Rate(rate) => self.start_stage(Stage::Drain, rate),
            Drained::Never(share) => self.end_without(Why::NotRecovered {
                overload: self.highest,
                rate: self.rate,
                share,
            }),
            Drained::Over if !self.tried.is_empty() => {
                let rate = self.hold.level().exp();
                self.begin_confirmation_at(rate)
            }
            Drained::Over if self.before.is_none() && self.restarts > 0 => {
                // The target has changed.
                if drain.saturation.rate().is_some() {
                    self.bracket.saturation = drain.saturation;
                }
                self.hold_at(self.hold.level())
            }
            Drained::Over => {
                let saturation = drain.saturation;
                if let Some((before, rate)) = self.before.take() {
                    if self.bracket.kept <= Some(rate) {
                        return self.go_back(before);
                    }
                    self.restart();
                }
                let turn = self
                    .bracket
                    .resume(self.outstanding, saturation, &self.terms);
                self.follow(turn)
            }
        }
    }

    fn control(&mut self, seen: &Observation, samples: &[IntervalSample]) -> Act {
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
        let is_over = self.held_seconds + 1e-6 >= hold;
        if self.is_too_low(is_over) && self.has_time_to_restart() {
            let (again, turn) = self.bracket.again(self.rate, self.outstanding, &self.terms);
            self.before = Some((std::mem::replace(&mut self.bracket, again), self.rate));
            return self.follow(turn);
        }
        if is_over {
            return self.end_hold();
        }
        let known = self.known();
        let elasticities: Vec<f64> = (0..self.held.len())
            .map(|slo| match known.estimate_for(slo) {
                Some(estimate) => estimate.elasticity,
                None => known.elasticity(slo, self.hold.level()),
            })
            .collect();
        let estimate = known.estimate().filter(|_| self.held[0].seconds() >= SHOWN);
        let level = estimate.map(|estimate| estimate.level);
        self.hold.observe(samples, &self.terms.slos, &elasticities);
        self.hold.keep_near(level, seconds, self.terms.most.ln());
        self.rate = self.hold.level().exp();
        Act::Rate(self.rate)
    }

    /// Whether no request came near a bound although the hold has risen far or is complete.
    fn is_too_low(&self, is_over: bool) -> bool {
        let quiet = QUIET.max(QUIET_PART * self.terms.hold.as_secs_f64());
        let is_quiet = self.hold.quiet >= quiet;
        let is_most = self.rate * (1.0 + 1e-6) >= self.terms.most;
        !is_most && (self.hold.rise() > Some(RISE) || is_quiet && is_over)
    }

    /// Continues the hold that was interrupted by a repeated climb, after the climb's first step
    /// was missed: the target has not changed.
    fn go_back(&mut self, before: Bracket) -> Act {
        let missed = self.bracket.missed;
        self.bracket = before;
        self.bracket.missed = missed;
        if self.held_seconds + 1e-6 >= self.terms.hold.as_secs_f64() {
            return self.end_hold();
        }
        self.hold.disturb();
        self.start_stage(Stage::Hold, self.hold.level().exp())
    }

    /// Whether the hold may restart.
    fn has_time_to_restart(&self) -> bool {
        let Terms { hold, confirm, .. } = self.terms;
        let needed = hold.as_secs_f64() + confirm.as_secs_f64();
        self.restarts < RESTARTS && self.left() >= needed
    }

    /// Discards the samples of the hold, because the target has changed.
    fn restart(&mut self) {
        self.restarts += 1;
        self.held.iter_mut().for_each(ObjectiveSamples::clear);
        self.held_seconds = 0.0;
    }

    /// Restarts the hold below the target's current throughput. A target that repeatedly falls
    /// behind has no load that can be held.
    fn set_back(&mut self, seen: &Observation) -> Act {
        if !self.has_time_to_restart() {
            let rate = self.rate;
            return self.end_without(Why::Behind { rate });
        }
        self.restart();
        let ended = seen.ended as f64 / seen.span.as_secs_f64();
        let rate = self.rate.min(ended.max(0.1 * self.rate));
        self.hold = HeldRate::new(rate.ln() - SETBACK, self.terms.slos.len());
        self.begin_drain(rate)
    }

    /// Whether the target has fallen behind.
    fn falls_behind(&mut self, seen: &Observation) -> bool {
        let bounds = BEHIND_BOUNDS * self.terms.bound().unwrap_or(0.0);
        let most = BEHIND.max(bounds).max(BEHIND_STAYS * self.bracket.stay);
        let is_behind = seen.outstanding as f64 > most * seen.rate + 1.0;
        self.behind = if is_behind { self.behind + 1 } else { 0 };
        let is_shown = self.behind >= BEHIND_MAX;
        if is_shown {
            self.behind = 0;
        }
        is_shown
    }

    fn end_hold(&mut self) -> Act {
        self.held_count = self.held[0].len();
        let centre = self.held[0].centre().map_or(self.rate, f64::exp);
        let rate = self.confirmed_rate().max(LOWER_FAR * centre);
        self.begin_confirmation_at(rate)
    }

    /// The held rates since the hold, with the share beyond an objective at each.
    fn tried_at(&self, slo: usize) -> Vec<(f64, f64)> {
        let hold = self.held[slo].first(self.held_count);
        let held = hold.centre().map(|level| (level.exp(), hold.share()));
        let tried = self.tried.iter().map(|it| (it.rate, it.shares[slo]));
        held.into_iter().chain(tried).collect()
    }

    /// The levels of the capacity at the beginning and at the end of the hold, if the capacity
    /// changed in between.
    fn levels(&self) -> Option<(f64, f64)> {
        let level = self.hold.level();
        let rise = self.hold.rise().filter(|rise| *rise > RISING);
        let rising = rise.map(|rise| (level - rise, level));
        rising.or_else(|| self.known().trend(self.held_count))
    }

    /// How the target changed during the search. The medians take precedence, because the rate
    /// explains their change least.
    fn trend(&self) -> Option<Trend> {
        let trial = self.trial.as_ref();
        let medians = trial
            .and_then(|trial| medians::trend(&self.bracket.medians, trial.rate, &trial.medians));
        medians.or_else(|| {
            let (from, to) = self.levels()?;
            let (from, to) = (from.exp(), to.exp());
            Some(Trend::Capacity { from, to })
        })
    }

    /// The rate of the next confirmation: below the interval of the capacity, and not above the
    /// held rates.
    fn confirmed_rate(&self) -> f64 {
        let Some(range) = self.known().range() else {
            return CONFIRM * self.rate;
        };
        let below = range.low - CONFIRM_BELOW * (range.level - range.low);
        let mut level = (range.level + CONFIRM.ln()).min(below);
        // A level above the tried ones is not confirmed: the model is valid only within the
        // samples.
        let top = self.held.iter().filter_map(ObjectiveSamples::top);
        level = top.fold(level, |level, top| level.min(top + CONFIRM.ln()));
        // A target with a lower throughput under overload does not recover from a burst above that
        // throughput.
        if let Some(saturation) = self.bracket.saturation.rate() {
            level = level.min(saturation.ln());
        }
        // A target that becomes slower is even slower at the end of the confirmation.
        let confirm = self.terms.confirm.as_secs_f64();
        if let Some((from, to)) = self.levels()
            && to < from
        {
            level = level.min(to + CONFIRM.ln() - (from - to) * confirm / self.held_seconds);
        }
        // A queue that grows slowly does not reach a long bound during the confirmation.
        let is_slow = self
            .terms
            .bound()
            .is_none_or(|bound| bound > BOUND_PART * confirm);
        if let Some((low, _)) = self.bracket.saturation.bounds().filter(|_| is_slow) {
            level = level.min(low.ln());
        }
        level.exp().min(self.terms.most)
    }

    fn begin_confirmation_of_most(&mut self) -> Act {
        let act = self.begin_confirmation_at(self.terms.most);
        if let Some(trial) = &mut self.trial {
            trial.is_of_most = true;
        }
        act
    }

    /// Begins a confirmation, if there is time for it.
    fn begin_confirmation_at(&mut self, rate: f64) -> Act {
        let mut need = Need::compute(&self.terms, &self.held, rate, self.bracket.stay);
        // If the time does not suffice for a proof, a confirmation may still show a miss.
        let left = self.left() - 1.0;
        let is_worth_it = self.is_far(&self.held) && left > self.terms.confirm.as_secs_f64();
        let is_short = need.seconds > left;
        let short = is_short.then_some(Why::TooShort {
            slo: need.slo,
            rate,
            requests: need.requests,
            gap: need.gap,
            seconds: need.seconds,
        });
        match &short {
            Some(_) if is_worth_it => need.seconds = left,
            Some(_) if !self.tried.is_empty() => return self.end_after_confirmations(),
            Some(why) => return self.end_unconfirmed(why.clone()),
            None => {}
        }
        let mut trial = Trial::new(&self.terms, rate, need.seconds, self.bracket.stay);
        trial.short = short;
        self.trial = Some(trial);
        self.start_stage(Stage::Confirm, rate)
    }

    fn confirm(&mut self, seen: &Observation, samples: &[IntervalSample]) -> Act {
        let is_behind = self.falls_behind(seen);
        let left = self.left();
        let Some(trial) = &mut self.trial else {
            return Act::Stay;
        };
        trial.observe(seen, samples);
        let proof = match trial.judge(&self.terms.slos) {
            _ if is_behind => Proof::Missed,
            Proof::Longer(seconds) if seconds as f64 - trial.seconds < left => {
                trial.planned = seconds as f64;
                return Act::Stay;
            }
            Proof::Longer(_) => Proof::Unproven,
            Proof::Kept if trial.short.is_some() => Proof::Unproven,
            proof => proof,
        };
        if proof == Proof::Open {
            return Act::Stay;
        }
        let is_of_most = trial.is_of_most;
        let confirmation = Confirmation {
            rate: trial.rate,
            shares: trial.shares(),
            requests: trial.requests(),
            is_kept: proof == Proof::Kept,
            made: self.tried.len() as u32 + 1,
        };
        match (is_of_most, proof) {
            (true, Proof::Kept) => self.finish(Answer::Above(self.rate)),
            (true, _) => {
                self.bracket.miss(self.rate);
                let kept = self.bracket.kept.unwrap_or(0.5 * self.rate);
                self.begin_drain(kept)
            }
            (false, _) => self.settle(confirmation, proof, is_behind),
        }
    }

    /// Whether the share beyond an objective is far larger than allowed.
    fn is_far(&self, samples: &[ObjectiveSamples]) -> bool {
        let mut each = samples.iter().zip(&self.terms.slos);
        each.any(|(samples, slo)| samples.share() > FAR * slo.share)
    }

    /// Processes the result of a confirmation below the capacity.
    fn settle(&mut self, confirmation: Confirmation, proof: Proof, is_behind: bool) -> Act {
        if let (Some(trial), false) = (&self.trial, is_behind) {
            for (held, samples) in self.held.iter_mut().zip(&trial.samples) {
                held.extend(samples);
            }
        }
        let is_far = self
            .trial
            .as_ref()
            .is_some_and(|trial| self.is_far(&trial.samples));
        let is_kept = proof == Proof::Kept && self.slower().is_none();
        self.tried.push(Confirmation {
            is_kept,
            ..confirmation
        });
        if is_kept {
            let answer = self.answer();
            return self.finish(answer);
        }
        if proof == Proof::Kept {
            return self.end_unconfirmed(Why::Unproven);
        }
        if self.tried.len() >= CONFIRMATIONS {
            return self.end_after_confirmations();
        }
        let lower = match proof {
            Proof::Missed if is_far || is_behind => LOWER_FAR,
            Proof::Missed => LOWER_MISSED,
            _ => LOWER,
        };
        // The last rate is far from the first, so that a share that is independent of the rate
        // shows.
        let is_last = self.tried.len() + 1 == CONFIRMATIONS;
        let lower = if is_last { lower.min(LOWER_FAR) } else { lower };
        let wanted = self.confirmed_rate().max(LOWER_FAR * self.rate);
        let rate = wanted.min(lower * self.rate);
        if !is_behind {
            return self.begin_confirmation_at(rate);
        }
        self.hold = HeldRate::new(rate.ln(), self.terms.slos.len());
        self.begin_drain(rate)
    }

    /// Ends the search after confirmations that did not prove the objectives.
    fn end_after_confirmations(&mut self) -> Act {
        let missed = (0..self.terms.slos.len()).find(|slo| {
            let shares = self.tried.last().map(|last| last.shares[*slo]);
            shares.is_some_and(|share| share > self.terms.slos[*slo].share)
        });
        let Some(slo) = missed else {
            let short = self.trial.as_ref().and_then(|trial| trial.short.clone());
            return self.end_unconfirmed(short.unwrap_or(Why::Unproven));
        };
        let (tried, trend) = (self.tried_at(slo), self.trend());
        let samples = &self.held[slo];
        let allowed = self.terms.slos[slo].share * samples.total();
        let is_sure = samples.beyond_least(MISSED_ERRORS) > allowed;
        // The rates are ordered by time, so they prove nothing about a target that becomes slower.
        let is_same = self.slower().is_none();
        self.end_without(match is_sure && is_same && is_independent(&tried) {
            true => Why::Independent { slo, tried },
            false => Why::Missed { slo, tried, trend },
        })
    }

    fn hold_at(&mut self, level: f64) -> Act {
        self.hold = HeldRate::new(level, self.terms.slos.len());
        self.hold.keep_near(None, 0.0, self.terms.most.ln());
        let rate = self.hold.level().exp();
        let need = Need::compute(&self.terms, &self.held, rate, self.bracket.stay);
        let hold = self.terms.hold.as_secs_f64();
        if self.left() < hold + need.seconds {
            return self.end_without(Why::TooShort {
                slo: need.slo,
                rate,
                requests: need.requests,
                gap: None,
                seconds: need.seconds,
            });
        }
        self.start_stage(Stage::Hold, rate)
    }

    fn start_stage(&mut self, stage: Stage, rate: f64) -> Act {
        self.stage = stage;
        self.rate = rate;
        self.highest = self.highest.max(rate);
        Act::Rate(rate)
    }

    /// How the target became slower, according to the medians, which no queue explains.
    fn slower(&self) -> Option<Trend> {
        let trend = self.trend()?;
        (matches!(trend, Trend::Median { .. }) && trend.is_slower()).then_some(trend)
    }

    /// Ends the search with the unconfirmed capacity and the reason.
    fn end_unconfirmed(&mut self, why: Why) -> Act {
        if let Some(trend) = self.slower() {
            return self.end_without(Why::Slower(trend));
        }
        match self.capacity(Some(why.clone())) {
            Some(capacity) => self.finish(Answer::Found(capacity)),
            None => self.end_without(why),
        }
    }

    fn end_without(&mut self, why: Why) -> Act {
        let answer = self.unknown(why);
        self.finish(answer)
    }

    fn finish(&mut self, answer: Answer) -> Act {
        self.stage = Stage::Over;
        self.outcome = Some(answer);
        Act::End
    }

    const fn known(&self) -> Known<'_> {
        Known {
            terms: &self.terms,
            held: self.held.as_slice(),
            bracket: &self.bracket,
        }
    }

    /// The capacity by the samples so far; `None` before anything was held. The interval includes
    /// the results of confirmations.
    fn capacity(&self, why: Option<Why>) -> Option<Capacity> {
        let range = self.known().range()?;
        let confirmation = self.tried.last().cloned();
        let lowest = match &confirmation {
            Some(last) if last.made > 1 => last.rate.ln(),
            _ => f64::INFINITY,
        };
        let low = range.low.min(lowest);
        let levels = self.levels();
        let half = (range.high - range.low) / 2.0;
        let (least, most) = levels.map_or((low, range.high), |(from, to)| {
            (
                low.min(from.min(to) - half),
                range.high.max(from.max(to) + half),
            )
        });
        Some(Capacity {
            rate: range.level.exp(),
            low: least.exp(),
            high: most.exp(),
            slo: range.slo,
            held: self.held_seconds,
            confirmation,
            trend: self.trend(),
            why,
        })
    }
}

/// Whether the shares at these rates are about the same.
fn is_independent(tried: &[(f64, f64)]) -> bool {
    let (Some((fast, before)), Some((slow, after))) = (tried.first(), tried.last()) else {
        return false;
    };
    let (rates, shares) = (fast / slow, before / after);
    rates > APART && shares.ln() < SAME * rates.ln()
}
