//! HTTP requests and how they travel.

use crate::{Call, Expect, Header, Inspection, Life, Method, RequestData, Url};
use drumfire_units::{ByteSize, Nanos};
use std::sync::Arc;

/// A request's body, shared by all requests that send it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body(pub Option<Arc<[u8]>>);

/// One request to send, fixed before the run.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    /// Its origin and its target.
    pub url: Url,
    /// The method.
    pub method: Method,
    /// Fields in the order given. A `Host` given here replaces the URL's.
    pub headers: Vec<Header>,
    /// The body; `None` sends neither a body nor a Content-Length.
    pub body: Body,
    /// The name under which its numbers are reported; one step per distinct name.
    pub step: String,
    /// Its varying parts; `None` where there are none. A body that varies is empty here, and so is
    /// nothing else: what is rendered takes the place of what is here, and fields follow those
    /// here.
    pub data: Option<Arc<dyn RequestData>>,
    /// The gRPC call that it makes; the body is then the call's, and `None` here.
    pub call: Option<Arc<Call>>,
    /// The time that an exchange of it may take, in the place of the pool's; [`Nanos::MAX`] is no
    /// bound. A call has a deadline, and `None` here.
    pub timeout: Option<Nanos>,
    /// The statuses that are ok, where those are not the pool's.
    pub expect: Option<Expect>,
    /// What is checked of its response beyond the status, and taken from it; not of calls.
    pub inspection: Option<Arc<dyn Inspection>>,
}

/// Which version of HTTP to speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpVersion {
    /// HTTP/1.1.
    #[default]
    Http1,
    /// HTTP/2: by ALPN on https, by prior knowledge on http.
    Http2,
}

/// The protocol of a target.
#[derive(Clone, Debug, Default)]
pub struct HttpOptions {
    /// The version to speak.
    pub version: HttpVersion,
    /// Whether to ask for compressed bodies and decode them.
    pub compressed: Compressed,
    /// The treatment of a redirect.
    pub redirects: Redirects,
    /// The request that a redirect leads to.
    pub redirect_style: RedirectStyle,
    /// Names of header fields that stay at their origin as those do whose names speak of secrets:
    /// the plan marks their values as such.
    pub private_headers: Vec<String>,
    /// Whether to send `Expect: 100-continue` before a body.
    pub expect_continue: ExpectContinue,
}

/// Whether bodies are decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compressed {
    /// Send no Accept-Encoding; count bytes as they come.
    #[default]
    AsSent,
    /// Ask for gzip, deflate, br and zstd, and decode at most this many bytes per body.
    Decode(ByteSize),
    /// Ask for gzip only and decode at most this many bytes per body; other codings stay as sent.
    DecodeGzip(ByteSize),
}

/// Whether a body waits for `100 Continue`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExpectContinue {
    /// The body follows the head at once.
    #[default]
    No,
    /// The body waits for the server's word, or for this long.
    Wait(Nanos),
}

/// The treatment of a redirect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redirects {
    /// It is the response.
    #[default]
    Report,
    /// Follow at most this many, then fail with `redirect_limit`.
    Follow(u32),
    /// A redirect with a Location is an error.
    Refuse,
}

/// The request that a redirect leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RedirectStyle {
    /// As browsers have it: 303 makes GET of every method but HEAD, 301 and 302 make GET of POST
    /// (Fetch, section 4.4).
    #[default]
    Fetch,
    /// As Go's client has it: 301, 302 and 303 make GET of every method but HEAD, and `Referer`
    /// names the URL of the request before.
    Go,
}

/// How many connections there are and how long they live.
#[derive(Clone, Debug)]
pub struct Connections {
    /// How many are open at most; at least 1.
    pub count: u32,
    /// When they are opened.
    pub growth: Growth,
    /// How many exchanges each carries at a time; at least 1, and 1 with HTTP/1.1. A server may
    /// allow fewer.
    pub streams: u32,
    /// Whether a connection carries more than one request.
    pub keep_alive: KeepAlive,
    /// The reaction to a kept-alive connection that turns out to be closed.
    pub reused_closed: ReusedClosed,
    /// Whether the server's `Keep-Alive` field is obeyed.
    pub hints: KeepAliveHints,
    /// Which ends of TLS complete a body that runs until the connection ends.
    pub tls_end: TlsEnd,
    /// How long a slot waits at most before it dials a refusing target again.
    pub backoff_max: Nanos,
    /// Which of a name's addresses they go to.
    pub spread: Spread,
    /// Whether a user keeps to one of them.
    pub affinity: Affinity,
    /// Whether silent connections are asked for a sign of life; of HTTP/2 only.
    pub ping: Option<Ping>,
    /// Where the time counts in which an exchange's connection is opened.
    pub opening: Opening,
    /// When one leaves though it works.
    pub life: Life,
}

/// Where the time counts in which an exchange waits for its connection to be opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Opening {
    /// It is waiting: the service of the exchange begins when its first byte is sent.
    #[default]
    Waiting,
    /// It is service, as clients have it that are asked for a response and open connections
    /// themselves: service begins when the exchange takes its seat.
    Service,
}

/// When connections are opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// All of them before the run's start.
    #[default]
    Ahead,
    /// One more whenever a request finds none free, up to the count. Of several that are free, the
    /// one that was used last is taken, as a service's many callers do it. Goes with
    /// [`Affinity::Shared`].
    AsNeeded,
}

/// Whether a user keeps to one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Affinity {
    /// A request takes the connection that has been free for longest.
    #[default]
    Shared,
    /// All requests of a user take the same connection, and users take turns at the connections:
    /// of n, user u has number u mod n.
    User,
}

/// Which of a name's addresses connections go to. One that refuses is passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// All in turn, so that each has as many connections as any other.
    #[default]
    Turn,
    /// The first one that accepts, in the resolver's order.
    First,
}

/// Asking a connection that carries requests and is silent whether its peer still lives (RFC 9113
/// section 6.7; gRPC calls it keepalive). One that carries none is not asked: servers take that for
/// abuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// How long it is silent before it is asked; above 0.
    pub after: Nanos,
    /// How long an answer, or any other byte, may take before the connection counts as dead;
    /// above 0.
    pub timeout: Nanos,
}

/// Whether a connection carries more than one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepAlive {
    /// As many as the server allows.
    Yes,
    /// At most this many, then it is closed.
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
    /// A connection is given up before the server would close it.
    Respect,
}

/// Which ends of TLS complete a body that runs until the connection ends (RFC 9112 section 9.8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsEnd {
    /// An end with close_notify; the body of another is truncated.
    #[default]
    Confirmed,
    /// Any end after a whole record; one without close_notify is forgiven.
    Any,
}

/// The reaction to a kept-alive connection that turns out to be closed as a request is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReusedClosed {
    /// The request has failed, with `closed:reused`.
    #[default]
    Fail,
    /// An idempotent request (RFC 9110 section 9.2.2) is sent once more on a new connection, and
    /// counted as retried.
    Retry,
    /// The same, as Go's client has it: of a safe request, and of one with an `Idempotency-Key`.
    RetryAsGo,
}

/// How long each phase of an exchange may take; [`Nanos::MAX`] is for ever.
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
