//! The tail: each latency over the share of requests that took no longer, over 1/(1 − share) on a
//! logarithmic scale. A memoryless service is a straight line, and a pause or a second mode is a
//! step. The axis ends with the last point that the count supports.

use super::{Axis, Figure, Plot, Point, Role, Scale, Series, Unit, over_time, plot_of};
use drumfire_measure::{Histogram, LatencyKind, Summary};

/// A line of the picture: its name in the legend, its colour, and the latencies.
pub type TailLine<'a> = (&'static str, Role, &'a Histogram);

/// Points for each nine of the axis.
const POINTS_PER_NINE: u32 = 24;

/// The tail of a run, over the tail of a baseline if there is one. If no request got the expected
/// response, the tail of the failed requests.
#[must_use]
pub fn tail(summary: &Summary, baseline: Option<&Summary>) -> Figure {
    let kinds = baseline
        .into_iter()
        .chain([summary])
        .map(Summary::latency_kind);
    // The response time of both if it is the latency of one.
    let kind = match kinds.clone().all(|kind| kind == LatencyKind::Service) {
        true => LatencyKind::Service,
        false => LatencyKind::Response,
    };
    let baseline =
        baseline.map(|run| ("baseline", Role::Asked, kind.histogram(&run.total.latency)));
    let latency = &summary.total.latency;
    let times = kind.histogram(latency);
    if times.is_empty() && baseline.is_none() && !latency.failed.is_empty() {
        let failed = [("failed", Role::Lost, &latency.failed)];
        return tails(
            "Tail of the failed requests".to_owned(),
            "time to the failure",
            &failed,
        );
    }
    let this = ("this run", Role::Rank(0), times);
    let lines: Vec<TailLine<'_>> = baseline.into_iter().chain([this]).collect();
    of_kind(kind, &lines)
}

/// The tails of these times, all of one kind.
pub(super) fn of_kind(kind: LatencyKind, lines: &[TailLine<'_>]) -> Figure {
    tails(
        format!("Tail latency, {}", kind.words()),
        kind.words(),
        lines,
    )
}

/// The supported quantiles of each line. `times` is the name of the times, in small letters.
#[must_use]
pub fn tails(title: String, times: &'static str, lines: &[TailLine<'_>]) -> Figure {
    let series = lines.iter().map(|&(name, role, times)| Series {
        name,
        role,
        points: points(times),
    });
    let all: Vec<Series> = series.collect();
    let points = || all.iter().flat_map(|series| &series.points);
    let to = points().map(|point| point.x).fold(0.9, f64::max);
    let values = over_time::values(&all);
    Figure {
        name: "tail",
        title,
        question: "How slow are the slowest?",
        x: Axis {
            title: "quantile",
            unit: Unit::Share,
            scale: Scale::Tail,
            from: 0.0,
            to,
        },
        y: Axis::log(times, Unit::Time, values),
        plot: plot_of(all, Plot::Lines, "Tail unknown: no request was timed."),
        marks: Vec::new(),
        note: Some("A line ends where there are too few requests for another nine.".to_owned()),
    }
}

/// The points of the curve at equal distances along the axis. The first quantile that the count
/// can't support ends the curve; so do twelve nines.
fn points(times: &Histogram) -> Vec<Point> {
    let shares = (0..).map(|step: u32| {
        let nines = f64::from(step) / f64::from(POINTS_PER_NINE);
        1.0 - 10_f64.powf(-nines)
    });
    let supported = shares.map_while(|share| Some((share, times.quantile(share)?)));
    supported
        .take(12 * POINTS_PER_NINE as usize)
        .map(|(share, time)| Point {
            x: share,
            y: Some(time.0 as f64),
            is_at_least: times.is_at_least(share),
        })
        .collect()
}
