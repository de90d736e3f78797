//! Printing of failures: a line for each kind, with its number of occurrences.

use crate::go_error_text::error_text;
use drumfire_measure::{Figures, Outcome};
use std::collections::BTreeMap;

/// Go's texts after `-timeout` has passed: before the head of the response, and in its body.
const TIMED_OUT: &str =
    "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
const TIMED_OUT_IN_BODY: &str =
    "context deadline exceeded (Client.Timeout or context cancellation while reading body)";

/// Failures that have not been printed yet.
#[derive(Clone, Debug)]
pub(super) struct Failures {
    counts: BTreeMap<String, u64>,
    dialing: Dialing,
}

/// The timeout that ends the opening of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialing {
    /// A separate timeout.
    Bounded,
    /// `-timeout`, which is shorter.
    CutOff,
}

impl Failures {
    /// No failures yet.
    pub(super) const fn new(dialing: Dialing) -> Self {
        Self {
            counts: BTreeMap::new(),
            dialing,
        }
    }

    /// Adds the failures of a span. `host` is the target's name, if all requests go to one target.
    pub(super) fn add(&mut self, figures: &Figures, host: Option<&str>) {
        for row in figures.errors() {
            let text = match row.outcome {
                // The line counts bad responses and responses with a different hash.
                Outcome::InvalidStatus | Outcome::ProtoUnexpected101 | Outcome::AssertBody => {
                    continue;
                }
                Outcome::TimeoutHead => TIMED_OUT.to_owned(),
                Outcome::TimeoutConnect | Outcome::TimeoutTls
                    if self.dialing == Dialing::CutOff =>
                {
                    TIMED_OUT.to_owned()
                }
                Outcome::TimeoutTotal => TIMED_OUT_IN_BODY.to_owned(),
                outcome => error_text(outcome, &row.detail.text, host),
            };
            let message = row.detail.text;
            let line = match text == message || row.outcome.is_timeout() {
                true => text,
                false => format!("{text} ({message})"),
            };
            *self.counts.entry(line).or_default() += row.count;
        }
    }

    /// Returns the lines and clears the counts.
    pub(super) fn tell(&mut self) -> String {
        let lines = std::mem::take(&mut self.counts).into_iter();
        lines
            .map(|(line, count)| format!("{count} × {line}\n"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_measure::{Leniencies, Sample};
    use drumfire_units::Nanos;

    fn told(outcome: Outcome, dialing: Dialing) -> String {
        let mut figures = Figures::new(&[]);
        figures.record(&Sample {
            intended: Nanos::ZERO,
            due: Nanos::ZERO,
            sent: Nanos::ZERO,
            first_byte: Nanos(5),
            end: Nanos(9),
            bytes_sent: 1,
            outcome,
            leniencies: Leniencies::default(),
            bytes_received: 1,
            status: 0,
            step: 0,
        });
        let mut failures = Failures::new(dialing);
        failures.add(&figures, None);
        failures.tell()
    }

    #[test]
    fn a_timeout_reads_as_in_go_by_its_phase() {
        let head = format!("1 × {TIMED_OUT}\n");
        assert_eq!(told(Outcome::TimeoutHead, Dialing::Bounded), head);
        assert_eq!(told(Outcome::TimeoutTls, Dialing::CutOff), head);
        assert_eq!(told(Outcome::TimeoutConnect, Dialing::CutOff), head);
        assert_eq!(
            told(Outcome::TimeoutTls, Dialing::Bounded),
            "1 × net/http: TLS handshake timeout\n"
        );
        assert_eq!(
            told(Outcome::TimeoutTotal, Dialing::Bounded),
            format!("1 × {TIMED_OUT_IN_BODY}\n")
        );
    }
}
