//! The closed model: users that start again when they have finished.

use super::{Arrival, Bounds, Shard, Tally};
use crate::id::UserId;
use drumfire_plan::Users;
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// One worker's users.
#[derive(Debug)]
pub(crate) struct Closed {
    /// Users without a request under way, ascending by when they are ready; the pause is the same
    /// for all.
    ready: VecDeque<Ready>,
    /// Users that have gone; the next to come takes the place of the last of them.
    gone: Vec<UserId>,
    /// How many users have come into being.
    count: u32,
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

/// A user without a request under way.
#[derive(Clone, Copy, Debug)]
struct Ready {
    at: Nanos,
    user: UserId,
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
            gone: Vec::with_capacity(users.most() as usize),
            count: 0,
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
                // A user that was to go may as well stay.
                match self.leaving.checked_sub(1) {
                    Some(leaving) => self.leaving = leaving,
                    None => self.come(at),
                }
            }
            for _ in count..self.present {
                // The user that pauses longest goes first; one with a request under way ends it.
                match self.ready.pop_back() {
                    Some(Ready { user, .. }) => self.gone.push(user),
                    None => self.leaving += 1,
                }
            }
            self.present = count;
        }
    }

    /// A user comes and is ready from `at` on.
    fn come(&mut self, at: Nanos) {
        let user = self.gone.pop().unwrap_or_else(|| {
            self.count += 1;
            UserId(self.count - 1)
        });
        self.insert(Ready { at, user });
    }

    /// Puts a user among those that are ready, in the order of time.
    fn insert(&mut self, user: Ready) {
        let place = self.ready.partition_point(|other| other.at <= user.at);
        self.ready.insert(place, user);
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
        let Ready { at: intended, user } = *self.ready.front().filter(|user| user.at <= now)?;
        if self.next >= self.limit || now >= self.end {
            return None;
        }
        self.ready.pop_front();
        let index = self.next;
        self.next += self.of;
        self.intended += u64::from(intended >= self.measure_from);
        Some(Arrival {
            index,
            intended,
            user: Some(user),
        })
    }

    #[inline]
    pub(crate) fn ended(&mut self, user: UserId, ready: Nanos) {
        let at = ready + self.think_time;
        if self.leaving > 0 {
            self.leaving -= 1;
            self.gone.push(user);
        } else if self.ready.back().is_none_or(|last| last.at <= at) {
            self.ready.push_back(Ready { at, user });
        } else {
            self.insert(Ready { at, user });
        }
    }

    #[inline]
    pub(crate) fn next_due(&self) -> Nanos {
        if self.next >= self.limit {
            return Nanos::MAX;
        }
        let ready = self.ready.front().map_or(Nanos::MAX, |user| user.at);
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
