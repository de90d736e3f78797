//! Messages of streams: how many, and how they came.

use crate::Histogram;
use drumfire_units::Nanos;

/// The messages of calls that stream, of one worker or of many. Unary calls count here too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Messages {
    /// Messages sent: handed whole to their connections.
    pub sent: u64,
    /// Messages that were planned but not sent when their call ended; [`Messages::record_unsent`].
    pub unsent: u64,
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

    /// A call has ended, in any way, with `count` of its planned messages not sent. Of calls whose
    /// number of messages is known before they begin, planned = sent + unsent.
    pub fn record_unsent(&mut self, count: u64) {
        // A plan may ask for as many messages as there are numbers.
        self.unsent = self.unsent.saturating_add(count);
    }

    /// Whether calls had any messages at all.
    #[must_use]
    pub const fn any(&self) -> bool {
        self.sent > 0 || self.unsent > 0 || self.received > 0
    }

    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        self.sent = self.sent.saturating_add(other.sent);
        self.record_unsent(other.unsent);
        self.received = self.received.saturating_add(other.received);
        self.first.merge(&other.first);
        self.gap.merge(&other.gap);
    }

    /// Forgets everything and keeps the memory.
    pub fn reset(&mut self) {
        self.sent = 0;
        self.unsent = 0;
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

#[cfg(test)]
mod tests {
    use super::{IsFirst, Messages};
    use drumfire_units::Nanos;

    #[test]
    fn what_was_not_sent_is_merged_and_forgotten_as_the_rest() {
        let mut one = Messages {
            sent: 3,
            received: 1,
            ..Messages::default()
        };
        one.record_unsent(7);
        one.record_streamed(IsFirst::Yes, Nanos::ZERO, Nanos::from_millis(1));
        let mut sum = Messages::default();
        sum.merge(&one);
        sum.merge(&one);
        assert_eq!((sum.sent, sum.unsent, sum.received), (6, 14, 2));
        sum.record_unsent(u64::MAX);
        assert_eq!(sum.unsent, u64::MAX, "no number is beyond the last");
        sum.reset();
        assert_eq!(sum, Messages::default());
    }
}
