//! One queue of wakes: everything in a worker's pool that has to happen at a given time.
//!
//! An entry is never removed early. The owner checks at a wake that its reason still holds: an
//! exchange, a user and a connection's alarm by a [`Generation`], a rest or a look-up by their
//! state. A deadline that moves with every request has at most one entry, which its owner sets anew
//! when it fires too early (docs/design/03-exchanges-and-wires.md#deadlines-without-timers); those
//! of exchanges have none, and are scanned.
//!
//! An entry costs the logarithm of their number; there are as many as pauses, rests and
//! connections, not as requests. The wakes of one time come in the order in which they were added,
//! so that a run under virtual time repeats itself.

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
    /// The alarm of a connection rings.
    Connection(Slot, Generation),
    /// An exchange is sent once more, or its next message is due.
    Exchange(ExchangeId, Generation),
    /// A user's pause is over.
    User(UserId, Generation),
    /// Answers to look-ups of names may have come.
    LookUps,
    /// A lane's name is to be looked up again.
    Names(LaneId),
}

/// A wake and its time. The derived order is that of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: Nanos,
    /// Entries of one time are due in the order in which they were added.
    order: u64,
    wake: Wake,
}

/// A worker's wakes, the next one first.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<Entry>>,
    added: u64,
}

impl Timers {
    /// Adds a wake.
    pub(crate) fn at(&mut self, at: Nanos, wake: Wake) {
        self.added += 1;
        let order = self.added;
        self.heap.push(Reverse(Entry { at, order, wake }));
    }

    /// The time of the next wake; [`Nanos::MAX`] when there is none.
    #[inline]
    pub(crate) fn next(&self) -> Nanos {
        self.heap
            .peek()
            .map_or(Nanos::MAX, |Reverse(entry)| entry.at)
    }

    /// Takes the next wake that is due, if any; called until there is none, since entries may have
    /// come to be due together.
    #[inline]
    pub(crate) fn due(&mut self, now: Nanos) -> Option<Wake> {
        if self.next() > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry.wake)
    }

    /// Drops all wakes: those of connections that were opened before the run's start.
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
            timers.at(Nanos(at), seat(n));
        }
        assert_eq!(timers.next(), Nanos(5));
        assert_eq!(timers.due(Nanos(4)), None);
        let due: Vec<_> = std::iter::from_fn(|| timers.due(Nanos(7))).collect();
        assert_eq!(due, [seat(2), seat(4), seat(1), seat(3)]);
        assert_eq!(timers.next(), Nanos::MAX);
    }
}
