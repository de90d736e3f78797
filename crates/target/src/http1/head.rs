//! Request heads (RFC 9112 §2 to §6).

use super::{BODY_MAX, BodyReader, FIELDS_MAX, HEAD_MAX, Refusal};
use crate::request::{Field, RequestHead};
use httparse::Status;
use std::mem::MaybeUninit;

/// One head, as far as it has come.
#[derive(Debug)]
pub(crate) enum HeadRead<'a> {
    /// More bytes are needed.
    Partial,
    /// A whole head.
    Whole(Head<'a>),
}

/// A whole head and its meaning for the connection.
#[derive(Debug)]
pub(crate) struct Head<'a> {
    /// The request.
    pub(crate) request: RequestHead<'a>,
    /// Bytes it took.
    pub(crate) length: usize,
    /// The body that follows.
    pub(crate) body: BodyReader,
    /// Whether the client keeps the connection open afterwards.
    pub(crate) persistence: Persistence,
    /// Whether the client waits for `100 Continue` before it sends the body.
    pub(crate) expects_continue: bool,
}

/// Whether a connection outlives an exchange, by the client's wish (RFC 9112 §9.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Persistence {
    /// It does, as HTTP/1.1 presumes.
    Implied,
    /// It does, as an HTTP/1.0 client asked; the answer must confirm.
    Asked,
    /// It ends.
    Ends,
}

/// Reads one head from the start of the input.
pub(crate) fn parse_head(input: &[u8]) -> Result<HeadRead<'_>, Refusal> {
    let mut storage = [const { MaybeUninit::<httparse::Header<'_>>::uninit() }; FIELDS_MAX];
    let mut raw = httparse::Request::new(&mut []);
    let length = match raw.parse_with_uninit_headers(input, &mut storage) {
        Ok(Status::Complete(length)) if length <= HEAD_MAX => length,
        Ok(Status::Partial) if input.len() <= HEAD_MAX => return Ok(HeadRead::Partial),
        Ok(_) => return Err(too_large("the request head exceeds 64 KiB")),
        Err(httparse::Error::TooManyHeaders) => {
            return Err(too_large("more than 128 header fields"));
        }
        Err(httparse::Error::Version) => {
            return Err(Refusal {
                status: 505,
                reason: "this server supports HTTP/1.0 and HTTP/1.1",
            });
        }
        Err(_) => return Err(Refusal::bad("the request head is malformed")),
    };
    if has_bare_line_feed(&input[..length]) {
        return Err(Refusal::bad("a line ends without CR"));
    }
    let (Some(method), Some(target), Some(version)) = (raw.method, raw.path, raw.version) else {
        return Err(Refusal::bad("the request line is incomplete"));
    };
    let request = RequestHead {
        method,
        target: origin_form(method, target)?,
        protocol: if version == 0 { "HTTP/1.0" } else { "HTTP/1.1" },
        fields: raw
            .headers
            .iter()
            .map(|field| Field {
                name: field.name,
                value: field.value,
            })
            .collect(),
    };
    check_host(&request, version)?;
    let body = framing(&request, version)?;
    Ok(HeadRead::Whole(Head {
        persistence: persistence(&request, version),
        expects_continue: version == 1
            && !body.is_complete()
            && request.lists("expect", "100-continue"),
        request,
        length,
        body,
    }))
}

const fn too_large(reason: &'static str) -> Refusal {
    Refusal {
        status: 431,
        reason,
    }
}

fn has_bare_line_feed(head: &[u8]) -> bool {
    let mut before = 0;
    head.iter().any(|byte| {
        let bare = *byte == b'\n' && before != b'\r';
        before = *byte;
        bare
    })
}

/// Path and query of any request target (RFC 9112 §3.2).
fn origin_form<'a>(method: &str, target: &'a str) -> Result<&'a str, Refusal> {
    if target.starts_with('/') || (target == "*" && method == "OPTIONS") {
        return Ok(target);
    }
    if method == "CONNECT" {
        return Err(Refusal {
            status: 501,
            reason: "this server is not a proxy",
        });
    }
    let (_, rest) = target.split_once("://").ok_or(Refusal::bad(
        "the request target is neither a path nor a URL",
    ))?;
    Ok(rest.find(['/', '?']).map_or("/", |at| &rest[at..]))
}

/// Exactly one Host in HTTP/1.1 (RFC 9112 §3.2).
fn check_host(request: &RequestHead<'_>, version: u8) -> Result<(), Refusal> {
    match (request.values("host").count(), version) {
        (1, _) | (0, 0) => Ok(()),
        (0, _) => Err(Refusal::bad("Host is missing")),
        _ => Err(Refusal::bad("more than one Host")),
    }
}

/// How the body is delimited (RFC 9112 §6.3). What two parties could read in two ways is refused.
fn framing(request: &RequestHead<'_>, version: u8) -> Result<BodyReader, Refusal> {
    let mut codings = request.values("transfer-encoding");
    let mut lengths = request.values("content-length");
    match (codings.next(), lengths.next()) {
        (None, None) => Ok(BodyReader::empty()),
        (None, Some(length)) => {
            if lengths.next().is_some() {
                return Err(Refusal::bad("more than one Content-Length"));
            }
            Ok(BodyReader::length(content_length(length)?))
        }
        (Some(_), Some(_)) => Err(Refusal::bad(
            "Content-Length and Transfer-Encoding contradict each other",
        )),
        (Some(_), None) if version == 0 => {
            Err(Refusal::bad("HTTP/1.0 does not allow Transfer-Encoding"))
        }
        (Some(coding), None) => {
            if codings.next().is_some() || !coding.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                return Err(Refusal {
                    status: 501,
                    reason: "this server supports only the transfer coding chunked",
                });
            }
            Ok(BodyReader::chunked())
        }
    }
}

fn content_length(value: &[u8]) -> Result<u64, Refusal> {
    let malformed = Refusal::bad("Content-Length is not a number");
    if value.is_empty() || value.len() > 19 || !value.iter().all(u8::is_ascii_digit) {
        return Err(malformed);
    }
    let length = value
        .iter()
        .fold(0, |sum: u64, digit| sum * 10 + u64::from(digit - b'0'));
    if length > BODY_MAX {
        return Err(super::body::TOO_LARGE);
    }
    Ok(length)
}

fn persistence(request: &RequestHead<'_>, version: u8) -> Persistence {
    if request.lists("connection", "close") {
        Persistence::Ends
    } else if version == 1 {
        Persistence::Implied
    } else if request.lists("connection", "keep-alive") {
        Persistence::Asked
    } else {
        Persistence::Ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Head<'_> {
        match parse_head(text.as_bytes()) {
            Ok(HeadRead::Whole(head)) => head,
            other => panic!("{text:?}: {other:?}"),
        }
    }

    fn refused(text: &str) -> u16 {
        parse_head(text.as_bytes()).unwrap_err().status
    }

    #[test]
    fn reads_a_head_and_no_more() {
        let text = "GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\nGET";
        let head = whole(text);
        assert_eq!(head.length, text.len() - 3);
        assert_eq!(
            (head.request.method, head.request.target),
            ("GET", "/a?b=c")
        );
        assert!(head.body.is_complete());
        assert_eq!(head.persistence, Persistence::Implied);
        for cut in 0..text.len() - 3 {
            let read = parse_head(&text.as_bytes()[..cut]);
            assert!(matches!(read, Ok(HeadRead::Partial)), "{cut}: {read:?}");
        }
    }

    #[test]
    fn knows_what_becomes_of_the_connection() {
        let persistence = |text| whole(text).persistence;
        assert_eq!(persistence("GET / HTTP/1.0\r\n\r\n"), Persistence::Ends);
        assert_eq!(
            persistence("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"),
            Persistence::Asked
        );
        assert_eq!(
            persistence("GET / HTTP/1.1\r\nHost: x\r\nConnection: x, Close\r\n\r\n"),
            Persistence::Ends
        );
    }

    #[test]
    fn takes_every_form_of_target() {
        let target = |line: &str| {
            whole(&format!("{line} HTTP/1.1\r\nHost: x\r\n\r\n"))
                .request
                .target
                .to_owned()
        };
        assert_eq!(target("GET http://x:80/a?b"), "/a?b");
        assert_eq!(target("GET http://x"), "/");
        assert_eq!(target("GET http://x?q=1"), "?q=1");
        assert_eq!(target("OPTIONS *"), "*");
    }

    #[test]
    fn refuses_what_is_ambiguous_or_malformed() {
        for text in [
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "GET / HTTP/1.1\nHost: a\n\n",
            "GET x HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n folded\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
            "\u{16}\u{3}\u{1}\u{2}\u{0}",
        ] {
            assert_eq!(refused(text), 400, "{text:?}");
        }
        assert_eq!(refused("GET / HTTP/2.0\r\n\r\n"), 505);
        assert_eq!(refused("CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n"), 501);
        let gzip = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n";
        assert_eq!(refused(gzip), 501);
        let large = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1073741825\r\n\r\n";
        assert_eq!(refused(large), 413);
    }

    #[test]
    fn heads_are_bounded() {
        let sized = |size: usize| {
            let fixed = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n".len();
            format!(
                "GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n",
                "x".repeat(size - fixed)
            )
        };
        assert_eq!(whole(&sized(HEAD_MAX)).length, HEAD_MAX);
        assert_eq!(refused(&sized(HEAD_MAX + 1)), 431);
        let endless = sized(2 * HEAD_MAX);
        assert_eq!(refused(&endless[..HEAD_MAX + 1]), 431);
        let fields = |n: usize| {
            format!(
                "GET / HTTP/1.1\r\nHost: a\r\n{}\r\n",
                "X: 1\r\n".repeat(n - 1)
            )
        };
        assert_eq!(whole(&fields(FIELDS_MAX)).request.fields.len(), FIELDS_MAX);
        assert_eq!(refused(&fields(FIELDS_MAX + 1)), 431);
    }
}
