//! The findings against a run, its load or its target, and their remedies.
//!
//! A reason is a sentence for a report, made at its finding. Its remedies are values: the code that
//! prints them decides whether to use the name of a flag or of a plan key.

use crate::{Cause, Outcome};

/// A suggestion. The front end chooses its words, with the flags of a command line or the keys of a
/// plan: a dialect's user must not read about flags that only drumfire has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Reduce the load: a lower rate.
    LowerRate,
    /// Reduce the load: fewer users.
    FewerUsers,
    /// Use more worker threads.
    AddThreads,
    /// Reserve processor cores for the generator.
    OwnCores,
    /// Use a machine whose processor is not shared with others.
    OwnMachine,
    /// Use fewer connections for each worker thread.
    FewerConnections,
    /// Allow this many connections.
    Connections(u64),
    /// Allow this many connections, for which the process first needs more file descriptors
    /// (`ulimit -n`).
    Descriptors {
        /// The connections.
        connections: u64,
        /// The descriptors that they need, including the program's own.
        descriptors: u64,
    },
    /// Allow this many users.
    Users(u64),
    /// Let the run last longer.
    LastLonger,
    /// Check the proxy, to which no connection could be opened.
    Proxy,
    /// The remedy for failures of this kind.
    Against(Outcome),
    /// The remedy for failures with this cause.
    Remove(Cause),
    /// Report a bug of this program.
    Report,
}

/// One finding: a clause with its figures, and the remedies that may help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The finding, as a clause without a full stop.
    pub text: String,
    /// The remedies; if there are several, any of them may help.
    pub remedies: Vec<Remedy>,
}

impl Reason {
    pub(crate) fn new(text: impl Into<String>, remedies: &[Remedy]) -> Self {
        Self {
            text: text.into(),
            remedies: remedies.to_vec(),
        }
    }

    /// The reason, prefixed with the name of its pool, for a run with several.
    pub(crate) fn of_pool(mut self, name: &str) -> Self {
        self.text = format!("{name}: {}", self.text);
        self
    }
}
