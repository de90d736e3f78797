//! A request as the bytes that HTTP/1.1 sends.
//!
//! A request that is the same each time is rendered here once, before the run, and sent as it lies:
//! a [`Rendered`] is the whole message, in one piece where the body is short. One that varies is
//! written into the same form for each exchange (`varying`), so that the wire knows one form alone.
//! Rules of syntax and framing are those of `http1`'s writer, which refuses a field that would
//! split the message.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_http1::RequestKind;
use drumfire_http1::request::{RequestFraming, write_head};
use drumfire_plan::{
    Compressed, ExpectContinue, Header, HttpRequest, KeepAlive, Pool, ReusedClosed, Url,
};
use std::sync::Arc;

/// The default User-Agent.
pub(crate) const USER_AGENT: &str = concat!("drumfire/", env!("CARGO_PKG_VERSION"));

/// The form in which the request line names its target (RFC 9112 section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetForm {
    /// Path and query, to the origin itself.
    Origin,
    /// The whole URL, to a proxy.
    Absolute,
}

/// A body of at most this many bytes is kept behind its head, so that both go out in one write. A
/// longer one is shared by all requests that send it.
pub(super) const SHORT_BODY_BYTES: usize = 16 * 1024;

/// A request as it goes on the wire. The pieces that [`Rendered::piece`] gives for rising `from`
/// are the whole message, in one or two parts.
#[derive(Clone, Debug)]
pub(crate) struct Rendered {
    /// The head, and a body that is short.
    pub(super) bytes: Vec<u8>,
    /// A body that is long and the same each time.
    long_body: Arc<[u8]>,
    /// The length of the head, behind which the body begins.
    pub(crate) head_length: usize,
    /// The form of its response.
    pub(crate) kind: RequestKind,
    /// Whether sending it twice does no more than sending it once, by the rule of its pool.
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
    /// Sends this body behind its bytes.
    pub(super) fn share_body(&mut self, body: &Arc<[u8]>) {
        if !Arc::ptr_eq(&self.long_body, body) {
            self.long_body = Arc::clone(body);
        }
    }

    /// Sends its bytes alone.
    pub(super) fn drop_long_body(&mut self) {
        if !self.long_body.is_empty() {
            self.long_body = Arc::default();
        }
    }

    /// The number of its bytes, body included.
    #[inline]
    pub(crate) fn length(&self) -> usize {
        self.bytes.len() + self.long_body.len()
    }

    /// The bytes from `from` on that lie in one piece and before `end`.
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
/// In words, when two parts of it contradict each other (RFC 9112 section 6.2).
pub(super) fn render(
    pool: &Pool,
    request: &HttpRequest,
    form: TargetForm,
) -> Result<Rendered, String> {
    let method = request.method.as_str();
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
    let framing = body.map_or(RequestFraming::None, |body| {
        RequestFraming::Length(body.len() as u64)
    });
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
        kind: if method == "HEAD" {
            RequestKind::Head
        } else {
            RequestKind::Normal
        },
        idempotent: is_idempotent(pool.connections.reused_closed, request),
    })
}

/// Whether sending a request twice does no more than sending it once: by its method (RFC 9110
/// section 9.2.2), or as Go's client takes it, to which a key of idempotency counts and PUT and
/// DELETE do not.
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

/// The value of the Host field: the one given, or the URL's.
pub(super) fn host(request: &HttpRequest) -> Result<String, String> {
    let mut given = request.headers.iter().filter(|header| header.is("host"));
    match (given.next(), given.next()) {
        (None, _) => Ok(request.url.origin.host_header()),
        (Some(header), None) => String::from_utf8(header.value().to_vec())
            .map_err(|_| "the Host header is not valid text; use a name or an address".to_owned()),
        (Some(_), Some(_)) => Err("more than one Host header; keep one".to_owned()),
    }
}

/// The plan's fields that are sent, but for the host. An empty User-Agent says that none is sent, as
/// in the clients of Go and of curl.
pub(super) fn sent_headers(request: &HttpRequest) -> impl Iterator<Item = &Header> {
    let is_nameless =
        |header: &Header| header.is("user-agent") && header.value().trim_ascii().is_empty();
    let headers = request.headers.iter();
    headers.filter(move |header| !header.is("host") && !is_nameless(header))
}

/// The default fields, in order, but for those that the plan gives or renders: one of the plan's
/// takes the place of ours.
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
    let closes = pool.connections.keep_alive == KeepAlive::No;
    let waits = request.body.0.is_some() && pool.http.expect_continue != ExpectContinue::No;
    let fields = [
        ("User-Agent", Some(USER_AGENT.to_owned())),
        ("Accept-Encoding", codings.map(str::to_owned)),
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
    wanted.filter(|(name, _)| missing(name)).collect()
}

/// The value of an Authorization header for a URL with user and password (RFC 7617). A user without
/// a password has an empty one.
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
