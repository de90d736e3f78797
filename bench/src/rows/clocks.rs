//! The open model with each clock: the measured service time, and the cost of the clock.
//!
//! Runs alternate, so that other work on the machine affects all of them.

use super::Settings;
use crate::floor::Encryption;
use crate::process::{self, CLIENT_CORE, MemoryWatch, pinned};
use crate::server::{Kind, Server};
use crate::summary::Summary;
use crate::table::{Figure, Line, Spread, Target};
use drumfire_units::Nanos;
use std::io::Result;

/// Requests per second.
const RATES: [u64; 2] = [2_000, 10_000];
const CLOCKS: [&str; 3] = ["program", "receive", "wire"];

/// The figures of one run.
#[derive(Clone, Copy)]
struct Run {
    p50_micros: f64,
    p99_micros: f64,
    /// CPU time per request.
    micros: f64,
}

/// Measures service times, and the client's CPU time per request.
pub(super) fn measure(settings: &Settings) -> Result<Vec<Line>> {
    let server = Server::start(Kind::Serve, Encryption::Plain, &settings.programs)?;
    let mut lines = Vec::new();
    for rate in RATES {
        let mut runs = CLOCKS.map(|_| Vec::new());
        for _ in 0..settings.rounds {
            for (clock, runs) in CLOCKS.iter().zip(&mut runs) {
                runs.push(run(clock, rate, &server, settings)?);
            }
        }
        for (clock, runs) in CLOCKS.iter().zip(&runs) {
            let mut push = |what: &str, of: fn(&Run) -> f64| {
                let spread = Spread::from_values(runs.iter().map(of));
                lines.push(figure(rate, clock, what, spread, None));
            };
            push("service p50 in µs", |run| run.p50_micros);
            push("service p99 in µs", |run| run.p99_micros);
            push("CPU per request in µs", |run| run.micros);
        }
        let (program, stamped) = (&runs[0], CLOCKS.iter().zip(&runs).skip(1));
        for (clock, runs) in stamped {
            let ratios = runs.iter().zip(program);
            let ratios =
                Spread::from_values(ratios.map(|(ours, before)| ours.micros / before.micros));
            let target = Some(Target::AtMost(1.05));
            lines.push(figure(
                rate,
                clock,
                "its CPU ÷ that of `program`",
                ratios,
                target,
            ));
        }
    }
    Ok(lines)
}

fn figure(rate: u64, clock: &str, what: &str, spread: Spread, target: Option<Target>) -> Line {
    Line::Figure(Figure {
        what: format!("open model, {rate}/s, `--clock {clock}`: {what}"),
        value: spread.median,
        unit: spread.ends(),
        target,
    })
}

fn run(clock: &str, rate: u64, server: &Server, settings: &Settings) -> Result<Run> {
    let mut command = pinned(CLIENT_CORE, &settings.programs.drumfire);
    command.args(["http", "--threads=1", "-q", "--json=-", "-c256"]);
    command.args(["-r", &rate.to_string(), "--clock", clock]);
    command.args(["-z", &format!("{}s", settings.seconds)]);
    command.arg(server.url("/"));
    let limit = Nanos::from_secs(u64::from(settings.seconds) + 30);
    let finished = process::run(&mut command, limit, MemoryWatch::Nothing)?;
    let summary = Summary::parse(&finished.stdout)?;
    let sent = summary.count("sent")?.max(1);
    Ok(Run {
        p50_micros: summary.micros("service_time", "0.5")?,
        p99_micros: summary.micros("service_time", "0.99")?,
        micros: finished.cpu().0 as f64 / 1e3 / sent as f64,
    })
}
