//! The reason why a response lacks a value.

use std::fmt;

/// The reason why an extractor found nothing: the missing part, and the actual content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoValue {
    absence: Absence,
    reason: String,
}

/// Whether the response could be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Absence {
    /// The response was parsed, and lacks the value.
    Missing,
    /// The response could not be parsed.
    Unreadable,
}

impl NoValue {
    /// A response without the value. The reason must be safe to print.
    pub(crate) fn missing(reason: impl Into<String>) -> Self {
        Self {
            absence: Absence::Missing,
            reason: reason.into(),
        }
    }

    /// A response in an unexpected form. The reason must be safe to print.
    pub(crate) fn unreadable(reason: impl Into<String>) -> Self {
        Self {
            absence: Absence::Unreadable,
            reason: reason.into(),
        }
    }

    /// Whether the response was parsed and lacks the value; otherwise it could not be parsed.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.absence == Absence::Missing
    }
}

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for NoValue {}
