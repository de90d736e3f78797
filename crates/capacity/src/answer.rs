//! What a search has found.

use drumfire_units::Nanos;

/// The answer of a search, or what is known where it was ended before.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The capacity lies in an interval.
    Found(Capacity),
    /// The objectives are missed at the first rate, per second.
    Below(f64),
    /// The objectives are kept at the greatest rate that may be asked for, per second; confirmed.
    Above(f64),
    /// The generator was the limit at this rate, per second: nothing is known of the target there.
    Generator {
        /// That rate.
        rate: f64,
        /// The greatest rate at which the objectives were kept before, for the few seconds of a
        /// step.
        kept: Option<f64>,
    },
    /// There is no capacity that an answer could give, for a reason.
    Unknown {
        /// The reason.
        why: Why,
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
    /// The confirmation; `None` if the search ended before one.
    pub confirmation: Option<Confirmation>,
    /// How the target changed while it was searched, if it did.
    pub trend: Option<Trend>,
    /// Why no rate was confirmed; `None` if one was, or if the search was ended from outside.
    pub why: Option<Why>,
}

impl Capacity {
    /// The confirmation, if it proved that all objectives are kept.
    #[must_use]
    pub fn confirmed(&self) -> Option<&Confirmation> {
        self.confirmation.as_ref().filter(|it| it.is_kept)
    }
}

/// A rate below the capacity, held without control.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmation {
    /// The rate, per second.
    pub rate: f64,
    /// The share of the requests that were beyond each objective.
    pub shares: Vec<f64>,
    /// The requests that ended.
    pub requests: f64,
    /// Whether it proved that all objectives are kept.
    pub is_kept: bool,
    /// The confirmations that were made, each at a rate of its own; this is the last.
    pub made: u32,
}

/// A target that became faster or slower while it was searched. All rates are per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trend {
    /// The capacity changed while the load was held.
    Capacity {
        /// That at the beginning of the hold…
        from: f64,
        /// …and at its end.
        to: f64,
    },
    /// The median of the response times changed, although the rate is not what changed it.
    Median {
        /// A rate of the climb, and the median at it.
        before: (f64, Nanos),
        /// The rate of the last confirmation, and the median at it.
        now: (f64, Nanos),
    },
}

impl Trend {
    /// Whether the target became slower.
    #[must_use]
    pub fn is_slower(&self) -> bool {
        match self {
            Self::Capacity { from, to } => to < from,
            Self::Median { before, now } => now.1 > before.1,
        }
    }
}

/// Why a search has no answer, or none that is confirmed. All rates are per second, all times in
/// seconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// The run was ended before the search was over.
    Ended,
    /// The target is still overloaded long after the rate was lowered.
    NotRecovered {
        /// The highest rate that the search tried.
        overload: f64,
        /// The rate since then.
        rate: f64,
        /// The share of the requests that are beyond the objective at that rate.
        share: f64,
    },
    /// The target fell behind in each hold.
    Behind {
        /// The rate at which it did last.
        rate: f64,
    },
    /// The share beyond an objective is about the same at all rates.
    Independent {
        /// The objective, by its place.
        slo: usize,
        /// The rates that were held, with the share at each.
        tried: Vec<(f64, f64)>,
    },
    /// An objective was missed at each rate that was to be confirmed, although the hold showed
    /// another capacity.
    Missed {
        /// The objective, by its place.
        slo: usize,
        /// The rates that were held, with the share at each.
        tried: Vec<(f64, f64)>,
        /// How the target changed while it was searched, if it did.
        trend: Option<Trend>,
    },
    /// The target became slower while it was searched, and what was kept may be missed by now.
    Slower(Trend),
    /// Less was beyond than allowed in each confirmation, but so near to it that it may be chance.
    Unproven,
    /// The confirmation had too few requests, or too few of the bursts that the hold showed could
    /// come in it.
    TooShort {
        /// The objective, by its place.
        slo: usize,
        /// The rate at which it was to be confirmed.
        rate: f64,
        /// The requests that the objective needs, and the time between two bursts, if that is what
        /// takes longer.
        requests: f64,
        /// The time between two bursts in the hold, if that is what takes longer.
        gap: Option<f64>,
        /// The time that a confirmation takes.
        seconds: f64,
    },
    /// The latest time was over.
    Time {
        /// The time that was announced.
        announced: f64,
    },
}
