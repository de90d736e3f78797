//! `drumfire completions` and `drumfire man`: what an installation puts beside the program.

use crate::exit::{Exit, Failure};
use crate::flags::{Cli, Shell};
use crate::output::Output;
use clap::CommandFactory as _;
use clap_complete::aot;
use std::path::Path;

/// The program's name in completions and pages.
const NAME: &str = "drumfire";

/// Prints the completions of a shell.
pub(crate) fn completions(shell: Shell, output: &Output) -> Result<Exit, Failure> {
    let mut cli = Cli::command();
    let mut script = Vec::new();
    match shell {
        Shell::Bash => aot::generate(aot::Bash, &mut cli, NAME, &mut script),
        Shell::Zsh => aot::generate(aot::Zsh, &mut cli, NAME, &mut script),
        Shell::Fish => aot::generate(aot::Fish, &mut cli, NAME, &mut script),
    }
    output.print(&script)?;
    Ok(Exit::Done)
}

/// Writes a page of section 1 for the program and for each of its commands.
pub(crate) fn man(folder: &Path) -> Result<Exit, Failure> {
    let written = clap_mangen::generate_to(Cli::command(), folder);
    written.map_err(|error| {
        Failure::failed(format!(
            "can't write pages into {}: {error}",
            folder.display()
        ))
    })?;
    Ok(Exit::Done)
}
