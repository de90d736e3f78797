//! A server's GOAWAY: the end of a connection for further streams (RFC 9113 section 6.8).
//!
//! Its code is kept, and its debug data as text, since it is the only word that a server has on the
//! reason. The length of the data is bounded by that of a frame.

use crate::blame::Failure;
use crate::wire::Refusal;
use drumfire_http2::ErrorCode;
use drumfire_measure::Outcome;

/// The debug data of gRPC servers' GOAWAY for a client that pings too often.
const TOO_MANY_PINGS: &[u8] = b"too_many_pings";

/// A server's GOAWAY.
#[derive(Clone, Debug)]
pub(super) struct GoingAway {
    code: u32,
    words: Option<Box<str>>,
}

impl GoingAway {
    /// Keeps a GOAWAY of the server.
    #[cold]
    pub(super) fn new(code: ErrorCode, debug: &[u8]) -> Self {
        let words = (!debug.is_empty()).then(|| String::from_utf8_lossy(debug).into());
        Self {
            code: code.0,
            words,
        }
    }

    /// Whether it names an error.
    pub(super) const fn is_error(&self) -> bool {
        self.code != 0
    }

    /// The failure of an exchange that it leaves behind.
    pub(super) fn failure(&self) -> Failure {
        Failure {
            outcome: match self.code {
                0 => Outcome::H2GoAway,
                code => Outcome::h2_connection(code),
            },
            detail: self.words.as_deref().map(str::to_owned),
        }
    }
}

/// The reason that a GOAWAY's debug data gives.
pub(super) fn refusal(debug: &[u8]) -> Refusal {
    match debug {
        TOO_MANY_PINGS => Refusal::TooManyPings,
        _ => Refusal::Own,
    }
}
