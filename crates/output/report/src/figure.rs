//! Pictures of a run, described once as axes, series and marks. A drawing ([`svg`]) reads a
//! [`Figure`] and nothing else, so that terminal, file and page show the same.
//!
//! A value that the count can't support is a gap, and a lower bound is marked; nothing is
//! interpolated or smoothed. A series without a point is left out, and a figure without a series
//! has a sentence in its place ([`plot_of`]).

mod answers;
mod axis;
mod beside;
mod failure_kinds;
mod heat;
mod outcomes;
mod over_time;
mod spark;
pub mod svg;
mod tail;

pub(crate) use axis::AxisLevel;
pub use axis::{Axis, Scale, Tick, Unit};
pub use beside::{BesideSide, beside};
pub use failure_kinds::{FailureSpan, failure_kinds};
pub use heat::{Column, Heat};
pub use spark::{Spark, Sparks};
pub use tail::{TailLine, tail, tails};

use drumfire_measure::{IntervalRow, LatencyKind, Overview, Step, Summary};
use drumfire_units::Nanos;

/// A picture of a run, as values in the units of its axes. A drawing shows everything in the figure
/// and adds nothing. A figure has a few hundred points, whatever the length of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The name in files and links: one of [`NAMES`], `failures`, a name of [`beside()`], or the name
    /// of a history's figure.
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
/// does not know it, `knee` if its rate did not vary, `ttft`, `tpot`, `tokens` and `gaps` if it has
/// no answers of language models, and `prompts` if their prompts have one length; all other figures
/// exist even without a request.
pub const NAMES: [&str; 14] = [
    "rate",
    "latency",
    "ttft",
    "tpot",
    "prompts",
    "gaps",
    "tokens",
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
    step: Option<StepPart>,
    requests: MoreRequests,
}

/// Whether further requests can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MoreRequests {
    /// The run is over.
    Ended,
    /// The run is active: requests without an end are under way, or wait.
    Open,
}

/// The figures of one step: those that a step has. Requests in flight, lag and memory are of a run.
#[derive(Debug)]
struct StepPart {
    /// The numbers of the pool and of the step in it.
    place: (usize, usize),
    step: Step,
    /// The time that is *the* latency of the pool.
    kind: LatencyKind,
    rows: Vec<IntervalRow>,
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
            step: None,
            requests: MoreRequests::Ended,
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

    /// The figures of a run that is active: its requests without an end are no losses.
    #[must_use]
    pub fn of_active_run(self) -> Self {
        Self {
            requests: MoreRequests::Open,
            ..self
        }
    }

    /// The figures of one step, given by its pool's number and its own, except for those that no
    /// step has: requests in flight, lag and memory. `None` if the step has no timeline of its own.
    #[must_use]
    pub fn of_step(self, pool: usize, step: usize) -> Option<Self> {
        let part = StepPart::new(self.summary, (pool, step), usize::MAX)?;
        Some(Self {
            step: Some(part),
            ..self
        })
    }

    /// The figure with this name of [`NAMES`]; `None` if the run has nothing to show in it.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<Figure> {
        if let Some(part) = &self.step {
            // With the newest intervals only, the rows of the step begin with them.
            let newest = self.newest.as_ref().and_then(|rows| rows.first());
            let from = newest.map_or(Nanos::ZERO, |row| row.start);
            if let Some(of_step) = part.figure(self.summary, name, from, self.requests) {
                return Some(of_step);
            }
        }
        let rows = self.newest.as_ref().unwrap_or(&self.rows);
        let summary = self.summary;
        match name {
            "rate" => Some(over_time::rate(summary, rows)),
            "latency" => Some(over_time::latency(summary, rows)),
            name if answers::NAMES.contains(&name) => {
                answers::figure(name, summary, summary.total.llm()?, &self.cells, rows)
            }
            "heat" => Some(heat::latency(summary, &self.cells, rows)),
            "tail" => Some(tail(summary, None)),
            "knee" => over_time::knee(summary, &self.rows),
            "outcomes" => {
                let total = &summary.total;
                let bars = outcomes::bars(&total.counts, total.outcomes(), self.requests);
                Some(outcomes::figure(bars))
            }
            "in-flight" => Some(over_time::in_flight(summary, rows)),
            "lag" => Some(over_time::lag(summary, rows)),
            "memory" => over_time::memory(summary, &self.cells, rows),
            _ => None,
        }
    }
}

impl StepPart {
    /// The figures of a step with at most `most` spans of time; `None` if the step has no timeline of
    /// its own.
    fn new(summary: &Summary, place: (usize, usize), most: usize) -> Option<Self> {
        let (pool, step) = place;
        let (info, figures) = summary.pools().nth(pool)?;
        let rows = summary.intervals_of_step(pool, step, most)?;
        Some(Self {
            place,
            step: figures.steps_of(info).into_iter().nth(step)?,
            kind: info.model.latency_kind(&figures.latency),
            rows: rows
                .into_iter()
                // A step counts a request as due when it ends, which is no requested load.
                .map(|row| IntervalRow { goal: None, ..row })
                .collect(),
        })
    }

    /// The step over time, in the cells of the run.
    fn cells(&self, summary: &Summary) -> Option<Vec<Overview>> {
        let cells = summary.step_over_time(self.place.0, self.place.1)?;
        Some(cells.collect())
    }

    /// The figure with this name of [`NAMES`], of the requests from a time on; `None` if steps have
    /// no such figure.
    fn figure(
        &self,
        summary: &Summary,
        name: &str,
        from: Nanos,
        requests: MoreRequests,
    ) -> Option<Figure> {
        let first = self.rows.partition_point(|row| row.start < from);
        let (kind, rows) = (self.kind, &self.rows[first..]);
        let figure = match name {
            "rate" => over_time::rate(summary, rows),
            "latency" => over_time::latency_of(kind, summary, rows),
            name if answers::NAMES.contains(&name) => {
                let cells = match name {
                    "gaps" => self.cells(summary)?,
                    _ => Vec::new(),
                };
                answers::figure(name, summary, self.step.llm()?, &cells, rows)?
            }
            "heat" => heat::latency(summary, &self.cells(summary)?, rows),
            "tail" => {
                let times = self.step.times(kind);
                tail::of_kind(kind, &[("this step", Role::Rank(0), times)])
            }
            "knee" => over_time::knee(summary, rows)?,
            "outcomes" => {
                let (counts, outcomes) = (&self.step.counts, &self.step.errors);
                outcomes::figure(outcomes::bars(counts, outcomes, requests))
            }
            _ => return None,
        };
        let words = over_time::model_words(summary);
        Some(Figure {
            title: figure.title.replace(words, kind.words()),
            ..figure
        })
    }
}

/// The maximum number of spans of time in the figures of a step on a page.
const SPANS_OF_STEP: usize = 60;

/// The figures of a step on a page: its latency, its rate and its tail. The step is given by its
/// pool's number and its own. Empty if the step has no timeline of its own.
#[must_use]
pub(crate) fn of_step(summary: &Summary, place: (usize, usize)) -> Vec<Figure> {
    let Some(part) = StepPart::new(summary, place, SPANS_OF_STEP) else {
        return Vec::new();
    };
    let names = ["latency", "rate", "tail"].into_iter();
    let figure = |name| part.figure(summary, name, Nanos::ZERO, MoreRequests::Ended);
    names.filter_map(figure).collect()
}

/// Every figure of a run, in the order of [`NAMES`]. In a running test, the last interval may be
/// incomplete; figures of rates leave it out.
#[must_use]
pub fn figures(summary: &Summary) -> Vec<Figure> {
    Pictures::new(summary).all()
}
