//! The result of parsing a foreign command line.

use crate::Presentation;
use drumfire_document::Document;
use drumfire_plan::Plan;

/// A run, or the text that the tool prints instead of running.
#[derive(Debug)]
pub enum Outcome {
    /// A plan to run and the format of its result.
    Run(Box<Run>),
    /// No run: help, a version, or a mistake on the command line.
    Print {
        /// The text for standard output.
        stdout: String,
        /// The text for standard error.
        stderr: String,
        /// The code to exit with.
        exit: u8,
    },
}

/// A run described by a foreign command line.
#[derive(Debug)]
pub struct Run {
    /// The document of the command line.
    pub document: Document,
    /// The plan of the document.
    pub plan: Plan,
    /// How the run and its result are shown.
    pub presentation: Box<dyn Presentation>,
}

/// The text that is printed if no run starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LastWords {
    /// The text for standard output.
    pub(crate) stdout: String,
    /// The text for standard error.
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
