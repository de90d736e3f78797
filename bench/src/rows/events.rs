//! Event streams: the CPU time of an event, and the memory of a stream that is open and silent.

use super::Settings;
use crate::machine;
use crate::process::{self, CLIENT_CORE, Finished, MemoryWatch, pinned};
use crate::server::Server;
use crate::summary::Summary;
use crate::table::{Figure, Line, Spread, Target};
use drumfire_units::Nanos;
use std::io::{Error, Result};
use std::net::Ipv4Addr;

/// The streams of a run that measures CPU time.
const STREAMS: u32 = 1_000;
/// Events per second in each of these streams.
const EVENTS_PER_S: u32 = 100;
/// The size of an event's data, in bytes.
const EVENT_BYTES: u32 = 250;
/// The streams that are open at the same time and silent, if the limit of descriptors allows it.
const IDLE: u32 = 50_000;
/// How long these streams last, in seconds: the time to open all of them, and a few seconds more.
const IDLE_SECONDS: u64 = 20;

/// Measures the CPU time of events.
pub(super) fn measure(settings: &Settings) -> Result<Vec<Line>> {
    let server = Server::serving(Ipv4Addr::LOCALHOST, &[], &settings.programs)?;
    let rate = STREAMS * EVENTS_PER_S;
    let mut runs = Vec::new();
    for _ in 0..settings.rounds {
        runs.push(run(&server, settings)?);
    }
    let spread = |of: fn(&Run) -> f64| Spread::from_values(runs.iter().map(of));
    let figure = |what: &str, spread: Spread, target| {
        Line::Figure(Figure {
            what: format!("{rate} events/s of {EVENT_BYTES} B over {STREAMS} streams: {what}"),
            value: spread.median,
            unit: spread.ends(),
            target,
        })
    };
    Ok(vec![
        figure("events/s received", spread(|run| run.events_per_s), None),
        figure("client CPU in µs/event", spread(|run| run.micros), None),
        figure(
            "client CPU in % of a core, at this rate",
            spread(|run| run.micros * f64::from(STREAMS * EVENTS_PER_S) / 1e6 * 100.0),
            Some(Target::AtMost(40.0)),
        ),
    ])
}

/// The figures of one run.
struct Run {
    events_per_s: f64,
    /// CPU time of the client per event.
    micros: f64,
}

fn run(server: &Server, settings: &Settings) -> Result<Run> {
    let events = EVENTS_PER_S * settings.seconds;
    let url = server.url(&format!("/events?n={events}&gap=10ms&size={EVENT_BYTES}"));
    let mut command = pinned(CLIENT_CORE, &settings.programs.drumfire);
    command.args(["http", "--threads=1", "-q", "--json=-", "--events"]);
    command.args(["-c", &STREAMS.to_string(), "-n", &STREAMS.to_string()]);
    command.args(["--timeout=2m", &url]);
    let limit = Nanos::from_secs(150);
    let finished = process::run(&mut command, limit, MemoryWatch::Nothing)?;
    let received = received(&finished, STREAMS, u64::from(events))?;
    Ok(Run {
        events_per_s: received.events as f64 / received.seconds,
        micros: finished.cpu().as_secs_f64() * 1e6 / received.events as f64,
    })
}

/// What a run received.
struct ReceivedMessages {
    events: u64,
    seconds: f64,
}

/// Reads the summary of a run. Fails unless each stream was ok and had all of its events.
fn received(finished: &Finished, streams: u32, events: u64) -> Result<ReceivedMessages> {
    let summary = Summary::parse(&finished.stdout)?;
    let (ok, received) = (summary.count("ok")?, summary.messages("received")?);
    if ok != u64::from(streams) || received != u64::from(streams) * events {
        let words = format!("{ok} of {streams} streams were ok, with {received} events");
        return Err(Error::other(words));
    }
    Ok(ReceivedMessages {
        events: received,
        seconds: summary.seconds()?,
    })
}

/// Measures the memory of silent streams.
pub(super) fn idle(settings: &Settings) -> Result<Vec<Line>> {
    let server = Server::serving(Ipv4Addr::LOCALHOST, &[], &settings.programs)?;
    let peak = |streams: u32| -> Result<f64> {
        let mut command = pinned(CLIENT_CORE, &settings.programs.drumfire);
        command.args(["http", "--threads=1", "-q", "--json=-", "--events"]);
        command.args(["-c", &streams.to_string(), "-n", &streams.to_string()]);
        command.args(["--timeout=2m", "--i-own-this-target"]);
        // An address has fewer ports than there are streams.
        command.args(["--source-ip=127.0.0.1", "--source-ip=127.0.0.2"]);
        command.arg(format!("--stream-duration={IDLE_SECONDS}s"));
        command.arg(server.url("/events?n=2&gap=1h"));
        let limit = Nanos::from_secs(IDLE_SECONDS + 120);
        let finished = process::run(&mut command, limit, MemoryWatch::Memory)?;
        received(&finished, streams, 1)?;
        Ok(finished.peak_bytes as f64 / 1000.0)
    };
    let streams = machine::connections(IDLE);
    let (one, many) = (peak(1)?, peak(streams)?);
    let count = f64::from(streams);
    let figure = |what: &str, value: f64, unit: &str, target| {
        Line::Figure(Figure {
            what: format!("{streams} silent event streams: {what}"),
            value,
            unit: unit.to_owned(),
            target,
        })
    };
    let target = Some(Target::AtMost(5.0));
    Ok(vec![
        figure("all memory ÷ streams", many / count, "kB", target),
        figure(
            "growth per stream",
            (many - one) / (count - 1.0),
            "kB",
            None,
        ),
    ])
}
