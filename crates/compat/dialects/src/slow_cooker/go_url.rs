//! Normalizes a URL as Go does when it parses and prints it. The result is printed and sent.

use crate::go_text::quoted;
use drumfire_plan::secret;
use std::fmt::Write as _;

/// The URL with its scheme in lower case and its path escaped as Go's client escapes it. The query
/// is unchanged.
///
/// # Errors
/// Go's message on the mistake.
pub(super) fn normal(url: &str) -> Result<String, String> {
    let wrong = |why: &str| format!("parse {}: {why}", quoted(&secret::url(url)));
    if url.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Err(wrong("net/url: invalid control character in URL"));
    }
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let (before, fragment) = cut(tail, '#');
    let (path, query) = cut(before, '?');
    for part in [path, fragment] {
        if let Some(escape) = bad_escape(part) {
            return Err(wrong(&format!("invalid URL escape {}", quoted(escape))));
        }
    }
    let path = match path.bytes().all(may_stay) {
        true => path.to_owned(),
        false => escaped(path),
    };
    let scheme = scheme.to_ascii_lowercase();
    Ok(format!("{scheme}://{authority}{path}{query}{fragment}"))
}

/// Splits a text before the first occurrence of a character.
fn cut(text: &str, at: char) -> (&str, &str) {
    text.split_at(text.find(at).unwrap_or(text.len()))
}

/// A `%` without two hexadecimal digits, with the characters after it.
fn bad_escape(text: &str) -> Option<&str> {
    let places = text.match_indices('%').map(|(at, _)| at);
    let mut escapes = places.map(|at| {
        let end = text[at..].char_indices().nth(3);
        &text[at..end.map_or(text.len(), |(end, _)| at + end)]
    });
    escapes.find(|escape| {
        let digits = escape.bytes().skip(1).filter(u8::is_ascii_hexdigit);
        digits.count() < 2
    })
}

/// Whether a path that contains this byte may stay as written.
const fn may_stay(byte: u8) -> bool {
    is_plain(byte) || matches!(byte, b'!' | b'\'' | b'(' | b')' | b'*' | b'[' | b']' | b'%')
}

/// Whether this byte is unescaped in a path that is escaped again.
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'_' | b'.' | b'~')
        || matches!(
            byte,
            b'$' | b'&' | b'+' | b',' | b'/' | b':' | b';' | b'=' | b'@'
        )
}

/// A path escaped again from its bytes; its existing escapes are valid.
fn escaped(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        let digit = |byte: Option<u8>| char::from(byte.unwrap_or(b'0')).to_digit(16);
        let byte = match byte {
            b'%' => {
                let (high, low) = (digit(bytes.next()), digit(bytes.next()));
                (high.unwrap_or_default() * 16 + low.unwrap_or_default()) as u8
            }
            byte => byte,
        };
        match is_plain(byte) {
            true => out.push(char::from(byte)),
            // Writing to a String can't fail.
            false => drop(write!(out, "%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::normal;

    /// URLs and their form in Go 1.26.
    #[test]
    fn urls_are_those_that_go_would_send() {
        for (url, wanted) in [
            ("http://h", "http://h"),
            ("HTTP://H/A", "http://H/A"),
            ("http://h/a b?c d#e", "http://h/a%20b?c d#e"),
            ("http://h/%41%2f?%7B{}", "http://h/%41%2f?%7B{}"),
            ("http://h/%41%2f{x}", "http://h/A/%7Bx%7D"),
            ("http://h/(a)!*'[1]", "http://h/(a)!*'[1]"),
            ("http://h/(a)\\", "http://h/%28a%29%5C"),
            ("http://h/é?é", "http://h/%C3%A9?é"),
            ("http://h?q=%zz", "http://h?q=%zz"),
        ] {
            assert_eq!(normal(url).as_deref(), Ok(wanted), "{url}");
        }
        for (url, wanted) in [
            ("http://h/%zz", "invalid URL escape \"%zz\""),
            ("http://h/a%4", "invalid URL escape \"%4\""),
            ("http://h/\u{1}", "invalid control character"),
        ] {
            let why = normal(url).unwrap_err();
            assert!(why.contains(wanted), "{url}: {why}");
        }
    }
}
