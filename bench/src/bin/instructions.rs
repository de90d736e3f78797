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
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    requests: u32,
    /// Print drumfire's instructions by function
    #[arg(long)]
    functions: bool,
    /// The program to measure [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    drumfire: Option<PathBuf>,
}

/// Alone, a request pays for a whole turn of the loop; among many it shares one.
const CONNECTIONS: [usize; 2] = [1, 64];

fn main() -> Result<()> {
    let flags = Flags::parse();
    let programs = Programs::find(flags.drumfire)?;
    let counter = Counter::start()?;
    let mut out = std::io::stdout();
    let title = "instructions per request (min–max)";
    writeln!(out, "| tool | connections | {title} |\n|---|---|---|")?;
    for tool in [Tool::Drumfire, Tool::Wrk, Tool::Floor, Tool::FloorNet] {
        for connections in CONNECTIONS {
            if !tool.is_installed(&programs) {
                continue;
            }
            let mut command = endless(tool, connections, &programs, &counter.url());
            let steps = step(&mut command, &counter, flags.requests, Detail::Number)?;
            let Spread { min, max, .. } = spread(&steps);
            let mean = steps.requests.iter().sum::<u64>() / steps.requests.len() as u64;
            let name = tool.name();
            writeln!(
                out,
                "| {name} | {connections} | {mean} ({min:.0}–{max:.0}) |"
            )?;
        }
    }
    if flags.functions {
        let mut command = endless(Tool::Drumfire, CONNECTIONS[1], &programs, &counter.url());
        let steps = step(&mut command, &counter, flags.requests, Detail::Addresses)?;
        let table = symbols::by_function(&programs.drumfire, &steps)?;
        let title = format!("instructions per request, {} connections", CONNECTIONS[1]);
        writeln!(out, "\n| {title} | function |\n|---|---|")?;
        for (function, instructions) in table.iter().take(50) {
            let each = *instructions as f64 / f64::from(flags.requests);
            writeln!(out, "| {each:.1} | {function} |")?;
        }
    }
    Ok(())
}

/// A tool that goes on for longer than stepping takes.
fn endless(tool: Tool, connections: usize, programs: &Programs, url: &str) -> Command {
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
    command.arg("-c").arg(connections.to_string()).arg(url);
    command
}

fn spread(steps: &Steps) -> Spread {
    Spread::of(steps.requests.iter().map(|count| *count as f64))
}
