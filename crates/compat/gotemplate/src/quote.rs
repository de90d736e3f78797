//! Go's string literals: quoting and unquoting.

use crate::raw_bytes;
use std::fmt::Write as _;

/// A string in double quotes, as `%q` prints it.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        push_escaped(&mut out, c, '"');
    }
    out.push('"');
    out
}

/// A string in double quotes and in ASCII, as `%+q` prints it.
pub(crate) fn quoted_ascii(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c.is_ascii() || raw_bytes::byte_of(c).is_some() {
            true => push_escaped(&mut out, c, '"'),
            false => push_code(&mut out, c),
        }
    }
    out.push('"');
    out
}

/// A character in single quotes and in ASCII, as `%+q` prints integers.
pub(crate) fn quoted_ascii_char(c: char) -> String {
    let mut out = String::from("'");
    match c.is_ascii() {
        true => push_escaped(&mut out, c, '\''),
        false => push_code(&mut out, c),
    }
    out.push('\'');
    out
}

/// A character in single quotes, as `%q` prints integers.
pub(crate) fn quoted_char(c: char) -> String {
    let mut out = String::from("'");
    push_escaped(&mut out, c, '\'');
    out.push('\'');
    out
}

/// `U+0040 '@'`
pub(crate) fn code_point(c: char) -> String {
    let number = format!("U+{:04X}", u32::from(c));
    match is_printable(c) {
        true => format!("{number} '{c}'"),
        false => number,
    }
}

fn push_escaped(out: &mut String, c: char, quote: char) {
    if let Some(byte) = raw_bytes::byte_of(c) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\x{byte:02x}");
        return;
    }
    match c {
        '\x07' => out.push_str("\\a"),
        '\x08' => out.push_str("\\b"),
        '\x0c' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\x0b' => out.push_str("\\v"),
        '\\' => out.push_str("\\\\"),
        c if c == quote => {
            out.push('\\');
            out.push(c);
        }
        c if is_printable(c) => out.push(c),
        c => push_code(out, c),
    }
}

fn push_code(out: &mut String, c: char) {
    let code = u32::from(c);
    // Writing to a string cannot fail.
    let _ = match code {
        0..0x80 => write!(out, "\\x{code:02x}"),
        0x80..0x1_0000 => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
}

/// Whether Go prints the character without an escape: letters, marks, numbers, punctuation, symbols
/// and the ASCII space.
pub(crate) fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return c == ' ' || c.is_ascii_graphic();
    }
    // After another character, the standard library escapes only characters that are not printable.
    let mut pair = String::from("a");
    pair.push(c);
    let mut escaped = String::new();
    let _ = write!(escaped, "{pair:?}");
    !escaped.contains('\\')
}

/// The string value of a literal in double quotes or backquotes.
pub(crate) fn unquote(literal: &str) -> Option<String> {
    if let Some(raw) = literal.strip_prefix('`') {
        return Some(raw.strip_suffix('`')?.replace('\r', ""));
    }
    let mut rest = literal.strip_prefix('"')?.strip_suffix('"')?;
    let mut bytes = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let (unit, after) = unquote_unit(rest, '"')?;
        match unit {
            Unit::Byte(byte) => bytes.push(byte),
            Unit::Char(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        rest = after;
    }
    Some(raw_bytes::to_text(&bytes))
}

/// The value of an escape; a byte may be only a part of a character.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    Byte(u8),
    Char(char),
}

/// The first unit of a literal's content, and the rest.
pub(crate) fn unquote_unit(text: &str, quote: char) -> Option<(Unit, &str)> {
    let mut chars = text.chars();
    let first = chars.next()?;
    if first == quote || first == '\n' {
        return None;
    }
    if first != '\\' {
        return Some((Unit::Char(first), chars.as_str()));
    }
    let letter = chars.next()?;
    let rest = chars.as_str();
    let simple = match letter {
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '\\' => '\\',
        c if c == quote => c,
        'x' => return coded(rest, 2, 16),
        'u' => return coded(rest, 4, 16),
        'U' => return coded(rest, 8, 16),
        '0'..='7' => return coded(&text[1..], 3, 8),
        _ => return None,
    };
    Some((Unit::Char(simple), rest))
}

/// A number of `digits` digits: with two or three digits a byte, with more a character.
fn coded(text: &str, digits: usize, radix: u32) -> Option<(Unit, &str)> {
    let number = text.get(..digits)?;
    if !number.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let value = u32::from_str_radix(number, radix).ok()?;
    let unit = match digits {
        2 | 3 => Unit::Byte(u8::try_from(value).ok()?),
        _ => Unit::Char(char::from_u32(value)?),
    };
    Some((unit, &text[digits..]))
}
