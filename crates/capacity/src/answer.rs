//! What a search has found.

/// The answer of a search, or what is known where it was ended before.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The capacity lies in an interval.
    Found(Capacity),
    /// The objectives are missed at the first rate, per second.
    Below(f64),
    /// The objectives are kept at the greatest rate that may be asked for, per second.
    Above(f64),
    /// The generator was the limit at this rate, per second: nothing is known of the target there.
    Generator {
        /// That rate.
        rate: f64,
        /// The greatest rate at which the objectives were kept before, for the few seconds of a
        /// step.
        kept: Option<f64>,
    },
    /// The search was ended while it was bracketing.
    Open {
        /// The greatest rate at which the objectives were kept for the few seconds of a step.
        kept: Option<f64>,
        /// The least rate at which they were missed.
        missed: Option<f64>,
    },
}

/// A capacity that was found. All rates are per second.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    /// The estimate.
    pub rate: f64,
    /// The interval that holds the capacity with a confidence of 90 %.
    pub low: f64,
    /// Its other end.
    pub high: f64,
    /// The objective that bounds it, by its place.
    pub slo: usize,
    /// The time for which the load was held, in seconds, without that of the confirmation.
    pub held: f64,
    /// The confirmation; `None` where the search was ended before that.
    pub confirmation: Option<Confirmation>,
}

/// A rate just below the capacity, held without control.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmation {
    /// The rate, per second.
    pub rate: f64,
    /// The share of the requests that were beyond each objective.
    pub shares: Vec<f64>,
    /// Whether all objectives were kept.
    pub is_kept: bool,
    /// The confirmations that were made, each at a rate of its own; this is the last.
    pub made: u32,
}
