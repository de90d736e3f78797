//! The heat maps of time against latency and against the gaps between events, which show a second
//! mode, a stall or a slow drift.

use super::{Axis, Figure, Plot, Unit, over_time};
use drumfire_measure::{Histogram, IntervalRow, Overview, Summary};
use drumfire_units::Nanos;

/// The number of cells per doubling of the latency.
const CELLS_PER_DECADE: f64 = 12.0;

/// Columns of cells over a logarithmic axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// The columns, in the order of time.
    pub columns: Vec<Column>,
    /// The maximum count per second of time of any cell.
    pub most: f64,
    /// What is counted, such as `requests`.
    pub counted: &'static str,
}

/// The latencies of one span of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The beginning along the x axis.
    pub from: f64,
    /// The end.
    pub to: f64,
    /// The cells with a count, from the shortest latency: both ends along the y axis, and the
    /// number of requests or gaps.
    pub cells: Vec<(f64, f64, u64)>,
}

/// The latency of each span of the run's time.
pub(super) fn latency(summary: &Summary, spans: &[Overview], rows: &[IntervalRow]) -> Figure {
    let columns = spans.iter().map(|span| column(span, span.latency()));
    let (heat, ends) = heat(columns, "requests");
    Figure {
        name: "heat",
        title: over_time::title("Latency heat map", summary),
        question: "Is there a second mode, or a stall?",
        x: time(&heat),
        y: Axis::log(over_time::model_words(summary), Unit::Time, ends),
        plot: plot(heat, over_time::no_latency(summary)),
        marks: over_time::marks(summary, rows),
        note: Some("Darker cells have more requests with that latency at that time.".to_owned()),
    }
}

/// The gaps between two events with tokens in each span of the run's time.
pub(super) fn gaps(summary: &Summary, spans: &[Overview], rows: &[IntervalRow]) -> Figure {
    let none = Histogram::small();
    let columns = spans.iter();
    let columns = columns.map(|span| {
        let mut column = column(span, span.gaps().unwrap_or(&none));
        column.cells.retain(|(from, _, _)| *from > 1.0);
        column
    });
    let (heat, ends) = heat(columns, "gaps");
    Figure {
        name: "gaps",
        title: "Gaps between events".to_owned(),
        question: "Do answers stall?",
        x: time(&heat),
        y: Axis::log("time between two events", Unit::Time, ends),
        plot: plot(heat, "The gaps over time are unknown."),
        marks: over_time::marks(summary, rows),
        note: Some(
            "Darker cells have more gaps of that length at that time. Events that arrived in one \
             read have no gap."
                .to_owned(),
        ),
    }
}

/// The columns that have a length, and both ends of all cells along the y axis.
fn heat(columns: impl Iterator<Item = Column>, counted: &'static str) -> (Heat, Vec<f64>) {
    let columns: Vec<Column> = columns.filter(|of| of.to > of.from).collect();
    let cells = columns.iter().flat_map(|column| &column.cells);
    let ends: Vec<f64> = cells.flat_map(|(from, to, _)| [*from, *to]).collect();
    let density = |column: &Column| {
        let greatest = column.cells.iter().map(|cell| cell.2).max().unwrap_or(0);
        greatest as f64 / (column.to - column.from)
    };
    let most = columns.iter().map(density).fold(0.0, f64::max);
    let heat = Heat {
        columns,
        most,
        counted,
    };
    (heat, ends)
}

/// The axis of the time of all columns.
fn time(heat: &Heat) -> Axis {
    let ends = heat.columns.iter().map(|column| column.to);
    Axis::linear("time", Unit::RunTime, ends)
}

/// The map, or the sentence if no cell has a count.
fn plot(heat: Heat, nothing: &str) -> Plot {
    match heat.most > 0.0 {
        true => Plot::Heat(heat),
        false => Plot::Nothing(nothing.to_owned()),
    }
}

/// The column of one cell of the timeline. A bucket of the histogram counts in the cell of its
/// middle. Buckets ascend, so that only the last cell can be the same.
fn column(overview: &Overview, times: &Histogram) -> Column {
    let mut cells: Vec<(f64, f64, u64)> = Vec::new();
    for (low, high, count) in times.buckets() {
        let number = cell_of(f64::midpoint(low as f64, high as f64));
        let (from, to) = (edge(number), edge(number + 1.0));
        match cells.last_mut() {
            Some(last) if last.0 >= from => last.2 = last.2.saturating_add(count),
            _ => cells.push((from, to, count)),
        }
    }
    let at = |nanos: Nanos| nanos.0 as f64;
    Column {
        from: at(overview.start()),
        to: at(overview.end()),
        cells,
    }
}

/// The number of the cell of a latency in nanoseconds.
fn cell_of(nanos: f64) -> f64 {
    (nanos.max(1.0).log10() * CELLS_PER_DECADE + 1e-9).floor()
}

/// The latency at which a cell begins.
fn edge(number: f64) -> f64 {
    10_f64.powf(number / CELLS_PER_DECADE)
}
