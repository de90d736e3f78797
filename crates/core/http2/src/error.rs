//! The failures of a connection or a stream, with a hint for the user.
//!
//! An [`Error`] ends the connection with all its streams, a [`StreamError`] one stream. Each
//! mistake is classified by RFC 9113 section 5.4: a mistake that leaves framing, the table of HPACK
//! or the connection's window in doubt ends the connection.

use crate::LimitKind;
use std::fmt;

/// A code of RST_STREAM and GOAWAY (RFC 9113 section 7). Codes without a name are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    /// No error.
    pub const NO_ERROR: Self = Self(0x0);
    /// A violation of the protocol that no other code describes.
    pub const PROTOCOL_ERROR: Self = Self(0x1);
    /// The peer itself has failed.
    pub const INTERNAL_ERROR: Self = Self(0x2);
    /// More data than the window allows.
    pub const FLOW_CONTROL_ERROR: Self = Self(0x3);
    /// SETTINGS were not acknowledged in time.
    pub const SETTINGS_TIMEOUT: Self = Self(0x4);
    /// A frame for a stream that is half-closed or closed.
    pub const STREAM_CLOSED: Self = Self(0x5);
    /// A frame of an invalid size.
    pub const FRAME_SIZE_ERROR: Self = Self(0x6);
    /// The stream was refused before it was processed.
    pub const REFUSED_STREAM: Self = Self(0x7);
    /// The stream has become unnecessary.
    pub const CANCEL: Self = Self(0x8);
    /// The state of header compression is lost.
    pub const COMPRESSION_ERROR: Self = Self(0x9);
    /// The connection of a CONNECT was reset.
    pub const CONNECT_ERROR: Self = Self(0xa);
    /// One side considers the other's behaviour excessive.
    pub const ENHANCE_YOUR_CALM: Self = Self(0xb);
    /// The transport is not secure enough.
    pub const INADEQUATE_SECURITY: Self = Self(0xc);
    /// HTTP/1.1 is required instead.
    pub const HTTP_1_1_REQUIRED: Self = Self(0xd);

    /// The code's name in the RFC; `None` for a code without a name.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        const NAMES: [&str; 14] = [
            "NO_ERROR",
            "PROTOCOL_ERROR",
            "INTERNAL_ERROR",
            "FLOW_CONTROL_ERROR",
            "SETTINGS_TIMEOUT",
            "STREAM_CLOSED",
            "FRAME_SIZE_ERROR",
            "REFUSED_STREAM",
            "CANCEL",
            "COMPRESSION_ERROR",
            "CONNECT_ERROR",
            "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY",
            "HTTP_1_1_REQUIRED",
        ];
        if self.0 < NAMES.len() as u32 {
            Some(NAMES[self.0 as usize])
        } else {
            None
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{:#x}", self.0),
        }
    }
}

/// Why a connection can't continue. Its output ends with a GOAWAY that has this code; close the
/// connection once it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The answer is not HTTP/2.
    NotHttp2(NotHttp2),
    /// The server has violated the protocol.
    Violation {
        /// The code that we send.
        code: ErrorCode,
        /// A short description of the mistake.
        what: &'static str,
    },
    /// The server has exceeded a limit; we send `ENHANCE_YOUR_CALM`.
    Limit(LimitKind),
}

impl Error {
    /// The code of the GOAWAY that we send.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::NotHttp2(_) => ErrorCode::PROTOCOL_ERROR,
            Self::Violation { code, .. } => *code,
            Self::Limit(_) => ErrorCode::ENHANCE_YOUR_CALM,
        }
    }

    /// The error of a server that has violated the protocol.
    pub(crate) const fn violation(code: ErrorCode, what: &'static str) -> Self {
        Self::Violation { code, what }
    }

    /// The error of a server that has violated the protocol, with the most usual code.
    pub(crate) const fn protocol(what: &'static str) -> Self {
        Self::violation(ErrorCode::PROTOCOL_ERROR, what)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotHttp2(what) => write!(f, "not HTTP/2 ({})", what.hint()),
            Self::Violation { code, what } => write!(f, "{code} ({what})"),
            Self::Limit(limit) => f.write_str(limit.name()),
        }
    }
}

impl std::error::Error for Error {}

/// The protocol of an answer that is not HTTP/2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotHttp2 {
    /// Bytes that do not occur in text.
    Binary,
    /// The beginning of another protocol's greeting, or of other text, escaped for a terminal.
    Greeting(Box<str>),
    /// A status line of HTTP/1, escaped for a terminal.
    Http1(Box<str>),
    /// A TLS record: the target expects https.
    Tls,
}

impl NotHttp2 {
    /// The protocol that the peer seems to use. At most 80 printable ASCII characters, safe for a
    /// terminal.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Binary => "the answer is binary".to_owned(),
            Self::Greeting(text) => format!("the peer sent {text}"),
            Self::Http1(line) => format!("the peer answered {line}"),
            Self::Tls => "the peer speaks TLS".to_owned(),
        }
    }
}

/// Why a stream has failed. The connection continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamError {
    /// The server has exceeded a limit; we have reset the stream with `ENHANCE_YOUR_CALM`.
    Limit(LimitKind),
    /// The server has reset the stream.
    Reset {
        /// The server's reason.
        code: ErrorCode,
    },
    /// The response ended before its declared length, which makes it malformed (RFC 9113 section
    /// 8.1.1); we have reset the stream.
    Truncated {
        /// The number of received bytes of its body.
        received: u64,
        /// The declared number of bytes.
        declared: u64,
    },
    /// The server has violated the protocol; we have reset the stream.
    Violation {
        /// The code that we send.
        code: ErrorCode,
        /// A short description of the mistake.
        what: &'static str,
    },
}

impl StreamError {
    /// The code of the RST_STREAM, sent by either side.
    #[must_use]
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::Limit(_) => ErrorCode::ENHANCE_YOUR_CALM,
            Self::Truncated { .. } => ErrorCode::PROTOCOL_ERROR,
            Self::Reset { code } | Self::Violation { code, .. } => code,
        }
    }

    /// A malformed message (RFC 9113 section 8.1.1).
    pub(crate) const fn malformed(what: &'static str) -> Self {
        Self::Violation {
            code: ErrorCode::PROTOCOL_ERROR,
            what,
        }
    }

    /// Whether the server guarantees that it did not process the request, so that it is safe to
    /// send it again (RFC 9113 section 8.7).
    #[must_use]
    pub fn is_unprocessed(self) -> bool {
        matches!(self, Self::Reset { code } if code == ErrorCode::REFUSED_STREAM)
    }
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(limit) => f.write_str(limit.name()),
            Self::Reset { code } => write!(f, "reset by the peer: {code}"),
            Self::Truncated { received, declared } => write!(
                f,
                "truncated (the stream ended after {received} of {declared} bytes)"
            ),
            Self::Violation { code, what } => write!(f, "{code} ({what})"),
        }
    }
}

impl std::error::Error for StreamError {}
