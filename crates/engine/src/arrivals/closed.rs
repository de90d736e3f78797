//! The closed model: users that start again when they have finished.

use super::resting::{Ready, Resting};
use super::{Arrival, Bounds, Tally};
use crate::id::{Shard, UserId};
use drumfire_plan::{Change, Users};
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// One worker's users.
#[derive(Debug)]
pub(crate) struct Closed {
    /// Users without an iteration under way.
    ready: Resting,
    /// Users that rest while the load's time stands still: `at` counts from when it goes on. Empty
    /// while it does.
    held: Resting,
    /// Users that have gone; the next to come takes the place of the last of them.
    gone: Vec<UserId>,
    /// How many users have come into being.
    count: u32,
    law: Law,
    /// Users, pauses and resumptions to come, ascending.
    changes: VecDeque<Pending>,
    /// When the first of them holds.
    next_command: Nanos,
    /// When the first of them holds, or the number of users changes by the law.
    next_change: Nanos,
    /// How many users there are.
    present: u32,
    /// Users that leave once their iteration has ended.
    leaving: u32,
    /// Users that have left and come back no more.
    left: u32,
    /// The number of the next request: ours are the shard's index and every `of`-th after it.
    next: u64,
    bounds: Bounds,
    shard: Shard,
    measure_from: Nanos,
    intended: u64,
}

/// How many users there are over time, by a time of its own as [`drumfire_schedule::Course`] has it
/// for rates.
#[derive(Debug)]
struct Law {
    changes: Users,
    /// Those before are done.
    next: usize,
    /// When the law's time was 0, all its pauses added.
    origin: Nanos,
    /// Since when the law's time stands.
    paused_at: Option<Nanos>,
}

#[derive(Debug)]
struct Pending {
    at: Nanos,
    change: Change,
}

impl Closed {
    /// The share of one worker of the run's users, all free at first, within the run's bounds.
    pub(crate) fn new(users: &Users, shard: Shard, bounds: Bounds, measure_from: Nanos) -> Self {
        let users = users.share(shard.index, shard.of);
        let mut closed = Self {
            ready: Resting::with_capacity(users.most() as usize + 1),
            held: Resting::default(),
            gone: Vec::with_capacity(users.most() as usize),
            count: 0,
            law: Law::new(users, Nanos::ZERO),
            changes: VecDeque::new(),
            next_command: Nanos::MAX,
            next_change: Nanos::MAX,
            present: 0,
            leaving: 0,
            left: 0,
            next: u64::from(shard.index),
            bounds,
            shard,
            measure_from,
            intended: 0,
        };
        closed.go_on(Nanos::ZERO);
        closed
    }

    /// Changes the load from a time on that is not over yet; users are those of the whole run.
    pub(crate) fn change(&mut self, at: Nanos, change: &Change) {
        let change = match change {
            Change::Users { law } => {
                let law = law.share(self.shard.index, self.shard.of);
                self.ready.reserve(law.most() as usize + 1);
                Change::Users { law }
            }
            other => other.clone(),
        };
        let place = self.changes.partition_point(|pending| pending.at <= at);
        self.changes.insert(place, Pending { at, change });
        self.note_next();
    }

    /// Notes when something changes next by itself.
    fn note_next(&mut self) {
        let command = self.changes.front();
        self.next_command = command.map_or(Nanos::MAX, |pending| pending.at);
        self.next_change = self.law.next_change().min(self.next_command);
    }

    /// Lets everything happen whose time has come: changes, and users that come and go.
    #[cold]
    fn go_on(&mut self, now: Nanos) {
        loop {
            self.note_next();
            let change = self.next_command;
            if change <= now && change <= self.law.next_change() {
                if let Some(Pending { at, change }) = self.changes.pop_front() {
                    self.take_change(at, change);
                }
            } else if self.law.next_change() <= now {
                let at = self.law.next_change();
                let count = self.law.take();
                self.set_present(count, at);
            } else {
                return;
            }
        }
    }

    fn take_change(&mut self, at: Nanos, change: Change) {
        match change {
            Change::Users { law } => {
                let paused_at = self.law.paused_at.map(|_| at);
                self.law = Law::new(law, at);
                self.law.paused_at = paused_at;
            }
            Change::Pause if self.law.paused_at.is_none() => {
                self.law.paused_at = Some(at);
                // Users that were ready before may still start.
                for ready in self.ready.split_off(at) {
                    self.held.push(ready.moved(|ready| ready - at));
                }
            }
            Change::Resume => {
                if let Some(paused_at) = self.law.paused_at.take() {
                    self.law.origin += at - paused_at;
                    for held in self.held.take_all() {
                        self.ready.push(held.moved(|rest| at + rest));
                    }
                }
            }
            // A pause within a pause, and changes that do not concern users.
            _ => {}
        }
    }

    /// Lets users come or go at a time until there are `count`. The law's time goes on, so that no
    /// user is held.
    fn set_present(&mut self, count: u32, at: Nanos) {
        for _ in self.present..count {
            // A user that was to go may as well stay.
            match self.leaving.checked_sub(1) {
                Some(leaving) => self.leaving = leaving,
                None => self.come(at),
            }
        }
        for _ in count..self.present {
            // The user that pauses longest goes first; one with a request under way ends it.
            match self.ready.pop_last() {
                Some(Ready { user, .. }) => self.gone.push(user),
                None => self.leaving += 1,
            }
        }
        self.present = count;
    }

    /// A user comes and is ready from `at` on.
    fn come(&mut self, at: Nanos) {
        let user = self.gone.pop().unwrap_or_else(|| {
            self.count += 1;
            UserId(self.count - 1)
        });
        self.ready.push(Ready { at, user });
    }

    #[inline]
    pub(crate) fn take(&mut self, now: Nanos) -> Option<Arrival> {
        if now >= self.next_change {
            self.go_on(now);
        }
        if self.next >= self.bounds.limit || now >= self.bounds.end {
            return None;
        }
        let Ready { at: intended, user } = self.ready.pop_ready(now)?;
        let index = self.next;
        self.next += u64::from(self.shard.of);
        self.intended += u64::from(intended >= self.measure_from);
        Some(Arrival {
            index,
            intended,
            user: Some(user),
        })
    }

    #[inline]
    pub(crate) fn ended(&mut self, user: UserId, ready: Nanos, at: Nanos) {
        if ready >= self.next_command {
            self.go_on(ready);
        }
        match self.law.paused_at {
            _ if self.leaving > 0 => {
                self.leaving -= 1;
                self.gone.push(user);
            }
            // What of the pause between two requests lies before the load's is over.
            Some(paused_at) if at >= paused_at => {
                let at = at - ready.max(paused_at);
                self.held.push(Ready { at, user });
            }
            _ => self.ready.push(Ready { at, user }),
        }
    }

    #[inline]
    pub(crate) fn next_due(&self) -> Nanos {
        if self.next >= self.bounds.limit {
            return Nanos::MAX;
        }
        let ready = self.ready.first_at();
        ready.min(self.next_change)
    }

    #[inline]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.next >= self.bounds.limit || self.has_lost_all()
    }

    /// Whether users have left for good and none are there or will come.
    fn has_lost_all(&self) -> bool {
        let present = self.count - self.gone.len() as u32;
        self.left > 0 && present == self.left && self.next_change == Nanos::MAX
    }

    /// A user leaves for good.
    pub(crate) const fn left(&mut self) {
        self.left += 1;
    }

    /// Lets no request start whose time is at `end` or later.
    pub(crate) fn end_at(&mut self, end: Nanos) {
        self.bounds.end = self.bounds.end.min(end);
    }

    pub(crate) fn stop(&mut self) {
        self.bounds.limit = self.bounds.limit.min(self.next);
    }

    /// A user's request is intended when it starts.
    pub(crate) fn tally(&mut self) -> Tally {
        Tally {
            intended: std::mem::take(&mut self.intended),
            dropped: 0,
        }
    }
}

impl Law {
    fn new(changes: Users, origin: Nanos) -> Self {
        Self {
            changes,
            next: 0,
            origin,
            paused_at: None,
        }
    }

    /// When the number of users changes next.
    #[inline]
    fn next_change(&self) -> Nanos {
        match self.changes.changes().get(self.next) {
            Some((at, _)) if self.paused_at.is_none() => self.origin + *at,
            _ => Nanos::MAX,
        }
    }

    /// The next number of users.
    fn take(&mut self) -> u32 {
        let count = self.changes.changes().get(self.next).map(|(_, n)| *n);
        self.next += 1;
        count.unwrap_or_default()
    }
}
