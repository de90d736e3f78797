//! The places of the page's pictures as a block of JSON, at which the page's program puts its cursor.
//!
//! The block has only what the program can't find in the page: where the rows of a picture's table
//! ([`table`]) and its points are, and the ticks and labels of each part of the run's time. The
//! program formats no value. `web/src/figure.ts` reads the names of the fields; change both together.
//! A picture has the name of its figure as its id.

use super::table;
use crate::figure::svg::{Frame, TICKS, class};
use crate::figure::{Axis, AxisLevel, Figure, Plot, Series, Unit};
use crate::markup::Markup;
use serde::{Serialize, Serializer};
use std::ops::Not;

/// Appends the block as a `script` element of a type that no browser runs.
pub(super) fn print(out: &mut Markup, figures: &[Figure]) {
    let block = Block {
        figures: drawn_of(figures).map(Picture::from_figure).collect(),
        time: Time::of(figures),
    };
    out.open("script", &[("type", "application/json"), ("id", "data")]);
    // No error is possible: keys are strings, and a number that JSON lacks is `null`. No text of the
    // block is foreign, so that no markup can begin in it.
    out.raw(&serde_json::to_string(&block).unwrap_or_default());
    out.close("script");
}

/// The figures that have a picture.
fn drawn_of(figures: &[Figure]) -> impl Iterator<Item = &Figure> {
    let is_drawn = |figure: &&Figure| !matches!(figure.plot, Plot::Nothing(_));
    figures.iter().filter(is_drawn)
}

/// The figures in the order of the page, and what all figures over time share.
#[derive(Serialize)]
struct Block {
    figures: Vec<Picture>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<Time>,
}

/// The zoom. Times are in nanoseconds since the run's start.
#[derive(Serialize)]
struct Time {
    /// The shortest part of the time that is shown.
    least: Number,
    levels: Vec<Ticks>,
}

/// The ticks of a [`AxisLevel`].
#[derive(Serialize)]
struct Ticks {
    span: Number,
    step: Number,
    labels: Vec<String>,
}

/// A figure, and the place of its plot: left, top, width and height in the units of the plot's
/// `viewBox`. All places are in these units.
#[derive(Serialize)]
struct Picture {
    name: &'static str,
    place: [f64; 4],
    /// The times at both ends of a figure over time.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<[Number; 2]>,
    /// Whether the rows of the table stand below each other.
    #[serde(skip_serializing_if = "Not::not")]
    is_down: bool,
    /// The place of each row of the table: from the left, or from the top for rows below each other.
    xs: Vec<Number>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    marks: Vec<Number>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    series: Vec<Points>,
}

/// The points of a series, which has the column of its number in the table.
#[derive(Serialize)]
struct Points {
    role: &'static str,
    /// The rows of the table that have a point; absent if each row has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<usize>>,
    /// The places of the points from the top of the picture; `null` for a point without a value.
    ys: Vec<Option<Number>>,
}

impl Time {
    /// The zoom of these figures; `None` if no figure is over time. The shortest part has two points
    /// of the figure with the most points.
    fn of(figures: &[Figure]) -> Option<Self> {
        let over_time = || drawn_of(figures).filter(|figure| is_over_time(figure));
        let length = |axis: &Axis| axis.to - axis.from;
        let apart = |figure: &Figure| length(&figure.x) / points_of(&figure.plot).max(2) as f64;
        let axes = over_time().map(|figure| &figure.x);
        let longest = axes.max_by(|a, b| a.to.total_cmp(&b.to))?;
        let least = over_time().map(apart).fold(length(longest), f64::min) * 2.0;
        let levels = AxisLevel::all(longest, least, TICKS).into_iter();
        Some(Self {
            least: Number(least.round()),
            levels: levels.map(Ticks::from).collect(),
        })
    }
}

impl From<AxisLevel> for Ticks {
    fn from(AxisLevel { span, step, labels }: AxisLevel) -> Self {
        let (span, step) = (Number(span), Number(step));
        Self { span, step, labels }
    }
}

impl Picture {
    /// The picture of a figure. The drawing computes all places.
    fn from_figure(figure: &Figure) -> Self {
        let frame = Frame::for_figure(figure);
        let across = |value: f64| Number(hundredths(frame.across(value)));
        let (xs, series) = match &figure.plot {
            Plot::Lines(all) | Plot::Bands(all) | Plot::Points(all) => {
                let rows = table::rows(all);
                let points = (0..)
                    .zip(all)
                    .map(|(column, of)| points(&frame, of, column, &rows));
                (
                    rows.iter().map(|row| across(row.x)).collect(),
                    points.collect(),
                )
            }
            Plot::Heat(heat) => {
                let middles = heat.columns.iter().map(table::middle);
                (middles.map(across).collect(), Vec::new())
            }
            Plot::Bars(bars) => {
                let middles =
                    (0..bars.len()).map(|bar| Number(hundredths(Frame::middle_of_bar(bar))));
                (middles.collect(), Vec::new())
            }
            Plot::Nothing(_) => (Vec::new(), Vec::new()),
        };
        Self {
            name: figure.name,
            place: frame.place(),
            time: is_over_time(figure).then_some([Number(figure.x.from), Number(figure.x.to)]),
            is_down: matches!(figure.plot, Plot::Bars(_)),
            xs,
            marks: figure.marks.iter().map(|mark| across(mark.x)).collect(),
            series,
        }
    }
}

/// The points of a series in these rows, whose points it has in this column.
fn points(frame: &Frame<'_>, of: &Series, column: usize, rows: &[table::Row<'_>]) -> Points {
    let own = rows.iter().enumerate();
    let own = own.filter_map(|(number, row)| Some((number, row.points[column]?)));
    let (numbers, ys): (Vec<usize>, Vec<Option<Number>>) = own
        .map(|(number, point)| (number, point.y.map(|y| Number(drawn(frame.down(y))))))
        .unzip();
    Points {
        role: class(of.role),
        rows: (numbers.len() < rows.len()).then_some(numbers),
        ys,
    }
}

/// Whether the x axis of a figure is the run's time, so that it shares the cursor and the zoom.
fn is_over_time(figure: &Figure) -> bool {
    figure.x.unit == Unit::RunTime
}

/// The maximum number of points of a series, or the number of columns.
fn points_of(plot: &Plot) -> usize {
    match plot {
        Plot::Lines(all) | Plot::Bands(all) | Plot::Points(all) => {
            let points = all.iter().map(|series| series.points.len());
            points.max().unwrap_or(0)
        }
        Plot::Heat(heat) => heat.columns.len(),
        Plot::Bars(bars) => bars.len(),
        Plot::Nothing(_) => 0,
    }
}

/// A place as it is drawn: with one decimal, rounded by the formatter, which a multiplication by ten
/// before the rounding would not always equal.
fn drawn(place: f64) -> f64 {
    format!("{place:.1}").parse().unwrap_or(place)
}

/// A place as exact as lines are drawn.
fn hundredths(place: f64) -> f64 {
    (place * 100.0).round() / 100.0
}

/// A number as short as possible: `1000` instead of `1000.0`, since there are thousands of them.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Whole numbers up to this are exact in JSON.
        match self.0.fract() == 0.0 && self.0.abs() < 9_007_199_254_740_992.0 {
            true => serializer.serialize_i64(self.0 as i64),
            false => serializer.serialize_f64(self.0),
        }
    }
}
