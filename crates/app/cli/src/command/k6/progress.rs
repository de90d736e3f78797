//! What is printed while a script runs.

use super::flags::Flags;
use crate::output::Output;
use drumfire_k6::{Options, describe_scenarios};
use drumfire_vus::Progress;
use std::fmt::Write as _;

/// The texts of a run.
pub(super) struct Narration<'a> {
    output: &'a Output,
    is_quiet: bool,
    head: String,
}

impl<'a> Narration<'a> {
    pub(super) fn new(flags: &Flags, options: &Options, script: &str, output: &'a Output) -> Self {
        let outs = match flags.outs.is_empty() {
            true => "-".to_owned(),
            false => flags.outs.join(", "),
        };
        let head = format!(
            "     execution: local\n        script: {script}\n        output: {outs}\n\n{}",
            describe_scenarios(&options.scenarios)
        );
        Self {
            output,
            is_quiet: flags.is_quiet,
            head,
        }
    }

    /// Prints what will run.
    pub(super) fn begin(&self, shares: bool) {
        if !shares {
            self.output.remark(
                "note: users share no built-in objects, because the script changes one or \
                 --k6-isolate is given; each takes some 60 kB more\n",
            );
        }
        if !self.is_quiet {
            self.output.remark(&self.head);
        }
    }

    /// Prints the state of the run.
    pub(super) fn tell(&self, progress: &Progress) {
        if self.is_quiet {
            return;
        }
        let (active, all) = progress.users;
        let seconds = progress.time.0 as f64 / 1e9;
        let mut text = format!(
            "running ({seconds:04.1}s), {active}/{all} VUs, {} complete and {} interrupted iterations",
            progress.completed, progress.interrupted
        );
        for (name, share, is_done) in &progress.scenarios {
            let mark = if *is_done { "✓" } else { " " };
            let _ = write!(text, "\n{name} {mark} [ {:3.0}% ]", share * 100.0);
        }
        text.push('\n');
        self.output.remark(&text);
    }
}
