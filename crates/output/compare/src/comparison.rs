//! A comparison of a base and a candidate: whether the candidate is worse, better or equal, and by
//! how much.
//!
//! [`Comparison::of_sets`] refuses runs whose difference would not describe the target
//! (`likeness`), takes the same figures of each run (`figure`), and compares them in one of three
//! ways. Sets of runs are compared by ranks of whole runs (`sets`), and have an answer. A single
//! pair is compared by blocks of its intervals (`pair`). Its intervals contain the random variation
//! *within* the runs, but not the variation between runs of one program, so a pair never has an
//! answer. The pairs of an experiment ([`Comparison::of_rounds`]) are compared by their differences
//! (`rounds`), during the experiment and at its end.
//!
//! A shift is a ratio minus 1 for times and rates, and a difference of shares for failures. With a
//! positive shift, the candidate is worse in times and failures, and better in rates.

mod clock_gap;
pub(crate) mod likeness;
mod pair;
mod rounds;
mod sets;
mod thresholds;

use crate::answer::{Answer, CONFIDENCE};
use crate::compared::Compared;
use crate::differences::Difference;
use crate::figure::Figure;
use crate::round::{Rounds, UnsoundRound};
use clock_gap::ClockGap;
use drumfire_measure::{RunInfo, Summary, TargetState};
use drumfire_stats::{RUNS_MAX, RankSum};

/// The terms of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The least shift of times and rates that matters, as a share above 0: 0.02 is 2 %. A smaller
    /// shift counts as equal. Failures have a fixed least shift.
    pub least: f64,
    /// Whether the runs may have different targets.
    pub any_target: bool,
}

/// A completed comparison.
#[derive(Debug)]
pub struct Comparison {
    /// The terms of the comparison.
    pub terms: Terms,
    /// The runs of the base.
    pub base: Runs,
    /// The runs of the candidate.
    pub candidate: Runs,
    /// The facts of the plans in which the runs differ.
    pub differences: Vec<Difference>,
    /// The experiment that made the runs, if one did.
    pub rounds: Option<Rounds>,
    /// The rounds of the experiment that are not comparable.
    pub unsound: Vec<UnsoundRound>,
    /// The figures that all runs have.
    pub rows: Vec<Row>,
    /// Reasons to trust the answers less, in sentences.
    pub cautions: Vec<String>,
}

/// One side of a comparison, with its runs in order of time.
#[derive(Debug)]
pub struct Runs {
    /// The ids of the runs.
    pub ids: Vec<String>,
    /// The target of the first run.
    pub target: String,
    /// The start of each run, in Unix nanoseconds.
    pub began: Vec<u64>,
    /// The state of the target in each run.
    pub states: Vec<TargetState>,
}

/// A figure of both sides.
#[derive(Debug)]
pub struct Row {
    /// The figure.
    pub figure: Figure,
    /// The median over the runs of each side: base, candidate.
    pub medians: [f64; 2],
    /// The estimated shift.
    pub shift: f64,
    /// The ends of the shift's interval at the level at which the figure is tested beside the
    /// others: the interval excludes 0 exactly if the difference is improbable. `None` without
    /// enough data. For a single pair, the interval of the figure alone.
    pub interval: Option<(f64, f64)>,
    /// The confidence of `interval`, from [`CONFIDENCE`] to 1; `None` without an interval.
    pub confidence: Option<f64>,
    /// The ends of the interval with [`CONFIDENCE`] for the figure alone, as if no other were
    /// tested; `None` without enough data.
    pub interval_alone: Option<(f64, f64)>,
    /// The probability that equal sets differ this much, corrected for the number of figures and of
    /// looks at an experiment. `None` for a single pair.
    pub p: Option<f64>,
    /// The smallest shift that four of five experiments with this spread find; `None` without an
    /// experiment.
    pub detectable: Option<f64>,
    /// The number of rounds, or of runs of each side, with which runs of this spread would show or
    /// exclude the least shift, by the figure's own spread; `None` if it is unknown, or above
    /// [`RUNS_MAX`].
    pub needed: Option<usize>,
    /// The least shift that matters: that of the terms, or what different clocks explain.
    pub least: f64,
    /// The answer about the candidate; `None` for a single pair.
    pub answer: Option<Answer>,
}

impl Comparison {
    /// Compares two sides with at least one run each.
    ///
    /// # Errors
    /// If a side is empty or too large, or if runs are not comparable; the text contains the run
    /// and the reason.
    pub fn of_sets(
        base: &[Compared],
        candidate: &[Compared],
        terms: Terms,
    ) -> Result<Self, String> {
        likeness::check(base, candidate, terms.any_target)?;
        let least = Least::new(terms, base, candidate);
        let (rows, mut cautions) = match (base, candidate) {
            ([base], [candidate]) => pair::rows(base, candidate, least),
            _ => sets::rows(base, candidate, least),
        };
        cautions.extend(least.gap.map(ClockGap::caution));
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

    /// Compares the runs of an experiment so far: the first run of one side with the first of the
    /// other, and so on. The targets may differ, because an experiment compares targets. `unsound`
    /// contains the rounds with a run that is not comparable.
    ///
    /// # Errors
    /// If the sides have different numbers of runs, or if runs are not comparable; the text
    /// contains the run and the reason.
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
        let least = Least::new(terms, base, candidate);
        let (rows, mut cautions) = rounds::rows(base, candidate, least, rounds);
        cautions.extend(least.gap.map(ClockGap::caution));
        cautions.extend(thresholds::cautions(base, candidate));
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

    /// Adds cautions: further reasons to trust the answers less, in sentences.
    #[must_use]
    pub fn cautioned(mut self, more: impl IntoIterator<Item = String>) -> Self {
        self.cautions.extend(more);
        self
    }

    /// Checks whether the figures of a run measure its target at all.
    ///
    /// # Errors
    /// The run and the reason, in a sentence.
    pub fn check(run: &Compared) -> Result<(), String> {
        likeness::is_sound(run)
    }

    /// Checks whether runs of two plans are comparable, as far as the plans show.
    ///
    /// # Errors
    /// The difference.
    pub fn check_plans(base: &RunInfo, candidate: &RunInfo) -> Result<(), String> {
        let [base, candidate] = [base, candidate].map(Compared::planned);
        match likeness::difference(&base, &candidate) {
            Some(what) => Err(what),
            None => Ok(()),
        }
    }

    /// Whether any figure of the candidate is worse or better.
    #[must_use]
    pub fn is_different(&self) -> bool {
        self.has(Answer::Worse) || self.has(Answer::Better)
    }

    /// Whether any figure of the candidate is worse. Always false for a single pair.
    #[must_use]
    pub fn is_worse(&self) -> bool {
        self.has(Answer::Worse)
    }

    /// Whether the comparison is of a single pair of runs, which has no answer.
    #[must_use]
    pub const fn is_pair(&self) -> bool {
        self.rounds.is_none() && self.base.ids.len() == 1 && self.candidate.ids.len() == 1
    }

    /// The minimum number of rounds of an experiment that can show a shift, however the tested
    /// figures vary.
    #[must_use]
    pub fn rounds_enough() -> usize {
        Rounds::enough_for(Figure::TESTED.len())
    }

    /// The minimum number of rounds, or of runs of each side, that can prove any shift: with fewer,
    /// even differences that all have one direction are too probable over all figures.
    #[must_use]
    pub fn enough(&self) -> usize {
        if self.rounds.is_some() {
            return Rounds::enough_for(self.rows.len());
        }
        let figures = self.rows.len().max(1) as f64;
        let is_enough =
            |number: &usize| RankSum::least(*number, *number) * figures <= 1.0 - CONFIDENCE;
        (2..RUNS_MAX).find(is_enough).unwrap_or(RUNS_MAX)
    }

    /// The undecided figures, each with the number of rounds, or of runs of each side, that would
    /// decide it; `None` for a figure that needs more than [`RUNS_MAX`], or whose spread is
    /// unknown. Empty for a single pair.
    #[must_use]
    pub fn undecided(&self) -> Vec<(Figure, Option<usize>)> {
        let enough = self.enough();
        let open = |row: &&Row| row.answer == Some(Answer::Open);
        let needed = |row: &Row| (row.figure, row.needed.map(|needed| needed.max(enough)));
        self.rows.iter().filter(open).map(needed).collect()
    }

    /// The answer for all figures: worse if any figure is worse, otherwise better if any is better,
    /// and equal only if all are equal. `None` for a single pair.
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

/// The least shifts that matter in a comparison.
#[derive(Clone, Copy, Debug)]
struct Least {
    of_ratios: f64,
    gap: Option<ClockGap>,
}

impl Least {
    fn new(terms: Terms, base: &[Compared], candidate: &[Compared]) -> Self {
        Self {
            of_ratios: terms.least,
            gap: ClockGap::new(base.iter().chain(candidate)),
        }
    }

    /// The least shift of a figure with this median of the base.
    fn of_figure(self, figure: Figure, base: f64) -> f64 {
        let of_clocks = self.gap.map_or(0.0, |gap| gap.least(figure, base));
        figure.least(self.of_ratios).max(of_clocks)
    }
}

/// The interval of a figure, so that it excludes 0 exactly if the difference is improbable. Equal
/// differences can make the interval, which ignores ties, contradict the test, which counts them.
fn agreed((low, high): (f64, f64), shift: f64, is_improbable: bool) -> (f64, f64) {
    match (is_improbable, low < 0.0 && 0.0 < high) {
        (true, true) if shift > 0.0 => (0.0, high),
        (true, true) => (low, 0.0),
        (true, false) => (low, high),
        (false, _) => (low.min(0.0), high.max(0.0)),
    }
}

/// Judges one figure. Equal if the whole interval is within the least shift (two one-sided tests at
/// once); worse or better if equal sets are improbable and the shift matters.
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
