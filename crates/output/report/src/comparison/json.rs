//! A comparison as JSON.

use crate::secret;
use drumfire_compare::contract::comparison::{
    Differing, Document, Experiment, Figure, Side, Unsound,
};
use drumfire_compare::contract::{COMPARISON_SCHEMA, Named};
use drumfire_compare::{Against, CONFIDENCE, Comparison, Difference, Row, Runs, UnsoundRound};
use drumfire_measure::Summary;
use serde::Serialize;

/// The comparison as one JSON object, indented, with a line feed at its end.
#[must_use]
pub fn json(of: &Comparison) -> Vec<u8> {
    crate::json::bytes(&document(of))
}

/// The JSON of the summary of a run, with its comparison with a baseline under `comparison`.
#[must_use]
pub fn json_of_baseline(against: &Against, summary: &Summary) -> Vec<u8> {
    #[derive(Serialize)]
    struct WithBaseline<S, C> {
        #[serde(flatten)]
        summary: S,
        comparison: C,
    }

    crate::json::bytes(&WithBaseline {
        summary: crate::json::document(summary),
        comparison: document(&against.comparison),
    })
}

fn document(of: &Comparison) -> Document {
    Document {
        schema: COMPARISON_SCHEMA.to_owned(),
        answer: of.answer().map(Named),
        least: of.terms.least,
        confidence: CONFIDENCE,
        base: side(&of.base),
        candidate: side(&of.candidate),
        differences: of.differences.iter().map(differing).collect(),
        rounds: of.rounds.map(|rounds| Experiment {
            planned: rounds.planned,
            made: of.base.ids.len(),
            form: Named(rounds.form),
            ended: Named(rounds.ended),
            unsound: of.unsound.iter().map(unsound).collect(),
        }),
        figures: of.rows.iter().map(figure).collect(),
        cautions: of.cautions.clone(),
    }
}

fn side(runs: &Runs) -> Side {
    Side {
        target: secret::excerpt(&runs.target),
        runs: runs.ids.clone(),
        target_states: runs.states.iter().copied().map(Named).collect(),
    }
}

fn differing(difference: &Difference) -> Differing {
    let [base, candidate] = difference.values.clone();
    Differing {
        key: difference.key.clone(),
        base,
        candidate,
    }
}

fn unsound(round: &UnsoundRound) -> Unsound {
    Unsound {
        round: round.round,
        side: round.side.to_lowercase(),
        reason: round.reason.clone(),
    }
}

fn figure(row: &Row) -> Figure {
    Figure {
        name: row.figure.name().to_owned(),
        unit: row.figure.unit().to_owned(),
        base: row.medians[0],
        candidate: row.medians[1],
        shift: row.shift,
        interval: row.interval,
        interval_confidence: row.confidence,
        needed: row.needed,
        p: row.p,
        detectable: row.detectable,
        answer: row.answer.map(Named),
    }
}
