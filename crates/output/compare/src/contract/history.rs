//! The history of a plan's runs.

#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The runs of one plan in order of time, and where their figures changed, written by `drumfire runs
/// --trend`. Times are in nanoseconds, shares from 0 to 1, rates in 1/s. Later versions only add
/// fields: ignore unknown fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Document {
    /// The name and version of this format.
    #[cfg_attr(test, schemars(extend("const" = super::HISTORY_SCHEMA)))]
    pub schema: String,
    /// The target of the newest run, without secrets; empty if there are no runs.
    pub target: String,
    /// The runs that are evaluated, oldest first.
    pub runs: Vec<Run>,
    /// Runs of the plan whose figures do not measure their target.
    pub left_out: Vec<LeftOut>,
    /// The number of older runs, which are not evaluated.
    pub older: usize,
    /// The figures that at least one run has.
    pub figures: Vec<Figure>,
}

/// A run of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Run {
    /// The name of the run.
    pub id: String,
    /// The start of the run, in UTC, as in RFC 3339.
    pub started_at: String,
    /// The user's tags.
    pub tags: Vec<String>,
}

/// A run that is not evaluated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct LeftOut {
    /// The name of the run.
    pub id: String,
    /// The reason, in plain words.
    pub reason: String,
}

/// A figure over the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Figure {
    /// A quantile of the model's latency, the share of failed requests, or the rate.
    pub name: String,
    /// The unit of all values.
    pub unit: String,
    /// A value for each run, in the order of the runs; null if the run has no value.
    pub values: Vec<Option<f64>>,
    /// The changes, in order of time.
    pub changes: Vec<Change>,
}

/// A change of the figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Change {
    /// The first run after the change.
    pub run: String,
    /// The first run that may be the first after the change, with 95 % confidence.
    pub likely_from: String,
    /// The last run that may be the first after the change, with 95 % confidence.
    pub likely_to: String,
    /// The median of the runs before the change, back to the previous change.
    pub before: Option<f64>,
    /// The median of the runs after the change, up to the next change.
    pub after: Option<f64>,
    /// The level after the change divided by the level before it, minus 1; for failures, the
    /// difference of the shares.
    pub shift: f64,
    /// The probability that a history without a change looks this much as if it had one.
    pub p: f64,
    /// Whether the change is for the worse.
    pub is_worse: bool,
}
