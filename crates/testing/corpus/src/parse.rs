//! Parses the text of a case file to a [`Case`].

use crate::{Case, Expected, Piece, Request, StreamEnd};
use std::fmt;

/// The maximum size of a case with all repetitions.
const CASE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The reason why a text is not a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseError {
    /// The line, from 1; 0 if something is missing.
    pub line: usize,
    /// The mistake and the fix.
    pub message: String,
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for CaseError {}

impl Case {
    /// Parses a case.
    ///
    /// # Errors
    /// If the text violates the form in `conformance/http1/README.md`; with the line.
    pub fn parse(name: &str, text: &str) -> Result<Self, CaseError> {
        let mut case = Self {
            name: name.to_owned(),
            what: String::new(),
            why: String::new(),
            request: Request::Get,
            limits: Vec::new(),
            pieces: Vec::new(),
            end: StreamEnd::Open,
            expected: Expected::default(),
        };
        for (index, line) in text.lines().enumerate() {
            case.parse_line(line.trim()).map_err(|message| CaseError {
                line: index + 1,
                message,
            })?;
        }
        let missing = |key: &str| CaseError {
            line: 0,
            message: format!("`{key}:` is missing"),
        };
        if case.what.is_empty() {
            return Err(missing("what"));
        }
        if case.why.is_empty() {
            return Err(missing("why"));
        }
        if case.expected.outcome.is_empty() {
            return Err(missing("expect"));
        }
        Ok(case)
    }

    fn parse_line(&mut self, line: &str) -> Result<(), String> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if line.starts_with('"') || line.starts_with("repeat(") {
            return self.parse_piece(line);
        }
        let (key, value) = line
            .split_once(": ")
            .ok_or("expected `key: value` or bytes in quotes")?;
        match key {
            "what" => self.what = value.to_owned(),
            "why" => self.why = value.to_owned(),
            "request" => self.request = parse_request(value)?,
            "limit" => self.limits.push(parse_limit(value)?),
            "end" => self.end = parse_end(value)?,
            _ => return self.expected.parse_line(key, value),
        }
        Ok(())
    }

    fn parse_piece(&mut self, line: &str) -> Result<(), String> {
        let piece = match line.strip_prefix("repeat(") {
            None => Piece {
                times: 1,
                bytes: unquote(line)?,
            },
            Some(rest) => {
                let inner = rest.strip_suffix(')').ok_or("expected `)` at the end")?;
                let (times, quoted) = inner
                    .split_once(", ")
                    .ok_or("expected `repeat(n, \"...\")`")?;
                Piece {
                    times: number(times)?,
                    bytes: unquote(quoted)?,
                }
            }
        };
        let length = piece.times.saturating_mul(piece.bytes.len());
        if piece.times == 0 || length > CASE_BYTES_MAX {
            return Err(format!(
                "a piece must be repeated at least once and have at most {CASE_BYTES_MAX} bytes"
            ));
        }
        self.pieces.push(piece);
        Ok(())
    }
}

impl Expected {
    fn parse_line(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "expect" => self.outcome = value.to_owned(),
            "when compressed" => self.when_compressed = Some(value.to_owned()),
            "when following" => self.when_following = Some(value.to_owned()),
            "status" => self.status = Some(number(value)?),
            "body" => self.body = Some(number(value)?),
            "content" => self.content = Some(unquote(value)?),
            "interim" => self.interim = Some(number(value)?),
            "notices" => self.notices = value.split(", ").map(str::to_owned).collect(),
            "reusable" => self.reusable = Some(parse_yes(value)?),
            "hint" => self.hint = Some(value.to_owned()),
            _ => return Err(format!("unknown key `{key}`")),
        }
        Ok(())
    }
}

fn parse_request(value: &str) -> Result<Request, String> {
    match value {
        "get" => Ok(Request::Get),
        "close" => Ok(Request::Close),
        "head" => Ok(Request::Head),
        "connect" => Ok(Request::Connect),
        _ => Err("expected get, close, head or connect".to_owned()),
    }
}

fn parse_end(value: &str) -> Result<StreamEnd, String> {
    match value {
        "open" => Ok(StreamEnd::Open),
        "fin" => Ok(StreamEnd::Fin),
        "rst" => Ok(StreamEnd::Rst),
        _ => Err("expected open, fin or rst".to_owned()),
    }
}

fn parse_limit(value: &str) -> Result<(String, u64), String> {
    let (name, limit) = value
        .split_once(' ')
        .ok_or("expected a limit's name and its value")?;
    Ok((name.to_owned(), number(limit)?))
}

fn parse_yes(value: &str) -> Result<bool, String> {
    match value {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("expected yes or no".to_owned()),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is not a number, or too large"))
}

/// The bytes of a text in quotes. Escapes: `\r` `\n` `\t` `\\` `\"` `\xNN`.
fn unquote(text: &str) -> Result<Vec<u8>, String> {
    let inner = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let mut rest = inner.ok_or("expected bytes in double quotes")?.bytes();
    let mut bytes = Vec::new();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => unescape(&mut rest)?,
            b'"' => return Err("escape inner double quotes with a backslash".to_owned()),
            _ => byte,
        });
    }
    Ok(bytes)
}

/// The byte of the escape after a backslash.
fn unescape(rest: &mut impl Iterator<Item = u8>) -> Result<u8, String> {
    match rest.next() {
        Some(b'r') => Ok(b'\r'),
        Some(b'n') => Ok(b'\n'),
        Some(b't') => Ok(b'\t'),
        Some(byte @ (b'\\' | b'"')) => Ok(byte),
        Some(b'x') => {
            let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16));
            let value = digit()
                .zip(digit())
                .and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
            value.ok_or_else(|| "expected two hexadecimal digits".to_owned())
        }
        _ => Err("expected an escape: \\r \\n \\t \\\\ \\\" \\xNN".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = "what: a\nwhy: b\nexpect: ok\n";

    fn fails(text: &str, line: usize, message: &str) {
        let error = Case::parse("x", text).expect_err(text);
        assert_eq!(error.line, line, "{error}");
        assert!(error.message.contains(message), "{error}");
    }

    #[test]
    fn bytes_are_put_together() {
        let text = format!("{LEAST}\"a\\r\\n\\t\\\\\\\"\\x00\\xFf\"\nrepeat(3, \"bc\")\n");
        let case = Case::parse("x", &text).expect("a case");
        assert_eq!(case.bytes(), b"a\r\n\t\\\"\x00\xffbcbcbc");
    }

    #[test]
    fn errors_name_the_line() {
        fails("", 0, "`what:` is missing");
        fails(&format!("{LEAST}color: red"), 4, "unknown key `color`");
        fails(&format!("{LEAST}\"\\q\""), 4, "escape");
        fails(&format!("{LEAST}\"\\x1\""), 4, "two hexadecimal digits");
        fails(&format!("{LEAST}\"a\"b\""), 4, "backslash");
        fails(&format!("{LEAST}repeat(0, \"a\")"), 4, "at least once");
        fails(&format!("{LEAST}repeat(99999999999, \"a\")"), 4, "at most");
        fails(&format!("{LEAST}status: 70000"), 4, "too large");
        fails(&format!("{LEAST}end: never"), 4, "open, fin or rst");
    }
}
