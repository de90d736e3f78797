//! HTTP requests and the settings of their transport.

use crate::{
    Call, EventStream, Expect, Header, Inspection, Life, Method, RequestData, Url, WebSocket,
};
use drumfire_units::{ByteSize, Nanos};
use std::sync::Arc;

/// A request's body, shared by all requests that send it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body(pub Option<Arc<[u8]>>);

/// One request to send, fixed before the run.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    /// The request's origin and target.
    pub url: Url,
    /// The method.
    pub method: Method,
    /// The fields in the given order. A `Host` field replaces the URL's host.
    pub headers: Vec<Header>,
    /// The body; `None` sends neither a body nor a Content-Length.
    pub body: Body,
    /// The name under which the request's figures are reported; one step per distinct name.
    pub step: String,
    /// The varying parts; `None` if nothing varies. A varying body is empty in this struct.
    /// Rendered parts replace the fixed ones, except that rendered fields follow the fixed fields.
    pub data: Option<Arc<dyn RequestData>>,
    /// The gRPC call of the request. The call then contains the body, and `body` is `None`.
    pub call: Option<Arc<Call>>,
    /// The maximum time of an exchange, instead of the pool's; [`Nanos::MAX`] means no limit. A
    /// call has a deadline instead, and `None` here.
    pub timeout: Option<Nanos>,
    /// How the response is read as an event stream; `None` if it is read as one body. Not for calls.
    pub events: Option<EventStream>,
    /// What the request does on a WebSocket; `None` for requests of HTTP. Then `url` and `headers`
    /// belong to the opening handshake, and the body is the message.
    pub socket: Option<Arc<WebSocket>>,
    /// The statuses that are ok, if they differ from the pool's.
    pub expect: Option<Expect>,
    /// The checks of the response beyond its status, and the values taken from it; not for calls.
    pub inspection: Option<Arc<dyn Inspection>>,
}

impl HttpRequest {
    /// A request without fields, body, step and anything else.
    #[must_use]
    pub const fn new(method: Method, url: Url) -> Self {
        Self {
            url,
            method,
            headers: Vec::new(),
            body: Body(None),
            step: String::new(),
            data: None,
            call: None,
            timeout: None,
            events: None,
            socket: None,
            expect: None,
            inspection: None,
        }
    }
}

/// The version of HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpVersion {
    /// HTTP/1.1.
    #[default]
    Http1,
    /// HTTP/2: by ALPN on https, by prior knowledge on http.
    Http2,
}

/// The settings of a target's protocol.
#[derive(Clone, Debug, Default)]
pub struct HttpOptions {
    /// The version to speak.
    pub version: HttpVersion,
    /// Whether to request compressed bodies and decode them.
    pub compressed: Compressed,
    /// The treatment of a redirect.
    pub redirects: Redirects,
    /// Which request follows a redirect.
    pub redirect_style: RedirectStyle,
    /// Names of header fields that stay at their origin, like fields whose names suggest secrets,
    /// because the plan marks their values as secret.
    pub private_headers: Vec<String>,
    /// Whether to send `Expect: 100-continue` before a body.
    pub expect_continue: ExpectContinue,
}

/// Whether bodies are decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compressed {
    /// Send no Accept-Encoding; count bytes as received.
    #[default]
    AsSent,
    /// Request gzip, deflate, br and zstd, and decode at most this many bytes per body.
    Decode(ByteSize),
    /// Request gzip only, and decode at most this many bytes per body; other codings are not
    /// decoded.
    DecodeGzip(ByteSize),
}

/// Whether a body waits for `100 Continue`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExpectContinue {
    /// The body follows the head at once.
    #[default]
    No,
    /// The body waits for the server's response, or for this time.
    Wait(Nanos),
}

/// The treatment of a redirect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redirects {
    /// The redirect is the response.
    #[default]
    Report,
    /// Follow at most this many, then fail with `redirect_limit`.
    Follow(u32),
    /// A redirect with a Location is an error.
    Refuse,
}

/// Which request follows a redirect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RedirectStyle {
    /// As in browsers: 303 changes every method but HEAD to GET, and 301 and 302 change POST to GET
    /// (Fetch, section 4.4).
    #[default]
    Fetch,
    /// As in Go's client: 301, 302 and 303 change every method but HEAD to GET, and `Referer`
    /// contains the URL of the previous request.
    Go,
}

/// The number of connections and their lifetime.
#[derive(Clone, Debug)]
pub struct Connections {
    /// The maximum number of open connections; at least 1.
    pub count: u32,
    /// When connections are opened.
    pub growth: Growth,
    /// The maximum number of exchanges per connection at a time; at least 1, and 1 with HTTP/1.1. A
    /// server may allow fewer.
    pub streams: u32,
    /// Whether a connection carries more than one request.
    pub keep_alive: KeepAlive,
    /// The reaction to a kept-alive connection that turns out to be closed.
    pub reused_closed: ReusedClosed,
    /// Whether the server's `Keep-Alive` field is obeyed.
    pub hints: KeepAliveHints,
    /// Which ends of TLS complete a body that extends to the end of the connection.
    pub tls_end: TlsEnd,
    /// The maximum time that a slot waits before it dials a refusing target again.
    pub backoff_max: Nanos,
    /// Which of a name's addresses connections use.
    pub spread: Spread,
    /// Whether a user always uses the same connection.
    pub affinity: Affinity,
    /// When silent connections are pinged; only with HTTP/2.
    pub ping: Option<Ping>,
    /// How the time counts in which an exchange's connection is opened.
    pub opening: Opening,
    /// When a working connection is closed.
    pub life: Life,
}

/// How the time counts in which an exchange waits for its connection to be opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Opening {
    /// As waiting: the service time of the exchange begins when its first byte is sent.
    #[default]
    Waiting,
    /// As service time, as in clients that are called for a response and open connections
    /// themselves: the service time begins when the exchange takes its seat.
    Service,
}

/// When connections are opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// All connections are opened before the run starts.
    #[default]
    Ahead,
    /// Another connection is opened whenever a request finds none free, up to the count. If several
    /// connections are free, the most recently used one is taken, as the many callers of a service
    /// do. Requires [`Affinity::Shared`].
    AsNeeded,
}

/// Whether a user always uses the same connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Affinity {
    /// A request takes the connection that has been free for longest.
    #[default]
    Shared,
    /// All requests of a user take the same connection, and users are assigned to connections in
    /// turn: of n, user u has number u mod n.
    User,
}

/// Which of a name's addresses connections use. An address that refuses is skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// All addresses in turn, so that each has the same number of connections.
    #[default]
    Turn,
    /// The first address that accepts, in the resolver's order.
    First,
}

/// Pings a silent connection with active requests, to check whether its peer is alive (RFC 9113
/// section 6.7; gRPC calls this keepalive). A connection without active requests is not pinged,
/// because servers treat that as abuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// The time of silence before a ping; above 0.
    pub after: Nanos,
    /// The time for the answer, or any other byte, before the connection counts as dead; above 0.
    pub timeout: Nanos,
}

/// Whether a connection carries more than one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepAlive {
    /// As many as the server allows.
    Yes,
    /// At most this many; then the connection is closed.
    AtMost(u64),
    /// One request each, with `Connection: close`.
    No,
}

/// Whether the server's `Keep-Alive` field (`timeout=5, max=100`) is obeyed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeepAliveHints {
    /// A connection is used until the server closes it.
    #[default]
    Ignore,
    /// A connection is closed before the server would close it.
    Respect,
}

/// Which ends of TLS complete a body that extends to the connection's end (RFC 9112 section 9.8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsEnd {
    /// An end with close_notify; otherwise the body is truncated.
    #[default]
    Confirmed,
    /// Any end after a complete record; a missing close_notify is tolerated.
    Any,
}

/// The reaction if a kept-alive connection turns out to be closed when a request is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReusedClosed {
    /// The request fails with `closed:reused`.
    #[default]
    Fail,
    /// An idempotent request (RFC 9110 section 9.2.2) is sent once more on a new connection, and
    /// counted as retried.
    Retry,
    /// Like [`Self::Retry`], with the rule of Go's client: only safe requests, and requests with an
    /// `Idempotency-Key`, are sent again.
    RetryAsGo,
}

/// The time limits of the phases of an exchange; [`Nanos::MAX`] means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// The whole exchange, from the moment a connection takes the request to its end.
    pub total: Nanos,
    /// Opening a connection.
    pub connect: Nanos,
    /// The TLS handshake.
    pub tls: Nanos,
    /// From the request's last byte to the end of the response's head.
    pub head: Nanos,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            total: Nanos::from_secs(30),
            connect: Nanos::from_secs(10),
            tls: Nanos::from_secs(10),
            head: Nanos::from_secs(30),
        }
    }
}
