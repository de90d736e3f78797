//! Blame: maps each failure of a lower layer to the one outcome of an exchange.
//!
//! Sockets, TLS, the protocols, codings and data have their own error types. Each function here
//! maps one of these types to [`Outcome`]s, whose class shows who is to blame: the target, the
//! network, the plan or the generator. A [`Failure`] has an outcome and a detail that the outcome
//! does not contain, such as a server's error message.
//!
//! An error of a socket has a different meaning at each stage of its connection ([`During`]):
//! before the connection is open, a timeout is a failed dial; afterwards, it is the kernel's
//! verdict on unacknowledged segments.

use drumfire_coding as coding;
use drumfire_grpc::{Code, Status, Violation};
use drumfire_http1 as http1;
use drumfire_http2 as http2;
use drumfire_measure::{Cause, Detail, Outcome, OutcomeGroup};
use drumfire_net::IoError;
use drumfire_plan::{DataCause, DataError};
use drumfire_websocket as websocket;
use std::borrow::Cow;

/// The stage of a connection at which an I/O error occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum During {
    /// The connection is being opened.
    Connect,
    /// The TLS handshake is running.
    Tls,
    /// The connection is open and carries requests.
    Send,
}

/// The failure of an exchange or of a connection: its outcome, and a detail if the outcome needs
/// one.
///
/// [`Outcome::Ok`] is an outcome too: functions that judge a whole response return it as a
/// `Failure` without a detail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) outcome: Outcome,
    pub(crate) detail: Option<Detail>,
}

impl Failure {
    /// An outcome without a detail.
    #[inline]
    pub(crate) const fn from_outcome(outcome: Outcome) -> Self {
        Self {
            outcome,
            detail: None,
        }
    }

    /// Converts the failure for a connection that was being opened: a close without a reason
    /// becomes a reset.
    pub(crate) fn while_opening(self) -> Self {
        let cause = self.detail.as_ref().map(|detail| detail.cause);
        let is_plain = matches!(cause, None | Some(Some(Cause::NoCertificate)));
        match self.outcome {
            Outcome::Closed | Outcome::Reset if is_plain => Self {
                outcome: Outcome::ConnectReset,
                detail: self.detail,
            },
            _ => self,
        }
    }

    /// Adds the peer to the failure of a connection that was being opened. `peer` is an address, a
    /// path or a name.
    pub(crate) fn of_peer(self, peer: &str) -> Self {
        let cause = self.cause();
        let text = match (self.outcome, &self.detail) {
            (Outcome::ConnectRefused, _) => format!("{peer} refused the connection"),
            (Outcome::ConnectTimeout | Outcome::TimeoutConnect, _) => {
                format!("no answer from {peer}")
            }
            (Outcome::ConnectUnreachable, None) => format!("no route to {peer}"),
            (Outcome::ConnectUnreachable, Some(detail)) => {
                return Self::with(
                    self.outcome,
                    Detail::new(format!("{peer}: {}", detail.text), cause),
                );
            }
            (Outcome::ConnectReset, _) => format!("{peer} reset the connection while it opened"),
            (Outcome::TimeoutTls, _) => {
                format!("the TLS handshake with {peer} did not finish in time")
            }
            (
                Outcome::DnsNotFound | Outcome::DnsFailed | Outcome::DnsTimeout | Outcome::DnsEmpty,
                None,
            ) => format!("{peer}: {}", self.outcome.words()),
            _ => return self,
        };
        let text = match self.detail {
            Some(detail) => format!("{text}; {}", detail.text),
            None => text,
        };
        Self::with(self.outcome, Detail::new(text, cause))
    }

    /// Whether the response of an exchange with this failure is only incomplete: the bytes received
    /// are valid.
    pub(crate) fn is_incompleteness(&self) -> bool {
        let is_found = self.cause() == Some(Cause::Found);
        let group = self.outcome.group();
        let is_stream = matches!(
            group,
            OutcomeGroup::Http2Streams | OutcomeGroup::Http2Connections
        );
        matches!(
            self.outcome,
            Outcome::Truncated
                | Outcome::Closed
                | Outcome::Reset
                | Outcome::Send
                | Outcome::H2GoAway
        ) || self.outcome.is_timeout()
            || is_stream && !is_found
    }

    /// The failure of an exchange in whose reply drumfire itself found the mistake: the outcome has
    /// the name of a code that the server did not send.
    fn found(outcome: Outcome, what: &str) -> Self {
        Self::with(outcome, Detail::new(what, Some(Cause::Found)))
    }

    /// The failure of a connection that ended after a handshake in which the server requested a
    /// client certificate and received none. The text of the failure itself comes first.
    pub(crate) fn without_certificate(self) -> Self {
        const WORDS: &str = "the server requested a client certificate, and none was sent";
        let text = match self.detail {
            Some(detail) => format!("{}; {WORDS}", detail.text),
            None => WORDS.to_owned(),
        };
        Self::with(self.outcome, Detail::new(text, Some(Cause::NoCertificate)))
    }

    /// The cause, if it is known.
    pub(crate) fn cause(&self) -> Option<Cause> {
        self.detail.as_ref().and_then(|detail| detail.cause)
    }

    /// The cause that this failure passes on to a failure that it led to.
    pub(crate) fn inherited_cause(&self) -> Option<Cause> {
        self.cause().and_then(Cause::inherited)
    }

    /// The text of the failure: the detail, or else the outcome's description.
    pub(crate) fn words(&self) -> Cow<'_, str> {
        match &self.detail {
            Some(detail) => Cow::Owned(detail.to_string()),
            None => Cow::Borrowed(self.outcome.words()),
        }
    }

    /// Adds a circumstance to the text.
    pub(crate) fn because(self, why: &str) -> Self {
        let cause = self.cause();
        let text = match self.detail {
            Some(detail) => format!("{}; {why}", detail.text),
            None => format!("{}; {why}", self.outcome.words()),
        };
        Self::with(self.outcome, Detail::new(text, cause))
    }

    /// Adds to this first failure of an exchange that the exchange was to be sent again, and that
    /// `other` ended it before a connection took it.
    pub(crate) fn not_resent(self, other: &Self) -> Self {
        let (name, words) = (other.outcome.name(), other.words());
        let mut failure = self.because(&format!("not sent again: {name}: {words}"));
        if let Some(detail) = &mut failure.detail {
            detail.cause = detail.cause.or_else(|| other.inherited_cause());
        }
        failure
    }

    /// An outcome with a detail.
    pub(crate) fn with(outcome: Outcome, detail: impl Into<Detail>) -> Self {
        Self {
            outcome,
            detail: Some(detail.into()),
        }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        Self::with(data_outcome(error.cause), error.words)
    }
}

/// The outcome of a request that can't be rendered.
pub(crate) const fn data_outcome(cause: DataCause) -> Outcome {
    match cause {
        DataCause::Data | DataCause::Name => Outcome::BadData,
        DataCause::Script | DataCause::Function => Outcome::Script,
    }
}

/// The failure of a connection whose socket returned this error at this stage.
pub(crate) fn io_failure(error: IoError, during: During) -> Failure {
    let outcome = match (&error, during) {
        // The connection was open, and the kernel gave it up.
        (IoError::Refused | IoError::TimedOut | IoError::Unreachable, During::Send) => {
            Outcome::Reset
        }
        (IoError::Refused, _) => Outcome::ConnectRefused,
        (IoError::TimedOut, _) => Outcome::ConnectTimeout,
        (IoError::Unreachable, _) => Outcome::ConnectUnreachable,
        (IoError::NoDescriptors, _) => Outcome::LocalDescriptors,
        (IoError::NoPorts, _) => Outcome::LocalPorts,
        (IoError::NoMemory, _) => Outcome::LocalMemory,
        (IoError::Local(_), _) => Outcome::LocalSystem,
        (IoError::TlsExpired(_), _) => Outcome::TlsExpired,
        (IoError::TlsName(_), _) => Outcome::TlsName,
        (IoError::TlsUntrusted(_) | IoError::TlsCertificateVersion, _) => Outcome::TlsUntrusted,
        (IoError::TlsAlert(_), _) => Outcome::TlsAlert,
        (IoError::TlsAlpn, _) => Outcome::TlsAlpn,
        // A reset in the handshake does not show that the server uses another protocol.
        (IoError::Reset, During::Connect | During::Tls) => Outcome::ConnectReset,
        (
            IoError::TlsProtocol(_)
            | IoError::TlsVersion
            | IoError::TlsNoCloseNotify
            | IoError::TlsCut,
            _,
        )
        | (_, During::Tls) => Outcome::TlsProtocol,
        (_, During::Connect) => Outcome::ConnectUnreachable,
        (IoError::Reset, During::Send) => Outcome::Reset,
        (_, During::Send) => Outcome::Send,
    };
    let detail = match (&error, during) {
        (IoError::TimedOut, During::Send) => Some("the peer did not acknowledge the data".into()),
        (IoError::Unreachable, During::Send) => Some("no route to the peer".into()),
        _ => io_detail(error),
    };
    Failure { outcome, detail }
}

/// The detail of an I/O error that its outcome does not contain.
pub(crate) fn io_detail(error: IoError) -> Option<Detail> {
    let remedied = |text: &str| Some(Detail::new(text, Some(Cause::Remedied)));
    match error {
        IoError::TlsExpired(text)
        | IoError::TlsName(text)
        | IoError::TlsUntrusted(text)
        | IoError::TlsAlert(text)
        | IoError::TlsProtocol(text)
        | IoError::Other(text) => Some(text.into()),
        IoError::TlsVersion => {
            remedied("the server supports neither TLS 1.2 nor TLS 1.3; enable one of them there")
        }
        IoError::TlsCertificateVersion => remedied(
            "the certificate is of X.509 version 1, which can't be verified; issue it as version \
             3, for example with `openssl x509 -req -extfile FILE`",
        ),
        IoError::Local(fault) => Some(fault.to_string().into()),
        _ => None,
    }
}

/// The outcome of a response that broke the protocol or ended early.
pub(crate) fn http1_outcome(error: &http1::Error) -> Outcome {
    use http1::Error;
    match error {
        Error::NotHttp(_) => Outcome::ProtoNotHttp,
        Error::Http09(_) => Outcome::ProtoHttp09,
        Error::Version(_) => Outcome::ProtoVersion,
        Error::StatusLine => Outcome::ProtoStatusLine,
        Error::Status => Outcome::ProtoStatus,
        Error::Reason => Outcome::ProtoReason,
        Error::BareCr => Outcome::ProtoBareCr,
        Error::Header => Outcome::ProtoHeader,
        Error::ContentLength => Outcome::ProtoContentLength,
        Error::TransferCoding => Outcome::ProtoTransferCoding,
        Error::Chunk => Outcome::ProtoChunk,
        Error::Trailer => Outcome::ProtoTrailer,
        Error::Unexpected101 => Outcome::ProtoUnexpected101,
        Error::Truncated(_) => Outcome::Truncated,
        Error::Closed | Error::Unsolicited => Outcome::Closed,
        Error::ClosedInHead => Outcome::ClosedInHead,
        Error::Reset => Outcome::Reset,
        Error::LimitHead => Outcome::LimitHead,
        Error::LimitHeaderCount => Outcome::LimitHeaderCount,
        Error::LimitInterim => Outcome::LimitInterim,
        Error::LimitChunkExtension => Outcome::LimitChunkExtension,
        Error::LimitBody => Outcome::LimitBody,
    }
}

/// The outcome of a body that could not be decoded.
pub(crate) fn coding_outcome(error: &coding::Error) -> Outcome {
    match error {
        coding::Error::Limit => Outcome::LimitDecoded,
        _ => Outcome::Decode,
    }
}

/// The outcome of a connection that broke HTTP/2.
pub(crate) fn http2_failure(error: &http2::Error) -> Failure {
    use http2::Error;
    let outcome = match error {
        // The outcome's description already contains "not HTTP/2".
        Error::NotHttp2(what) => return Failure::with(Outcome::ProtoNotHttp2, what.hint()),
        // The limit has already failed the stream that the head belongs to.
        Error::Limit(http2::LimitKind::Head) => {
            let outcome = Outcome::h2_connection(error.code().0);
            return Failure::found(outcome, "the response head of another stream is too long");
        }
        Error::Violation { code, what } => {
            return Failure::found(Outcome::h2_connection(code.0), what);
        }
        Error::Limit(limit) => limit_outcome(*limit),
    };
    Failure::with(outcome, error.to_string())
}

/// The outcome of a stream that failed.
pub(crate) fn stream_failure(error: http2::StreamError) -> Failure {
    use http2::StreamError;
    match error {
        StreamError::Limit(limit) => Failure::from_outcome(limit_outcome(limit)),
        StreamError::Truncated { received, declared } => Failure::with(
            Outcome::Truncated,
            format!("the stream ended after {received} of {declared} bytes"),
        ),
        StreamError::Reset { code } => {
            Failure::with(Outcome::h2_stream(code.0), by_server(code, None))
        }
        StreamError::Violation { code, what } => Failure::found(Outcome::h2_stream(code.0), what),
    }
}

/// The detail for an error code from the server: the server's message, and the code if it has no
/// name.
pub(crate) fn by_server(code: http2::ErrorCode, words: Option<&str>) -> String {
    let words = words.unwrap_or("by the server");
    match code.name() {
        Some(_) => words.to_owned(),
        None => format!("{words} (error code {code})"),
    }
}

/// The outcome for a limit that a server reached.
fn limit_outcome(limit: http2::LimitKind) -> Outcome {
    match limit {
        http2::LimitKind::Frames | http2::LimitKind::Output => Outcome::LimitFrames,
        http2::LimitKind::Head => Outcome::LimitHead,
        http2::LimitKind::HeaderCount => Outcome::LimitHeaderCount,
        http2::LimitKind::Interim => Outcome::LimitInterim,
    }
}

/// The end of a call with this status, which may be OK. The detail is the server's message, or the
/// mistake in an invalid reply.
pub(crate) fn call_verdict(status: Status) -> Failure {
    let outcome = match status.violation {
        // The limit is the plan's, and the server would report it with the same code.
        Some(Violation::MessageTooLong) => Outcome::LimitMessage,
        _ => Outcome::grpc(status.code.number()),
    };
    match status.violation {
        Some(wrong) => {
            let found = Failure::found(outcome, &wrong.to_string());
            match status.message {
                Some(words) => found.because(&format!("the server's message: {words}")),
                None => found,
            }
        }
        None => Failure {
            outcome,
            detail: status.message.map(|text| String::from(text).into()),
        },
    }
}

/// The status of a call whose server sent no status, mapped from HTTP/2's error codes and local
/// failures as gRPC's libraries do.
pub(crate) fn grpc_code(outcome: Outcome) -> u16 {
    let code = match outcome {
        Outcome::BadData | Outcome::Script | Outcome::Decode | Outcome::Truncated => Code::INTERNAL,
        Outcome::LocalCancelled => Code::CANCELLED,
        Outcome::LimitFrames
        | Outcome::LimitHead
        | Outcome::LimitHeaderCount
        | Outcome::LimitInterim
        | Outcome::LimitMessage
        | Outcome::LimitBody => Code::RESOURCE_EXHAUSTED,
        Outcome::TimeoutPing => Code::UNAVAILABLE,
        outcome if outcome.is_timeout() => Code::DEADLINE_EXCEEDED,
        outcome => match (0..14).find(|code| outcome == Outcome::h2_stream(*code)) {
            Some(code) => Code::of_http2(code),
            None => Code::UNAVAILABLE,
        },
    };
    u16::from(code.number())
}

/// The failure of an exchange on a WebSocket whose server breaks the protocol.
pub(crate) fn socket_violation(violation: &websocket::Violation) -> Failure {
    let outcome = match violation {
        websocket::Violation::MessageTooLong => Outcome::LimitMessage,
        _ => Outcome::WebSocketProtocol,
    };
    Failure::with(outcome, violation.to_string())
}

/// The failure of an exchange on a WebSocket that the server has closed.
pub(crate) fn socket_closed(code: Option<websocket::CloseCode>, reason: &str) -> Failure {
    let mut text = match code {
        Some(code) => format!("the code is {code}"),
        None => "the close frame has no code".to_owned(),
    };
    if !reason.is_empty() {
        text.push_str(&format!(", the reason `{}`", reason.escape_debug()));
    }
    Failure::with(Outcome::WebSocketClosed, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_measure::{GRPC_STATUS, status_name};

    #[test]
    fn an_open_connection_does_not_fail_to_open() {
        for error in [IoError::Refused, IoError::TimedOut, IoError::Unreachable] {
            let failed = |during| io_failure(error.clone(), during).outcome;
            assert_eq!(failed(During::Send), Outcome::Reset, "{error:?}");
            let while_opened = failed(During::Connect).name();
            assert!(while_opened.starts_with("connect:"), "{while_opened}");
        }
    }

    #[test]
    fn details_say_what_the_outcome_does_not() {
        let failure = call_verdict(Violation::HttpStatus(502).into());
        assert_eq!(failure.outcome, Outcome::GrpcUnavailable);
        assert_eq!(failure.cause(), Some(Cause::Found));
        assert_eq!(
            failure.words(),
            "found by drumfire: HTTP status 502, not a gRPC reply"
        );
        assert_eq!(
            grpc_code(Outcome::ProtoNotHttp2),
            u16::from(Code::UNAVAILABLE.number())
        );
        let error = http2::Error::NotHttp2(http2::NotHttp2::Http1("HTTP/1.1 400 No".into()));
        let failure = http2_failure(&error);
        let said = format!("{}: {}", failure.outcome.words(), failure.words());
        assert_eq!(
            said,
            "the response is not HTTP/2: the peer answered HTTP/1.1 400 No"
        );
    }

    #[test]
    fn statuses_have_one_name_wherever_they_are_named() {
        for number in 0..=u8::MAX {
            let counted = status_name(GRPC_STATUS + u16::from(number));
            match Code::of_number(number) {
                Some(code) => assert_eq!(counted, code.name()),
                // Like HTTP statuses, an unknown code has its digits as its name.
                None => assert!(
                    counted.bytes().all(|byte| byte.is_ascii_digit()),
                    "{counted}"
                ),
            }
        }
    }
}
