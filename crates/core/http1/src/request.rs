//! Writes a request's head as bytes that no server can read in two ways.

use crate::scan::{is_text, is_token};
use std::fmt;
use std::io::Write as _;

/// How a request's body is framed (RFC 9112 section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFraming {
    /// No body, and no field that describes one.
    None,
    /// `Content-Length`.
    Length(u64),
    /// `Transfer-Encoding: chunked`.
    Chunked,
}

/// Why a head is refused; it is then not sent at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestError {
    /// The method is not a token.
    Method,
    /// The target is empty or contains a space or a control character.
    Target,
    /// The host contains characters that a Host field can't contain.
    Host,
    /// This field's name is not a token.
    Name(String),
    /// This field's value contains a control character.
    Value(String),
    /// A Host field in addition to the host.
    DuplicateHost,
    /// A Content-Length or Transfer-Encoding field that contradicts the body's framing.
    Framing(String),
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method => f.write_str("the method must be a token such as GET"),
            Self::Target => f.write_str(
                "the target must not be empty or contain spaces or control characters; \
                 percent-encode them",
            ),
            Self::Host => f.write_str(
                "the host must be ASCII without spaces; use the `xn--` form of other names",
            ),
            Self::Name(name) => write!(
                f,
                "invalid field name {name:?}; use letters, digits and !#$%&'*+-.^_`|~"
            ),
            Self::Value(name) => write!(
                f,
                "the value of the field {name} contains a control character such as CR, LF or NUL"
            ),
            Self::DuplicateHost => f.write_str("a request must have exactly one Host field"),
            Self::Framing(name) => write!(
                f,
                "the field {name} contradicts the request's body; remove it, drumfire adds it as \
                 needed"
            ),
        }
    }
}

impl std::error::Error for RequestError {}

/// Appends a request's head to `out`, including its final empty line. `host` is the Host field's
/// value (RFC 9112 section 3.2). A framing field among `headers` may agree with `framing`, and then
/// replaces the generated one.
///
/// # Errors
/// If the head would be ambiguous or malformed; `out` is then unchanged.
pub fn write_head<'h>(
    out: &mut Vec<u8>,
    method: &str,
    target: &str,
    host: &str,
    headers: impl IntoIterator<Item = (&'h str, &'h [u8])>,
    framing: RequestFraming,
) -> Result<(), RequestError> {
    let before = out.len();
    let result = try_write_head(out, method, target, host, headers, framing);
    if result.is_err() {
        out.truncate(before);
    }
    result
}

fn try_write_head<'h>(
    out: &mut Vec<u8>,
    method: &str,
    target: &str,
    host: &str,
    headers: impl IntoIterator<Item = (&'h str, &'h [u8])>,
    framing: RequestFraming,
) -> Result<(), RequestError> {
    check_line(method, target, host)?;
    for part in [method, " ", target, " HTTP/1.1\r\nHost: ", host, "\r\n"] {
        out.extend_from_slice(part.as_bytes());
    }
    let mut framed = false;
    for (name, value) in headers {
        check_field(name, value)?;
        if frames(name) {
            if framed || !agrees(name, value, framing) {
                return Err(RequestError::Framing(name.to_owned()));
            }
            framed = true;
        }
        write_field(out, name, value);
    }
    match framing {
        RequestFraming::Length(length) if !framed => {
            // Writing to memory does not fail.
            let _ = write!(out, "Content-Length: {length}\r\n");
        }
        RequestFraming::Chunked if !framed => write_field(out, "Transfer-Encoding", b"chunked"),
        _ => {}
    }
    out.extend_from_slice(b"\r\n");
    Ok(())
}

fn check_line(method: &str, target: &str, host: &str) -> Result<(), RequestError> {
    if !is_token_text(method) {
        return Err(RequestError::Method);
    }
    // RFC 3986 does not contain bytes beyond ASCII, but they split no line; a query is sent as it
    // was given.
    if target.is_empty() || target.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
        return Err(RequestError::Target);
    }
    // An empty host is right if the target has no host (RFC 9110 section 7.2).
    if !host.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(RequestError::Host);
    }
    Ok(())
}

fn check_field(name: &str, value: &[u8]) -> Result<(), RequestError> {
    if !is_token_text(name) {
        return Err(RequestError::Name(name.to_owned()));
    }
    if name.eq_ignore_ascii_case("host") {
        return Err(RequestError::DuplicateHost);
    }
    if !value.iter().all(|&byte| is_text(byte)) {
        return Err(RequestError::Value(name.to_owned()));
    }
    Ok(())
}

fn frames(name: &str) -> bool {
    name.eq_ignore_ascii_case("content-length") || name.eq_ignore_ascii_case("transfer-encoding")
}

/// Whether a framing field agrees with the framing.
fn agrees(name: &str, value: &[u8], framing: RequestFraming) -> bool {
    let is_length = name.eq_ignore_ascii_case("content-length");
    match framing {
        RequestFraming::None => is_length && value == b"0",
        RequestFraming::Length(length) => is_length && value == length.to_string().as_bytes(),
        RequestFraming::Chunked => !is_length && value.eq_ignore_ascii_case(b"chunked"),
    }
}

fn write_field(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

fn is_token_text(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_token)
}
