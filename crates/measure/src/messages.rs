//! Messages of streams: how many, and how they came.

use crate::Histogram;
use drumfire_units::Nanos;

/// The messages of calls that stream, of one worker or of many. Unary calls count here too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Messages {
    /// Messages sent.
    pub sent: u64,
    /// Messages received.
    pub received: u64,
    /// From a call's first write to its first message, of calls that the server streams.
    pub first: Histogram,
    /// From one received message of a call to its next.
    pub gap: Histogram,
}

impl Messages {
    /// A message of a call that the server streams has come whole: since `before`, which is when
    /// the call's last one did, or the call's first write.
    pub fn record_streamed(&mut self, is_first: IsFirst, before: Nanos, now: Nanos) {
        match is_first {
            IsFirst::Yes => self.first.record(now - before),
            IsFirst::No => self.gap.record(now - before),
        }
    }

    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        self.sent += other.sent;
        self.received += other.received;
        self.first.merge(&other.first);
        self.gap.merge(&other.gap);
    }

    /// Forgets everything and keeps the memory.
    pub fn reset(&mut self) {
        self.sent = 0;
        self.received = 0;
        self.first.reset();
        self.gap.reset();
    }
}

/// Whether a message is the first of its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsFirst {
    /// It is.
    Yes,
    /// Others came before it.
    No,
}
