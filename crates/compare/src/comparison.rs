//! A base and a candidate compared: whether the candidate is worse, better or equal, and by how much.
//!
//! [`Comparison::of_sets`] refuses runs whose difference would say nothing about the target
//! (`likeness`), takes the same figures of each run (`figure`), and compares them in one of three
//! ways. Sets of runs are compared by ranks of whole runs (`sets`), and have an answer. One pair is
//! compared by blocks of its intervals (`pair`): its intervals hold what chance *within* the runs
//! can do, and not what makes two runs of one program differ, so that it never has an answer. Pairs
//! that an experiment made ([`Comparison::of_rounds`]) are compared by their differences (`rounds`),
//! while it goes on and at its end.
//!
//! A shift is a ratio, less 1, for times and rates, and a difference of shares for failures. A
//! positive shift of a time or of failures is a candidate that is worse; of a rate, one that is
//! better.

pub(crate) mod likeness;
mod pair;
mod rounds;
mod sets;

use crate::answer::{Answer, CONFIDENCE};
use crate::compared::Compared;
use crate::differences::Difference;
use crate::figure::Figure;
use crate::round::{Rounds, UnsoundRound};
use drumfire_measure::{RunInfo, Summary, TargetState};
use drumfire_stats::{RUNS_MAX, RankSum};

/// The terms of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The least shift of times and rates that matters, as a share above 0: 0.02 is 2 %. A smaller one is
    /// equal. Failures have one of their own.
    pub least: f64,
    /// Whether runs against different targets may be compared.
    pub any_target: bool,
}

/// A comparison that was made.
#[derive(Debug)]
pub struct Comparison {
    /// The terms by which it was made.
    pub terms: Terms,
    /// The runs of the base.
    pub base: Runs,
    /// The runs of the candidate.
    pub candidate: Runs,
    /// The facts of their plans in which the runs differ.
    pub differences: Vec<Difference>,
    /// The experiment that made the runs, if one did.
    pub rounds: Option<Rounds>,
    /// The rounds of the experiment that could not be compared.
    pub unsound: Vec<UnsoundRound>,
    /// The figures that both sides have.
    pub rows: Vec<Row>,
    /// Why the answers show less than they seem to, in sentences.
    pub cautions: Vec<String>,
}

/// One side of a comparison: its runs in the order of their time.
#[derive(Debug)]
pub struct Runs {
    /// The ids of the runs.
    pub ids: Vec<String>,
    /// The target of the first run.
    pub target: String,
    /// The start of each run, in nanoseconds of the Unix time.
    pub began: Vec<u64>,
    /// How the target did in each run.
    pub states: Vec<TargetState>,
}

/// A figure of both sides.
#[derive(Debug)]
pub struct Row {
    /// The figure.
    pub figure: Figure,
    /// The median over the runs of each side: base, candidate.
    pub medians: [f64; 2],
    /// The estimate of the shift.
    pub shift: f64,
    /// The ends of the shift's interval; `None` if too little is known for one.
    pub interval: Option<(f64, f64)>,
    /// The probability that equal sets differ as much, corrected for the number of figures, and of
    /// looks at an experiment. `None` for one pair.
    pub p: Option<f64>,
    /// The smallest shift that four of five experiments with this spread find; `None` without an
    /// experiment.
    pub detectable: Option<f64>,
    /// Whether the candidate is worse; `None` for one pair.
    pub answer: Option<Answer>,
}

impl Comparison {
    /// Compares two sides of at least one run each.
    ///
    /// # Errors
    /// When a side is empty or too large, or when runs are not comparable; the text names the run
    /// and the reason.
    pub fn of_sets(
        base: &[Compared],
        candidate: &[Compared],
        terms: Terms,
    ) -> Result<Self, String> {
        likeness::check(base, candidate, terms.any_target)?;
        let (rows, cautions) = match (base, candidate) {
            ([base], [candidate]) => pair::rows(base, candidate),
            _ => sets::rows(base, candidate, terms.least),
        };
        Ok(Self {
            terms,
            base: Runs::sorted(base),
            candidate: Runs::sorted(candidate),
            differences: Difference::list(base, candidate),
            rounds: None,
            unsound: Vec::new(),
            rows,
            cautions,
        })
    }

    /// Compares the runs of an experiment so far, the first of one side with the first of the other
    /// and so on. Targets may differ: they are what an experiment compares. `unsound` are the rounds
    /// that had a run which can't be compared.
    ///
    /// # Errors
    /// When there are not equally many of both, or runs are not comparable; the text names the run
    /// and the reason.
    pub fn of_rounds(
        base: &[Compared],
        candidate: &[Compared],
        terms: Terms,
        rounds: Rounds,
        unsound: &[UnsoundRound],
    ) -> Result<Self, String> {
        likeness::check(base, candidate, true)?;
        if base.len() != candidate.len() {
            return Err("a round without one of its runs can't be compared".to_owned());
        }
        let (rows, mut cautions) = rounds::rows(base, candidate, terms.least, rounds);
        cautions.extend(unsound.iter().map(UnsoundRound::sentence));
        Ok(Self {
            terms,
            base: Runs::sorted(base),
            candidate: Runs::sorted(candidate),
            differences: Difference::list(base, candidate),
            rounds: Some(rounds),
            unsound: unsound.to_vec(),
            rows,
            cautions,
        })
    }

    /// Adds cautions: further reasons why the answers show less than they seem to, in sentences.
    #[must_use]
    pub fn cautioned(mut self, more: impl IntoIterator<Item = String>) -> Self {
        self.cautions.extend(more);
        self
    }

    /// Whether the figures of one run are a measure of its target at all.
    ///
    /// # Errors
    /// The run and the reason, in a sentence.
    pub fn check(run: &Compared) -> Result<(), String> {
        likeness::is_sound(run)
    }

    /// Whether runs of two plans can be compared, as far as that is known before there are any.
    ///
    /// # Errors
    /// What differs.
    pub fn check_plans(base: &RunInfo, candidate: &RunInfo) -> Result<(), String> {
        let [base, candidate] = [base, candidate].map(Compared::planned);
        match likeness::difference(&base, &candidate) {
            Some(what) => Err(what),
            None => Ok(()),
        }
    }

    /// Whether a difference is shown, in either direction.
    #[must_use]
    pub fn is_different(&self) -> bool {
        self.has(Answer::Worse) || self.has(Answer::Better)
    }

    /// Whether a figure of the candidate is worse. Never so for one pair.
    #[must_use]
    pub fn is_worse(&self) -> bool {
        self.has(Answer::Worse)
    }

    /// Whether one run is compared with one other: such a comparison has no answer.
    #[must_use]
    pub const fn is_pair(&self) -> bool {
        self.rounds.is_none() && self.base.ids.len() == 1 && self.candidate.ids.len() == 1
    }

    /// The number of rounds, or of runs of each side, with which a shift can be shown at all: it is
    /// then improbable enough, for all figures together, that all differ in one direction.
    #[must_use]
    pub fn enough(&self) -> usize {
        let least = |number: usize| match self.rounds {
            Some(_) => 0.5_f64.powf(number as f64 - 1.0),
            None => RankSum::least(number, number),
        };
        let figures = self.rows.len().max(1) as f64;
        let is_enough = |number: &usize| least(*number) * figures <= 1.0 - CONFIDENCE;
        (2..RUNS_MAX).find(is_enough).unwrap_or(RUNS_MAX)
    }

    /// The answer of all figures: one that is worse decides; equal only if all are. `None` for one
    /// pair.
    #[must_use]
    pub fn answer(&self) -> Option<Answer> {
        let is_equal = |row: &Row| row.answer == Some(Answer::Equal);
        if self.is_pair() {
            return None;
        }
        let decides = [Answer::Worse, Answer::Better];
        let decided = decides.into_iter().find(|answer| self.has(*answer));
        Some(
            decided.unwrap_or_else(|| match self.rows.iter().all(is_equal) {
                true => Answer::Equal,
                false => Answer::Open,
            }),
        )
    }

    /// Whether any figure has this answer.
    #[must_use]
    pub fn has(&self, answer: Answer) -> bool {
        self.rows.iter().any(|row| row.answer == Some(answer))
    }
}

impl Runs {
    fn sorted(runs: &[Compared]) -> Self {
        let mut ordered: Vec<&Summary> = runs.iter().map(Compared::summary).collect();
        ordered.sort_by_key(|run| run.info.started_at_unix_ns);
        Self {
            ids: ordered.iter().map(|run| run.info.id.clone()).collect(),
            target: ordered
                .first()
                .map(|run| run.info.target.clone())
                .unwrap_or_default(),
            began: ordered
                .iter()
                .map(|run| run.info.started_at_unix_ns)
                .collect(),
            states: ordered.iter().map(|run| run.target.state).collect(),
        }
    }
}

/// Judges one figure: equal if the whole interval is within the least shift (two one-sided tests at
/// once), a direction if equal sets are improbable and the shift matters.
fn judge(
    figure: Figure,
    shift: f64,
    interval: Option<(f64, f64)>,
    is_improbable: bool,
    least: f64,
) -> Answer {
    let is_within = |(low, high): (f64, f64)| -least <= low && high <= least;
    if interval.is_some_and(is_within) {
        return Answer::Equal;
    }
    if !is_improbable || shift.abs() < least {
        return Answer::Open;
    }
    match (shift > 0.0) == figure.is_better_greater() {
        true => Answer::Better,
        false => Answer::Worse,
    }
}
