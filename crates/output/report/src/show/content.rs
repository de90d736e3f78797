//! The content of a body: JSON indented, other text as it is, bytes in hexadecimal. The kind is
//! found by the bytes, since the Content-Type may be wrong. A body is masked before it is cut into
//! rows, so that a secret in two rows is found, and each row is escaped then.

use crate::style::Unicode;
use crate::untrusted::Untrusted;
use drumfire_measure::{Excerpt, Field};
use drumfire_plan::secret;
use serde::de::IgnoredAny;
use std::fmt::Write as _;

/// The bytes in a row of hexadecimal.
const ROW_BYTES: usize = 16;
/// The bytes in a row of hexadecimal if a row of [`ROW_BYTES`] does not fit.
const NARROW_ROW_BYTES: usize = 8;
/// The width of a row of [`ROW_BYTES`], in columns.
const ROW_COLUMNS: usize = 9 + 3 * ROW_BYTES + 2 + ROW_BYTES;
/// The maximum number of rows of hexadecimal.
const ROWS_MAX: usize = 16;
/// The maximum number of rows of text.
const LINES_MAX: usize = 400;
/// The maximum depth of indented JSON. The indentation of deeper JSON would grow with the square of
/// its length.
const DEPTH_MAX: usize = 64;
/// The maximum number of characters of a value in one line.
const VALUE_MAX: usize = 200;

/// The rows of a body of a side with these fields, escaped, with `secrets` masked.
pub(crate) fn content(
    body: &Excerpt,
    fields: &[Field],
    secrets: &[&str],
    unicode: Unicode,
) -> Vec<String> {
    content_within(usize::MAX, body, fields, secrets, unicode)
}

/// As [`content`], with rows of hexadecimal that fit into this number of columns, if possible.
pub(crate) fn content_within(
    columns: usize,
    body: &Excerpt,
    fields: &[Field],
    secrets: &[&str],
    unicode: Unicode,
) -> Vec<String> {
    let row_bytes = match columns < ROW_COLUMNS {
        true => NARROW_ROW_BYTES,
        false => ROW_BYTES,
    };
    // A message with a schema has a text beside its bytes.
    let mut rows = match (&body.text, text_of(&body.bytes)) {
        (Some(text), _) => lines(text, secrets, unicode),
        (None, Some(text)) if !is_binary(text) => lines(text, secrets, unicode),
        _ => hexadecimal(&secret::bytes(&body.bytes, secrets), row_bytes),
    };
    let shown = body.bytes.len() as u64;
    // At most one last row: cut lines matter more than cut bytes.
    if rows.len() > LINES_MAX {
        rows.truncate(LINES_MAX);
        rows.push(format!("(more lines; {} bytes in total)", body.length));
    } else if body.length > shown {
        rows.push(format!("(the first {shown} of {} bytes)", body.length));
    } else if body.text.is_none() && text_of(&body.bytes).is_none_or(is_binary) {
        let kind = fields
            .iter()
            .find(|field| field.name.eq_ignore_ascii_case("content-type"));
        let kind = kind.map_or_else(String::new, |kind| {
            format!(" of {}", Untrusted::new(&kind.value).escaped(unicode))
        });
        rows.push(format!("({} bytes{kind})", body.length));
    }
    rows
}

/// A value in one line, cut if it is long.
pub(crate) fn excerpted(value: &str) -> String {
    match value.char_indices().nth(VALUE_MAX) {
        Some((end, _)) => format!("{}… ({} bytes)", &value[..end], value.len()),
        None => value.to_owned(),
    }
}

/// The text of an excerpt; `None` if it is not UTF-8. A character that the cut has halved is left
/// out.
fn text_of(bytes: &[u8]) -> Option<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    }
}

/// Whether a text has control characters that no text format has.
fn is_binary(text: &str) -> bool {
    let is_control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    text.contains(is_control)
}

/// The rows of a text. JSON is indented if all of it is valid and no value is too deep.
fn lines(text: &str, secrets: &[&str], unicode: Unicode) -> Vec<String> {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let is_valid = is_json && serde_json::from_str::<IgnoredAny>(text).is_ok();
    let indented = if is_valid { indented(text) } else { None };
    let text = indented.unwrap_or_else(|| text.to_owned());
    let masked = secret::body(&text, secrets);
    let lines = masked.lines().take(LINES_MAX + 1);
    lines
        .map(|line| Untrusted::new(line).escaped(unicode))
        .collect()
}

/// Valid JSON with a member or an element per line. Digits, escapes and order are kept. `None` if
/// values are deeper than [`DEPTH_MAX`].
fn indented(json: &str) -> Option<String> {
    let mut out = String::with_capacity(json.len() * 2);
    let (mut depth, mut in_string, mut is_escaped, mut opened) = (0_usize, false, false, false);
    for c in json.chars() {
        if in_string {
            out.push(c);
            in_string = is_escaped || c != '"';
            is_escaped = c == '\\' && !is_escaped;
            continue;
        }
        match c {
            ' ' | '\n' | '\r' | '\t' => continue,
            '}' | ']' => {
                depth -= 1;
                if !opened {
                    break_line(&mut out, depth);
                }
            }
            _ if opened => break_line(&mut out, depth),
            _ => {}
        }
        opened = matches!(c, '{' | '[');
        out.push(c);
        match c {
            '"' => in_string = true,
            '{' | '[' if depth == DEPTH_MAX => return None,
            '{' | '[' => depth += 1,
            ',' => break_line(&mut out, depth),
            ':' => out.push(' '),
            _ => {}
        }
    }
    Some(out)
}

/// Begins a row at this depth, with two blanks for each level.
fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Rows of an offset, the bytes, and their printable characters, as `hexdump -C` prints them
/// without bars.
fn hexadecimal(bytes: &[u8], row_bytes: usize) -> Vec<String> {
    let rows = bytes.chunks(row_bytes).take(ROWS_MAX).enumerate();
    rows.map(|(index, row)| {
        let mut line = format!("{:08x} ", index * row_bytes);
        for byte in row {
            // Writing to a String can't fail.
            let _ = write!(line, " {byte:02x}");
        }
        let blank = (row_bytes - row.len()) * 3 + 2;
        line.extend(std::iter::repeat_n(' ', blank));
        let shown = row.iter().map(|byte| match byte {
            0x20..=0x7e => char::from(*byte),
            _ => '.',
        });
        line.extend(shown);
        line
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(bytes: &[u8]) -> Vec<String> {
        let body = Excerpt {
            bytes: bytes.to_vec(),
            length: bytes.len() as u64,
            text: None,
        };
        content(&body, &[], &[], Unicode::On)
    }

    #[test]
    fn json_is_indented_with_its_own_digits() {
        let json = br#"{"n":1.50,"a":[],"o":{"s":"x, {\"y\": [1]}"},"l":[1,2]}"#;
        let expected = [
            "{",
            "  \"n\": 1.50,",
            "  \"a\": [],",
            "  \"o\": {",
            "    \"s\": \"x, {\\\"y\\\": [1]}\"",
            "  },",
            "  \"l\": [",
            "    1,",
            "    2",
            "  ]",
            "}",
        ];
        assert_eq!(rows(json), expected);
        assert_eq!(rows(b"{ not json"), ["{ not json"]);
    }

    #[test]
    fn json_that_is_too_deep_is_shown_as_it_came() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(rows(nested(DEPTH_MAX).as_bytes()).len(), 2 * DEPTH_MAX - 1);
        for depth in [DEPTH_MAX + 1, 1 << 15] {
            assert_eq!(rows(nested(depth).as_bytes()), [nested(depth)]);
        }
    }

    #[test]
    fn bytes_are_in_hexadecimal_and_text_is_escaped() {
        let shown = rows(b"\x00\xffA");
        assert!(shown[0].starts_with("00000000  00 ff 41  "), "{shown:?}");
        assert!(
            shown[0].ends_with("..A") && shown[1] == "(3 bytes)",
            "{shown:?}"
        );
        assert!(
            rows(b"a\x1b[31mb")[0].starts_with("00000000"),
            "a terminal would obey"
        );
        assert_eq!(rows("a\u{202e}b\nc".as_bytes())[1], "c");
        assert!(!rows("a\u{202e}b".as_bytes())[0].contains('\u{202e}'));
    }

    /// The printable characters are at the end of a row, where a narrow terminal would cut them.
    #[test]
    fn a_narrow_terminal_has_short_rows() {
        let body = Excerpt {
            bytes: vec![0; 20],
            length: 20,
            text: None,
        };
        for (columns, rows) in [(75, 2), (74, 3)] {
            let shown = content_within(columns, &body, &[], &[], Unicode::On);
            assert_eq!(shown.len(), rows + 1, "and the length: {shown:?}");
            assert!(shown.iter().all(|row| row.len() <= columns), "{shown:?}");
        }
    }

    #[test]
    fn secrets_of_bodies_are_masked() {
        let shown = rows(br#"{"token":"abc","user":"ada"}"#);
        assert_eq!(shown[1], "  \"token\": \"***\",");
        assert_eq!(shown[2], "  \"user\": \"ada\"");
    }
}
