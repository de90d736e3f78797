//! What is measured: a row has a name for `--only`, and yields lines of the table.

pub mod compare;
mod idle;
mod lag;
mod start_up;
mod system_calls;

use crate::table::Line;
use crate::tool::Programs;
use std::io::Result;

/// How much is measured.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the programs are.
    pub programs: Programs,
    /// Runs of each tool, made alternately.
    pub rounds: u32,
    /// Length of a run.
    pub seconds: u32,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What `--only` calls it.
    pub name: &'static str,
    measure: Measure,
}

#[derive(Clone, Copy, Debug)]
enum Measure {
    Compare(&'static compare::Case),
    Alone(fn(&Settings) -> Result<Vec<Line>>),
}

impl Row {
    /// All rows, in the order of the table.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let alone = |name, measure| Self {
            name,
            measure: Measure::Alone(measure),
        };
        let mut rows: Vec<Self> = compare::CASES
            .iter()
            .map(|case| Self {
                name: case.name,
                measure: Measure::Compare(case),
            })
            .collect();
        rows.push(alone("lag", lag::measure));
        rows.push(alone("idle", idle::measure));
        rows.push(alone("start-up", start_up::measure));
        rows.push(alone("system-calls", system_calls::measure));
        rows
    }

    /// Measures; what can't be measured becomes a line that says why.
    #[must_use]
    pub fn measure(&self, settings: &Settings) -> Vec<Line> {
        let lines = match self.measure {
            Measure::Compare(case) => compare::measure(case, settings),
            Measure::Alone(measure) => measure(settings),
        };
        lines.unwrap_or_else(|error| {
            vec![Line::Absent {
                what: self.name.to_owned(),
                why: format!("not measured: {error}"),
            }]
        })
    }
}
