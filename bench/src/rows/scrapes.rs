//! The effect of frequent metrics fetches on the lag of a run.

use super::Settings;
use crate::floor::Encryption;
use crate::process::{self, CLIENT_CORE, MemoryWatch, pinned};
use crate::server::{Kind, Server};
use crate::table::{Figure, Line, Spread, Target};
use drumfire_units::Nanos;
use serde_json::Value;
use std::io::{Error, Read as _, Result, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// The number of connections.
const CONNECTIONS: &str = "50";
/// The time between two fetches.
const EVERY: Duration = Duration::from_millis(100);
/// The timeout of a fetch.
const PATIENCE: Duration = Duration::from_secs(2);
/// The maximum difference of the lag's 99th percentile, in percent.
const LAG_MAX: f64 = 5.0;

/// The lag of runs whose metrics are fetched and of runs without metrics, alternating.
pub(super) fn measure(settings: &Settings) -> Result<Vec<Line>> {
    let server = Server::start(Kind::Serve, Encryption::Plain, &settings.programs)?;
    let (mut plain, mut changes, mut fetches) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..settings.rounds {
        let scraped = || scraped(&server, settings);
        let bare = || lag(&server, None, settings);
        // The order alternates.
        let ((with, fetched), without) = if round % 2 == 0 {
            let with = scraped()?;
            (with, bare()?)
        } else {
            let without = bare()?;
            (scraped()?, without)
        };
        plain.push(without / 1e3);
        changes.push((with / without - 1.0) * 100.0);
        fetches.push(fetched as f64 / f64::from(settings.seconds));
    }
    let (rate, seconds, rounds) = (settings.rate, settings.seconds, settings.rounds);
    let what = format!("{rate} requests/s for {seconds} s, {rounds} rounds");
    let figure = |name: String, value: f64, unit: &str, target| {
        Line::Figure(Figure {
            what: format!("{what}: {name}"),
            value,
            unit: unit.to_owned(),
            target,
        })
    };
    let change = Spread::from_values(changes);
    Ok(vec![
        figure(
            "lag p99 without a metrics page".to_owned(),
            Spread::from_values(plain).median,
            "µs",
            None,
        ),
        figure(
            "fetches".to_owned(),
            Spread::from_values(fetches).median,
            "per second",
            None,
        ),
        figure(
            format!(
                "increase of lag p99 by fetches ({:.1} to {:.1} %)",
                change.min, change.max
            ),
            change.median,
            "%",
            Some(Target::AtMost(LAG_MAX)),
        ),
    ])
}

/// The lag of a run whose metrics are fetched, and the number of fetches.
fn scraped(server: &Server, settings: &Settings) -> Result<(f64, u64)> {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let page = free.local_addr()?;
    drop(free);
    let (is_over, fetched) = (AtomicBool::new(false), AtomicU64::new(0));
    let lag = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                // The run has no metrics page before its start and after its end.
                let whole = fetch(page).is_ok_and(|text| text.contains("# EOF"));
                fetched.fetch_add(u64::from(whole), Ordering::Relaxed);
                thread::sleep(EVERY);
            }
        });
        let lag = lag(server, Some(page), settings);
        is_over.store(true, Ordering::Relaxed);
        lag
    })?;
    let fetched = fetched.into_inner();
    // A tenth of the fetches may be missed, for the start and end of the run.
    let least = u64::from(settings.seconds) * 8;
    match fetched >= least {
        true => Ok((lag, fetched)),
        false => Err(Error::other(format!(
            "the page was fetched {fetched} times, not {least}"
        ))),
    }
}

fn fetch(page: SocketAddr) -> Result<String> {
    let mut stream = TcpStream::connect_timeout(&page, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let accept = "application/openmetrics-text; version=1.0.0";
    write!(
        stream,
        "GET /metrics HTTP/1.1\r\nHost: {page}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n"
    )?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}

/// The 99th percentile of a run's lag, in nanoseconds.
fn lag(server: &Server, page: Option<SocketAddr>, settings: &Settings) -> Result<f64> {
    let seconds = u64::from(settings.seconds);
    let mut command = pinned(CLIENT_CORE, &settings.programs.drumfire);
    command.args(["http", "--threads=1", "-q", "--json=-", "--no-store"]);
    command.args(["-c", CONNECTIONS, "-r", &settings.rate.to_string()]);
    command.args(["-z", &format!("{seconds}s")]);
    if let Some(page) = page {
        command.args(["--metrics", &page.to_string()]);
    }
    command.arg(server.url("/"));
    let limit = Nanos::from_secs(seconds + 60);
    let finished = process::run(&mut command, limit, MemoryWatch::Nothing)?;
    let summary: Value = serde_json::from_str(&finished.stdout).unwrap_or_default();
    summary["latency"]["lag"]["quantiles"]["0.99"]
        .as_f64()
        .ok_or_else(|| Error::other(format!("{command:?} printed: {}", finished.stdout)))
}
