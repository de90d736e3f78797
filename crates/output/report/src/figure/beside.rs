//! Two sides of a comparison in one picture. The figures of each run are made first, and one series
//! of each is put into a figure with both, so that the pictures of two runs and of one can't
//! differ.
//!
//! The tail and the outcomes are those of all requests of a side. Over time, a side is shown by the
//! run with the middle median. Times count from each run's start. The x axis covers both runs, and
//! marks are left out.

use super::{Axis, Bar, Figure, Plot, Role, Scale, Series, outcomes, over_time, plot_of, tail};
use drumfire_measure::{Histogram, IntervalRow, LatencyKind, Outcome, Summary};
use std::collections::BTreeMap;

/// The names of both sides in a legend, and their colours.
const RUNS: [(&str, Role); 2] = [("base", Role::Rank(0)), ("candidate", Role::Rank(3))];

/// A picture with a series of each run's figure.
struct Shared {
    /// The name of the picture.
    name: &'static str,
    /// The words before the heading of the figure, such as `p99: `; may be empty.
    title: String,
    /// The name of the series.
    series: &'static str,
    /// The figures of the base and of the candidate.
    figures: [Figure; 2],
}

/// A side of a picture: one run, or several together.
#[derive(Debug)]
pub struct BesideSide<'a> {
    /// The run that stands for the side over time.
    pub run: &'a Summary,
    /// The rows of the run.
    pub rows: Vec<IntervalRow>,
    /// The kind of time in `latency`, which is the same on both sides.
    pub kind: LatencyKind,
    /// The latencies of all requests of the side.
    pub latency: Histogram,
    /// Requests with an expected response.
    pub ok: u64,
    /// Failures by kind.
    pub failures: Vec<(String, u64)>,
    /// Due requests without an end: dropped, never sent, or in flight at the end.
    pub endless: u64,
}

/// The pictures of two sides: tail, median, p99 over time, the rate of good responses, and
/// outcomes. If a run has no p99 over time, the highest quantile that both have is in its place. A
/// run without the series has no line.
#[must_use]
pub fn beside(base: &BesideSide<'_>, candidate: &BesideSide<'_>) -> Vec<Figure> {
    let sides = [base, candidate];
    let latency = || sides.map(|side| over_time::latency(side.run, &side.rows));
    let tail = tail_of_both(&latency());
    let rate = sides.map(|side| over_time::rate(side.run, &side.rows));
    let shared = [
        Shared {
            name: "median",
            title: format!("Median {}", base.kind.words()),
            series: "p50",
            figures: latency(),
        },
        Shared {
            name: "p99",
            title: format!("{tail} {}", base.kind.words()),
            series: tail,
            figures: latency(),
        },
        Shared {
            name: "rate",
            title: "Good responses per second".to_owned(),
            series: "good",
            figures: rate,
        },
    ];
    let [first, second] = RUNS;
    let tail = tail::of_kind(
        base.kind,
        &[
            (first.0, first.1, &base.latency),
            (second.0, second.1, &candidate.latency),
        ],
    );
    let shared = shared.into_iter().map(Shared::joined);
    let shared = std::iter::once(tail).chain(shared);
    shared.chain([outcomes_of(sides)]).collect()
}

/// The highest quantile over time that both figures of the latency have; the maximum if there is
/// none.
fn tail_of_both(both: &[Figure; 2]) -> &'static str {
    let has = |name: &str| both.iter().all(|figure| named(figure, name).is_some());
    let mut tails = ["p99", "p95", "p90"].into_iter();
    tails.find(|name| has(name)).unwrap_or("max")
}

/// The maximum number of kinds of failures with bars.
const KINDS: usize = 6;

/// The outcomes of the requests of both sides: two bars for each outcome.
fn outcomes_of(sides: [&BesideSide<'_>; 2]) -> Figure {
    let mut kinds: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (number, side) in sides.iter().enumerate() {
        for (kind, count) in &side.failures {
            kinds.entry(kind).or_default()[number] += count;
        }
    }
    let mut kinds: Vec<(&str, [u64; 2])> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, [base, candidate])| std::cmp::Reverse(base + candidate));
    let rest = kinds.split_off(kinds.len().min(KINDS));
    let rest = rest.iter().fold([0, 0], |[base, candidate], (_, [b, c])| {
        [base + b, candidate + c]
    });
    let mut rows = vec![("ok", Role::Good, sides.map(|side| side.ok))];
    rows.extend(kinds.into_iter().map(|(kind, both)| {
        let role = match Outcome::ALL.iter().find(|outcome| outcome.name() == kind) {
            Some(outcome) if outcome.is_answered() => Role::Bad,
            _ => Role::Lost,
        };
        (kind, role, both)
    }));
    rows.extend([
        ("other failures", Role::Lost, rest),
        ("without an end", Role::Lost, sides.map(|side| side.endless)),
    ]);
    rows.retain(|(_, role, both)| *role == Role::Good || both.iter().any(|count| *count > 0));
    let whole = |side: usize| -> u64 { rows.iter().map(|(_, _, both)| both[side]).sum() };
    let wholes = [whole(0), whole(1)];
    let bars = rows.into_iter().flat_map(|(name, role, both)| {
        let side = |number: usize| Bar {
            name: format!("{}: {name}", RUNS[number].0),
            role,
            value: both[number] as f64,
            whole: wholes[number] as f64,
        };
        [side(0), side(1)]
    });
    outcomes::figure(bars.collect())
}

impl Shared {
    /// The figure with both series. The y axis covers both, with the scale of the base's.
    fn joined(self) -> Figure {
        let Self {
            name,
            title,
            series,
            figures: [base, candidate],
        } = self;
        let both = RUNS.into_iter().zip([&base, &candidate]);
        let both = both.filter_map(|((run, role), figure)| {
            let found = named(figure, series)?;
            Some(Series {
                name: run,
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
            title,
            x: Axis {
                from: base.x.from.min(candidate.x.from),
                to: base.x.to.max(candidate.x.to),
                ..base.x.clone()
            },
            y,
            plot: plot_of(all, Plot::Lines, "Neither side has such a time."),
            marks: Vec::new(),
            note: None,
            ..base
        }
    }
}

/// The series with this name; `None` in a plot without series.
fn named<'a>(figure: &'a Figure, name: &str) -> Option<&'a Series> {
    match &figure.plot {
        Plot::Lines(all) | Plot::Bands(all) | Plot::Points(all) => {
            all.iter().find(|series| series.name == name)
        }
        Plot::Heat(_) | Plot::Bars(_) | Plot::Nothing(_) => None,
    }
}
