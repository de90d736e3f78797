//! An excerpt of a server's bytes for a message: the beginning, without control characters, up to
//! the first word that indicates a secret.

use drumfire_plan::secret;
use std::fmt::Write as _;

/// The maximum number of characters shown.
const CHARACTERS_MAX: usize = 60;

/// The first characters between backticks; characters other than letters, digits, signs and blanks
/// are escaped.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    format!("`{}`", secret::excerpt(&beginning(bytes)))
}

fn beginning(bytes: &[u8]) -> String {
    // A character has at most 4 bytes, and one that is cut at the end is not shown.
    let start = &bytes[..bytes.len().min(4 * (CHARACTERS_MAX + 1))];
    let mut out = String::new();
    let mut shown = 0;
    for chunk in start.utf8_chunks() {
        for c in chunk.valid().chars() {
            if shown == CHARACTERS_MAX {
                out.push('…');
                return out;
            }
            shown += 1;
            if matches!(c, '"' | '\'') {
                out.push(c);
            } else {
                out.extend(c.escape_debug());
            }
        }
        for byte in chunk.invalid() {
            if shown == CHARACTERS_MAX {
                break;
            }
            shown += 1;
            let written = write!(out, "\\x{byte:02x}");
            debug_assert!(written.is_ok(), "a String takes any text");
        }
    }
    if start.len() < bytes.len() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn nothing_long_and_nothing_that_acts() {
        for (bytes, shown) in [
            (&b"ok"[..], "`ok`"),
            (b"", "``"),
            (b"say \"it's\"", "`say \"it's\"`"),
            (b"\x1b[2J\r\n", "`\\u{1b}[2J\\r\\n`"),
            ("gpj.\u{202e}exe".as_bytes(), "`gpj.\\u{202e}exe`"),
            ("größe".as_bytes(), "`größe`"),
            (b"\xff\xfeA", "`\\xff\\xfeA`"),
            (b"{\"access_token\":\"CANARY\"}", "`{\"access_token…`"),
            (b"http://me:CANARY@h/", "`http://***@h/`"),
        ] {
            assert_eq!(excerpt(bytes), shown);
        }
        let long = excerpt(&[b'x'; 100_000]);
        assert_eq!(long, format!("`{}…`", "x".repeat(60)));
        let short_of_it = excerpt(&[b'x'; 60]);
        assert_eq!(short_of_it, format!("`{}`", "x".repeat(60)));
    }
}
