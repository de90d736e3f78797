//! The thresholds that failed in runs of an experiment: cautions, because the answer of an
//! experiment is about differences, and both sides can miss the same threshold.

use crate::compared::Compared;

/// A sentence for each threshold of a side that failed in any round, in the order of the plan. Run
/// n of a side is of round n + 1.
pub(super) fn cautions(base: &[Compared], candidate: &[Compared]) -> Vec<String> {
    let sides = [("A", base), ("B", candidate)].into_iter();
    sides
        .flat_map(|(side, runs)| {
            let failed = expressions(runs).into_iter();
            failed.map(move |expression| sentence(side, runs, expression))
        })
        .collect()
}

/// The thresholds that failed in any of these runs, without duplicates.
fn expressions(runs: &[Compared]) -> Vec<&str> {
    let mut failed: Vec<&str> = Vec::new();
    for run in runs {
        for expression in failed_in(run) {
            if !failed.contains(&expression) {
                failed.push(expression);
            }
        }
    }
    failed
}

/// The thresholds that failed in a run.
fn failed_in(run: &Compared) -> impl Iterator<Item = &str> {
    let thresholds = run.summary().thresholds.iter();
    thresholds
        .filter(|threshold| !threshold.passed)
        .map(|threshold| &*threshold.expression)
}

fn sentence(side: &str, runs: &[Compared], expression: &str) -> String {
    let rounds = (1..).zip(runs);
    let rounds = rounds.filter(|(_, run)| failed_in(run).any(|other| other == expression));
    let rounds: Vec<String> = rounds
        .map(|(round, _): (u32, _)| round.to_string())
        .collect();
    let rounds = match rounds.as_slice() {
        all if all.len() == runs.len() && all.len() > 1 => format!("all {} rounds", all.len()),
        [only] => format!("round {only}"),
        [first @ .., last] => format!("rounds {} and {last}", first.join(", ")),
        [] => return String::new(),
    };
    format!("{side}: the threshold {expression} failed in {rounds}.")
}
