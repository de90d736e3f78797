//! The rows below the numbers: the wait for a first answer, the thresholds, and the reasons of
//! answers.
//!
//! A function gets the number of its rows. If these do not suffice, the last one ends with the number
//! of the items that are left out, and with the view that has all of them.

use crate::answers::{answers, rule};
use crate::line::{Ink, Line};
use crate::quantity::{count, enumerated, in_letters, share_of, span};
use crate::remedy::sentence;
use crate::section::verdict;
use crate::style::Style;
use crate::untrusted::foreign;
use drumfire_measure::{Outcome, Summary, TargetState, ThresholdResult};
use drumfire_units::Nanos;
use std::cmp::Reverse;

/// The maximum number of kinds of failure in a row.
const KINDS: usize = 3;

/// A run without a first answer: the target cannot be judged yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspense {
    /// The requests under way.
    pub under_way: u64,
    /// The due requests that are not sent.
    pub waiting: u64,
    /// The time that the oldest request has been under way for at least, if known.
    pub oldest: Option<Nanos>,
}

impl Suspense {
    /// Whether no exchange of the run has ended, not even in the warm-up.
    #[must_use]
    pub const fn holds(summary: &Summary) -> bool {
        let total = &summary.total;
        total.counts.finished() == 0 && total.warmup.finished() == 0
    }

    /// The line instead of the three answers, which would be false alarms now.
    #[must_use]
    pub fn line(&self, style: &Style) -> Line {
        let mut items = vec![match self.under_way {
            0 => "no request sent yet".to_owned(),
            _ => "no answer yet".to_owned(),
        }];
        if self.under_way > 0 {
            items.push(format!("{} under way", count(self.under_way)));
        }
        // Shorter times would only be noise.
        let oldest = self.oldest.map(|oldest| oldest.0 / 1_000_000_000);
        if let Some(seconds @ 1..) = oldest.filter(|_| self.under_way > 0) {
            let time = span(Nanos::from_secs(seconds), style.unicode);
            items.push(format!("the oldest for over {time}"));
        }
        if self.waiting > 0 {
            items.push(format!("{} waiting", count(self.waiting)));
        }
        let mark = style.glyph("…", "...");
        Line::single(format!("{mark} "), Ink::Dim).with(items.join(", "), Ink::Plain)
    }
}

/// The thresholds in at most `rows` lines: each with a sign, the rule and the measured value; those
/// that fail first. A rule without a value so far has neither failed nor held, and has its reason.
#[must_use]
pub fn thresholds(summary: &Summary, rows: usize, width: usize, style: &Style) -> Vec<Line> {
    let mut all: Vec<&ThresholdResult> = summary.thresholds.iter().collect();
    all.sort_by_key(|threshold| match (threshold.actual, threshold.passed) {
        (Some(_), false) => 0,
        (Some(_), true) => 1,
        (None, _) => 2,
    });
    let has_ended = !Suspense::holds(summary);
    let item = |of: &&ThresholdResult| match of.actual {
        // The reason is of interest only beside values.
        None if has_ended => threshold(of, style).with(format!(": {}", of.actual_text), Ink::Dim),
        _ => threshold(of, style),
    };
    let items: Vec<Line> = all.iter().map(item).collect();
    let mut lines: Vec<Line> = Vec::new();
    let gap = 3;
    for (at, item) in items.iter().enumerate() {
        let rest = items.len() - at - 1;
        let taken = lines.len();
        // The last line needs room for the number of the others.
        let room = match (taken >= rows, rest) {
            (true, 1..) => width.saturating_sub(more(rest).width() + 2),
            _ => width,
        };
        match lines.last_mut() {
            Some(line) if line.width() + gap + item.width() <= room => {
                line.space(gap);
                line.append(item.clone());
            }
            _ if taken < rows => lines.push(item.clone()),
            _ => {
                end_with(lines.last_mut(), items.len() - at, width, style);
                break;
            }
        }
    }
    lines
}

/// A threshold with its sign and its value.
fn threshold(of: &ThresholdResult, style: &Style) -> Line {
    let (mark, ink) = match (of.actual, of.passed) {
        (None, _) => (style.glyph("…", "~"), Ink::Dim),
        (Some(_), true) => (style.glyph("✓", "+"), Ink::Good),
        (Some(_), false) => (style.glyph("✗", "x"), Ink::Bad),
    };
    let rule = in_letters(&foreign(&rule(of), style.unicode), style.unicode);
    let line = Line::single(format!("{mark} "), ink).with(rule, Ink::Plain);
    match of.actual {
        Some(_) => {
            let value = foreign(&of.actual_text, style.unicode);
            line.with(format!(" {}", in_letters(&value, style.unicode)), ink)
        }
        None => line,
    }
}

/// The reasons of all answers that are not the best one, then the kinds of failures that are in no
/// reason, in at most `rows` lines.
#[must_use]
pub fn reasons(summary: &Summary, rows: usize, width: usize, style: &Style) -> Vec<Line> {
    let mut lines = doubt_rows(summary, style);
    let left_out = lines.len().saturating_sub(rows);
    lines.truncate(rows);
    if left_out > 0 {
        end_with(lines.last_mut(), left_out, width, style);
    }
    lines
}

/// Every reason of an answer that is not the best one, then the kinds of failures that are in no
/// reason. A line may be longer than the screen is wide.
#[must_use]
fn doubt_rows(summary: &Summary, style: &Style) -> Vec<Line> {
    let mut lines = Vec::new();
    for answer in answers(summary) {
        for reason in answer.reasons {
            let words = in_letters(&sentence(reason, style.naming), style.unicode);
            let bullet = Line::single(style.glyph("· ", "- "), verdict::ink(answer.grade));
            lines.push(bullet.with(foreign(&words, style.unicode), Ink::Plain));
        }
    }
    lines.extend(rare_failures(summary, style));
    lines
}

/// The kinds of failures, if they are too rare to be a reason of the answer on the target.
#[must_use]
pub fn rare_failures(summary: &Summary, style: &Style) -> Option<Line> {
    if matches!(
        summary.target.state,
        TargetState::Degraded | TargetState::Failed
    ) {
        return None;
    }
    let mut kinds: Vec<(Outcome, u64)> = summary.total.outcomes().failures().collect();
    kinds.sort_by_key(|(_, n)| Reverse(*n));
    let all: u64 = kinds.iter().map(|(_, n)| n).sum();
    if all == 0 {
        return None;
    }
    let mut names: Vec<String> = match &kinds[..] {
        [(only, _)] => vec![only.name().to_owned()],
        several => several
            .iter()
            .take(KINDS)
            .map(|(kind, n)| format!("{} ({})", kind.name(), share_of(*n as f64 / all as f64)))
            .collect(),
    };
    if kinds.len() > KINDS {
        names.push(format!("{} other kinds", kinds.len() - KINDS));
    }
    let bullet = Line::single(style.glyph("· ", "- "), Ink::Warn);
    Some(bullet.with(
        format!("{} failed: {}", count(all), enumerated(&names)),
        Ink::Plain,
    ))
}

/// The number of items that a screen leaves out.
fn more(left_out: usize) -> Line {
    Line::single(format!("and {left_out} more (view 6)"), Ink::Dim)
}

/// Cuts a line so that the number of the items that are left out fits, and appends it.
fn end_with(line: Option<&mut Line>, left_out: usize, width: usize, style: &Style) {
    let Some(line) = line else {
        return;
    };
    let more = more(left_out);
    line.clip(
        width.saturating_sub(more.width() + 2),
        style.glyph("…", "~"),
    );
    line.space(2);
    line.append(more);
}
