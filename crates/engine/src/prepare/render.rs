//! A request as bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_http1::RequestKind;
use drumfire_plan::{Compressed, ExpectContinue, HttpRequest, KeepAlive, Plan, Url};

/// How the request line names its target (RFC 9112 section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetForm {
    /// Path and query, to the origin itself.
    Origin,
    /// The whole URL, to a proxy.
    Absolute,
}

/// A request as it goes on the wire.
#[derive(Clone, Debug)]
pub(crate) struct Rendered {
    /// Head and body.
    pub(crate) bytes: Box<[u8]>,
    /// Where the body begins.
    pub(crate) head_length: usize,
    /// What its response may look like.
    pub(crate) kind: RequestKind,
    /// Whether sending it twice does no more than sending it once (RFC 9110 section 9.2.2).
    pub(crate) idempotent: bool,
}

/// Renders a request.
///
/// # Errors
/// In words, when two parts of it contradict each other (RFC 9112 section 6.2).
pub(crate) fn render(
    plan: &Plan,
    request: &HttpRequest,
    form: TargetForm,
) -> Result<Rendered, String> {
    refuse_ambiguity(request)?;
    let has = |name: &str| request.headers.iter().any(|header| header.is(name));
    let method = request.method.as_str();
    let mut bytes = Vec::with_capacity(256);
    let mut line = |parts: &[&[u8]]| {
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        bytes.extend_from_slice(b"\r\n");
    };
    let target = match form {
        TargetForm::Origin => request.url.target.clone(),
        TargetForm::Absolute => format!("{}{}", request.url.origin, request.url.target),
    };
    line(&[method.as_bytes(), b" ", target.as_bytes(), b" HTTP/1.1"]);
    for field in own_fields(plan, request, form) {
        line(&[field.as_bytes()]);
    }
    for header in &request.headers {
        line(&[header.name().as_bytes(), b": ", header.value()]);
    }
    if plan.connections.keep_alive == KeepAlive::No && !has("connection") {
        line(&[b"Connection: close"]);
    }
    let body = request.body.0.as_deref();
    if let Some(body) = body {
        if !has("content-length") {
            line(&[b"Content-Length: ", body.len().to_string().as_bytes()]);
        }
        if plan.http.expect_continue != ExpectContinue::No && !has("expect") {
            line(&[b"Expect: 100-continue"]);
        }
    }
    line(&[]);
    let head_length = bytes.len();
    bytes.extend_from_slice(body.unwrap_or_default());
    Ok(Rendered {
        bytes: bytes.into_boxed_slice(),
        head_length,
        kind: if method == "HEAD" {
            RequestKind::Head
        } else {
            RequestKind::Normal
        },
        idempotent: matches!(
            method,
            "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE"
        ),
    })
}

/// The fields that nobody has to give, in order; one that is given takes the place of ours.
fn own_fields(plan: &Plan, request: &HttpRequest, form: TargetForm) -> Vec<String> {
    let has = |name: &str| request.headers.iter().any(|header| header.is(name));
    let mut fields = Vec::new();
    if !has("host") {
        fields.push(format!("Host: {}", request.url.origin.host_header()));
    }
    if !has("user-agent") {
        fields.push(concat!("User-Agent: drumfire/", env!("CARGO_PKG_VERSION")).to_owned());
    }
    if !has("accept-encoding") {
        match plan.http.compressed {
            Compressed::AsSent => {}
            Compressed::Decode(_) => {
                fields.push("Accept-Encoding: gzip, deflate, br, zstd".to_owned());
            }
            Compressed::DecodeGzip(_) => fields.push("Accept-Encoding: gzip".to_owned()),
        }
    }
    if let Some(credentials) = basic_credentials(&request.url)
        && !has("authorization")
    {
        fields.push(format!("Authorization: {credentials}"));
    }
    if form == TargetForm::Absolute
        && let Some(proxy) = &plan.http.proxy
        && let Some(credentials) = basic_credentials(&proxy.url)
        && !has("proxy-authorization")
    {
        fields.push(format!("Proxy-Authorization: {credentials}"));
    }
    fields
}

/// The value of an Authorization header for a URL with user and password (RFC 7617).
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

/// Refuses what two servers could read in two ways.
fn refuse_ambiguity(request: &HttpRequest) -> Result<(), String> {
    let count = |name: &str| {
        request
            .headers
            .iter()
            .filter(|header| header.is(name))
            .count()
    };
    if count("host") > 1 {
        return Err("it has more than one Host header; give one".to_owned());
    }
    if count("transfer-encoding") > 0 {
        return Err(
            "it sets Transfer-Encoding; bodies are sent with Content-Length, so leave it out"
                .to_owned(),
        );
    }
    let body = request.body.0.as_deref().map_or(0, <[u8]>::len);
    for header in request
        .headers
        .iter()
        .filter(|header| header.is("content-length"))
    {
        if header.value() != body.to_string().as_bytes() {
            return Err(format!(
                "its Content-Length header contradicts its body of {body} bytes; leave it out"
            ));
        }
    }
    if count("content-length") > 1 {
        return Err("it has more than one Content-Length header; leave them out".to_owned());
    }
    Ok(())
}
