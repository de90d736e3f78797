//! The error texts of Go's HTTP client, by outcome.

use drumfire_measure::Outcome;

/// The details of outcomes for which Go has a different text.
const CLOSED_IN_HANDSHAKE: &str = "the peer closed the connection during the handshake";
const WAS_RESET: &str = "the connection was reset before the body was complete";
/// The beginning of the detail of an invalid redirect. Go's client reports it as a redirect that it
/// gave up, instead of as an unreadable header field.
const LOCATION: &str = "Location: ";

/// The text of an outcome with a detail, if the text does not depend on the status. `host` is the
/// target's name, if all requests go to one target.
///
/// Go sometimes adds particulars (the resolver's address, the certificate's dates, bytes from the
/// server). They are omitted here, so that equal failures are counted together.
pub(crate) fn error_text(outcome: Outcome, detail: &str, host: Option<&str>) -> String {
    if let Some(text) = name_text(outcome, host) {
        return text;
    }
    match (outcome, detail) {
        (Outcome::TlsProtocol, CLOSED_IN_HANDSHAKE) => return "EOF".to_owned(),
        (Outcome::Truncated, WAS_RESET) => return "connection reset by peer".to_owned(),
        _ => {}
    }
    let is_location = outcome == Outcome::ProtoHeader && detail.starts_with(LOCATION);
    let outcome = match is_location {
        true => Outcome::RedirectBlocked,
        false => outcome,
    };
    connection_text(outcome)
        .or_else(|| timeout_text(outcome))
        .or_else(|| protocol_text(outcome))
        .unwrap_or_else(|| outcome.words())
        .to_owned()
}

/// Texts for failures that contain the target's name.
fn name_text(outcome: Outcome, host: Option<&str>) -> Option<String> {
    let subject = host.map_or_else(|| "lookup".to_owned(), |host| format!("lookup {host}"));
    Some(match outcome {
        Outcome::DnsNotFound | Outcome::DnsEmpty => format!("{subject}: no such host"),
        Outcome::DnsFailed => format!("{subject}: server misbehaving"),
        Outcome::DnsTimeout => format!("{subject}: i/o timeout"),
        Outcome::TlsName => format!(
            "x509: certificate is not valid for {}",
            host.unwrap_or("the host's name")
        ),
        _ => return None,
    })
}

/// Failures of a connection or of this machine.
fn connection_text(outcome: Outcome) -> Option<&'static str> {
    Some(match outcome {
        Outcome::ConnectRefused => "connection refused",
        Outcome::ConnectTimeout => "connection timed out",
        Outcome::ConnectUnreachable => "no route to host",
        Outcome::ConnectReset | Outcome::Reset => "connection reset by peer",
        Outcome::LocalDescriptors => "too many open files",
        Outcome::LocalPorts => "cannot assign requested address",
        Outcome::LocalMemory => "cannot allocate memory",
        Outcome::LocalCancelled => "context canceled",
        Outcome::TlsExpired => "x509: certificate has expired or is not yet valid",
        Outcome::TlsUntrusted => "x509: certificate signed by unknown authority",
        Outcome::TlsAlert => "tls: handshake failure",
        Outcome::TlsProtocol => "tls: first record does not look like a TLS handshake",
        Outcome::Send => "broken pipe",
        Outcome::Closed | Outcome::ClosedReused => "EOF",
        Outcome::ClosedInHead | Outcome::Truncated => "unexpected EOF",
        _ => return None,
    })
}

/// Texts for timeouts.
fn timeout_text(outcome: Outcome) -> Option<&'static str> {
    Some(match outcome {
        Outcome::TimeoutConnect => "i/o timeout",
        Outcome::TimeoutTls => "net/http: TLS handshake timeout",
        Outcome::TimeoutHead => "net/http: timeout awaiting response headers",
        Outcome::TimeoutPing => "http2: ping timeout",
        Outcome::TimeoutBody | Outcome::TimeoutGap => {
            "context deadline exceeded (Client.Timeout or context cancellation while reading body)"
        }
        Outcome::TimeoutTotal => "context deadline exceeded",
        _ => return None,
    })
}

/// Texts for responses that violate HTTP or the plan.
fn protocol_text(outcome: Outcome) -> Option<&'static str> {
    Some(match outcome {
        Outcome::ProtoNotHttp
        | Outcome::ProtoHttp09
        | Outcome::ProtoStatusLine
        | Outcome::ProtoReason => "malformed HTTP response",
        Outcome::ProtoVersion => "malformed HTTP version",
        Outcome::ProtoStatus => "malformed HTTP status code",
        Outcome::ProtoBareCr | Outcome::ProtoHeader | Outcome::ProtoTrailer => {
            "malformed MIME header line"
        }
        Outcome::ProtoContentLength => "bad Content-Length",
        Outcome::ProtoTransferCoding => "unsupported transfer encoding",
        Outcome::ProtoChunk => "invalid byte in chunk length",
        Outcome::ProtoUnexpected101 => "received status code 101",
        Outcome::LimitHead | Outcome::LimitHeaderCount => {
            "net/http: server response headers exceeded the limit; aborted"
        }
        Outcome::LimitInterim => "net/http: too many 1xx informational responses",
        Outcome::LimitChunkExtension => "chunked encoding contains too much non-data",
        Outcome::Decode => "gzip: invalid header",
        Outcome::RedirectLimit => "stopped after 10 redirects",
        Outcome::RedirectBlocked => "redirection not allowed",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_that_scripts_know_are_gos() {
        for (outcome, text) in [
            (Outcome::ConnectRefused, "connection refused"),
            (Outcome::Closed, "EOF"),
            (Outcome::Truncated, "unexpected EOF"),
            (
                Outcome::TimeoutHead,
                "net/http: timeout awaiting response headers",
            ),
            (Outcome::RedirectBlocked, "redirection not allowed"),
            (
                Outcome::TlsUntrusted,
                "x509: certificate signed by unknown authority",
            ),
            (Outcome::DnsNotFound, "lookup nowhere.invalid: no such host"),
        ] {
            assert_eq!(error_text(outcome, "", Some("nowhere.invalid")), text);
        }
        assert_eq!(
            error_text(Outcome::DnsEmpty, "", None),
            "lookup: no such host"
        );
        for (outcome, detail, text) in [
            (Outcome::TlsProtocol, CLOSED_IN_HANDSHAKE, "EOF"),
            (Outcome::Truncated, WAS_RESET, "connection reset by peer"),
        ] {
            assert_eq!(error_text(outcome, detail, None), text);
            assert_ne!(error_text(outcome, "", None), text);
        }
    }

    #[test]
    fn a_timeout_says_so() {
        for &outcome in Outcome::ALL.iter().filter(|o| o.is_timeout()) {
            let text = error_text(outcome, "", None);
            assert!(
                text.contains("timeout") || text.contains("deadline exceeded"),
                "{outcome:?}: {text}"
            );
        }
    }
}
