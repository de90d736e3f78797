//! The capacity of a target.

#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The highest rate that keeps the objectives, written by `drumfire capacity`. Times are in
/// nanoseconds, shares from 0 to 1, rates in 1/s. An unknown value is null. Later versions only add
/// fields: ignore unknown fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Document {
    /// The name and version of this format.
    #[cfg_attr(test, schemars(extend("const" = super::CAPACITY_SCHEMA)))]
    pub schema: String,
    /// The name of the run.
    pub run: String,
    /// The target, without secrets.
    pub target: String,
    /// What the search found.
    pub answer: Answer,
    /// The estimate; for below, above and generator, the rate of the answer.
    pub rate_per_s: Option<f64>,
    /// The lower end of the interval that contains the capacity with the probability `confidence`.
    pub low_per_s: Option<f64>,
    /// The upper end of the interval.
    pub high_per_s: Option<f64>,
    /// The confidence level of the interval.
    pub confidence: f64,
    /// The highest rate that a step kept, in a search without an answer.
    pub kept_per_s: Option<f64>,
    /// The lowest rate that a step missed, in a search without an answer.
    pub missed_per_s: Option<f64>,
    /// The objective that bounds the rate.
    pub slo: Option<String>,
    /// What bounds the rate.
    pub limited_by: Option<Limit>,
    /// Why there is no answer, or no confirmed one.
    pub why: Option<Why>,
    /// Whether the target became slower or faster during the search.
    pub trend: Option<Trend>,
    /// Whether the search was cut short.
    pub cut_short: bool,
    /// The time for which the load was held, in seconds.
    pub held_s: Option<f64>,
    /// The last confirmation.
    pub confirmation: Option<Confirmation>,
    /// The objectives.
    pub slos: Vec<Objective>,
    /// The rates that were tried.
    pub knee: Vec<Row>,
    /// Reasons to trust the answer less, in plain words.
    pub reasons: Vec<String>,
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(JsonSchema))]
pub enum Answer {
    /// An estimate with its interval.
    Found,
    /// The capacity is below the lowest rate.
    Below,
    /// The capacity is above the highest rate.
    Above,
    /// The generator reached its own limit first.
    Generator,
    /// The search was ended from outside.
    Open,
    /// The search has no answer.
    None,
}

/// What bounds the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(JsonSchema))]
pub enum Limit {
    /// The latency of the target.
    Target,
    /// The number of connections.
    Connections,
    /// Failed requests.
    Failures,
    /// The generator.
    Generator,
}

/// Why a search has no answer, or no confirmed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(JsonSchema))]
pub enum Why {
    /// The target did not recover from an overload.
    NotRecovered,
    /// The target fell behind.
    Behind,
    /// The objective does not depend on the rate.
    Independent,
    /// A confirmation missed an objective.
    Missed,
    /// The target became slower.
    Slower,
    /// A confirmation had too few requests.
    Unproven,
    /// The load was held for too short a time.
    TooShort,
    /// The time for the search ended.
    Time,
}

/// The direction in which the target changed during the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(JsonSchema))]
pub enum Trend {
    /// The target became slower.
    Slower,
    /// The target became faster.
    Faster,
}

/// A confirmation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Confirmation {
    /// Whether all objectives were kept.
    pub kept: bool,
    /// The rate.
    pub rate_per_s: f64,
    /// The share of requests beyond each objective, in the order of `slos`.
    pub shares: Vec<f64>,
    /// The number of requests.
    pub requests: u64,
    /// The number of confirmations, each at a lower rate.
    pub made: u32,
}

/// An objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Objective {
    /// The objective as it was written.
    pub expression: String,
    /// The maximum share of requests beyond the bound.
    pub share: f64,
    /// The bound of the latency; null for an objective on failures.
    pub bound_ns: Option<u64>,
}

/// A rate that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Row {
    /// The stage of the search.
    pub stage: String,
    /// The rate.
    pub rate_per_s: f64,
    /// The time for which the rate was tried.
    pub duration_ns: u64,
    /// The number of requests that ended.
    pub ended: u64,
    /// The median latency; null if too few requests ended.
    pub p50_ns: Option<u64>,
    /// The latency of 99 % of the requests; null if too few ended.
    pub p99_ns: Option<u64>,
    /// The share of requests beyond each objective, in the order of `slos`.
    pub shares: Vec<f64>,
}
