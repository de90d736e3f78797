//! Pictures of a run, described once: axes, series and marks, from which every drawing is made.
//!
//! [`Pictures`] makes them from a [`Summary`], whose run may be under way, stored or merged; a
//! drawing ([`svg`]) reads a [`Figure`] and nothing else, so that the terminal, a file and a page
//! show the same. A figure owns its numbers: a few hundred points, whatever the run's length.
//!
//! A figure shows no more than its numbers say. A value that the count can't support is a gap, and a
//! value that is only a lower bound is marked; nothing is interpolated or smoothed. A run of a
//! single interval has every figure, with one point.

mod axis;
mod beside;
mod heat;
mod outcomes;
mod over_time;
mod spark;
pub mod svg;
mod tail;

pub use axis::{Axis, Scale, Tick, Unit};
pub use beside::{BesideSide, beside};
pub use heat::{Column, Heat};
pub use spark::{Spark, Sparks};
pub use tail::{TailLine, tail, tails};

use drumfire_measure::{IntervalRow, Overview, Summary};

/// A picture of a run, as values in the units of its axes.
///
/// A drawing must show everything that is in it and may add nothing: no value is computed behind
/// this type. It holds no reference to the summary, so that a page can keep the figures of a run
/// while the run goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name in files and links, of small letters and hyphens; one of [`NAMES`], or a name of
    /// [`beside()`] for a picture of two runs, or that of a figure of a history.
    pub name: &'static str,
    /// Its heading.
    pub title: String,
    /// The question that the picture answers, printed beneath its heading.
    pub question: &'static str,
    /// The axis from left to right.
    pub x: Axis,
    /// The axis from the bottom to the top. Bars have none: its `to` is then their number.
    pub y: Axis,
    /// The values, and the kind of shape that they have over the axes.
    pub plot: Plot,
    /// Moments along the x axis that the picture names, such as the end of the warm-up.
    pub marks: Vec<Mark>,
    /// A sentence without which the picture would be misread, printed beneath it; `None` where the
    /// heading and the axes suffice.
    pub note: Option<String>,
}

/// The content of a figure: one kind of shape, with the values that it is made from.
///
/// A drawing matches on it once. Values lie within the figure's axes, but for logarithmic ones:
/// there a value of 0 has no place of its own and is drawn at the axis' beginning.
#[derive(Clone, Debug, PartialEq)]
pub enum Plot {
    /// Lines beside each other.
    Lines(Vec<Series>),
    /// Lines above each other, the space between neighbours filled; the lowest first.
    Bands(Vec<Series>),
    /// Single points without an order.
    Points(Vec<Series>),
    /// Columns of cells, each as dark as its count is large.
    Heat(Heat),
    /// A bar for each value, from the left axis on.
    Bars(Vec<Bar>),
}

/// Points that belong together and are joined by a line where the plot has lines.
///
/// The series of one run have their points at the same places, one for each row; where a series has
/// no value at a place, it has a point without one. In a picture of two runs each has the places of
/// its own run.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its meaning, by which drawings choose a colour.
    pub role: Role,
    /// Its points, in the order of x.
    pub points: Vec<Point>,
}

/// A point of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Its place along the x axis, in that axis' unit.
    pub x: f64,
    /// Its value in the y axis' unit; `None` where the count supports none.
    pub y: Option<f64>,
    /// The value is known only from below.
    pub is_at_least: bool,
}

/// A value with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its name; a server may have chosen parts of it.
    pub name: String,
    /// Its meaning.
    pub role: Role,
    /// Its value in the x axis' unit.
    pub value: f64,
}

/// The meaning of a series or a bar, from which a drawing takes its colour and its dashes. Two
/// series of one figure have different roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The load that the plan asked for.
    Asked,
    /// Requests that met the plan's expectations.
    Good,
    /// Requests that the target answered, but not as the plan expects.
    Bad,
    /// Requests without an answer: failed on the way, dropped, never sent, or still in flight.
    Lost,
    /// One of several equals, from the least to the greatest.
    Rank(u8),
}

/// A place that a picture names.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Its place along the x axis, in that axis' unit.
    pub x: f64,
    /// Its name.
    pub name: String,
}

/// The names of all figures that a run may have, in the order in which a report shows them. A run
/// lacks `memory` where the system does not tell it; it has all others, even without a request.
pub const NAMES: [&str; 9] = [
    "rate",
    "latency",
    "heat",
    "tail",
    "knee",
    "outcomes",
    "in-flight",
    "lag",
    "memory",
];

/// The figures of one summary, each made when it is asked for. The run over time is decoded once for
/// all of them, which is most of their cost.
///
/// A report and a page take all ([`figures`]). A screen shows a few at a time and makes them each
/// second, so that it asks for these by their names; it may put the newest intervals in the place
/// of all rows ([`Self::of_newest`]).
#[derive(Debug)]
pub struct Pictures<'a> {
    summary: &'a Summary,
    cells: Vec<Overview>,
    rows: Vec<IntervalRow>,
    newest: Option<Vec<IntervalRow>>,
}

impl<'a> Pictures<'a> {
    /// The figures of the whole run.
    #[must_use]
    pub fn of(summary: &'a Summary) -> Self {
        let cells: Vec<Overview> = summary.over_time().collect();
        let rows = summary.rows_of(&cells);
        Self {
            summary,
            cells,
            rows,
            newest: None,
        }
    }

    /// The same, with these rows alone in the figures of rows over time: the newest intervals of a
    /// run under way, which are merged with others in its summary.
    #[must_use]
    pub fn of_newest(self, rows: Vec<IntervalRow>) -> Self {
        Self {
            newest: Some(rows),
            ..self
        }
    }

    /// The figure of a name among [`NAMES`]. `None` where the run has nothing to show in it.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<Figure> {
        let rows = self.newest.as_ref().unwrap_or(&self.rows);
        let summary = self.summary;
        match name {
            "rate" => Some(over_time::rate(summary, rows)),
            "latency" => Some(over_time::latency(summary, rows)),
            "heat" => Some(heat::latency(summary, &self.cells)),
            "tail" => Some(tail(summary, None)),
            "knee" => Some(over_time::knee(summary, &self.rows)),
            "outcomes" => Some(outcomes::outcomes(summary)),
            "in-flight" => Some(over_time::in_flight(summary, rows)),
            "lag" => Some(over_time::lag(summary, rows)),
            "memory" => over_time::memory(summary, &self.cells),
            _ => None,
        }
    }
}

/// Every figure of a run, in the order of [`NAMES`].
///
/// The summary may be of a run under way, with its books closed as if it ended now: the last
/// interval is then a part of one, and the figures of rates leave it out.
#[must_use]
pub fn figures(summary: &Summary) -> Vec<Figure> {
    let pictures = Pictures::of(summary);
    let made = NAMES.iter().map(|name| pictures.figure(name));
    made.flatten().collect()
}
