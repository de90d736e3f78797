//! Which connection is due when.

use drumfire_units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One worker's timers. An entry is never cancelled: a token that no longer stands for a
/// connection, or a connection that no longer waits, is passed over when due.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Nanos, u64)>>,
}

impl Timers {
    /// Wakes `token` at a point in time.
    pub(crate) fn set(&mut self, at: Nanos, token: u64) {
        self.heap.push(Reverse((at, token)));
    }

    /// When the first is due.
    #[inline]
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// The first that is due by now, with the time it was set for.
    pub(crate) fn pop(&mut self, now: Nanos) -> Option<(Nanos, u64)> {
        let Reverse((at, _)) = *self.heap.peek()?;
        if at > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_due_come_in_order_of_time() {
        let mut timers = Timers::default();
        for (at, token) in [(30, 1), (10, 2), (20, 3)] {
            timers.set(Nanos(at), token);
        }
        assert_eq!(timers.next(), Some(Nanos(10)));
        assert_eq!(timers.pop(Nanos(9)), None);
        assert_eq!(timers.pop(Nanos(25)), Some((Nanos(10), 2)));
        assert_eq!(timers.pop(Nanos(25)), Some((Nanos(20), 3)));
        assert_eq!(timers.pop(Nanos(25)), None);
        assert_eq!(timers.next(), Some(Nanos(30)));
    }
}
