//! How a connection over HTTP/2 begins.

/// The client's connection preface (RFC 9113 §3.4). No other request has the method PRI.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The protocol of a connection, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// A client of HTTP/2.
    Http2,
    /// Undecided without more bytes.
    Unclear,
    /// Anything else.
    Other,
}

/// Judges the first bytes.
#[inline]
pub(crate) fn opening(bytes: &[u8]) -> Opening {
    if bytes.starts_with(PREFACE) {
        Opening::Http2
    } else if !bytes.is_empty() && PREFACE.starts_with(bytes) {
        Opening::Unclear
    } else {
        Opening::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_preface_decides() {
        let bytes = [PREFACE, b"\0\0\0\x04"].concat();
        for length in 1..PREFACE.len() {
            assert_eq!(opening(&bytes[..length]), Opening::Unclear, "{length}");
        }
        assert_eq!(opening(PREFACE), Opening::Http2);
        assert_eq!(opening(&bytes), Opening::Http2);
        for other in ["", "POST / HTTP/1.1", "PRI * HTTP/2.0\r\n\r\nGET"] {
            assert_eq!(opening(other.as_bytes()), Opening::Other, "{other:?}");
        }
    }
}
