//! The table of stages: the figures of each part of a load's law.
//!
//! A command of `drumfire ctl` begins a stage, as a piece of the plan's law does. A stage begins
//! with an interval, and its figures are sums of intervals.

use super::{Cell, Column, Grid, PageExtent, Section};
use crate::quantity::share;
use drumfire_measure::{StageRow, Summary};

/// A row for each stage, pool by pool; `None` if no load has several stages. If there are several
/// pools, the name of the pool stands before the name of the stage.
pub(super) fn section(summary: &Summary, _: &PageExtent) -> Option<Section> {
    let several = summary.info.pools.len() > 1;
    let columns = vec![
        Column::names("stage"),
        Column::numbers("from", 4),
        Column::numbers("ok", 0),
        Column::numbers("failed", 1),
        Column::numbers("rate", 2),
        Column::numbers("of goal", 3),
        Column::numbers("p50", 5),
        Column::numbers("p90", 7),
        Column::numbers("p99", 0),
        Column::numbers("max", 6),
    ];
    let stages = summary.stages();
    let rows = stages.iter().map(|stage| cells(stage, several).into());
    Section::table(
        "stages",
        "Stages",
        Grid::new(columns, rows),
        "The stages of the load, by when requests ended; a stage begins with an interval. Of goal: \
         answered requests as a share of due requests.",
    )
}

/// The cells of a stage. The rate is over the measured part of the stage; a stage that lies in the
/// warm-up has no rate. The share of the goal compares the responses in the stage with the requests
/// that became due in it.
fn cells(stage: &StageRow<'_>, several: bool) -> Vec<Cell> {
    let row = &stage.row;
    let name = match several {
        true => format!("{}: {}", stage.pool.name, stage.stage.name),
        false => stage.stage.name.clone(),
    };
    let goal = row.goal.filter(|goal| *goal > 0);
    let answered = row.good.saturating_add(row.bad);
    vec![
        Cell::foreign(name),
        Cell::span(row.start),
        Cell::count(row.good),
        Cell::failures(row.bad.saturating_add(row.failed)),
        stage.ended_per_s().map_or_else(Cell::missing, Cell::rate),
        goal.map_or_else(Cell::missing, |goal| {
            Cell::measured(answered as f64 / goal as f64, share(answered, goal))
        }),
        Cell::spread(row.latency.p50),
        Cell::spread(row.latency.p90),
        Cell::spread(row.latency.p99),
        Cell::spread(row.latency.max),
    ]
}
