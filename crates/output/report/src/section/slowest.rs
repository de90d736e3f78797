//! The slowest requests, with the traces by which a reader finds them in the target's own records.

use super::{Cell, Column, Grid, PageExtent, Section};
use crate::step_name::StepName;
use drumfire_measure::{Outcome, Summary};

/// The number of requests on a terminal. JSON has all that were kept, twice as many.
const BRIEF: usize = 5;
/// The number of rows from which a printer has room for all requests.
const MANY: usize = 60;

/// A row for each of the slowest requests, the slowest first. A brief report has the table only if
/// requests carried traces: without a trace, a request can't be looked up.
pub(super) fn section(summary: &Summary, extent: &PageExtent) -> Option<Section> {
    let (kind, mut slowest) = summary.slowest_requests();
    let has_traces = slowest.iter().any(|slow| !slow.trace.is_empty());
    if slowest.is_empty() || !has_traces && !extent.is_full {
        return None;
    }
    // Without a trace, the rows show only when the slowest requests were due.
    if extent.rows < MANY || !has_traces {
        slowest.truncate(BRIEF);
    }
    let columns = vec![
        Column::names("step"),
        Column::numbers(kind.words(), 0),
        Column::numbers("due at", 1),
        Column::words("end", 2),
        Column::words("trace", 0),
    ];
    let rows = slowest.into_iter().map(|slow| {
        let pool = summary.info.pools.get(usize::from(slow.pool));
        let step = pool.and_then(|pool| {
            let step = pool.steps.get(usize::from(slow.step))?;
            Some(StepName::within(summary, pool, step).words())
        });
        // A request without a response has its outcome instead of a status.
        let end = match slow.outcome {
            Outcome::Ok | Outcome::HttpStatus if slow.status > 0 => slow.status.to_string(),
            outcome => outcome.name().to_owned(),
        };
        let due = slow.intended.as_secs_f64();
        let trace = Some(slow.trace.clone()).filter(|trace| !trace.is_empty());
        vec![
            step.map_or_else(Cell::missing, Cell::code),
            slow.time(kind).map_or_else(Cell::missing, Cell::latency),
            Cell::measured(due, format!("{due:.3} s")),
            Cell::new(end),
            trace.map_or_else(Cell::missing, Cell::foreign),
        ]
        .into()
    });
    Section::table(
        "slowest",
        "Slowest requests",
        Grid::new(columns, rows),
        "The requests with the longest times, and when each was due, counted from the start of the \
         run. A trace is the id in the traceparent header of the request; use it to find the \
         request in the target's traces.",
    )
}
