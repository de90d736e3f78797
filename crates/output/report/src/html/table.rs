//! The numbers of a picture as tables, for screen readers, for copying, and for the page's program,
//! which shows a row of the first table at its cursor. The tables are made from the figure, so that
//! their numbers are those of the picture. A table has no value between two points.

use super::section;
use crate::figure::{Axis, Bar, Column as HeatColumn, Figure, Heat, Plot, Point, Series};
use crate::grid::{Cell, Column, Grid};
use crate::markup::Markup;
use crate::quantity::{count, share};

/// The maximum number of rows: two runs in one picture have twice the places of a timeline.
const ROWS: usize = 600;

/// A place with the points of all series there; `None` for a series without a point.
pub(super) struct Row<'a> {
    /// The place along the x axis, in the unit of the axis.
    pub(super) x: f64,
    /// A point for each series, in their order.
    pub(super) points: Vec<Option<&'a Point>>,
}

/// Appends the tables in the form of the figure's plot.
pub(super) fn print(out: &mut Markup, figure: &Figure) {
    let grids = match &figure.plot {
        Plot::Lines(all) | Plot::Bands(all) | Plot::Points(all) => vec![series(figure, all)],
        Plot::Heat(heat) => vec![columns(figure, heat), spans(figure, heat)],
        Plot::Bars(all) => vec![bars(figure, all)],
        Plot::Nothing(_) => Vec::new(),
    };
    for (number, grid) in (1..).zip(&grids) {
        let name = format!("Numbers: {}, table {number}", figure.title);
        section::print_table(out, &name, &[], grid);
    }
}

/// A table whose first column has names.
fn table(headings: impl IntoIterator<Item = &'static str>, rows: Vec<Vec<Cell>>) -> Grid {
    let mut headings = headings.into_iter();
    let names = headings.next().map(Column::names);
    let numbers = headings.map(|heading| Column::numbers(heading, 0));
    let rows = rows.into_iter().map(Into::into);
    Grid::new(names.into_iter().chain(numbers).collect(), rows)
}

/// A row for each place, a column for each series.
fn series(figure: &Figure, all: &[Series]) -> Grid {
    let names = all.iter().map(|series| series.name);
    let row = |row: Row<'_>| -> Vec<Cell> {
        let values = row.points.into_iter().map(|point| value(&figure.y, point));
        let place = Cell::new(figure.x.label(row.x));
        std::iter::once(place).chain(values).collect()
    };
    let rows = rows(all).into_iter().map(row).collect();
    table(std::iter::once(figure.x.title).chain(names), rows)
}

/// The rows of the table of these series, at most [`ROWS`]. The series of one run have the same
/// places; the places of two runs are merged in ascending order.
pub(super) fn rows(all: &[Series]) -> Vec<Row<'_>> {
    let xs = |series: &Series| -> Vec<f64> { series.points.iter().map(|of| of.x).collect() };
    let Some(first) = all.first().map(xs) else {
        return Vec::new();
    };
    if all.iter().all(|series| xs(series) == first) {
        let points = |number: usize| all.iter().map(move |series| series.points.get(number));
        let row = |(number, x)| Row {
            x,
            points: points(number).collect(),
        };
        return first.into_iter().enumerate().map(row).take(ROWS).collect();
    }
    let mut places: Vec<f64> = all.iter().flat_map(xs).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places.truncate(ROWS);
    // Each series is walked once, since its points are in the order of x.
    let mut left: Vec<&[Point]> = all.iter().map(|series| &series.points[..]).collect();
    let row = |x: f64| {
        let taken = left.iter_mut().map(|points| match points.split_first() {
            Some((point, rest)) if point.x.total_cmp(&x).is_eq() => {
                *points = rest;
                Some(point)
            }
            _ => None,
        });
        let points = taken.collect();
        Row { x, points }
    };
    places.into_iter().map(row).collect()
}

/// A point's value; a dash without a value.
fn value(axis: &Axis, point: Option<&Point>) -> Cell {
    Cell::optional(point.and_then(|point| {
        let label = axis.label(point.y?);
        let sign = if point.is_at_least { "≥ " } else { "" };
        Some(format!("{sign}{label}"))
    }))
}

/// A row for each span of time, with its requests and the span of latencies that most of them had.
fn columns(figure: &Figure, heat: &Heat) -> Grid {
    let row = |column: &HeatColumn| {
        let counts = column.cells.iter().map(|cell| cell.2);
        let most = column.cells.iter().rev().max_by_key(|cell| cell.2);
        let most = most.map(|(from, to, n)| {
            let [from, to] = [from, to].map(|end| figure.y.label(*end));
            format!("{from} to {to} ({})", count(*n))
        });
        vec![
            Cell::new(figure.x.label(middle(column))),
            Cell::count(counts.sum()),
            Cell::optional(most),
        ]
    };
    let headings = [figure.x.title, heat.counted, "most common"];
    table(headings, heat.columns.iter().map(row).collect())
}

/// The middle of a span of time.
pub(super) const fn middle(column: &HeatColumn) -> f64 {
    f64::midpoint(column.from, column.to)
}

/// A row for each span of latencies, with the counts of all spans of time. Edges of equal spans are
/// equal to the bit.
fn spans(figure: &Figure, heat: &Heat) -> Grid {
    let cells = heat.columns.iter().flat_map(|of| of.cells.clone());
    let mut sums: Vec<(f64, f64, u64)> = cells.collect();
    sums.sort_by(|a, b| a.0.total_cmp(&b.0));
    sums.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.2 = kept.2.saturating_add(if is_same { next.2 } else { 0 });
        is_same
    });
    let row = |(from, to, n): (f64, f64, u64)| {
        let [from, to] = [from, to].map(|end| Cell::new(figure.y.label(end)));
        vec![from, to, Cell::count(n)]
    };
    table(
        ["from", "to", heat.counted],
        sums.into_iter().map(row).collect(),
    )
}

/// A row for each bar: its name, its value, which may be too small to be seen as a bar, and its
/// share.
fn bars(figure: &Figure, all: &[Bar]) -> Grid {
    let row = |bar: &Bar| {
        let share = share(bar.value as u64, bar.whole as u64);
        let value = Cell::new(figure.x.label(bar.value));
        vec![Cell::new(bar.name.clone()), value, Cell::new(share)]
    };
    let rows = all.iter().map(row).collect();
    table(["outcome", figure.x.title, "share"], rows)
}
