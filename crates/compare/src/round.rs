//! The rounds of an experiment: how many, in which form, and why they ended.

use crate::answer::CONFIDENCE;
use drumfire_stats::Looks;

/// The least number of rounds of an experiment: with fewer nothing could be found.
pub const ROUNDS_MIN: usize = 6;
/// The most rounds of an experiment.
pub const ROUNDS_MAX: usize = drumfire_stats::RUNS_MAX;
/// The rounds between two looks: as many of one order as of the other.
const LOOK_EVERY: usize = 2;

/// An experiment of pairs: each round makes a run of either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// The number of rounds that were to be made, [`ROUNDS_MIN`] to [`ROUNDS_MAX`].
    pub planned: usize,
    /// The way in which a round is made.
    pub form: RoundForm,
    /// The reason for which no more rounds are made.
    pub ended: RoundsEnd,
}

/// The way in which a round is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundForm {
    /// One run after the other, in the order A B B A.
    Turns,
    /// Both runs at the same time.
    Duet,
}

/// The end of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundsEnd {
    /// All rounds were made.
    Planned,
    /// A look before the last round showed an answer.
    Shown,
    /// A signal ended it.
    Signal,
    /// Too many rounds had a run that can't be compared.
    Unsound,
}

/// A round that had a run which can't be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsoundRound {
    /// The number of the round that was being made, from 1.
    pub round: usize,
    /// The side of the run: A is the base.
    pub side: &'static str,
    /// Why it can't be compared, in a sentence without a full stop.
    pub reason: String,
}

impl UnsoundRound {
    /// The round in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("Round {}, {}: {}.", self.round, self.side, self.reason)
    }
}

impl Rounds {
    /// Whether an experiment is looked at after so many rounds.
    #[must_use]
    pub const fn is_look(&self, made: usize) -> bool {
        self.looks().is_look(made)
    }

    /// The least shift that four of five such experiments find, where runs of one program differ by
    /// this share.
    #[must_use]
    pub fn resolution(&self, spread: f64) -> f64 {
        self.looks().resolution() * spread
    }

    /// When the experiment is looked at, and what each look may spend.
    pub(crate) const fn looks(&self) -> Looks {
        Looks {
            pairs: self.planned,
            first: ROUNDS_MIN,
            every: LOOK_EVERY,
            error: 1.0 - CONFIDENCE,
        }
    }
}

impl RoundForm {
    /// The name of the form in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Turns => "turns",
            Self::Duet => "duet",
        }
    }
}

impl RoundsEnd {
    /// The name of the end in JSON.
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
