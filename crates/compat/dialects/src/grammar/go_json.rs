//! JSON as Go reads and writes it: its error messages, escapes, numbers and indentation.

use drumfire_data::{read_json, without_lone_surrogates};
use drumfire_report::untrusted::is_dangerous;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

/// The maximum nesting depth of values.
const DEPTH_MAX: usize = 1_000;

/// A mistake, in Go's words.
type Mistake = String;

/// Checks that a text is JSON.
///
/// # Errors
/// In Go's words.
pub(crate) fn check(text: &str) -> Result<(), Mistake> {
    let mut scan = Scan { rest: text };
    scan.value(0)?;
    match scan.peek() {
        None => Ok(()),
        Some(c) => Err(unexpected(c, "after top-level value")),
    }
}

/// Parses a value; half a surrogate pair becomes U+FFFD.
///
/// # Errors
/// In Go's words.
pub(crate) fn read(text: &str) -> Result<Value, Mistake> {
    check(text)?;
    // The only texts that Go accepts and this reader refuses are nested too deeply.
    serde_json::from_str(&without_lone_surrogates(text)).map_err(|error| error.to_string())
}

/// A note on the first key that an object in a text has twice; Go's reader keeps the last value.
/// `what` is the flag or the file of the text. `None` if the text is not JSON.
pub(crate) fn repeated(what: &str, text: &str) -> Option<String> {
    let (_, key) = read_json(&without_lone_surrogates(text)).ok()?;
    key.map(|key| twice(what, &key))
}

/// A note on a key that stands twice.
pub(crate) fn twice(what: &str, key: &str) -> String {
    let key = key.escape_debug();
    format!("{what}: the key `{key}` is given twice; its last value is used")
}

/// Parses the keys of an object and their values, in order; a key may occur twice.
///
/// # Errors
/// In Go's words, or if the value is not an object.
pub(crate) fn entries(text: &str) -> Result<Vec<(String, Value)>, Mistake> {
    check(text)?;
    let text = without_lone_surrogates(text);
    let mut reader = serde_json::Deserializer::from_str(&text);
    let entries = serde::Deserializer::deserialize_map(&mut reader, Entries);
    entries.map_err(|error| error.to_string())
}

/// Parses an object as a list of its entries.
struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Vec<(String, Value)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            list.push(entry);
        }
        Ok(list)
    }
}

/// Parses an object of texts, sorted by key.
///
/// # Errors
/// In Go's words.
pub(crate) fn text_map(text: &str) -> Result<BTreeMap<String, String>, Mistake> {
    map_of(&read(text)?).map_err(|unfit| {
        let TypeMismatch { kind, wanted } = unfit;
        format!("json: cannot unmarshal {kind} into Go value of type {wanted}")
    })
}

/// A value of the wrong type, with Go's type names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeMismatch {
    pub(crate) kind: &'static str,
    pub(crate) wanted: &'static str,
}

/// The texts of a parsed object. A `null` object is empty, and a `null` member is an empty text.
pub(crate) fn map_of(value: &Value) -> Result<BTreeMap<String, String>, TypeMismatch> {
    let wrong = |value: &Value, wanted| TypeMismatch {
        kind: kind(value),
        wanted,
    };
    let entries = match value {
        Value::Null => return Ok(BTreeMap::new()),
        Value::Object(entries) => entries,
        other => return Err(wrong(other, "map[string]string")),
    };
    let text = |(key, value): (&String, &Value)| match value {
        Value::String(text) => Ok((key.clone(), text.clone())),
        Value::Null => Ok((key.clone(), String::new())),
        other => Err(wrong(other, "string")),
    };
    entries.iter().map(text).collect()
}

/// Go's name for the type of a value.
pub(crate) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

struct Scan<'a> {
    rest: &'a str,
}

fn unexpected(c: char, place: &str) -> Mistake {
    let shown = match c {
        '\'' => r"'\''".to_owned(),
        '"' => "'\"'".to_owned(),
        c => {
            let quoted = crate::go_text::quoted(c.encode_utf8(&mut [0; 4]));
            format!("'{}'", &quoted[1..quoted.len() - 1])
        }
    };
    format!("invalid character {shown} {place}")
}

impl<'a> Scan<'a> {
    /// The next character that is not white space.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
        self.rest.chars().next()
    }

    fn need(&mut self) -> Result<char, Mistake> {
        self.peek().ok_or_else(unexpected_end)
    }

    fn skip(&mut self, c: char) {
        self.rest = &self.rest[c.len_utf8()..];
    }

    fn value(&mut self, depth: usize) -> Result<(), Mistake> {
        if depth > DEPTH_MAX {
            return Err("exceeded max depth".to_owned());
        }
        match self.need()? {
            '{' => self.object(depth),
            '[' => self.array(depth),
            '"' => self.string(),
            '-' | '0'..='9' => self.number(),
            't' => self.literal("true"),
            'f' => self.literal("false"),
            'n' => self.literal("null"),
            c => Err(unexpected(c, "looking for beginning of value")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<(), Mistake> {
        self.skip('{');
        if self.need()? == '}' {
            self.skip('}');
            return Ok(());
        }
        loop {
            match self.need()? {
                '"' => self.string()?,
                c => return Err(unexpected(c, "looking for beginning of object key string")),
            }
            match self.need()? {
                ':' => self.skip(':'),
                c => return Err(unexpected(c, "after object key")),
            }
            self.value(depth + 1)?;
            match self.need()? {
                ',' => self.skip(','),
                '}' => {
                    self.skip('}');
                    return Ok(());
                }
                c => return Err(unexpected(c, "after object key:value pair")),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), Mistake> {
        self.skip('[');
        if self.need()? == ']' {
            self.skip(']');
            return Ok(());
        }
        loop {
            self.value(depth + 1)?;
            match self.need()? {
                ',' => self.skip(','),
                ']' => {
                    self.skip(']');
                    return Ok(());
                }
                c => return Err(unexpected(c, "after array element")),
            }
        }
    }

    fn string(&mut self) -> Result<(), Mistake> {
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(());
                }
                '\\' => match chars.next().ok_or_else(unexpected_end)?.1 {
                    'u' => {
                        for _ in 0..4 {
                            let (_, digit) = chars.next().ok_or_else(unexpected_end)?;
                            if !digit.is_ascii_hexdigit() {
                                let place = "in \\u hexadecimal character escape";
                                return Err(unexpected(digit, place));
                            }
                        }
                    }
                    '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => {}
                    c => return Err(unexpected(c, "in string escape code")),
                },
                c if u32::from(c) < 0x20 => return Err(unexpected(c, "in string literal")),
                _ => {}
            }
        }
        Err(unexpected_end())
    }

    fn literal(&mut self, word: &'static str) -> Result<(), Mistake> {
        for expected in word.chars() {
            match self.rest.chars().next() {
                Some(c) if c == expected => self.skip(c),
                Some(c) => {
                    let place = format!("in literal {word} (expecting '{expected}')");
                    return Err(unexpected(c, &place));
                }
                None => return Err(unexpected_end()),
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Mistake> {
        if self.rest.starts_with('-') {
            self.skip('-');
        }
        if self.rest.starts_with('0') {
            self.skip('0');
        } else {
            self.digits("in numeric literal")?;
        }
        if self.rest.starts_with('.') {
            self.skip('.');
            self.digits("after decimal point in numeric literal")?;
        }
        if self.rest.starts_with(['e', 'E']) {
            self.rest = self.rest[1..].trim_start_matches(['+', '-']);
            self.digits("in exponent of numeric literal")?;
        }
        Ok(())
    }

    fn digits(&mut self, place: &str) -> Result<(), Mistake> {
        let rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
        if rest.len() == self.rest.len() {
            return Err(rest
                .chars()
                .next()
                .map_or_else(unexpected_end, |c| unexpected(c, place)));
        }
        self.rest = rest;
        Ok(())
    }
}

fn unexpected_end() -> Mistake {
    "unexpected end of JSON input".to_owned()
}

/// Appends a text as Go writes it, so that it is also safe in HTML. In addition, control characters
/// are escaped, which does not change the text for a reader.
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\x1f' => {
                // Writing to a String can't fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c if is_dangerous(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Appends a number with a fraction: the shortest text that parses to the same number.
pub(crate) fn push_float(out: &mut String, value: f64) {
    let size = value.abs();
    // Writing to a String can't fail.
    let _ = if !value.is_finite() {
        write!(out, "0")
    } else if size != 0.0 && !(1e-6..1e21).contains(&size) {
        write!(out, "{value:e}")
    } else {
        write!(out, "{value}")
    };
}

/// JSON without white space between its parts, and with HTML's special characters escaped.
pub(crate) fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut inside, mut escaped) = (false, false);
    for c in json.chars() {
        match c {
            ' ' | '\t' | '\r' | '\n' if !inside => continue,
            '"' if !escaped => inside = !inside,
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
                escaped = false;
                continue;
            }
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    out
}

/// Breaks a stream of compact JSON into lines, with two spaces for each level.
#[derive(Debug, Default)]
pub(crate) struct Indent {
    depth: usize,
    inside: bool,
    escaped: bool,
    /// Whether the last character opened an object or array that has no parts yet.
    opened: bool,
}

impl Indent {
    /// Appends the next piece of the JSON; pieces may be cut anywhere.
    pub(crate) fn push(&mut self, json: &str, out: &mut String) {
        for c in json.chars() {
            if self.inside {
                out.push(c);
                self.inside = c != '"' || self.escaped;
                self.escaped = c == '\\' && !self.escaped;
                continue;
            }
            let closes = matches!(c, '}' | ']');
            if closes {
                self.depth = self.depth.saturating_sub(1);
            }
            // An empty object or array stays on its line.
            if self.opened != closes {
                self.line(out);
            }
            self.opened = matches!(c, '{' | '[');
            self.depth += usize::from(self.opened);
            self.inside = c == '"';
            out.push(c);
            match c {
                ',' => self.line(out),
                ':' => out.push(' '),
                _ => {}
            }
        }
    }

    fn line(&self, out: &mut String) {
        out.push('\n');
        for _ in 0..self.depth {
            out.push_str("  ");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_told_in_gos_words() {
        for (text, message) in [
            (
                "{nope}",
                "invalid character 'n' looking for beginning of object key string",
            ),
            (
                r#"{"a":}"#,
                "invalid character '}' looking for beginning of value",
            ),
            (r#"{"a" 1}"#, "invalid character '1' after object key"),
            (r#"{"a":1"#, "unexpected end of JSON input"),
            (
                "[1,]",
                "invalid character ']' looking for beginning of value",
            ),
            (r#"{"a":1}x"#, "invalid character 'x' after top-level value"),
            (
                r#"{"a":1 "b"}"#,
                "invalid character '\"' after object key:value pair",
            ),
            ("01", "invalid character '1' after top-level value"),
            (
                "1.x",
                "invalid character 'x' after decimal point in numeric literal",
            ),
            ("[1 2]", "invalid character '2' after array element"),
            (r#""\q""#, "invalid character 'q' in string escape code"),
            (
                "nuli",
                "invalid character 'i' in literal null (expecting 'l')",
            ),
            ("", "unexpected end of JSON input"),
        ] {
            assert_eq!(check(text), Err(message.to_owned()), "{text}");
        }
        for text in [
            "{}",
            " [1.5e-3, -0, \"\\u00e4\", null] ",
            "{\"a\":{\"b\":[true,false]}}",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn a_map_holds_texts() {
        let entry = ("a".to_owned(), "b".to_owned());
        assert_eq!(text_map(r#"{"a":"b"}"#), Ok(BTreeMap::from([entry])));
        let entries = text_map(r#"{"a":null,"b":"x\ud800"}"#).unwrap();
        assert_eq!((&*entries["a"], &*entries["b"]), ("", "x\u{fffd}"));
        let number = "json: cannot unmarshal number into Go value of type string";
        assert_eq!(text_map(r#"{"a":1}"#), Err(number.to_owned()));
        let array = "json: cannot unmarshal array into Go value of type map[string]string";
        assert_eq!(text_map("[]"), Err(array.to_owned()));
    }

    #[test]
    fn texts_and_numbers_are_written_as_go_writes_them() {
        let mut out = String::new();
        push_string(&mut out, "a\"<b>&\n\x01");
        assert_eq!(out, r#""a\"\u003cb\u003e\u0026\n\u0001""#);
        let mut out = String::new();
        push_string(&mut out, "ä\u{9b}\u{202e}\u{e0041}");
        assert_eq!(out, r#""ä\u009b\u202e\udb40\udc41""#);
        for (value, text) in [
            (199.79, "199.79"),
            (0.0, "0"),
            (5e-7, "5e-7"),
            (0.000_001, "0.000001"),
            (f64::NAN, "0"),
        ] {
            let mut out = String::new();
            push_float(&mut out, value);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn white_space_between_parts_goes_and_comes() {
        let json = compact(" { \"a b\" : [ 1 , 2 ], \"c\":\"\\\" <\", \"d\":{}, \"e\":[] } ");
        assert_eq!(json, r#"{"a b":[1,2],"c":"\" \u003c","d":{},"e":[]}"#);
        let mut pretty = String::new();
        let mut indent = Indent::default();
        for piece in json.split_inclusive('a') {
            indent.push(piece, &mut pretty);
        }
        let expected = "{\n  \"a b\": [\n    1,\n    2\n  ],\n  \"c\": \"\\\" \\u003c\",\n  \"d\": {},\n  \"e\": []\n}";
        assert_eq!(pretty, expected);
    }
}
