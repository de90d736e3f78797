//! One queue of timers: everything in a worker's pool that has to happen at a given time.
//!
//! An entry is never removed early. When it fires, the owner checks that its reason still holds:
//! for an exchange, a user and a connection's alarm by a [`Generation`], for a rest or a look-up by
//! their state. A deadline that moves with every request has at most one entry; if it fires too
//! early, its owner sets it again (docs/design/03-exchanges-and-wires.md#deadlines-without-timers).
//! Deadlines of exchanges have no entries, and are scanned.
//!
//! Adding or removing an entry costs the logarithm of the number of entries, which is the number of
//! pauses, rests and connections, not of requests. Entries of one time fire in the order in which
//! they were added, so that a run under virtual time is repeatable.

use crate::id::{ExchangeId, Generation, LaneId, ShareId, UserId};
use drumfire_net::Slot;
use drumfire_units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The action of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wake {
    /// A share's seat may be used again.
    Seat(ShareId),
    /// A connection may be dialed again, if an exchange waits for it.
    Dial(Slot),
    /// The alarm of a connection fires.
    Connection(Slot, Generation),
    /// An exchange is sent again, or its next message is due.
    Exchange(ExchangeId, Generation),
    /// A user's pause is over.
    User(UserId, Generation),
    /// Answers to look-ups of names may have arrived.
    LookUps,
    /// A lane's name must be looked up again.
    Names(LaneId),
}

/// A wake and its time, ordered by the fields in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: Nanos,
    /// Breaks ties: entries of one time are due in the order in which they were added.
    order: u64,
    wake: Wake,
}

/// A worker's timers, the next one first.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<Entry>>,
    added: u64,
}

impl Timers {
    /// Adds a wake.
    pub(crate) fn insert(&mut self, at: Nanos, wake: Wake) {
        self.added += 1;
        let order = self.added;
        self.heap.push(Reverse(Entry { at, order, wake }));
    }

    /// The time of the next wake; [`Nanos::MAX`] if there are no entries.
    #[inline]
    pub(crate) fn next(&self) -> Nanos {
        self.heap
            .peek()
            .map_or(Nanos::MAX, |Reverse(entry)| entry.at)
    }

    /// Takes the next wake that is due, if any. Call it until it returns `None`, because several
    /// entries may be due.
    #[inline]
    pub(crate) fn due(&mut self, now: Nanos) -> Option<Wake> {
        if self.next() > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry.wake)
    }

    /// Drops all wakes. Called before the run's start, for the connections opened until then.
    pub(crate) fn clear(&mut self) {
        self.heap.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wakes_come_by_time_and_then_in_the_order_in_which_they_were_added() {
        let mut timers = Timers::default();
        let seat = |n| Wake::Seat(ShareId(n));
        for (at, n) in [(7, 1), (5, 2), (7, 3), (6, 4)] {
            timers.insert(Nanos(at), seat(n));
        }
        assert_eq!(timers.next(), Nanos(5));
        assert_eq!(timers.due(Nanos(4)), None);
        let due: Vec<_> = std::iter::from_fn(|| timers.due(Nanos(7))).collect();
        assert_eq!(due, [seat(2), seat(4), seat(1), seat(3)]);
        assert_eq!(timers.next(), Nanos::MAX);
    }
}
