//! Sets of runs: a test of each figure by the ranks of whole runs.
//!
//! If one run lacks a figure, the figure is omitted for all runs, because its test would otherwise
//! be of other runs than the tests of the other figures. The probabilities are corrected for the
//! number of remaining figures only.
//!
//! Tests and shifts are computed on the scale of differences (`Figure::scaled`) and then converted
//! to shares. Ranks are equal on both scales. Intervals of a ratio come from its logarithm, and are
//! not symmetric.

use super::{Least, Row, agreed, judge};
use crate::answer::CONFIDENCE;
use crate::compared::Compared;
use crate::counted;
use crate::figure::Figure;
use drumfire_stats::{RUNS_MAX, RankSum, Shift, holm, holm_levels, median};

/// A row for each figure that all runs have, and cautions for the reader.
pub(crate) fn rows(
    base: &[Compared],
    candidate: &[Compared],
    least: Least,
) -> (Vec<Row>, Vec<String>) {
    let kind = Compared::latency_kind(base.iter().chain(candidate));
    let values = |figure: Figure, runs: &[Compared]| -> Option<Vec<f64>> {
        runs.iter().map(|run| figure.value(run, kind)).collect()
    };
    let measured = Figure::TESTED
        .into_iter()
        .filter_map(|figure| Some((figure, values(figure, base)?, values(figure, candidate)?)));
    let measured: Vec<_> = measured.collect();
    let tests = measured
        .into_iter()
        .filter_map(|(figure, base, candidate)| {
            let scaled = [&base, &candidate].map(|values| scaled(figure, values));
            let test = RankSum::compare(&scaled[0], &scaled[1])?;
            Some(Tested {
                figure,
                medians: [median(&base), median(&candidate)],
                scaled,
                p: test.p,
            })
        });
    let tests: Vec<Tested> = tests.collect();
    // Holm's procedure (1979) limits the probability of any false answer over all figures.
    let each: Vec<f64> = tests.iter().map(|test| test.p).collect();
    let levels = holm_levels(&each, 1.0 - CONFIDENCE);
    let raised = holm(&each).into_iter().zip(levels);
    let rows = tests.iter().zip(raised);
    let rows = rows.filter_map(|(test, (p, level))| test.row(p, level, least));
    let rows: Vec<Row> = rows.collect();
    let cautions = cautions(base, candidate, rows.len());
    (rows, cautions)
}

/// A figure of both sides with its own test.
struct Tested {
    figure: Figure,
    medians: [f64; 2],
    /// The values of both sides on the scale of differences.
    scaled: [Vec<f64>; 2],
    /// The probability by itself.
    p: f64,
}

impl Tested {
    /// The row of the figure, with its raised probability and the level of its test.
    fn row(&self, p: f64, level: f64, least: Least) -> Option<Row> {
        let figure = self.figure;
        let [base, candidate] = &self.scaled;
        let shift = |level: f64| Shift::estimate(base, candidate, 1.0 - level);
        let shifts = |(low, high): (f64, f64)| (figure.shift(low), figure.shift(high));
        let alone = shift(1.0 - CONFIDENCE)?;
        let estimate = figure.shift(alone.estimate);
        let is_improbable = p <= 1.0 - CONFIDENCE;
        let tested = shift(level)?.interval;
        let interval = tested.map(|it| agreed(shifts(it), estimate, is_improbable));
        let least = least.of_figure(figure, self.medians[0]);
        let runs = base.len().min(candidate.len());
        let needed = tested.or(alone.interval);
        let needed = needed.and_then(|it| needed_runs(runs, it, figure.difference(least)));
        Some(Row {
            figure,
            medians: self.medians,
            shift: estimate,
            interval,
            confidence: interval.map(|_| 1.0 - level),
            interval_alone: alone.interval.map(shifts),
            p: Some(p),
            detectable: None,
            needed,
            least,
            answer: Some(judge(figure, estimate, interval, is_improbable, least)),
        })
    }
}

/// The number of runs of each side with which half of this interval would be as small as the least
/// difference: the width falls with the square root of the number of runs. `None` above
/// [`RUNS_MAX`].
fn needed_runs(runs: usize, (low, high): (f64, f64), least: f64) -> Option<usize> {
    let times = ((high - low) / 2.0 / least).powi(2);
    let needed = (runs as f64 * times).ceil();
    (needed <= RUNS_MAX as f64).then_some(needed as usize)
}

/// The values on the scale of differences.
fn scaled(figure: Figure, values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| figure.scaled(*value)).collect()
}

/// Cautions about too few runs, and about an order of runs in which a change of the machine looks
/// like a change of the target.
fn cautions(base: &[Compared], candidate: &[Compared], figures: usize) -> Vec<String> {
    let mut cautions = Vec::new();
    // The least probability with this number of runs limits what any figure can prove.
    let raised = RankSum::least(base.len(), candidate.len()) * figures as f64;
    if raised > 1.0 - CONFIDENCE {
        let needed = (2..).find(|n| RankSum::least(*n, *n) * figures as f64 <= 1.0 - CONFIDENCE);
        let needed = needed.unwrap_or(usize::MAX);
        cautions.push(format!(
            "{} and {} runs are too few to show any difference, however large, in {}; take {needed} \
             of each.",
            base.len(),
            candidate.len(),
            counted(figures as u64, "figure"),
        ));
    }
    // If the sides overlap in time, the runs alternated at least once; the order within is not
    // checked.
    let begins = |runs: &[Compared]| {
        let began = runs.iter().map(|run| run.summary().info.started_at_unix_ns);
        (began.clone().min(), began.max())
    };
    let (base, candidate) = (begins(base), begins(candidate));
    if base.1 < candidate.0 || candidate.1 < base.0 {
        cautions.push(
            "All runs of one side came before those of the other, so a change of the machine looks like a change \
             of the target. Take them in turn (A B B A)."
                .to_owned(),
        );
    }
    cautions
}
