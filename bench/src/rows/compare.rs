//! The cost of a request with each tool: alternating runs, compared round by round.

use super::Settings;
use crate::floor::Encryption;
use crate::rounds::{Run, Title, Unit, alternate};
use crate::server::{Kind, Server};
use crate::table::{Line, Target};
use crate::tool::{Reuse, Tool, Workload};
use std::io::{Error, Result};

/// The number of connections in every case.
const CONNECTIONS: u32 = 64;

/// One case: a server, the load, and the clients.
#[derive(Debug)]
pub struct Case {
    /// The name for `--only`.
    pub name: &'static str,
    /// The description in the table.
    title: &'static str,
    server: Kind,
    scheme: Encryption,
    path: &'static str,
    /// The threads of each client.
    threads: u32,
    reuse: Reuse,
    unit: Unit,
    /// The tools other than drumfire, and the target of the ratio to each.
    against: &'static [(Tool, Option<Target>)],
}

const AT_MOST_WRK: Option<Target> = Some(Target::AtMost(1.0));
const AT_LEAST_WRK: Option<Target> = Some(Target::AtLeast(1.0));

/// All cases.
pub const CASES: &[Case] = &[
    Case {
        name: "nginx",
        title: "keep-alive, 100 B, nginx",
        against: &[
            (Tool::Wrk, Some(Target::AtMost(0.82))),
            (Tool::Floor, Some(Target::AtMost(1.12))),
            (Tool::FloorNet, None),
            (Tool::Oha, Some(Target::AtMost(0.55))),
        ],
        ..PLAIN
    },
    Case {
        name: "two-threads",
        title: "keep-alive, 100 B, two threads and two nginx processes on the same two cores",
        server: Kind::NginxPair,
        threads: 2,
        against: &[(Tool::Wrk, AT_MOST_WRK)],
        ..PLAIN
    },
    Case {
        name: "answer",
        title: "keep-alive, 100 B, minimal server",
        server: Kind::Answer,
        against: OUTRUN,
        ..PLAIN
    },
    Case {
        name: "serve",
        title: "keep-alive, 100 B, `drumfire serve`",
        server: Kind::Serve,
        against: OUTRUN,
        ..PLAIN
    },
    Case {
        name: "clock",
        title: "keep-alive, 100 B, minimal server, by each clock",
        server: Kind::Answer,
        against: &[
            (Tool::Stamped, None),
            (Tool::Wired, None),
            (Tool::Wrk, None),
        ],
        ..PLAIN
    },
    Case {
        name: "tls",
        title: "HTTPS keep-alive, 100 B, nginx",
        scheme: Encryption::Tls,
        against: &[
            (Tool::Wrk, Some(Target::AtMost(0.85))),
            (Tool::FloorNet, None),
            (Tool::Oha, None),
        ],
        ..PLAIN
    },
    Case {
        name: "close",
        title: "`Connection: close`, 100 B, nginx",
        reuse: Reuse::Close,
        against: &[(Tool::Wrk, AT_MOST_WRK), (Tool::Oha, None)],
        ..PLAIN
    },
    Case {
        name: "10k",
        title: "HTTP, 10 kB, nginx",
        path: "/10k",
        unit: Unit::Bytes(10e3),
        against: &[(Tool::Wrk, AT_LEAST_WRK)],
        ..PLAIN
    },
    Case {
        name: "100k",
        title: "HTTP, 100 kB, nginx",
        path: "/100k",
        unit: Unit::Bytes(100e3),
        against: &[(Tool::Wrk, AT_LEAST_WRK)],
        ..PLAIN
    },
    Case {
        name: "tls-10k",
        title: "HTTPS, 10 kB, nginx",
        path: "/10k",
        scheme: Encryption::Tls,
        unit: Unit::Bytes(10e3),
        against: &[(Tool::Wrk, AT_LEAST_WRK)],
        ..PLAIN
    },
    Case {
        name: "tls-100k",
        title: "HTTPS, 100 kB, nginx",
        path: "/100k",
        scheme: Encryption::Tls,
        unit: Unit::Bytes(100e3),
        against: &[(Tool::Wrk, AT_LEAST_WRK)],
        ..PLAIN
    },
];

/// The common parts of most cases.
const PLAIN: Case = Case {
    name: "",
    title: "",
    server: Kind::Nginx,
    scheme: Encryption::Plain,
    path: "/",
    threads: 1,
    reuse: Reuse::KeepAlive,
    unit: Unit::PerRequest,
    against: &[],
};

/// The tools for a server that is faster than its clients.
const OUTRUN: &[(Tool, Option<Target>)] = &[
    (Tool::Wrk, Some(Target::AtMost(0.72))),
    (Tool::Floor, Some(Target::AtMost(1.12))),
    (Tool::FloorNet, None),
    (Tool::Oha, Some(Target::AtMost(0.55))),
];

/// Runs all tools alternately; each round begins with a different one.
///
/// # Errors
/// If the server can't be started, or drumfire or a tool fails.
pub fn measure(case: &Case, settings: &Settings) -> Result<Vec<Line>> {
    let mut tools = vec![(Tool::Drumfire, None)];
    tools.extend(
        settings
            .programs
            .older
            .as_ref()
            .map(|_| (Tool::Older, None)),
    );
    tools.extend(case.against);
    let mut lines = Vec::new();
    tools.retain(|(tool, _)| {
        let installed = tool.is_installed(&settings.programs);
        if !installed {
            lines.push(Line::Absent {
                what: format!("{}: {}", case.title, tool.name()),
                why: "not installed".to_owned(),
            });
        }
        installed
    });
    let server = Server::start(case.server, case.scheme, &settings.programs)?;
    let workload = Workload {
        url: server.url(case.path),
        connections: CONNECTIONS,
        threads: case.threads,
        reuse: case.reuse,
        seconds: settings.seconds,
    };
    let runs = alternate(tools.len(), settings.rounds, |index| {
        run(tools[index].0, &workload, &server, settings)
    })?;
    same_bytes(&tools, &runs)?;
    let title = Title {
        case: case.title,
        unit: case.unit,
        seconds: settings.seconds,
    };
    for ((tool, target), theirs) in tools.iter().zip(&runs) {
        let ours = (*tool != Tool::Drumfire).then_some(runs[0].as_slice());
        let line = title.compare(tool.name(), theirs, ours, *target);
        lines.push(Line::Comparison(line));
    }
    Ok(lines)
}

fn run(tool: Tool, workload: &Workload, server: &Server, settings: &Settings) -> Result<Run> {
    let before = server.cpu();
    let (finished, claim) = tool.run(workload, &settings.programs)?;
    Run::new(&finished, claim, server.cpu() - before)
}

/// Checks that the floor sends the same bytes as drumfire; otherwise it is not a floor.
fn same_bytes(tools: &[(Tool, Option<Target>)], runs: &[Vec<Run>]) -> Result<()> {
    for ((tool, _), of_tool) in tools.iter().zip(runs) {
        let (ours, theirs) = (runs[0][0].request_bytes, of_tool[0].request_bytes);
        // An older drumfire may send another version in its name.
        if *tool != Tool::Older && theirs.is_some() && theirs != ours {
            let words = format!("{} sends {theirs:?} bytes, drumfire {ours:?}", tool.name());
            return Err(Error::other(words));
        }
    }
    Ok(())
}
