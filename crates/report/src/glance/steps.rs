//! The table of pools and steps on a screen: every row, in the order that a person chose.
//!
//! [`steps`] makes the table anew each time from the summary: it collects the rows of all pools,
//! leaves out those that the filter does not match, orders the rest, and only then makes their
//! sparks, which cost a pass over each step's timeline. The rows are as many as the steps: the
//! screen shows a part of them and knows how far it was scrolled.
//!
//! An order and a filter are the person's, and are kept by the screen. Sorting is stable: rows with
//! equal figures stay in the plan's order.
//!
//! The table is drawn anew while a run goes on, so that an order by figures lets rows move.
//! Therefore the plan's order is the first one, in which a row keeps its place, and any other is
//! asked for. The order is applied to copies: the summary's own lists are those of the plan, and
//! other tables of the same drawing read them.
//!
//! A filter hides rows and changes no figure. Where the run has a single step, its spark is that of
//! the whole run, whose requests are the same.

use crate::figure::{Spark, Sparks};
use crate::line::{Ink, Line};
use crate::quantity::{count, latency_at_least, quantile};
use crate::style::Style;
use crate::table::{Column, Side, Table};
use crate::text::foreign;
use drumfire_measure::{Counts, Histogram, Summary};
use drumfire_plan::secret;
use std::cmp::Reverse;

/// The greatest width of a name, in columns.
const NAME_MAX: usize = 48;
/// The length of a spark, in columns.
const SPARK: usize = 16;

/// The order of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The order of the plan.
    #[default]
    Plan,
    /// The slowest first, by p99; with few requests by the greatest value that their count gives.
    Slowest,
    /// The steps with the most failures first.
    Failed,
    /// The steps with the most requests first.
    Sent,
}

impl Order {
    /// The order that a screen shows next, when a person asks for another: all four in turn.
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
            Self::Plan => "in the order of the plan",
            Self::Slowest => "slowest first",
            Self::Failed => "most failures first",
            Self::Sent => "most requests first",
        }
    }
}

/// One step of one pool, copied out of the summary so that rows can be sorted.
struct Row {
    /// Its name, masked and escaped, which the filter is compared with as well.
    name: String,
    /// Its requests.
    counts: Counts,
    /// *The* latency of its pool.
    times: Histogram,
    /// Its pool's number and its own.
    place: (usize, usize),
}

/// A heading and a row for each step whose name contains `filter`, without regard to case.
#[must_use]
pub fn steps(summary: &Summary, order: Order, filter: &str, style: &Style) -> Vec<Line> {
    let mut rows = rows(summary, style);
    let is_only = rows.len() == 1;
    let filter = filter.to_lowercase();
    rows.retain(|row| row.name.to_lowercase().contains(&filter));
    match order {
        Order::Plan => {}
        Order::Slowest => rows.sort_by_key(|row| Reverse(row.times.quantile_unchecked(0.99))),
        Order::Failed => rows.sort_by_key(|row| Reverse(row.counts.failed)),
        Order::Sent => rows.sort_by_key(|row| Reverse(row.counts.sent)),
    }
    let places: Vec<_> = rows.iter().map(|row| row.place).collect();
    let sparks = match is_only {
        true => Sparks::of_run(summary, SPARK),
        false => Sparks::of(summary, &places, SPARK),
    };
    let mut table = Table::new([
        Column::names("Steps"),
        Column {
            heading: sparks.as_ref().map_or("over time", Sparks::heading),
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
    for (number, row) in rows.iter().enumerate() {
        let spark = sparks.as_ref().and_then(|all| all.steps[number].as_ref());
        table.row(cells(row, spark, style));
    }
    table.lines(style.width())
}

/// Every step of every pool.
fn rows(summary: &Summary, style: &Style) -> Vec<Row> {
    let mut rows = Vec::new();
    for (pool_number, (pool, figures)) in summary.pools().enumerate() {
        let steps = summary.steps_of(pool, figures);
        let kind = pool.model.latency_kind(&figures.latency);
        for (number, step) in steps.into_iter().enumerate() {
            rows.push(Row {
                name: foreign(&secret::url(&step.name), style.unicode),
                times: kind.of_step(&step).clone(),
                counts: step.counts,
                place: (pool_number, number),
            });
        }
    }
    rows
}

/// The cells of a row. The name takes a third of the page at most; p99 and the counts stay on a
/// narrow one. A greatest value that is only a lower bound is marked.
fn cells(row: &Row, spark: Option<&Spark>, style: &Style) -> Vec<Line> {
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
        Line::plain(spark.map_or_else(String::new, |spark| spark.blocks(style.unicode))),
        Line::plain(count(row.counts.sent)),
        Line::of(count(row.counts.failed), failed),
        time(0.5),
        time(0.9),
        time(0.99),
        max,
    ]
}
