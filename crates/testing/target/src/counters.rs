//! A server's counters.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// A server's counts since its start, over all workers.
///
/// Requests for `/counters` and `/arrivals` are counted only in connections and bytes, so that
/// reading the counters does not change them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Accepted connections.
    pub connections: u64,
    /// Connections that ended, in any way.
    pub connections_ended: u64,
    /// Requests with a complete, well-formed head.
    pub requests: u64,
    /// Answers whose last byte was passed to the kernel, excluding refusals of malformed requests.
    pub responses: u64,
    /// Malformed or oversized requests.
    pub refused: u64,
    /// Requests that deliberately got no answer: a reset, a close, half an answer, or a response of
    /// the conformance corpus.
    pub faults: u64,
    /// Bytes read from sockets.
    pub bytes_received: u64,
    /// Bytes passed to sockets.
    pub bytes_sent: u64,
    /// Failed TLS handshakes.
    pub tls_failed: u64,
    /// Connections that could not be accepted for lack of descriptors or memory.
    pub accept_failed: u64,
}

impl Counters {
    /// The counters as one JSON object.
    pub(crate) fn to_json(self) -> String {
        let mut text = String::from("{");
        for (name, value) in self.rows() {
            let comma = if text.len() > 1 { "," } else { "" };
            // Writing to a String can't fail.
            let _ = write!(text, "{comma}\"{name}\":{value}");
        }
        text.push_str("}\n");
        text
    }

    fn rows(self) -> [(&'static str, u64); 10] {
        [
            ("connections", self.connections),
            ("connections_ended", self.connections_ended),
            ("requests", self.requests),
            ("responses", self.responses),
            ("refused", self.refused),
            ("faults", self.faults),
            ("bytes_received", self.bytes_received),
            ("bytes_sent", self.bytes_sent),
            ("tls_failed", self.tls_failed),
            ("accept_failed", self.accept_failed),
        ]
    }
}

/// A number that one thread writes and any thread reads.
///
/// Adding is a load and a store instead of a read-modify-write, which avoids a bus lock per
/// request.
#[derive(Debug, Default)]
pub(crate) struct Tally(AtomicU64);

impl Tally {
    /// Adds to the number; only the owning worker calls this.
    #[inline]
    pub(crate) fn add(&self, n: u64) {
        let value = self.0.load(Ordering::Relaxed).wrapping_add(n);
        self.0.store(value, Ordering::Relaxed);
    }

    /// Replaces the number; only the owning worker calls this.
    #[inline]
    pub(crate) fn set(&self, n: u64) {
        self.0.store(n, Ordering::Relaxed);
    }

    pub(crate) fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The tallies of one worker, on separate cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Tallies {
    pub(crate) connections: Tally,
    pub(crate) connections_ended: Tally,
    pub(crate) requests: Tally,
    pub(crate) responses: Tally,
    pub(crate) refused: Tally,
    pub(crate) faults: Tally,
    pub(crate) bytes_received: Tally,
    pub(crate) bytes_sent: Tally,
    pub(crate) tls_failed: Tally,
    pub(crate) accept_failed: Tally,
}

impl Tallies {
    /// Adds this worker's numbers to a sum.
    pub(crate) fn add_to(&self, sum: &mut Counters) {
        sum.connections += self.connections.value();
        sum.connections_ended += self.connections_ended.value();
        sum.requests += self.requests.value();
        sum.responses += self.responses.value();
        sum.refused += self.refused.value();
        sum.faults += self.faults.value();
        sum.bytes_received += self.bytes_received.value();
        sum.bytes_sent += self.bytes_sent.value();
        sum.tls_failed += self.tls_failed.value();
        sum.accept_failed += self.accept_failed.value();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_add_up_to_json() {
        let (a, b) = (Tallies::default(), Tallies::default());
        a.requests.add(2);
        b.requests.add(3);
        b.bytes_sent.add(7);
        let mut sum = Counters::default();
        a.add_to(&mut sum);
        b.add_to(&mut sum);
        let json = sum.to_json();
        assert!(json.starts_with("{\"connections\":0,"), "{json}");
        assert!(json.contains("\"requests\":5,") && json.contains("\"bytes_sent\":7,"));
        assert!(json.ends_with("\"accept_failed\":0}\n"));
    }
}
