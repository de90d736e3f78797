//! The table of messages or events: the counts of each step that streams, and their times.
//!
//! A reply with a single message has no times of messages, because its response time is the same.

use super::requests::are_events;
use super::{Cell, Column, Grid, PageExtent, Section};
use crate::quantity::counted;
use crate::step_name::StepName;
use drumfire_measure::{Messages, Summary};
use std::cmp::Reverse;

/// The quantiles of the table, with their headings and the order in which the columns give way.
const FIRST: [(&str, f64, u8); 3] = [
    ("1st p50", 0.5, 4),
    ("1st p99", 0.99, 0),
    ("1st max", 1.0, 6),
];
const GAP: [(&str, f64, u8); 3] = [
    ("gap p50", 0.5, 3),
    ("gap p99", 0.99, 0),
    ("gap max", 1.0, 5),
];

/// A row for each step whose server streams messages, in the order of the plan, if there are several
/// steps. If there are more rows than the printer's number, only those with the greatest times to
/// the first message are shown.
pub(super) fn section(summary: &Summary, extent: &PageExtent) -> Option<Section> {
    let steps = summary.steps();
    if steps.len() < 2 {
        return None;
    }
    let rows = steps
        .iter()
        .filter_map(|step| Some((StepName::from_step(step), step.messages()?)));
    let mut rows: Vec<_> = rows
        .filter(|(_, messages)| messages.first.count() > 0 || messages.gap.count() > 0)
        .collect();
    let total = rows.len();
    if total > extent.rows {
        rows.sort_by_key(|(_, messages)| Reverse(messages.first.max()));
        rows.truncate(extent.rows);
    }
    let remark = (total > extent.rows).then(|| {
        let all = counted(total as u64, "step");
        format!(
            "The {} slowest of {all}; --json has all of them.",
            extent.rows
        )
    });
    let are_events = rows
        .iter()
        .all(|(_, messages)| are_events(summary, messages));
    let (title, explanation) = match are_events {
        true => (
            "Events by step",
            "Events of each step that reads event streams: `1st` is the time from the first write \
             of a request to its first event, `gap` the time from one event to the next.",
        ),
        false => (
            "Messages by step",
            "Messages of each step that streams: `1st` is the time from the first write of a \
             request to its first message, `gap` the time from one message to the next.",
        ),
    };
    let section = Section::table("messages", title, grid(&rows, are_events), explanation)?;
    Some(section.remarked(remark))
}

/// The table of these steps. A client sends no events.
fn grid(rows: &[(StepName, &Messages)], are_events: bool) -> Grid {
    let mut columns = vec![Column::names("step")];
    if !are_events {
        columns.push(Column::numbers("sent", 2));
    }
    columns.push(Column::numbers("received", 1));
    let quantiles = FIRST.into_iter().chain(GAP);
    columns.extend(quantiles.map(|(heading, _, order)| Column::numbers(heading, order)));
    let rows = rows.iter().map(|(name, messages)| {
        let mut cells = vec![Cell::code(name.words())];
        if !are_events {
            cells.push(Cell::count(messages.sent));
        }
        cells.push(Cell::count(messages.received));
        cells.extend(FIRST.map(|(_, q, _)| Cell::quantile(&messages.first, q)));
        cells.extend(GAP.map(|(_, q, _)| Cell::quantile(&messages.gap, q)));
        cells.into()
    });
    Grid::new(columns, rows)
}
