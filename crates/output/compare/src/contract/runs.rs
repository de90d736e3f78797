//! A list of stored runs.

use super::Named;
use drumfire_measure::{Coverage, StoredState, TargetState, Validity};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The stored runs with the figures of each, without histograms, written by `drumfire runs --json`.
/// Times are in nanoseconds, shares from 0 to 1, rates in 1/s. An unknown value is absent. Later
/// versions only add fields: ignore unknown fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Document {
    /// The name and version of this format.
    #[cfg_attr(test, schemars(extend("const" = super::RUNS_SCHEMA)))]
    pub schema: String,
    /// The runs in the order of the list.
    pub runs: Vec<Run>,
}

/// A run. If its record or its labels are unreadable, the values of that part are absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Run {
    /// The name of the run.
    pub id: String,
    /// Whether the directory is outside of the folder of runs, by `-o`.
    pub is_elsewhere: bool,
    /// The user's tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// The user's note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether the run is finished, is still running, or was cut off: its program ended before the
    /// run did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Named<StoredState>>,
    /// The time up to the last stored interval of a run without an end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done_ns: Option<u64>,
    /// The planned length of the load of a run without an end; absent if the plan has no length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_ns: Option<u64>,
    /// The exit code, without `--strict`; absent if the run has no end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u8>,
    /// The figures of the record.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub figures: Option<Figures>,
    /// Why parts of the run are unreadable; absent if all are readable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

/// The figures of a run. Answers are beside them, because lists are filtered by them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Figures {
    /// The start of the run, in UTC, as in RFC 3339.
    pub started_at: String,
    /// The length of the run.
    pub duration_ns: u64,
    /// The target, without secrets.
    pub target: String,
    /// The name of the plan, without secrets; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether `coverage` is whole.
    pub is_whole: bool,
    /// How much of the run is recorded: whole; resumed: to its end, but a part was lost where it
    /// was cut off and resumed; begun: it is still active or was cut off.
    pub coverage: Named<Coverage>,
    /// Whether the figures can be trusted.
    pub validity: Named<Validity>,
    /// Whether the requested load was sent; absent if this was not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_kept: Option<bool>,
    /// The share of the requested load that was sent.
    pub sent_share: f64,
    /// How the target handled the load.
    pub target_state: Named<TargetState>,
    /// The number of thresholds.
    pub thresholds: u64,
    /// The number of thresholds that failed.
    pub thresholds_failed: u64,
    /// Requests that were sent.
    pub sent: u64,
    /// Requests with an expected response.
    pub ok: u64,
    /// Requests that failed.
    pub failed: u64,
    /// The rate of requests that ended.
    pub achieved_per_s: f64,
    /// The median latency; absent if there are too few requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<u64>,
    /// Whether `p50_ns` is a lower bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_is_at_least: Option<bool>,
    /// The latency of 99 % of the requests; absent if there are too few.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
    /// Whether `p99_ns` is a lower bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_is_at_least: Option<bool>,
}
