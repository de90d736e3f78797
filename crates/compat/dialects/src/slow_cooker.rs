//! slow_cooker: a steady rate of HTTP requests for any length of time, with a line for each
//! interval.
//!
//! Knows slow_cooker's flags, its lines in both formats, its summary, its CSV and its metrics.
//! `docs/dialects/slow_cooker.md` lists the differences from the original, with reasons.

mod args;
mod failures;
mod go_url;
mod lower;
mod metrics;
mod render;
mod table;
mod tally;
mod targets;

use crate::Outcome;
use crate::grammar::go_flag::Failure;
use crate::outcome::LastWords;
use drumfire_compile::Host;
use std::sync::Arc;

/// The program's name.
const PROGRAM: &str = "slow_cooker";

/// The exit code after an invalid value of a flag.
const USAGE_EXIT: u8 = 64;

/// Turns slow_cooker's arguments into a run, or into the text that slow_cooker prints instead.
pub(crate) fn parse(args: &[String], host: &Arc<dyn Host>, seed: u64) -> Outcome {
    let lowered = args::parse(args)
        .map_err(refusal)
        .and_then(|line| lower::lower(&line, host, seed));
    match lowered {
        Ok(run) => Outcome::Run(Box::new(run)),
        Err(words) => words.into(),
    }
}

/// slow_cooker's output if its flags can't be parsed.
fn refusal(failure: Failure) -> LastWords {
    let usage = args::usage();
    match failure {
        Failure::HelpWanted => LastWords::on_stderr(usage, 0),
        Failure::Mistake(message) => LastWords::on_stderr(format!("{message}\n{usage}"), 2),
    }
}

/// The text for an invalid value of a flag.
fn mistake(message: impl std::fmt::Display) -> LastWords {
    let text = format!("{message}\nTry --help for help.\n");
    LastWords::on_stderr(text, USAGE_EXIT)
}
