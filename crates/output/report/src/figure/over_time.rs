//! The figures of a run over time, and of its latency over its rate: a point for each row. A
//! function takes the rows, because `Pictures` may have the newest intervals at full resolution.
//!
//! A point is in the middle of its row's span. A row without a value is a point without one, so
//! that all series of a figure have equally many points.

use super::{Axis, Figure, Mark, Plot, Point, Role, Series, Unit, plot_of};
use drumfire_measure::{IntervalRow, LatencyKind, Overview, SpreadTime, Summary};
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
        plot: plot_of(
            all,
            Plot::Lines,
            "The run was shorter than its warm-up or an interval.",
        ),
        marks: marks(summary, rows),
        note: None,
    }
}

/// Quantiles of *the* latency of the run.
pub(super) fn latency(summary: &Summary, rows: &[IntervalRow]) -> Figure {
    latency_of(summary.latency_kind(), summary, rows)
}

/// Quantiles of a latency, as bands from p50 to the maximum. A quantile that a row's count can't
/// support is a gap, and a lower bound is marked.
pub(super) fn latency_of(kind: LatencyKind, summary: &Summary, rows: &[IntervalRow]) -> Figure {
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
        title: format!("Latency, {}", kind.words()),
        question: "How did latency change over time?",
        x: time(rows),
        y: Axis::log(kind.words(), Unit::Time, values(&all)),
        note: note_of_bands(&all),
        plot: plot_of(all, Plot::Bands, no_latency(summary)),
        marks: marks(summary, rows),
    }
}

/// The notes that explain gaps and lower bounds, if these quantiles have any.
fn note_of_bands(all: &[Series]) -> Option<String> {
    let shown = || all.iter().filter(|series| series.has_points());
    let most = shown().map(known).max().unwrap_or(0);
    let has_gaps = all.iter().any(|series| known(series) < most);
    let has_bounds = shown().any(|series| series.points.iter().any(|point| point.is_at_least));
    let notes = [
        (
            has_gaps,
            "A quantile is left out if its interval has too few requests.",
        ),
        (has_bounds, "A stroke above a point marks a lower bound."),
    ];
    let notes: Vec<&str> = notes
        .iter()
        .filter(|note| note.0)
        .map(|note| note.1)
        .collect();
    (!notes.is_empty()).then(|| notes.join(" "))
}

/// The number of points with a value.
fn known(series: &Series) -> usize {
    series
        .points
        .iter()
        .filter(|point| point.y.is_some())
        .count()
}

/// Why a run has no latency.
pub(super) fn no_latency(summary: &Summary) -> &'static str {
    let counts = &summary.total.counts;
    match counts.sent {
        0 => "Latency unknown: no request was sent.",
        _ if counts.finished() == 0 => "Latency unknown: no request has ended.",
        _ if !summary.latency().is_empty() => "The latency over time is unknown.",
        _ => "Latency unknown: every request failed.",
    }
}

/// A time of a row.
type TimeOfRow = fn(&IntervalRow) -> Option<SpreadTime>;

/// The quantiles for the upper points of [`knee`], the most informative first.
const TAILS: [(&str, TimeOfRow); 4] = [
    ("p99", |row| row.latency.p99),
    ("p95", |row| row.latency.p95),
    ("p90", |row| row.latency.p90),
    ("max", |row| row.latency.max),
];

/// The latency at each rate of the run, over its rate of ended requests: p50, and the highest
/// quantile that most rows support. Points have no order in time: two clouds at one rate mean that
/// the target recovered slowly. Rows that are cut short are left out. `None` if the rate did not
/// vary by more than chance.
pub(super) fn knee(summary: &Summary, rows: &[IntervalRow]) -> Option<Figure> {
    // A drain answers earlier requests.
    let rows: Vec<&IntervalRow> = rows
        .iter()
        .filter(|row| row.length() >= summary.info.interval)
        .collect();
    let rates: Vec<f64> = rows.iter().map(|row| row.ended_per_s()).collect();
    if !varies(&rates, summary.info.interval) {
        return None;
    }
    let series = |name, rank, time: TimeOfRow| Series {
        name,
        role: Role::Rank(rank),
        points: rows
            .iter()
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
    let median = series("p50", 0, |row| row.latency.p50);
    let mut tails = TAILS.into_iter().map(|(name, time)| series(name, 3, time));
    let tail = tails.find(|tail| known(tail) * 2 >= known(&median) && tail.has_points());
    let all: Vec<Series> = std::iter::once(median).chain(tail).collect();
    Some(Figure {
        name: "knee",
        title: title("Latency by rate", summary),
        question: "At which rate does it get slower?",
        x: Axis::linear("requests per second", Unit::PerSecond, rates),
        y: Axis::log(model_words(summary), Unit::Time, values(&all)),
        plot: plot_of(all, Plot::Points, no_latency(summary)),
        marks: Vec::new(),
        note: Some("One point per interval.".to_owned()),
    })
}

/// Whether rates per second of spans of this length differ by a fifth, and by more than random
/// arrivals of one rate would: the span from the first to the last decile, against four standard
/// deviations of a Poisson process.
fn varies(rates: &[f64], span: Nanos) -> bool {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    let [low, high] = [0.1, 0.9].map(|q| {
        let last = sorted.len().saturating_sub(1) as f64;
        sorted.get((last * q).round() as usize).copied()
    });
    let (Some(low), Some(high)) = (low, high) else {
        return false;
    };
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let chance = 4.0 * (mean / span.as_secs_f64()).sqrt();
    rates.len() >= 3 && high - low > 0.2 * high && high - low > chance
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
        plot: plot_of(all, Plot::Lines, NO_INTERVAL),
        marks: marks(summary, rows),
        note: None,
    }
}

/// The sentence in place of a figure over time without a row.
const NO_INTERVAL: &str = "No interval has ended.";

/// The generator's own lateness: p99 and the maximum of the time from due to sent in each row. The
/// maximum needs a single request, and p99 some hundred.
pub(super) fn lag(summary: &Summary, rows: &[IntervalRow]) -> Figure {
    let lag = |time: Option<Nanos>| (time.map(|time| time.0 as f64), false);
    let all = vec![
        of_rows("lag p99", Role::Rank(0), rows, |row| lag(row.lag_p99)),
        of_rows("lag max", Role::Rank(4), rows, |row| lag(row.lag_max)),
    ];
    Figure {
        name: "lag",
        title: "Generator lag".to_owned(),
        question: "Was the generator on time?",
        x: time(rows),
        y: Axis::log("time from due to sent", Unit::Time, values(&all)),
        plot: plot_of(all, Plot::Lines, "Lag unknown: no request was sent."),
        marks: marks(summary, rows),
        note: None,
    }
}

/// The generator's resident memory; `None` if the system does not know it. Cells have the memory,
/// and rows don't, so that the x axis begins at the start of the run.
pub(super) fn memory(
    summary: &Summary,
    cells: &[Overview],
    rows: &[IntervalRow],
) -> Option<Figure> {
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
        plot: plot_of(all, Plot::Lines, NO_INTERVAL),
        marks: marks(summary, rows),
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
pub(super) fn of_rows(
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
pub(super) fn spread_time(time: Option<SpreadTime>) -> (Option<f64>, bool) {
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

/// The end of the warm-up, the beginnings of the stages of a pool's load, and the end of the load
/// if the run lasted notably longer. A stage at the beginning of the run has no mark.
pub(super) fn marks(summary: &Summary, rows: &[IntervalRow]) -> Vec<Mark> {
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
    settled
        .into_iter()
        .chain(stages)
        .chain(end_of_load(summary, rows))
        .collect()
}

/// The mark of the end of the load, if the answers to its last requests took more than an interval
/// and a fiftieth of the run.
fn end_of_load(summary: &Summary, rows: &[IntervalRow]) -> Option<Mark> {
    let end = rows.last()?.end;
    let at = summary.load_end.at?;
    let rest = end - at;
    let is_seen = rest > summary.info.interval && rest.0.saturating_mul(50) > end.0;
    is_seen.then(|| Mark {
        x: at.0 as f64,
        name: "load ends".to_owned(),
    })
}
