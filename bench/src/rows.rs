//! The measurements: a row has a name for `--only`, and gives lines of the table.

mod clocks;
pub mod compare;
mod events;
mod grpc;
mod http2;
mod idle;
mod lag;
mod llm;
mod memory;
mod pandora;
mod scrapes;
mod soak;
mod start_up;
mod system_calls;

use crate::table::Line;
use crate::tool::{OLDER, Programs};
use std::io::Result;

/// The extent of the measurements.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The paths of the programs.
    pub programs: Programs,
    /// The number of alternating runs of each tool.
    pub rounds: u32,
    /// Length of a run.
    pub seconds: u32,
    /// Calls of the run whose memory is watched.
    pub calls: u64,
    /// Length of the long run.
    pub minutes: u32,
    /// The rate of the long run, in requests per second.
    pub rate: u64,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name for `--only`.
    pub name: &'static str,
    /// The published claim of another tool's authors about the same load; the row's tables are
    /// below it.
    pub claim: Option<&'static str>,
    measure: Measure,
}

#[derive(Clone, Copy, Debug)]
enum Measure {
    Compare(&'static compare::Case),
    Multiplexed(&'static http2::Case),
    /// Measured alternately with other clients, including the older drumfire.
    Contest(fn(&Settings) -> Result<Vec<Line>>),
    /// Measured alone, then the older drumfire, if any.
    Alone(fn(&Settings) -> Result<Vec<Line>>),
}

impl Row {
    /// All rows of HTTP/1.1, in the order of the table.
    #[must_use]
    pub fn http1() -> Vec<Self> {
        let compared = compare::CASES.iter().map(|case| Self {
            name: case.name,
            claim: None,
            measure: Measure::Compare(case),
        });
        let alone = [
            Self::alone("lag", lag::measure),
            Self::alone("clocks", clocks::measure),
            Self::alone("idle", idle::measure),
            Self::alone("events", events::measure),
            Self::alone("event-streams", events::idle),
            Self::alone("start-up", start_up::measure),
            Self::alone("system-calls", system_calls::measure),
        ];
        compared.chain(alone).collect()
    }

    /// All rows of language models.
    #[must_use]
    pub fn llm() -> Vec<Self> {
        vec![
            Self::alone("events", llm::events),
            Self::alone("event-streams", llm::idle),
            Self::alone("burst", llm::burst),
            Self::alone("trace", llm::trace),
            Self::alone("again", llm::again),
        ]
    }

    /// All rows of HTTP/2.
    #[must_use]
    pub fn http2() -> Vec<Self> {
        let rows = http2::CASES.iter().map(|case| Self {
            name: case.name,
            claim: None,
            measure: Measure::Multiplexed(case),
        });
        rows.collect()
    }

    /// All rows of gRPC.
    #[must_use]
    pub fn grpc() -> Vec<Self> {
        vec![
            Self::contest("unary", grpc::measure),
            Self::alone("memory", memory::measure),
        ]
    }

    /// The rows of the long run, and of short runs that are stored or whose metrics are fetched.
    #[must_use]
    pub fn soak() -> Vec<Self> {
        vec![
            Self::alone("long", soak::long),
            Self::alone("storing", soak::storing),
            Self::alone("scrapes", scrapes::measure),
        ]
    }

    /// All rows of Pandora's job, each with the claim of its page on performance.
    #[must_use]
    pub fn pandora() -> Vec<Self> {
        pandora::rows()
    }

    fn alone(name: &'static str, measure: fn(&Settings) -> Result<Vec<Line>>) -> Self {
        Self {
            name,
            claim: None,
            measure: Measure::Alone(measure),
        }
    }

    fn contest(name: &'static str, measure: fn(&Settings) -> Result<Vec<Line>>) -> Self {
        Self {
            name,
            claim: None,
            measure: Measure::Contest(measure),
        }
    }

    /// Adds a claim to the row.
    const fn beside(mut self, claim: &'static str) -> Self {
        self.claim = Some(claim);
        self
    }

    /// Runs the measurement; a failure becomes a line with the reason.
    #[must_use]
    pub fn measure(&self, settings: &Settings) -> Vec<Line> {
        let lines = match self.measure {
            Measure::Compare(case) => compare::measure(case, settings),
            Measure::Multiplexed(case) => http2::measure(case, settings),
            Measure::Contest(measure) => measure(settings),
            Measure::Alone(measure) => measured_alone(measure, settings),
        };
        lines.unwrap_or_else(|error| {
            vec![Line::Absent {
                what: self.name.to_owned(),
                why: format!("not measured: {error}"),
            }]
        })
    }
}

/// The lines of a measurement, and of the same measurement with the older drumfire.
fn measured_alone(
    measure: fn(&Settings) -> Result<Vec<Line>>,
    settings: &Settings,
) -> Result<Vec<Line>> {
    let mut lines = measure(settings)?;
    if let Some(programs) = settings.programs.before() {
        let before = measure(&Settings {
            programs,
            ..settings.clone()
        });
        lines.extend(before?.into_iter().map(|line| line.under(OLDER)));
    }
    Ok(lines)
}
