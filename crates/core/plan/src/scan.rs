//! A cursor over a short text, which knows its byte position.

/// The rest of a text.
#[derive(Clone, Debug)]
pub(crate) struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The current byte position.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(crate) fn is_done(&self) -> bool {
        self.rest().is_empty()
    }

    pub(crate) fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Skips `token` if the rest of the text starts with it.
    pub(crate) fn eat(&mut self, token: &str) -> bool {
        let here = self.rest().starts_with(token);
        if here {
            self.at += token.len();
        }
        here
    }

    /// Takes characters while they pass the test.
    pub(crate) fn take_while(&mut self, pass: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !pass(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }
}

/// The first 40 characters, escaped, for a message.
pub(crate) fn excerpt(text: &str) -> String {
    let escape = |c: char| -> String {
        if c.is_control() {
            c.escape_debug().collect()
        } else {
            c.to_string()
        }
    };
    text.chars().take(40).map(escape).collect()
}
