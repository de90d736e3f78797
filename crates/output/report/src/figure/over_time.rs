//! The figures of a run over time, and of its latency over its rate: a point for each row. A
//! function takes the rows, because `Pictures` may have the newest intervals at full resolution.
//!
//! A point is in the middle of its row's span. A row without a value is a point without one, so
//! that all series of a figure have equally many points.

use super::{Axis, Figure, Mark, Plot, Point, Role, Series, Unit};
use drumfire_measure::{IntervalRow, Overview, SpreadTime, Summary};
use drumfire_units::Nanos;

/// The quantiles over time, from the lowest band to the highest. The index is the rank, which
/// `knee` uses, too.
const QUANTILES: [&str; 5] = ["p50", "p90", "p95", "p99", "max"];

/// The rates in 1/s at which requests became due and ended: intended, good, bad and failed. Rows in
/// the warm-up, without a length, or shorter than an interval have no rate, unless the run has a
/// single row. A series that is zero throughout is left out, except for good responses.
pub(super) fn rate(summary: &Summary, rows: &[IntervalRow]) -> Figure {
    let (whole, warmup) = (summary.info.interval, summary.info.warmup.span());
    // A span of some milliseconds has no rate, and the warm-up is in no count.
    let has_rate = |row: &IntervalRow| {
        row.end > warmup && row.length() > Nanos::ZERO && (row.length() >= whole || rows.len() == 1)
    };
    let per_second = |count: u64, row: &IntervalRow| {
        has_rate(row).then(|| count as f64 / row.length().as_secs_f64())
    };
    let series = |name, role, count: fn(&IntervalRow) -> Option<u64>| {
        of_rows(name, role, rows, |row| {
            (count(row).and_then(|count| per_second(count, row)), false)
        })
    };
    let mut all = vec![
        series("asked", Role::Asked, |row| row.goal),
        series("good", Role::Good, |row| Some(row.good)),
        series("bad", Role::Bad, |row| Some(row.bad)),
        series("failed", Role::Lost, |row| Some(row.failed)),
    ];
    // No line along the bottom for what did not occur.
    all.retain(|series| {
        let mut values = series.points.iter().filter_map(|point| point.y);
        series.role == Role::Good || values.any(|value| value > 0.0)
    });
    Figure {
        name: "rate",
        title: "Rate".to_owned(),
        question: "Was the load kept?",
        x: time(rows),
        y: Axis::linear("requests per second", Unit::PerSecond, values(&all)),
        plot: Plot::Lines(all),
        marks: marks(summary),
        note: None,
    }
}

/// Quantiles of the latency, as bands from p50 to the maximum. A quantile that a row's count can't
/// support is a gap, and a lower bound is marked.
pub(super) fn latency(summary: &Summary, rows: &[IntervalRow]) -> Figure {
    let quantile = |(rank, name): (u8, &'static str)| {
        of_rows(name, Role::Rank(rank), rows, |row| {
            let named = row.latency.named();
            let found = named.iter().find(|(of, _)| *of == name);
            spread_time(found.and_then(|(_, time)| *time))
        })
    };
    let all: Vec<Series> = (0..).zip(QUANTILES).map(quantile).collect();
    Figure {
        name: "latency",
        title: title("Latency", summary),
        question: "How did latency change over time?",
        x: time(rows),
        y: Axis::log(model_words(summary), Unit::Time, values(&all)),
        plot: Plot::Bands(all),
        marks: marks(summary),
        note: Some(
            "A quantile is left out if its interval has too few requests; an arrow marks a lower \
             bound."
                .to_owned(),
        ),
    }
}

/// The latency at each rate of the run: p50 and p99 of each row over its rate of ended requests.
/// Points have no order in time: two clouds at one rate mean that the target recovered slowly. Rows
/// that are cut short are left out.
pub(super) fn knee(summary: &Summary, rows: &[IntervalRow]) -> Figure {
    // A drain answers earlier requests.
    let whole = || {
        rows.iter()
            .filter(|row| row.length() >= summary.info.interval)
    };
    let series = |name, rank, time: fn(&IntervalRow) -> Option<SpreadTime>| Series {
        name,
        role: Role::Rank(rank),
        points: whole()
            .map(|row| {
                let (y, is_at_least) = spread_time(time(row));
                Point {
                    x: row.ended_per_s(),
                    y,
                    is_at_least,
                }
            })
            .collect(),
    };
    let all = vec![
        series("p50", 0, |row| row.latency.p50),
        series("p99", 3, |row| row.latency.p99),
    ];
    let rates = whole().map(IntervalRow::ended_per_s);
    Figure {
        name: "knee",
        title: title("Latency by rate", summary),
        question: "At which rate does it get slower?",
        x: Axis::linear("requests per second", Unit::PerSecond, rates),
        y: Axis::log(model_words(summary), Unit::Time, values(&all)),
        plot: Plot::Points(all),
        marks: Vec::new(),
        note: Some("One point per interval.".to_owned()),
    }
}

/// The requests in flight at each row's end. A line that keeps rising means that the target does
/// not keep up.
pub(super) fn in_flight(summary: &Summary, rows: &[IntervalRow]) -> Figure {
    let all = vec![of_rows("in flight", Role::Rank(0), rows, |row| {
        (Some(row.in_flight as f64), false)
    })];
    Figure {
        name: "in-flight",
        title: "Requests in flight".to_owned(),
        question: "Does the target keep up?",
        x: time(rows),
        y: Axis::linear(
            "requests at the end of each interval",
            Unit::Count,
            values(&all),
        ),
        plot: Plot::Lines(all),
        marks: marks(summary),
        note: None,
    }
}

/// The generator's own lateness: p99 of the time from due to sent in each row.
pub(super) fn lag(summary: &Summary, rows: &[IntervalRow]) -> Figure {
    let all = vec![of_rows("lag p99", Role::Rank(0), rows, |row| {
        (row.lag_p99.map(|lag| lag.0 as f64), false)
    })];
    Figure {
        name: "lag",
        title: "Generator lag".to_owned(),
        question: "Was the generator on time?",
        x: time(rows),
        y: Axis::log("time from due to sent", Unit::Time, values(&all)),
        plot: Plot::Lines(all),
        marks: marks(summary),
        note: None,
    }
}

/// The generator's resident memory; `None` if the system does not know it. Cells have the memory,
/// and rows don't, so that the x axis begins at the start of the run.
pub(super) fn memory(summary: &Summary, cells: &[Overview]) -> Option<Figure> {
    let cells = cells.iter().filter(|cell| cell.memory() > 0);
    let points: Vec<Point> = cells
        .map(|cell| Point {
            x: middle(cell.start(), cell.end()),
            y: Some(cell.memory() as f64),
            is_at_least: false,
        })
        .collect();
    if points.is_empty() {
        return None;
    }
    let end = summary.end().0 as f64;
    let all = vec![Series {
        name: "resident",
        role: Role::Rank(0),
        points,
    }];
    Some(Figure {
        name: "memory",
        title: "Generator memory".to_owned(),
        question: "Does its memory grow?",
        x: Axis::linear("time", Unit::RunTime, [end]),
        y: Axis::linear("resident memory", Unit::Bytes, values(&all)),
        plot: Plot::Lines(all),
        marks: marks(summary),
        note: None,
    })
}

/// A heading with the kind of latency.
pub(super) fn title(of: &str, summary: &Summary) -> String {
    format!("{of}, {}", model_words(summary))
}

/// *The* latency of the run in words.
pub(super) fn model_words(summary: &Summary) -> &'static str {
    summary.latency_kind().words()
}

/// A series with a point in the middle of each row. `value` is the row's value in the unit of the y
/// axis, `None` for a gap, and whether it is a lower bound.
fn of_rows(
    name: &'static str,
    role: Role,
    rows: &[IntervalRow],
    value: impl Fn(&IntervalRow) -> (Option<f64>, bool),
) -> Series {
    let point = |row: &IntervalRow| {
        let (y, is_at_least) = value(row);
        Point {
            x: middle(row.start, row.end),
            y,
            is_at_least,
        }
    };
    Series {
        name,
        role,
        points: rows.iter().map(point).collect(),
    }
}

/// A quantile of a row as a point's value in nanoseconds, and whether it is a lower bound.
fn spread_time(time: Option<SpreadTime>) -> (Option<f64>, bool) {
    time.map_or((None, false), |of| (Some(of.time.0 as f64), of.is_at_least))
}

/// The middle of a span, in nanoseconds since the run's start.
fn middle(start: Nanos, end: Nanos) -> f64 {
    f64::midpoint(start.0 as f64, end.0 as f64)
}

/// The axis of a run's time, from the beginning of the first row.
pub(super) fn time(rows: &[IntervalRow]) -> Axis {
    let ends = rows.iter().map(|row| row.end.0 as f64);
    let whole = Axis::linear("time", Unit::RunTime, ends);
    Axis {
        from: rows.first().map_or(0.0, |row| row.start.0 as f64),
        ..whole
    }
}

/// Every known value of some series, which the y axis must cover.
pub(super) fn values(series: &[Series]) -> Vec<f64> {
    let points = series.iter().flat_map(|series| &series.points);
    points.filter_map(|point| point.y).collect()
}

/// The end of the warm-up, and the beginnings of the stages of a pool's load. A stage at the
/// beginning of the run has no mark.
pub(super) fn marks(summary: &Summary) -> Vec<Mark> {
    let warmup = summary.info.warmup.span();
    let settled = (warmup > Nanos::ZERO).then(|| Mark {
        x: warmup.0 as f64,
        name: "warm-up ends".to_owned(),
    });
    let stages = summary.stages();
    let stages = stages.iter().filter(|row| row.row.start > Nanos::ZERO);
    let stages = stages.map(|row| Mark {
        x: row.row.start.0 as f64,
        name: row.stage.name.clone(),
    });
    settled.into_iter().chain(stages).collect()
}
