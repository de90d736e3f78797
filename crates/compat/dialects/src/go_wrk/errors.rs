//! go-wrk's error counts: the number of failures with each text.

use super::EXPECT;
use crate::go_error_text::error_text;
use drumfire_measure::{Closing, Figures, Outcome};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Counts by text, sorted by text so that two runs compare line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ErrorCounts(BTreeMap<String, u64>);

impl ErrorCounts {
    /// The failures of a run. `host` is the target's name, if all requests go to one target.
    pub(super) fn from_figures(total: &Figures, host: Option<&str>) -> Self {
        let mut counts = Self::default();
        let mut by_status = 0;
        for row in total.errors() {
            match row.outcome {
                Outcome::HttpStatus | Outcome::InvalidStatus => by_status += row.count,
                outcome => counts.add(error_text(outcome, &row.detail.text, host), row.count),
            }
        }
        for (status, count) in refused_statuses(total, by_status) {
            counts.add(format!("received status code {status}"), count);
            by_status -= count;
        }
        // The rest had no readable status.
        if by_status > 0 {
            counts.add("malformed HTTP status code".to_owned(), by_status);
        }
        counts
    }

    /// Adds the requests of `users` that waited for a handshake at the end of the run, if no
    /// handshake was ever completed: each of Go's goroutines waits for its own handshake and counts
    /// it as failed.
    pub(super) fn with_unready(mut self, total: &Figures, users: u64) -> Self {
        let unready = total.connections.closed_by(Closing::Unready).min(users);
        let is_silent = total.counts.sent == 0 && !total.connections.was_any_ready();
        if unready > 0 && is_silent {
            let text = error_text(Outcome::TimeoutTls, "", None);
            self.add(text, unready);
        }
        self
    }

    fn add(&mut self, text: String, count: u64) {
        *self.0.entry(text).or_default() += count;
    }

    /// The number of errors.
    pub(super) fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// `text=count`, joined by commas.
    pub(super) fn as_list(&self) -> String {
        let pairs: Vec<_> = self.0.iter().map(|(k, v)| format!("{k}={v}")).collect();
        pairs.join(",")
    }

    /// In the form in which Go prints a map: `map[text:count text:count]`.
    pub(super) fn as_map(&self) -> String {
        let pairs: Vec<_> = self.0.iter().map(|(k, v)| format!("{k}:{v}")).collect();
        format!("map[{}]", pairs.join(" "))
    }
}

/// The statuses of the `failed` refused responses, with their counts, whose sum is at most
/// `failed`.
///
/// The figures count every final status, also of responses that failed for another reason: a
/// redirect that is not allowed, a truncated 404. If there are such responses, redirects are
/// subtracted first, then the most frequent status.
fn refused_statuses(total: &Figures, failed: u64) -> Vec<(u16, u64)> {
    let mut statuses: Vec<(u16, u64)> = total
        .status()
        .filter(|&(status, _)| status >= 200 && !EXPECT.accepts(status))
        .collect();
    let seen: u64 = statuses.iter().map(|(_, count)| count).sum();
    let mut surplus = seen.saturating_sub(failed);
    statuses.sort_by_key(|&(status, count)| (status / 100 != 3, Reverse(count)));
    for (_, count) in &mut statuses {
        let taken = surplus.min(*count);
        *count -= taken;
        surplus -= taken;
    }
    statuses.retain(|(_, count)| *count > 0);
    statuses
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_measure::{Leniencies, Sample};
    use drumfire_units::Nanos;

    fn figures(samples: &[(Outcome, u16, u64)]) -> Figures {
        let mut figures = Figures::new(&[]);
        for &(outcome, status, count) in samples {
            for _ in 0..count {
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
                    status,
                    step: 0,
                });
            }
        }
        figures
    }

    fn list(samples: &[(Outcome, u16, u64)]) -> String {
        ErrorCounts::from_figures(&figures(samples), Some("h")).as_list()
    }

    #[test]
    fn statuses_are_counted_one_by_one() {
        assert_eq!(
            list(&[
                (Outcome::Ok, 200, 3),
                (Outcome::Ok, 301, 2),
                (Outcome::HttpStatus, 503, 2),
                (Outcome::HttpStatus, 404, 1),
            ]),
            "received status code 404=1,received status code 503=2"
        );
    }

    #[test]
    fn a_refused_redirect_is_no_status() {
        assert_eq!(
            list(&[
                (Outcome::RedirectBlocked, 302, 4),
                (Outcome::RedirectBlocked, 301, 1),
                (Outcome::HttpStatus, 304, 2),
                (Outcome::HttpStatus, 404, 1),
            ]),
            "received status code 304=2,received status code 404=1,redirection not allowed=5"
        );
    }

    #[test]
    fn counts_add_up_to_the_failures() {
        let samples = [
            (Outcome::HttpStatus, 500, 3),
            (Outcome::Truncated, 404, 2),
            (Outcome::Closed, 0, 1),
            (Outcome::InvalidStatus, 700, 2),
            (Outcome::InvalidStatus, 0, 1),
        ];
        let counts = ErrorCounts::from_figures(&figures(&samples), None);
        assert_eq!(counts.total(), 9);
        assert!(counts.as_list().contains("received status code 700=2"));
    }

    #[test]
    fn a_map_reads_as_in_go() {
        assert_eq!(ErrorCounts::default().as_map(), "map[]");
        let counts = ErrorCounts::from_figures(
            &figures(&[(Outcome::ConnectRefused, 0, 2), (Outcome::Closed, 0, 1)]),
            None,
        );
        assert_eq!(counts.as_map(), "map[EOF:1 connection refused:2]");
    }
}
