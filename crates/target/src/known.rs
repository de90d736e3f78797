//! Answers over HTTP/2 that are always the same.

use bytes::Bytes;
use http::HeaderMap;
use http::StatusCode;
use std::collections::HashMap;

/// The number of targets whose answer is cached.
const KNOWN_MAX: usize = 1_024;

/// The answers of GET requests without a body, by path and query.
#[derive(Default)]
pub(crate) struct Known(HashMap<String, Same>);

/// An answer that the next one equals.
#[derive(Clone)]
pub(crate) struct Same {
    pub(crate) status: StatusCode,
    pub(crate) fields: HeaderMap,
    pub(crate) body: Bytes,
}

impl Known {
    /// The answer for a target.
    #[inline]
    pub(crate) fn find(&self, target: &str) -> Option<&Same> {
        self.0.get(target)
    }

    /// Remembers an answer, unless there are too many.
    pub(crate) fn insert(&mut self, target: &str, same: Same) {
        if self.0.len() < KNOWN_MAX {
            self.0.insert(target.to_owned(), same);
        }
    }
}
