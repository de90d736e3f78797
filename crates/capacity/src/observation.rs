//! An interval of the run, as the search is told of it.

use drumfire_units::Nanos;

/// The requests of a span that one objective is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Those beyond the bound.
    pub beyond: u64,
    /// Those beyond three quarters of the bound, where it is one of times: they tell how steeply
    /// the tail falls. The same as `beyond` where it is not.
    pub near: u64,
    /// All of them.
    pub of: u64,
}

/// An interval of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Its length.
    pub span: Nanos,
    /// The rate that was asked for, per second: the mean over the span.
    pub rate: f64,
    /// Requests that ended.
    pub ended: u64,
    /// Requests that were due by the end of the span and have neither ended nor been dropped.
    pub outstanding: u64,
    /// A tally for each objective, in their order.
    pub tallies: Vec<Tally>,
    /// Whether the figures speak of the target, and not of a generator that was late or lacked
    /// something.
    pub is_sound: bool,
}

impl Observation {
    /// The requests that were due longer ago than `time` and have not ended, at least: more than
    /// become due in that time can't be younger.
    pub(crate) fn overdue(&self, time: Nanos) -> f64 {
        (self.outstanding as f64 - self.rate * time.as_secs_f64()).max(0.0)
    }
}
