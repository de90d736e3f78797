//! The answers of a search.

use drumfire_measure::form;
use drumfire_units::Nanos;

/// The answer of a search, or the knowledge so far if the search was ended early.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The capacity is within an interval.
    Found(Capacity),
    /// The first rate, per second, misses the objectives.
    Below(f64),
    /// The maximum rate of the search, per second, keeps the objectives; confirmed.
    Above(f64),
    /// The generator was the limit at this rate, per second: nothing is known about the target
    /// there.
    Generator {
        /// The rate, per second.
        rate: f64,
        /// The highest earlier rate that kept the objectives, for the few seconds of a step.
        kept: Option<f64>,
    },
    /// The search found no capacity, for a reason.
    Unknown {
        /// The reason.
        why: Why,
        /// The highest rate that kept the objectives for the few seconds of a step.
        kept: Option<f64>,
        /// The lowest rate that missed them.
        missed: Option<f64>,
    },
}

/// A capacity. All rates are per second.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    /// The estimate.
    pub rate: f64,
    /// The lower end of the interval that contains the capacity with a confidence of 90 %.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// The index of the objective that bounds the capacity.
    pub slo: usize,
    /// The length of the hold, in seconds, without the confirmation.
    pub held: f64,
    /// The confirmation; `None` if the search ended before one.
    pub confirmation: Option<Confirmation>,
    /// How the target changed during the search, if it did.
    pub trend: Option<Trend>,
    /// The reason why no rate was confirmed; `None` if one was, or if the search was ended from
    /// outside.
    pub why: Option<Why>,
}

impl Capacity {
    /// The confirmation, if it proved that all objectives are kept.
    #[must_use]
    pub fn confirmed(&self) -> Option<&Confirmation> {
        self.confirmation.as_ref().filter(|it| it.is_kept)
    }
}

/// A rate below the capacity, held at a constant rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmation {
    /// The rate, per second.
    pub rate: f64,
    /// The share of the requests beyond each objective.
    pub shares: Vec<f64>,
    /// The number of requests that ended.
    pub requests: f64,
    /// Whether the confirmation proved that all objectives are kept.
    pub is_kept: bool,
    /// The number of confirmations so far, each at a different rate, including this one.
    pub made: u32,
}

/// A target that became faster or slower during the search. All rates are per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trend {
    /// The capacity changed during the hold.
    Capacity {
        /// The capacity at the beginning of the hold.
        from: f64,
        /// The capacity at the end of the hold.
        to: f64,
    },
    /// The median of the response times changed, and the rate does not explain the change.
    Median {
        /// A rate of the climb, and its median.
        before: (f64, Nanos),
        /// The rate of the last confirmation, and its median.
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

/// The reason why a search has no answer, or no confirmed one. All rates are per second, all times
/// in seconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// The run ended before the search was over.
    Ended,
    /// The target is still overloaded long after the rate was lowered.
    NotRecovered {
        /// The highest rate that the search tried.
        overload: f64,
        /// The rate since then.
        rate: f64,
        /// The share of the requests beyond the objective at that rate.
        share: f64,
    },
    /// The target fell behind in every hold.
    Behind {
        /// The rate at which the target last fell behind.
        rate: f64,
    },
    /// The share beyond an objective is about the same at all rates.
    Independent {
        /// The index of the objective.
        slo: usize,
        /// The held rates, with the share at each.
        tried: Vec<(f64, f64)>,
    },
    /// An objective was missed in every confirmation, although the hold showed a capacity.
    Missed {
        /// The index of the objective.
        slo: usize,
        /// The held rates, with the share at each.
        tried: Vec<(f64, f64)>,
        /// How the target changed during the search, if it did.
        trend: Option<Trend>,
    },
    /// The target became slower during the search, so a rate that kept the objectives may miss them
    /// now.
    Slower(Trend),
    /// In each confirmation, the share beyond was lower than allowed, but so close that it may be
    /// chance.
    Unproven,
    /// The confirmation had too few requests, or was too short for the bursts seen in the hold.
    TooShort {
        /// The index of the objective.
        slo: usize,
        /// The rate of the confirmation.
        rate: f64,
        /// The number of requests that the objective needs.
        requests: f64,
        /// The time between two bursts in the hold, if the bursts require the longer time.
        gap: Option<f64>,
        /// The required length of a confirmation.
        seconds: f64,
    },
    /// The maximum time of the search was reached.
    Time {
        /// The announced time.
        announced: f64,
    },
}

form! {
    enum Answer {
        0 => Found(capacity),
        1 => Below(rate),
        2 => Above(rate),
        3 => Generator { rate, kept },
        4 => Unknown { why, kept, missed },
    }
}
form! { struct Capacity { rate, low, high, slo, held, confirmation, trend, why } }
form! { struct Confirmation { rate, shares, requests, is_kept, made } }
form! { enum Trend { 0 => Capacity { from, to }, 1 => Median { before, now } } }
form! {
    enum Why {
        0 => Ended,
        1 => NotRecovered { overload, rate, share },
        2 => Behind { rate },
        3 => Independent { slo, tried },
        4 => Missed { slo, tried, trend },
        5 => Slower(trend),
        6 => Unproven,
        7 => TooShort { slo, rate, requests, gap, seconds },
        8 => Time { announced },
    }
}
