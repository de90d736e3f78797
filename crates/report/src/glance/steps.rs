//! The table of pools and steps on a screen: every row, in the order that a person chose.

use crate::bar::spark;
use crate::line::{Ink, Line};
use crate::quantity::{count, latency_at_least, quantile};
use crate::style::Style;
use crate::table::{Column, Side, Table};
use crate::text::foreign;
use drumfire_measure::{Counts, Histogram, IntervalRow, Summary};
use drumfire_plan::secret;
use std::cmp::Reverse;

/// The greatest width of a name, in columns.
const NAME_MAX: usize = 48;
/// The length of a spark, in columns.
const SPARK: usize = 16;

/// The order of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// That of the plan.
    #[default]
    Plan,
    /// The slowest first, by p99.
    Slowest,
    /// Those with the most failures first.
    Failed,
    /// Those with the most requests first.
    Sent,
}

impl Order {
    /// The order that a screen shows next.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Plan => Self::Slowest,
            Self::Slowest => Self::Failed,
            Self::Failed => Self::Sent,
            Self::Sent => Self::Plan,
        }
    }

    /// Its name in a heading.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Plan => "in the plan's order",
            Self::Slowest => "the slowest first",
            Self::Failed => "the most failures first",
            Self::Sent => "the most requests first",
        }
    }
}

/// One step.
struct Row {
    name: String,
    counts: Counts,
    times: Histogram,
    over_time: Vec<IntervalRow>,
}

/// A heading and a row for each step whose name contains `filter`, without regard to case.
#[must_use]
pub fn steps(summary: &Summary, order: Order, filter: &str, style: &Style) -> Vec<Line> {
    let mut rows = rows(summary, style);
    let filter = filter.to_lowercase();
    rows.retain(|row| row.name.to_lowercase().contains(&filter));
    match order {
        Order::Plan => {}
        Order::Slowest => rows.sort_by_key(|row| Reverse(row.times.quantile_unchecked(0.99))),
        Order::Failed => rows.sort_by_key(|row| Reverse(row.counts.failed)),
        Order::Sent => rows.sort_by_key(|row| Reverse(row.counts.sent)),
    }
    let mut table = Table::new([
        Column::names("Steps"),
        Column {
            heading: "p99 over time",
            side: Side::Left,
            dispensable: 6,
        },
        Column::numbers("sent", 0),
        Column::numbers("failed", 1),
        Column::numbers("p50", 3),
        Column::numbers("p90", 4),
        Column::numbers("p99", 0),
        Column::numbers("max", 2),
    ]);
    for row in &rows {
        table.row(cells(row, style));
    }
    table.lines(style.width())
}

/// Every step of every pool. Steps of which no rows are kept have no spark.
fn rows(summary: &Summary, style: &Style) -> Vec<Row> {
    let mut rows = Vec::new();
    let whole = summary.intervals();
    let is_alone = summary.info.pools.len() == 1;
    for (pool_number, (pool, figures)) in summary.pools().enumerate() {
        let steps = summary.steps_of(pool, figures);
        let is_only = is_alone && steps.len() == 1;
        for (number, step) in steps.into_iter().enumerate() {
            let over_time = match is_only {
                true => whole.clone(),
                false => summary
                    .intervals_of_step(pool_number, number)
                    .unwrap_or_default(),
            };
            rows.push(Row {
                name: foreign(&secret::url(&step.name), style.unicode),
                times: pool.model.step_latency(&step).clone(),
                counts: step.counts,
                over_time,
            });
        }
    }
    rows
}

fn cells(row: &Row, style: &Style) -> Vec<Line> {
    let mut name = Line::plain(row.name.clone());
    name.clip((style.width() / 3).min(NAME_MAX), style.glyph("…", "~"));
    let failed = match row.counts.failed {
        0 => Ink::Dim,
        _ => Ink::Bad,
    };
    let time = |q: f64| match quantile(&row.times, q, style.unicode) {
        Some(text) => Line::plain(text),
        None => Line::of(style.glyph("–", "-"), Ink::Dim),
    };
    let max = match row.times.count() {
        0 => Line::of(style.glyph("–", "-"), Ink::Dim),
        _ if row.times.is_at_least(1.0) => {
            Line::plain(latency_at_least(row.times.max(), style.unicode))
        }
        _ => time(1.0),
    };
    vec![
        name,
        Line::plain(tail_spark(&row.over_time, style)),
        Line::plain(count(row.counts.sent)),
        Line::of(count(row.counts.failed), failed),
        time(0.5),
        time(0.9),
        time(0.99),
        max,
    ]
}

/// The p99 of the newest rows beside each other, or their greatest time where the count supports
/// no p99.
fn tail_spark(rows: &[IntervalRow], style: &Style) -> String {
    let newest = &rows[rows.len().saturating_sub(SPARK)..];
    let tail = |row: &IntervalRow| {
        let time = row.latency.p99.or(row.latency.max);
        time.map_or(0.0, |time| time.time.0 as f64)
    };
    let values: Vec<f64> = newest.iter().map(tail).collect();
    let top = values.iter().copied().fold(0.0, f64::max);
    spark(&values, top, style)
}
