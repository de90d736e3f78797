//! k6's numbers for errors of requests.

use drumfire_measure::{Outcome, OutcomeGroup};

/// The number of a complete response: 1000 plus the status for an error of the client or the server, else 0.
pub(crate) fn of_status(status: u16) -> u32 {
    match status {
        400..=599 => 1000 + u32::from(status),
        _ => 0,
    }
}

/// The number of a request that has failed.
pub(crate) fn of_outcome(outcome: Outcome) -> u32 {
    match outcome {
        Outcome::Ok => 0,
        outcome if outcome.is_timeout() && !outcome.is_of_opening() => 1050,
        Outcome::DnsNotFound | Outcome::DnsEmpty => 1101,
        Outcome::ConnectRefused => 1212,
        Outcome::ConnectTimeout | Outcome::TimeoutConnect => 1211,
        Outcome::ConnectReset | Outcome::Reset => 1220,
        Outcome::TlsUntrusted => 1310,
        Outcome::TlsName => 1311,
        outcome => match outcome.group() {
            OutcomeGroup::Connecting if outcome.name().starts_with("dns") => 1100,
            OutcomeGroup::Connecting => 1210,
            OutcomeGroup::Tls => 1300,
            OutcomeGroup::Timeouts => 1050,
            OutcomeGroup::Http2 | OutcomeGroup::Http2Connections => 1650,
            OutcomeGroup::Http2Streams => 1630,
            _ => 1000,
        },
    }
}

/// The text of a request that has failed.
pub(crate) fn words(outcome: Outcome, detail: Option<&str>) -> String {
    match (of_outcome(outcome), detail) {
        (1050, _) => "request timeout".to_owned(),
        (_, Some(detail)) => detail.to_owned(),
        (_, None) => outcome.words().to_owned(),
    }
}
