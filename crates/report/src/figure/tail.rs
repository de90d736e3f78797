//! The tail: each latency over the share of requests that took no longer, every further nine as
//! wide as the one before.
//!
//! It is drawn over 1/(1 − share) on a logarithmic scale, on which a memoryless service gives a
//! straight line, and a pause, a retry or a second mode shows as a step. The axis ends where the
//! count supports no further point, so that its length says how much is known.

use super::{Axis, Figure, Plot, Point, Role, Scale, Series, Unit, over_time};
use drumfire_measure::{Histogram, Summary};

/// The name of the series.
pub(super) const SERIES: &str = "this run";

/// Points for each nine of the axis.
const POINTS_PER_NINE: u32 = 24;

/// The quantiles of the run's latency, as far as its count supports them.
pub(super) fn latency(summary: &Summary) -> Figure {
    let times = summary.model().latency(&summary.total.latency);
    let points = points(times);
    let to = points.last().map_or(0.0, |point| point.x).max(0.9);
    let values: Vec<f64> = points.iter().filter_map(|point| point.y).collect();
    Figure {
        name: "tail",
        title: over_time::title("The tail", summary),
        question: "How slow are the slowest?",
        x: Axis {
            title: "share of requests that took no longer",
            unit: Unit::Share,
            scale: Scale::Tail,
            from: 0.0,
            to,
        },
        y: Axis::log(over_time::model_words(summary), Unit::Time, values),
        plot: Plot::Lines(vec![Series {
            name: SERIES.to_owned(),
            role: Role::Rank(0),
            points,
        }]),
        marks: Vec::new(),
        note: Some(
            "The line ends where the number of requests supports no further nine.".to_owned(),
        ),
    }
}

/// The points of the curve, at equal distances along the axis, from the least latency on. The
/// quantiles refuse a share that the count can't support, and the first that is refused ends the
/// curve; twelve nines bound it for counts that no run reaches.
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
