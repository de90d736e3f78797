//! A request as the bytes that HTTP/1.1 sends.
//!
//! A request that is always the same is rendered once, before the run, and sent unchanged: a
//! [`Rendered`] is the whole message, in one piece if the body is short. A varying request is
//! written into the same form for each exchange (`varying`), so that the wire handles only one
//! form. The writer of `http1` ensures syntax and framing, and refuses a field that would split the
//! message.

use super::socket::handshake_fields;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_http1::RequestKind;
use drumfire_http1::request::{RequestFraming, write_head};
use drumfire_plan::{
    Compressed, EventStream, ExpectContinue, Header, HttpRequest, KeepAlive, Pool, ReusedClosed,
    Url,
};
use std::sync::Arc;

/// The default User-Agent.
pub(crate) const USER_AGENT: &str = concat!("drumfire/", env!("CARGO_PKG_VERSION"));

/// The form of the target in the request line (RFC 9112 section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetForm {
    /// Path and query, for the origin itself.
    Origin,
    /// The whole URL, for a proxy.
    Absolute,
}

/// A body of at most this many bytes is stored after its head, so that both are sent in one write.
/// A longer body is shared by all requests that send it.
pub(super) const SHORT_BODY_BYTES: usize = 16 * 1024;

/// A request in the form of the wire. The pieces that [`Rendered::piece`] returns for increasing
/// `from` are the whole message, in one or two parts.
#[derive(Clone, Debug)]
pub(crate) struct Rendered {
    /// The head, and a short body.
    pub(super) bytes: Vec<u8>,
    /// A long body that is always the same.
    long_body: Arc<[u8]>,
    /// The length of the head; the body begins there.
    pub(crate) head_length: usize,
    /// The kind of request, which determines how the response is framed.
    pub(crate) kind: RequestKind,
    /// Whether sending the request twice has the same effect as sending it once, by the rule of its
    /// pool.
    pub(crate) idempotent: bool,
}

impl Default for Rendered {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            long_body: Arc::default(),
            head_length: 0,
            kind: RequestKind::Normal,
            idempotent: false,
        }
    }
}

impl Rendered {
    /// The body.
    pub(crate) fn body(&self) -> &[u8] {
        match self.long_body.is_empty() {
            true => self.bytes.get(self.head_length..).unwrap_or_default(),
            false => &self.long_body,
        }
    }

    /// Sends this body after `bytes`.
    pub(super) fn share_body(&mut self, body: &Arc<[u8]>) {
        if !Arc::ptr_eq(&self.long_body, body) {
            self.long_body = Arc::clone(body);
        }
    }

    /// Sends only `bytes`.
    pub(super) fn drop_long_body(&mut self) {
        if !self.long_body.is_empty() {
            self.long_body = Arc::default();
        }
    }

    /// The head.
    pub(crate) fn head(&self) -> &[u8] {
        &self.bytes[..self.head_length]
    }

    /// The length of the request in bytes, including the body.
    #[inline]
    pub(crate) fn length(&self) -> usize {
        self.bytes.len() + self.long_body.len()
    }

    /// The bytes from `from` on that are contiguous and before `end`.
    #[inline(always)]
    pub(crate) fn piece(&self, from: usize, end: usize) -> &[u8] {
        let near = self.bytes.len();
        if from < near {
            &self.bytes[from..end.min(near)]
        } else {
            &self.long_body[from - near..end - near]
        }
    }
}

/// Renders a request.
///
/// # Errors
/// A text, if two parts of the request contradict each other (RFC 9112 section 6.2).
pub(super) fn render(
    pool: &Pool,
    request: &HttpRequest,
    form: TargetForm,
) -> Result<Rendered, String> {
    let method = request.method.as_str();
    let kind = match (&request.socket, method) {
        (Some(_), _) => RequestKind::Upgrade,
        (None, "HEAD") => RequestKind::Head,
        (None, _) => RequestKind::Normal,
    };
    let target = match form {
        TargetForm::Origin => request.url.target.clone(),
        TargetForm::Absolute => format!("{}{}", request.url.origin, request.url.target),
    };
    let host = host(request)?;
    let own = own_fields(pool, request, form);
    let own = own.iter().map(|(name, value)| (*name, value.as_bytes()));
    let given = sent_headers(request);
    let given = given.map(|header| (header.name(), header.value()));
    let body = request.body.0.as_deref();
    let framing = framing(kind, body);
    let mut bytes = Vec::with_capacity(256);
    write_head(
        &mut bytes,
        method,
        &target,
        &host,
        own.chain(given),
        framing,
    )
    .map_err(|error| error.to_string())?;
    let head_length = bytes.len();
    let long_body = match &request.body.0 {
        Some(body) if body.len() > SHORT_BODY_BYTES => Arc::clone(body),
        Some(body) => {
            bytes.extend_from_slice(body);
            Arc::from([])
        }
        None => Arc::from([]),
    };
    Ok(Rendered {
        bytes,
        long_body,
        head_length,
        kind,
        idempotent: is_idempotent(pool.connections.reused_closed, request),
    })
}

/// The framing of a body. The body of a request on a WebSocket is a message, which does not belong
/// to the handshake.
pub(super) fn framing(kind: RequestKind, body: Option<&[u8]>) -> RequestFraming {
    match body {
        Some(body) if kind != RequestKind::Upgrade => RequestFraming::Length(body.len() as u64),
        _ => RequestFraming::None,
    }
}

/// Whether sending a request twice has the same effect as sending it once. This depends on the
/// method (RFC 9110 section 9.2.2), or, by the rule of Go's client, also on an idempotency key; for
/// Go, PUT and DELETE are not idempotent.
fn is_idempotent(rule: ReusedClosed, request: &HttpRequest) -> bool {
    let method = request.method.as_str();
    let is_safe = matches!(method, "GET" | "HEAD" | "OPTIONS" | "TRACE");
    let has_key = || {
        let names = ["Idempotency-Key", "X-Idempotency-Key"];
        let mut headers = request.headers.iter();
        headers.any(|header| names.iter().any(|name| header.is(name)))
    };
    match rule {
        ReusedClosed::Fail | ReusedClosed::Retry => is_safe || matches!(method, "PUT" | "DELETE"),
        ReusedClosed::RetryAsGo => is_safe || has_key(),
    }
}

/// The value of the Host field: the given one, or the URL's.
pub(super) fn host(request: &HttpRequest) -> Result<String, String> {
    let mut given = request.headers.iter().filter(|header| header.is("host"));
    match (given.next(), given.next()) {
        (None, _) => Ok(request.url.origin.host_header()),
        (Some(header), None) => String::from_utf8(header.value().to_vec())
            .map_err(|_| "the Host header is not valid text; use a name or an address".to_owned()),
        (Some(_), Some(_)) => Err("more than one Host header; keep one".to_owned()),
    }
}

/// The plan's fields to send, except the host. An empty User-Agent suppresses the field, as in Go's
/// client and curl.
pub(super) fn sent_headers(request: &HttpRequest) -> impl Iterator<Item = &Header> {
    let is_nameless =
        |header: &Header| header.is("user-agent") && header.value().trim_ascii().is_empty();
    let headers = request.headers.iter();
    headers.filter(move |header| !header.is("host") && !is_nameless(header))
}

/// The media types that the response of such a request may have.
fn accept(events: EventStream) -> &'static str {
    match events.answer {
        None => "text/event-stream",
        Some(api) if api.streams() => "text/event-stream, application/json",
        Some(_) => "application/json",
    }
}

/// The default fields, in order, except those that the plan sets or renders: the plan's fields
/// replace ours.
pub(crate) fn own_fields(
    pool: &Pool,
    request: &HttpRequest,
    form: TargetForm,
) -> Vec<(&'static str, String)> {
    let codings = match pool.http.compressed {
        Compressed::AsSent => None,
        Compressed::Decode(_) => Some("gzip, deflate, br, zstd"),
        Compressed::DecodeGzip(_) => Some("gzip"),
    };
    let proxy = pool
        .reach
        .proxy
        .as_ref()
        .filter(|_| form == TargetForm::Absolute);
    let is_socket = request.socket.is_some();
    let closes = pool.connections.keep_alive == KeepAlive::No && !is_socket;
    let expects = pool.http.expect_continue != ExpectContinue::No && !is_socket;
    let waits = request.body.0.is_some() && expects;
    let fields = [
        ("User-Agent", Some(USER_AGENT.to_owned())),
        // As browsers do (HTML standard, section 9.2.2).
        (
            "Accept",
            request.events.map(|events| accept(events).to_owned()),
        ),
        (
            "Accept-Encoding",
            codings.filter(|_| !is_socket).map(str::to_owned),
        ),
        ("Authorization", basic_credentials(&request.url)),
        (
            "Proxy-Authorization",
            proxy.and_then(|proxy| basic_credentials(&proxy.url)),
        ),
        ("Connection", closes.then(|| "close".to_owned())),
        ("Expect", waits.then(|| "100-continue".to_owned())),
    ];
    let rendered = |name: &str| request.data.as_ref().is_some_and(|data| data.renders(name));
    let given = |name: &str| request.headers.iter().any(|header| header.is(name));
    let missing = |name: &str| !given(name) && !rendered(name);
    let wanted = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    let sockets = request.socket.iter();
    let handshake = sockets.flat_map(|socket| handshake_fields(socket));
    wanted
        .filter(|(name, _)| missing(name))
        .chain(handshake)
        .collect()
}

/// The value of an Authorization header for a URL with a user and a password (RFC 7617). Without a
/// password, the password is empty.
pub(crate) fn basic_credentials(url: &Url) -> Option<String> {
    url.userinfo.as_ref().map(|userinfo| {
        let pair = if userinfo.contains(':') {
            userinfo.clone()
        } else {
            format!("{userinfo}:")
        };
        format!("Basic {}", STANDARD.encode(pair))
    })
}
