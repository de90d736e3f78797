//! An interval of the run, as the input of the search.

use drumfire_units::Nanos;

/// The requests of a span that one objective concerns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Requests that ended beyond the bound.
    pub beyond: u64,
    /// Requests that ended beyond three quarters of the bound, if the bound is a time: they show
    /// how steeply the tail falls. Otherwise equal to `beyond`.
    pub near: u64,
    /// All requests that ended.
    pub of: u64,
    /// Requests without an answer at the end of the span that are older than the bound, if the
    /// bound is a response time.
    pub overdue: u64,
}

/// An interval of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The length of the interval.
    pub span: Nanos,
    /// The mean requested rate over the span, per second.
    pub rate: f64,
    /// The number of requests that became due.
    pub due: u64,
    /// Requests that ended or were dropped.
    pub ended: u64,
    /// Requests that were due by the end of the span and have neither ended nor been dropped.
    pub outstanding: u64,
    /// The median of the response times, if requests ended.
    pub median: Option<Nanos>,
    /// A tally for each objective, in the same order.
    pub tallies: Vec<Tally>,
    /// Whether the figures describe the target. They do not if the generator was late or lacked a
    /// resource.
    pub is_sound: bool,
}
