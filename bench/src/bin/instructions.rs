//! How many instructions in user space a request takes.

use clap::Parser;
use drumfire_bench::floor::Scheme;
use drumfire_bench::server::{Kind, Server};
use drumfire_bench::stepper::{Answerer, Detail, Steps, step};
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

/// Stepping takes time, and time ends intervals, which take instructions.
const ENDLESS: [&str; 4] = ["--threads=1", "-q", "--interval=1h", "-z1h"];

/// Protocols with streams, one on each connection: then each request is a send of its own.
const STREAMED: [(&str, &[&str]); 2] = [
    ("HTTP/2", &["http", "--http2"]),
    (
        "gRPC",
        &[
            "grpc",
            "--plaintext",
            "--call",
            "helloworld.Greeter/SayHello",
        ],
    ),
];

fn main() -> Result<()> {
    let flags = Flags::parse();
    let programs = Programs::find(flags.drumfire)?;
    let server = Answerer::start()?;
    let mut out = std::io::stdout();
    let title = "instructions per request (min–max)";
    writeln!(out, "| client | connections | {title} |\n|---|---|---|")?;
    for tool in [Tool::Drumfire, Tool::Wrk, Tool::Floor, Tool::FloorNet] {
        for connections in CONNECTIONS {
            if !tool.is_installed(&programs) {
                continue;
            }
            let mut command = endless(tool, connections, &programs, &server.url());
            let steps = step(&mut command, flags.requests, Detail::Number)?;
            writeln!(out, "{}", row(tool.name(), connections, &steps))?;
        }
    }
    let server = Server::start(Kind::ServeGrpc, Scheme::Plain, &programs)?;
    for (name, arguments) in STREAMED {
        for connections in CONNECTIONS {
            let mut command = Command::new(&programs.drumfire);
            command.args(arguments).args(ENDLESS).arg("--streams=1");
            command.arg("-c").arg(connections.to_string());
            command.arg(match name {
                "gRPC" => server.address(),
                _ => server.url("/"),
            });
            let steps = step(&mut command, flags.requests, Detail::Number)?;
            let name = format!("{}, {name}", Tool::Drumfire.name());
            writeln!(out, "{}", row(&name, connections, &steps))?;
        }
    }
    if flags.functions {
        let server = Answerer::start()?;
        let mut command = endless(Tool::Drumfire, CONNECTIONS[1], &programs, &server.url());
        let steps = step(&mut command, flags.requests, Detail::Addresses)?;
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
        Tool::Drumfire => command.arg("http").args(ENDLESS),
        Tool::Wrk => command.args(["-t1", "-d1h"]),
        Tool::FloorNet => command.args(["--net", "-z3600"]),
        Tool::Floor | Tool::Oha => command.args(["-z3600"]),
    };
    command.arg("-c").arg(connections.to_string()).arg(url);
    command
}

/// A row of the table.
fn row(name: &str, connections: usize, steps: &Steps) -> String {
    let Spread { min, max, .. } = Spread::of(steps.requests.iter().map(|count| *count as f64));
    let mean = steps.requests.iter().sum::<u64>() / steps.requests.len() as u64;
    format!("| {name} | {connections} | {mean} ({min:.0}–{max:.0}) |")
}
