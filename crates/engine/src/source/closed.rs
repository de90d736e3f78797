//! The closed model: users who start again when they have finished.

use super::{Arrival, Tally};
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// One worker's users.
#[derive(Debug)]
pub(crate) struct Closed {
    /// When each user that is free became, or becomes, ready; ascending, as the pause is the same
    /// for all.
    ready: VecDeque<Nanos>,
    think_time: Nanos,
    /// The number of the next request: ours are `worker`, `worker + of`, …
    next: u64,
    of: u64,
    /// The first number that the run has not.
    limit: u64,
    /// No request starts at or after this.
    end: Nanos,
    measure_from: Nanos,
    intended: u64,
}

impl Closed {
    /// `users` users who are all free at the start. Requests are numbered from `worker` in steps
    /// of `of`, below `limit`, and none starts at or after `end`.
    pub(crate) fn new(
        users: u32,
        think_time: Nanos,
        (worker, of): (u32, u32),
        (end, limit): (Nanos, u64),
        measure_from: Nanos,
    ) -> Self {
        let mut ready = VecDeque::with_capacity(users as usize + 1);
        ready.extend((0..users).map(|_| Nanos::ZERO));
        let (next, of) = (u64::from(worker), u64::from(of));
        Self {
            ready,
            think_time,
            next,
            of,
            limit,
            end,
            measure_from,
            intended: 0,
        }
    }

    #[inline]
    pub(crate) fn take(&mut self, now: Nanos) -> Option<Arrival> {
        let intended = *self.ready.front().filter(|ready| **ready <= now)?;
        if self.next >= self.limit || now >= self.end {
            return None;
        }
        self.ready.pop_front();
        let index = self.next;
        self.next += self.of;
        self.intended += u64::from(intended >= self.measure_from);
        Some(Arrival { index, intended })
    }

    #[inline]
    pub(crate) fn ended(&mut self, now: Nanos) {
        self.ready.push_back(now + self.think_time);
    }

    #[inline]
    pub(crate) fn next_due(&self) -> Nanos {
        match self.ready.front() {
            Some(ready) if self.next < self.limit => *ready,
            _ => Nanos::MAX,
        }
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.next >= self.limit
    }

    pub(crate) fn stop(&mut self) {
        self.limit = self.limit.min(self.next);
    }

    /// A user's request is intended when it starts.
    pub(crate) fn tally(&mut self) -> Tally {
        Tally {
            intended: std::mem::take(&mut self.intended),
            dropped: 0,
        }
    }
}
