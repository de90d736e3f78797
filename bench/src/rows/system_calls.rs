//! System calls per request: the kernel's count at full speed, and the counts by name.
//!
//! Two runs of different length are subtracted, so that the costs of the start cancel out. The
//! number of waits depends on the number of responses that each wait finds, and therefore on which
//! side is faster: a slower server causes more waits. A traced client is slow and finds many
//! responses.

use super::Settings;
use crate::floor::Encryption;
use crate::process::{self, CLIENT_CORE, MemoryWatch, find, pinned};
use crate::server::{Kind, Server};
use crate::table::{Figure, Line, Spread, Target};
use drumfire_units::Nanos;
use std::collections::BTreeMap;
use std::io::{Error, Result};
use std::path::Path;
use std::process::Command;

/// The number of requests in the short and in the long run.
const FEW: u64 = 2_000;
const MANY: u64 = 52_000;

/// The kernel's event for a system call.
const EVENT: &str = "raw_syscalls:sys_enter";

/// Measures with perf and strace, as far as they are installed.
pub(super) fn measure(settings: &Settings) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for kind in [Kind::Answer, Kind::Nginx] {
        if kind == Kind::Nginx && settings.programs.nginx.is_none() {
            continue;
        }
        let server = Server::start(kind, Encryption::Plain, &settings.programs)?;
        let mut figures = Vec::new();
        for _ in 0..settings.rounds {
            let count = |requests| counted(requests, &server, &settings.programs.drumfire);
            figures.push((count(MANY)? - count(FEW)?) / (MANY - FEW) as f64);
        }
        let spread = Spread::from_values(figures);
        lines.push(Line::Figure(Figure {
            what: format!("system calls per request, {}, at full speed", kind.name()),
            value: spread.median,
            unit: format!("({:.3}–{:.3})", spread.min, spread.max),
            target: (kind == Kind::Answer).then_some(Target::AtMost(2.1)),
        }));
    }
    let server = Server::start(Kind::Answer, Encryption::Plain, &settings.programs)?;
    lines.push(by_name(&server, &settings.programs.drumfire)?);
    Ok(lines)
}

/// Runs drumfire under `tool`, with `requests` requests over 64 connections.
fn traced(
    tool: &str,
    flags: &[&str],
    requests: u64,
    url: &str,
    drumfire: &Path,
) -> Result<Command> {
    let missing = || Error::other(format!("{tool} is not installed"));
    let mut command = pinned(CLIENT_CORE, find(tool).ok_or_else(missing)?);
    command.args(flags).arg(drumfire);
    command.args(["http", "--threads=1", "-q", "--json=/dev/null", "-c64"]);
    command.args(["-n", &requests.to_string(), url]);
    Ok(command)
}

/// All system calls of a run, counted by the kernel.
fn counted(requests: u64, server: &Server, drumfire: &Path) -> Result<f64> {
    let flags = ["stat", "-x,", "-e", EVENT];
    let url = server.url("/");
    let mut command = traced("perf", &flags, requests, &url, drumfire)?;
    let finished = process::run(&mut command, Nanos::from_secs(60), MemoryWatch::Nothing)?;
    let line = finished.stderr.lines().find(|line| line.contains(EVENT));
    line.and_then(|line| line.split(',').next()?.parse().ok())
        .ok_or_else(|| Error::other(format!("perf printed: {}", finished.stderr)))
}

/// The frequent calls, each per request.
fn by_name(server: &Server, drumfire: &Path) -> Result<Line> {
    let url = server.url("/");
    let calls = |requests| -> Result<BTreeMap<String, f64>> {
        let flags = ["-f", "-c", "-U", "calls,name"];
        let mut command = traced("strace", &flags, requests, &url, drumfire)?;
        let finished = process::run(&mut command, Nanos::from_secs(120), MemoryWatch::Nothing)?;
        Ok(table(&finished.stderr))
    };
    let (few, many) = (calls(FEW)?, calls(FEW + 10_000)?);
    let mut total = 0.0;
    let mut names = Vec::new();
    for (name, count) in &many {
        let each = (count - few.get(name).unwrap_or(&0.0)) / 10_000.0;
        if each >= 0.001 {
            total += each;
            names.push(format!("{name} {each:.3}"));
        }
    }
    Ok(Line::Figure(Figure {
        what: "system calls per request, `answer`, traced".to_owned(),
        value: total,
        unit: format!("({})", names.join(", ")),
        target: None,
    }))
}

/// strace's table of counts and names; its last line is the total.
fn table(text: &str) -> BTreeMap<String, f64> {
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let count = words.next()?.parse().ok()?;
        let name = words.next()?.to_owned();
        (name != "total").then_some((name, count))
    };
    text.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn straces_table_is_read_without_its_total() {
        let text = "    calls syscall\n--------- ----------------\n       12 recvfrom\n\
                            3 epoll_wait\n--------- ----------------\n       15 total\n";
        let rows: Vec<_> = table(text).into_iter().collect();
        let row = |name: &str, count| (name.to_owned(), count);
        assert_eq!(rows, [row("epoll_wait", 3.0), row("recvfrom", 12.0)]);
    }
}
