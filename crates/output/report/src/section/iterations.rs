//! Iterations of several requests: the tables of pools and of scenarios.
//!
//! A pool whose iterations are single requests has no rows here: its requests are the iterations.

use super::{Cell, Column, Grid, PageExtent, Quantiles, Section};
use drumfire_measure::{Iterations, Summary};

/// A row for each pool that has iterations, if there are several pools.
pub(super) fn of_pools(summary: &Summary, _: &PageExtent) -> Option<Section> {
    let several = summary.info.pools.len() > 1;
    let pools = summary.pools().filter(|_| several);
    let rows = pools.filter_map(|(pool, of)| Some((pool.name.clone(), of.iterations.as_ref()?)));
    let grid = grid("pool", rows.collect(), summary)?;
    Section::table(
        "iterations",
        "Iterations",
        grid,
        "An iteration is one pass of a user through its scenario, pauses included.",
    )
}

/// A row for each scenario, if a pool has several. If there are several pools, the name of the pool
/// stands before the name of the scenario, since two pools may have scenarios of one name.
pub(super) fn of_scenarios(summary: &Summary, _: &PageExtent) -> Option<Section> {
    let mut rows = Vec::new();
    for (pool, figures) in summary.pools() {
        let named = pool.scenarios.iter().zip(&figures.scenarios);
        rows.extend(named.map(|(scenario, iterations)| {
            let name = match summary.info.pools.len() {
                1 => scenario.to_string(),
                _ => format!("{}/{scenario}", pool.name),
            };
            (name, iterations)
        }));
    }
    let grid = grid("scenario", rows, summary)?;
    Section::table(
        "scenarios",
        "Scenarios",
        grid,
        "The iterations of each scenario, from the first step to the last, pauses included.",
    )
}

/// A table of iterations, with a row for each name; `None` without rows. Started iterations are
/// counted, since a long iteration may be in flight for most of a run.
fn grid(head: &'static str, rows: Vec<(String, &Iterations)>, summary: &Summary) -> Option<Grid> {
    let quantiles = Quantiles::for_rows(rows.iter().map(|(_, iterations)| &iterations.time));
    let mut columns = vec![
        Column::names(head),
        Column::numbers("started", 1),
        Column::numbers("failed", 2),
        Column::numbers("rate", 3),
    ];
    columns.extend(quantiles.columns());
    let rows = rows.into_iter().map(|(name, iterations)| {
        let mut cells = vec![
            Cell::foreign(name),
            Cell::count(iterations.counts.sent),
            Cell::failures(iterations.counts.failed),
            Cell::rate(summary.iterations_per_s(iterations)),
        ];
        cells.extend(quantiles.cells(&iterations.time));
        cells.into()
    });
    let grid = Grid::new(columns, rows);
    (!grid.rows.is_empty()).then_some(grid)
}
