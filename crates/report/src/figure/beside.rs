//! Two runs in one picture: the same series of both over the same axes.
//!
//! The figures of each run are made first, as for its own page, and one series of each is then
//! taken out by name and put into a figure with both (`Shared`). So a picture of two runs can't
//! differ from the two pictures of one, and a figure that changes its series' name loses it here,
//! which the tests find.
//!
//! Times count from each run's start, so that runs of different days lie over each other. The base
//! has the colour of the least rank, the candidate that of a greater one. The x axis holds both
//! runs; marks are left out, for they would be of one run and look as if they were of both.

use super::{Axis, Figure, Plot, Role, Scale, Series, over_time, tail};
use drumfire_measure::Summary;

/// The names of both runs in a legend, and their colours.
const RUNS: [(&str, Role); 2] = [("base", Role::Rank(0)), ("candidate", Role::Rank(3))];

/// A picture that two runs share: a series of a figure of each.
struct Shared {
    /// The name of the picture.
    name: &'static str,
    /// The words before the figure's own heading, such as `p99: `; empty where that suffices.
    of: &'static str,
    /// The name of the series that is taken out of each run's figure.
    series: &'static str,
    /// The figures of the base and of the candidate.
    figures: [Figure; 2],
}

/// The pictures that two runs share: tail, median, p99 over time and the rate of good answers.
///
/// A run without the series leaves its line out; both runs may be of different models, and the
/// heading is then that of the base's.
#[must_use]
pub fn beside(base: &Summary, candidate: &Summary) -> Vec<Figure> {
    let runs = [base, candidate];
    let rows = runs.map(Summary::intervals);
    let latency = || [0, 1].map(|run| over_time::latency(runs[run], &rows[run]));
    let rate = [0, 1].map(|run| over_time::rate(runs[run], &rows[run]));
    let shared = [
        Shared {
            name: "median",
            of: "Median: ",
            series: "p50",
            figures: latency(),
        },
        Shared {
            name: "p99",
            of: "p99: ",
            series: "p99",
            figures: latency(),
        },
        Shared {
            name: "rate",
            of: "Answered as the plan expects: ",
            series: "good",
            figures: rate,
        },
    ];
    let [first, second] = RUNS;
    let tail = tail::of_runs(
        base,
        &[(first.0, first.1, base), (second.0, second.1, candidate)],
    );
    let shared = shared.into_iter().map(Shared::joined);
    std::iter::once(tail).chain(shared).collect()
}

impl Shared {
    /// The one figure with both series. Its y axis is made anew over the values of both, by the
    /// scale of the base's.
    fn joined(self) -> Figure {
        let Self {
            name,
            of,
            series,
            figures: [base, candidate],
        } = self;
        let both = RUNS.into_iter().zip([&base, &candidate]);
        let both = both.filter_map(|((run, role), figure)| {
            let found = named(figure, series)?;
            Some(Series {
                name: run.to_owned(),
                role,
                points: found.points.clone(),
            })
        });
        let all: Vec<Series> = both.collect();
        let values = over_time::values(&all);
        let y = match base.y.scale {
            Scale::Log => Axis::log(base.y.title, base.y.unit, values),
            Scale::Linear | Scale::Tail => Axis::linear(base.y.title, base.y.unit, values),
        };
        Figure {
            name,
            title: format!("{of}{}", base.title),
            x: Axis {
                from: base.x.from.min(candidate.x.from),
                to: base.x.to.max(candidate.x.to),
                ..base.x.clone()
            },
            y,
            plot: Plot::Lines(all),
            marks: Vec::new(),
            note: None,
            ..base
        }
    }
}

/// The series of this name; none in a plot of cells or bars, which have no lines to lay over each
/// other.
fn named<'a>(figure: &'a Figure, name: &str) -> Option<&'a Series> {
    match &figure.plot {
        Plot::Lines(all) | Plot::Bands(all) | Plot::Points(all) => {
            all.iter().find(|series| series.name == name)
        }
        Plot::Heat(_) | Plot::Bars(_) => None,
    }
}
