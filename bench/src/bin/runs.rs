//! Lists thousands of stored runs, and prints how long this takes: the first time, when the index
//! is built from the records, and later, when it is only compared with them. Exits with 1 if a
//! later list takes longer than 100 ms.

use clap::Parser;
use drumfire_bench::floor::Encryption;
use drumfire_bench::machine;
use drumfire_bench::server::{Kind, Server};
use drumfire_bench::table::Spread;
use drumfire_bench::tool::Programs;
use drumfire_net::Clock;
use std::fs;
use std::io::{Error, Result, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The maximum time of a list with an existing index, in milliseconds.
const LIST_MAX: f64 = 100.0;

/// List many stored runs, and print how long this takes
#[derive(Debug, Parser)]
struct Flags {
    /// The number of runs
    #[arg(long, default_value_t = 10_000)]
    runs: u32,
    /// The number of lists of each kind
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..))]
    lists: u32,
    /// The program to measure [default: the one next to this program]
    #[arg(long, value_name = "FILE")]
    drumfire: Option<PathBuf>,
}

/// The lists: their names, and their flags.
const LISTS: [(&str, &[&str]); 3] = [
    ("the newest 30", &["--limit", "30"]),
    ("all, as a table", &[]),
    ("all, as JSON", &["--json"]),
];

fn main() -> Result<ExitCode> {
    let flags = Flags::parse();
    let programs = Programs::find(flags.drumfire.clone(), None)?;
    let server = Server::start(Kind::Serve, Encryption::Plain, &programs)?;
    let state = server.folder().join("state");
    let runs = state.join("drumfire/runs");
    fs::create_dir_all(&runs)?;
    let first = server.folder().join("first");
    let mut fire = Command::new(&programs.drumfire);
    fire.args(["http", "-q", "-n", "20", "-r", "200", "-o"]);
    fire.arg(&first).arg(server.url("/"));
    ran(fire.env("XDG_STATE_HOME", &state))?;
    for number in 0..flags.runs {
        copy(&first, &runs.join(format!("{number:08x}-1")))?;
    }
    let list = |args: &[&str]| {
        let mut command = Command::new(&programs.drumfire);
        command.arg("runs").args(args);
        let began = Clock::start();
        ran(command.env("XDG_STATE_HOME", &state))?;
        Ok::<f64, Error>(began.now().as_secs_f64() * 1e3)
    };
    let mut out = std::io::stdout();
    writeln!(out, "{}\n", machine::describe())?;
    writeln!(out, "{} stored runs of 20 requests\n", flags.runs)?;
    writeln!(out, "| list | median | from | to |\n|---|---|---|---|")?;
    let made = list(LISTS[0].1)?;
    writeln!(
        out,
        "| the newest 30, building the index | {made:.0} ms | | |"
    )?;
    let mut is_met = true;
    for (name, args) in LISTS {
        let times: Result<Vec<f64>> = (0..flags.lists).map(|_| list(args)).collect();
        let spread = Spread::from_values(times?);
        let Spread { median, min, max } = spread;
        writeln!(
            out,
            "| {name} | {median:.1} ms | {min:.1} ms | {max:.1} ms |"
        )?;
        is_met &= median <= LIST_MAX;
    }
    Ok(match is_met {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Copies the files of a run into another directory.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Runs a command and discards its output.
fn ran(command: &mut Command) -> Result<()> {
    let status = command.stdout(Stdio::null()).status()?;
    match status.success() {
        true => Ok(()),
        false => Err(Error::other(format!("{command:?}: {status}"))),
    }
}
