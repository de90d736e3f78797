//! The protocols of pools, with the properties that the engine needs before a connection exists.
//! The abilities of an open connection belong to its [`crate::wire::Wire`].
//!
//! Another protocol needs a variant here and a wire. Each property below is an exhaustive `match`,
//! so that the compiler requires a value for the new variant.

use drumfire_plan::{HttpRequest, HttpVersion, Pool};

/// The protocol of a pool's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Protocol {
    Http1,
    Http2,
    /// A WebSocket, opened over HTTP/1.1.
    WebSocket,
    /// A WebSocket on a stream of HTTP/2, which has the connection for itself (RFC 8441).
    WebSocketStream,
}

impl Protocol {
    /// The protocol of an HTTP proxy before its tunnel is open.
    pub(crate) const OF_PROXIES: Self = Self::Http1;

    /// The protocol of a plan's pool.
    pub(crate) const fn for_pool(pool: &Pool) -> Self {
        match pool.http.version {
            HttpVersion::Http1 => Self::Http1,
            HttpVersion::Http2 => Self::Http2,
        }
    }

    /// The protocol of a request of a pool.
    pub(crate) const fn for_request(pool: &Pool, request: &HttpRequest) -> Self {
        match (&request.socket, pool.http.version) {
            (None, _) => Self::for_pool(pool),
            (Some(_), HttpVersion::Http1) => Self::WebSocket,
            (Some(_), HttpVersion::Http2) => Self::WebSocketStream,
        }
    }

    /// Whether no connection of a pool carries several exchanges at a time: over HTTP/1.1, and if all
    /// requests are those of WebSockets, which have a connection each.
    pub(crate) fn is_exclusive_for(pool: &Pool) -> bool {
        let mut protocols = pool.requests.iter();
        protocols.all(|request| Self::for_request(pool, request).is_exclusive())
    }

    /// Whether the protocol is that of WebSockets.
    pub(crate) const fn is_socket(self) -> bool {
        match self {
            Self::Http1 | Self::Http2 => false,
            Self::WebSocket | Self::WebSocketStream => true,
        }
    }

    /// Whether a connection carries one exchange at a time, and so belongs to the exchange that
    /// waits for it.
    #[inline]
    pub(crate) const fn is_exclusive(self) -> bool {
        match self {
            Self::Http1 | Self::WebSocket | Self::WebSocketStream => true,
            Self::Http2 => false,
        }
    }

    /// Whether a request is a stream with a head and data (RFC 9113 section 8.1) instead of text.
    #[inline]
    pub(crate) const fn has_streams(self) -> bool {
        match self {
            Self::Http1 | Self::WebSocket => false,
            Self::Http2 | Self::WebSocketStream => true,
        }
    }

    /// Whether a request to a proxy without a tunnel may have a target in absolute form (RFC 9112
    /// section 3.2.2).
    pub(crate) const fn has_absolute_form(self) -> bool {
        match self {
            Self::Http1 => true,
            Self::Http2 | Self::WebSocket | Self::WebSocketStream => false,
        }
    }

    /// The protocol's name in ALPN (RFC 7301).
    pub(crate) const fn alpn(self) -> &'static [u8] {
        match self {
            Self::Http1 | Self::WebSocket => b"http/1.1",
            Self::Http2 | Self::WebSocketStream => b"h2",
        }
    }

    /// Whether TLS must have negotiated the protocol: a server that ignores ALPN speaks HTTP/1.1
    /// (RFC 9113 section 3.3).
    pub(crate) const fn must_be_agreed(self) -> bool {
        match self {
            Self::Http1 | Self::WebSocket => false,
            Self::Http2 | Self::WebSocketStream => true,
        }
    }

    /// Whether the server may send first, as in the server's connection preface (RFC 9113 section
    /// 3.4).
    pub(crate) const fn server_speaks_first(self) -> bool {
        match self {
            Self::Http1 | Self::WebSocket => false,
            Self::Http2 | Self::WebSocketStream => true,
        }
    }
}
