//! The table of pools: the counts, the rate and the latency of each.
//!
//! The latency of a pool is the one of its own model, since two pools may have different models.

use super::{Cell, Column, Grid, PageExtent, Quantiles, Section};
use drumfire_measure::Summary;

/// A row for each pool in the plan's order. A run with one pool has no table: its numbers are those
/// of the run.
pub(super) fn section(summary: &Summary, _: &PageExtent) -> Option<Section> {
    let pools: Vec<_> = summary.pools().collect();
    if pools.len() < 2 {
        return None;
    }
    let times = pools.iter();
    let quantiles = Quantiles::for_rows(times.map(|(pool, of)| pool.model.latency(&of.latency)));
    let mut columns = vec![
        Column::names("pool"),
        Column::numbers("sent", 0),
        Column::numbers("failed", 1),
        Column::numbers("rate", 2),
        Column::numbers("intended", 3),
    ];
    columns.extend(quantiles.columns());
    let rows = pools.into_iter().map(|(pool, figures)| {
        // A closed pool has no intended rate. A rate that changes is a mean here; the table of
        // stages has its parts.
        let intended = summary.intended_per_s_of(pool, figures);
        let mut cells = vec![
            Cell::foreign(&*pool.name),
            Cell::count(figures.counts.sent),
            Cell::failures(figures.counts.failed),
            Cell::rate(summary.achieved_per_s_of(figures)),
            intended.map_or_else(Cell::missing, Cell::rate),
        ];
        cells.extend(quantiles.cells(pool.model.latency(&figures.latency)));
        cells.into()
    });
    Section::table(
        "pools",
        "Pools",
        Grid::new(columns, rows),
        "Numbers per pool. Latencies are response times; in the closed model, where users do not \
         wait for connections, service times. They are of ok responses and timeouts.",
    )
}
