//! Identifies the protocol of a peer whose first bytes are not `HTTP/`.
//!
//! The verdict depends on a prefix of the stream whose length depends on nothing else, so it does
//! not depend on how the bytes arrive. The scanner of heads calls [`judge`] with all bytes of the
//! answer each time that more arrive, and [`judge_ended`] if the stream ends before a verdict.

use crate::Error;
use crate::error::NotHttp;

/// Text without a line end is checked after this many bytes.
const TEXT_BYTES: usize = 64;
/// The length of an HTTP/2 frame header.
const FRAME_BYTES: usize = 9;
/// Enough bytes of a TLS record's header to recognise it.
const RECORD_BYTES: usize = 3;
/// The longest quotation in an error, in characters after escaping.
const QUOTE_CHARS: usize = 56;

/// The greetings of other protocols: SSH, SMTP and FTP, POP3, IMAP, Redis, VNC, Icecast, AMQP,
/// rsync, NATS.
const GREETINGS: [&[u8]; 11] = [
    b"SSH-",
    b"220 ",
    b"220-",
    b"+OK",
    b"* OK",
    b"-ERR",
    b"RFB ",
    b"ICY ",
    b"AMQP",
    b"@RSYNCD:",
    b"INFO {",
];

/// Identifies a stream that does not begin with `HTTP/`; `None` as long as more bytes may help.
pub(crate) fn judge(stream: &[u8]) -> Option<Error> {
    let first = *stream.first()?;
    let enough = if is_record_type(first) {
        RECORD_BYTES
    } else if is_binary(first) {
        FRAME_BYTES
    } else {
        let window = &stream[..stream.len().min(TEXT_BYTES)];
        window
            .iter()
            .position(|&byte| byte == b'\n' || is_binary(byte))
            .map_or(TEXT_BYTES, |at| at + 1)
    };
    stream.get(..enough).map(classify)
}

/// Identifies a stream that has ended before [`judge`] could identify it.
pub(crate) fn judge_ended(stream: &[u8]) -> Error {
    judge(stream).unwrap_or_else(|| classify(stream))
}

/// The version error for a line that has the form of a status line.
pub(crate) fn wrong_version(line: &[u8]) -> Error {
    Error::Version(quote(line))
}

fn classify(prefix: &[u8]) -> Error {
    if prefix.len() >= RECORD_BYTES && is_record_type(prefix[0]) && prefix[1] == 3 && prefix[2] <= 4
    {
        return Error::NotHttp(NotHttp::Tls);
    }
    // RFC 9113 section 4.1: length, type 4 (SETTINGS), flags, stream 0.
    if prefix.len() >= FRAME_BYTES && prefix[0] == 0 && prefix[3] == 4 && prefix[5..9] == [0; 4] {
        return Error::NotHttp(NotHttp::Http2);
    }
    if prefix.iter().any(|&byte| is_binary(byte)) {
        return Error::NotHttp(NotHttp::Binary);
    }
    if GREETINGS
        .iter()
        .any(|greeting| prefix.starts_with(greeting))
    {
        return Error::NotHttp(NotHttp::Greeting(quote(prefix)));
    }
    if names_a_version(prefix) {
        wrong_version(prefix)
    } else {
        Error::Http09(quote(prefix))
    }
}

/// Whether a line begins like some status line: letters, a slash, a digit; or `HTTP`.
fn names_a_version(line: &[u8]) -> bool {
    if line.len() >= 4 && line[..4].eq_ignore_ascii_case(b"HTTP") {
        return true;
    }
    let letters = line
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    letters > 0
        && line.get(letters) == Some(&b'/')
        && line.get(letters + 1).is_some_and(u8::is_ascii_digit)
}

/// Change cipher spec, alert, handshake, application data (RFC 8446 section 5.1).
fn is_record_type(byte: u8) -> bool {
    (0x14..=0x17).contains(&byte)
}

fn is_binary(byte: u8) -> bool {
    byte.is_ascii_control() && !matches!(byte, b'\r' | b'\n' | b'\t')
}

/// The first line of a text, escaped so that it can't control a terminal, and shortened to fit a
/// hint.
fn quote(text: &[u8]) -> Box<str> {
    let line = text
        .split(|&byte| byte == b'\n' || byte == b'\r')
        .next()
        .unwrap_or_default();
    let mut quoted = String::with_capacity(QUOTE_CHARS);
    for &byte in line {
        let escaped = byte.escape_ascii();
        if quoted.len() + escaped.len() > QUOTE_CHARS {
            quoted.push_str("...");
            break;
        }
        quoted.extend(escaped.map(char::from));
    }
    quoted.into_boxed_str()
}

#[cfg(test)]
mod tests {
    use super::{judge, judge_ended};

    #[test]
    fn hints_are_short_and_printable() {
        let escapes = [0xff; 100];
        for stream in [
            &b"\x1b[2J\x1b]0;x\x07"[..],
            &escapes,
            b"SSH-\xc2\x9b1m\n",
            b"\"\\\n",
        ] {
            let hint = judge_ended(stream).hint().expect("a hint");
            assert!(hint.len() <= 80, "{hint}");
            assert!(
                hint.bytes()
                    .all(|byte| byte == b' ' || byte.is_ascii_graphic()),
                "{hint}"
            );
        }
    }

    #[test]
    fn the_verdict_is_that_of_the_shortest_clear_prefix() {
        for stream in [
            &b"SSH-2.0-x\r\nmore\0"[..],
            b"\x15\x03\x03\0\x02",
            b"hello\nHTTP/1.1",
            &[b'x'; 99],
        ] {
            let shortest = (0..=stream.len()).find_map(|length| judge(&stream[..length]));
            assert!(shortest.is_some());
            assert_eq!(shortest, judge(stream));
        }
    }
}
