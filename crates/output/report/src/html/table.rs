//! The numbers of a picture as a table, for screen readers and for copying. The table is made from
//! the figure, so that its numbers are those of the picture. A table has no value between two
//! points.

use crate::figure::{Axis, Bar, Figure, Heat, Plot, Point, Series};
use crate::markup::Markup;

/// The maximum number of rows: two runs in one picture have twice the places of a timeline.
const ROWS: usize = 600;

/// Appends the table in the form of the figure's plot.
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

/// A row for each place, a column for each series.
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
/// there. The series of one run have the same places; the series of two runs are merged.
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
    // Each series is walked once, since its points are in the order of x.
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

/// A point's value as a text; a dash without a value.
fn value(axis: &Axis, point: Option<&Point>) -> String {
    let Some((y, is_at_least)) = point.and_then(|point| Some((point.y?, point.is_at_least))) else {
        return "–".to_owned();
    };
    let sign = if is_at_least { "≥ " } else { "" };
    format!("{sign}{}", axis.label(y))
}

/// A row for each span of latencies, with the counts of all spans of time. Edges of equal spans are
/// equal to the bit.
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

/// A row for each bar: its name and its value, which may be too small to be seen as a bar.
fn bars(out: &mut Markup, figure: &Figure, all: &[Bar]) {
    heading(out, &["outcome", figure.x.title]);
    out.open("tbody", &[]);
    for bar in all {
        row(out, &[bar.name.clone(), figure.x.label(bar.value)]);
    }
    out.close("tbody");
}
