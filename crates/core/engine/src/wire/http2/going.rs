//! A server's GOAWAY: the end of a connection for further streams (RFC 9113 section 6.8).
//!
//! The code is kept, and the debug data as text, because a server sends no other reason. The length
//! of a frame bounds the length of the data.

use crate::blame::{Failure, by_server};
use crate::wire::{Refusal, Resend};
use drumfire_http2::ErrorCode;
use drumfire_measure::{Detail, Outcome};
use drumfire_units::Nanos;

/// The debug data of gRPC servers' GOAWAY for a client that pings too often.
const TOO_MANY_PINGS: &[u8] = b"too_many_pings";

/// A server's GOAWAY.
#[derive(Clone, Debug)]
pub(super) struct GoingAway {
    code: ErrorCode,
    words: Option<Box<str>>,
}

impl GoingAway {
    /// Keeps a GOAWAY of the server.
    #[cold]
    pub(super) fn new(code: ErrorCode, debug: &[u8]) -> Self {
        let words = (!debug.is_empty()).then(|| String::from_utf8_lossy(debug).into());
        Self { code, words }
    }

    /// Replaces the previous GOAWAY, unless only that one has an error.
    #[cold]
    pub(super) fn keep_in(self, place: &mut Option<Self>) {
        let has_error = place.as_ref().is_some_and(Self::is_error);
        if !has_error || self.is_error() {
            *place = Some(self);
        }
    }

    /// Whether the GOAWAY has an error.
    pub(super) const fn is_error(&self) -> bool {
        self.code.0 != ErrorCode::NO_ERROR.0
    }

    /// The failure of an exchange that the GOAWAY leaves unfinished, whether or not the server has
    /// begun to process it: the code and the text are the same.
    pub(super) fn failure(&self) -> Failure {
        let words = self.words.as_deref();
        match self.is_error() {
            false => Failure {
                outcome: Outcome::H2GoAway,
                detail: words.map(Detail::from),
            },
            true => Failure {
                outcome: Outcome::h2_connection(self.code.0),
                detail: Some(by_server(self.code, words).into()),
            },
        }
    }

    /// Whether an exchange that the server has not processed may be sent again. Not after an error
    /// on a connection without any answer, because the next connection would end in the same way.
    pub(super) const fn resend(&self, has_answered: bool) -> Resend {
        match has_answered || !self.is_error() {
            true => Resend::After(Nanos::ZERO),
            false => Resend::Never,
        }
    }
}

/// The reason in a GOAWAY's debug data.
pub(super) fn refusal(debug: &[u8]) -> Refusal {
    match debug {
        TOO_MANY_PINGS => Refusal::TooManyPings,
        _ => Refusal::Own,
    }
}
