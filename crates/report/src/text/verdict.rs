//! The three answers: whether to believe the run, whether its load was kept, how the target did;
//! and the thresholds.
//!
//! The answers come first since every figure below depends on them. An answer that is the best one
//! takes a word; any other has its reasons under it, and each reason its remedies.
//!
//! The words of an answer and its reasons are those of `measure`, so that the page, the documents
//! and an exit code can't disagree; this file decides about their order, marks and wrapping alone.
//! Reasons and rules may hold text of a plan or a stored run, and are escaped before they are
//! wrapped.

use super::foreign;
use crate::answers::{self, Grade};
use crate::line::{Ink, Line, flow, wrap};
use crate::page::Page;
use crate::quantity::{in_letters, span};
use crate::remedy::sentence;
use crate::style::Style;
use crate::table::{Column, Side, Table};
use drumfire_measure::{Reason, Summary, ThresholdResult};

/// Prints the three answers with their reasons, then each threshold.
pub(super) fn print(summary: &Summary, page: &mut Page<'_>) {
    let answers = answers(summary, page.style);
    let mut firsts: Vec<Line> = answers.iter().map(|answer| answer.line.clone()).collect();
    firsts.extend(thresholds_line(&summary.thresholds, page.style));
    let separator = page.style.glyph(" · ", ", ");
    let mut rows = flow(firsts, separator, page.room());
    rows.extend(answers.iter().flat_map(|answer| reason_lines(answer, page)));
    page.part("Verdict", rows);
    print_thresholds(&summary.thresholds, page);
    page.explain(
        "Run: valid if drumfire kept its own schedule, so the numbers are the target's; suspect or \
         invalid if drumfire or its machine distorted them. Load: whether the planned load was \
         sent. Target: whether the responses were as expected. Thresholds: each rule with the \
         measured value.",
    );
}

/// One answer as it is printed: its mark and word, and the reasons for which it is not the best one.
/// The one-line report takes the line alone.
pub(crate) struct Answer<'a> {
    pub(crate) line: Line,
    pub(crate) ink: Ink,
    pub(crate) reasons: &'a [Reason],
}

/// The three answers in the order of [`answers::answers`], each behind its mark and in its colour.
/// The mark says the same as the colour, for terminals without.
pub(crate) fn answers<'a>(summary: &'a Summary, style: &Style) -> Vec<Answer<'a>> {
    let printed = |answer: answers::Answer<'a>| {
        let (mark, ink) = match answer.grade {
            Grade::Good => (style.glyph("✓", "+"), Ink::Good),
            Grade::Fair => ("!", Ink::Warn),
            Grade::Bad => (style.glyph("✗", "x"), Ink::Bad),
            Grade::Open => ("?", Ink::Dim),
        };
        Answer {
            line: Line::of(format!("{mark} {}", answer.text), ink),
            ink,
            reasons: answer.reasons,
        }
    };
    answers::answers(summary).into_iter().map(printed).collect()
}

/// The number of thresholds that hold or fail, in words; `None` where there are none.
///
/// A condition that ends the run is counted like any other: one that ended it has failed.
pub(crate) fn thresholds_line(thresholds: &[ThresholdResult], style: &Style) -> Option<Line> {
    let total = thresholds.len();
    let failed = thresholds.iter().filter(|t| !t.passed).count();
    let (tick, cross) = (style.glyph("✓", "+"), style.glyph("✗", "x"));
    Some(match (failed, total) {
        (_, 0) => return None,
        (0, 1) => Line::of(format!("{tick} the threshold holds"), Ink::Good),
        (0, 2) => Line::of(format!("{tick} both thresholds hold"), Ink::Good),
        (0, _) => Line::of(format!("{tick} all {total} thresholds hold"), Ink::Good),
        (_, 1) => Line::of(format!("{cross} the threshold failed"), Ink::Bad),
        _ => {
            let text = format!("{cross} {failed} of {total} thresholds failed");
            Line::of(text, Ink::Bad)
        }
    })
}

/// The reasons of an answer as lines, each with its remedies. A bullet has its answer's colour, by
/// which a reader finds the answer again that the reason belongs to. Lines of one reason are
/// indented alike, so that the next bullet is seen.
fn reason_lines(answer: &Answer<'_>, page: &Page<'_>) -> Vec<Line> {
    let style = page.style;
    let mut rows = Vec::new();
    for reason in answer.reasons {
        let reason = foreign(
            &in_letters(&sentence(reason, style.naming), style.unicode),
            style.unicode,
        );
        for (index, text) in wrap(&reason, page.room() - 2).into_iter().enumerate() {
            let bullet = match index {
                0 => style.glyph("· ", "- "),
                _ => "  ",
            };
            rows.push(Line::of(bullet, answer.ink).with(text, Ink::Plain));
        }
    }
    rows
}

/// The columns of a threshold's mark, and of the narrowest gaps beside it and its rule: what a row
/// has beyond the rule and the figure.
const MARK: usize = 3;

/// Prints a row for each threshold in the plan's order: its mark, the rule, and the figure that was
/// measured. A figure's text may be a sentence, which is wrapped beside the rules; that of a
/// condition says when it ended the run.
///
/// The rule takes half of the page at most and is cut, the figure takes the rest and is wrapped:
/// the reader knows the rule, and not the figure. Further lines of a figure are rows with empty
/// cells before them.
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
    let clipped = |threshold: &ThresholdResult| {
        let mut rule = match threshold.is_condition {
            true => Line::plain("abort on "),
            false => Line::new(),
        };
        rule.push(foreign(&threshold.expression, style.unicode), Ink::Plain);
        rule.clip(page.room() / 2, style.glyph("…", "~"));
        rule
    };
    let widest = thresholds
        .iter()
        .map(|threshold| clipped(threshold).width());
    let beside = MARK + widest.max().unwrap_or(0);
    let mut table = Table::new([Side::Left; 3].map(column));
    for threshold in thresholds {
        let (mark, ink) = if threshold.passed {
            (style.glyph("✓", "+"), Ink::Good)
        } else {
            (style.glyph("✗", "x"), Ink::Bad)
        };
        let mut actual = in_letters(&threshold.actual_text, style.unicode);
        if let Some(at) = threshold.ended_run_at {
            actual.push_str(&format!("; ended the run at {}", span(at, style.unicode)));
        }
        let actual = foreign(&actual, style.unicode);
        let ink_actual = if threshold.passed { Ink::Plain } else { ink };
        let mut cells = vec![Line::of(mark, ink), clipped(threshold)];
        let mut pieces = wrap(&actual, page.room().saturating_sub(beside));
        if pieces.is_empty() {
            pieces.push(actual);
        }
        for piece in pieces {
            cells.push(Line::of(piece, ink_actual));
            table.row(std::mem::replace(
                &mut cells,
                vec![Line::new(), Line::new()],
            ));
        }
    }
    let lines = table.lines(page.room());
    page.part("Thresholds", lines);
}
