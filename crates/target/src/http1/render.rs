//! Answers to bytes.

use super::{Persistence, Refusal};
use crate::answer::{Afterwards, Answer, Body, Content};
use drumfire_units::Nanos;
use std::io::Write as _;
use std::num::NonZeroU32;

/// The response that lets a waiting client send its body (RFC 9110 §10.1.1).
pub(crate) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// Writes an answer's head, and replaces its body by its form on the wire.
///
/// There is no Date: its one change a second would make every constant answer vary.
pub(crate) fn write_answer(
    out: &mut Vec<u8>,
    answer: &mut Answer,
    delay: Option<Nanos>,
    persistence: Persistence,
) {
    status_line(out, answer.status);
    for (name, value) in &answer.fields {
        field(out, name, value);
    }
    if let Some(delay) = delay {
        field(out, "x-drumfire-delay-ns", delay.0);
    }
    match (answer.afterwards, persistence) {
        (Afterwards::Close, _) | (_, Persistence::Ends) => field(out, "Connection", "close"),
        (_, Persistence::Asked) => field(out, "Connection", "keep-alive"),
        (_, Persistence::Implied) => {}
    }
    // 204 and 304 have no body, whatever else is wished (RFC 9110 §15.3.5, §15.4.5).
    if matches!(answer.status, 204 | 304) {
        answer.body = Body::Empty;
    } else if let Some(size) = answer.chunked {
        field(out, "Transfer-Encoding", "chunked");
        if answer.content == Content::Sent {
            answer.body = Body::bytes(chunked(&mut answer.body, size));
        }
    } else {
        field(out, "Content-Length", answer.body.len());
    }
    out.extend_from_slice(b"\r\n");
    if answer.content == Content::Described {
        answer.body = Body::Empty;
    }
}

/// Writes the whole answer to a request that is refused.
pub(crate) fn write_refusal(out: &mut Vec<u8>, status: u16, reason: &str) {
    status_line(out, status);
    field(out, "Content-Type", "text/plain");
    field(out, "Connection", "close");
    field(out, "Content-Length", reason.len() + 1);
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(reason.as_bytes());
    out.push(b'\n');
}

fn status_line(out: &mut Vec<u8>, status: u16) {
    // Writing to a Vec can't fail.
    let _ = write!(out, "HTTP/1.1 {status} {}\r\n", reason(status));
}

fn field(out: &mut Vec<u8>, name: &str, value: impl std::fmt::Display) {
    // Writing to a Vec can't fail.
    let _ = write!(out, "{name}: {value}\r\n");
}

/// A body as chunks of `size` bytes, the end included (RFC 9112 §7.1).
fn chunked(body: &mut Body, size: NonZeroU32) -> Vec<u8> {
    let mut whole = Vec::new();
    body.drain_to(&mut whole);
    let mut framed = Vec::with_capacity(whole.len() + 16);
    for chunk in whole.chunks(usize::try_from(size.get()).unwrap_or(usize::MAX)) {
        // Writing to a Vec can't fail.
        let _ = write!(framed, "{:x}\r\n", chunk.len());
        framed.extend_from_slice(chunk);
        framed.extend_from_slice(b"\r\n");
    }
    framed.extend_from_slice(b"0\r\n\r\n");
    framed
}

/// The registered phrase of a status.
fn reason(status: u16) -> &'static str {
    let status = http::StatusCode::from_u16(status).ok();
    status
        .and_then(|status| status.canonical_reason())
        .unwrap_or("Status")
}

impl Refusal {
    /// Writes the answer.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        write_refusal(out, self.status, self.reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(mut answer: Answer, delay: Option<Nanos>, persistence: Persistence) -> String {
        let mut out = Vec::new();
        write_answer(&mut out, &mut answer, delay, persistence);
        answer.body.drain_to(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn answer(status: u16, body: &str) -> Answer {
        Answer {
            status,
            fields: vec![("X", "y".into())],
            body: Body::bytes(body),
            content: Content::Sent,
            chunked: None,
            drip: None,
            afterwards: Afterwards::Stay,
        }
    }

    #[test]
    fn writes_heads_and_bodies() {
        assert_eq!(
            render(answer(200, "hi"), None, Persistence::Implied),
            "HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 2\r\n\r\nhi"
        );
        assert_eq!(
            render(answer(599, ""), Some(Nanos(7)), Persistence::Asked),
            "HTTP/1.1 599 Status\r\nX: y\r\nx-drumfire-delay-ns: 7\r\nConnection: keep-alive\r\n\
             Content-Length: 0\r\n\r\n"
        );
        assert_eq!(
            render(answer(304, "hi"), None, Persistence::Ends),
            "HTTP/1.1 304 Not Modified\r\nX: y\r\nConnection: close\r\n\r\n"
        );
    }

    #[test]
    fn writes_chunks() {
        let chunked = Answer {
            chunked: NonZeroU32::new(4),
            ..answer(200, "hello")
        };
        assert_eq!(
            render(chunked, None, Persistence::Implied),
            "HTTP/1.1 200 OK\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n\
             4\r\nhell\r\n1\r\no\r\n0\r\n\r\n"
        );
    }

    #[test]
    fn describes_without_sending() {
        let described = Answer {
            content: Content::Described,
            ..answer(200, "hello")
        };
        assert_eq!(
            render(described, None, Persistence::Implied),
            "HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 5\r\n\r\n"
        );
    }
}
