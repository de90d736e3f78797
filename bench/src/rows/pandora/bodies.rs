//! Large bodies, received and sent: bytes per CPU second compared with the floor, and memory.

use super::contest::{Contender, CountedBy, hold};
use super::plans;
use crate::claim;
use crate::floor::Encryption;
use crate::process::{self, CLIENT_CORE, MemoryWatch, pinned};
use crate::rounds::{Title, Unit};
use crate::rows::Settings;
use crate::rows::memory::Resident;
use crate::server::{Kind, Server};
use crate::table::{Figure, Line, Target};
use drumfire_units::Nanos;
use std::io::{Error, Result};
use std::process::Command;

/// The number of connections in each case.
const CONNECTIONS: u32 = 32;

/// A case.
#[derive(Debug)]
pub(super) struct Case {
    title: &'static str,
    /// The size of a body, in bytes.
    bytes: u32,
    way: BodyDirection,
}

/// The direction of the bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyDirection {
    /// From nginx.
    Received(&'static str),
    /// To `drumfire serve`, which reads the whole body before it answers.
    Sent,
}

pub(super) const RESPONSE_10K: Case = Case {
    title: "GET, 10 kB, nginx",
    bytes: 10_000,
    way: BodyDirection::Received("/10k"),
};

pub(super) const RESPONSE_100K: Case = Case {
    title: "GET, 100 kB, nginx",
    bytes: 100_000,
    way: BodyDirection::Received("/100k"),
};

pub(super) const POST_10K: Case = Case {
    title: "POST, 10 kB, `drumfire serve`",
    bytes: 10_000,
    way: BodyDirection::Sent,
};

pub(super) const POST_100K: Case = Case {
    title: "POST, 100 kB, `drumfire serve`",
    bytes: 100_000,
    way: BodyDirection::Sent,
};

pub(super) const POST_1M: Case = Case {
    title: "POST, 1 MB, `drumfire serve`",
    bytes: 1_000_000,
    way: BodyDirection::Sent,
};

/// The maximum growth of memory from the start to the end, in kB: rare times touch pages of
/// histograms late.
const GROWTH_MAX: f64 = 512.0;

/// Measures drumfire and the floor alternately, and then drumfire's memory in a separate run.
pub(super) fn measure(case: &Case, settings: &Settings) -> Result<Vec<Line>> {
    let kind = match case.way {
        BodyDirection::Received(_) => Kind::Nginx,
        BodyDirection::Sent => Kind::Serve,
    };
    let server = Server::start(kind, Encryption::Plain, &settings.programs)?;
    let mut contenders = [
        Contender {
            name: "drumfire",
            command: drumfire(case, &server, settings)?,
            count: CountedBy::Printed(claim::drumfire),
            target: None,
        },
        Contender {
            name: "floor",
            command: floor(case, &server, settings),
            count: CountedBy::Printed(claim::floor),
            target: Some(Target::AtLeast(0.9)),
        },
    ];
    let runs = hold(&mut contenders, &server, settings)?;
    let bytes = |index: usize| runs[index][0].request_bytes;
    if bytes(0) != bytes(1) {
        let words = format!("drumfire sends {:?}, the floor {:?}", bytes(0), bytes(1));
        return Err(Error::other(words));
    }
    let title = Title {
        case: case.title,
        unit: Unit::Bytes(f64::from(case.bytes)),
        seconds: settings.seconds,
    };
    let [ours, theirs] = &contenders;
    let mut lines = vec![
        Line::Comparison(title.compare(ours.name, &runs[0], None, None)),
        Line::Comparison(title.compare(theirs.name, &runs[1], Some(&runs[0]), theirs.target)),
    ];
    let limit = Nanos::from_secs(u64::from(settings.seconds) + 30);
    let mut command = drumfire(case, &server, settings)?;
    let finished = process::run(&mut command, limit, MemoryWatch::Memory)?;
    let Resident { start, end } = Resident::from_readings(&finished.resident_bytes)?;
    let mut figure = |what: &str, value, unit: &str, target| {
        lines.push(Line::Figure(Figure {
            what: format!("{}: {what}", case.title),
            value,
            unit: unit.to_owned(),
            target,
        }));
    };
    figure("resident memory at the end", end / 1e3, "MB", None);
    let flat = Some(Target::AtMost(GROWTH_MAX));
    figure("growth during the run", end - start, "kB", flat);
    Ok(lines)
}

fn drumfire(case: &Case, server: &Server, settings: &Settings) -> Result<Command> {
    let mut command = pinned(CLIENT_CORE, &settings.programs.drumfire);
    command.args(["http", "--threads=1", "-q", "--json=-"]);
    command.args(["-c", &CONNECTIONS.to_string()]);
    command.args(["-z", &format!("{}s", settings.seconds)]);
    if case.way == BodyDirection::Sent {
        let body = "x".repeat(case.bytes as usize);
        let file = plans::write(server.folder(), "body", &body)?;
        command.args(["-X", "POST", "-d", &format!("@{}", file.display())]);
    }
    command.arg(url(case, server));
    Ok(command)
}

fn floor(case: &Case, server: &Server, settings: &Settings) -> Command {
    let mut command = pinned(CLIENT_CORE, &settings.programs.floor);
    command.args(["-c", &CONNECTIONS.to_string()]);
    command.args(["-z", &settings.seconds.to_string()]);
    if case.way == BodyDirection::Sent {
        command.args(["--post", &case.bytes.to_string()]);
    }
    command.arg(url(case, server));
    command
}

fn url(case: &Case, server: &Server) -> String {
    server.url(match case.way {
        BodyDirection::Received(path) => path,
        BodyDirection::Sent => "/",
    })
}
