//! A value as text: strings unescaped, everything else as written.

use super::scan::{BrokenJson, Scanner};
use crate::pick::Form;

/// The maximum nesting depth of objects and arrays in an extracted value.
const DEPTH_MAX: usize = 512;

/// For each open bracket, whether it belongs to an object.
struct Nesting {
    bits: [u64; DEPTH_MAX / 64],
    depth: usize,
}

impl Nesting {
    const EMPTY: Self = Self {
        bits: [0; DEPTH_MAX / 64],
        depth: 0,
    };

    /// Adds a bracket; returns whether there was room.
    const fn push(&mut self, open: u8) -> bool {
        if self.depth == DEPTH_MAX {
            return false;
        }
        let (word, bit) = (self.depth / 64, 1 << (self.depth % 64));
        self.bits[word] &= !bit;
        if open == b'{' {
            self.bits[word] |= bit;
        }
        self.depth += 1;
        true
    }

    /// The innermost bracket.
    const fn last(&self) -> Option<u8> {
        let Some(last) = self.depth.checked_sub(1) else {
            return None;
        };
        let is_object = self.bits[last / 64] >> (last % 64) & 1 == 1;
        Some(if is_object { b'{' } else { b'[' })
    }
}

/// Appends the value at the scanner's position, and skips it.
pub(super) fn write(
    scanner: &mut Scanner<'_>,
    form: Form,
    out: &mut String,
) -> Result<(), BrokenJson> {
    if form == Form::Plain && scanner.peek() == Some(b'"') {
        let raw = scanner.string()?;
        return unescape(raw, |text| out.push_str(text)).ok_or_else(|| bad_string(scanner));
    }
    let mut nesting = Nesting::EMPTY;
    loop {
        let is_container = match scanner.peek() {
            Some(open @ (b'{' | b'[')) => {
                out.push(char::from(open));
                if !nesting.push(open) {
                    return Err(scanner.beyond("has values nested deeper than 512 levels"));
                }
                scanner.enter(open)
            }
            Some(b'"') => {
                write_string(scanner, out)?;
                false
            }
            _ => {
                write_bytes(scanner.scalar()?, out);
                false
            }
        };
        if is_container {
            write_name(scanner, &nesting, out)?;
        } else if !close(scanner, &mut nesting, out)? {
            return Ok(());
        }
    }
}

/// Called after a value, or at the end of an empty object or array: closes the brackets that end
/// there, and moves to the next value. Returns whether there is one.
fn close(
    scanner: &mut Scanner<'_>,
    nesting: &mut Nesting,
    out: &mut String,
) -> Result<bool, BrokenJson> {
    while let Some(open) = nesting.last() {
        if scanner.next(open)? {
            out.push(',');
            write_name(scanner, nesting, out)?;
            return Ok(true);
        }
        out.push(char::from(open + 2));
        nesting.depth -= 1;
    }
    Ok(false)
}

/// In an object, writes the name before the next value.
fn write_name(
    scanner: &mut Scanner<'_>,
    nesting: &Nesting,
    out: &mut String,
) -> Result<(), BrokenJson> {
    if nesting.last() == Some(b'{') {
        let start = scanner.position();
        scanner.name()?;
        scanner.go_to(start);
        write_string(scanner, out)?;
        scanner.skip_space();
        scanner.consume(b':');
        scanner.skip_space();
        out.push(':');
    }
    Ok(())
}

/// Writes a string as it is written.
fn write_string(scanner: &mut Scanner<'_>, out: &mut String) -> Result<(), BrokenJson> {
    let raw = scanner.string()?;
    unescape(raw, |_| ()).ok_or_else(|| bad_string(scanner))?;
    out.push('"');
    write_bytes(raw, out);
    out.push('"');
    Ok(())
}

/// Writes bytes that were checked to be UTF-8.
fn write_bytes(bytes: &[u8], out: &mut String) {
    out.push_str(std::str::from_utf8(bytes).unwrap_or_default());
}

const fn bad_string(scanner: &Scanner<'_>) -> BrokenJson {
    scanner.broken("a string has an invalid escape or a control character, or is not UTF-8")
}

/// Passes a string's text to `put` in pieces; `None` if it is not a JSON string (RFC 8259, section
/// 7).
pub(super) fn unescape(raw: &[u8], mut put: impl FnMut(&str)) -> Option<()> {
    let text = std::str::from_utf8(raw).ok()?;
    if raw.iter().any(|b| *b < 0x20) {
        return None;
    }
    let mut rest = text;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        put(plain);
        let (c, length) = escape(escaped)?;
        put(c.encode_utf8(&mut [0; 4]));
        rest = escaped.get(length..)?;
    }
    put(rest);
    Some(())
}

/// The character of an escape, and the length of the escape after its backslash.
pub(super) fn escape(text: &str) -> Option<(char, usize)> {
    let plain = match text.bytes().next()? {
        c @ (b'"' | b'\\' | b'/') => char::from(c),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(text),
        _ => return None,
    };
    Some((plain, 1))
}

/// `u00e4`, or the two halves of a character above U+FFFF.
fn unicode(text: &str) -> Option<(char, usize)> {
    let unit = |start: usize| {
        let digits = text.get(start..start + 4)?;
        // `from_str_radix` would also accept a sign.
        let are_digits = digits.bytes().all(|b| b.is_ascii_hexdigit());
        are_digits.then(|| u32::from_str_radix(digits, 16).ok())?
    };
    let first = unit(1)?;
    if let Some(c) = char::from_u32(first) {
        return Some((c, 5));
    }
    let second = text
        .get(5..7)
        .filter(|s| *s == "\\u")
        .and_then(|_| unit(7))?;
    if !(0xd800..0xdc00).contains(&first) || !(0xdc00..0xe000).contains(&second) {
        return None;
    }
    let c = char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00))?;
    Some((c, 11))
}

/// Whether a string, given without its quotes, is equal to this text.
pub(super) fn is_same(raw: &[u8], text: &str) -> bool {
    if memchr::memchr(b'\\', raw).is_none() {
        return raw == text.as_bytes();
    }
    let mut rest = Some(text);
    let is_string = unescape(raw, |piece| {
        rest = rest.and_then(|rest| rest.strip_prefix(piece))
    });
    is_string.is_some() && rest == Some("")
}
