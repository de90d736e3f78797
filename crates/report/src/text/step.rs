//! The table of steps, where there is more than one.

use super::foreign;
use super::latency::quantile_cell;
use crate::line::{Ink, Line};
use crate::page::Page;
use crate::quantity::count;
use crate::secret;
use crate::table::{Column, Table};
use drumfire_measure::{Model, Step, Summary};

/// No name takes more columns.
const NAME_MAX: usize = 40;

/// Prints a row for each step.
pub(super) fn print(summary: &Summary, page: &mut Page<'_>) {
    if summary.steps().len() < 2 {
        return;
    }
    let mut table = Table::new([
        Column::names("Steps"),
        Column::numbers("sent", 0),
        Column::numbers("failed", 1),
        Column::numbers("p50", 3),
        Column::numbers("p90", 5),
        Column::numbers("p99", 0),
        Column::numbers("p99.9", 4),
        Column::numbers("max", 2),
    ]);
    for (pool, figures) in summary.pools() {
        for step in summary.steps_of(pool, figures) {
            table.row(cells(&step, pool.model, page));
        }
    }
    let lines = table.lines(page.style.width());
    page.lines(lines);
    page.explain(
        "The same numbers for each step of the plan; latencies are of ok responses and \
         of timeouts.",
    );
}

/// One step's cells.
fn cells(step: &Step, model: Model, page: &Page<'_>) -> Vec<Line> {
    let style = page.style;
    let histogram = model.step_latency(step);
    let name = foreign(&secret::url(&step.name), style.unicode);
    let mut name = Line::plain(name);
    name.clip((style.width() / 3).min(NAME_MAX), style.glyph("…", "~"));
    let failed = if step.counts.failed > 0 {
        Ink::Bad
    } else {
        Ink::Dim
    };
    let quantile = |q| quantile_cell(histogram, q, Ink::Plain, style);
    vec![
        name,
        Line::plain(count(step.counts.sent)),
        Line::of(count(step.counts.failed), failed),
        quantile(0.5),
        quantile(0.9),
        quantile(0.99),
        quantile(0.999),
        quantile(1.0),
    ]
}
