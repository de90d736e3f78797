//! Requests that waited because a server allows fewer streams than the plan.
//!
//! An HTTP/2 server sets SETTINGS_MAX_CONCURRENT_STREAMS (RFC 9113 section 6.5.2). If that is less
//! than the plan's streams, requests wait on an open connection, which more connections would
//! prevent; the verdict on the load gives this reason.

use crate::form;

/// Requests that waited for a stream, and the server's limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldBack {
    /// Requests that waited for a stream on an open connection.
    pub requests: u64,
    /// The lowest limit of streams that a server had at such a time; `None` if no request waited.
    pub allowed: Option<u32>,
}

form! { struct HeldBack { requests, allowed } }

impl HeldBack {
    /// Counts a request that waits on a connection whose server allows `allowed` streams at a time.
    pub fn record(&mut self, allowed: u32) {
        self.merge(&Self {
            requests: 1,
            allowed: Some(allowed),
        });
    }

    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.allowed = match (self.allowed, other.allowed) {
            (Some(mine), Some(theirs)) => Some(mine.min(theirs)),
            (mine, theirs) => mine.or(theirs),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::HeldBack;

    #[test]
    fn the_least_bound_holds_whatever_the_order() {
        let mut some = HeldBack::default();
        some.record(100);
        some.record(3);
        let mut none = HeldBack::default();
        none.merge(&some);
        some.merge(&HeldBack::default());
        assert_eq!(some, none);
        assert_eq!((some.requests, some.allowed), (2, Some(3)));
    }
}
