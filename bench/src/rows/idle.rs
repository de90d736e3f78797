//! Many connections with little traffic: the resident memory per connection.

use super::Settings;
use crate::floor::Encryption;
use crate::process::{self, CLIENT_CORE, MemoryWatch, pinned};
use crate::server::{Kind, Server};
use crate::table::{Figure, Line, Target};
use crate::tool::{Programs, Tool};
use drumfire_units::Nanos;
use std::io::{Error, Result};
use std::process::Command;

/// The connections of the large run.
const MANY: u32 = 10_000;

/// The length of a run, in seconds; all connections are open for most of it.
const SECONDS: u64 = 5;

/// With a delay in its script, wrk pauses for a second before each request.
const PAUSE: &str = "function delay() return 1000 end\n";

/// Measures drumfire and, if it is installed, wrk.
pub(super) fn measure(settings: &Settings) -> Result<Vec<Line>> {
    let programs = &settings.programs;
    // nginx's limit of connections is higher than the clients' number.
    let server = Server::start(Kind::Serve, Encryption::Plain, programs)?;
    let url = server.url("/");
    let mut lines = figures("drumfire", Some(Target::AtMost(4.0)), |connections| {
        let mut command = drumfire(programs, connections, &url);
        peak(Tool::Drumfire, &mut command, connections)
    })?;
    if programs.wrk.is_none() {
        return Ok(lines);
    }
    let script = std::env::temp_dir().join(format!("drumfire-bench-{}.lua", std::process::id()));
    std::fs::write(&script, PAUSE)?;
    let measured = figures("wrk", None, |connections| {
        let mut command = wrk(programs, connections, &url)?;
        peak(Tool::Wrk, command.arg("-s").arg(&script), connections)
    });
    std::fs::remove_file(&script)?;
    lines.extend(measured?);
    Ok(lines)
}

fn drumfire(programs: &Programs, connections: u32, url: &str) -> Command {
    let mut command = pinned(CLIENT_CORE, &programs.drumfire);
    command.args(["http", "--threads=1", "-q", "--json=-", "--think-time=1s"]);
    command.args(["-c", &connections.to_string()]);
    command.args(["-z", &format!("{SECONDS}s"), url]);
    command
}

fn wrk(programs: &Programs, connections: u32, url: &str) -> Result<Command> {
    let missing = || Error::other("wrk is not installed");
    let program = programs.wrk.as_ref().ok_or_else(missing)?;
    let mut command = pinned(CLIENT_CORE, program);
    command.args(["-t1", "-c", &connections.to_string()]);
    command.args(["-d", &format!("{SECONDS}s"), url]);
    Ok(command)
}

/// The peak of resident memory of a run, in kilobytes of 1000 bytes. Fails if the connections did
/// not do their work.
fn peak(tool: Tool, command: &mut Command, connections: u32) -> Result<f64> {
    let limit = Nanos::from_secs(SECONDS + 60);
    let finished = process::run(command, limit, MemoryWatch::Memory)?;
    let requests = tool
        .claim(&finished.stdout)
        .map_or(0, |claim| claim.requests);
    let least = u64::from(connections) * (SECONDS - 2);
    if requests < least {
        let words = format!(
            "{} sent {requests} requests, fewer than {least}",
            tool.name()
        );
        return Err(Error::other(words));
    }
    Ok(finished.peak_bytes as f64 / 1000.0)
}

/// The total divided by the connections, and the growth from one connection to many.
fn figures(
    tool: &str,
    target: Option<Target>,
    mut peak: impl FnMut(u32) -> Result<f64>,
) -> Result<Vec<Line>> {
    let one = peak(1)?;
    let many = peak(MANY)?;
    let figure = |what: &str, value: f64, unit: &str, target| {
        Line::Figure(Figure {
            what: format!("{MANY} connections at 1/s, {tool}: {what}"),
            value,
            unit: unit.to_owned(),
            target,
        })
    };
    let count = f64::from(MANY);
    Ok(vec![
        figure("all memory ÷ connections", many / count, "kB", target),
        figure(
            "growth per connection",
            (many - one) / (count - 1.0),
            "kB",
            None,
        ),
        figure("all memory with 1 connection", one / 1000.0, "MB", None),
    ])
}
