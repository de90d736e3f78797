//! What a step of GitHub Actions shows of a run beside its log: the summary in Markdown on the page of
//! the job, and an annotation for each bad answer and failed threshold.
//!
//! GitHub says by variables that it wants both. `--no-github`, or `github: false` in a plan, leaves
//! them out; a command line of another tool never has them, since its output is the original's.

use crate::output::Output;
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
    /// It has the report for people.
    Text,
    /// It has another result, among which a line of ours would be a mistake.
    Taken,
}

/// The places that GitHub names for what it shows; none elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Github {
    /// The file to which the summary is appended.
    summary: Option<PathBuf>,
    annotates: bool,
}

impl Github {
    /// What the environment asks for, unless the outputs leave it out.
    pub(crate) fn of(outputs: &Outputs) -> Self {
        if outputs.github.as_ref().is_some_and(|switch| !switch.value) {
            return Self::default();
        }
        let summary = env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty());
        Self {
            summary: summary.map(PathBuf::from),
            annotates: env::var_os("GITHUB_ACTIONS").is_some_and(|on| on == "true"),
        }
    }

    /// Prints a report among whose lines none is a command to GitHub, whatever a server has put into
    /// them: the log obeys lines that begin with `::`, also behind blanks, unless it was told a word
    /// before that nothing in the report can know.
    pub(crate) fn quoting<T>(
        &self,
        stdout: Stdout,
        output: &Output,
        report: impl FnOnce() -> T,
    ) -> T {
        if !self.annotates || stdout == Stdout::Taken {
            return report();
        }
        // Its keys are the system's random numbers.
        let word = format!("{:016x}", RandomState::new().hash_one(()));
        // A closed standard output is complained of with the report.
        let _closed = output.print(format!("::stop-commands::{word}\n").as_bytes());
        let printed = report();
        let _closed = output.print(format!("::{word}::\n").as_bytes());
        printed
    }

    /// Shows a run behind its report. A summary that can't be written is a remark, for it was not
    /// asked for by name.
    pub(crate) fn show(&self, summary: &Summary, naming: Naming, stdout: Stdout, output: &Output) {
        if let Some(path) = &self.summary {
            let text = output
                .redactor()
                .bytes(&markdown::summary(summary, naming))
                .into_owned();
            if let Err(error) = append(path, &text) {
                let path = path.display();
                output.complain(&format!("GITHUB_STEP_SUMMARY: can't write {path}: {error}"));
            }
        }
        if self.annotates && stdout == Stdout::Text {
            // A closed standard output has been complained of with the report.
            let _closed = output.print(github::annotations(summary, naming).as_bytes());
        }
    }
}

/// Appends a text to a file that other commands of the step append to as well.
fn append(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(text)
}
