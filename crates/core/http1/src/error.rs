//! How a response fails: one variant for each class, with a hint for the user.

use std::fmt;

/// How the stream ended within a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The peer closed the connection.
    Closed,
    /// The peer reset the connection.
    Reset,
}

/// The protocol of an answer that is not HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotHttp {
    /// A TLS record: the target expects https.
    Tls,
    /// An HTTP/2 SETTINGS frame.
    Http2,
    /// Bytes that do not occur in text.
    Binary,
    /// The beginning of another protocol's greeting, escaped for a terminal.
    Greeting(Box<str>),
}

/// The error that ends an exchange. The connection must be closed after any of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The answer is not HTTP.
    NotHttp(NotHttp),
    /// The answer has no status line, but text, as an HTTP/0.9 server would send it. Contains its
    /// beginning, escaped for a terminal.
    Http09(Box<str>),
    /// The status line names a protocol or version other than HTTP/1.x (RFC 9112 section 2.3).
    /// Contains the line, escaped for a terminal.
    Version(Box<str>),
    /// The status line is malformed (RFC 9112 section 4).
    StatusLine,
    /// The status is not three digits (RFC 9112 section 4).
    Status,
    /// The reason phrase contains a forbidden character (RFC 9112 section 4).
    Reason,
    /// The head contains a CR without an LF after it (RFC 9112 section 2.2).
    BareCr,
    /// A field line is malformed (RFC 9112 section 5).
    Header,
    /// The Content-Length is malformed or contradicts itself (RFC 9112 section 6.3).
    ContentLength,
    /// The Transfer-Encoding is anything other than a single `chunked` (RFC 9112 section 6.1).
    TransferCoding,
    /// A chunk is malformed (RFC 9112 section 7.1).
    Chunk,
    /// A trailer field is malformed (RFC 9112 section 7.1.2).
    Trailer,
    /// A 101 response to a request that did not ask for an upgrade (RFC 9110 section 15.2.2).
    Unexpected101,
    /// The stream ended within the body.
    Truncated(Cut),
    /// The peer closed the connection before the first byte of a final response.
    Closed,
    /// The peer closed the connection within a head.
    ClosedInHead,
    /// The peer reset the connection before the body began.
    Reset,
    /// The head, or the trailers, have more bytes than [`crate::Limits::head_bytes`].
    LimitHead,
    /// The head has more fields than [`crate::Limits::header_count`].
    LimitHeaderCount,
    /// The response has more interim responses than [`crate::Limits::interim`].
    LimitInterim,
    /// The chunks have more extension bytes than [`crate::Limits::chunk_extension_bytes`].
    LimitChunkExtension,
    /// The body is larger than [`crate::Limits::body_bytes`].
    LimitBody,
    /// The peer sent bytes while no response was outstanding. This does not fail an exchange, but
    /// the connection must be closed before its next use.
    Unsolicited,
}

impl Error {
    /// The stable name of the class, as it appears in the results.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NotHttp(_) => "proto:not_http",
            Self::Http09(_) => "proto:http09",
            Self::Version(_) => "proto:version",
            Self::StatusLine => "proto:status_line",
            Self::Status => "proto:status",
            Self::Reason => "proto:reason",
            Self::BareCr => "proto:bare_cr",
            Self::Header => "proto:header",
            Self::ContentLength => "proto:content_length",
            Self::TransferCoding => "proto:transfer_coding",
            Self::Chunk => "proto:chunk",
            Self::Trailer => "proto:trailer",
            Self::Unexpected101 => "proto:unexpected_101",
            Self::Truncated(_) => "truncated",
            Self::Closed => "closed",
            Self::ClosedInHead => "closed:in_head",
            Self::Reset => "reset",
            Self::LimitHead => "limit:head",
            Self::LimitHeaderCount => "limit:header_count",
            Self::LimitInterim => "limit:interim",
            Self::LimitChunkExtension => "limit:chunk_ext",
            Self::LimitBody => "limit:body",
            Self::Unsolicited => "unsolicited",
        }
    }

    /// A detail in addition to the class: the protocol that the peer seems to use, or how it ended
    /// the stream. At most 80 printable ASCII characters, safe for a terminal.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotHttp(NotHttp::Tls) => Some("looks like TLS; use https".to_owned()),
            Self::NotHttp(NotHttp::Http2) => Some("the peer speaks HTTP/2".to_owned()),
            Self::NotHttp(NotHttp::Binary) => Some("the answer is binary".to_owned()),
            Self::NotHttp(NotHttp::Greeting(text)) => Some(format!("the peer sent {text}")),
            Self::Http09(text) => Some(format!("the first line is {text}")),
            Self::Version(text) => Some(format!("the status line is {text}")),
            Self::Truncated(Cut::Closed) => {
                Some("the connection was closed before the body was complete".to_owned())
            }
            Self::Truncated(Cut::Reset) => {
                Some("the connection was reset before the body was complete".to_owned())
            }
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self.hint() {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
