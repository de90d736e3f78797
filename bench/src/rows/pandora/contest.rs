//! Clients that run alternately against one server.

use crate::claim::Claim;
use crate::process::{self, MemoryWatch};
use crate::rounds::{Run, alternate};
use crate::rows::Settings;
use crate::server::Server;
use crate::table::{Figure, Line, Spread, Target};
use drumfire_units::Nanos;
use std::io::{Error, Result};
use std::process::Command;

/// How the requests of a client are counted.
#[derive(Clone, Copy, Debug)]
pub(super) enum CountedBy {
    /// The client prints its count.
    Printed(fn(&str) -> Option<Claim>),
    /// nginx counts, for clients that print no count, or an incomplete one.
    Nginx,
}

/// A client.
#[derive(Debug)]
pub(super) struct Contender {
    pub(super) name: &'static str,
    pub(super) command: Command,
    pub(super) count: CountedBy,
    /// The target of the ratio to this client.
    pub(super) target: Option<Target>,
}

/// Runs all contenders alternately; returns each one's runs.
pub(super) fn hold(
    contenders: &mut [Contender],
    server: &Server,
    settings: &Settings,
) -> Result<Vec<Vec<Run>>> {
    let limit = Nanos::from_secs(u64::from(settings.seconds) + 60);
    alternate(contenders.len(), settings.rounds, |index| {
        let Contender { command, count, .. } = &mut contenders[index];
        let counted = match count {
            CountedBy::Nginx => server.requests()?,
            CountedBy::Printed(_) => 0,
        };
        let before = server.cpu();
        let finished = process::run(command, limit, MemoryWatch::Nothing)?;
        let served = server.cpu() - before;
        let claim = match count {
            CountedBy::Printed(parse) => parse(&finished.stdout)
                .ok_or_else(|| Error::other(format!("{command:?} printed: {}", finished.stdout)))?,
            // The second query counts itself; the first is part of the previous count.
            CountedBy::Nginx => Claim {
                requests: server.requests()?.saturating_sub(counted + 1),
                failed: 0,
                request_bytes: None,
            },
        };
        Run::new(&finished, claim, served)
    })
}

/// The additional cost of a request of `more` over `less`, round by round, in microseconds.
pub(super) fn difference(what: String, more: &[Run], less: &[Run], target: Option<Target>) -> Line {
    let pairs = more.iter().zip(less);
    let spread = Spread::from_values(pairs.map(|(a, b)| (a.client_nanos - b.client_nanos) / 1e3));
    Line::Figure(Figure {
        what,
        value: spread.median,
        unit: format!("µs/request {}", spread.ends()),
        target,
    })
}

/// A line for a missing client.
pub(super) fn absent(case: &str, tool: &str) -> Line {
    Line::Absent {
        what: format!("{case}: {tool}"),
        why: format!("not measured: no `--{tool} FILE`"),
    }
}
