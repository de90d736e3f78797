//! The search: its stages, and what each makes of an interval.
//!
//! ```text
//! climb ──missed──► drain ──► refine ──missed──► drain ──► hold ──► confirm ──► over
//!   │                                                       │ ▲        │  ▲
//!   │                                                       ▼ │        └──┘ not proven, twice at most
//!   │                                                      drain (the target fell behind)
//!   ├─ missed at the first: over
//!   └─ kept at the greatest: confirm ──► over
//! ```
//!
//! A hold begins again twice at most. Before each hold and each confirmation the search looks whether
//! the latest time leaves enough for it, and otherwise ends with the reason.

use crate::answer::{Answer, Capacity, Confirmation, Trend, Why};
use crate::bracket::{Bracket, Turn};
use crate::confirm::{Need, Proof, Trial};
use crate::drain::{Drain, Drained};
use crate::estimate::Known;
use crate::hold::Hold;
use crate::medians;
use crate::samples::{Sample, Samples};
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
    /// A rate below the estimate is held without control.
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
    /// The time that is left, as planned.
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
    hold: Hold,
    /// The bracket before a climb that is made again, and the rate from which it is.
    before: Option<(Bracket, f64)>,
    drain: Option<Drain>,
    trial: Option<Trial>,
    /// The samples of the hold and of confirmations, by objective, and the number of those of the
    /// hold.
    held: Vec<Samples>,
    held_count: usize,
    /// The requests of each objective that were overdue at the end of the last interval, and those that
    /// became so in it.
    overdue: Vec<f64>,
    crossed: Vec<f64>,
    outstanding: f64,
    /// The seconds of the hold, and of the search.
    held_seconds: f64,
    seconds: f64,
    /// The intervals in a row in which the target fell behind, and how often a hold began again.
    behind: u32,
    restarts: u32,
    /// The confirmations that were made.
    tried: Vec<Confirmation>,
    /// The seconds in a row, and in all, whose figures were the generator's own.
    unsound: f64,
    unsound_all: f64,
    outcome: Option<Answer>,
}

/// The seconds at the beginning of a hold that are no samples: the queue finds its equilibrium.
const SETTLE: f64 = 20.0;
/// The part of a short hold that this may be.
const SETTLE_PART: f64 = 1.0 / 6.0;
/// The confirmation's rate as a part of the estimate, at most; and how far it is below the interval,
/// as a part of that side of it.
const CONFIRM: f64 = 0.97;
const CONFIRM_BELOW: f64 = 0.5;
/// The confirmations that are made at most, and the part of the rate before at which the next is: if
/// it was not proven, if it was missed, and if it was missed by much.
const CONFIRMATIONS: usize = 3;
const LOWER: f64 = 0.9;
const LOWER_MISSED: f64 = 0.8;
const LOWER_FAR: f64 = 0.5;
/// More than this multiple of the allowed share is much.
const FAR: f64 = 3.0;
/// A share does not depend on the rate if it grows by a smaller power of it than this, between rates
/// that are as far apart as that.
const SAME: f64 = 1.0;
const APART: f64 = 1.8;
/// The standard errors by which the requests beyond in all that was held must exceed those that are
/// allowed, if no rate keeps an objective.
const MISSED_ERRORS: f64 = 1.3;
/// A bound of response times that is longer than this part of a confirmation is crossed too late to
/// be seen in it.
const BOUND_PART: f64 = 0.02;
/// A target falls behind if its requests without an answer are as many as become due in half a
/// second, this many bounds or usual stays, in so many intervals in a row.
const BEHIND: f64 = 1.5;
const BEHIND_BOUNDS: f64 = 2.0;
const BEHIND_STAYS: f64 = 3.0;
const BEHIND_MAX: u32 = 2;
/// The fall of the level then, below what the target ends.
const SETBACK: f64 = 0.1;
/// The times that a hold is begun again.
const RESTARTS: u32 = 2;
/// A hold that has risen by this much, because nothing came near the bound, begins again; and so does
/// one at whose end nothing came near it for so many seconds, and such a part of it.
const RISE: f64 = 0.15;
const QUIET: f64 = 30.0;
const QUIET_PART: f64 = 1.0 / 3.0;
/// A rise by less than this is no trend.
const RISING: f64 = 0.05;
/// The seconds in a row for which the figures may be the generator's own.
const PATIENCE: f64 = 10.0;
/// How much of the newest samples the progress shows, in seconds.
const SHOWN: f64 = 10.0;

impl Search {
    /// A search that begins with the first rate of its terms.
    #[must_use]
    pub fn new(terms: Terms) -> Self {
        Self {
            stage: Stage::Climb,
            rate: terms.from,
            highest: terms.from,
            bracket: Bracket::of(&terms),
            hold: Hold::at(terms.from.ln(), terms.slos.len()),
            before: None,
            drain: None,
            trial: None,
            held: vec![Samples::default(); terms.slos.len()],
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

    /// Takes the next interval, and gives what follows.
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

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let newest = match (self.stage, &self.drain, &self.trial) {
            (Stage::Climb | Stage::Refine, ..) => self.bracket.step(),
            (Stage::Drain, Some(drain), _) => &drain.samples,
            (Stage::Confirm, _, Some(trial)) => &trial.samples,
            _ => &self.held,
        };
        // Of several that are alike, the first.
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

    /// The seconds that are left as planned.
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

    /// The answer, or what is known so far where it is not over.
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

    /// The seconds up to the latest end.
    fn left(&self) -> f64 {
        self.terms.latest().as_secs_f64() - self.seconds
    }

    /// The interval's requests by objective: those that ended, and those that have crossed the bound
    /// without an answer.
    fn samples(&mut self, seen: &Observation) -> Vec<Sample> {
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
            Sample {
                seconds: seen.span.as_secs_f64(),
                level: seen.rate.max(f64::MIN_POSITIVE).ln(),
                beyond,
                near: (tally.near as f64 + crossed).max(beyond),
                of: (tally.of as f64 + crossed).max(beyond),
            }
        })
        .collect()
    }

    /// Takes back that requests had no answer in time at the end of the last interval: if the generator
    /// stood still then, that is known only now.
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
        let held = self.capacity(None).filter(|_| self.stage == Stage::Confirm);
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
                self.begin_drain(kept)
            }
            Turn::Below => self.end(Answer::Below(self.rate)),
            Turn::Above => self.begin_confirmation_of_most(),
            Turn::Hold => {
                let level = self.bracket.level(&self.terms.slos);
                self.hold_at(level)
            }
        }
    }

    fn begin_drain(&mut self, kept: f64) -> Act {
        let drain = Drain::new(self.held.len(), kept, self.outstanding, self.bracket.stay);
        let rate = drain.rate;
        self.drain = Some(drain);
        self.begin(Stage::Drain, rate)
    }

    fn recover(&mut self, seen: &Observation, samples: &[Sample]) -> Act {
        let Some(drain) = &mut self.drain else {
            return Act::Stay;
        };
        match drain.observe(seen, samples, &self.terms.slos) {
            Drained::Stay => Act::Stay,
            Drained::Rate(rate) => self.begin(Stage::Drain, rate),
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
                // The target is another one than it was.
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
            .map(|slo| match known.of(slo) {
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

    /// Whether the hold has risen for long, or is at its end, and no request came near a bound.
    fn is_too_low(&self, is_over: bool) -> bool {
        let quiet = QUIET.max(QUIET_PART * self.terms.hold.as_secs_f64());
        let is_quiet = self.hold.quiet >= quiet;
        let is_most = self.rate * (1.0 + 1e-6) >= self.terms.most;
        !is_most && (self.hold.rise() > Some(RISE) || is_quiet && is_over)
    }

    /// Goes on with the hold that was left for another climb, whose first step was missed: the target
    /// is the same as before.
    fn go_back(&mut self, before: Bracket) -> Act {
        let missed = self.bracket.missed;
        self.bracket = before;
        self.bracket.missed = missed;
        if self.held_seconds + 1e-6 >= self.terms.hold.as_secs_f64() {
            return self.end_hold();
        }
        self.hold.disturb();
        self.begin(Stage::Hold, self.hold.level().exp())
    }

    /// Whether the hold may begin again.
    fn has_time_to_restart(&self) -> bool {
        let Terms { hold, confirm, .. } = self.terms;
        let needed = hold.as_secs_f64() + confirm.as_secs_f64();
        self.restarts < RESTARTS && self.left() >= needed
    }

    /// Discards what was held: the target is another one than it was.
    fn restart(&mut self) {
        self.restarts += 1;
        self.held.iter_mut().for_each(Samples::clear);
        self.held_seconds = 0.0;
    }

    /// Begins the hold again below what the target ends now. One that falls behind again and again
    /// has no load that could be held.
    fn set_back(&mut self, seen: &Observation) -> Act {
        if !self.has_time_to_restart() {
            let rate = self.rate;
            return self.end_without(Why::Behind { rate });
        }
        self.restart();
        let ended = seen.ended as f64 / seen.span.as_secs_f64();
        let rate = self.rate.min(ended.max(0.1 * self.rate));
        self.hold = Hold::at(rate.ln() - SETBACK, self.terms.slos.len());
        self.begin_drain(rate)
    }

    /// Whether the target has fallen behind by now.
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

    /// The rates that were held, with the share beyond an objective at each, from the hold on.
    fn tried_at(&self, slo: usize) -> Vec<(f64, f64)> {
        let hold = self.held[slo].first(self.held_count);
        let held = hold.centre().map(|level| (level.exp(), hold.share()));
        let tried = self.tried.iter().map(|it| (it.rate, it.shares[slo]));
        held.into_iter().chain(tried).collect()
    }

    /// The levels of the capacity at the beginning and at the end of the hold, if it changed
    /// meanwhile.
    fn levels(&self) -> Option<(f64, f64)> {
        let level = self.hold.level();
        let rise = self.hold.rise().filter(|rise| *rise > RISING);
        let rising = rise.map(|rise| (level - rise, level));
        rising.or_else(|| self.known().trend(self.held_count))
    }

    /// How the target changed while it was searched. The medians are what the rate explains least.
    fn trend(&self) -> Option<Trend> {
        let trial = self.trial.as_ref();
        let medians = trial
            .and_then(|trial| medians::trend(&self.bracket.medians, trial.rate, &trial.medians));
        medians.or_else(|| {
            let (from, to) = self.levels().map(rates)?;
            Some(Trend::Capacity { from, to })
        })
    }

    /// The rate to confirm: below the interval of the capacity, and not above what was held.
    fn confirmed_rate(&self) -> f64 {
        let Some(range) = self.known().range() else {
            return CONFIRM * self.rate;
        };
        let below = range.low - CONFIRM_BELOW * (range.level - range.low);
        let mut level = (range.level + CONFIRM.ln()).min(below);
        // What was never tried is not confirmed: the model ends where the samples do.
        let top = self.held.iter().filter_map(Samples::top);
        level = top.fold(level, |level, top| level.min(top + CONFIRM.ln()));
        // One that does less when it is overloaded than before does not recover from a burst above.
        if let Some(saturation) = self.bracket.saturation.rate() {
            level = level.min(saturation.ln());
        }
        // A target that becomes slower is slower still at the end of the confirmation.
        let confirm = self.terms.confirm.as_secs_f64();
        if let Some((from, to)) = self.levels()
            && to < from
        {
            level = level.min(to + CONFIRM.ln() - (from - to) * confirm / self.held_seconds);
        }
        // A queue that grows slowly does not reach a long bound while it is looked at.
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
        let mut need = Need::of(&self.terms, &self.held, rate, self.bracket.stay);
        // What can't be proven any more may still be missed.
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
        self.begin(Stage::Confirm, rate)
    }

    fn confirm(&mut self, seen: &Observation, samples: &[Sample]) -> Act {
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
            (true, Proof::Kept) => self.end(Answer::Above(self.rate)),
            (true, _) => {
                self.bracket.miss(self.rate);
                let kept = self.bracket.kept.unwrap_or(0.5 * self.rate);
                self.begin_drain(kept)
            }
            (false, _) => self.settle(confirmation, proof, is_behind),
        }
    }

    /// Whether much more was beyond an objective than allowed.
    fn is_far(&self, samples: &[Samples]) -> bool {
        let mut each = samples.iter().zip(&self.terms.slos);
        each.any(|(samples, slo)| samples.share() > FAR * slo.share)
    }

    /// What follows from a confirmation below the capacity.
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
            return self.end(answer);
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
        // The last one is far from the first, so that a share that does not depend on the rate shows.
        let is_last = self.tried.len() + 1 == CONFIRMATIONS;
        let lower = if is_last { lower.min(LOWER_FAR) } else { lower };
        let wanted = self.confirmed_rate().max(LOWER_FAR * self.rate);
        let rate = wanted.min(lower * self.rate);
        if !is_behind {
            return self.begin_confirmation_at(rate);
        }
        self.hold = Hold::at(rate.ln(), self.terms.slos.len());
        self.begin_drain(rate)
    }

    /// Ends after confirmations of which none proved that the objectives are kept.
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
        let allowed = self.terms.slos[slo].share * samples.of();
        let is_sure = samples.beyond_least(MISSED_ERRORS) > allowed;
        // The rates are in the order of time: of a target that becomes slower they say nothing.
        let is_same = self.slower().is_none();
        self.end_without(match is_sure && is_same && is_independent(&tried) {
            true => Why::Independent { slo, tried },
            false => Why::Missed { slo, tried, trend },
        })
    }

    fn hold_at(&mut self, level: f64) -> Act {
        self.hold = Hold::at(level, self.terms.slos.len());
        self.hold.keep_near(None, 0.0, self.terms.most.ln());
        let rate = self.hold.level().exp();
        let need = Need::of(&self.terms, &self.held, rate, self.bracket.stay);
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
        self.begin(Stage::Hold, rate)
    }

    fn begin(&mut self, stage: Stage, rate: f64) -> Act {
        self.stage = stage;
        self.rate = rate;
        self.highest = self.highest.max(rate);
        Act::Rate(rate)
    }

    /// How the target became slower, by the medians, which no queue explains.
    fn slower(&self) -> Option<Trend> {
        let trend = self.trend()?;
        (matches!(trend, Trend::Median { .. }) && trend.is_slower()).then_some(trend)
    }

    /// Ends with the capacity as it is known, without a confirmation, for a reason.
    fn end_unconfirmed(&mut self, why: Why) -> Act {
        if let Some(trend) = self.slower() {
            return self.end_without(Why::Slower(trend));
        }
        match self.capacity(Some(why.clone())) {
            Some(capacity) => self.end(Answer::Found(capacity)),
            None => self.end_without(why),
        }
    }

    fn end_without(&mut self, why: Why) -> Act {
        let answer = self.unknown(why);
        self.end(answer)
    }

    fn end(&mut self, answer: Answer) -> Act {
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

    /// The capacity by the samples so far; `None` where nothing was held. What a confirmation showed
    /// is within the interval.
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

fn rates((from, to): (f64, f64)) -> (f64, f64) {
    (from.exp(), to.exp())
}

/// Whether the shares at these rates are about the same.
fn is_independent(tried: &[(f64, f64)]) -> bool {
    let (Some((fast, before)), Some((slow, after))) = (tried.first(), tried.last()) else {
        return false;
    };
    let (rates, shares) = (fast / slow, before / after);
    rates > APART && shares.ln() < SAME * rates.ln()
}
