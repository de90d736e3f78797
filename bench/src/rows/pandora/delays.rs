//! Tens of thousands of users who wait for a slow server: whether the schedule is kept, whether any
//! request times out that should not, and the memory per user.
//!
//! A process can have as many users as its descriptor limit allows connections. If that is too few,
//! several processes run concurrently on the clients' core, each with a separate server at a
//! different loopback address, and with its share of the rate.

use super::plans;
use crate::process::{self, Group, MemoryWatch};
use crate::rows::Settings;
use crate::server::Server;
use crate::summary::Summary;
use crate::table::{Figure, Line, Target};
use drumfire_net::raise_descriptor_limit;
use drumfire_units::Nanos;
use std::io::Result;
use std::net::Ipv4Addr;

/// A case.
#[derive(Debug)]
pub(super) struct Case {
    /// The server's delay in milliseconds.
    delay: u64,
    /// Requests per second.
    rate: u64,
    /// The number of users, which exceeds the number of busy ones: a user with a late answer does
    /// not delay the schedule.
    users: u64,
    /// The length of a run, in seconds.
    seconds: u64,
    shape: Shape,
    /// The maximum resident memory per additional user, in kB.
    growth_max: Option<f64>,
}

/// The work of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// GET, on a separate connection.
    Plain,
    /// Two steps in the shop on a separate connection, with variables, cookies and a feed.
    Scenario,
    /// GET, on a stream of a connection that 100 users share.
    Streams,
}

pub(super) const MS_50: Case = Case {
    delay: 50,
    rate: 30_000,
    users: 3_000,
    seconds: 10,
    shape: Shape::Plain,
    growth_max: None,
};

pub(super) const MS_500: Case = Case {
    delay: 500,
    users: 30_000,
    ..MS_50
};

pub(super) const S_1: Case = Case {
    delay: 1_000,
    rate: 50_000,
    users: 55_000,
    ..MS_50
};

pub(super) const S_10: Case = Case {
    delay: 10_000,
    rate: 5_000,
    users: 52_000,
    seconds: 25,
    growth_max: Some(1.5),
    ..MS_50
};

pub(super) const S_10_SCENARIO: Case = Case {
    seconds: 40,
    shape: Shape::Scenario,
    growth_max: Some(6.0),
    ..S_10
};

pub(super) const S_10_HTTP2: Case = Case {
    shape: Shape::Streams,
    ..S_10
};

/// The source addresses of connections. If more connections go from one address to one server than
/// half of the ephemeral ports, Linux searches all of that half before it finds a port in the
/// other: a millisecond for each.
const SOURCES: &str = "127.0.1.1, 127.0.1.2, 127.0.1.3, 127.0.1.4";

/// The number of users that share an HTTP/2 connection.
const STREAMS: u64 = 100;

/// The number of descriptors that a process needs in addition to its connections.
const RESERVED: u64 = 500;

/// The number of users in the reference run for the growth per user.
const FEW: u64 = 10;

impl Case {
    fn connections(&self) -> u64 {
        match self.shape {
            Shape::Plain | Shape::Scenario => self.users,
            Shape::Streams => self.users.div_ceil(STREAMS),
        }
    }

    fn title(&self, processes: usize) -> String {
        let shape = match self.shape {
            Shape::Plain => "GET",
            Shape::Scenario => "a scenario with variables and cookies",
            Shape::Streams => "GET over HTTP/2, 100 streams per connection",
        };
        let processes = match processes {
            1 => "1 process".to_owned(),
            n => format!("{n} processes"),
        };
        format!(
            "{} ms delay, {}/s, {} users in {processes}, {shape}",
            self.delay, self.rate, self.users
        )
    }

    /// The number of requests in an iteration.
    fn steps(&self) -> u64 {
        match self.shape {
            Shape::Plain | Shape::Streams => 1,
            Shape::Scenario => 2,
        }
    }

    /// The load of one process.
    fn pool(&self, users: u64, rate: u64) -> String {
        let iterations = rate / self.steps();
        let connections = match self.shape {
            Shape::Plain | Shape::Scenario => users,
            Shape::Streams => users.div_ceil(STREAMS),
        };
        let load = format!(
            "users: {users}\nrate: {iterations}/s\nconnections: {connections}\ntimeout: 60s\n\
             source_ip: [ {SOURCES} ]\n"
        );
        let rest = match self.shape {
            Shape::Plain => "requests: [ { get: / } ]",
            Shape::Streams => "http: 2\nstreams: 100\nrequests: [ { get: / } ]",
            Shape::Scenario => SHOP,
        };
        load + rest
    }
}

/// Each user logs in, and requests the cart with the received token and cookie.
const SHOP: &str = "session: user
cookies: user
scenario:
  - post: /shop/login
    name: log in
    json: { user: \"{{ people.name }}\", password: \"{{ people.name }}-pw\" }
    take: { token: json $.token, type: header Content-Type }
  - get: \"/shop/cart?type={{ type | urlencode }}\"
    name: cart
    headers: { Authorization: \"Bearer {{ token }}\", X-Shop-User: \"{{ people.name }}\" }";

/// Divides a number into parts that differ by at most one.
fn shares(whole: u64, parts: u64) -> impl Iterator<Item = u64> {
    (0..parts).map(move |part| whole * (part + 1) / parts - whole * part / parts)
}

/// Finished clients that ran concurrently, and their summaries.
struct MeasuredClients {
    group: Group,
    summaries: Vec<Summary>,
}

impl MeasuredClients {
    fn sum(&self, count: &str) -> Result<f64> {
        let counts = self.summaries.iter().map(|summary| summary.count(count));
        counts.map(|count| Ok(count? as f64)).sum()
    }

    fn worst(&self, latency: &str, figure: &str) -> Result<f64> {
        let micros = |summary: &Summary| summary.micros(latency, figure);
        self.summaries
            .iter()
            .try_fold(0.0, |worst: f64, summary| Ok(worst.max(micros(summary)?)))
    }

    /// The sum of the peaks, in kB.
    fn peak(&self) -> f64 {
        let peaks = self.group.members.iter().map(|member| member.peak_bytes);
        peaks.sum::<u64>() as f64 / 1e3
    }
}

/// Starts a server for each process, and runs them.
pub(super) fn measure(case: &Case, settings: &Settings) -> Result<Vec<Line>> {
    let limit = raise_descriptor_limit().unwrap_or(1024);
    let processes = case.connections().div_ceil(limit.saturating_sub(RESERVED));
    let delay = format!("const:{}ms", case.delay);
    let servers: Result<Vec<Server>> = (1..=processes)
        .map(|host| {
            let ip = Ipv4Addr::new(127, 0, 0, u8::try_from(host).unwrap_or(u8::MAX));
            let flags = ["--delay", &delay, "--shop"];
            Server::serving(ip, &flags, &settings.programs)
        })
        .collect();
    let servers = servers?;
    let loads: Vec<(u64, u64)> = shares(case.users, processes)
        .zip(shares(case.rate / case.steps(), processes).map(|rate| rate * case.steps()))
        .collect();
    let all = run(case, &loads, &servers, settings)?;
    let mut lines = figures(case, &all)?;
    let Some(growth_max) = case.growth_max else {
        return Ok(lines);
    };
    let few = run(case, &[(FEW, case.steps())], &servers[..1], settings)?;
    let more = case.users - processes * FEW;
    lines.push(Line::Figure(Figure {
        what: format!("{}: growth per user", case.title(servers.len())),
        value: (all.peak() - few.peak() * processes as f64) / more as f64,
        unit: "kB".to_owned(),
        target: Some(Target::AtMost(growth_max)),
    }));
    Ok(lines)
}

/// Runs a process for each pair of users and rate.
fn run(
    case: &Case,
    loads: &[(u64, u64)],
    servers: &[Server],
    settings: &Settings,
) -> Result<MeasuredClients> {
    let mut commands = Vec::new();
    for ((users, rate), server) in loads.iter().zip(servers) {
        plans::write_people(server.folder())?;
        let pool = case.pool(*users, *rate);
        let stop = format!("after: {}s", case.seconds);
        let text = plans::plan(&server.url(""), &pool, &stop);
        let plan = plans::write(server.folder(), "plan.yaml", &text)?;
        commands.push(plans::run(&settings.programs.drumfire, &plan));
    }
    let limit = Nanos::from_secs(case.seconds + 120);
    let group = process::run_together(&mut commands, limit, MemoryWatch::Memory)?;
    let summaries = group.members.iter().map(|member| &member.stdout);
    let summaries: Result<Vec<Summary>> = summaries.map(|text| Summary::parse(text)).collect();
    Ok(MeasuredClients {
        group,
        summaries: summaries?,
    })
}

fn figures(case: &Case, all: &MeasuredClients) -> Result<Vec<Line>> {
    let title = case.title(all.summaries.len());
    let mut lines = Vec::new();
    let mut figure = |what: &str, value: f64, unit: String, target| {
        lines.push(Line::Figure(Figure {
            what: format!("{title}: {what}"),
            value,
            unit,
            target,
        }));
    };
    let intended = (case.rate / case.steps() * case.steps() * case.seconds) as f64;
    let sent = all.sum("sent")?;
    let none = Some(Target::Exactly(0.0));
    figure(
        "sent minus due",
        sent - intended,
        format!("of {intended:.0}"),
        none,
    );
    let bad = sent - all.sum("ok")?;
    let timed_out = format!("({:.0} timed out)", all.sum("timed_out")?);
    figure("sent but not ok", bad, timed_out, none);
    let opened: u64 = all.summaries.iter().map(Summary::opened).sum();
    figure("connections", opened as f64, String::new(), None);
    let delay = case.delay as f64 * 1e3;
    let beyond = (all.worst("response_time", "0.99")? - delay) / 1e3;
    let unit = "ms (of the worst process)".to_owned();
    figure("response time p99 minus the delay", beyond, unit, None);
    let unit = "µs (of the worst process)".to_owned();
    figure("lag p99.9", all.worst("lag", "0.999")?, unit, None);
    let cpu = (all.group.user + all.group.system).as_secs_f64();
    let unit = "µs/request".to_owned();
    figure("client CPU", cpu * 1e6 / sent, unit, None);
    let users = case.users as f64;
    figure(
        "all memory ÷ users",
        all.peak() / users,
        "kB".to_owned(),
        None,
    );
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::{S_10_SCENARIO, shares};

    #[test]
    fn shares_make_the_whole() {
        assert_eq!(
            shares(50_000, 3).collect::<Vec<_>>(),
            [16_666, 16_667, 16_667]
        );
        assert_eq!(shares(7, 1).collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn an_iteration_of_two_steps_has_half_the_rate() {
        assert!(S_10_SCENARIO.pool(10, 100).contains("rate: 50/s\n"));
    }
}
