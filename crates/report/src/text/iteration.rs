//! Iterations, where one is more than a request: their counts, their rate, and those of each pool
//! and scenario.
//!
//! A pool whose iterations are single requests has no such part: its requests are the iterations.
//! An intended rate is shown only of a single pool, for rates of different iterations do not add
//! up.
//!
//! The words are those of requests, and so is the sum: what was due has completed, has failed, was
//! dropped, or is one of the rest. Rows of pools and scenarios have started ones first, since a
//! long iteration may be in flight for most of a run.
//!
//! [`print`] is called below the line of requests, [`print_pools`] below the table of pools, and
//! [`print_scenarios`] has a place of its own on the page; all three print nothing where there are
//! no iterations of several requests.

use super::latency::quantile_cell;
use super::{foreign, tally};
use crate::line::{Ink, Line};
use crate::page::Page;
use crate::quantity::{count, rate, share};
use crate::table::{Column, Table};
use drumfire_measure::{Iterations, Summary};

/// The greatest width of a name, in columns.
const NAME_MAX: usize = 24;

/// Prints the counts and the rate of the iterations of all pools that have them.
///
/// Completed ones come first and started ones are left out, for an iteration is worth something
/// when it has ended. The share beside the intended rate is that of the load which was started, by
/// counts, as that of requests.
pub(super) fn print(summary: &Summary, page: &mut Page<'_>) {
    let Some(iterations) = &summary.total.iterations else {
        return;
    };
    let counts = &iterations.counts;
    let mut failed = format!("{} failed", count(counts.failed));
    if counts.failed > 0 {
        failed.push_str(&format!(" ({})", share(counts.failed, counts.sent)));
    }
    let completed = format!("{} completed", count(counts.ok));
    let mut items = vec![
        Line::of(completed, Ink::Bold),
        tally(failed, counts.failed, Ink::Bad),
    ];
    let others = [
        (counts.dropped, "dropped"),
        (counts.in_flight, "in flight"),
        (counts.pending, "due but not started"),
    ];
    for (n, what) in others.into_iter().filter(|(n, _)| *n > 0) {
        items.push(Line::of(format!("{} {what}", count(n)), Ink::Warn));
    }
    let achieved = summary.iterations_per_s(iterations);
    items.push(Line::plain(format!("{} achieved", rate(achieved))));
    let mut pools = summary.pools();
    let intended = match (pools.next(), pools.next()) {
        (Some((pool, figures)), None) => summary.iterations_intended_per_s(pool, figures),
        _ => None,
    };
    if let Some(intended) = intended.filter(|intended| *intended > 0.0) {
        let part = share(counts.sent, counts.intended);
        let text = format!("{part} of {} started", rate(intended));
        items.push(Line::plain(text));
    }
    page.items("Iterations", items);
}

/// Prints a row for each pool with iterations, where there is more than one pool.
pub(super) fn print_pools(summary: &Summary, page: &mut Page<'_>) {
    let rows = summary.pools().filter_map(|(pool, figures)| {
        let name = pool.name.clone();
        let iterations = figures.iterations.as_ref()?;
        Some(Row { name, iterations })
    });
    let rows: Vec<Row<'_>> = rows.collect();
    if !rows.is_empty() {
        print_rows("Iterations", &rows, summary, page);
        page.explain("An iteration is one pass of a user through its scenario, pauses included.");
    }
}

/// Prints a row for each scenario, where a pool has several.
pub(super) fn print_scenarios(summary: &Summary, page: &mut Page<'_>) {
    let mut rows = Vec::new();
    for (pool, figures) in summary.pools() {
        let named = pool.scenarios.iter().zip(&figures.scenarios);
        rows.extend(named.map(|(scenario, iterations)| Row {
            name: match summary.info.pools.len() {
                1 => scenario.to_string(),
                _ => format!("{}/{scenario}", pool.name),
            },
            iterations,
        }));
    }
    if !rows.is_empty() {
        print_rows("Scenarios", &rows, summary, page);
        page.explain(
            "The iterations of each scenario, from the first step to the last, pauses included.",
        );
    }
}

/// The iterations of a pool or a scenario, with its name. With several pools a scenario's name has
/// the pool's before it, since two pools may have scenarios of one name.
struct Row<'a> {
    name: String,
    iterations: &'a Iterations,
}

/// Prints a table of iterations under this title, which is the heading of its first column. On a
/// narrow page it keeps the name and p99.
fn print_rows(title: &'static str, rows: &[Row<'_>], summary: &Summary, page: &mut Page<'_>) {
    let mut table = Table::new([
        Column::names(title),
        Column::numbers("started", 1),
        Column::numbers("failed", 2),
        Column::numbers("rate", 3),
        Column::numbers("p50", 4),
        Column::numbers("p90", 6),
        Column::numbers("p99", 0),
        Column::numbers("max", 5),
    ]);
    for row in rows {
        table.row(cells(summary, row, page));
    }
    page.gap();
    let lines = table.lines(page.style.width());
    page.lines(lines);
}

/// The cells of a row. Its times have no colour: how long an iteration may take is the scenario's
/// own matter, with its pauses.
fn cells(summary: &Summary, row: &Row<'_>, page: &Page<'_>) -> Vec<Line> {
    let style = page.style;
    let iterations = row.iterations;
    let mut name = Line::plain(foreign(&row.name, style.unicode));
    name.clip((style.width() / 3).min(NAME_MAX), style.glyph("…", "~"));
    let counts = &iterations.counts;
    let failed = count(counts.failed);
    let quantile = |q| quantile_cell(&iterations.time, q, Ink::Plain, style);
    vec![
        name,
        Line::plain(count(counts.sent)),
        tally(failed, counts.failed, Ink::Bad),
        Line::plain(rate(summary.iterations_per_s(iterations))),
        quantile(0.5),
        quantile(0.9),
        quantile(0.99),
        quantile(1.0),
    ]
}
