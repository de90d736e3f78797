//! A long run: whether it needs more and more memory or descriptors, and the cost of storing it.

use super::Settings;
use crate::claim;
use crate::floor::Encryption;
use crate::process::{self, CLIENT_CORE, Finished, MemoryWatch, pinned};
use crate::server::{Kind, Server};
use crate::table::{Figure, Line, Spread, Target};
use drumfire_units::Nanos;
use std::io::{Error, Result};
use std::path::Path;
use std::process::Command;

/// The number of connections.
const CONNECTIONS: &str = "50";
/// The fraction of the run, here 5 of 30 minutes, after which memory must be constant.
const SETTLED: f64 = 5.0 / 30.0;
/// The maximum length of a run's end, in seconds.
const ENDING: u64 = 5;
/// The maximum change of memory from there on, in MB.
const MOVES_MAX: f64 = 2.0;
/// The maximum cost of storing, in percent of the client's CPU time.
const STORING_MAX: f64 = 2.0;

/// Whether a run is stored.
#[derive(Clone, Copy)]
enum RunStorage<'a> {
    In(&'a Path),
    Nowhere,
}

fn run(
    server: &Server,
    seconds: u64,
    storing: RunStorage<'_>,
    watch: MemoryWatch,
    settings: &Settings,
) -> Result<Finished> {
    let mut command = client(settings, seconds);
    match storing {
        RunStorage::In(folder) => command.arg("-o").arg(folder),
        RunStorage::Nowhere => command.arg("--no-store"),
    };
    command.arg(server.url("/"));
    let finished = process::run(&mut command, Nanos::from_secs(seconds + 60), watch)?;
    let claim = claim::drumfire(&finished.stdout)
        .ok_or_else(|| Error::other(format!("{command:?} printed: {}", finished.stdout)))?;
    let due = settings.rate * seconds;
    match claim.requests * 100 >= due * 99 {
        true => Ok(finished),
        false => Err(Error::other(format!(
            "{} requests of {due} were answered: the machine is too slow or too busy",
            claim.requests
        ))),
    }
}

fn client(settings: &Settings, seconds: u64) -> Command {
    let mut command = pinned(CLIENT_CORE, &settings.programs.drumfire);
    command.args(["http", "--threads=1", "-q", "--json=-", "-c", CONNECTIONS]);
    command.args([
        "-r",
        &settings.rate.to_string(),
        "-z",
        &format!("{seconds}s"),
    ]);
    command
}

/// Memory and descriptors from the time on at which they must be constant.
pub(super) fn long(settings: &Settings) -> Result<Vec<Line>> {
    let server = Server::start(Kind::Serve, Encryption::Plain, &settings.programs)?;
    let minutes = u64::from(settings.minutes);
    let folder = server.folder().join("long");
    let finished = run(
        &server,
        minutes * 60,
        RunStorage::In(&folder),
        MemoryWatch::Memory,
        settings,
    )?;
    let memory = settled(&finished.resident_bytes, minutes)?;
    let descriptors = settled(&finished.descriptors, minutes)?;
    let rate = settings.rate;
    let what = format!("{rate} requests/s for {minutes} min, stored");
    let figure = |name: &str, value: f64, unit: &str, target| {
        Line::Figure(Figure {
            what: format!("{what}: {name}"),
            value,
            unit: unit.to_owned(),
            target,
        })
    };
    let flat = |most| Some(Target::AtMost(most));
    Ok(vec![
        figure("resident memory at the end", memory.last / 1e6, "MB", None),
        figure(
            "its range after the first sixth of the run",
            memory.range / 1e6,
            "MB",
            flat(MOVES_MAX),
        ),
        figure(
            "descriptors at the end",
            descriptors.last,
            "descriptors",
            None,
        ),
        figure(
            "their growth after the first sixth of the run",
            descriptors.last - descriptors.first,
            "descriptors",
            flat(0.0),
        ),
        figure(
            "CPU time per request",
            finished.cpu().0 as f64 / 1e3 / (rate * minutes * 60) as f64,
            "µs",
            None,
        ),
    ])
}

/// Repeated readings in the part of a run in which they must be constant.
struct Settled {
    first: f64,
    last: f64,
    range: f64,
}

/// The readings after the first sixth, without the last seconds, which belong to the end of the
/// run: connections are closed, and the report is made.
fn settled(looks: &[u64], minutes: u64) -> Result<Settled> {
    let from = (looks.len() as f64 * SETTLED) as usize;
    let end = looks.len() * ENDING as usize / (minutes * 60) as usize;
    let looks = looks.get(from..looks.len() - end).unwrap_or_default();
    let (Some(first), Some(last)) = (looks.first(), looks.last()) else {
        return Err(Error::other("the run is too short to measure"));
    };
    let spread = Spread::from_values(looks.iter().map(|look| *look as f64));
    Ok(Settled {
        first: *first as f64,
        last: *last as f64,
        range: spread.max - spread.min,
    })
}

/// The client's CPU time of stored runs and of runs that are not stored.
pub(super) fn storing(settings: &Settings) -> Result<Vec<Line>> {
    let server = Server::start(Kind::Serve, Encryption::Plain, &settings.programs)?;
    let seconds = u64::from(settings.seconds);
    let (mut stored, mut ratios) = (Vec::new(), Vec::new());
    for round in 0..settings.rounds {
        let folder = server.folder().join(format!("short-{round}"));
        let cpu = |storing| {
            let finished = run(&server, seconds, storing, MemoryWatch::Nothing, settings)?;
            Ok::<f64, Error>(finished.cpu().0 as f64)
        };
        // The order alternates.
        let (with, without) = if round % 2 == 0 {
            let with = cpu(RunStorage::In(&folder))?;
            (with, cpu(RunStorage::Nowhere)?)
        } else {
            let without = cpu(RunStorage::Nowhere)?;
            (cpu(RunStorage::In(&folder))?, without)
        };
        stored.push(with / 1e6);
        ratios.push((with / without - 1.0) * 100.0);
    }
    let (rate, rounds) = (settings.rate, settings.rounds);
    let what = format!("{rate} requests/s for {seconds} s, {rounds} rounds");
    let Spread { median, min, max } = Spread::from_values(ratios);
    Ok(vec![
        Line::Figure(Figure {
            what: format!("{what}: CPU time when stored"),
            value: Spread::from_values(stored).median,
            unit: "ms".to_owned(),
            target: None,
        }),
        Line::Figure(Figure {
            what: format!("{what}: cost of storing ({min:.1} to {max:.1} %)"),
            value: median,
            unit: "%".to_owned(),
            target: Some(Target::AtMost(STORING_MAX)),
        }),
    ])
}
