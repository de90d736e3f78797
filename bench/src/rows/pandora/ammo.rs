//! Files of a million requests: the time until the first is sent, and the memory of a run.

use super::plans;
use crate::floor::Encryption;
use crate::process::{self, Finished, MemoryWatch};
use crate::rows::Settings;
use crate::server::{Kind, Server};
use crate::summary::Summary;
use crate::table::{Figure, Line, Spread, Target};
use drumfire_net::Clock;
use drumfire_units::Nanos;
use std::fmt::Write as _;
use std::io::{Error, Result};

/// Lines of the file.
const LINES: u32 = 1_000_000;

/// The maximum additional memory for a file with twice as many lines, in kB: the peaks of one file
/// vary as much from run to run, and the file is larger by 33 MB and 134 MB.
const GROWTH_MAX: f64 = 4_000.0;

/// How a file is kept in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileMemory {
    /// An index in memory, and blocks on demand.
    Streamed,
    /// All requests in memory.
    Preloaded,
}

/// Measures lines of paths and JSON lines.
pub(super) fn measure(settings: &Settings) -> Result<Vec<Line>> {
    let server = Server::start(Kind::Serve, Encryption::Plain, &settings.programs)?;
    let mut lines = Vec::new();
    let mut figure = |what: String, value: f64, unit: String, target| {
        lines.push(Line::Figure(Figure {
            what,
            value,
            unit,
            target,
        }));
    };
    for (format, write) in [("uri", uris as fn(u32) -> String), ("jsonline", jsons)] {
        let file = |lines: u32| plans::write(server.folder(), &name(lines, format), &write(lines));
        file(LINES)?;
        file(2 * LINES)?;
        let mut times = Vec::new();
        for _ in 0..settings.rounds {
            let clock = Clock::start();
            run(
                format,
                LINES,
                FileMemory::Streamed,
                "requests: 1",
                &server,
                settings,
            )?;
            times.push(clock.now().as_secs_f64());
        }
        let spread = Spread::from_values(times);
        let title = format!("ammo of 1,000,000 lines, {format}");
        figure(
            format!("{title}: duration of a run of one request"),
            spread.median,
            format!("s {}", spread.ends()),
            Some(Target::AtMost(1.0)),
        );
        let stop = format!("after: {}s", settings.seconds);
        let peak = |lines: u32, keep| -> Result<f64> {
            let finished = run(format, lines, keep, &stop, &server, settings)?;
            Ok(finished.peak_bytes as f64 / 1e3)
        };
        let once = peak(LINES, FileMemory::Streamed)?;
        let twice = peak(2 * LINES, FileMemory::Streamed)?;
        let preloaded = peak(LINES, FileMemory::Preloaded)?;
        figure(
            format!("{title}: peak of resident memory"),
            once / 1e3,
            "MB".to_owned(),
            None,
        );
        figure(
            format!("{title}: increase of the peak with 2,000,000 lines"),
            twice - once,
            "kB".to_owned(),
            Some(Target::AtMost(GROWTH_MAX)),
        );
        figure(
            format!("{title}: peak of resident memory with `preload`"),
            preloaded / 1e3,
            "MB".to_owned(),
            None,
        );
    }
    Ok(lines)
}

fn run(
    format: &str,
    lines: u32,
    keep: FileMemory,
    stop: &str,
    server: &Server,
    settings: &Settings,
) -> Result<Finished> {
    let preload = keep == FileMemory::Preloaded;
    let pool = format!(
        "users: 32\nrequests: [ {{ ammo: {}, format: {format}, preload: {preload} }} ]",
        name(lines, format)
    );
    plans::write_people(server.folder())?;
    let text = plans::plan(&server.url(""), &pool, stop);
    let plan = plans::write(server.folder(), "plan.yaml", &text)?;
    let mut command = plans::run(&settings.programs.drumfire, &plan);
    let limit = Nanos::from_secs(u64::from(settings.seconds) + 60);
    let finished = process::run(&mut command, limit, MemoryWatch::Memory)?;
    let summary = Summary::parse(&finished.stdout)?;
    if summary.count("ok")? == 0 || summary.count("failed")? > 0 {
        return Err(Error::other(format!("{plan:?}: {:?}", summary.failures())));
    }
    Ok(finished)
}

fn name(lines: u32, format: &str) -> String {
    format!("requests-{lines}.{format}")
}

fn uris(lines: u32) -> String {
    let mut text = String::new();
    for n in 0..lines {
        // Writing to a String can't fail.
        let _complete = writeln!(text, "/item/{n}?q=abcdef{n} tag{}", n % 7);
    }
    text
}

fn jsons(lines: u32) -> String {
    let mut text = String::new();
    for n in 0..lines {
        // Writing to a String can't fail.
        let _complete = writeln!(
            text,
            "{{\"uri\": \"/item/{n}\", \"method\": \"POST\", \"tag\": \"tag{}\", \"headers\": \
             {{\"Content-Type\": \"application/json\"}}, \"body\": \"{{\\\"id\\\": {n}}}\"}}",
            n % 7
        );
    }
    text
}
