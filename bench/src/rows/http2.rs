//! The cost of a request over HTTP/2 with drumfire and h2load, by the form of the load.

use super::Settings;
use crate::claim::{self, Claim};
use crate::floor::Encryption;
use crate::process::{self, CLIENT_CORE, MemoryWatch, pinned};
use crate::rounds::{Run, Title, Unit, alternate};
use crate::server::{Kind, Server};
use crate::table::{Line, Target};
use crate::tool::{OLDER, Programs};
use drumfire_units::Nanos;
use std::io::{Error, Result};
use std::path::Path;
use std::process::Command;

/// One case: a server, and the number of concurrent requests and of connections.
#[derive(Debug)]
pub(super) struct Case {
    /// The name for `--only`.
    pub(super) name: &'static str,
    server: Kind,
    connections: u32,
    /// Streams on each connection.
    streams: u32,
    /// The target of the ratio to h2load.
    target: f64,
}

/// All cases: each form of the load with each server.
pub(super) const CASES: &[Case] = &[
    case("nghttpd-10x100", Kind::Nghttpd, (10, 100), 0.30),
    case("nghttpd-1x100", Kind::Nghttpd, (1, 100), 0.35),
    case("nghttpd-64x1", Kind::Nghttpd, (64, 1), 0.72),
    case("serve-10x100", Kind::Serve, (10, 100), 0.30),
    case("serve-1x100", Kind::Serve, (1, 100), 0.35),
    case("serve-64x1", Kind::Serve, (64, 1), 0.72),
];

const fn case(name: &'static str, server: Kind, shape: (u32, u32), target: f64) -> Case {
    Case {
        name,
        server,
        connections: shape.0,
        streams: shape.1,
        target,
    }
}

/// A client, and its program.
struct Http2Client<'a> {
    name: &'static str,
    program: &'a Path,
    command: fn(&Path, &Case, &str, u32) -> Command,
    claim: fn(&str) -> Option<Claim>,
    target: Option<Target>,
}

/// Runs drumfire, an older one if it is given, and h2load alternately.
pub(super) fn measure(case: &Case, settings: &Settings) -> Result<Vec<Line>> {
    let clients = clients(case, &settings.programs);
    let server = Server::start(case.server, Encryption::Plain, &settings.programs)?;
    let url = server.url("/");
    let runs = alternate(clients.len(), settings.rounds, |index| {
        let client = &clients[index];
        let before = server.cpu();
        let mut command = (client.command)(client.program, case, &url, settings.seconds);
        let limit = Nanos::from_secs(u64::from(settings.seconds) + 30);
        let finished = process::run(&mut command, limit, MemoryWatch::Nothing)?;
        let claim = (client.claim)(&finished.stdout)
            .ok_or_else(|| Error::other(format!("{command:?} printed: {}", finished.stdout)))?;
        Run::new(&finished, claim, server.cpu() - before)
    })?;
    let title = format!(
        "h2c, {} × {}, 100 B, {}",
        case.connections,
        case.streams,
        case.server.name()
    );
    let mut lines = Vec::new();
    if settings.programs.h2load.is_none() {
        lines.push(Line::Absent {
            what: format!("{title}: h2load"),
            why: "not installed".to_owned(),
        });
    }
    let title = Title {
        case: &title,
        unit: Unit::PerRequest,
        seconds: settings.seconds,
    };
    for (index, (client, theirs)) in clients.iter().zip(&runs).enumerate() {
        let ours = (index > 0).then_some(runs[0].as_slice());
        let line = title.compare(client.name, theirs, ours, client.target);
        lines.push(Line::Comparison(line));
    }
    Ok(lines)
}

/// The available clients of a case; drumfire is the first.
fn clients<'a>(case: &Case, programs: &'a Programs) -> Vec<Http2Client<'a>> {
    let ours = |name, program| Http2Client {
        name,
        program,
        command: drumfire,
        claim: claim::drumfire,
        target: None,
    };
    let mut clients = vec![ours("drumfire", &programs.drumfire)];
    clients.extend(programs.older.iter().map(|older| ours(OLDER, older)));
    clients.extend(programs.h2load.iter().map(|program| Http2Client {
        name: "h2load",
        program,
        command: h2load_command,
        claim: claim::h2load,
        target: Some(Target::AtMost(case.target)),
    }));
    clients
}

fn drumfire(program: &Path, case: &Case, url: &str, seconds: u32) -> Command {
    let mut command = pinned(CLIENT_CORE, program);
    command.args(["http", "--http2", "--threads=1", "-q", "--json=-"]);
    command.args(["-c", &case.connections.to_string()]);
    command.args(["--streams", &case.streams.to_string()]);
    command.args(["-z", &format!("{seconds}s"), url]);
    command
}

fn h2load_command(program: &Path, case: &Case, url: &str, seconds: u32) -> Command {
    let mut command = pinned(CLIENT_CORE, program);
    command.args(["-t1", "-c", &case.connections.to_string()]);
    command.args(["-m", &case.streams.to_string()]);
    command.args(["-D", &seconds.to_string(), url]);
    command
}
