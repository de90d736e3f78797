//! Sets of runs: a test of each figure by the ranks of whole runs.
//!
//! If one run lacks a figure, the figure is omitted for all runs, because its test would otherwise
//! be of other runs than the tests of the other figures. The probabilities are corrected for the
//! number of remaining figures only.
//!
//! Tests and shifts are computed on the scale of differences (`Figure::scaled`) and then converted
//! to shares. Ranks are equal on both scales. Intervals of a ratio come from its logarithm, and are
//! not symmetric.

use super::{Least, Row, judge};
use crate::answer::CONFIDENCE;
use crate::compared::Compared;
use crate::counted;
use crate::figure::Figure;
use drumfire_stats::{RankSum, Shift, holm, median};

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
    let tests = measured.iter().filter_map(|(figure, base, candidate)| {
        let scaled = [base, candidate].map(|values| scaled(*figure, values));
        let test = RankSum::compare(&scaled[0], &scaled[1])?;
        let shift = Shift::estimate(&scaled[0], &scaled[1], CONFIDENCE)?;
        Some((*figure, [median(base), median(candidate)], test, shift))
    });
    let tests: Vec<_> = tests.collect();
    // Holm's procedure (1979) limits the probability of any false answer over all figures.
    let raised = holm(
        &tests
            .iter()
            .map(|(_, _, test, _)| test.p)
            .collect::<Vec<_>>(),
    );
    let rows: Vec<Row> = tests
        .into_iter()
        .zip(raised)
        .map(|((figure, medians, _, shift), p)| {
            let interval = shift.interval;
            let interval = interval.map(|(low, high)| (figure.shift(low), figure.shift(high)));
            let estimate = figure.shift(shift.estimate);
            let least = least.of_figure(figure, medians[0]);
            Row {
                figure,
                medians,
                shift: estimate,
                interval,
                p: Some(p),
                detectable: None,
                least,
                answer: Some(judge(
                    figure,
                    estimate,
                    interval,
                    p <= 1.0 - CONFIDENCE,
                    least,
                )),
            }
        })
        .collect();
    let cautions = cautions(base, candidate, rows.len());
    (rows, cautions)
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
