//! A base and a candidate compared: whether the candidate is worse, better or equal, and by how much.
//!
//! [`Comparison::of`] refuses runs whose difference would say nothing about the target
//! (`likeness`), takes the same figures of each run (`figure`), and compares them in one of three
//! ways. Sets of runs are compared by ranks of whole runs (`sets`), and have an answer. One pair is
//! compared by blocks of its intervals (`pair`): its intervals hold what chance *within* the runs
//! can do, and not what makes two runs of one program differ, so that it never has an answer. Pairs
//! that an experiment made ([`Comparison::of_rounds`]) are compared by their differences (`rounds`),
//! while it goes on and at its end.
//!
//! A shift is a ratio, less 1, for times and rates, and a difference of shares for failures. A
//! positive shift of a time or of failures is a candidate that is worse; of a rate, one that is
//! better. `text`, `markdown` and `json` show what is here and compute
//! nothing.

mod baseline;
mod compared;
mod differences;
mod figure;
mod json;
mod likeness;
mod markdown;
mod pair;
mod rounds;
mod sets;
mod text;

use differences::Difference;
use drumfire_measure::{RunInfo, Summary, TargetState};

pub use baseline::{Against, Baseline};
pub use compared::Compared;
pub(crate) use figure::Figure;
pub(crate) use text::{Cells, percent, signed, value};

pub use drumfire_stats::RUNS_MAX;
use drumfire_stats::RankSum;
pub use json::SCHEMA;
pub use rounds::{ROUNDS_MAX, ROUNDS_MIN, RoundForm, Rounds, RoundsEnd, UnsoundRound};
pub use text::foreseen;

/// The confidence of every interval.
const CONFIDENCE: f64 = 0.95;

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
    terms: Terms,
    base: Runs,
    candidate: Runs,
    /// The facts of their plans in which the runs differ.
    differences: Vec<Difference>,
    /// The experiment that made the runs, if one did.
    rounds: Option<Rounds>,
    /// The rounds of it that could not be compared.
    unsound: Vec<UnsoundRound>,
    rows: Vec<Row>,
    /// Why its answers say less than they seem to, in sentences.
    cautions: Vec<String>,
}

/// One side: its runs in the order of their time.
#[derive(Debug)]
struct Runs {
    ids: Vec<String>,
    target: String,
    /// The beginning of each, in nanoseconds of the Unix time.
    began: Vec<u64>,
    /// The target's answer to each.
    states: Vec<TargetState>,
}

/// A figure of both sides.
#[derive(Debug)]
struct Row {
    figure: Figure,
    /// The median over the runs of each side: base, candidate.
    medians: [f64; 2],
    /// The estimate of the shift and its interval.
    shift: f64,
    interval: Option<(f64, f64)>,
    /// The probability that equal sets differ as much, raised for the number of figures, and of
    /// looks at an experiment. `None` where there is one pair.
    p: Option<f64>,
    /// The least shift that four of five experiments with this spread find; `None` of runs that no
    /// experiment made.
    detectable: Option<f64>,
    /// `None` where there is one pair.
    answer: Option<Answer>,
}

/// What a figure says of the candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Worse,
    Better,
    /// The whole interval is within the least shift that matters.
    Equal,
    /// Neither a shift nor its absence is shown.
    Open,
}

impl Comparison {
    /// Compares two sides of at least one run each.
    ///
    /// # Errors
    /// When a side is empty or too large, or when runs are not comparable; the text names the run
    /// and the reason.
    pub fn of(base: &[Compared], candidate: &[Compared], terms: Terms) -> Result<Self, String> {
        likeness::check(base, candidate, terms.any_target)?;
        let (rows, cautions) = match (base, candidate) {
            ([base], [candidate]) => pair::rows(base, candidate),
            _ => sets::rows(base, candidate, terms.least),
        };
        Ok(Self {
            terms,
            base: Runs::of(base),
            candidate: Runs::of(candidate),
            differences: differences::of(base, candidate),
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
            base: Runs::of(base),
            candidate: Runs::of(candidate),
            differences: differences::of(base, candidate),
            rounds: Some(rounds),
            unsound: unsound.to_vec(),
            rows,
            cautions,
        })
    }

    /// The same with further reasons for which it says less than it seems to, in sentences.
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

    /// Whether a figure of the candidate is worse. Never where there is one pair.
    #[must_use]
    pub fn is_worse(&self) -> bool {
        self.has(Answer::Worse)
    }

    fn is_pair(&self) -> bool {
        self.rounds.is_none() && self.base.ids.len() == 1 && self.candidate.ids.len() == 1
    }

    /// The number of rounds, or of runs of each side, with which a shift can be shown at all: that all
    /// differ in one direction is improbable enough then, beside the other figures.
    fn enough(&self) -> usize {
        let least = |number: usize| match self.rounds {
            Some(_) => 0.5_f64.powf(number as f64 - 1.0),
            None => RankSum::least(number, number),
        };
        let figures = self.rows.len().max(1) as f64;
        let is_enough = |number: &usize| least(*number) * figures <= 1.0 - CONFIDENCE;
        (2..RUNS_MAX).find(is_enough).unwrap_or(RUNS_MAX)
    }

    fn has(&self, answer: Answer) -> bool {
        self.rows.iter().any(|row| row.answer == Some(answer))
    }
}

impl Answer {
    /// The answer of one figure: equal where the whole interval is within the least shift (two
    /// one-sided tests at once), a direction where equal sets are improbable and the shift matters.
    fn of(
        figure: Figure,
        shift: f64,
        interval: Option<(f64, f64)>,
        is_improbable: bool,
        least: f64,
    ) -> Self {
        let is_within = |(low, high): (f64, f64)| -least <= low && high <= least;
        if interval.is_some_and(is_within) {
            return Self::Equal;
        }
        if !is_improbable || shift.abs() < least {
            return Self::Open;
        }
        match (shift > 0.0) == figure.is_better_greater() {
            true => Self::Better,
            false => Self::Worse,
        }
    }
}

impl Runs {
    fn of(runs: &[Compared]) -> Self {
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
