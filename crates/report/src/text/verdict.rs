//! Whether to believe the run, and whether it passed.

use super::foreign;
use crate::line::{Ink, Line, wrap};
use crate::page::Page;
use crate::table::{Column, Side, Table};
use drumfire_measure::{Summary, ThresholdResult, Validity};

/// Prints the verdict with its reasons, then each threshold.
pub(super) fn print(summary: &Summary, page: &mut Page<'_>) {
    let style = page.style;
    let (mark, ink, word) = match summary.verdict.validity {
        Validity::Valid => (style.glyph("✓", "+"), Ink::Good, "valid"),
        Validity::Suspect => ("!", Ink::Warn, "suspect"),
        Validity::Invalid => (style.glyph("✗", "x"), Ink::Bad, "invalid"),
    };
    let mut first = Line::of(format!("{mark} {word}"), ink);
    let total = summary.thresholds.len();
    let failed = summary.thresholds.iter().filter(|t| !t.passed).count();
    match (failed, total) {
        (_, 0) => {}
        (0, 1) => first.push(", the threshold holds", Ink::Plain),
        (0, _) => first.push(format!(", all {total} thresholds hold"), Ink::Plain),
        (_, 1) => first.push(", the threshold failed", Ink::Bad),
        _ => first.push(format!(", {failed} of {total} thresholds failed"), Ink::Bad),
    }
    let mut rows = vec![first];
    for reason in &summary.verdict.reasons {
        let reason = foreign(reason, style.unicode);
        for (index, text) in wrap(&reason, page.room() - 2).into_iter().enumerate() {
            let bullet = if index == 0 {
                style.glyph("· ", "- ")
            } else {
                "  "
            };
            rows.push(Line::of(bullet, ink).with(text, Ink::Plain));
        }
    }
    page.part("Verdict", rows);
    print_thresholds(&summary.thresholds, page);
    page.explain(
        "Valid: the generator kept its own schedule, so the numbers are the target's. Suspect or \
         invalid: something on this side got in the way, and the reason says what. A threshold shows the rule that was \
         asked for and the value that was measured.",
    );
}

/// One row for each threshold: passed or not, the rule, the measured value.
fn print_thresholds(thresholds: &[ThresholdResult], page: &mut Page<'_>) {
    if thresholds.is_empty() {
        return;
    }
    let style = page.style;
    let column = |side| Column {
        heading: "",
        side,
        dispensable: 0,
    };
    let mut table = Table::new([Side::Left; 3].map(column));
    for threshold in thresholds {
        let (mark, ink) = if threshold.passed {
            (style.glyph("✓", "+"), Ink::Good)
        } else {
            (style.glyph("✗", "x"), Ink::Bad)
        };
        let mut expression = Line::plain(foreign(&threshold.expression, style.unicode));
        expression.clip(page.room() / 2, style.glyph("…", "~"));
        let actual = foreign(&threshold.actual_text, style.unicode);
        table.row(vec![
            Line::of(mark, ink),
            expression,
            Line::of(actual, if threshold.passed { Ink::Plain } else { ink }),
        ]);
    }
    let lines = table.lines(page.room());
    page.part("Thresholds", lines);
}
