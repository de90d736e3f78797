//! Pandora: pools of instances that shoot ammo by schedules, as a configuration file describes
//! them.
//!
//! Knows Pandora's configuration, its ammo, its schedules and its outputs. Its differences from the
//! original, with reasons, are in `docs/dialects/pandora.md`.

mod ammo;
mod args;
mod config;
mod gun;
mod lower;
mod mistakes;
mod output;
mod scenario;
mod schedule;
mod section;
mod shot;
mod show;
mod value;
mod zone;

use crate::Outcome;
use crate::outcome::LastWords;
use crate::written::Tool;
use config::Config;
use drumfire_compile::Host;
use std::sync::Arc;

/// The program's name.
const PROGRAM: &str = "pandora";

/// The tool whose flags are the places of a document's values.
const TOOL: Tool = Tool(PROGRAM);

/// The version of Pandora whose configuration and outputs these are.
const VERSION: &str = "0.5.29";

/// Turns Pandora's arguments into a run, or what it prints in place of one.
pub(crate) fn parse(args: &[String], host: &Arc<dyn Host>, seed: u64) -> Outcome {
    run(args, host, seed).unwrap_or_else(Into::into)
}

fn run(args: &[String], host: &Arc<dyn Host>, seed: u64) -> Result<Outcome, LastWords> {
    let written = args::read(args, &**host)?;
    let json = value::read(written.format, &written.text);
    let json = json.map_err(|why| fatal(&format!("Config parsing failed: {why}")))?;
    let config = Config::read(json, &**host).map_err(|mistakes| undecoded(&mistakes))?;
    lower::lower(&config, written.notes, host, seed)
}

/// The last words on a configuration that can't be used: everything that is wrong with it.
fn undecoded(mistakes: &[String]) -> LastWords {
    let lines: Vec<String> = mistakes
        .iter()
        .map(|mistake| format!("  {mistake}\n"))
        .collect();
    let text = args::line("Config decode failed:") + &lines.concat();
    LastWords::on_stderr(text, 1)
}

/// The last words on something else.
fn fatal(message: &str) -> LastWords {
    LastWords::on_stderr(args::line(message), 1)
}
