//! The numbers of a picture as a table: for readers of screens, for copying, and for doubts.
//!
//! It is made from the figure and not from the summary, so that a number beside a picture is the
//! number that the picture shows. Values are labelled as on the axes; those that are only lower
//! bounds have a `≥`.
//!
//! [`print`] chooses the form by the figure's plot, and each form is a heading and a body of rows:
//! a row for each place of lines, for each span of a heat map's latencies, for each bar. Only lines
//! need a step before: the series of a figure need not have the same places, and [`rows`] joins
//! them over all places that any of them has. So a table never states a value between two points,
//! which the picture's line would suggest.
//!
//! A table may be long, and lies in a box that scrolls and that keys can reach. Cells are texts
//! that are escaped as they are written; nothing in them is markup.

use crate::figure::{Axis, Bar, Figure, Heat, Plot, Point, Series};
use crate::markup::Markup;

/// The most rows of a table: those of two runs that lie over each other, each of which is bounded
/// by its timeline.
const ROWS: usize = 600;

/// Appends the table in the form that the figure's plot asks for.
pub(super) fn print(out: &mut Markup, figure: &Figure) {
    out.open("div", &[("class", "scroll"), ("tabindex", "0")]);
    out.open("table", &[]);
    match &figure.plot {
        Plot::Lines(all) | Plot::Bands(all) | Plot::Points(all) => series(out, figure, all),
        Plot::Heat(heat) => cells(out, figure, heat),
        Plot::Bars(all) => bars(out, figure, all),
    }
    out.close("table");
    out.close("div");
}

/// Appends the row of headings.
fn heading(out: &mut Markup, names: &[&str]) {
    out.open("thead", &[]);
    out.open("tr", &[]);
    for name in names {
        out.element("th", &[("scope", "col")], name);
    }
    out.close("tr");
    out.close("thead");
}

/// Appends a row of cells, escaped.
fn row(out: &mut Markup, cells: &[String]) {
    out.open("tr", &[]);
    for cell in cells {
        out.element("td", &[], cell);
    }
    out.close("tr");
}

/// A row for each place, a column for each series. The series of one run have the same places; two
/// runs that lie over each other have each their own, and a series without a value there is a gap.
fn series(out: &mut Markup, figure: &Figure, all: &[Series]) {
    let names: Vec<&str> = all.iter().map(|series| &*series.name).collect();
    heading(out, &[&[figure.x.title], &names[..]].concat());
    out.open("tbody", &[]);
    for (x, points) in rows(all).into_iter().take(ROWS) {
        let values = points.into_iter().map(|point| value(&figure.y, point));
        let cells: Vec<String> = std::iter::once(figure.x.label(x)).chain(values).collect();
        row(out, &cells);
    }
    out.close("tbody");
}

/// The places with the points of all series at each, ascending; `None` for a series without a point
/// there.
///
/// Nearly all figures are of one run, whose series come from one timeline: their places are
/// compared first, and then zipped. Only runs that lie over each other are merged, by the total
/// order of numbers, so that equal places are found by comparison and each series is gone through
/// once.
fn rows(all: &[Series]) -> Vec<(f64, Vec<Option<&Point>>)> {
    let xs = |series: &Series| -> Vec<f64> { series.points.iter().map(|of| of.x).collect() };
    let Some(first) = all.first().map(xs) else {
        return Vec::new();
    };
    if all.iter().all(|series| xs(series) == first) {
        let places = first.into_iter().enumerate();
        let row = |number: usize| all.iter().map(move |series| series.points.get(number));
        return places
            .map(|(number, x)| (x, row(number).collect()))
            .collect();
    }
    let mut places: Vec<f64> = all.iter().flat_map(xs).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    // Points are in the order of x, so that each series is gone through once.
    let mut left: Vec<&[Point]> = all.iter().map(|series| &series.points[..]).collect();
    let mut at = |x: f64| -> Vec<Option<&Point>> {
        let taken = left.iter_mut().map(|points| match points.split_first() {
            Some((point, rest)) if point.x.total_cmp(&x).is_eq() => {
                *points = rest;
                Some(point)
            }
            _ => None,
        });
        taken.collect()
    };
    places.into_iter().map(|x| (x, at(x))).collect()
}

/// A point's value as a text; a dash where there is no point or no value.
fn value(axis: &Axis, point: Option<&Point>) -> String {
    let Some((y, is_at_least)) = point.and_then(|point| Some((point.y?, point.is_at_least))) else {
        return "–".to_owned();
    };
    let sign = if is_at_least { "≥ " } else { "" };
    format!("{sign}{}", axis.label(y))
}

/// A row for each span of latencies, the counts of all spans of time together: a table of time
/// against latency would have a row for each cell of the picture. Edges are equal to the bit where
/// spans are, so that equal ones are found by comparison.
fn cells(out: &mut Markup, figure: &Figure, heat: &Heat) {
    heading(out, &["from", "to", "requests"]);
    let mut sums: Vec<(f64, f64, u64)> = heat
        .columns
        .iter()
        .flat_map(|of| of.cells.clone())
        .collect();
    sums.sort_by(|a, b| a.0.total_cmp(&b.0));
    sums.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.2 = kept.2.saturating_add(if is_same { next.2 } else { 0 });
        is_same
    });
    out.open("tbody", &[]);
    for (from, to, count) in sums {
        row(
            out,
            &[figure.y.label(from), figure.y.label(to), count.to_string()],
        );
    }
    out.close("tbody");
}

/// A row for each bar, in the order of the picture: its name and its value, which may be so small
/// that the bar can't be seen.
fn bars(out: &mut Markup, figure: &Figure, all: &[Bar]) {
    heading(out, &["outcome", figure.x.title]);
    out.open("tbody", &[]);
    for bar in all {
        row(out, &[bar.name.clone(), figure.x.label(bar.value)]);
    }
    out.close("tbody");
}
