//! Why a text is no extractor or no check, and where.

use std::fmt;

/// Why a text could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The byte of the text at which the mistake begins.
    pub at: usize,
    /// What is wrong there, and what would be right.
    pub reason: String,
}

impl ParseError {
    pub(crate) fn new(at: usize, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { at, reason }
    }

    /// The same mistake in a text that has `length` bytes more before it.
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
