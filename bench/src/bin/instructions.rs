//! The number of user-space instructions per request.

use clap::{Parser, ValueEnum};
use drumfire_bench::cluster::{Binaries, CoordinatorProcess, NatsServer};
use drumfire_bench::floor::Encryption;
use drumfire_bench::server::{Kind, Server};
use drumfire_bench::stepper::{Answerer, Detail, Steps, step};
use drumfire_bench::symbols::{self, By};
use drumfire_bench::table::Spread;
use drumfire_bench::tool::{Programs, Tool};
use std::fs;
use std::io::{Result, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Count the instructions per request by single-stepping
#[derive(Debug, Parser)]
struct Flags {
    /// Requests to step through
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    requests: u32,
    /// Print drumfire's instructions by function
    #[arg(long)]
    functions: bool,
    /// Print drumfire's instructions by source line
    #[arg(long)]
    lines: bool,
    /// Count only drumfire over this protocol
    #[arg(long)]
    protocol: Option<MeasuredProtocol>,
    /// The program to measure [default: the one next to this program]
    #[arg(long, value_name = "FILE")]
    drumfire: Option<PathBuf>,
    /// An older drumfire; its rows follow the other rows of each protocol
    #[arg(long, value_name = "FILE")]
    beside: Option<PathBuf>,
    /// Count one plan on its own and on an agent instead, with this nats-server program
    #[arg(long, value_name = "FILE")]
    nats: Option<PathBuf>,
}

/// A protocol of drumfire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MeasuredProtocol {
    Http1,
    Http2,
    Grpc,
}

impl MeasuredProtocol {
    /// The client's name in tables.
    const fn client(self) -> &'static str {
        match self {
            Self::Http1 => "drumfire",
            Self::Http2 => "drumfire, HTTP/2",
            Self::Grpc => "drumfire, gRPC",
        }
    }
}

/// A single connection pays for a whole turn of the loop per request; many connections share a
/// turn.
const CONNECTIONS: [usize; 2] = [1, 64];

/// Stepping is slow, so intervals would end during it, and that takes instructions.
const ENDLESS: [&str; 4] = ["--threads=1", "-q", "--interval=1h", "-z1h"];

/// The servers to count against.
struct Servers {
    http1: Answerer,
    streamed: Server,
}

impl Servers {
    /// drumfire with a run longer than stepping takes. Protocols with streams use one stream per
    /// connection, so that each request is a separate send.
    fn command(
        &self,
        protocol: MeasuredProtocol,
        connections: usize,
        programs: &Programs,
    ) -> Command {
        let mut command = Command::new(&programs.drumfire);
        match protocol {
            MeasuredProtocol::Http1 => command.args(["http", &self.http1.url()]),
            MeasuredProtocol::Http2 => {
                let url = self.streamed.url("/");
                command.args(["http", "--http2", "--streams=1", &url])
            }
            MeasuredProtocol::Grpc => {
                let call = "--call=helloworld.Greeter/SayHello";
                let address = self.streamed.address();
                command.args(["grpc", "--plaintext", call, "--streams=1", &address])
            }
        };
        command.args(ENDLESS).args(["-c", &connections.to_string()]);
        command
    }
}

fn main() -> Result<()> {
    let flags = Flags::parse();
    let programs = Programs::find(flags.drumfire.clone(), flags.beside.clone())?;
    if let Some(nats) = &flags.nats {
        return on_an_agent(&flags, &programs, nats);
    }
    let older = programs.before();
    let servers = Servers {
        http1: Answerer::start()?,
        streamed: Server::start(Kind::ServeGrpc, Encryption::Plain, &programs)?,
    };
    let mut out = std::io::stdout();
    let title = "instructions per request, mean | median (min–max)";
    writeln!(out, "| client | connections | {title} |\n|---|---|---|---|")?;
    let protocols = match &flags.protocol {
        Some(protocol) => std::slice::from_ref(protocol),
        None => MeasuredProtocol::value_variants(),
    };
    for protocol in protocols {
        for (age, programs) in [("", Some(&programs)), ("older ", older.as_ref())] {
            let Some(programs) = programs else { continue };
            for connections in CONNECTIONS {
                let mut command = servers.command(*protocol, connections, programs);
                let steps = step(&mut command, flags.requests, Detail::Number)?;
                let name = format!("{age}{}", protocol.client());
                writeln!(out, "{}", row(&name, connections, &steps))?;
            }
        }
    }
    if flags.protocol.is_none() {
        for tool in [Tool::Wrk, Tool::Floor, Tool::FloorNet] {
            for connections in CONNECTIONS {
                if !tool.is_installed(&programs) {
                    continue;
                }
                let mut command = endless(tool, connections, &programs, &servers.http1.url());
                let steps = step(&mut command, flags.requests, Detail::Number)?;
                writeln!(out, "{}", row(tool.name(), connections, &steps))?;
            }
        }
    }
    let tables = [(flags.functions, By::Function), (flags.lines, By::Line)];
    for (_, by) in tables.into_iter().filter(|(is_asked, _)| *is_asked) {
        for protocol in protocols {
            for connections in CONNECTIONS {
                let mut command = servers.command(*protocol, connections, &programs);
                let steps = step(&mut command, flags.requests, Detail::Addresses)?;
                let name = format!("{}, {connections} connections", protocol.client());
                by_place(&mut out, &name, &programs, (&steps, by))?;
            }
        }
    }
    Ok(())
}

/// Counts a plan alone, and as the share of an agent.
fn on_an_agent(flags: &Flags, programs: &Programs, nats: &Path) -> Result<()> {
    let target = Answerer::start()?;
    let name = format!("drumfire-instructions-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    fs::create_dir_all(&folder)?;
    let binaries = Binaries {
        drumfire: programs.drumfire.clone(),
        nats: nats.to_owned(),
    };
    let server = NatsServer::start(&binaries, Ipv4Addr::LOCALHOST, &folder)?;
    let (plan, url) = (folder.join("plan.yaml"), server.url());
    let mut out = std::io::stdout();
    let title = "instructions per request, mean | median (min–max)";
    writeln!(out, "| client | connections | {title} |\n|---|---|---|---|")?;
    for connections in CONNECTIONS {
        fs::write(
            &plan,
            format!(
                "drumfire: 1\npools:\n  p: {{ target: \"{}\", users: {connections}, connections: {connections}, \
                 requests: [ {{ get: / }} ] }}\nstop: {{ after: 1h }}\ngenerator: {{ threads: 1, interval: 1h }}\n",
                target.url()
            ),
        )?;
        let mut alone = Command::new(&programs.drumfire);
        alone.arg("run").arg(&plan).args(["-q", "--no-store"]);
        let steps = step(&mut alone, flags.requests, Detail::Number)?;
        writeln!(out, "{}", row("drumfire run", connections, &steps))?;
        let group = format!("of{connections}");
        let shown = plan.to_string_lossy();
        let args = [
            "run", &shown, "--agents", "1", "--nats", &url, "--group", &group,
        ];
        let coordinator = CoordinatorProcess::start(&binaries, &args, &folder)?;
        let mut agent = Command::new(&programs.drumfire);
        agent.args(["agent", "--nats", &url, "--group", &group]);
        agent.env("XDG_STATE_HOME", &folder);
        let steps = step(&mut agent, flags.requests, Detail::Number)?;
        writeln!(out, "{}", row("drumfire agent", connections, &steps))?;
        coordinator.kill();
    }
    let _left_behind = fs::remove_dir_all(&folder);
    Ok(())
}

/// Prints the places with the most instructions of a client.
fn by_place(
    out: &mut impl Write,
    name: &str,
    programs: &Programs,
    (steps, by): (&Steps, By),
) -> Result<()> {
    let table = symbols::executed(&programs.drumfire, steps, by)?;
    let rows = match by {
        By::Function => 50,
        By::Line => 200,
    };
    writeln!(out, "\n| instructions per request | {name} |\n|---|---|")?;
    for (place, instructions) in table.iter().take(rows) {
        let each = *instructions as f64 / steps.requests.len() as f64;
        writeln!(out, "| {each:.1} | {place} |")?;
    }
    Ok(())
}

/// Another tool with a run longer than stepping takes.
fn endless(tool: Tool, connections: usize, programs: &Programs, url: &str) -> Command {
    let program = match (tool, &programs.wrk) {
        (Tool::Wrk, Some(wrk)) => wrk,
        _ => &programs.floor,
    };
    let mut command = Command::new(program);
    match tool {
        Tool::Wrk => command.args(["-t1", "-d1h"]),
        Tool::FloorNet => command.args(["--net", "-z3600"]),
        _ => command.args(["-z3600"]),
    };
    command.arg("-c").arg(connections.to_string()).arg(url);
    command
}

/// A row of the table.
fn row(name: &str, connections: usize, steps: &Steps) -> String {
    let Spread {
        min, max, median, ..
    } = Spread::from_values(steps.requests.iter().map(|count| *count as f64));
    let mean = steps.requests.iter().sum::<u64>() / steps.requests.len() as u64;
    format!("| {name} | {connections} | {mean} | {median:.0} ({min:.0}–{max:.0}) |")
}
