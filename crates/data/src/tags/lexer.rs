//! Words of an expression, each with the blanks before it.

use super::Tokens;

/// Operators of two signs.
const PAIRS: [&str; 6] = ["**", "//", "==", "!=", "<=", ">="];

/// The kind of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Name,
    Number,
    /// In quotes.
    Text,
    Sign,
}

/// A word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// Where it ends in the whole.
    end: usize,
}

/// Reads word after word.
pub(super) struct Lexer<'a> {
    whole: &'a str,
    /// Where the words end that were taken.
    at: usize,
    next: Option<Token<'a>>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(whole: &'a str) -> Self {
        Self {
            whole,
            at: 0,
            next: scan(whole, 0),
        }
    }

    /// The next word, which stays.
    pub(super) const fn peek(&self) -> Option<Token<'a>> {
        self.next
    }

    /// Takes the next word with the blanks before it; nothing at the end.
    pub(super) fn take(&mut self) -> &'a str {
        let from = self.at;
        if let Some(token) = self.next {
            self.at = token.end;
            self.next = scan(self.whole, token.end);
        }
        &self.whole[from..self.at]
    }

    /// The same, if the word is this one.
    pub(super) fn take_text(&mut self, text: &str) -> Option<&'a str> {
        let is_such = self.next.is_some_and(|token| token.text == text);
        is_such.then(|| self.take())
    }

    /// What was not taken.
    pub(super) fn rest(&self) -> &'a str {
        &self.whole[self.at..]
    }
}

/// The first word from a place on.
fn scan(whole: &str, from: usize) -> Option<Token<'_>> {
    let mut tokens = Tokens::of(whole);
    tokens.at = from;
    let first = tokens.next()?;
    let end = tokens.at.min(whole.len());
    let (kind, end) = match first.byte {
        b'"' | b'\'' => (Kind::Text, end),
        b'0'..=b'9' => (Kind::Number, number_end(whole.as_bytes(), first.at, end)),
        byte if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 => (Kind::Name, end),
        _ => {
            let pair = whole.get(first.at..end + 1);
            let is_pair = pair.is_some_and(|pair| PAIRS.contains(&pair));
            (Kind::Sign, end + usize::from(is_pair))
        }
    };
    let text = whole.get(first.at..end)?;
    Some(Token { kind, text, end })
}

/// Where a number ends whose first digits end at `end`: behind its fraction and its exponent.
fn number_end(bytes: &[u8], start: usize, mut end: usize) -> usize {
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let word_end = |at: usize| {
        let rest = bytes[at..].iter();
        at + rest
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
            .count()
    };
    if bytes.get(end) == Some(&b'.') && is_digit(end + 1) {
        end = word_end(end + 1);
    }
    let is_decimal = !matches!(bytes.get(start + 1), Some(b'x' | b'X'));
    let has_sign = matches!(bytes.get(end), Some(b'+' | b'-')) && is_digit(end + 1);
    if is_decimal && has_sign && matches!(bytes.get(end - 1), Some(b'e' | b'E')) {
        end = word_end(end + 1);
    }
    end
}
