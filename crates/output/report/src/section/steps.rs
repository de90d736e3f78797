//! The table of steps: the counts of each step, its latency, and its latency over time.

use super::{Cell, Column, Grid, PageExtent, Quantiles, Section};
use crate::figure::Sparks;
use crate::quantity::counted;
use crate::step_name::StepName;
use crate::style::Unicode;
use crate::untrusted::foreign;
use drumfire_measure::{Histogram, LatencyKind, Step, Summary};
use std::cmp::Reverse;

/// The order of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The order of the plan.
    #[default]
    Plan,
    /// The slowest first, by p99; with few requests, by the highest quantile that they support.
    Slowest,
    /// The steps with the most failures first.
    Failed,
    /// The steps with the most requests first.
    Sent,
}

impl Order {
    /// The next order on a screen. The last order is followed by the first.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Plan => Self::Slowest,
            Self::Slowest => Self::Failed,
            Self::Failed => Self::Sent,
            Self::Sent => Self::Plan,
        }
    }

    /// The name of the order.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Plan => "in the order of the plan",
            Self::Slowest => "slowest first",
            Self::Failed => "most failures first",
            Self::Sent => "most requests first",
        }
    }

    /// Sorts rows. Rows with equal figures keep the plan's order.
    fn sort(self, rows: &mut [Row]) {
        match self {
            Self::Plan => {}
            Self::Slowest => rows.sort_by_key(|row| Reverse(row.times().quantile_unchecked(0.99))),
            Self::Failed => rows.sort_by_key(|row| Reverse(row.step.counts.failed)),
            Self::Sent => rows.sort_by_key(|row| Reverse(row.step.counts.sent)),
        }
    }
}

/// A step by the numbers of its pool and of the step in it, which stay the same in every order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepPlace {
    /// The number of the pool, from 0.
    pub pool: usize,
    /// The number of the step in its pool, from 0.
    pub step: usize,
}

/// A step of a pool.
struct Row {
    /// The kind of time that is the latency of the pool.
    kind: LatencyKind,
    /// The figures of the step over the whole run.
    step: Step,
    /// The numbers of the pool and of the step in it. They lead to the timeline after rows were
    /// sorted and cut.
    place: (usize, usize),
}

impl Row {
    const fn times(&self) -> &Histogram {
        self.step.times(self.kind)
    }

    /// The name without secrets, with everything escaped that could act on a terminal.
    fn name(&self) -> String {
        foreign(&StepName::from_step(&self.step).words(), Unicode::On)
    }
}

/// Every step of every pool, in the order of the plan.
fn rows(summary: &Summary) -> Vec<Row> {
    let mut rows = Vec::new();
    for (number, (pool, figures)) in summary.pools().enumerate() {
        let steps = summary.steps_of(pool, figures).into_iter().enumerate();
        rows.extend(steps.map(|(index, step)| Row {
            kind: pool.model.latency_kind(&figures.latency),
            step,
            place: (number, index),
        }));
    }
    rows
}

/// A step of the section with its data for pictures.
pub(crate) struct PicturedStep {
    /// The name without secrets, escaped.
    pub(crate) name: String,
    /// The numbers of its pool and of the step in it.
    pub(crate) place: (usize, usize),
    /// The latency of the step.
    pub(crate) times: Histogram,
}

/// The steps of the rows of [`section`], in their order.
pub(crate) fn pictured(summary: &Summary, extent: &PageExtent) -> Vec<PicturedStep> {
    let rows = shown(summary, extent).0.into_iter();
    rows.map(|row| PicturedStep {
        name: row.name(),
        place: row.place,
        times: row.times().clone(),
    })
    .collect()
}

/// The rows that a printer has room for, and the number of all rows. Up to the printer's number of
/// rows, the order is the one of the plan; with more steps, only those with the greatest times are
/// shown, the slowest first.
fn shown(summary: &Summary, extent: &PageExtent) -> (Vec<Row>, usize) {
    let mut rows = rows(summary);
    let total = rows.len();
    if total > extent.rows {
        rows.sort_by_key(|row| Reverse(row.times().max()));
        rows.truncate(extent.rows);
    }
    (rows, total)
}

/// A row for each step, if there are several.
pub(super) fn section(summary: &Summary, extent: &PageExtent) -> Option<Section> {
    let (rows, total) = shown(summary, extent);
    if total < 2 {
        return None;
    }
    let places: Vec<_> = rows.iter().map(|row| row.place).collect();
    let sparks = Sparks::for_steps(summary, &places, extent.spark);
    let mut explanation =
        "Numbers per step; latencies are of ok responses and timeouts.".to_owned();
    if sparks.is_some() {
        explanation.push_str(
            " The graph over time shows this quantile through the run, each step on its own scale; \
             a gap has too few requests.",
        );
    }
    let grid = grid(&rows, sparks);
    let remark = (total > extent.rows).then(|| {
        let all = counted(total as u64, "step");
        format!(
            "The {} slowest of {all}; --json has all of them.",
            extent.rows
        )
    });
    Some(Section::table("steps", "Steps", grid, explanation)?.remarked(remark))
}

/// The table of steps on a screen, in an order that a person chose: every step whose name contains
/// `filter`, whatever the case of its letters; with the step of each row. The only step of a run has
/// the spark of the whole run, whose requests are the same.
pub(crate) fn chosen(
    summary: &Summary,
    order: Order,
    filter: &str,
    spark: usize,
) -> (Grid, Vec<StepPlace>) {
    let mut rows = rows(summary);
    let is_only = rows.len() == 1;
    let filter = filter.to_lowercase();
    rows.retain(|row| row.name().to_lowercase().contains(&filter));
    order.sort(&mut rows);
    let places: Vec<_> = rows.iter().map(|row| row.place).collect();
    let sparks = match is_only {
        true => Sparks::of_run(summary, spark),
        false => Sparks::for_steps(summary, &places, spark),
    };
    let places = places.into_iter();
    let places = places.map(|(pool, step)| StepPlace { pool, step });
    (grid(&rows, sparks), places.collect())
}

/// The table of these rows with their sparks, which share one quantile.
fn grid(rows: &[Row], sparks: Option<Sparks>) -> Grid {
    let quantiles = Quantiles::for_rows(rows.iter().map(Row::times));
    let mut columns = vec![
        Column::names("step"),
        Column::numbers("sent", 0),
        Column::numbers("failed", 1),
    ];
    columns.extend(quantiles.columns());
    let heading = sparks.as_ref().map(Sparks::heading);
    columns.extend(heading.map(|heading| Column::sparks(heading, 8)));
    let cells = rows.iter().enumerate().map(|(number, row)| {
        let mut cells = vec![
            Cell::code(StepName::from_step(&row.step).words()),
            Cell::count(row.step.counts.sent),
            Cell::failures(row.step.counts.failed),
        ];
        cells.extend(quantiles.cells(row.times()));
        cells.extend(sparks.as_ref().map(|sparks| {
            let name = format!("{} of {} over time", sparks.quantile, row.name());
            Cell::spark(sparks.steps.get(number).cloned().flatten(), name)
        }));
        cells.into()
    });
    Grid::new(columns, cells)
}
