//! The mistakes of a configuration, and notes on values that are surely not meant.

use std::cell::RefCell;

/// The mistakes found so far, each with the path of its value.
#[derive(Debug, Default)]
pub(super) struct Mistakes {
    list: RefCell<Vec<String>>,
    notes: RefCell<Vec<String>>,
}

impl Mistakes {
    /// Notes a mistake in the value at a path.
    pub(super) fn add(&self, path: &str, what: impl std::fmt::Display) {
        self.list.borrow_mut().push(at(path, what));
    }

    /// Notes that the value at a path, which Pandora accepts, is surely not meant.
    pub(super) fn note(&self, path: &str, what: impl std::fmt::Display) {
        self.notes.borrow_mut().push(at(path, what));
    }

    /// All notes so far, in order. They are kept once.
    pub(super) fn take_notes(&self) -> Vec<String> {
        self.notes.take()
    }

    /// All noted mistakes, in order.
    pub(super) fn into_inner(self) -> Vec<String> {
        self.list.into_inner()
    }
}

/// A sentence on the value at a path.
fn at(path: &str, what: impl std::fmt::Display) -> String {
    match path {
        "" => what.to_string(),
        path => format!("{path}: {what}"),
    }
}
