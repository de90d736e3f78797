//! Identifies the protocol of a peer whose first byte can't begin an HTTP/2 connection.
//!
//! The verdict depends on a prefix of the stream whose length depends on nothing else, so it does
//! not depend on how the bytes arrive.

use crate::NotHttp2;

/// Text without a line end is checked after this many bytes.
pub(crate) const TEXT_BYTES: usize = 64;
/// Enough bytes of a TLS record's header to recognise it.
const RECORD_BYTES: usize = 3;
/// The longest quotation in a hint, in characters after escaping.
const QUOTE_CHARS: usize = 56;

/// Identifies a stream whose first byte is not 0; `None` as long as more bytes may help.
pub(crate) fn judge(stream: &[u8]) -> Option<NotHttp2> {
    let first = *stream.first()?;
    let enough = if is_record_type(first) {
        RECORD_BYTES
    } else if is_binary(first) {
        1
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
pub(crate) fn judge_ended(stream: &[u8]) -> NotHttp2 {
    judge(stream).unwrap_or_else(|| classify(stream))
}

fn classify(prefix: &[u8]) -> NotHttp2 {
    match prefix {
        [kind, 3, minor, ..] if is_record_type(*kind) && *minor <= 4 => NotHttp2::Tls,
        _ if prefix.iter().any(|&byte| is_binary(byte)) => NotHttp2::Binary,
        _ if prefix.starts_with(b"HTTP/") => NotHttp2::Http1(quote(prefix)),
        _ => NotHttp2::Greeting(quote(prefix)),
    }
}

/// Change cipher spec, alert, handshake, application data (RFC 8446 section 5.1).
const fn is_record_type(byte: u8) -> bool {
    matches!(byte, 0x14..=0x17)
}

const fn is_binary(byte: u8) -> bool {
    byte.is_ascii_control() && !matches!(byte, b'\r' | b'\n' | b'\t')
}

/// The first line of a text, escaped so that it can't control a terminal, and shortened to fit a
/// hint.
fn quote(text: &[u8]) -> Box<str> {
    let line = text.split(|&byte| byte == b'\n' || byte == b'\r').next();
    let mut quoted = String::with_capacity(QUOTE_CHARS + 3);
    for &byte in line.unwrap_or_default() {
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
    use crate::NotHttp2;

    #[test]
    fn what_other_servers_say_is_known() {
        assert_eq!(judge_ended(b"\x15\x03\x03\0\x02\x02\x28"), NotHttp2::Tls);
        assert_eq!(judge_ended(b"\x80\x03"), NotHttp2::Binary);
        assert_eq!(judge_ended(b"\x01"), NotHttp2::Binary);
        let line = "HTTP/1.1 400 Bad Request";
        assert_eq!(
            judge(b"HTTP/1.1 400 Bad Request\r\n"),
            Some(NotHttp2::Http1(line.into()))
        );
        assert_eq!(judge(b"HTTP/1.1 400 Bad"), None);
        assert_eq!(
            judge_ended(b"SSH-2.0-x"),
            NotHttp2::Greeting("SSH-2.0-x".into())
        );
    }

    #[test]
    fn hints_are_short_and_printable() {
        for stream in [
            &b"\x1b[2J"[..],
            &[0xff; 100],
            b"SSH-\xc2\x9b1m\n",
            b"HTTP/\"\\\n",
            &[b'x'; 99],
        ] {
            let hint = judge_ended(stream).hint();
            assert!(hint.len() <= 80, "{hint}");
            assert!(
                hint.bytes()
                    .all(|byte| byte == b' ' || byte.is_ascii_graphic()),
                "{hint}"
            );
        }
    }
}
