//! The rounds of an experiment: their number, their form, and the reason for their end.

use crate::answer::CONFIDENCE;
use drumfire_stats::{InterimLooks, SignedRank};

/// The minimum number of rounds of an experiment: fewer rounds can't prove any shift.
pub const ROUNDS_MIN: usize = 6;
/// The maximum number of rounds of an experiment.
pub const ROUNDS_MAX: usize = drumfire_stats::RUNS_MAX;
/// The rounds between two looks: the same number in either order.
const LOOK_EVERY: usize = 2;

/// An experiment with pairs of runs: each round makes a run of each side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// The planned number of rounds, [`ROUNDS_MIN`] to [`ROUNDS_MAX`].
    pub planned: usize,
    /// How each round is made.
    pub form: RoundForm,
    /// Why the experiment ended.
    pub ended: RoundsEnd,
}

/// How the runs of a round are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundForm {
    /// One run after the other, in the order A B B A.
    Turns,
    /// Both runs at the same time.
    Duet,
}

/// The reason for the end of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundsEnd {
    /// All rounds were made.
    Planned,
    /// A look before the last round showed an answer.
    Shown,
    /// A signal ended the experiment.
    Signal,
    /// Too many rounds had a run that is not comparable.
    Unsound,
}

/// A round with a run that is not comparable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsoundRound {
    /// The number of the round, from 1.
    pub round: usize,
    /// The side of the run: A is the base.
    pub side: &'static str,
    /// Why the run is not comparable, in a sentence without a full stop.
    pub reason: String,
}

impl UnsoundRound {
    /// A sentence about the round.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("Round {}, {}: {}.", self.round, self.side, self.reason)
    }
}

impl Rounds {
    /// The minimum number of rounds that can show a shift of one of so many figures, however they
    /// vary: with fewer, even differences that all have one direction are too probable.
    pub(crate) fn enough_for(figures: usize) -> usize {
        let least = |rounds: &usize| SignedRank::least(*rounds) * figures.max(1) as f64;
        let mut rounds = ROUNDS_MIN..ROUNDS_MAX;
        let found = rounds.find(|rounds| least(rounds) <= 1.0 - CONFIDENCE);
        found.unwrap_or(ROUNDS_MAX)
    }

    /// Whether the experiment has a look after `made` rounds.
    #[must_use]
    pub const fn is_look(&self, made: usize) -> bool {
        self.looks().is_look(made)
    }

    /// The least shift that four of five such experiments find, if runs of one program differ by
    /// this spread.
    #[must_use]
    pub fn resolution(&self, spread: f64) -> f64 {
        self.looks().resolution() * spread
    }

    /// The smallest number of rounds that finds this difference in four of five experiments, if
    /// runs of one program differ by this spread; `None` above [`ROUNDS_MAX`].
    pub(crate) fn needed(&self, spread: f64, difference: f64) -> Option<usize> {
        let planned = |planned: &usize| Self {
            planned: *planned,
            ..*self
        };
        (ROUNDS_MIN..=ROUNDS_MAX).find(|number| planned(number).resolution(spread) <= difference)
    }

    /// The looks at the experiment, and the error probability that they may spend.
    pub(crate) const fn looks(&self) -> InterimLooks {
        InterimLooks {
            pairs: self.planned,
            first: ROUNDS_MIN,
            every: LOOK_EVERY,
            error: 1.0 - CONFIDENCE,
        }
    }
}

impl RoundForm {
    /// The form's name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Turns => "turns",
            Self::Duet => "duet",
        }
    }
}

impl RoundsEnd {
    /// The end's name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Shown => "shown",
            Self::Signal => "signal",
            Self::Unsound => "unsound",
        }
    }
}
