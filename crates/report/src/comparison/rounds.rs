//! Pairs that an experiment made in turn: a test of each figure by the differences within pairs.
//!
//! The experiment may be looked at while more pairs are to come. `Looks` then says how improbable a
//! difference has to be: probabilities count all figures and all looks before, so that the chance
//! of any false alarm in the whole experiment stays at 5 %. Equality is read from the interval of
//! the shift at the end, and ends no experiment.
//!
//! Differences are made on the scale on which a shift is a difference (`Figure::scaled`).

use super::figure::Figure;
use super::{Answer, CONFIDENCE, Row, median};
use crate::quantity::counted;
use drumfire_measure::Summary;
use drumfire_stats::{Differences, Looks, SignedRank};

/// The least number of rounds of an experiment: with fewer nothing could be found.
pub const ROUNDS_MIN: usize = 6;
/// The most rounds of an experiment.
pub const ROUNDS_MAX: usize = drumfire_stats::RUNS_MAX;
/// The rounds between two looks: as many of one order as of the other.
const LOOK_EVERY: usize = 2;
/// The seed of the outcomes that are drawn. Any would do; one makes a comparison repeatable.
const SEED: u64 = 1;

/// An experiment of pairs: each round makes a run of either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// The number of rounds that were to be made, [`ROUNDS_MIN`] to [`ROUNDS_MAX`].
    pub planned: usize,
    /// The reason for which no more rounds are made.
    pub ended: RoundsEnd,
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

    const fn looks(&self) -> Looks {
        Looks {
            pairs: self.planned,
            first: ROUNDS_MIN,
            every: LOOK_EVERY,
            error: 1.0 - CONFIDENCE,
        }
    }
}

impl RoundsEnd {
    /// The word for it in a form for scripts.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Shown => "shown",
            Self::Signal => "signal",
            Self::Unsound => "unsound",
        }
    }
}

/// A figure of all pairs.
struct Measured {
    figure: Figure,
    medians: [f64; 2],
    differences: Differences,
}

/// A row for each figure that every run has, and what their reader has to know.
pub(super) fn rows(
    base: &[&Summary],
    candidate: &[&Summary],
    least: f64,
    rounds: Rounds,
) -> (Vec<Row>, Vec<String>) {
    let figures = Figure::OF_SETS.into_iter();
    let measured = figures.filter_map(|figure| Measured::of(figure, base, candidate, least));
    let measured: Vec<Measured> = measured.collect();
    let differences: Vec<Differences> = measured.iter().map(|of| of.differences.clone()).collect();
    let looks = rounds.looks();
    let raised = looks.probabilities(&differences, SEED);
    let bound = looks.spent(base.len());
    let rows = measured.iter().zip(raised).filter_map(|(measured, p)| {
        let figure = measured.figure;
        let of_pairs = &measured.differences.of_pairs;
        let shift = SignedRank::shift(of_pairs, CONFIDENCE)?;
        let interval = shift.interval;
        let interval = interval.map(|(low, high)| (figure.shift(low), figure.shift(high)));
        let estimate = figure.shift(shift.estimate);
        Some(Row {
            figure,
            medians: measured.medians,
            shift: estimate,
            interval,
            p: Some(p),
            detectable: spread(of_pairs).map(|spread| figure.shift(rounds.resolution(spread))),
            answer: Some(Answer::of(figure, estimate, interval, p <= bound, least)),
        })
    });
    (rows.collect(), cautions(base.len(), rounds))
}

impl Measured {
    /// `None` where a run lacks the figure.
    fn of(figure: Figure, base: &[&Summary], candidate: &[&Summary], least: f64) -> Option<Self> {
        let values = |runs: &[&Summary]| -> Option<Vec<f64>> {
            runs.iter().map(|run| figure.value(run)).collect()
        };
        let (base, candidate) = (values(base)?, values(candidate)?);
        let pairs = base.iter().zip(&candidate);
        let of_pairs =
            pairs.map(|(base, candidate)| figure.scaled(*candidate) - figure.scaled(*base));
        Some(Self {
            figure,
            medians: [median(&base), median(&candidate)],
            differences: Differences {
                of_pairs: of_pairs.collect(),
                least: match figure.is_ratio() {
                    true => least.ln_1p(),
                    false => least,
                },
            },
        })
    }
}

/// The standard deviation between runs of one side, from the differences within pairs: each has the
/// chance of two runs. `None` of fewer than two.
fn spread(of_pairs: &[f64]) -> Option<f64> {
    let count = of_pairs.len() as f64;
    let mean = of_pairs.iter().sum::<f64>() / count;
    let squares: f64 = of_pairs.iter().map(|of| (of - mean).powi(2)).sum();
    (of_pairs.len() > 1).then(|| (squares / (count - 1.0) / 2.0).sqrt())
}

/// The rounds that are missing, and why.
fn cautions(made: usize, rounds: Rounds) -> Vec<String> {
    let planned = rounds.planned;
    let first = match rounds.ended {
        RoundsEnd::Planned => None,
        RoundsEnd::Shown => Some(format!(
            "Ended after {made} of {planned} rounds, for the answer was shown. The shift of an experiment that ends \
             early is a little too large."
        )),
        RoundsEnd::Signal => Some(format!("Interrupted after {made} of {planned} rounds.")),
        RoundsEnd::Unsound => Some(format!(
            "Ended after {made} of {planned} rounds: too many had a run that can't be compared."
        )),
    };
    let few = (made < ROUNDS_MIN).then(|| {
        let made = counted(made as u64, "round");
        format!("{made} can show no difference, however large it is; {ROUNDS_MIN} are the least that can.")
    });
    first.into_iter().chain(few).collect()
}
