//! A comparison as JSON, for scripts.
//!
//! The words of answers are a part of the form, and change only with its version: they are no
//! sentences for people, which `text` has. Figures come in the order of the table; a script looks
//! them up by their name, since a run without a figure leaves it out.

use crate::secret;
use drumfire_compare::{
    Against, Answer, CONFIDENCE, Comparison, Difference, Row, Runs, UnsoundRound,
};
use drumfire_measure::Summary;
use serde::Serialize;

/// The name and version of the form; fields are only ever added to it.
pub const SCHEMA: &str = "drumfire.comparison.v1";

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    /// `null` where there is one pair.
    answer: Option<&'static str>,
    /// The least shift that matters, as a share.
    least: f64,
    confidence: f64,
    base: Side,
    candidate: Side,
    /// The facts of the plans in which the runs differ, in the order of their keys.
    differences: Vec<Differing>,
    /// `null` where no experiment made the runs.
    rounds: Option<Experiment>,
    figures: Vec<Entry>,
    cautions: Vec<String>,
}

/// One side: the target of its first run without credentials, and the ids of its runs in their order.
#[derive(Serialize)]
struct Side {
    target: String,
    runs: Vec<String>,
    /// The target's answer to each run.
    target_states: Vec<&'static str>,
}

/// A fact with its texts on either side; of several runs, each text once.
#[derive(Serialize)]
struct Differing {
    key: String,
    base: Vec<String>,
    candidate: Vec<String>,
}

/// An experiment that made pairs of runs.
#[derive(Serialize)]
struct Experiment {
    planned: usize,
    made: usize,
    form: &'static str,
    ended: &'static str,
    /// The rounds that had a run which can't be compared, and were made again.
    unsound: Vec<Unsound>,
}

/// A round with a run that can't be compared: `side` is `a` or `b`.
#[derive(Serialize)]
struct Unsound {
    round: usize,
    side: String,
    reason: String,
}

/// Times are in nanoseconds, shares from 0 to 1, rates in 1/s. A shift is a ratio less 1, of
/// failures a difference of shares.
#[derive(Serialize)]
struct Entry {
    name: &'static str,
    unit: &'static str,
    base: f64,
    candidate: f64,
    shift: f64,
    interval: Option<(f64, f64)>,
    p: Option<f64>,
    /// The least shift that four of five experiments with this spread find.
    detectable: Option<f64>,
    answer: Option<&'static str>,
}

/// The comparison as one JSON object, indented, with a line feed at its end.
#[must_use]
pub fn json(of: &Comparison) -> Vec<u8> {
    crate::json::bytes(&document(of))
}

/// The JSON of the summary of a run, with its comparison with a baseline under `comparison`.
#[must_use]
pub fn json_of_baseline(against: &Against, summary: &Summary) -> Vec<u8> {
    crate::json::bytes(&WithBaseline {
        summary: crate::json::document(summary),
        comparison: document(&against.comparison),
    })
}

/// A summary with the comparison of its run with a baseline.
#[derive(Serialize)]
struct WithBaseline<S: Serialize, C: Serialize> {
    #[serde(flatten)]
    summary: S,
    comparison: C,
}

fn document(of: &Comparison) -> Document {
    Document {
        schema: SCHEMA,
        answer: of.answer().map(Answer::name),
        least: of.terms.least,
        confidence: CONFIDENCE,
        base: Side::of(&of.base),
        candidate: Side::of(&of.candidate),
        differences: of.differences.iter().map(Differing::of).collect(),
        rounds: of.rounds.map(|rounds| Experiment {
            planned: rounds.planned,
            made: of.base.ids.len(),
            form: rounds.form.name(),
            ended: rounds.ended.name(),
            unsound: of.unsound.iter().map(Unsound::of).collect(),
        }),
        figures: of.rows.iter().map(Entry::of).collect(),
        cautions: of.cautions.clone(),
    }
}

impl Side {
    fn of(runs: &Runs) -> Self {
        Self {
            target: secret::excerpt(&runs.target),
            runs: runs.ids.clone(),
            target_states: runs.states.iter().map(|state| state.name()).collect(),
        }
    }
}

impl Differing {
    fn of(difference: &Difference) -> Self {
        let [base, candidate] = difference.values.clone();
        Self {
            key: difference.key.clone(),
            base,
            candidate,
        }
    }
}

impl Unsound {
    fn of(round: &UnsoundRound) -> Self {
        Self {
            round: round.round,
            side: round.side.to_lowercase(),
            reason: round.reason.clone(),
        }
    }
}

impl Entry {
    fn of(row: &Row) -> Self {
        Self {
            name: row.figure.name(),
            unit: row.figure.unit(),
            base: row.medians[0],
            candidate: row.medians[1],
            shift: row.shift,
            interval: row.interval,
            p: row.p,
            detectable: row.detectable,
            answer: row.answer.map(Answer::name),
        }
    }
}
