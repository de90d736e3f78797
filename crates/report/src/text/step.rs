//! The table of steps, where there is more than one.
//!
//! Of many steps those with the greatest times are shown, and a line says how many there are. Names
//! are often URLs that differ only in their last parts: they lose the beginning that all of them
//! share, and long ones their middle.
//!
//! [`print`] makes the table in three passes over the same rows, whose order is fixed by then: the
//! names are cut together ([`distinct`]), for the part that they share is known only of all; the
//! sparks are made together, for they share one quantile that all of them support; and only then is
//! each row's line of cells put into the table, which drops columns until it fits the page. Which
//! columns go first is a number at each: the quantiles that a reader compares steps by stay
//! longest.
//!
//! The rows are those of the page in a browser, by [`step_rows`]; each page has a bound of its own.

use super::foreign;
use super::latency::quantile_cell;
use crate::figure::Sparks;
use crate::line::{Ink, Line};
use crate::page::Page;
use crate::quantity::{count, counted};
use crate::secret;
use crate::step_rows::{StepRow, StepRows, step_rows};
use crate::style::{Style, Unicode};
use crate::table::{Column, Side, Table};
use drumfire_measure::{LatencyKind, Step, Summary};
use unicode_width::UnicodeWidthStr as _;

/// The most rows: more do not fit a screen beside the rest of the page.
const ROWS_MAX: usize = 20;
/// The most columns of a step's latency over time, one letter each.
const SPARK_COLUMNS: usize = 24;
/// The greatest width of a name, in columns.
const NAME_MAX: usize = 40;

/// Prints a row for each step.
///
/// Up to the bound the order is that of the plan, as a reader knows it; beyond it the slowest comes
/// first. Steps of several pools are one list, each with the latency of its own pool. A run
/// with a single step prints nothing, for the table of latencies has its figures. The column of
/// blocks comes last and gives way first: it shows what the others say in numbers.
pub(super) fn print(summary: &Summary, page: &mut Page<'_>) {
    if summary.steps().len() < 2 {
        return;
    }
    let StepRows { rows, total } = step_rows(summary, ROWS_MAX);
    let style = page.style;
    let sparks = sparks(summary, &rows, style);
    let mut columns = vec![
        Column::names("Steps"),
        Column::numbers("sent", 0),
        Column::numbers("failed", 1),
        Column::numbers("p50", 3),
        Column::numbers("p90", 5),
        Column::numbers("p99", 0),
        Column::numbers("p99.9", 4),
        Column::numbers("max", 2),
    ];
    columns.extend(sparks.as_ref().map(|sparks| Column {
        heading: sparks.heading(),
        side: Side::Left,
        dispensable: 6,
    }));
    let mut table = Table::new(columns);
    let names: Vec<String> = rows.iter().map(|row| name(&row.step, style)).collect();
    let names = distinct(&names, (style.width() / 3).min(NAME_MAX), style);
    for (number, (row, name)) in rows.iter().zip(names).enumerate() {
        let mut cells = cells(name, &row.step, row.kind, style);
        cells.extend(sparks.as_ref().map(|sparks| {
            let spark = sparks.steps[number].as_ref();
            Line::plain(spark.map_or_else(String::new, |spark| spark.blocks(Unicode::On)))
        }));
        table.row(cells);
    }
    let lines = table.lines(page.style.width());
    page.lines(lines);
    if total > ROWS_MAX {
        page.aside(&format!(
            "The {ROWS_MAX} slowest of {}; --json has all of them.",
            counted(total as u64, "step")
        ));
    }
    page.explain("Numbers per step; latencies are of ok responses and timeouts.");
    if sparks.is_some() {
        page.explain(
            "The graph over time shows this quantile through the run, each step on its own scale; \
             a gap has too few requests. It needs a wide page.",
        );
    }
}

/// The latency of each step over the run; `None` where the terminal has no blocks to draw it, or
/// where no step has a timeline of its own with enough requests.
fn sparks(summary: &Summary, rows: &[StepRow], style: &Style) -> Option<Sparks> {
    let steps: Vec<_> = rows.iter().map(|row| row.place).collect();
    match style.unicode {
        Unicode::On => Sparks::of(summary, &steps, SPARK_COLUMNS),
        Unicode::Off => None,
    }
}

/// A step's name, masked first and escaped then: an escaped secret would no longer be found.
fn name(step: &Step, style: &Style) -> String {
    foreign(&secret::url(&step.name), style.unicode)
}

/// The names without the beginning that all of them share, as far as a `/`, and cut in their middle
/// where they are still too long: the parts that tell them apart are mostly at their ends. The
/// beginning is only taken away where some name is too long with it.
///
/// The result has one name for each given one, in their order. Two names may be equal after the
/// cut: the table has no room for more, and `--json` has the whole.
fn distinct(names: &[String], columns: usize, style: &Style) -> Vec<String> {
    let mark = style.glyph("…", "~");
    let fits = |name: &String| name.width() <= columns;
    let first = names.first().map(String::as_str).unwrap_or_default();
    let common = names.iter().fold(first, |common, name| {
        let pairs = common.char_indices().zip(name.chars());
        let same = pairs.take_while(|((_, a), b)| a == b).last();
        &common[..same.map_or(0, |((at, a), _)| at + a.len_utf8())]
    });
    let common = match common.rfind('/') {
        Some(slash) if !names.iter().all(fits) => slash,
        _ => 0,
    };
    let shown = names.iter().map(|name| match common {
        0 => cut(name, columns, mark),
        common => cut(&format!("{mark}{}", &name[common..]), columns, mark),
    });
    shown.collect()
}

/// A text of at most this many columns, whose middle gives way.
///
/// A third of the room goes to the beginning, the rest to the end. Both are measured in columns,
/// not characters, for names may have wide ones.
fn cut(text: &str, columns: usize, mark: &str) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(mark.width());
    let mut head = Line::plain(text);
    head.clip(room / 3 + mark.width(), mark);
    let tail_room = columns.saturating_sub(head.width());
    let mut tail = text;
    while tail.width() > tail_room {
        let mut chars = tail.chars();
        chars.next();
        tail = chars.as_str();
    }
    format!("{}{tail}", head.text())
}

/// One step's cells. Every step has its own latency; failures are marked where there are any, since
/// a step with few of them is easily lost among many.
fn cells(name: String, step: &Step, kind: LatencyKind, style: &Style) -> Vec<Line> {
    let histogram = kind.of_step(step);
    let name = Line::plain(name);
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
