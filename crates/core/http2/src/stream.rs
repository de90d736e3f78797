//! A caller's view of a stream: its handle, the end of its request, and why it can't be used.

use std::fmt;

/// A stream of one connection, valid as long as it is open, and on no other connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamRef(pub(crate) u32);

impl StreamRef {
    /// The stream's id on the wire.
    #[must_use]
    pub const fn id(self) -> u32 {
        self.0
    }
}

/// Whether these bytes are the last of their request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndStream {
    /// More bytes follow.
    No,
    /// The request ends after these bytes.
    Yes,
}

/// Why no stream can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// Not now: [`crate::Connection::capacity`] is 0.
    Full,
    /// Never again: [`crate::Connection::is_spent`].
    Spent,
    /// The head has `:protocol`, which the server does not accept:
    /// [`crate::Connection::connects_by_protocol`].
    NoConnectProtocol,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the connection has no room for a stream",
            Self::Spent => "the connection takes no further streams",
            Self::NoConnectProtocol => {
                "the server does not offer other protocols over HTTP/2 (RFC 8441)"
            }
        })
    }
}

impl std::error::Error for OpenError {}

/// The error of a stream that is closed, or whose request has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamGone;

impl fmt::Display for StreamGone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the stream is closed")
    }
}

impl std::error::Error for StreamGone {}
