//! The table of pools, where there is more than one.
//!
//! Each row has the figures of the page's head, over the same span, with *the* latency of the
//! pool itself: two pools may be of different models, and a table of one kind of time would be
//! wrong for one of them. Names are clipped; a column that does not fit gives way.
//!
//! The rows stand in the plan's order, and the run's own figures, at the page's head, are their
//! sum: counts add up, and distributions are merged. Rates add up too, for all are over one span.

use super::latency::quantile_cell;
use super::{foreign, iteration};
use crate::line::{Ink, Line};
use crate::page::Page;
use crate::quantity::{count, rate};
use crate::table::{Column, Table};
use drumfire_measure::{Figures, PoolInfo, Summary};

/// The greatest width of a name, in columns: two or three words, beside eight columns of numbers.
const NAME_MAX: usize = 24;

/// Prints a row for each pool in the plan's order, and below it the iterations of those pools that
/// have any. A run of one pool has no such table: its row would be the head of the page.
pub(super) fn print(summary: &Summary, page: &mut Page<'_>) {
    if summary.info.pools.len() < 2 {
        return;
    }
    let mut table = Table::new([
        Column::names("Pools"),
        Column::numbers("sent", 0),
        Column::numbers("failed", 1),
        Column::numbers("rate", 2),
        Column::numbers("intended", 3),
        Column::numbers("p50", 4),
        Column::numbers("p90", 6),
        Column::numbers("p99", 0),
        Column::numbers("max", 5),
    ]);
    for (pool, figures) in summary.pools() {
        table.row(cells(summary, pool, figures, page));
    }
    let lines = table.lines(page.style.width());
    page.lines(lines);
    page.explain(
        "Numbers per pool. Latencies are response times; in the closed model, where users do not \
         wait for connections, service times. They are of ok responses and timeouts.",
    );
    iteration::print_pools(summary, page);
}

/// One pool's cells. A closed pool has no intended rate, which a dash says: a 0 would be a load
/// that asked for nothing. Failures are marked where there are any, dim where there are none.
fn cells(summary: &Summary, pool: &PoolInfo, figures: &Figures, page: &Page<'_>) -> Vec<Line> {
    let style = page.style;
    let histogram = pool.model.latency(&figures.latency);
    let mut name = Line::plain(foreign(&pool.name, style.unicode));
    name.clip((style.width() / 3).min(NAME_MAX), style.glyph("…", "~"));
    let counts = &figures.counts;
    let failed = if counts.failed > 0 {
        Ink::Bad
    } else {
        Ink::Dim
    };
    let intended = match summary.intended_per_s_of(pool, figures) {
        Some(intended) => Line::plain(rate(intended)),
        None => Line::of(style.glyph("–", "-"), Ink::Dim),
    };
    let quantile = |q| quantile_cell(histogram, q, Ink::Plain, style);
    vec![
        name,
        Line::plain(count(counts.sent)),
        Line::of(count(counts.failed), failed),
        Line::plain(rate(summary.achieved_per_s_of(figures))),
        intended,
        quantile(0.5),
        quantile(0.9),
        quantile(0.99),
        quantile(1.0),
    ]
}
