//! The drift of the figures over the run, in the contract.
//!
//! Every figure that was judged has an entry, also a steady one, so that a reader can tell "steady"
//! from "not judged". `trend` stands with a trend and `changes` with changes.
//!
//! Times are nanoseconds from the run's start, like those of intervals, so that a movement can be
//! laid over them.

use drumfire_measure::{ChangePoint, Drift as Found, Movement};
use serde::Serialize;

/// A figure that was judged. Its values are in its own unit: nanoseconds, 1/s, bytes, a share.
#[derive(Serialize)]
pub(super) struct Drift {
    figure: &'static str,
    from_ns: u64,
    to_ns: u64,
    movement: &'static str,
    p: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    trend: Option<Trend>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<Change>,
}

/// A growth or a fall from one time to another. `per_hour` is a share of the figure itself, but for
/// the share of failures, of which it is the difference.
#[derive(Serialize)]
struct Trend {
    per_hour: f64,
    since_ns: u64,
    until_ns: u64,
    from: f64,
    to: f64,
}

/// A time at which the figure changed, with its medians on both sides.
#[derive(Serialize)]
struct Change {
    at_ns: u64,
    before: f64,
    after: f64,
}

impl Drift {
    /// The entry of a figure. A movement has either a trend or changes, and a steady figure
    /// neither.
    pub(super) fn of(found: &Found) -> Self {
        let (movement, trend, changes) = match &found.movement {
            Movement::Steady => ("steady", None, &[][..]),
            Movement::Trend(trend) => ("trend", Some(trend), &[][..]),
            Movement::Changes(points) => ("changes", None, &points[..]),
        };
        Self {
            figure: found.figure.name(),
            from_ns: found.span.start.0,
            to_ns: found.span.end.0,
            movement,
            p: found.p,
            trend: trend.map(|trend| Trend {
                per_hour: trend.per_hour,
                since_ns: trend.since.0,
                until_ns: trend.until.0,
                from: trend.from,
                to: trend.to,
            }),
            changes: changes.iter().map(Change::of).collect(),
        }
    }
}

impl Change {
    /// A change at its time, with the figure's medians before and after.
    fn of(point: &ChangePoint) -> Self {
        Self {
            at_ns: point.at.0,
            before: point.before,
            after: point.after,
        }
    }
}
