//! The runs of a cluster under way as JSON, for other programs.
//!
//! A key that is not known is `null`: the time of a run whose start is not named, the share of an
//! agent that waits, a clock that was not measured.

use super::bytes;
use serde::Serialize;

/// The name and version of the form.
const SCHEMA: &str = "drumfire.cluster.v1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    runs: &'a [ClusterRun],
}

/// A run.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterRun {
    /// Its name.
    pub run: String,
    /// The number of its coordinator, from 1.
    pub term: u64,
    /// The agents that it is for.
    pub agents_wanted: u64,
    /// Its time.
    pub elapsed_ns: Option<u64>,
    /// Whether it is over.
    pub is_over: bool,
    /// Its agents.
    pub agents: Vec<ClusterAgent>,
}

/// An agent.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterAgent {
    /// Its name.
    pub name: String,
    /// Its state: waits, runs, ended, lost.
    pub state: &'static str,
    /// The version of its program.
    pub version: String,
    /// The cores that it may use.
    pub cores: u32,
    /// The number of its shares.
    pub shares: Option<u32>,
    /// The number of all shares.
    pub shares_of: Option<u32>,
    /// The coordinator's wall clock less its own.
    pub clock_ahead_ns: Option<i64>,
    /// The bound of the error of that.
    pub clock_uncertainty_ns: Option<u64>,
    /// The time since its last beat.
    pub silent_ns: u64,
    /// The run time up to which its share is accounted for.
    pub reported_ns: u64,
    /// The requests that it has sent.
    pub sent: u64,
    /// The requests that were due and that it has not sent.
    pub dropped: u64,
    /// Its mean lag.
    pub lag_mean_ns: u64,
    /// Its greatest lag.
    pub lag_max_ns: u64,
}

/// Runs under way, as one indented document.
#[must_use]
pub fn cluster(runs: &[ClusterRun]) -> Vec<u8> {
    let document = Document {
        schema: SCHEMA,
        runs,
    };
    bytes(&document)
}
