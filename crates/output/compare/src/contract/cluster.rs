//! The active runs of a cluster.

#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The active runs of a cluster, written by `drumfire cluster status --json`. Times are in
/// nanoseconds. An unknown value is null. Later versions only add fields: ignore unknown fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Document {
    /// The name and version of this format.
    #[cfg_attr(test, schemars(extend("const" = super::CLUSTER_SCHEMA)))]
    pub schema: String,
    /// The runs.
    pub runs: Vec<Run>,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Run {
    /// The name of the run.
    pub run: String,
    /// The number of the coordinator of the run, from 1.
    pub term: u64,
    /// The number of agents that the run needs.
    pub agents_wanted: u64,
    /// The time since the start of the run; null before the start is set.
    pub elapsed_ns: Option<u64>,
    /// Whether the run is over.
    pub is_over: bool,
    /// The agents of the run.
    pub agents: Vec<Agent>,
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Agent {
    /// The name of the agent.
    pub name: String,
    /// The state of the agent: waits, runs, ended or lost.
    pub state: String,
    /// The version of the agent's program.
    pub version: String,
    /// The number of cores that the agent may use.
    pub cores: u32,
    /// The number of the agent's shares; null for an agent that waits.
    pub shares: Option<u32>,
    /// The number of all shares.
    pub shares_of: Option<u32>,
    /// The coordinator's wall clock minus the agent's; null if it was not measured.
    pub clock_ahead_ns: Option<i64>,
    /// The maximum error of `clock_ahead_ns`.
    pub clock_uncertainty_ns: Option<u64>,
    /// The time since the agent's last heartbeat.
    pub silent_ns: u64,
    /// The run time up to which the agent's share is accounted for.
    pub reported_ns: u64,
    /// The requests that the agent sent.
    pub sent: u64,
    /// The requests that were due and that the agent did not send.
    pub dropped: u64,
    /// The mean time from due to sent.
    pub lag_mean_ns: u64,
    /// The maximum time from due to sent.
    pub lag_max_ns: u64,
}
