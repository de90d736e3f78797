//! Pandora: pools of instances that send ammo by schedules, described in a configuration file.
//!
//! Knows Pandora's configuration, its ammo, its schedules and its outputs.
//! `docs/dialects/pandora.md` lists the differences from the original, with reasons.

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
use crate::written::ToolFlags;
use config::Config;
use drumfire_compile::Host;
use std::sync::Arc;

/// The program's name.
const PROGRAM: &str = "pandora";

/// The tool whose flags are the places of a document's values.
const TOOL: ToolFlags = ToolFlags(PROGRAM);

/// The version of Pandora whose configuration and outputs are supported.
const VERSION: &str = "0.5.29";

/// Turns Pandora's arguments into a run, or into the text that Pandora prints instead.
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

/// The text for an invalid configuration: all its mistakes.
fn undecoded(mistakes: &[String]) -> LastWords {
    let lines: Vec<String> = mistakes
        .iter()
        .map(|mistake| format!("  {mistake}\n"))
        .collect();
    let text = args::line("Config decode failed:") + &lines.concat();
    LastWords::on_stderr(text, 1)
}

/// The text for other fatal mistakes.
fn fatal(message: &str) -> LastWords {
    LastWords::on_stderr(args::line(message), 1)
}
