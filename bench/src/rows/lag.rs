//! The open model: whether every request is sent, and the lag.
//!
//! Lag is also short if requests wait for connections and are sent as soon as one is free. This is
//! usual on a busy machine, so the figures count only if drumfire itself considers the runs valid.

use super::Settings;
use crate::floor::Encryption;
use crate::process::{self, CLIENT_CORE, MemoryWatch, pinned};
use crate::server::{Kind, Server};
use crate::summary::Summary;
use crate::table::{Figure, Line, Spread, Target};
use drumfire_units::Nanos;
use std::io::Result;

/// Requests per second.
const RATE: u64 = 50_000;

/// The figures of one run.
struct Run {
    /// Sent requests minus scheduled requests.
    surplus: f64,
    p50_micros: f64,
    p99_micros: f64,
    cores: f64,
    /// 1 if drumfire considers the run valid, otherwise 0.
    valid: f64,
}

/// Measures without and with `--spin`.
pub(super) fn measure(settings: &Settings) -> Result<Vec<Line>> {
    let server = Server::start(Kind::Serve, Encryption::Plain, &settings.programs)?;
    let mut lines = Vec::new();
    for (spin, p50_max) in [(None, 50.0), (Some("--spin"), 5.0)] {
        let mut runs = Vec::new();
        for _ in 0..settings.rounds {
            runs.push(run(spin, &server, settings)?);
        }
        let title = format!("open model, {RATE}/s{}", spin.map_or("", |_| ", `--spin`"));
        let spread = |of: fn(&Run) -> f64| Spread::from_values(runs.iter().map(of));
        let mut figure = |what: &str, spread: Spread, target| {
            lines.push(Line::Figure(Figure {
                what: format!("{title}: {what}"),
                value: spread.median,
                unit: spread.ends(),
                target,
            }));
        };
        let worst = runs.iter().map(|run| run.surplus.abs()).fold(0.0, f64::max);
        let sent = Spread::from_values([worst]);
        figure("sent minus due", sent, Some(Target::Exactly(0.0)));
        let p50 = spread(|run| run.p50_micros);
        figure("lag p50 in µs", p50, Some(Target::AtMost(p50_max)));
        figure("lag p99 in µs", spread(|run| run.p99_micros), None);
        figure("cores used", spread(|run| run.cores), None);
        let valid = Spread::from_values([runs.iter().map(|run| run.valid).sum()]);
        let all = Some(Target::Exactly(f64::from(settings.rounds)));
        figure("runs that drumfire judges valid", valid, all);
    }
    Ok(lines)
}

fn run(spin: Option<&str>, server: &Server, settings: &Settings) -> Result<Run> {
    let mut command = pinned(CLIENT_CORE, &settings.programs.drumfire);
    command.args(["http", "--threads=1", "-q", "--json=-", "-c64"]);
    command.args(["-r", &RATE.to_string()]);
    command.args(["-z", &format!("{}s", settings.seconds)]);
    command.args(spin).arg(server.url("/"));
    let limit = Nanos::from_secs(u64::from(settings.seconds) + 30);
    let finished = process::run(&mut command, limit, MemoryWatch::Nothing)?;
    let summary = Summary::parse(&finished.stdout)?;
    let intended = RATE * u64::from(settings.seconds);
    Ok(Run {
        surplus: summary.count("sent")? as f64 - intended as f64,
        p50_micros: summary.micros("lag", "0.5")?,
        p99_micros: summary.micros("lag", "0.99")?,
        cores: finished.cpu().as_secs_f64() / f64::from(settings.seconds),
        valid: f64::from(u8::from(summary.is_valid())),
    })
}
