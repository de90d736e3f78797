//! go-wrk: as many requests as fit into so many seconds, by so many users, over HTTP.
//!
//! Knows go-wrk's flags, its texts and its report, in today's shape and in an older one. What it
//! does otherwise than the original, and why, is in `docs/dialects/go-wrk.md`.

mod args;
mod error_text;
mod errors;
mod lower;
mod render;
mod request;
mod targets;

pub(crate) use render::Presentation;

use crate::grammar::go_flag::Failure;
use crate::outcome::{LastWords, VersionQuestion};
use crate::{Defaults, Outcome, Source};
use drumfire_plan::{Expect, Plan};
use drumfire_units::Nanos;
use lower::Lowered;

/// The program's name, which its usage text and its User-Agent bear.
const PROGRAM: &str = "go-wrk";

/// The version of go-wrk whose command line and report this is.
const VERSION: &str = "0.10";

/// What go-wrk counts as a success: 2xx, and 301 and 307 as they are.
const EXPECT: Expect = Expect::NONE.with(200, 299).with(301, 301).with(307, 307);

/// How long the server may take to say whether it chooses HTTP/2.
const VERSION_LIMIT: Nanos = Nanos::from_secs(5);

/// What is printed when the user asks the run to end.
pub(crate) const STOPPING: &str = "stopping...\n";

/// Turns go-wrk's arguments into a run, or into what go-wrk prints in place of one.
pub(crate) fn parse(args: &[String], source: &dyn Source, defaults: Defaults) -> Outcome {
    let lowered = args::parse(args)
        .map_err(refusal)
        .and_then(|args| lower::lower(&args, source, defaults));
    match lowered {
        Ok(Lowered {
            plan,
            presentation,
            http2: None,
        }) => run(plan, presentation),
        Ok(Lowered {
            plan,
            presentation,
            http2: Some(upgraded),
        }) => Outcome::NeedsVersion(Box::new(VersionQuestion {
            limit: plan.timeouts.total.min(VERSION_LIMIT),
            plan: *upgraded.clone(),
            then: Box::new(|chosen| match chosen {
                true => run(*upgraded, presentation),
                false => run(plan, presentation),
            }),
        })),
        Err(words) => words.into(),
    }
}

fn run(plan: Plan, presentation: Presentation) -> Outcome {
    Outcome::Run {
        plan: Box::new(plan),
        presentation: presentation.into(),
    }
}

/// What go-wrk prints when its flags can't be read.
fn refusal(failure: Failure) -> LastWords {
    let usage = args::go_usage();
    match failure {
        Failure::HelpWanted => LastWords::on_stderr(usage, 0),
        Failure::Mistake(message) => LastWords::on_stderr(format!("{message}\n{usage}"), 2),
    }
}
