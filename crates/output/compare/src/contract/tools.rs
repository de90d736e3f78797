//! A comparison with the result of another tool.

#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two results of tools that load-test language models beside each other, written by drumfire
/// compare. Later versions only add fields: ignore unknown fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Document {
    /// The name and version of this format.
    #[cfg_attr(test, schemars(extend("const" = super::TOOLS_SCHEMA)))]
    pub schema: String,
    /// The base.
    pub base: Side,
    /// The candidate.
    pub candidate: Side,
    /// The figures that both results have with one definition. One result of each side has no
    /// spread, so that no difference is tested.
    pub figures: Vec<Figure>,
    /// Where the results cannot be compared, or only with care, in plain words.
    pub cautions: Vec<String>,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Side {
    /// The name of the tool.
    pub tool: String,
    /// Requests that succeeded; null if the result lacks the number.
    pub completed: Option<u64>,
    /// Requests that failed; null if the result lacks the number.
    pub failed: Option<u64>,
}

/// A figure of both results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Figure {
    /// The figure, such as `ttft`.
    pub name: String,
    /// `mean`, `p50` or `p99`; null for a rate.
    pub statistic: Option<String>,
    /// `ns` or `1/s`.
    pub unit: String,
    /// The value of the base.
    pub base: f64,
    /// The value of the candidate.
    pub candidate: f64,
    /// The candidate's value divided by the base's, minus 1; null if the base is 0.
    pub shift: Option<f64>,
}
