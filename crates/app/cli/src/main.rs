//! The program `drumfire`: wiring, exit codes and terminal policy, and no logic.
//!
//! Knows every other crate and the machine's files, environment and terminal. Must not know how
//! anything is measured. Start reading at [`main`], then [`session`].
//!
//! Only this crate knows which flag caused a mistake, and its exit code.

#![cfg_attr(
    not(feature = "cluster"),
    expect(
        dead_code,
        unused_imports,
        reason = "their flags are in the help all the same"
    )
)]

mod bare_url;
mod command;
mod display;
mod document;
mod exit;
mod flags;
mod github;
mod habits;
mod host;
mod input;
mod intervals;
mod misread;
mod names;
mod output;
mod output_folder;
mod progress_line;
mod random;
mod reflect;
mod results;
mod rows;
mod runs_folder;
mod schemas;
mod session;
mod signals;
mod spelling;
mod spool;
mod store_place;
mod stored_run;
mod stream_names;
mod streams;
mod terminal;
mod tool_output;
mod trust;
mod vllm_json;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _};
use drumfire_plan::suggestion;
use exit::{Exit, Failure};
#[cfg(feature = "cluster")]
use flags::ClusterAct;
use flags::{Cli, Command};
use output::Output;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// The output of `drumfire` without arguments.
const FIRST_STEPS: &str = "\
drumfire load-tests HTTP, gRPC, WebSocket and LLM services at an exact rate. To start:
  drumfire demo                            ten seconds of load on a built-in server, explained
  drumfire http -r 100/s -z 30s URL        100 requests per second for 30 seconds
  drumfire new > plan.yaml                 write a plan with comments; `drumfire run plan.yaml` runs it
  drumfire --help                          list all commands
";

/// The maximum width of the help; longer lines are hard to read.
const HELP_COLUMNS_MAX: usize = 100;

fn main() -> ExitCode {
    drumfire_net::spare_address_space();
    let output = Output::new();
    match dispatch(&output) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output.complain(&format!("{}{}", failure.message, failure.remedy));
            failure.exit.into()
        }
    }
}

/// Selects by the program's name, then by the subcommand.
fn dispatch(output: &Output) -> Result<Exit, Failure> {
    let mut args = std::env::args_os();
    let program = args.next().unwrap_or_default();
    let name = Path::new(&program)
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    if let Some(dialect) = drumfire_dialects::for_program(name) {
        return command::dialect::run(dialect, &input::texts(args)?, output);
    }
    if name == "k6" {
        return k6(args, output);
    }
    let args = with_command(args.collect())?;
    let texts: Vec<String> = args
        .iter()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    // A command line of another tool has that tool's own flags.
    if let Some((command, rest)) = texts.split_first()
        && drumfire_dialects::for_program(command).is_none()
        && command != "k6"
        && let Some(mistake) = habits::mistake(command, rest, &flags::longs(command))
    {
        return Err(Failure::usage(mistake));
    }
    match parsed(args, &texts) {
        Ok(cli) => run(cli.command, output).map_err(|failure| Failure {
            message: spelling::as_typed(&failure.message, &texts),
            ..failure
        }),
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            if texts.is_empty() {
                output.remark(FIRST_STEPS);
            } else {
                let _closed = error.print();
            }
            Ok(Exit::Usage)
        }
        Err(error) if error.use_stderr() => Err(misread::failure(&error, &texts)),
        Err(error) => {
            // Help and version are results and go to stdout.
            output::check_stdout()?;
            match error.print() {
                Err(refused) if refused.kind() != io::ErrorKind::BrokenPipe => {
                    Err(Failure::failed(format!("can't write to stdout: {refused}")))
                }
                _ => Ok(Exit::Done),
            }
        }
    }
}

/// Parses the command and its flags.
///
/// Describing the flags of all commands takes longer than the rest of a run's start. So a load's
/// own command is tried alone first; help and mistakes need the other commands too.
fn parsed(args: Vec<OsString>, texts: &[String]) -> Result<Cli, clap::Error> {
    let line: Vec<OsString> = std::iter::once(OsString::from("drumfire"))
        .chain(args)
        .collect();
    let alone = texts.first().and_then(|command| flags::alone(command));
    if let Some(matches) = alone.and_then(|cli| cli.try_get_matches_from(&line).ok()) {
        return Cli::from_arg_matches(&matches);
    }
    let cli = match texts.iter().any(|text| text == "-h") {
        true => flags::short_help(),
        false => Cli::command(),
    };
    let columns = usize::from(terminal::columns()).min(HELP_COLUMNS_MAX);
    let matches = cli.term_width(columns).try_get_matches_from(line)?;
    Cli::from_arg_matches(&matches)
}

/// Runs a command.
fn run(command: Command, output: &Output) -> Result<Exit, Failure> {
    let dialect = |dialect, args| command::dialect::run(dialect, &input::texts(args)?, output);
    match command {
        Command::Http(flags) => command::http::run(&flags, output),
        Command::Grpc(flags) => command::grpc::run(&flags, output),
        Command::Llm(flags) => command::llm::run(&flags, output),
        Command::Ws(flags) => command::ws::run(&flags, output),
        Command::Run(flags) => command::run::run(&flags, output),
        #[cfg(feature = "cluster")]
        Command::Cluster { act } => match act {
            ClusterAct::Run(flags) => command::cluster::run(&flags, output),
            ClusterAct::Attach(flags) => command::cluster::attach(*flags, output),
            ClusterAct::Status(flags) => command::cluster::status(&flags, output),
        },
        #[cfg(feature = "cluster")]
        Command::Agent(flags) => command::agent::run(&flags, output),
        #[cfg(not(feature = "cluster"))]
        Command::Cluster { .. } | Command::Agent(_) => Err(Failure::usage(
            "this program was built without cluster support; to build one with it, use `make install`",
        )),
        Command::Ctl(flags) => command::ctl::run(&flags, output),
        Command::Report(flags) => command::report::run(&flags, output),
        Command::Compare(flags) => command::compare::run(&flags, output),
        Command::Ab(flags) => command::ab::run(&flags, output),
        Command::Capacity(flags) => command::capacity::run(&flags, output),
        Command::Runs { list, act } => command::runs::run(&list, act.as_ref(), output),
        Command::Resume(flags) => command::resume::run(&flags, output),
        Command::Check(flags) => command::check::run(&flags, output),
        Command::New(flags) => command::new::run(&flags, output),
        Command::Schema { form } => command::schema::run(&form, output),
        Command::Import(flags) => command::import::run(&flags, output),
        Command::Serve(flags) => command::serve::run(&flags, output),
        Command::Ui(flags) => command::ui::run(&flags, output),
        Command::Demo(flags) => command::demo::run(&flags, output),
        Command::Completions { shell } => command::install::completions(shell, output),
        Command::Man { folder } => command::install::man(&folder),
        Command::Ghz { args } => dialect(drumfire_dialects::Dialect::Ghz, args),
        Command::GoWrk { args } => dialect(drumfire_dialects::Dialect::GoWrk, args),
        Command::K6 { args } => k6(args, output),
        Command::Pandora { args } => dialect(drumfire_dialects::Dialect::Pandora, args),
        Command::SlowCooker { args } => dialect(drumfire_dialects::Dialect::SlowCooker, args),
        Command::Vllm { args } => dialect(drumfire_dialects::Dialect::Vllm, args),
    }
}

/// Runs a command line of k6, if the program has what runs scripts.
#[cfg(feature = "k6")]
fn k6(args: impl IntoIterator<Item = OsString>, output: &Output) -> Result<Exit, Failure> {
    command::k6::run(&input::texts(args)?, output)
}

#[cfg(not(feature = "k6"))]
fn k6(_: impl IntoIterator<Item = OsString>, _: &Output) -> Result<Exit, Failure> {
    Err(Failure::usage(
        "this program was built without support for k6's scripts; to build one with it, use `make install`",
    ))
}

/// A command line that begins with a URL means `drumfire http`.
fn with_command(mut args: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let Some(first) = args.first().map(|arg| arg.to_string_lossy().into_owned()) else {
        return Ok(args);
    };
    let is_url = |text: &str| {
        text.starts_with("http://")
            || text.starts_with("https://")
            || bare_url::completed(text).is_some()
    };
    let is_command = || Cli::command().find_subcommand(&first).is_some();
    if Path::new(&first).is_file() && !is_command() {
        let shown = first.escape_debug();
        return Err(Failure::usage(format!(
            "`{shown}` is a file; to run a plan, use `drumfire run {shown}`"
        )));
    }
    if let Some(mistake) = habits::mistaken_command(&first).filter(|_| !is_command()) {
        return Err(Failure::usage(mistake));
    }
    if is_url(&first) {
        args.insert(0, "http".into());
    } else if first == "version" {
        args[0] = "--version".into();
    } else if first.starts_with('-') && !["-h", "--help", "-V", "--version"].contains(&&*first) {
        let near = suggestion(&first, ["--help", "--version"]);
        if !near.is_empty() {
            let shown = first.escape_debug();
            return Err(Failure::usage(format!("unknown flag `{shown}`{near}")));
        }
        let mut others = args.iter().skip(1).map(|arg| arg.to_string_lossy());
        let what = match others.any(|arg| is_url(&arg)) {
            true => "`drumfire http` with these flags and the URL",
            false => "a command that `drumfire --help` lists",
        };
        return Err(Failure::usage(format!(
            "the command comes first: use {what}"
        )));
    }
    Ok(args)
}
