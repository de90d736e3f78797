//! Replaces the strings of a JSON text that are values; the rest is unchanged.
//!
//! The text is scanned and not parsed into values, so its order, its spaces and the digits of its
//! numbers are preserved. A string before a colon is a key and is kept.

/// The text with each string value replaced by another literal.
#[must_use]
pub fn map(json: &str, literal: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('"') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (written, behind) = rest.split_at(string_end(rest));
        let is_key = behind.trim_start().starts_with(':');
        match serde_json::from_str::<String>(written) {
            Ok(text) if !is_key => out.push_str(&literal(&text)),
            _ => out.push_str(written),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// The end of a string, from its opening quote.
fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A text as a JSON string.
#[must_use]
pub fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
