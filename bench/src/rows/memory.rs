//! Whether memory stays as it is over many calls.

use super::Settings;
use super::grpc::{Caller, Stage};
use crate::claim;
use crate::process::{self, Watch};
use crate::table::{Figure, Line, Spread, Target};
use drumfire_units::Nanos;
use std::io::{Error, Result};

/// Calls a second that the slowest server still manages.
const RATE_MIN: u64 = 2_000;

/// What memory may grow by from the start to the end, in kB: the pages of histograms that are
/// touched only when a rare value comes.
const GROWTH_MAX: f64 = 256.0;

/// Measures fixed and templated data.
pub(super) fn measure(settings: &Settings) -> Result<Vec<Line>> {
    let stage = Stage::set(&settings.programs)?;
    let mut lines = Vec::new();
    for (caller, data) in [
        (Caller::Drumfire, "fixed"),
        (Caller::DrumfireTemplated, "templated"),
    ] {
        let case = format!("{} gRPC calls, {data} data", settings.calls);
        lines.extend(figures(&case, &stage, caller, settings)?);
    }
    Ok(lines)
}

/// Memory at the start, when the first tenth of the looks is over, and at the end, each the median
/// of a tenth of all looks.
fn figures(case: &str, stage: &Stage, caller: Caller, settings: &Settings) -> Result<Vec<Line>> {
    let mut command = stage.command(caller, &settings.programs.drumfire);
    command.args(["-n", &settings.calls.to_string()]);
    let limit = Nanos::from_secs(settings.calls / RATE_MIN + 30);
    let finished = process::run(&mut command, limit, Watch::Memory)?;
    let claim = claim::drumfire(&finished.stdout)
        .ok_or_else(|| Error::other(format!("{command:?} said: {}", finished.stdout)))?;
    let looks = &finished.resident_bytes;
    let tenth = looks.len() / 10;
    if tenth == 0 {
        return Err(Error::other("too few calls to look at their memory"));
    }
    let kilobytes =
        |looks: &[u64]| Spread::of(looks.iter().map(|bytes| *bytes as f64 / 1e3)).median;
    let start = kilobytes(&looks[tenth..2 * tenth]);
    let end = kilobytes(&looks[looks.len() - tenth..]);
    let figure = |what: &str, value: f64, unit: &str, target| {
        Line::Figure(Figure {
            what: format!("{case}: {what}"),
            value,
            unit: unit.to_owned(),
            target,
        })
    };
    let all = Some(Target::Exactly(settings.calls as f64));
    Ok(vec![
        figure("calls that were OK", claim.requests as f64, "calls", all),
        figure("resident memory at the start", start / 1e3, "MB", None),
        figure("resident memory at the end", end / 1e3, "MB", None),
        figure(
            "growth",
            end - start,
            "kB",
            Some(Target::AtMost(GROWTH_MAX)),
        ),
    ])
}
