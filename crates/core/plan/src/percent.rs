//! Percent-encoding (RFC 3986 section 2.1) with the sets of bytes that this program encodes.

use percent_encoding::{
    AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, percent_encode, utf8_percent_encode,
};
use std::borrow::Cow;

/// All characters except the unreserved ones (RFC 3986 section 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Characters that are never allowed in a path or query.
const IMPOSSIBLE: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Characters that end a target, or are refused in one.
const ENDING: &AsciiSet = &CONTROLS.add(b' ');

/// All characters that a form encodes, and the blank.
const FORM: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'*');

/// No ASCII character.
const NOTHING: &AsciiSet = &AsciiSet::EMPTY;

/// Encodes everything except unreserved characters; the slash is encoded too. For a value inside a
/// path or a query.
#[must_use]
pub fn encoded(text: &str) -> Cow<'_, str> {
    utf8_percent_encode(text, RESERVED).into()
}

/// Encodes characters that are never allowed in a path or query. Characters with a meaning there,
/// including the slash and the percent sign, are kept.
#[must_use]
pub fn escaped(text: &str) -> Cow<'_, str> {
    utf8_percent_encode(text, IMPOSSIBLE).into()
}

/// Encodes only characters that are refused in a target: blanks, control characters, and non-ASCII
/// characters.
#[must_use]
pub fn encoded_for_target(text: &str) -> Cow<'_, str> {
    utf8_percent_encode(text, ENDING).into()
}

/// Encodes non-ASCII bytes.
#[must_use]
pub fn encoded_beyond_ascii(bytes: &[u8]) -> Cow<'_, str> {
    percent_encode(bytes, NOTHING).into()
}

/// Encodes a name or a value of a form, with `+` for a blank (the URL standard's
/// `application/x-www-form-urlencoded`).
#[must_use]
pub fn encoded_in_form(text: &str) -> String {
    let encoded: Cow<'_, str> = utf8_percent_encode(text, FORM).into();
    encoded.replace("%20", "+")
}

/// The decoded text. A `%` that begins no escape is kept, and bytes that are not UTF-8 become
/// U+FFFD.
#[must_use]
pub fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_has_its_bytes() {
        let ascii: String = (1..=0x7f_u8).map(char::from).collect();
        let kept = |encode: fn(&str) -> Cow<'_, str>| {
            let is_kept = |c: &char| encode(&c.to_string()).chars().eq([*c]);
            ascii.chars().filter(is_kept).collect::<String>()
        };
        let letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let small = "abcdefghijklmnopqrstuvwxyz";
        assert_eq!(kept(encoded), format!("-.{letters}_{small}~"));
        let signs = format!(
            "!$%&'()*+,-./{}:;=?@{}[]_{small}~",
            &letters[..10],
            &letters[10..]
        );
        assert_eq!(kept(escaped), signs);
        assert_eq!(encoded_beyond_ascii(ascii.as_bytes()), ascii);
        let visible: String = ('!'..='~').collect();
        assert_eq!(kept(encoded_for_target), visible);
        assert_eq!(encoded_beyond_ascii(b"\xff/"), "%FF/");
        for encode in [encoded, escaped, encoded_for_target] {
            assert_eq!(encode("\u{e4}"), "%C3%A4");
        }
        assert_eq!(encoded_in_form("a b*~+%\u{e4}"), "a+b*%7E%2B%25%C3%A4");
        for (text, wanted) in [
            ("%41%2f", "A/"),
            ("%4", "%4"),
            ("%zz", "%zz"),
            ("%ff", "\u{fffd}"),
        ] {
            assert_eq!(decoded(text), wanted);
        }
    }
}
