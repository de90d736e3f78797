//! The findings against a run, its load or its target, and their remedies.
//!
//! A reason is a sentence in the words of a report, made where the finding is. Its remedies are
//! values: whether a flag or a key of a plan is named is decided where the text is printed.

use crate::{Cause, Outcome};

/// Something to try. Its words, with the flags of a command line or the keys of a plan, are a front
/// end's affair: a dialect's user must not read of flags that only drumfire has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Ask for less: a lower rate.
    LowerRate,
    /// Ask for less: fewer users.
    FewerUsers,
    /// Use more worker threads.
    AddThreads,
    /// Give the generator processor cores on which nothing else runs.
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
        /// The descriptors that they take, with those of the program itself.
        descriptors: u64,
    },
    /// Allow this many users.
    Users(u64),
    /// Let the run last longer.
    LastLonger,
    /// See to the proxy, to which no connection could be opened.
    Proxy,
    /// The remedy for failures of this kind.
    Against(Outcome),
    /// The remedy for failures with this cause.
    Remove(Cause),
    /// Report a mistake of this program.
    Report,
}

/// One finding: a clause with its figures, and the remedies that may help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The finding, as a clause without a full stop.
    pub text: String,
    /// Its remedies; of several, any may help.
    pub remedies: Vec<Remedy>,
}

impl Reason {
    pub(crate) fn new(text: impl Into<String>, remedies: &[Remedy]) -> Self {
        Self {
            text: text.into(),
            remedies: remedies.to_vec(),
        }
    }

    /// The reason, with the name of the pool before it, of a run with several.
    pub(crate) fn of_pool(mut self, name: &str) -> Self {
        self.text = format!("{name}: {}", self.text);
        self
    }
}
