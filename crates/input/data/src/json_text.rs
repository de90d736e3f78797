//! Where in a JSON text one is, and how text is written inside its strings.

use std::fmt::Write;

/// Whether a place in a JSON text lies inside a string, found by reading the text before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonPlace {
    string: bool,
    escaped: bool,
}

impl JsonPlace {
    /// Goes on over this text.
    pub fn read(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.step(byte));
    }

    /// Goes on over one byte.
    pub const fn step(&mut self, byte: u8) {
        if self.escaped {
            self.escaped = false;
        } else if byte == b'"' {
            self.string = !self.string;
        } else if byte == b'\\' {
            self.escaped = self.string;
        }
    }

    /// Whether the place lies inside a string.
    #[must_use]
    pub const fn in_string(self) -> bool {
        self.string
    }
}

/// Appends text as the inside of a JSON string (RFC 8259, section 7).
pub fn escape_json(text: &str, out: &mut String) {
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[plain..at]);
        plain = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            // Writing to a string does not fail.
            _ => drop(write!(out, "\\u{byte:04x}")),
        }
    }
    out.push_str(&text[plain..]);
}

/// A JSON text with U+FFFD for each escape of half a surrogate pair.
#[must_use]
pub fn without_lone_surrogates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match (unit(rest), rest.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                out.push('\u{fffd}');
                rest = &rest[6..];
                continue;
            }
            (Some(_), _) => 6,
            // An escape of one character, which may be of several bytes where it is a mistake.
            (None, _) => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// The UTF-16 unit whose escape a text begins with.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::{JsonPlace, escape_json, without_lone_surrogates};
    use proptest::prelude::*;

    #[test]
    fn places_are_told_by_the_quotes_before_them() {
        for (text, inside) in [
            ("", false),
            ("{\"a\": ", false),
            ("{\"a\": \"", true),
            ("{\"a\": \"x\\\"", true),
            ("{\"a\": \"x\\\\\"", false),
            ("\\\"", true), // a backslash outside a string escapes nothing
        ] {
            let mut place = JsonPlace::default();
            place.read(text);
            assert_eq!(place.in_string(), inside, "{text}");
        }
    }

    proptest! {
        #[test]
        fn escaped_text_reads_back(text in any::<String>(), cut in any::<prop::sample::Index>()) {
            let mut json = String::from("\"");
            escape_json(&text, &mut json);
            let mut place = JsonPlace::default();
            let cut = json.floor_char_boundary(cut.index(json.len()));
            place.read(&json[..cut]);
            place.read(&json[cut..]);
            prop_assert!(place.in_string());
            json.push('"');
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced() {
        for (text, whole) in [
            (r"\ud83d\ude00", r"\ud83d\ude00"),
            (r"a\ud800b", "a\u{fffd}b"),
            (r"\udc00\ud800", "\u{fffd}\u{fffd}"),
            (r"\ud800\ud83d\ude00", "\u{fffd}\\ud83d\\ude00"),
            (r"\\ud800", r"\\ud800"),
            ("\\é", "\\é"),
            ("\\", "\\"),
        ] {
            assert_eq!(without_lone_surrogates(text), whole, "{text}");
        }
    }
}
