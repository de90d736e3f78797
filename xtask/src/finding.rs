//! The findings of a check.

use std::fmt;

/// Whether a finding fails the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// A law is violated.
    Violation,
    /// A soft limit is exceeded; only `cargo run -p xtask` shows this.
    Advice,
}

/// A mistake: its place, and a correction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whether the finding fails the tests.
    pub severity: Severity,
    /// The file, from the repository's root.
    pub path: String,
    /// The line, from 1; 0 for the whole file.
    pub line: usize,
    /// The mistake, and a correction.
    pub message: String,
}

impl Finding {
    /// A violated law.
    #[must_use]
    pub fn violation(path: &str, line: usize, message: String) -> Self {
        Self {
            severity: Severity::Violation,
            path: path.to_owned(),
            line,
            message,
        }
    }

    /// An exceeded soft limit.
    #[must_use]
    pub fn advice(path: &str, line: usize, message: String) -> Self {
        Self {
            severity: Severity::Advice,
            ..Self::violation(path, line, message)
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            message,
            ..
        } = self;
        match (self.severity, line) {
            (Severity::Violation, 0) => write!(f, "{path}: {message}"),
            (Severity::Violation, _) => write!(f, "{path}:{line}: {message}"),
            (Severity::Advice, _) => write!(f, "{path}: (advice) {message}"),
        }
    }
}
