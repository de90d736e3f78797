//! The files beside the log of a stored run: the facts of its beginning, and its events.

use super::{Named, PlanTexts};
use drumfire_plan::StopReason;
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The facts of a run that are known when it begins, with the keys of `run` in the summary. Times
/// are in nanoseconds. Later versions only add fields: ignore unknown fields. Secrets are replaced
/// by ***.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Document {
    /// The name and version of this format.
    #[cfg_attr(test, schemars(extend("const" = super::INFO_SCHEMA)))]
    pub schema: String,
    /// The name of the run.
    pub id: String,
    /// The start of the run, in UTC, as in RFC 3339.
    pub started_at: String,
    /// The target, without secrets.
    pub target: String,
    /// The name of the plan, without secrets; null if it has none.
    #[serde(default)]
    pub name: Option<String>,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The version of drumfire, with its commit if the build knows it.
    pub version: String,
    /// The number of worker threads.
    pub threads: u32,
    /// The length of an interval.
    pub interval_ns: u64,
    /// The names of the pools.
    pub pools: Vec<String>,
    /// The settings of the plan as texts.
    pub plan: PlanTexts,
    /// Remarks on the run, in plain words.
    pub notes: Vec<String>,
}

/// An event of a run, as a line of `events.jsonl`. Lines are in the order of the events. Later
/// versions may add events: ignore unknown ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Line {
    /// The time of the writer's clock, in UTC, as in RFC 3339.
    pub time: String,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[cfg_attr(test, derive(JsonSchema))]
pub enum Event {
    /// The run began.
    Started {
        /// The name of the run.
        id: String,
    },
    /// A command changed the run.
    Changed {
        /// The run time at which the workers carry the command out.
        at_ns: u64,
        /// The number of the pool; absent if the command is for all pools.
        #[serde(skip_serializing_if = "Option::is_none")]
        pool: Option<u16>,
        /// The command.
        #[serde(flatten)]
        change: Change,
    },
    /// The load ends.
    Stopping {
        /// Why the load ends.
        reason: Named<StopReason>,
    },
    /// The run is over.
    Finished,
}

/// A command, with its values in the words of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
#[cfg_attr(test, derive(JsonSchema))]
pub enum Change {
    /// Another rate.
    Rate {
        /// The law, as in a plan.
        law: String,
    },
    /// Another number of users.
    Users {
        /// The numbers of users, in order of time.
        law: Vec<UsersFrom>,
    },
    /// No request is sent until the load is resumed.
    Pause,
    /// The load continues.
    Resume,
    /// A mark in the results.
    Mark {
        /// The text of the mark.
        text: String,
    },
    /// The end of the load.
    Stop {
        /// Why the load ends.
        reason: Named<StopReason>,
    },
}

/// A number of users from a time on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct UsersFrom {
    /// The time since the command.
    pub from_ns: u64,
    /// The number of users.
    pub users: u32,
}
