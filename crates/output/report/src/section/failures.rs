//! The failures by blame: the target, the network, the plan or the generator.
//!
//! `measure` has a row for each message of an outcome. This file gathers the rows of an outcome, with
//! the statuses and the remedy. Messages and bodies come from servers, and are bounded in number.

use super::{Body, Cell, Column, Grid, PageExtent, Row, Section};
use crate::line::{Ink, Line};
use crate::quantity::{count, counted};
use crate::remedy::remedy_beside;
use crate::secret;
use crate::show::content;
use crate::status::reason_phrase;
use crate::style::{Style, Unicode};
use crate::untrusted::foreign;
use drumfire_measure::{Blame, Closing, ErrorRow, FailedBody, Outcome, Summary};
use drumfire_units::Nanos;
use std::cmp::Reverse;

/// The maximum number of failing statuses.
const STATUSES_MAX: usize = 3;
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
        Column::words("failure", 0),
        Column::prose("message"),
    ];
    let mut rows = Vec::new();
    let mut blame = None;
    for kind in kinds(summary) {
        let again = blame.replace(kind.blame) == Some(kind.blame);
        let blame = if again { "" } else { kind.blame.name() };
        kind.push_rows(blame, summary, extent, &mut rows);
    }
    let mut bodies = vec![Body::List("Errors", Grid::new(columns, rows))];
    if extent.is_full {
        bodies.extend(bodies_of(summary));
    }
    let explanation = "Failures by cause: target, network, plan or generator. The name of each kind \
                       is stable, so scripts can rely on it.";
    Section::new("failures", "Errors", explanation, bodies)
}

/// Failures of one kind.
struct FailureKind {
    outcome: Outcome,
    blame: Blame,
    /// The number of requests that ended so, over all messages.
    count: u64,
    /// The messages with their counts, the most frequent first.
    messages: Vec<ErrorRow>,
}

/// The kinds of failure by blame, the most frequent of a blame first.
fn kinds(summary: &Summary) -> Vec<FailureKind> {
    let mut kinds: Vec<FailureKind> = Vec::new();
    for row in summary.total.errors() {
        match kinds.iter_mut().find(|kind| kind.outcome == row.outcome) {
            Some(kind) => {
                kind.count += row.count;
                kind.messages.push(row);
            }
            None => kinds.push(FailureKind {
                outcome: row.outcome,
                blame: row.blame,
                count: row.count,
                messages: vec![row],
            }),
        }
    }
    kinds.sort_by_key(|kind| (kind.blame, Reverse(kind.count)));
    kinds
}

impl FailureKind {
    /// Appends the row of the kind, then its messages and its remedy. A single message stands in
    /// the row. Failing statuses stand there, too, and need no remedy.
    fn push_rows(
        self,
        blame: &'static str,
        summary: &Summary,
        extent: &PageExtent,
        to: &mut Vec<Row>,
    ) {
        let message = |row: &ErrorRow| Cell::foreign(row.detail.to_string());
        let statuses = match self.outcome {
            Outcome::HttpStatus => failing_statuses(summary).join(", "),
            _ => String::new(),
        };
        let mut below = &self.messages[..];
        let lacks: Vec<ErrorRow>;
        let beside = if !statuses.is_empty() {
            let words = self.outcome.words();
            let others = self.messages.iter().filter(|row| row.detail.text != words);
            lacks = others.cloned().collect();
            below = &lacks;
            Cell::new(&*statuses)
        } else if let [only] = below {
            below = &[];
            message(only)
        } else {
            Cell::new("")
        };
        to.push(Row::from(vec![
            Cell::new(blame).inked(Ink::Bold),
            Cell::failures(self.count),
            Cell::new(self.outcome.name()),
            beside,
        ]));
        let (shown, hidden) = below.split_at(below.len().min(extent.messages));
        let shown = shown.iter().map(|row| (Some(row.count), message(row)));
        let others = (!hidden.is_empty()).then(|| {
            let others = counted(hidden.len() as u64, "other message");
            let n = count(hidden.iter().map(|row| row.count).sum());
            (None, Cell::new(format!("{n} in {others}")).inked(Ink::Dim))
        });
        let remedy = match statuses.is_empty() {
            true => self.remedy(summary, extent),
            false => None,
        };
        let remedy = remedy.map(|text| (None, Cell::new(format!("→ {text}")).inked(Ink::Dim)));
        to.extend(shown.chain(others).chain(remedy).map(|(n, text)| {
            let n = n.map_or_else(|| Cell::new(""), Cell::count);
            Row::below(vec![Cell::new(""), n, Cell::new(""), text])
        }));
    }

    /// The remedy: the one of the most frequent message, unless the server closes most connections
    /// after one or two requests.
    fn remedy(&self, summary: &Summary, extent: &PageExtent) -> Option<String> {
        let connections = &summary.total.connections;
        let closed = connections.closed_by(Closing::Peer) + connections.closed_by(Closing::Reset);
        let carried = &connections.carried;
        let closes_each = closed.saturating_mul(2) > carried.count()
            && carried.quantile_unchecked(0.5) <= Nanos(2);
        if self.outcome == Outcome::ClosedReused && closes_each {
            let text = "the server closes its connections after one or two requests; use \
                        --no-keepalive";
            return Some(extent.naming.named(text).into_owned());
        }
        let causes = self.messages.iter().map(|row| row.detail.cause);
        let remedy = remedy_beside(self.outcome, causes, extent.naming)?;
        Some(remedy.into_owned())
    }
}

/// The statuses from 400 on, in words, with their counts if there are several. The plan decides
/// which statuses fail; these explain `http_status`.
fn failing_statuses(summary: &Summary) -> Vec<String> {
    let statuses = summary.total.status();
    let mut failing: Vec<(u16, u64)> = statuses
        .filter(|(status, _)| (400..600).contains(status))
        .collect();
    failing.sort_by_key(|&(status, n)| (Reverse(n), status));
    let several = failing.len() > 1;
    let shown = failing.into_iter().take(STATUSES_MAX);
    shown
        .map(|(status, n)| {
            let words = match reason_phrase(status) {
                Some(phrase) => format!("{status} {phrase}"),
                None => status.to_string(),
            };
            match several {
                true => format!("{} × {words}", count(n)),
                false => words,
            }
        })
        .collect()
}

/// The first bodies of each kind of failure, each with the step that it answered.
fn bodies_of(summary: &Summary) -> Vec<Body> {
    let mut last: Option<&FailedBody> = None;
    let bodies = summary.failed_bodies.iter().map(|failed| {
        let same = last
            .replace(failed)
            .filter(|last| (last.outcome, last.status) == (failed.outcome, failed.status));
        let which = if same.is_some() { "another" } else { "first" };
        let mut rows = content(&failed.body, &[], &[], Unicode::On);
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
        let lines = content(&failed.body, &[], &[], style.unicode).into_iter();
        // JSON is indented, so that its first line is a brace.
        let texts = lines.map(|line| line.trim().to_owned());
        let texts: Vec<String> = texts.filter(|line| !line.is_empty()).collect();
        let first: String = texts.join(" ").chars().take(EXAMPLE_MAX).collect();
        let name = foreign(&body_name(failed, summary), style.unicode);
        let mut row = Line::single(format!("{name}  "), Ink::Dim).with(first, Ink::Plain);
        row.clip(style.width(), style.glyph("…", "~"));
        rows.push(row);
    }
    rows
}
