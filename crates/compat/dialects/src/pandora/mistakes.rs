//! The mistakes of a configuration.

use std::cell::RefCell;

/// The mistakes found so far, each with the path of its value.
#[derive(Debug, Default)]
pub(super) struct Mistakes(RefCell<Vec<String>>);

impl Mistakes {
    /// Notes a mistake in the value at a path.
    pub(super) fn add(&self, path: &str, what: impl std::fmt::Display) {
        self.0.borrow_mut().push(match path {
            "" => what.to_string(),
            path => format!("{path}: {what}"),
        });
    }

    /// All noted mistakes, in order.
    pub(super) fn into_inner(self) -> Vec<String> {
        self.0.into_inner()
    }
}
