//! The three answers with their reasons, and the thresholds.
//!
//! The answers come first, since every number below depends on them. `measure` has made their
//! reasons, so that a report, a document and an exit code can't disagree.

use super::{Body, Cell, Column, Facts, Grid, PageExtent, Row, Section};
use crate::answers::{Answer, Grade, answers, rule};
use crate::line::Ink;
use crate::quantity::span;
use crate::remedy::sentence;
use crate::style::Unicode;
use drumfire_measure::{Summary, ThresholdResult};

/// The answers in a line, a bullet for each reason, and the thresholds.
pub(super) fn section(summary: &Summary, extent: &PageExtent) -> Option<Section> {
    let reasons = answers(summary).into_iter().flat_map(|answer| {
        let reasons = answer.reasons.iter();
        reasons.map(move |reason| {
            let words = Cell::foreign(sentence(reason, extent.naming));
            (ink(answer.grade), words)
        })
    });
    let bodies = vec![
        Body::Facts(Facts::items("Verdict", items(summary))),
        Body::Facts(Facts::bullets("", reasons.collect())),
        Body::List("Thresholds", thresholds(&summary.thresholds)),
    ];
    let explanation = "Run: valid if drumfire kept its own schedule, so the numbers are the \
                       target's; suspect or invalid if drumfire or its machine distorted them. \
                       Load: whether the planned load was sent. Target: whether the responses were \
                       as expected. Thresholds: each rule with the measured value.";
    Section::new("verdict", "Verdict", explanation, bodies)
}

/// The colour of an answer.
pub(crate) const fn ink(grade: Grade) -> Ink {
    match grade {
        Grade::Good => Ink::Good,
        Grade::Fair => Ink::Warn,
        Grade::Bad => Ink::Bad,
        Grade::Open => Ink::Dim,
    }
}

/// The three answers and the thresholds, each with a mark that means the same as its colour.
pub(crate) fn items(summary: &Summary) -> Vec<Cell> {
    let all = answers(summary);
    let items = all.iter().map(item);
    items.chain(held(&summary.thresholds)).collect()
}

/// An answer after its mark.
pub(crate) fn item(answer: &Answer<'_>) -> Cell {
    Cell::new(format!("{} {}", answer.grade.mark(), answer.text)).inked(ink(answer.grade))
}

/// The number of thresholds that hold or fail, in words; `None` without thresholds. A condition that
/// ended the run has failed.
fn held(thresholds: &[ThresholdResult]) -> Option<Cell> {
    let total = thresholds.len();
    let failed = thresholds.iter().filter(|of| !of.passed).count();
    let text = match (failed, total) {
        (_, 0) => return None,
        (0, 1) => "✓ the threshold holds".to_owned(),
        (0, 2) => "✓ both thresholds hold".to_owned(),
        (0, _) => format!("✓ all {total} thresholds hold"),
        (_, 1) => "✗ the threshold failed".to_owned(),
        _ => format!("✗ {failed} of {total} thresholds failed"),
    };
    let ink = if failed == 0 { Ink::Good } else { Ink::Bad };
    Some(Cell::new(text).inked(ink))
}

/// A row for each threshold in the plan's order: its mark, the rule, and the measured value, which
/// may be a sentence. A condition has the time at which it ended the run.
pub(crate) fn thresholds(thresholds: &[ThresholdResult]) -> Grid {
    let rows = thresholds.iter().map(|threshold| {
        let (mark, ink, plain) = match threshold.passed {
            true => ("✓", Ink::Good, Ink::Plain),
            false => ("✗", Ink::Bad, Ink::Bad),
        };
        let ended = threshold.ended_run_at;
        let ended = ended.map(|at| format!("; ended the run at {}", span(at, Unicode::On)));
        let measured = format!("{}{}", threshold.actual_text, ended.unwrap_or_default());
        Row::from(vec![
            Cell::new(mark).inked(ink),
            Cell::code(rule(threshold)),
            Cell::foreign(measured).inked(plain),
        ])
    });
    let columns = vec![
        Column::words("", 0),
        Column::names("threshold"),
        Column::prose("measured"),
    ];
    Grid::new(columns, rows)
}
