//! GET of 1 kB from nginx, compared with Pandora itself if it is given.

use super::contest::{Contender, CountedBy, absent, difference, hold};
use super::plans;
use crate::claim;
use crate::floor::Encryption;
use crate::process::{CLIENT_CORE, pinned};
use crate::rounds::{Run, Title, Unit};
use crate::rows::Settings;
use crate::server::{Kind, Server};
use crate::table::{Figure, Line, Spread, Target};
use crate::tool::{Reuse, Tool, Workload};
use std::io::Result;
use std::process::Command;

/// The number of connections, and of Pandora's instances.
const CONNECTIONS: u32 = 64;

/// A case.
#[derive(Debug)]
pub(super) struct Case {
    title: &'static str,
    reuse: Reuse,
    /// The maximum share of Pandora's cost.
    target: f64,
}

pub(super) const KEEP_ALIVE: Case = Case {
    title: "GET, keep-alive, 1 kB, nginx",
    reuse: Reuse::KeepAlive,
    target: 0.167,
};

pub(super) const CLOSE: Case = Case {
    title: "GET, `Connection: close`, 1 kB, nginx",
    reuse: Reuse::Close,
    target: 1.0,
};

/// Measures drumfire, its Pandora dialect, Pandora, the floor, and an older drumfire if it is
/// given.
pub(super) fn measure(case: &Case, settings: &Settings) -> Result<Vec<Line>> {
    let programs = &settings.programs;
    let server = Server::start(Kind::Nginx, Encryption::Plain, programs)?;
    let mut contenders = contenders(case, &server, settings)?;
    let runs = hold(&mut contenders, &server, settings)?;
    let title = Title {
        case: case.title,
        unit: Unit::PerRequest,
        seconds: settings.seconds,
    };
    let mut lines = Vec::new();
    for (index, (contender, theirs)) in contenders.iter().zip(&runs).enumerate() {
        let ours = (index > 0).then_some(runs[0].as_slice());
        let line = title.compare(contender.name, theirs, ours, contender.target);
        lines.push(Line::Comparison(line));
    }
    let what = |words: &str| format!("{}: {words}", case.title);
    let more = what("extra cost of `drumfire pandora` over `drumfire http`");
    lines.push(difference(more, &runs[1], &runs[0], None));
    match programs.pandora {
        None => lines.push(absent(case.title, "pandora")),
        Some(_) => lines.extend(bounds(case, &runs)),
    }
    if case.reuse == Reuse::Close {
        let shares = runs[0]
            .iter()
            .map(|run| run.client_nanos / run.server_nanos);
        let spread = Spread::from_values(shares);
        lines.push(Line::Figure(Figure {
            what: what("drumfire's CPU ÷ nginx's; below 1, nginx's core saturates first"),
            value: spread.median,
            unit: spread.ends(),
            target: Some(Target::AtMost(1.0)),
        }));
    }
    Ok(lines)
}

/// The parts of Pandora's cost: every client needs the kernel's part, so a client that does nothing
/// bounds the ratio from below.
fn bounds(case: &Case, runs: &[Vec<Run>]) -> Vec<Line> {
    let figure = |what: &str, spread: Spread| {
        Line::Figure(Figure {
            what: format!("{}: {what}", case.title),
            value: spread.median,
            unit: spread.ends(),
            target: None,
        })
    };
    let over = |above: usize, below: usize, of: fn(&Run) -> f64| {
        let pairs = runs[above].iter().zip(&runs[below]);
        Spread::from_values(pairs.map(|(a, b)| of(a) / of(b)))
    };
    let user = over(DRUMFIRE, PANDORA, |run| run.client_nanos * run.user_share);
    let kernel = over(DRUMFIRE, PANDORA, |run| {
        run.client_nanos * (1.0 - run.user_share)
    });
    let floor = over(FLOOR, PANDORA, |run| run.client_nanos);
    vec![
        figure("drumfire ÷ Pandora, user space only", user),
        figure("drumfire ÷ Pandora, kernel only", kernel),
        figure("floor ÷ Pandora", floor),
    ]
}

/// The indices of the contenders, if Pandora is given.
const DRUMFIRE: usize = 0;
const PANDORA: usize = 2;
const FLOOR: usize = 3;

fn contenders(case: &Case, server: &Server, settings: &Settings) -> Result<Vec<Contender>> {
    let programs = &settings.programs;
    let workload = Workload {
        url: server.url("/1k"),
        connections: CONNECTIONS,
        threads: 1,
        reuse: case.reuse,
        seconds: settings.seconds,
    };
    let mut contenders = vec![Contender {
        name: "drumfire",
        command: Tool::Drumfire.command(&workload, programs)?,
        count: CountedBy::Printed(claim::drumfire),
        target: None,
    }];
    let file = configuration(case, server, settings.seconds);
    let file = plans::write(server.folder(), "pandora.yaml", &file)?;
    let mut dialect = pinned(CLIENT_CORE, &programs.drumfire);
    dialect.arg("pandora").arg(&file);
    let mut with = |name, command: Command, target| {
        contenders.push(Contender {
            name,
            command,
            count: CountedBy::Nginx,
            target,
        });
    };
    with("drumfire pandora", dialect, None);
    if let Some(program) = &programs.pandora {
        let mut command = pinned(CLIENT_CORE, program);
        command.arg(&file);
        with("Pandora", command, Some(Target::AtMost(case.target)));
    }
    contenders.push(Contender {
        name: "floor",
        command: Tool::Floor.command(&workload, programs)?,
        count: CountedBy::Printed(claim::floor),
        target: None,
    });
    if programs.older.is_some() {
        contenders.push(Contender {
            name: Tool::Older.name(),
            command: Tool::Older.command(&workload, programs)?,
            count: CountedBy::Printed(claim::drumfire),
            target: None,
        });
    }
    Ok(contenders)
}

/// Pandora's configuration of the same load. The results are discarded.
fn configuration(case: &Case, server: &Server, seconds: u32) -> String {
    let closing = case.reuse == Reuse::Close;
    format!(
        "pools:\n  - id: load\n    gun: {{ type: http, target: \"{}\", disable-keep-alives: \
         {closing} }}\n    ammo: {{ type: uri, uris: [\"/1k\"] }}\n    result: {{ type: discard }}\n    \
         rps: [ {{ type: unlimited, duration: {seconds}s }} ]\n    \
         startup: {{ type: once, times: {CONNECTIONS} }}\nlog: {{ level: error }}\n",
        server.address()
    )
}
