//! What a request costs each tool: runs made alternately, compared round by round.

use super::Settings;
use crate::floor::Scheme;
use crate::server::{Kind, Server};
use crate::table::{Comparison, Line, Spread, Target};
use crate::tool::{Reuse, Tool, Workload};
use std::io::{Error, Result};

/// Connections of every case.
const CONNECTIONS: u32 = 64;

/// One case: a server, what is asked of it, and who asks.
#[derive(Debug)]
pub struct Case {
    /// What `--only` calls it.
    pub name: &'static str,
    /// What the table says of it.
    title: &'static str,
    server: Kind,
    scheme: Scheme,
    path: &'static str,
    reuse: Reuse,
    unit: Unit,
    /// The tools beside drumfire, and what the ratio to each must reach.
    against: &'static [(Tool, Option<Target>)],
}

/// What is divided.
#[derive(Clone, Copy, Debug)]
enum Unit {
    /// CPU time by requests.
    PerRequest,
    /// Bytes of so large bodies by CPU time.
    Bytes(f64),
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
        name: "answer",
        title: "keep-alive, 100 B, a server that does the least",
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
        name: "tls",
        title: "HTTPS keep-alive, 100 B, nginx",
        scheme: Scheme::Tls,
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
        scheme: Scheme::Tls,
        unit: Unit::Bytes(10e3),
        against: &[(Tool::Wrk, AT_LEAST_WRK)],
        ..PLAIN
    },
    Case {
        name: "tls-100k",
        title: "HTTPS, 100 kB, nginx",
        path: "/100k",
        scheme: Scheme::Tls,
        unit: Unit::Bytes(100e3),
        against: &[(Tool::Wrk, AT_LEAST_WRK)],
        ..PLAIN
    },
];

/// What most cases share.
const PLAIN: Case = Case {
    name: "",
    title: "",
    server: Kind::Nginx,
    scheme: Scheme::Plain,
    path: "/",
    reuse: Reuse::KeepAlive,
    unit: Unit::PerRequest,
    against: &[],
};

/// Against a server that outruns its clients.
const OUTRUN: &[(Tool, Option<Target>)] = &[
    (Tool::Wrk, Some(Target::AtMost(0.72))),
    (Tool::Floor, Some(Target::AtMost(1.12))),
    (Tool::FloorNet, None),
    (Tool::Oha, Some(Target::AtMost(0.55))),
];

/// One run of one tool.
#[derive(Clone, Copy, Debug)]
struct Run {
    requests: u64,
    failed: u64,
    request_bytes: Option<u64>,
    /// Per request.
    client_nanos: f64,
    user_share: f64,
    server_nanos: f64,
}

impl Unit {
    /// A run's figure: for [`Unit::PerRequest`] less is better, for [`Unit::Bytes`] more.
    fn figure(self, run: &Run) -> f64 {
        match self {
            Self::PerRequest => run.client_nanos,
            Self::Bytes(each) => each * 1e9 / run.client_nanos,
        }
    }

    fn print(self, figure: f64) -> String {
        match self {
            Self::PerRequest => format!("{:.2} µs/request", figure / 1e3),
            Self::Bytes(_) => format!("{:.0} MB per CPU second", figure / 1e6),
        }
    }
}

/// Runs all tools alternately, each round beginning with another one.
///
/// # Errors
/// When the server can't be started, or drumfire or a tool fails.
pub fn measure(case: &Case, settings: &Settings) -> Result<Vec<Line>> {
    let mut tools = vec![(Tool::Drumfire, None)];
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
        reuse: case.reuse,
        seconds: settings.seconds,
    };
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); tools.len()];
    for round in 0..settings.rounds as usize {
        for step in 0..tools.len() {
            let index = (round + step) % tools.len();
            runs[index].push(run(tools[index].0, &workload, &server, settings)?);
        }
    }
    same_bytes(&tools, &runs)?;
    for (index, (tool, target)) in tools.iter().enumerate() {
        let line = compare(case, *tool, *target, [&runs[0], &runs[index]], settings);
        lines.push(Line::Comparison(line));
    }
    Ok(lines)
}

fn run(tool: Tool, workload: &Workload, server: &Server, settings: &Settings) -> Result<Run> {
    let before = server.cpu();
    let (finished, claim) = tool.run(workload, &settings.programs)?;
    let served = server.cpu() - before;
    if claim.requests == 0 {
        let words = format!("{} made no request: {}", tool.name(), finished.stderr);
        return Err(Error::other(words));
    }
    let requests = claim.requests as f64;
    Ok(Run {
        requests: claim.requests,
        failed: claim.failed,
        request_bytes: claim.request_bytes,
        client_nanos: finished.cpu().0 as f64 / requests,
        user_share: finished.user.0 as f64 / finished.cpu().0.max(1) as f64,
        server_nanos: served.0 as f64 / requests,
    })
}

/// A floor that sends other bytes than drumfire is none.
fn same_bytes(tools: &[(Tool, Option<Target>)], runs: &[Vec<Run>]) -> Result<()> {
    for ((tool, _), of_tool) in tools.iter().zip(runs) {
        let (ours, theirs) = (runs[0][0].request_bytes, of_tool[0].request_bytes);
        if theirs.is_some() && theirs != ours {
            let words = format!("{} sends {theirs:?} bytes, drumfire {ours:?}", tool.name());
            return Err(Error::other(words));
        }
    }
    Ok(())
}

/// A tool's line; `runs` are drumfire's and the tool's.
fn compare(
    case: &Case,
    tool: Tool,
    target: Option<Target>,
    runs: [&[Run]; 2],
    settings: &Settings,
) -> Comparison {
    let [ours, theirs] = runs;
    let figure = |run: &Run| case.unit.figure(run);
    let median = |of: fn(&Run) -> f64| Spread::of(theirs.iter().map(of)).median;
    let pairs = ours.iter().zip(theirs);
    let ratio = Spread::of(pairs.map(|(a, b)| figure(a) / figure(b)));
    let seconds = f64::from(settings.seconds);
    Comparison {
        case: case.title.to_owned(),
        tool: tool.name(),
        rate: Spread::of(theirs.iter().map(|run| run.requests as f64 / seconds)),
        cost: case
            .unit
            .print(Spread::of(theirs.iter().map(figure)).median),
        user_share: median(|run| run.user_share),
        server_micros: median(|run| run.server_nanos) / 1e3,
        ratio: (tool != Tool::Drumfire).then_some(ratio),
        target,
        failed: theirs.iter().map(|run| run.failed).sum(),
    }
}
