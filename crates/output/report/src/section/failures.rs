//! The failures by blame: the target, the network, the plan or the generator.
//!
//! The rows render the records of [`crate::failure_kind`]. Messages and bodies come from servers, and
//! are bounded in number.

use super::{Body, Cell, Column, Grid, PageExtent, Row, Section};
use crate::failure_kind::{FailureKind, failure_kinds, one_line};
use crate::line::{Ink, Line};
use crate::quantity::{count, counted, share_of};
use crate::secret;
use crate::show::{content, content_within};
use crate::style::{Style, Unicode};
use crate::untrusted::foreign;
use drumfire_measure::{ErrorRow, FailedBody, Outcome, Summary};
use drumfire_plan::Expect;

/// The maximum number of rows of a body.
const BODY_LINES: usize = 12;
/// The maximum number of characters of a body of which one row is shown.
const EXAMPLE_MAX: usize = 400;

/// A row for each kind of failure, with its messages and its remedy below; in a full report also
/// the first bodies of each kind.
pub(super) fn section(summary: &Summary, extent: &PageExtent) -> Option<Section> {
    let columns = vec![
        Column::words("blame", 0),
        Column::numbers("requests", 0),
        Column::numbers("share", 1),
        Column::words("failure", 0),
        Column::prose("message"),
    ];
    let mut rows = Vec::new();
    let mut blame = None;
    for kind in failure_kinds(summary, extent.naming) {
        let again = blame.replace(kind.blame) == Some(kind.blame);
        let blame = if again { "" } else { kind.blame.name() };
        push_rows(&kind, blame, extent, &mut rows);
    }
    let mut bodies = vec![Body::List("Errors", Grid::new(columns, rows))];
    if extent.is_full {
        bodies.extend(bodies_of(summary, extent));
    }
    let explanation = "Failures by cause: target, network, plan or generator. The name of each kind \
                       is stable, so scripts can rely on it. The share is of all requests that ended.";
    Section::new("failures", "Errors", explanation, bodies)
}

/// Appends the row of a kind with what came, then the other messages, the expected statuses, the steps,
/// the first body and the remedy.
fn push_rows(kind: &FailureKind<'_>, blame: &'static str, extent: &PageExtent, to: &mut Vec<Row>) {
    let came = kind.came().map_or_else(|| Cell::new(""), Cell::foreign);
    to.push(Row::from(vec![
        Cell::new(blame).inked(Ink::Bold),
        Cell::failures(kind.count),
        Cell::measured(kind.share, share_of(kind.share)),
        Cell::new(kind.outcome.name()),
        came,
    ]));
    let below = kind.other_messages();
    let (shown, hidden) = below.split_at(below.len().min(extent.messages));
    let message = |row: &&ErrorRow| {
        let text = Cell::foreign(row.detail.to_string());
        (Some(row.count), text)
    };
    let others = (!hidden.is_empty()).then(|| {
        let others = counted(hidden.len() as u64, "other message");
        let n = count(hidden.iter().map(|row| row.count).sum());
        format!("{n} in {others}")
    });
    // The default goes without saying.
    let expected = kind.expected.filter(|expect| *expect != Expect::BELOW_400);
    let expected = expected.map(|expect| format!("the plan expects {expect}"));
    let body = (extent.example > 0).then(|| kind.first_body_as_fact(extent.example));
    let remedy = kind.remedy.as_ref().map(|text| format!("→ {text}"));
    let dim = [
        others.map(Cell::new),
        expected.map(Cell::new),
        kind.steps_in_words().map(Cell::foreign),
        body.flatten().map(Cell::foreign),
        remedy.map(Cell::new),
    ];
    let dim = dim.into_iter().flatten();
    let dim = dim.map(|cell| (None, cell.inked(Ink::Dim)));
    to.extend(shown.iter().map(message).chain(dim).map(|(n, text)| {
        let n = n.map_or_else(|| Cell::new(""), Cell::count);
        Row::below(vec![Cell::new(""), n, Cell::new(""), Cell::new(""), text])
    }));
}

/// The first bodies of each kind of failure, each with the step that it answered.
fn bodies_of(summary: &Summary, extent: &PageExtent) -> Vec<Body> {
    let mut last: Option<&FailedBody> = None;
    let bodies = summary.failed_bodies.iter().map(|failed| {
        let same = last
            .replace(failed)
            .filter(|last| (last.outcome, last.status) == (failed.outcome, failed.status));
        let which = if same.is_some() { "another" } else { "first" };
        let mut rows = content_within(extent.body, &failed.body, &[], &[], Unicode::On);
        let more = rows.len().saturating_sub(BODY_LINES) as u64;
        rows.truncate(BODY_LINES);
        rows.extend((more > 0).then(|| format!("({})", counted(more, "more line"))));
        Body::Text(format!("{which} {}", body_name(failed, summary)), rows)
    });
    bodies.collect()
}

/// The name of a failed body: its status or its outcome, and the step that it answered.
fn body_name(failed: &FailedBody, summary: &Summary) -> String {
    let pool = summary.info.pools.get(failed.pool);
    let step = pool.and_then(|pool| pool.steps.get(usize::from(failed.step)));
    let step = step.map_or_else(String::new, |step| foreign(&secret::url(step), Unicode::On));
    match failed.outcome {
        Outcome::HttpStatus => format!("{} of {step}", failed.status),
        outcome => format!("{} of {step}", outcome.name()),
    }
}

/// A row for each kind of failure that has a body: its name, and the first line of its first body.
pub(crate) fn examples(summary: &Summary, style: &Style) -> Vec<Line> {
    let mut last = None;
    let mut rows = Vec::new();
    for failed in summary.failed_bodies.iter() {
        let kind = (failed.outcome, failed.status);
        if last.replace(kind) == Some(kind) {
            continue;
        }
        let lines = content(&failed.body, &[], &[], style.unicode);
        let first = one_line(&lines, EXAMPLE_MAX);
        let name = foreign(&body_name(failed, summary), style.unicode);
        let mut row = Line::single(format!("{name}  "), Ink::Dim).with(first, Ink::Plain);
        row.clip(style.width(), style.glyph("…", "~"));
        rows.push(row);
    }
    rows
}
