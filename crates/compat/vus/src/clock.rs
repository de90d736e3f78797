//! Timers of a run: the next one first, those of one time in the order in which they were added.

use drumfire_units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Due {
    /// A scenario starts.
    Begin(usize),
    /// The next iteration of a scenario is due.
    Arrival(usize),
    /// The number of a scenario's users changes.
    Change(usize),
    /// The regular duration of a scenario is over.
    End(usize),
    /// What still runs of a scenario is interrupted.
    Kill(usize),
    /// A user that is not needed any more is interrupted: its number and its task.
    Release(u32, u64),
    /// A pause of a user is over: its number and its turn.
    Wake(u32, u64),
    /// A user may begin its next iteration: its number and its turn.
    Next(u32, u64),
    /// Gauges are sampled.
    Second,
    /// Thresholds are judged.
    Judge,
}

/// Timers.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Nanos, u64, Due)>>,
    added: u64,
}

impl Timers {
    pub(crate) fn add(&mut self, at: Nanos, due: Due) {
        self.added += 1;
        self.heap.push(Reverse((at, self.added, due)));
    }

    pub(crate) fn next(&self) -> Nanos {
        let next = self.heap.peek();
        next.map_or(Nanos::MAX, |Reverse((at, ..))| *at)
    }

    pub(crate) fn take(&mut self, now: Nanos) -> Option<(Nanos, Due)> {
        if self.next() > now {
            return None;
        }
        self.heap.pop().map(|Reverse((at, _, due))| (at, due))
    }

    pub(crate) fn clear(&mut self) {
        self.heap.clear();
    }
}
