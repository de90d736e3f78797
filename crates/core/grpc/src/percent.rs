//! The encoding of `grpc-message` ("Percent-Encoded" in gRPC over HTTP/2), read leniently.

use percent_encoding::percent_decode;

/// The decoded value, truncated to `limit` bytes. A `%` without a valid escape is kept, and bytes
/// that are not UTF-8 become U+FFFD; the protocol forbids failing on either.
pub(crate) fn decode(value: &[u8], limit: usize) -> String {
    let bytes: Vec<u8> = percent_decode(value).take(limit).collect();
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    // The limit may split a character, and replacements are longer than the bytes they replace.
    text.truncate(text.floor_char_boundary(limit));
    text
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn escapes_are_undone_and_errors_let_stand() {
        for (value, text) in [
            (&b""[..], ""),
            (b"plain words", "plain words"),
            (b"100%25", "100%"),
            (b"%E2%82%ac %e2%98%BA", "\u{20ac} \u{263a}"),
            (b"%", "%"),
            (b"%4", "%4"),
            (b"%zz%41", "%zzA"),
            (b"%ff%41", "\u{fffd}A"),
            (b"\xc3\xa4 raw", "\u{e4} raw"),
            (b"%1b[2J", "\x1b[2J"),
        ] {
            assert_eq!(decode(value, 1024), text, "{}", value.escape_ascii());
        }
    }

    #[test]
    fn the_limit_holds_and_cuts_no_character() {
        assert_eq!(decode(&[b'a'; 1 << 20], 1024).len(), 1024);
        assert_eq!(
            decode("\u{20ac}".repeat(1000).as_bytes(), 1024)
                .chars()
                .filter(|&c| c == '\u{20ac}')
                .count(),
            341
        );
        assert!(decode(&[0xff; 4096], 1024).len() <= 1024);
    }
}
