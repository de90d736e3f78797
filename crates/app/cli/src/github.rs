//! The results of a run in a step of GitHub Actions, in addition to the log: the summary in
//! Markdown on the page of the job, and an annotation for each bad outcome and failed threshold.
//!
//! GitHub requests both through environment variables. `--no-github`, or `github: false` in a plan,
//! disables them. The command line of another tool never shows them, because its output is the
//! original tool's.

use crate::output::{Output, why_not_written};
use drumfire_document::Outputs;
use drumfire_measure::Summary;
use drumfire_report::{Naming, github, markdown};
use std::env;
use std::fs::OpenOptions;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Whether standard output is free for annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stdout {
    /// Standard output has the report for people.
    Text,
    /// Standard output has another result, which an annotation would corrupt.
    Taken,
}

/// The destinations that GitHub provides; empty outside of GitHub Actions.
#[derive(Debug, Default)]
pub(crate) struct Github {
    /// The file to which the summary is appended.
    summary: Option<PathBuf>,
    annotates: bool,
}

impl Github {
    /// Reads the destinations from the environment, unless the outputs disable them.
    pub(crate) fn from_environment(outputs: &Outputs) -> Self {
        if outputs.github.as_ref().is_some_and(|switch| !switch.value) {
            return Self::default();
        }
        let summary = env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty());
        Self {
            summary: summary.map(PathBuf::from),
            annotates: env::var_os("GITHUB_ACTIONS").is_some_and(|on| on == "true"),
        }
    }

    /// Prints a report in which GitHub ignores commands, because the text may come from a server.
    /// The log executes lines that begin with `::`, even after blanks, unless a stop command with a
    /// random word precedes them.
    pub(crate) fn quoting<T>(
        &self,
        stdout: Stdout,
        output: &Output,
        report: impl FnOnce() -> T,
    ) -> T {
        if !self.annotates || stdout == Stdout::Taken {
            return report();
        }
        // The keys of a `RandomState` are random numbers of the system.
        let word = format!("{:016x}", RandomState::new().hash_one(()));
        // A closed standard output is reported with the report.
        let _closed = output.print(format!("::stop-commands::{word}\n").as_bytes());
        let printed = report();
        let _closed = output.print(format!("::{word}::\n").as_bytes());
        printed
    }

    /// Shows the annotations and the summary of a run after its report. A summary that cannot be
    /// written is only a remark, because the user did not request it explicitly.
    pub(crate) fn show(&self, summary: &Summary, naming: Naming, stdout: Stdout, output: &Output) {
        if let Some(path) = &self.summary {
            let text = output
                .redactor()
                .bytes(&markdown::summary(summary, naming))
                .into_owned();
            if let Err(error) = append(path, &text) {
                let (why, path) = (why_not_written(path, &error), path.display());
                output.complain(&format!("GITHUB_STEP_SUMMARY: can't write {path}: {why}"));
            }
        }
        if self.annotates && stdout == Stdout::Text {
            // A closed standard output was reported with the report.
            let _closed = output.print(github::annotations(summary, naming).as_bytes());
        }
    }
}

/// Appends a text to a file to which other commands of the step append as well.
fn append(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(text)
}
