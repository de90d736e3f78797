//! Two sides of a comparison in one picture: the same series of both over the same axes.
//!
//! The figures of each run are made first, as for its own page, and one series of each is then
//! taken out by name and put into a figure with both (`Shared`). So a picture of two runs can't
//! differ from the two pictures of one, and a figure that changes its series' name loses it here,
//! which the tests find.
//!
//! Of a side with several runs the tail and the outcomes are those of all its requests. Over time
//! it is shown by one of its runs: that whose median latency is in the middle.
//!
//! Times count from each run's start, so that runs of different days lie over each other. The base
//! has the colour of the least rank, the candidate that of a greater one. The x axis holds both
//! runs; marks are left out, for they would be of one run and look as if they were of both.

use super::{Axis, Bar, Figure, Plot, Role, Scale, Series, outcomes, over_time, tail};
use drumfire_measure::{Histogram, IntervalRow, LatencyKind, Outcome, Summary};
use std::collections::BTreeMap;

/// The names of both sides in a legend, and their colours.
const RUNS: [(&str, Role); 2] = [("base", Role::Rank(0)), ("candidate", Role::Rank(3))];

/// A picture that two runs share: a series of a figure of each.
struct Shared {
    /// The name of the picture.
    name: &'static str,
    /// The words before the figure's own heading, such as `p99: `; empty where that suffices.
    title: String,
    /// The name of the series that is taken out of each run's figure.
    series: &'static str,
    /// The figures of the base and of the candidate.
    figures: [Figure; 2],
}

/// A side of a picture: one run, or several as if they were one.
#[derive(Debug)]
pub struct BesideSide<'a> {
    /// The run that the side is shown by over time.
    pub run: &'a Summary,
    /// Its rows, which a run that was read has apart from its summary.
    pub rows: Vec<IntervalRow>,
    /// The time that `latency` has; both sides have the same.
    pub kind: LatencyKind,
    /// The latencies of all requests of the side.
    pub latency: Histogram,
    /// Requests that met what their plan expects.
    pub ok: u64,
    /// Failures by their kinds.
    pub failures: Vec<(String, u64)>,
    /// Requests that were due and have no end: dropped, never sent, or in flight at the end.
    pub endless: u64,
}

/// The pictures that two sides share: tail, median, p99 over time, the rate of good answers, and
/// outcomes.
///
/// A run without the series leaves its line out.
#[must_use]
pub fn beside(base: &BesideSide<'_>, candidate: &BesideSide<'_>) -> Vec<Figure> {
    let sides = [base, candidate];
    let latency = || sides.map(|side| over_time::latency(side.run, &side.rows));
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
            title: format!("p99 {}", base.kind.words()),
            series: "p99",
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

/// The most kinds of failures with bars of their own.
const KINDS: usize = 6;

/// What became of the requests of both sides: two bars for each outcome.
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
    let bars = rows.into_iter().flat_map(|(name, role, both)| {
        let side = |number: usize| Bar {
            name: format!("{}: {name}", RUNS[number].0),
            role,
            value: both[number] as f64,
        };
        [side(0), side(1)]
    });
    outcomes::figure(bars.collect())
}

impl Shared {
    /// The one figure with both series. Its y axis is made anew over the values of both, by the
    /// scale of the base's.
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
            title,
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
