//! The closed model: users who start again when they have finished.

use super::{Arrival, Bounds, Shard, Tally};
use drumfire_plan::Users;
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// One worker's users.
#[derive(Debug)]
pub(crate) struct Closed {
    /// When each user that is free became, or becomes, ready; ascending, as the pause is the same
    /// for all.
    ready: VecDeque<Nanos>,
    /// When how many users come or go; those before are done.
    changes: Users,
    next_change: usize,
    /// How many users there are.
    present: u32,
    /// Users who are to go and still have a request under way.
    leaving: u32,
    think_time: Nanos,
    /// The number of the next request: ours are the shard's index and every `of`-th after it.
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
    /// Users who are free as they come, within the run's bounds.
    pub(crate) fn new(
        users: Users,
        think_time: Nanos,
        shard: Shard,
        bounds: Bounds,
        measure_from: Nanos,
    ) -> Self {
        let mut closed = Self {
            ready: VecDeque::with_capacity(users.most() as usize + 1),
            changes: users,
            next_change: 0,
            present: 0,
            leaving: 0,
            think_time,
            next: u64::from(shard.index),
            of: u64::from(shard.of),
            limit: bounds.limit,
            end: bounds.end,
            measure_from,
            intended: 0,
        };
        closed.change(Nanos::ZERO);
        closed
    }

    /// Lets the users come and go whose time has come.
    #[cold]
    fn change(&mut self, now: Nanos) {
        while let Some(&(at, count)) = self.changes.changes().get(self.next_change)
            && at <= now
        {
            self.next_change += 1;
            for _ in self.present..count {
                // One who was to go may as well stay.
                match self.leaving.checked_sub(1) {
                    Some(leaving) => self.leaving = leaving,
                    None => self.insert(at),
                }
            }
            for _ in count..self.present {
                // Who pauses longest goes first; who has a request under way ends it.
                if self.ready.pop_back().is_none() {
                    self.leaving += 1;
                }
            }
            self.present = count;
        }
    }

    /// A user who is free from `at` on, in the order of time.
    fn insert(&mut self, at: Nanos) {
        let place = self.ready.partition_point(|ready| *ready <= at);
        self.ready.insert(place, at);
    }

    /// When the number of users changes next.
    #[inline]
    fn next_change(&self) -> Nanos {
        let change = self.changes.changes().get(self.next_change);
        change.map_or(Nanos::MAX, |(at, _)| *at)
    }

    #[inline]
    pub(crate) fn take(&mut self, now: Nanos) -> Option<Arrival> {
        if now >= self.next_change() {
            self.change(now);
        }
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
        if self.leaving > 0 {
            self.leaving -= 1;
        } else {
            self.ready.push_back(now + self.think_time);
        }
    }

    #[inline]
    pub(crate) fn next_due(&self) -> Nanos {
        if self.next >= self.limit {
            return Nanos::MAX;
        }
        let ready = self.ready.front().copied().unwrap_or(Nanos::MAX);
        ready.min(self.next_change())
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
