//! A cursor over the text of a path, with the tokens of the grammar.
//!
//! A method that reads a token reads it only if it is next, and moves the cursor after it. Only
//! [`Cursor::skip_space`] skips blanks.

use super::text::escape;
use crate::ParseError;

/// The maximum nesting depth of parentheses and filters.
const DEPTH_MAX: usize = 32;

/// A position in the text of a path.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at the text's start.
    pub(super) const fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
        }
    }

    /// The position, in bytes.
    pub(super) const fn position(&self) -> usize {
        self.at
    }

    /// The text from the position on.
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Advances by `length` bytes of the rest.
    pub(super) const fn pass(&mut self, length: usize) {
        self.at += length;
    }

    /// Moves back to a position, if the blanks after it belong to the next token.
    pub(super) const fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// Reads a part of the grammar that may contain a nested part of the same kind.
    pub(super) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        if self.depth == DEPTH_MAX {
            return Err(self.error("this is nested deeper than 32 levels"));
        }
        self.depth += 1;
        let inner = read(self);
        self.depth -= 1;
        inner
    }

    /// Reads `text`, if it is next; returns whether it was.
    pub(super) fn consume(&mut self, text: &str) -> bool {
        let is_here = self.rest().starts_with(text);
        if is_here {
            self.at += text.len();
        }
        is_here
    }

    /// Skips blanks.
    pub(super) fn skip_space(&mut self) {
        let rest = self.rest();
        let length = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        self.at += length;
    }

    /// A mistake at the position.
    pub(super) fn error(&self, reason: impl Into<String>) -> ParseError {
        ParseError::new(self.at, reason)
    }

    /// A whole number between -(2^53 - 1) and 2^53 - 1, without leading zeros.
    pub(super) fn integer(&mut self) -> Result<Option<i64>, ParseError> {
        let rest = self.rest();
        let signs = usize::from(rest.starts_with('-'));
        let digits = rest[signs..].bytes().take_while(u8::is_ascii_digit).count();
        if signs + digits == 0 {
            return Ok(None);
        }
        let number = &rest[..signs + digits];
        let is_plain = number == "0" || !number[signs..].starts_with('0');
        let value = number.parse::<i64>().ok();
        let value = value.filter(|n| is_plain && n.unsigned_abs() < 1 << 53);
        let Some(value) = value else {
            return Err(self.error("an index must be a whole number such as 0, 12 or -1"));
        };
        self.at += number.len();
        Ok(Some(value))
    }

    /// A text in single or double quotes, with JSON's escapes.
    pub(super) fn quoted(&mut self) -> Result<String, ParseError> {
        let start = self.at;
        let quote = if self.consume("'") { '\'' } else { '"' };
        self.at = start + 1;
        let mut text = String::new();
        loop {
            let Some(c) = self.rest().chars().next() else {
                return Err(ParseError::new(
                    start,
                    format!("a closing {quote} is missing"),
                ));
            };
            match c {
                c if c == quote => {
                    self.at += 1;
                    return Ok(text);
                }
                '\\' => {
                    let escaped = &self.rest()[1..];
                    let own_quote = escaped.starts_with(quote);
                    let other_quote = escaped.starts_with(['\'', '"']) && !own_quote;
                    let found = if own_quote {
                        Some((quote, 1))
                    } else {
                        escape(escaped).filter(|_| !other_quote)
                    };
                    let Some((c, length)) = found else {
                        return Err(self.error("invalid escape; use the escapes of JSON"));
                    };
                    text.push(c);
                    self.at += 1 + length;
                }
                c if c < ' ' => {
                    return Err(self.error("write a control character as an escape"));
                }
                c => {
                    text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }
}
