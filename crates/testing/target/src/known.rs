//! Constant answers over HTTP/2.

use bytes::Bytes;
use http::HeaderMap;
use http::StatusCode;
use std::collections::HashMap;

/// The maximum number of targets with a cached answer.
const KNOWN_MAX: usize = 1_024;

/// The answers of GET requests without a body, by path and query.
#[derive(Default)]
pub(crate) struct Known(HashMap<String, Same>);

/// An answer that is the same for every equal request.
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

    /// Caches an answer, unless the cache is full.
    pub(crate) fn insert(&mut self, target: &str, same: Same) {
        if self.0.len() < KNOWN_MAX {
            self.0.insert(target.to_owned(), same);
        }
    }
}
