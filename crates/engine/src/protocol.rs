//! The protocols that a pool may speak, as answers to what the engine asks before there is a
//! connection. What a connection can do once it is open, its [`crate::wire::Wire`] answers.

use drumfire_plan::HttpVersion;

/// The protocol of a pool's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

impl From<HttpVersion> for Protocol {
    fn from(version: HttpVersion) -> Self {
        match version {
            HttpVersion::Http1 => Self::Http1,
            HttpVersion::Http2 => Self::Http2,
        }
    }
}

impl Protocol {
    /// Whether a connection carries one exchange at a time, and so belongs to the exchange that
    /// waits for it.
    #[inline]
    pub(crate) const fn is_exclusive(self) -> bool {
        match self {
            Self::Http1 => true,
            Self::Http2 => false,
        }
    }

    /// The protocol's name in ALPN (RFC 7301).
    pub(crate) const fn alpn(self) -> &'static [u8] {
        match self {
            Self::Http1 => b"http/1.1",
            Self::Http2 => b"h2",
        }
    }

    /// Whether TLS must have agreed on it: a server that ignores ALPN speaks HTTP/1.1
    /// (RFC 9113 section 3.3).
    pub(crate) const fn must_be_agreed(self) -> bool {
        match self {
            Self::Http1 => false,
            Self::Http2 => true,
        }
    }

    /// Whether the server may send before it has received a byte, as the server's connection
    /// preface (RFC 9113 section 3.4).
    pub(crate) const fn server_speaks_first(self) -> bool {
        match self {
            Self::Http1 => false,
            Self::Http2 => true,
        }
    }
}
