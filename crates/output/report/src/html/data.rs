//! The numbers of the page's pictures as a block of JSON, from which the page's program takes the
//! values at its cursor.
//!
//! The block mirrors [`Figure`] in fewer bytes: series with the same places list them once
//! ([`Values`]), and cells of a heat map have the numbers of their spans ([`Cells`]).
//! `web/src/figure.ts` reads the names of the fields; change both together. A picture has the name
//! of its figure as its id.
//!
//! Numbers are not rounded. A missing value is `null`.

use crate::figure::svg::{class, place};
use crate::figure::{Axis, Bar, Figure, Heat, Mark, Plot, Scale, Series, Unit};
use crate::markup::Markup;
use crate::style::Unicode;
use crate::untrusted::Untrusted;
use serde::{Serialize, Serializer};

/// Whole numbers up to this are exact in JSON.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// Appends the block as a `script` element of a type that no browser runs.
pub(super) fn print(out: &mut Markup, figures: &[Figure]) {
    let block = Block {
        figures: figures.iter().map(Picture::of).collect(),
    };
    out.open("script", &[("type", "application/json"), ("id", "data")]);
    out.raw(&json(&block));
    out.close("script");
}

/// The block as text in which no markup can begin: `<`, `>` and `&` occur only in strings of JSON,
/// and are written as numbers.
fn json(block: &Block<'_>) -> String {
    // No error is possible: keys are strings, and a number that JSON lacks is `null`.
    let text = serde_json::to_string(block).unwrap_or_default();
    let text = text.replace('<', "\\u003c").replace('>', "\\u003e");
    text.replace('&', "\\u0026")
}

/// The figures in the order of the page.
#[derive(Serialize)]
struct Block<'a> {
    figures: Vec<Picture<'a>>,
}

/// A figure, and the place of its plot: left, top, width and height in the units of the picture's
/// `viewBox`.
#[derive(Serialize)]
struct Picture<'a> {
    name: &'a str,
    title: Text<'a>,
    kind: &'static str,
    x: Line<'a>,
    y: Line<'a>,
    place: [f64; 4],
    marks: Vec<Moment<'a>>,
    #[serde(flatten)]
    content: Content<'a>,
}

/// The values of a plot. The name of the field depends on the kind of plot.
#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Series {
        series: Vec<Values<'a>>,
    },
    /// `spans` has all spans of latency in ascending order; a cell has the number of its span.
    Heat {
        spans: Vec<[Number; 2]>,
        columns: Vec<Cells>,
    },
    Bars {
        bars: Vec<Value<'a>>,
    },
}

/// An axis: its title, unit and scale by name, and the values at both ends.
#[derive(Serialize)]
struct Line<'a> {
    title: &'a str,
    unit: &'static str,
    scale: &'static str,
    from: Number,
    to: Number,
}

/// A mark: a moment along the x axis, and its name.
#[derive(Serialize)]
struct Moment<'a> {
    x: Number,
    name: Text<'a>,
}

/// A series. `ys` has a value or `null` for each place.
#[derive(Serialize)]
struct Values<'a> {
    name: Text<'a>,
    role: &'static str,
    /// The places of the points along the x axis; absent if the series before has the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    xs: Option<Vec<Number>>,
    ys: Vec<Option<Number>>,
    /// The numbers of the points that are only lower bounds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    at_least: Vec<usize>,
}

/// A column of a heat map: each cell is the number of its span, and its count.
#[derive(Serialize)]
struct Cells {
    from: Number,
    to: Number,
    cells: Vec<(usize, u64)>,
}

/// A bar: its name, the class of its colour, and its length in the unit of the x axis.
#[derive(Serialize)]
struct Value<'a> {
    name: Text<'a>,
    role: &'static str,
    value: Number,
}

impl<'a> Picture<'a> {
    /// The picture of a figure. The drawing itself computes the place of the plot.
    fn of(figure: &'a Figure) -> Self {
        let (kind, content) = match &figure.plot {
            Plot::Lines(all) => ("lines", series(all)),
            Plot::Bands(all) => ("bands", series(all)),
            Plot::Points(all) => ("points", series(all)),
            Plot::Heat(of) => ("heat", heat(of)),
            Plot::Bars(all) => ("bars", bars(all)),
        };
        let marks = figure.marks.iter().map(|Mark { x, name }| Moment {
            x: Number(*x),
            name: Text(name),
        });
        Self {
            name: figure.name,
            title: Text(&figure.title),
            kind,
            x: line(&figure.x),
            y: line(&figure.y),
            place: place(figure),
            marks: marks.collect(),
            content,
        }
    }
}

/// An axis. The program matches the names of units and scales.
fn line(axis: &Axis) -> Line<'_> {
    Line {
        title: axis.title,
        unit: match axis.unit {
            Unit::RunTime => "run_time",
            Unit::Time => "time",
            Unit::PerSecond => "per_second",
            Unit::Count => "count",
            Unit::Bytes => "bytes",
            Unit::Share => "share",
            Unit::None => "none",
        },
        scale: match axis.scale {
            Scale::Linear => "linear",
            Scale::Log => "log",
            Scale::Tail => "tail",
        },
        from: Number(axis.from),
        to: Number(axis.to),
    }
}

/// The series, each with its places if they differ from those of the series before.
fn series(all: &[Series]) -> Content<'_> {
    let mut series: Vec<Values<'_>> = Vec::with_capacity(all.len());
    let mut before = None;
    for Series { name, role, points } in all {
        let xs: Vec<f64> = points.iter().map(|point| point.x).collect();
        let is_new = before.as_ref() != Some(&xs);
        let bounds = points.iter().enumerate().filter(|(_, of)| of.is_at_least);
        series.push(Values {
            name: Text(name),
            role: class(*role),
            xs: is_new.then(|| xs.iter().copied().map(Number).collect()),
            ys: points.iter().map(|point| point.y.map(Number)).collect(),
            at_least: bounds.map(|(number, _)| number).collect(),
        });
        before = Some(xs);
    }
    Content::Series { series }
}

/// The cells of a heat map over a list of spans. Spans are found by their lower edges, which are
/// equal to the bit.
fn heat(heat: &Heat) -> Content<'_> {
    let cells = heat.columns.iter().flat_map(|column| &column.cells);
    let mut spans: Vec<(f64, f64)> = cells.map(|(from, to, _)| (*from, *to)).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    spans.dedup();
    let number = |from: f64| spans.partition_point(|span| span.0 < from);
    let columns = heat.columns.iter().map(|column| Cells {
        from: Number(column.from),
        to: Number(column.to),
        cells: column
            .cells
            .iter()
            .map(|(from, _, count)| (number(*from), *count))
            .collect(),
    });
    Content::Heat {
        columns: columns.collect(),
        spans: spans
            .iter()
            .map(|(from, to)| [Number(*from), Number(*to)])
            .collect(),
    }
}

/// The bars in their order from the top.
fn bars(all: &[Bar]) -> Content<'_> {
    let bars = all.iter().map(|Bar { name, role, value }| Value {
        name: Text(name),
        role: class(*role),
        value: Number(*value),
    });
    Content::Bars {
        bars: bars.collect(),
    }
}

/// A number as short as possible: `1000` instead of `1000.0`, since there are thousands of them.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.fract() == 0.0 && self.0.abs() < WHOLE_MAX {
            true => serializer.serialize_i64(self.0 as i64),
            false => serializer.serialize_f64(self.0),
        }
    }
}

/// A foreign text, escaped as in the picture.
struct Text<'a>(&'a str);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Untrusted::new(self.0).escaped(Unicode::On))
    }
}
