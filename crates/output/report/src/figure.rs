//! Pictures of a run, described once as axes, series and marks. A drawing ([`svg`]) reads a
//! [`Figure`] and nothing else, so that terminal, file and page show the same.
//!
//! A value that the count can't support is a gap, and a lower bound is marked; nothing is
//! interpolated or smoothed. A series without a point is left out, and a figure without a series
//! has a sentence in its place ([`plot_of`]).

mod axis;
mod beside;
mod heat;
mod outcomes;
mod over_time;
mod spark;
pub mod svg;
mod tail;

pub(crate) use axis::Level;
pub use axis::{Axis, Scale, Tick, Unit};
pub use beside::{BesideSide, beside};
pub use heat::{Column, Heat};
pub(crate) use over_time::load_ended_at;
pub use spark::{Spark, Sparks};
pub use tail::{TailLine, tail, tails};

use drumfire_measure::{Histogram, IntervalRow, LatencyKind, Overview, Summary};

/// A picture of a run, as values in the units of its axes. A drawing shows everything in the figure
/// and adds nothing. A figure has a few hundred points, whatever the length of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The name in files and links: one of [`NAMES`], a name of [`beside()`], or the name of a
    /// history's figure.
    pub name: &'static str,
    /// The heading.
    pub title: String,
    /// The question that the picture answers.
    pub question: &'static str,
    /// The axis from left to right.
    pub x: Axis,
    /// The axis from the bottom to the top. Bars have no such axis; `to` is their number.
    pub y: Axis,
    /// The values.
    pub plot: Plot,
    /// Moments along the x axis, such as the end of the warm-up.
    pub marks: Vec<Mark>,
    /// A sentence that prevents a misreading, printed below the picture.
    pub note: Option<String>,
}

/// The content of a figure: one kind of shape, with its values. Values are within the axes, except
/// that a 0 on a logarithmic axis is drawn at its beginning.
#[derive(Clone, Debug, PartialEq)]
pub enum Plot {
    /// Lines beside each other.
    Lines(Vec<Series>),
    /// Lines above each other, the lowest first, with the space between neighbours filled.
    Bands(Vec<Series>),
    /// Single points without an order.
    Points(Vec<Series>),
    /// Columns of cells. A higher count is darker.
    Heat(Heat),
    /// A bar for each value, from the left axis on.
    Bars(Vec<Bar>),
    /// Nothing was measured: the sentence that a drawing shows in place of axes and shapes.
    Nothing(String),
}

/// Points that belong together. All series of one run have points at the same places; a point may
/// have no value.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name in the legend.
    pub name: &'static str,
    /// The meaning, by which drawings choose a colour.
    pub role: Role,
    /// The points in the order of x.
    pub points: Vec<Point>,
}

impl Series {
    /// Whether any point has a value.
    #[must_use]
    pub fn has_points(&self) -> bool {
        self.points.iter().any(|point| point.y.is_some())
    }
}

/// The plot of the series that have a point with a value, or the sentence if no series has one.
/// Every plot of series is made here, so that no legend names a series without a point, and no axis
/// is drawn without a value.
pub(crate) fn plot_of(
    mut all: Vec<Series>,
    form: fn(Vec<Series>) -> Plot,
    nothing: impl Into<String>,
) -> Plot {
    all.retain(Series::has_points);
    match all.is_empty() {
        true => Plot::Nothing(nothing.into()),
        false => form(all),
    }
}

/// A point of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The place along the x axis, in the unit of the axis.
    pub x: f64,
    /// The value in the unit of the y axis; `None` if the count supports no value.
    pub y: Option<f64>,
    /// Whether the value is a lower bound.
    pub is_at_least: bool,
}

/// A value with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The name; a server may have chosen parts of it.
    pub name: String,
    /// The meaning.
    pub role: Role,
    /// The value in the unit of the x axis.
    pub value: f64,
    /// The sum of which the value is a part.
    pub whole: f64,
}

/// The meaning of a series or a bar, by which drawings choose colours and dashes. Each series of a
/// figure has a different role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The intended load.
    Asked,
    /// Requests that met the plan's expectations.
    Good,
    /// Requests with an unexpected response.
    Bad,
    /// Requests without a response: failed, dropped, never sent, or in flight.
    Lost,
    /// One of several equals, from the lowest to the highest.
    Rank(u8),
}

/// A moment with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The place along the x axis, in the unit of the axis.
    pub x: f64,
    /// The name.
    pub name: String,
}

/// The names of all figures of a run, in the order of a report. A run lacks `memory` if the system
/// does not know it, and `knee` if its rate did not vary; all other figures exist even without a
/// request.
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

/// The figures of one summary, each made on demand. The run over time is decoded once for all of
/// them, which is most of the cost.
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
    pub fn new(summary: &'a Summary) -> Self {
        let cells: Vec<Overview> = summary.over_time().collect();
        let rows = summary.rows_of(&cells);
        Self {
            summary,
            cells,
            rows,
            newest: None,
        }
    }

    /// The figures with these rows in all figures of rows over time: the newest intervals of a
    /// running test, which its summary has merged with others.
    #[must_use]
    pub fn of_newest(self, rows: Vec<IntervalRow>) -> Self {
        Self {
            newest: Some(rows),
            ..self
        }
    }

    /// The rows of the run over time.
    #[must_use]
    pub fn rows(&self) -> &[IntervalRow] {
        &self.rows
    }

    /// Every figure of the run, in the order of [`NAMES`].
    #[must_use]
    pub fn all(&self) -> Vec<Figure> {
        let made = NAMES.iter().map(|name| self.figure(name));
        made.flatten().collect()
    }

    /// The figure with this name of [`NAMES`]; `None` if the run has nothing to show in it.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<Figure> {
        let rows = self.newest.as_ref().unwrap_or(&self.rows);
        let summary = self.summary;
        match name {
            "rate" => Some(over_time::rate(summary, rows)),
            "latency" => Some(over_time::latency(summary, rows)),
            "heat" => Some(heat::latency(summary, &self.cells, rows)),
            "tail" => Some(tail(summary, None)),
            "knee" => over_time::knee(summary, &self.rows),
            "outcomes" => Some(outcomes::outcomes(summary)),
            "in-flight" => Some(over_time::in_flight(summary, rows)),
            "lag" => Some(over_time::lag(summary, rows)),
            "memory" => over_time::memory(summary, &self.cells, rows),
            _ => None,
        }
    }
}

/// The maximum number of spans of time in the figures of a step.
const SPANS_OF_STEP: usize = 60;

/// The figures of a step: its latency, its rate and its tail. The step is given by its pool's number
/// and its own, with *the* latency of its pool's model. Empty if the step has no rows of its own
/// ([`Summary::intervals_of_step`]).
#[must_use]
pub(crate) fn of_step(
    summary: &Summary,
    (pool, step): (usize, usize),
    (kind, times): (LatencyKind, &Histogram),
) -> Vec<Figure> {
    let rows = summary.merged_intervals_of_step(pool, step, SPANS_OF_STEP);
    let Some(rows) = rows else {
        return Vec::new();
    };
    vec![
        over_time::latency_of(kind, summary, &rows),
        over_time::rate(summary, &rows),
        tail::of_kind(kind, &[("this step", Role::Rank(0), times)]),
    ]
}

/// Every figure of a run, in the order of [`NAMES`]. In a running test, the last interval may be
/// incomplete; figures of rates leave it out.
#[must_use]
pub fn figures(summary: &Summary) -> Vec<Figure> {
    Pictures::new(summary).all()
}
