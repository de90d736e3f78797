//! A very large number of connections at once, each with a request that waits for its response.

use crate::support::program::{PATH, neutral, words};
use crate::support::{PATIENCE, Process, Report, alone, lab};
use rustix::process::{Resource, getrlimit};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The number of connections that the server promises to hold.
const MANY: u64 = 50_000;

/// The number of descriptors that a process needs besides its connections.
const SPARE: u64 = 100;

/// The kernel first tries every second port of an address. After half of the ports are used,
/// finding one is slow.
const PORTS: u64 = 14_000;

/// The rate per second. The server keeps each request so long that the last one is sent while the
/// first one still waits.
const RATE: u64 = 10_000;

/// The maximum time to open all connections on a busy machine.
const OPENING: Duration = Duration::from_secs(180);

/// The number of connections that this machine allows for two processes, and a `prlimit` command if
/// their limit must be raised.
fn allowed() -> (u64, Option<String>) {
    let wanted = MANY + SPARE;
    let hard = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    if hard >= wanted {
        return (MANY, None);
    }
    let raise = lab::find("prlimit").map(|prlimit| format!("{prlimit} --nofile={wanted}:{wanted}"));
    match raise {
        Some(raise) if raised(&raise, "true") => (MANY, Some(raise)),
        _ => {
            let fewer = hard - SPARE;
            eprintln!("{fewer} connections in place of {MANY}: the limit of descriptors is {hard}");
            (fewer, None)
        }
    }
}

fn raised(raise: &str, program: &str) -> bool {
    let words = words(raise);
    lab::run(Command::new(&words[0]).args(&words[1..]).arg(program))
}

/// Starts `drumfire`, with a raised limit if needed.
fn start(raise: Option<&str>, line: &str) -> Process {
    let line = format!("{} {PATH} {line}", raise.unwrap_or_default());
    let words = words(&line);
    let mut command = neutral(Command::new(&words[0]));
    Process::start(command.args(&words[1..]))
}

fn descriptors(process: &Process) -> u64 {
    std::fs::read_dir(format!("/proc/{}/fd", process.id())).map_or(0, |names| names.count() as u64)
}

#[test]
fn a_server_and_a_client_hold_fifty_thousand_connections() {
    let _turn = alone();
    let (count, raise) = allowed();
    let raise = raise.as_deref();
    let delay = count / RATE + 5;
    let serve = start(
        raise,
        &format!("serve -l 127.0.0.1:0 --delay const:{delay}s"),
    );
    let url = serve.first_line(PATIENCE);
    let empty = serve.memory_most().unwrap();
    let sources: Vec<String> = (0..count.div_ceil(PORTS))
        .map(|n| format!("127.0.0.{}", n + 2))
        .collect();
    let http = format!(
        "http --json - -c {count} -n {count} -r {RATE}/s --timeout 4m --connect-timeout 2m --source-ip {} {url}",
        sources.join(",")
    );
    let client = start(raise, &http);
    let end = Instant::now() + OPENING;
    while descriptors(&serve) < count {
        assert!(Instant::now() < end, "{} connections", descriptors(&serve));
        sleep(Duration::from_millis(100));
    }
    // The connections are open; their requests follow at the given rate.
    sleep(Duration::from_secs(count / RATE + 2));
    let (server_bytes, client_bytes) = (
        serve.memory_most().unwrap() - empty,
        client.memory_most().unwrap(),
    );
    let report = Report::from_run(client.finish(Duration::from_secs(300)));
    report.balances();
    assert_eq!(report.n("requests.ok"), count, "{:#}", report.short());
    assert_eq!(report.n("generator.connections_opened"), count);
    let (server_each, client_each) = (server_bytes / count, client_bytes / count);
    eprintln!("{count} connections: {server_each} bytes each in serve, {client_each} in http");
    assert!(server_each < 2_048, "{server_each} bytes a connection");
    assert!(client_each < 4_096, "{client_each} bytes a connection");
}
