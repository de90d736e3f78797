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

#[cfg(test)]
mod tests {
    use super::{JsonPlace, escape_json};
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
}
