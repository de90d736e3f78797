//! The slowest requests, by the traces that they carried.

use super::foreign;
use crate::line::Line;
use crate::page::Page;
use crate::quantity::latency;
use crate::secret;
use drumfire_measure::{SlowRequest, Summary};

/// How many of them are shown.
const SHOWN: usize = 5;

/// Prints a line for each of the slowest.
pub(super) fn print(summary: &Summary, page: &mut Page<'_>) {
    let slowest: Vec<&SlowRequest> = summary.slowest.iter().take(SHOWN).collect();
    if slowest.is_empty() {
        return;
    }
    let rows = slowest.iter().map(|slow| {
        let time = latency(slow.response_time, page.style.unicode);
        let pool = summary.info.pools.get(usize::from(slow.pool));
        let step = pool.and_then(|pool| pool.steps.get(usize::from(slow.step)));
        let step = step.map_or_else(String::new, |step| secret::url(step));
        let step = foreign(&step, page.style.unicode);
        let mut line = Line::plain(format!("{time}  trace {}  {step}", slow.trace));
        line.clip(page.room(), page.style.glyph("…", "~"));
        line
    });
    let rows: Vec<Line> = rows.collect();
    page.part("Slowest", rows);
    page.explain(
        "The requests with the longest response times, by the ids of the traces that their \
         traceparent fields began.",
    );
}
