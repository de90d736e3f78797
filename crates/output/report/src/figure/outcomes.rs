//! Requests by outcome, with a bar for each. The bars add up to all requests that became due. The
//! rarest failures share a bar. Bars without a request are left out, except for the bar of ok
//! requests: without it, a reader could take the picture for incomplete.

use super::{Axis, Bar, Figure, MoreRequests, Plot, Role, Scale, Unit};
use drumfire_measure::{Counts, Outcome, OutcomeCounts};
use std::cmp::Reverse;

/// The maximum number of kinds of failures with a bar each.
const KINDS: usize = 8;

/// A bar for each outcome, for requests that were not sent, and for those without an end. A failure
/// with a response has another colour than one without: the target caused the first. In an active
/// run, a request without an end is no loss.
pub(super) fn bars(counts: &Counts, outcomes: &OutcomeCounts, requests: MoreRequests) -> Vec<Bar> {
    let mut bars = vec![bar("ok", Role::Good, counts.ok)];
    let mut kinds: Vec<(Outcome, u64)> = outcomes.failures().collect();
    kinds.sort_by_key(|(_, count)| Reverse(*count));
    for (outcome, count) in kinds.iter().take(KINDS) {
        let role = match outcome.is_answered() {
            true => Role::Bad,
            false => Role::Lost,
        };
        bars.push(bar(outcome.name(), role, *count));
    }
    let rest = kinds.iter().skip(KINDS).map(|(_, count)| count).sum();
    bars.extend([
        bar("other failures", Role::Lost, rest),
        bar("dropped", Role::Lost, counts.dropped),
    ]);
    bars.extend(match requests {
        MoreRequests::Ended => [
            bar("due but not sent", Role::Lost, counts.pending),
            bar("in flight at the end", Role::Lost, counts.in_flight),
        ],
        MoreRequests::Open => [
            bar("waiting", Role::Asked, counts.pending),
            bar("under way", Role::Asked, counts.in_flight),
        ],
    });
    bars.retain(|bar| bar.value > 0.0 || bar.role == Role::Good);
    let whole: f64 = bars.iter().map(|bar| bar.value).sum();
    bars.iter_mut().for_each(|bar| bar.whole = whole);
    bars
}

/// The picture of these bars.
pub(super) fn figure(bars: Vec<Bar>) -> Figure {
    // The count stands after the longest bar on a screen.
    let values: Vec<f64> = bars.iter().map(|bar| bar.value * 1.15).collect();
    let is_empty = values.iter().all(|value| *value == 0.0);
    Figure {
        name: "outcomes",
        title: "Requests by outcome".to_owned(),
        question: "What happened to the requests?",
        x: Axis::linear("requests", Unit::Count, values),
        y: Axis {
            title: "",
            unit: Unit::None,
            scale: Scale::Linear,
            from: 0.0,
            to: bars.len() as f64,
        },
        plot: match is_empty {
            true => Plot::Nothing("No request became due.".to_owned()),
            false => Plot::Bars(bars),
        },
        marks: Vec::new(),
        note: None,
    }
}

fn bar(name: &str, role: Role, count: u64) -> Bar {
    Bar {
        name: name.to_owned(),
        role,
        value: count as f64,
        whole: 0.0,
    }
}
