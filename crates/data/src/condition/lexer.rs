//! The words of a condition.

use crate::template::TemplateError;

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A name, with points in it perhaps.
    Name(&'a str),
    Number(&'a str),
    /// A text between quotes, without them.
    Text(String),
    Sign(&'a str),
}

/// Signs, of which longer ones stand before those that they begin with.
const SIGNS: [&str; 13] = [
    "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "(", ")",
];

/// Cuts a condition into words.
pub(super) struct Lexer<'a> {
    rest: &'a str,
}

impl<'a> Lexer<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// The next word; it is not taken.
    pub(super) fn peek(&self) -> Result<Option<Token<'a>>, TemplateError> {
        Self { rest: self.rest }.next()
    }

    /// Takes the next word.
    pub(super) fn next(&mut self) -> Result<Option<Token<'a>>, TemplateError> {
        self.rest = self.rest.trim_start();
        let Some(first) = self.rest.chars().next() else {
            return Ok(None);
        };
        if let Some(sign) = SIGNS.into_iter().find(|sign| self.rest.starts_with(sign)) {
            self.rest = &self.rest[sign.len()..];
            return Ok(Some(Token::Sign(sign)));
        }
        if first == '\'' || first == '"' {
            return self.text(first).map(Some);
        }
        if first.is_ascii_digit() {
            let number = self.word(|c| c.is_ascii_alphanumeric() || c == '.');
            return match number.parse::<f64>() {
                Ok(_) => Ok(Some(Token::Number(number))),
                Err(_) => Err(TemplateError(format!("`{number}` is not a number"))),
            };
        }
        if first == '_' || first.is_ascii_alphabetic() {
            let name = self.word(|c| c == '_' || c == '.' || c.is_ascii_alphanumeric());
            return Ok(Some(Token::Name(name)));
        }
        let shown = first.escape_debug();
        Err(TemplateError(match first {
            '=' => "`=` is not a comparison; write ==".to_owned(),
            '&' => "write `and` instead of &&".to_owned(),
            '|' => "a condition can't have filters; for `or`, write the word, or `set` a variable \
                    first"
                .to_owned(),
            '!' => "write `not` instead of !".to_owned(),
            _ => format!("unexpected `{shown}` in a condition"),
        }))
    }

    /// The arguments of a call, as they stand between its parentheses, if any follows.
    pub(super) fn arguments(&mut self) -> Result<Option<&'a str>, TemplateError> {
        let Some(rest) = self.rest.strip_prefix('(') else {
            return Ok(None);
        };
        let Some((arguments, rest)) = rest.split_once(')') else {
            return Err(TemplateError("a parenthesis is not closed".to_owned()));
        };
        self.rest = rest;
        Ok(Some(arguments))
    }

    /// The error of a word that stands where none may.
    pub(super) fn unexpected(&self, token: &Token<'_>) -> TemplateError {
        let shown = match token {
            Token::Name(word) | Token::Number(word) | Token::Sign(word) => word,
            Token::Text(text) => text.as_str(),
        };
        TemplateError(format!(
            "unexpected `{}`; write a condition such as `total > 0 and name != 'x'`",
            shown.escape_debug()
        ))
    }

    fn word(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// A text between quotes, in which a backslash stands before a quote or a backslash.
    fn text(&mut self, quote: char) -> Result<Token<'a>, TemplateError> {
        let mut text = String::new();
        let mut characters = self.rest[1..].char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => match characters.next() {
                    Some((_, escaped @ ('\\' | '\'' | '"'))) => text.push(escaped),
                    _ => {
                        let message = "a backslash is allowed only before a quote or a backslash";
                        return Err(TemplateError(message.to_owned()));
                    }
                },
                _ if character == quote => {
                    self.rest = &self.rest[1 + at + 1..];
                    return Ok(Token::Text(text));
                }
                _ => text.push(character),
            }
        }
        Err(TemplateError(
            "the closing quote of a string is missing".to_owned(),
        ))
    }
}
