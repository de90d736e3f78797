//! The program `drumfire`: wiring, exit codes and terminal policy, and no logic.
//!
//! Knows every other crate and the machine's files, environment and terminal. Must not know how
//! anything is measured. Start reading at [`main`], then [`session`].

mod command;
mod document;
mod exit;
mod flags;
mod host;
mod input;
mod output;
mod reflect;
mod session;
mod spool;
mod terminal;

use clap::{CommandFactory as _, FromArgMatches as _};
use exit::{Exit, Failure};
use flags::{Cli, Command};
use std::path::Path;
use std::process::ExitCode;

/// Help is no wider than this: longer lines are hard to read.
const HELP_COLUMNS_MAX: usize = 100;

fn main() -> ExitCode {
    match dispatch() {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output::complain(&format!("{}{}", failure.message, failure.remedy));
            failure.exit.into()
        }
    }
}

/// By the program's name, then by the subcommand.
fn dispatch() -> Result<Exit, Failure> {
    let mut args = std::env::args_os();
    let program = args.next().unwrap_or_default();
    let name = Path::new(&program)
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    if let Some(dialect) = drumfire_dialects::for_program(name) {
        return command::dialect::run(dialect, &input::texts(args)?);
    }
    let columns = usize::from(terminal::columns()).min(HELP_COLUMNS_MAX);
    let matches = Cli::command().term_width(columns).try_get_matches();
    match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => match cli.command {
            Command::Http(flags) => command::http::run(&flags),
            Command::Grpc(flags) => command::grpc::run(&flags),
            Command::Run(flags) => command::run::run(&flags),
            Command::Serve(flags) => command::serve::run(&flags),
            Command::Demo(flags) => command::demo::run(&flags),
            Command::Ghz { args } => {
                command::dialect::run(drumfire_dialects::Dialect::Ghz, &input::texts(args)?)
            }
            Command::GoWrk { args } => {
                command::dialect::run(drumfire_dialects::Dialect::GoWrk, &input::texts(args)?)
            }
        },
        Err(error) => {
            // Help and version are results and go to stdout; mistakes go to stderr.
            let _closed = error.print();
            Ok(if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Done
            })
        }
    }
}
