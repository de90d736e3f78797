//! How many instructions in user space a request takes.

use clap::Parser;
use drumfire_bench::stepper::{Counter, Detail, Steps, step};
use drumfire_bench::symbols;
use drumfire_bench::table::Spread;
use drumfire_bench::tool::{Programs, Tool};
use std::io::{Result, Write};
use std::path::PathBuf;
use std::process::Command;

/// Count the instructions of a request, by stepping through them
#[derive(Debug, Parser)]
struct Flags {
    /// Requests to step through
    #[arg(long, default_value_t = 100)]
    requests: usize,
    /// Tell where drumfire's instructions are, by function
    #[arg(long)]
    functions: bool,
    /// The program to measure [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    drumfire: Option<PathBuf>,
}

fn main() -> Result<()> {
    let flags = Flags::parse();
    let programs = Programs::find(flags.drumfire)?;
    let counter = Counter::start()?;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "| tool | instructions per request (min–max) |\n|---|---|"
    )?;
    for tool in [Tool::Drumfire, Tool::Wrk, Tool::Floor, Tool::FloorNet] {
        if tool.is_installed(&programs) {
            let mut command = endless(tool, &programs, &counter.url());
            let steps = step(&mut command, &counter, flags.requests, Detail::Number)?;
            let Spread { median, min, max } = spread(&steps);
            writeln!(out, "| {} | {median:.0} ({min:.0}–{max:.0}) |", tool.name())?;
        }
    }
    if flags.functions {
        let mut command = endless(Tool::Drumfire, &programs, &counter.url());
        let steps = step(&mut command, &counter, flags.requests, Detail::Addresses)?;
        let table = symbols::by_function(&programs.drumfire, &steps)?;
        writeln!(out, "\n| instructions per request | function |\n|---|---|")?;
        for (function, instructions) in table.iter().take(40) {
            let each = *instructions as f64 / flags.requests as f64;
            writeln!(out, "| {each:.1} | {function} |")?;
        }
    }
    Ok(())
}

/// A tool that goes on for longer than stepping takes, on one connection.
fn endless(tool: Tool, programs: &Programs, url: &str) -> Command {
    let program = match (tool, &programs.wrk) {
        (Tool::Drumfire, _) => &programs.drumfire,
        (Tool::Wrk, Some(wrk)) => wrk,
        _ => &programs.floor,
    };
    let mut command = Command::new(program);
    match tool {
        // Stepping takes time, and time ends intervals, which take instructions.
        Tool::Drumfire => command.args(["http", "--threads=1", "-q", "--interval=1h", "-z1h"]),
        Tool::Wrk => command.args(["-t1", "-d1h"]),
        Tool::FloorNet => command.args(["--net", "-z3600"]),
        Tool::Floor | Tool::Oha => command.args(["-z3600"]),
    };
    command.args(["-c1", url]);
    command
}

fn spread(steps: &Steps) -> Spread {
    Spread::of(steps.requests.iter().map(|count| *count as f64))
}
