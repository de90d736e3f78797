//! Failures as they are told: a line for each kind, with how often it was seen.

use crate::go_error_text::error_text;
use drumfire_measure::{Figures, Outcome};
use std::collections::BTreeMap;

/// Go's text where `-timeout` has passed: that is the only bound once there is a connection.
const TIMED_OUT: &str =
    "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";

/// Failures that have not been told yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Failures {
    counts: BTreeMap<String, u64>,
}

impl Failures {
    /// Adds those of a span. `host` is the target's name, where all requests go to one.
    pub(super) fn add(&mut self, figures: &Figures, host: Option<&str>) {
        for row in figures.errors() {
            let text = match row.outcome {
                // Bad responses, and those with another hash, are in the line.
                Outcome::InvalidStatus | Outcome::ProtoUnexpected101 | Outcome::AssertBody => {
                    continue;
                }
                Outcome::TimeoutHead | Outcome::TimeoutTotal => TIMED_OUT.to_owned(),
                outcome => error_text(outcome, host),
            };
            let line = match text == row.message {
                true => text,
                false => format!("{text} ({})", row.message),
            };
            *self.counts.entry(line).or_default() += row.count;
        }
    }

    /// The lines, which are told by this.
    pub(super) fn tell(&mut self) -> String {
        let lines = std::mem::take(&mut self.counts).into_iter();
        lines
            .map(|(line, count)| format!("{count} × {line}\n"))
            .collect()
    }
}
