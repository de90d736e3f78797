//! What a foreign command line comes to.

use crate::Presentation;
use drumfire_plan::{Header, Plan};
use drumfire_schema::Schema;
use drumfire_schema::reflection::Wanted;
use drumfire_units::Nanos;
use std::fmt;

/// A run, or what the tool prints in place of one.
#[derive(Debug)]
pub enum Outcome {
    /// A plan to run and the shape in which its result is printed.
    Run {
        /// What to do.
        plan: Box<Plan>,
        /// How the run and its result are shown.
        presentation: Presentation,
    },
    /// The server must be asked for its schema before it is known what to run.
    NeedsSchema(Box<Question>),
    /// Whether the server chooses HTTP/2 must be known first.
    NeedsVersion(Box<VersionQuestion>),
    /// Nothing is run: help, a version, or a mistake on the command line.
    Print {
        /// What goes to standard output.
        stdout: String,
        /// What goes to standard error.
        stderr: String,
        /// The code to exit with.
        exit: u8,
    },
}

/// What must be known of a server's protocols before the run.
pub struct VersionQuestion {
    /// What reaches the server, with HTTP/2.
    pub plan: Plan,
    /// How long finding out may take.
    pub limit: Nanos,
    /// What it comes to, if the server chooses HTTP/2 and if it does not.
    pub then: Box<dyn FnOnce(bool) -> Outcome>,
}

impl fmt::Debug for VersionQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VersionQuestion")
            .field("plan", &self.plan)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// What a server is asked before the run.
pub struct Question {
    /// What reaches the server.
    pub plan: Plan,
    /// What is wanted of it.
    pub wanted: Wanted,
    /// What goes along with the question.
    pub metadata: Vec<Header>,
    /// How long it may take.
    pub limit: Nanos,
    /// What the answer comes to, or why there is none.
    pub then: Box<dyn FnOnce(Result<Schema, String>) -> Outcome>,
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("plan", &self.plan)
            .field("wanted", &self.wanted)
            .field("metadata", &self.metadata)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// Why nothing is run: the tool's last words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LastWords {
    /// What goes to standard output.
    pub(crate) stdout: String,
    /// What goes to standard error.
    pub(crate) stderr: String,
    /// The code to exit with.
    pub(crate) exit: u8,
}

impl LastWords {
    /// Text on standard output.
    pub(crate) fn on_stdout(stdout: String, exit: u8) -> Self {
        Self {
            stdout,
            stderr: String::new(),
            exit,
        }
    }

    /// Text on standard error.
    pub(crate) fn on_stderr(stderr: String, exit: u8) -> Self {
        Self {
            stdout: String::new(),
            stderr,
            exit,
        }
    }
}

impl From<LastWords> for Outcome {
    fn from(words: LastWords) -> Self {
        Self::Print {
            stdout: words.stdout,
            stderr: words.stderr,
            exit: words.exit,
        }
    }
}
