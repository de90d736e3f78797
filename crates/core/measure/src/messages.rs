//! Messages of exchanges that may carry several in a direction: their counts, and the times between
//! them.
//!
//! The protocol determines which exchanges have messages: the engine counts a message when its
//! connection has taken it completely, or when it has arrived completely. Times exist only for
//! server-streamed messages, because for a single reply the response time is the same.

use crate::Histogram;
use crate::form;
use drumfire_units::Nanos;

/// The messages of exchanges: the parts of a request or a response that its protocol frames
/// individually, such as the messages of a gRPC call or the events of a stream. An exchange with
/// one message in each direction counts too; one without framed messages does not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Messages {
    /// Messages sent, that is, taken completely by their connections.
    pub sent: u64,
    /// Messages that were planned but not sent when their exchange ended.
    pub unsent: u64,
    /// Messages received.
    pub received: u64,
    /// The times from an exchange's first write to its first message, if the server streams its
    /// messages.
    pub first: Histogram,
    /// The times from one received message of an exchange to the next, if the server streams its
    /// messages.
    pub gap: Histogram,
}

form! { struct Messages { sent, unsent, received, first, gap } }

impl Messages {
    /// Records a server-streamed message that is now complete; `before` is the time of the previous
    /// message of its exchange, or of the exchange's first write.
    pub fn record_streamed(&mut self, is_first: IsFirst, before: Nanos, now: Nanos) {
        match is_first {
            IsFirst::Yes => self.first.record(now - before),
            IsFirst::No => self.gap.record(now - before),
        }
    }

    /// Records an exchange that has ended, with any outcome, with `count` of its planned messages
    /// not sent. If the number of messages is known before an exchange begins, planned = sent +
    /// unsent.
    pub fn record_unsent(&mut self, count: u64) {
        // A plan may request as many messages as the type can count.
        self.unsent = self.unsent.saturating_add(count);
    }

    /// No messages yet, with histograms that grow as needed.
    pub(crate) fn small() -> Self {
        Self {
            sent: 0,
            unsent: 0,
            received: 0,
            first: Histogram::small(),
            gap: Histogram::small(),
        }
    }

    /// Whether there were any messages.
    #[must_use]
    pub const fn any(&self) -> bool {
        self.sent > 0 || self.unsent > 0 || self.received > 0
    }

    /// Whether all messages are events of event streams: the server sends them without a message
    /// from the client, whereas every call sends one.
    #[must_use]
    pub const fn are_events(&self) -> bool {
        self.received > 0 && self.sent == 0 && self.unsent == 0
    }

    /// The number of gaps between messages that arrived in one read. Messages of one read have the
    /// same time, so that these gaps are exactly 0.
    #[must_use]
    pub fn gaps_in_one_read(&self) -> u64 {
        match self.gap.buckets().next() {
            Some((_, 0, count)) => count,
            _ => 0,
        }
    }

    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        self.sent = self.sent.saturating_add(other.sent);
        self.record_unsent(other.unsent);
        self.received = self.received.saturating_add(other.received);
        self.first.merge(&other.first);
        self.gap.merge(&other.gap);
    }

    /// Resets all values and keeps the memory.
    pub fn reset(&mut self) {
        self.sent = 0;
        self.unsent = 0;
        self.received = 0;
        self.first.reset();
        self.gap.reset();
    }
}

/// The messages of a step. They take memory only if there are any, because a run may have thousands
/// of steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepMessages(Option<Box<Messages>>);

impl StepMessages {
    /// No messages yet, with all the memory that recording needs.
    pub(crate) fn ready() -> Self {
        Self(Some(Box::default()))
    }

    /// A copy of these messages.
    pub(crate) fn of(messages: &Messages) -> Self {
        Self(messages.any().then(|| Box::new(messages.clone())))
    }

    /// The messages, if there are any.
    pub(crate) fn get(&self) -> Option<&Messages> {
        self.0.as_deref().filter(|messages| messages.any())
    }

    /// The messages, for recording.
    #[inline]
    pub(crate) fn get_mut(&mut self) -> &mut Messages {
        self.0.get_or_insert_with(|| Box::new(Messages::small()))
    }

    /// Adds `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        if let Some(other) = other.get() {
            self.get_mut().merge(other);
        }
    }

    /// Removes all messages and keeps the memory.
    pub(crate) fn reset(&mut self) {
        if let Some(messages) = &mut self.0 {
            messages.reset();
        }
    }
}

impl PartialEq for StepMessages {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

/// Whether a message is the first of its exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsFirst {
    /// The first message of its exchange.
    Yes,
    /// A later message.
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
        assert_eq!(sum.gaps_in_one_read(), 0);
        for gap in [0, 1, 0, 7_000_000] {
            let now = Nanos::from_millis(1);
            sum.record_streamed(IsFirst::No, now, now + Nanos(gap));
        }
        assert_eq!((sum.gaps_in_one_read(), sum.gap.count()), (2, 4));
        sum.record_unsent(u64::MAX);
        assert_eq!(sum.unsent, u64::MAX, "no number is beyond the last");
        sum.reset();
        assert_eq!(sum, Messages::default());
    }
}
