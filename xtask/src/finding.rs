//! The findings of a check.

use std::fmt;

/// Whether a finding fails the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// A law is broken.
    Violation,
    /// A soft limit is passed; shown by `cargo run -p xtask` only.
    Advice,
}

/// One mistake: its place, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whether it fails the tests.
    pub severity: Severity,
    /// The file, from the repository's root.
    pub path: String,
    /// The line, from 1; 0 where the whole file is meant.
    pub line: usize,
    /// The mistake, and what would be right.
    pub message: String,
}

impl Finding {
    /// A broken law.
    #[must_use]
    pub fn violation(path: &str, line: usize, message: String) -> Self {
        Self {
            severity: Severity::Violation,
            path: path.to_owned(),
            line,
            message,
        }
    }

    /// A soft limit passed.
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
