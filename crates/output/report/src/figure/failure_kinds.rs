//! The failures of each kind over the time of a running test. A summary has the failures of a span
//! of time by blame alone, so that its reader collects their kinds from the intervals.

use super::{Axis, Figure, Plot, Point, Role, Series, Unit, over_time};
use drumfire_measure::{Outcome, OutcomeCounts};
use drumfire_units::Nanos;
use std::cmp::Reverse;

/// The maximum number of kinds with a line each.
const KINDS: usize = 4;

/// The outcomes of a span of a run's time.
#[derive(Clone, Debug, PartialEq)]
pub struct FailureSpan {
    /// The beginning, from the run's start.
    pub start: Nanos,
    /// The end, from the run's start.
    pub end: Nanos,
    /// The exchanges that ended in the span, by outcome.
    pub outcomes: OutcomeCounts,
}

/// Failures per second of each kind in consecutive spans, the most frequent kind first; the rarest
/// kinds share a line.
#[must_use]
pub fn failure_kinds(spans: &[FailureSpan]) -> Figure {
    let mut total = OutcomeCounts::default();
    spans.iter().for_each(|span| total.merge(&span.outcomes));
    let mut kinds: Vec<(Outcome, u64)> = total.failures().collect();
    kinds.sort_by_key(|(_, count)| Reverse(*count));
    let (shown, others) = kinds.split_at(kinds.len().min(KINDS));
    let mut all = Vec::new();
    for (rank, (outcome, _)) in (0..).zip(shown) {
        let of_kind = |span: &FailureSpan| span.outcomes.get(*outcome);
        all.push(series(outcome.name(), rank, spans, of_kind));
    }
    if !others.is_empty() {
        let of_others = |span: &FailureSpan| {
            let counts = others
                .iter()
                .map(|(outcome, _)| span.outcomes.get(*outcome));
            counts.fold(0, u64::saturating_add)
        };
        all.push(series("other kinds", KINDS as u8, spans, of_others));
    }
    let ends = spans.iter().map(|span| span.end.0 as f64);
    let whole = Axis::linear("time", Unit::RunTime, ends);
    Figure {
        name: "failures",
        title: "Failures by kind".to_owned(),
        question: "When did requests fail, and how?",
        x: Axis {
            from: spans.first().map_or(0.0, |span| span.start.0 as f64),
            ..whole
        },
        y: Axis::linear(
            "failures per second",
            Unit::PerSecond,
            over_time::values(&all),
        ),
        plot: Plot::Lines(all),
        marks: Vec::new(),
        note: None,
    }
}

/// The failures per second of a kind; a span without a length has none.
fn series(
    name: &'static str,
    rank: u8,
    spans: &[FailureSpan],
    count: impl Fn(&FailureSpan) -> u64,
) -> Series {
    let point = |span: &FailureSpan| {
        let length = span.end - span.start;
        Point {
            x: f64::midpoint(span.start.0 as f64, span.end.0 as f64),
            y: (length > Nanos::ZERO).then(|| count(span) as f64 / length.as_secs_f64()),
            is_at_least: false,
        }
    };
    Series {
        name,
        role: Role::Rank(rank),
        points: spans.iter().map(point).collect(),
    }
}
