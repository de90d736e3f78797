//! An interval of the run, as the search is told of it.

use drumfire_units::Nanos;

/// The requests of a span that one objective is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Requests that ended beyond the bound.
    pub beyond: u64,
    /// Requests that ended beyond three quarters of the bound, if it is one of times: they show how
    /// steeply the tail falls. Otherwise equal to `beyond`.
    pub near: u64,
    /// All requests that ended.
    pub of: u64,
    /// Requests without an answer at the end of the span that are older than the bound, if it is one
    /// of response times.
    pub overdue: u64,
}

/// An interval of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Its length.
    pub span: Nanos,
    /// The rate that was asked for, per second: the mean over the span.
    pub rate: f64,
    /// Requests that became due.
    pub due: u64,
    /// Requests that ended or were dropped.
    pub ended: u64,
    /// Requests that were due by the end of the span and have neither ended nor been dropped.
    pub outstanding: u64,
    /// The median of the response times, if requests ended.
    pub median: Option<Nanos>,
    /// A tally for each objective, in their order.
    pub tallies: Vec<Tally>,
    /// Whether the figures speak of the target, and not of a generator that was late or lacked
    /// something.
    pub is_sound: bool,
}
