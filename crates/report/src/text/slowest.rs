//! The slowest requests, where they carried traces or the report explains itself.
//!
//! Without a trace a slow request can't be looked up anywhere, so that the list is worth its lines
//! only to a reader who asked for more.
//!
//! The order is that of the summary, the slowest first. A line that does not fit is clipped at its
//! end, where the step is; time and trace, by which it is looked up, come first.

use super::foreign;
use crate::line::Line;
use crate::page::Page;
use crate::quantity::latency;
use crate::secret;
use drumfire_measure::{LatencyKind, Outcome, Summary};

/// The number of requests that are shown; the JSON has all that were kept, twice as many. A list of
/// more would push the statuses and errors, which explain more, off the screen.
const SHOWN: usize = 5;

/// Prints a line for each of the slowest requests: its time, its start, its trace, its step, and
/// its end where it failed.
pub(super) fn print(summary: &Summary, page: &mut Page<'_>) {
    let (kind, mut slowest) = summary.slowest_requests();
    slowest.truncate(SHOWN);
    let has_traces = slowest.iter().any(|slow| !slow.trace.is_empty());
    if slowest.is_empty() || !has_traces && !page.explains() {
        return;
    }
    let rows = slowest.iter().map(|slow| {
        let time = slow.time(kind).unwrap_or_default();
        let time = latency(time, page.style.unicode);
        let pool = summary.info.pools.get(usize::from(slow.pool));
        let step = pool.and_then(|pool| pool.steps.get(usize::from(slow.step)));
        let step = step.map_or_else(String::new, |step| secret::url(step));
        let step = foreign(&step, page.style.unicode);
        let at = slow.intended.as_secs_f64();
        let trace = match slow.trace.as_str() {
            "" => String::new(),
            trace => format!("trace {}  ", foreign(trace, page.style.unicode)),
        };
        let end = match slow.outcome {
            Outcome::Ok => String::new(),
            Outcome::HttpStatus => format!("  {}", slow.status),
            outcome => format!("  {}", outcome.name()),
        };
        let mut line = Line::plain(format!("{time}  at {at:.1} s  {trace}{step}{end}"));
        line.clip(page.room(), page.style.glyph("…", "~"));
        line
    });
    let rows: Vec<Line> = rows.collect();
    page.part("Slowest", rows);
    page.explain(match kind {
        LatencyKind::Response => {
            "The requests with the longest response times, and when each was due, counted from the \
             start of the run. A trace is the id in the traceparent header of the request."
        }
        LatencyKind::Service => {
            "The requests with the longest service times, and when each was due, counted from the \
             start of the run. A trace is the id in the traceparent header of the request."
        }
    });
}
