//! Why a response yields no value.

use std::fmt;

/// Why an extractor found nothing: what was missing, and what there was instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoValue {
    absence: Absence,
    reason: String,
}

/// Whether the response could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Absence {
    /// It could, and there is no such value in it.
    Missing,
    /// It could not.
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

    /// A response that is not in the expected form. The reason must be safe to print.
    pub(crate) fn unreadable(reason: impl Into<String>) -> Self {
        Self {
            absence: Absence::Unreadable,
            reason: reason.into(),
        }
    }

    /// Whether the response was read and has no such value; else it could not be read.
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
