//! The terms of a search: its objectives, its rates and its times.

use drumfire_units::Nanos;

/// An objective: at most this share of the requests may be beyond a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slo {
    /// The share that may be beyond, above 0 and below 1: 0.01 for a p99.
    pub share: f64,
    /// The bound, where it is one of response times: a request that was due longer ago and has not
    /// ended is beyond it, too. `None` for other times and for failures.
    pub response: Option<Nanos>,
}

/// The terms of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The objectives, one at least, all of which must be kept.
    pub slos: Vec<Slo>,
    /// The first rate, per second; above 0.
    pub from: f64,
    /// The greatest rate that may be asked for; not below the first one.
    pub most: f64,
    /// The length of a step of the bracket.
    pub step: Nanos,
    /// The time for which the load is held.
    pub hold: Nanos,
    /// The length of the confirmation.
    pub confirm: Nanos,
}
