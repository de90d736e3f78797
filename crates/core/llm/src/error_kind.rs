//! Errors inside answers: their kinds, by the words of servers.

use crate::json::{Reader, skip, value};
use drumfire_plan::LlmError;
use serde::de::MapAccess;

/// The number of bytes of an error's text that are kept.
const TEXT_BYTES: usize = 300;

/// An error: its type and its code, then its message.
#[derive(Debug, Default)]
pub(crate) struct Problem {
    /// The type, the code and the status, separated by blanks.
    words: String,
    message: String,
    /// Whether anything was added since the last [`Self::begin`].
    is_new: bool,
}

impl Problem {
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.message.clear();
    }

    /// Begins a value that is an error if it contains anything.
    pub(crate) fn begin(&mut self) {
        self.is_new = false;
    }

    /// Whether the value that was begun contains anything.
    pub(crate) fn any(&self) -> bool {
        self.is_new
    }

    /// Adds a word, such as the type of the error.
    pub(crate) fn add_word(&mut self, word: &str) {
        if !word.is_empty() {
            self.is_new = true;
            let gap = if self.words.is_empty() { "" } else { " " };
            append(&mut self.words, gap);
            append(&mut self.words, word);
        }
    }

    pub(crate) fn set_message(&mut self, message: &str) {
        self.is_new = true;
        self.message.clear();
        append(&mut self.message, message);
    }

    /// The type and the message, for people.
    pub(crate) fn text(&self) -> String {
        match (self.words.is_empty(), self.message.is_empty()) {
            (false, false) => format!("{}: {}", self.words, self.message),
            _ => format!("{}{}", self.words, self.message),
        }
    }

    /// The kind of the error. The type and the code decide, unless they are too general; then the
    /// message does.
    pub(crate) fn kind(&self) -> LlmError {
        let of_message = || find(&self.message, &KINDS[..SPECIAL]);
        match find(&self.words, &KINDS) {
            None => of_message().unwrap_or(LlmError::Other),
            Some(LlmError::Request) => of_message().unwrap_or(LlmError::Request),
            Some(kind) => kind,
        }
    }
}

/// The kinds of errors with the words of servers, the most special first.
const KINDS: [(LlmError, &[&str]); 5] = [
    (
        LlmError::Context,
        &[
            "context_length",
            "context length",
            "context window",
            "too long",
        ],
    ),
    (
        LlmError::RateLimit,
        &["rate_limit", "rate limit", "too many requests", "429"],
    ),
    (
        LlmError::Overloaded,
        &["overloaded", "unavailable", "503", "529"],
    ),
    (
        LlmError::Key,
        &["authentication", "permission", "api_key", "401", "403"],
    ),
    (
        LlmError::Request,
        &["invalid_request", "badrequest", "not_found", "400", "404"],
    ),
];
/// The number of kinds that a message can show.
const SPECIAL: usize = 3;

/// The first kind with a word that a text contains. A number counts only as a whole word.
fn find(text: &str, kinds: &[(LlmError, &[&str])]) -> Option<LlmError> {
    let text = text.to_ascii_lowercase();
    let contains = |word: &&str| match word.starts_with(|c: char| c.is_ascii_digit()) {
        true => text == **word || text.split(' ').any(|part| part == *word),
        false => text.contains(*word),
    };
    let kind = kinds.iter().find(|(_, words)| words.iter().any(&contains));
    kind.map(|(kind, _)| *kind)
}

/// Appends as much of a text as there is room for.
fn append(to: &mut String, text: &str) {
    let room = TEXT_BYTES.saturating_sub(to.len());
    to.push_str(&text[..text.floor_char_boundary(room)]);
}

/// An error is an object with a type, a code and a message, or only a message.
impl Reader for Problem {
    fn text(&mut self, text: &str) {
        self.set_message(text);
    }

    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "type" | "code" | "status" => value(map, &mut Word(self)),
            "message" => value(map, self),
            // Some gateways wrap the error of the service.
            "error" => value(map, self),
            _ => skip(map),
        }
    }
}

/// Reads a word of an error, or its numeric code.
pub(crate) struct Word<'a>(pub(crate) &'a mut Problem);

impl Reader for Word<'_> {
    fn text(&mut self, text: &str) {
        self.0.add_word(text);
    }

    fn number(&mut self, number: u64) {
        self.0.add_word(&number.to_string());
    }
}
