//! Mistakes of modules.

use std::fmt;

use crate::places::Place;

/// Why modules could not be linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkError {
    /// Where the mistake is. `None` means: the entry itself could not be loaded.
    pub place: Option<Place>,
    /// The mistake, and what would be right.
    pub message: String,
}

impl LinkError {
    pub(crate) fn new(place: Option<Place>, message: impl Into<String>) -> Self {
        Self {
            place,
            message: message.into(),
        }
    }
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for LinkError {}
