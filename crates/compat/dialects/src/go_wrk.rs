//! go-wrk: HTTP requests from a number of users, as many as possible in a number of seconds.
//!
//! Knows go-wrk's flags, its texts and its report, in the current form and in an older one.
//! `docs/dialects/go-wrk.md` lists the differences from the original, with reasons.

mod args;
mod errors;
mod lower;
mod mistake;
mod render;
mod request;
mod targets;

use crate::Outcome;
use crate::grammar::go_flag::Failure;
use crate::outcome::LastWords;
use crate::written::ToolFlags;
use drumfire_compile::Host;
use drumfire_plan::Expect;
use std::sync::Arc;

/// The program's name, as its usage text and its User-Agent contain it.
const PROGRAM: &str = "go-wrk";

/// The tool whose flags are the places of a document's values.
const TOOL: ToolFlags = ToolFlags(PROGRAM);

/// The version of go-wrk whose command line and report are supported.
const VERSION: &str = "0.10";

/// The statuses that go-wrk counts as success: 2xx, and 301 and 307 without following them.
const EXPECT: Expect = Expect::NONE.with(200, 299).with(301, 301).with(307, 307);

/// The line that is printed at the first signal.
pub(crate) const STOPPING: &str = "stopping...\n";

/// Turns go-wrk's arguments into a run, or into the text that go-wrk prints instead.
pub(crate) fn parse(args: &[String], host: &Arc<dyn Host>) -> Outcome {
    let lowered = args::parse(args)
        .map_err(refusal)
        .and_then(|args| lower::lower(&args, host));
    match lowered {
        Ok(run) => Outcome::Run(Box::new(run)),
        Err(words) => words.into(),
    }
}

/// go-wrk's output if its flags can't be parsed.
fn refusal(failure: Failure) -> LastWords {
    let usage = args::go_usage();
    match failure {
        Failure::HelpWanted => LastWords::on_stderr(usage, 0),
        Failure::Mistake(message) => LastWords::on_stderr(format!("{message}\n{usage}"), 2),
    }
}
