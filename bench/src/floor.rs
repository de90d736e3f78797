//! The minimum cost of a closed loop over HTTP/1.1: exchanging the same bytes, without parsing and
//! without measuring.
//!
//! [`own`] is a separate loop on bare system calls; [`driven`] is drumfire's driver without the
//! layers above it. Both count a response as soon as as many bytes have arrived as in the first
//! response.

pub mod driven;
pub mod own;

use crate::tool::Reuse;
use drumfire_units::Nanos;
use std::io::{Error, Result};
use std::net::SocketAddr;

/// The maximum number of bytes per receive; the engine's buffer has the same size.
pub const RECEIVE_BYTES: usize = 64 * 1024;

/// Whether the bytes are encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encryption {
    /// `http`.
    Plain,
    /// `https`; nothing is verified.
    Tls,
}

/// The request and its target, rendered before the run.
#[derive(Clone, Debug)]
pub struct Errand {
    /// The server.
    pub peer: SocketAddr,
    /// Whether to encrypt.
    pub scheme: Encryption,
    /// The request's bytes, the same that drumfire sends for this URL.
    pub request: Vec<u8>,
    /// The number of connections.
    pub connections: usize,
    /// Whether each connection is used for more than one request.
    pub reuse: Reuse,
    /// The length of the run.
    pub span: Nanos,
}

impl Errand {
    /// Renders the request for a URL of the form `http://ADDRESS:PORT/PATH`: GET, or POST with a
    /// body of this length.
    ///
    /// # Errors
    /// If the URL has another form.
    pub fn new(
        url: &str,
        connections: usize,
        span: Nanos,
        post: Option<usize>,
        reuse: Reuse,
    ) -> Result<Self> {
        let form = || Error::other(format!("`{url}` is not http(s)://ADDRESS:PORT/PATH"));
        let (scheme, rest) = if let Some(rest) = url.strip_prefix("http://") {
            (Encryption::Plain, rest)
        } else {
            (
                Encryption::Tls,
                url.strip_prefix("https://").ok_or_else(form)?,
            )
        };
        let (authority, path) = rest.split_at(rest.find('/').ok_or_else(form)?);
        let version = env!("CARGO_PKG_VERSION");
        let (method, length) = match post {
            None => ("GET", String::new()),
            Some(bytes) => ("POST", format!("Content-Length: {bytes}\r\n")),
        };
        let closing = match reuse {
            Reuse::KeepAlive => "",
            Reuse::Close => "Connection: close\r\n",
        };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: drumfire/{version}\r\n\
             {closing}{length}\r\n"
        );
        let mut request = head.into_bytes();
        request.resize(request.len() + post.unwrap_or(0), b'x');
        Ok(Self {
            peer: authority.parse().map_err(|_| form())?,
            scheme,
            request,
            connections,
            reuse,
            span,
        })
    }
}

/// The counts of a floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloorCounts {
    /// Complete responses.
    pub requests: u64,
    /// Bytes of each response.
    pub response_bytes: usize,
}

/// The length of a response, from its head; `None` if the head is incomplete. Called once per run,
/// outside the loop.
fn response_length(bytes: &[u8]) -> Option<Result<usize>> {
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let body = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .and_then(|value| value.trim().parse::<usize>().ok());
    let missing = || Error::other("the first response has no Content-Length");
    Some(body.map(|body| head + body).ok_or_else(missing))
}

#[cfg(test)]
mod tests {
    use super::{Encryption, Errand, Reuse, response_length};
    use drumfire_units::Nanos;

    #[test]
    fn the_request_is_rendered_for_the_url() {
        let errand = |url, post, reuse| Errand::new(url, 2, Nanos::ZERO, post, reuse);
        let plain = errand("https://127.0.0.1:8443/a?b", None, Reuse::KeepAlive).unwrap();
        assert_eq!(plain.scheme, Encryption::Tls);
        let start = b"GET /a?b HTTP/1.1\r\nHost: 127.0.0.1:8443\r\n";
        assert!(plain.request.starts_with(start));
        let post = errand("http://127.0.0.1:80/", Some(3), Reuse::Close).unwrap();
        assert!(post.request.starts_with(b"POST / HTTP/1.1\r\n"));
        let end = b"Connection: close\r\nContent-Length: 3\r\n\r\nxxx";
        assert!(post.request.ends_with(end));
        assert!(errand("127.0.0.1:1/", None, Reuse::Close).is_err());
        assert!(errand("http://name:1/", None, Reuse::Close).is_err());
    }

    #[test]
    fn a_length_is_learnt_from_a_whole_head_only() {
        let length = |text: &str| response_length(text.as_bytes()).map(|l| l.ok());
        assert_eq!(length("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"), None);
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe";
        assert_eq!(length(whole), Some(Some(whole.len() + 3)));
        assert_eq!(length("HTTP/1.1 200 OK\r\n\r\n"), Some(None));
    }
}
