//! Whether memory stays constant over many calls.

use super::Settings;
use super::grpc::{GrpcCaller, Stage};
use crate::claim;
use crate::process::{self, MemoryWatch};
use crate::table::{Figure, Line, Spread, Target};
use drumfire_units::Nanos;
use std::io::{Error, Result};

/// The minimum rate of the slowest server, in calls per second.
const RATE_MIN: u64 = 2_000;

/// One run: the client, its description in the table, the length of an interval, and the allowed
/// growth of memory from the start to the end, in kB.
///
/// A page of a histogram becomes resident when a time falls into it, and rare times come late. With
/// short intervals there are as many histograms as intervals in use, two for each thread and the
/// run's own, and rare times touch each of them separately. A leak of a single byte per call, or of
/// a page per interval, would exceed this growth several times.
type Case = (GrpcCaller, &'static str, &'static str, f64);

const CASES: [Case; 3] = [
    (GrpcCaller::Drumfire, "fixed data", "1h", 128.0),
    (GrpcCaller::DrumfireTemplated, "templated data", "1h", 128.0),
    (
        GrpcCaller::Drumfire,
        "fixed data, intervals of 1 s",
        "1s",
        512.0,
    ),
];

/// Measures all cases.
pub(super) fn measure(settings: &Settings) -> Result<Vec<Line>> {
    let stage = Stage::set(&settings.programs)?;
    let mut lines = Vec::new();
    for case in &CASES {
        lines.extend(figures(case, &stage, settings)?);
    }
    Ok(lines)
}

/// Resident memory at the start of a run, after the first tenth of the readings, and at its end, in
/// kilobytes of 1000 bytes. Each is the median of a tenth of all readings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resident {
    /// Memory at the start of the run.
    pub(super) start: f64,
    /// Memory at the end of the run.
    pub(super) end: f64,
}

impl Resident {
    /// Computes the medians from all readings of a run, in bytes.
    pub(super) fn from_readings(looks: &[u64]) -> Result<Self> {
        let tenth = looks.len() / 10;
        if tenth == 0 {
            return Err(Error::other("the run is too short to measure its memory"));
        }
        let kilobytes = |looks: &[u64]| {
            Spread::from_values(looks.iter().map(|bytes| *bytes as f64 / 1e3)).median
        };
        Ok(Self {
            start: kilobytes(&looks[tenth..2 * tenth]),
            end: kilobytes(&looks[looks.len() - tenth..]),
        })
    }
}

fn figures(case: &Case, stage: &Stage, settings: &Settings) -> Result<Vec<Line>> {
    let (caller, name, interval, growth_max) = case;
    let mut command = stage.command(*caller, &settings.programs.drumfire);
    command.args(["-n", &settings.calls.to_string(), "--interval", interval]);
    let limit = Nanos::from_secs(settings.calls / RATE_MIN + 30);
    let finished = process::run(&mut command, limit, MemoryWatch::Memory)?;
    let claim = claim::drumfire(&finished.stdout)
        .ok_or_else(|| Error::other(format!("{command:?} printed: {}", finished.stdout)))?;
    let Resident { start, end } = Resident::from_readings(&finished.resident_bytes)?;
    let figure = |what: &str, value: f64, unit: &str, target| {
        Line::Figure(Figure {
            what: format!("{} gRPC calls, {name}: {what}", settings.calls),
            value,
            unit: unit.to_owned(),
            target,
        })
    };
    let flat = Some(Target::AtMost(*growth_max));
    let all = Some(Target::Exactly(settings.calls as f64));
    Ok(vec![
        figure("calls that were OK", claim.requests as f64, "calls", all),
        figure("resident memory at the start", start / 1e3, "MB", None),
        figure("resident memory at the end", end / 1e3, "MB", None),
        figure("growth", end - start, "kB", flat),
    ])
}
