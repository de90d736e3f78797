//! The reason why a text is not an extractor or a check, and the position.

use std::fmt;

/// The reason why a text could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The byte offset of the mistake.
    pub at: usize,
    /// The mistake and the correction.
    pub reason: String,
}

impl ParseError {
    pub(crate) fn new(at: usize, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { at, reason }
    }

    /// The mistake in a longer text with `length` additional bytes at the beginning.
    pub(crate) fn behind(mut self, length: usize) -> Self {
        self.at += length;
        self
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for ParseError {}
