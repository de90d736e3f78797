//! The numbers of the page's pictures as a block of JSON, which the page's program reads.
//!
//! The pictures are drawn without it. The program finds the value under its cursor here, and the
//! tests in a browser compare what is drawn with it. Texts are escaped as they are in the pictures;
//! what could end the block or begin another element is spelled with a number, which JSON allows.
//!
//! The block mirrors [`Figure`] in fewer bytes, for it may be the larger part of a page. Each type
//! here is one object of it: series that have the same places name them once ([`Values`]), and
//! cells of a heat map are the numbers of their spans, which are listed once ([`Cells`]). Names of
//! fields are read by `web/src/figure.ts`, and a change of either is a change of both.
//!
//! [`print`] goes once through the figures of the page, in the order of their pictures; the program
//! finds the picture of an object by its name, which is the picture's id. Within a figure the order
//! of points and bars is that of the drawing. The program reads the block when the page is opened,
//! and again after parts of a page that follows a run have been replaced.
//!
//! Numbers are the figure's own and unrounded: the program rounds them for the reader, in the unit
//! of the axis. A value that is missing is `null`, and never 0: a gap in a line is the fact that
//! too few requests fell there.

use crate::figure::svg::{class, place};
use crate::figure::{Axis, Bar, Figure, Heat, Mark, Plot, Scale, Series, Unit};
use crate::markup::Markup;
use crate::style::Unicode;
use crate::untrusted::Untrusted;
use serde::{Serialize, Serializer};

/// Numbers up to this are whole in JSON, too, where they are whole.
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

/// The block as text in which no markup can begin: `<`, `>` and `&` are spelled with numbers, which
/// only strings of JSON can hold, so that a text of a server neither ends the element nor begins a
/// comment.
fn json(block: &Block<'_>) -> String {
    // A number that JSON does not have is written as `null`, and keys are texts: there is no error.
    let text = serde_json::to_string(block).unwrap_or_default();
    let text = text.replace('<', "\\u003c").replace('>', "\\u003e");
    text.replace('&', "\\u0026")
}

/// The whole block: the figures in the order of the page.
#[derive(Serialize)]
struct Block<'a> {
    figures: Vec<Picture<'a>>,
}

/// A figure, and the place of its plot in the picture: left, top, width and height in the units of
/// the picture's `viewBox`.
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

/// The values of a plot. The field's name tells the program which kind it is, beside `kind`, which
/// tells the plots with series apart.
#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Series {
        series: Vec<Values<'a>>,
    },
    /// Cells: `spans` are all spans of latency that occur, in ascending order, and a cell has the
    /// number of its own.
    Heat {
        spans: Vec<[Number; 2]>,
        columns: Vec<Cells>,
    },
    Bars {
        bars: Vec<Value<'a>>,
    },
}

/// An axis: its title, its unit and scale by name, and the values at both ends.
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

/// A series: its places are those of the series before it where it names none. `ys` has a value or
/// `null` for each place, and `at_least` the numbers of those that are only lower bounds.
#[derive(Serialize)]
struct Values<'a> {
    name: Text<'a>,
    role: &'static str,
    /// The places of the points along the x axis; absent where they are those of the series before.
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
    /// The picture of a figure. The place of its plot is computed by the drawing itself, so that
    /// values and pixels can't come apart.
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

/// An axis with its unit and scale by name. The names are spelled here, not derived, since the
/// program matches them.
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

/// The series, each with its places only where they differ from those of the one before.
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

/// The cells of a heat map over a list of spans. Cells of all columns have the same edges, which
/// are computed by one function, so that equal spans are equal to the bit.
///
/// The number of a span is found by its lower edge alone, since no two spans have the same.
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

/// A number as short as it can be: `1000` rather than `1000.0`. Most values are counts or whole
/// nanoseconds, and there are thousands of them.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.fract() == 0.0 && self.0.abs() < WHOLE_MAX {
            true => serializer.serialize_i64(self.0 as i64),
            false => serializer.serialize_f64(self.0),
        }
    }
}

/// A text, which may be anyone's, as the picture shows it.
struct Text<'a>(&'a str);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Untrusted::new(self.0).escaped(Unicode::On))
    }
}
