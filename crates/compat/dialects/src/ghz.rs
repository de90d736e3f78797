//! ghz: gRPC calls at a rate or by workers, whose data and metadata are Go templates.
//!
//! Knows ghz's flags, its config file, its schedules and its reports. Its differences from the
//! original, with reasons, are in `docs/dialects/ghz.md`.

mod args;
mod config;
mod idle;
mod lower;
mod options;
mod render;
mod report;
mod result;
mod schedule;
mod settings;
mod setup;
mod size;
mod tally;
mod target;
mod time_text;
mod words;
mod yaml_text;

use crate::Outcome;
use crate::outcome::LastWords;
use crate::written::ToolFlags;
use drumfire_compile::Host;
use options::Options;
use std::sync::Arc;

/// The version of ghz whose command line and reports are supported.
const VERSION: &str = "v0.120.0";

/// The tool whose flags are the places of a document's values.
const TOOL: ToolFlags = ToolFlags("ghz");

/// The reason why no run starts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Mistake {
    /// A mistake on the command line or in the config file: printed after the program's name.
    Line(String),
    /// A mistake found while the run is set up: printed unchanged.
    Raw(String),
}

impl From<String> for Mistake {
    fn from(why: String) -> Self {
        Self::Raw(why)
    }
}

impl From<Mistake> for Outcome {
    fn from(mistake: Mistake) -> Self {
        let text = match mistake {
            Mistake::Line(why) => format!("ghz: error: {why}\n"),
            Mistake::Raw(why) => format!("{why}\n"),
        };
        LastWords::on_stderr(text, 1).into()
    }
}

/// Turns ghz's arguments into a run, or into the text that ghz prints instead.
pub(crate) fn parse(args: &[String], host: &Arc<dyn Host>, seed: u64) -> Outcome {
    run(args, host, seed).unwrap_or_else(Into::into)
}

fn run(args: &[String], host: &Arc<dyn Host>, seed: u64) -> Result<Outcome, Mistake> {
    // Help and version are shown even if other arguments are invalid.
    let line = args::parse(args, &**host).map_err(Mistake::Line)?;
    let mut options = Options::default();
    args::apply(&line, &mut options).map_err(Mistake::Line)?;
    if options.help {
        return Ok(LastWords::on_stderr(args::usage(), 0).into());
    }
    if options.version {
        return Ok(LastWords::on_stderr(format!("{VERSION}\n"), 0).into());
    }
    if !options.config.is_empty() {
        let config = options.config;
        options = Options::of_config();
        options.config = config;
        config::apply(&**host, &mut options).map_err(Mistake::Line)?;
        args::apply(&line, &mut options).map_err(Mistake::Line)?;
    }
    lower::lower(&options, host, seed).map(|run| Outcome::Run(Box::new(run)))
}
