//! The closed model: users that start again when they have finished, or when a law of their own
//! says.

use super::numbers::{Numbering, Numbers};
use super::own_rates::OwnRates;
use super::resting::{Ready, Resting};
use super::{Arrival, Bounds, Tally};
use crate::id::{Shard, UserId};
use drumfire_plan::{Change, Users};
use drumfire_units::Nanos;
use std::collections::VecDeque;
use std::sync::Arc;

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
    /// Users that begin nothing more: their law is over, or they have left.
    finished: u32,
    /// Those that have left and come back no more.
    left: u32,
    /// The law of each user, where it has one of its own.
    own: Option<OwnRates>,
    numbering: Numbering,
    /// No request starts at this time or later.
    end: Nanos,
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
    /// `numbers` are those of a bounded load that it shares with other workers.
    pub(crate) fn new(
        users: &Users,
        own: Option<OwnRates>,
        shard: Shard,
        bounds: Bounds,
        numbers: Option<Arc<Numbers>>,
    ) -> Self {
        let users = users.share(shard.index, shard.of);
        let own_is_none = own.is_none();
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
            finished: 0,
            left: 0,
            own,
            // What is due to users with rates of their own is a part of each worker's own number.
            numbering: match numbers.filter(|_| own_is_none) {
                Some(numbers) => Numbering::Shared(numbers),
                None => Numbering::own(shard, bounds.limit),
            },
            end: bounds.end,
            shard,
            measure_from: bounds.measure_from,
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
                    if let Some(own) = &mut self.own {
                        own.move_on(at - paused_at);
                    }
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
                Some(Ready { user, .. }) => self.go(user),
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
        let at = match &mut self.own {
            Some(own) => own.come(user, at),
            None => at,
        };
        self.ready.push(Ready { at, user });
    }

    /// A user that is free goes.
    fn go(&mut self, user: UserId) {
        self.gone.push(user);
        if let Some(own) = &mut self.own {
            own.go(user);
        }
    }

    #[inline]
    pub(crate) fn take(&mut self, now: Nanos) -> Option<Arrival> {
        if now >= self.next_change {
            self.go_on(now);
        }
        if self.numbering.is_used_up() || now >= self.end {
            return None;
        }
        if self.own.is_some() {
            return self.take_own(now);
        }
        if self.ready.first_at() > now {
            return None;
        }
        let index = self.numbering.take()?;
        let Ready { at: intended, user } = self.ready.pop_ready(now)?;
        self.intended += u64::from(intended >= self.measure_from);
        Some(Arrival {
            index,
            intended,
            ready: intended,
            user: Some(user),
        })
    }

    /// [`Self::take`] where each user has a law of its own.
    #[cold]
    fn take_own(&mut self, now: Nanos) -> Option<Arrival> {
        let own = self.own.as_mut()?;
        loop {
            let Ready { at, user } = self.ready.pop_ready(now)?;
            own.drop_late(user, now);
            if let Some(intended) = own.take(user, now) {
                let index = self.numbering.take()?;
                return Some(Arrival {
                    index,
                    intended,
                    ready: intended.max(at),
                    user: Some(user),
                });
            }
            match own.next_due(user) {
                Some(due) => self.ready.push(Ready {
                    at: due.max(at),
                    user,
                }),
                None => self.finished += 1,
            }
        }
    }

    #[inline]
    pub(crate) fn ended(&mut self, user: UserId, ready: Nanos, at: Nanos) {
        if ready >= self.next_command {
            self.go_on(ready);
        }
        if self.leaving > 0 {
            self.leaving -= 1;
            return self.go(user);
        }
        if self.own.is_some() {
            return self.ended_own(user, ready);
        }
        match self.law.paused_at {
            // What of the pause between two requests lies before the load's is over.
            Some(paused_at) if at >= paused_at => {
                let at = at - ready.max(paused_at);
                self.held.push(Ready { at, user });
            }
            _ => self.ready.push(Ready { at, user }),
        }
    }

    /// [`Self::ended`] where each user has a law of its own, which says when it begins its next.
    #[cold]
    fn ended_own(&mut self, user: UserId, ready: Nanos) {
        let due = self.own.as_ref().and_then(|own| own.next_due(user));
        match (due, self.law.paused_at) {
            (None, _) => self.finished += 1,
            (Some(due), Some(paused_at)) if due >= paused_at => {
                let at = due - paused_at;
                self.held.push(Ready { at, user });
            }
            (Some(due), _) => {
                let at = due.max(ready);
                self.ready.push(Ready { at, user });
            }
        }
    }

    #[inline]
    pub(crate) fn next_due(&self) -> Nanos {
        if self.numbering.is_used_up() {
            return Nanos::MAX;
        }
        let ready = self.ready.first_at();
        ready.min(self.next_change)
    }

    #[inline]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.numbering.is_used_up() || self.have_all_finished()
    }

    /// Whether nothing is left to wait for: the count of requests is used up, or users have left
    /// and none will come.
    pub(crate) fn is_counted_out(&self) -> bool {
        self.numbering.is_used_up() || self.left > 0 && self.have_all_finished()
    }

    /// Whether there were users, and none of them nor another will begin anything.
    fn have_all_finished(&self) -> bool {
        let present = self.count - self.gone.len() as u32;
        self.finished > 0 && present == self.finished && self.next_change == Nanos::MAX
    }

    /// When the law of the last user is over, once none has anything left of it; [`Nanos::MAX`]
    /// before, and where users have none.
    pub(crate) fn schedule_end(&self) -> Nanos {
        let own = self.own.as_ref().filter(|_| self.have_all_finished());
        own.and_then(OwnRates::last_end).unwrap_or(Nanos::MAX)
    }

    /// A user leaves for good.
    #[cold]
    pub(crate) fn left(&mut self, user: UserId) {
        self.finished += 1;
        self.left += 1;
        if let Some(own) = &mut self.own {
            own.go(user);
        }
    }

    /// Lets no request start whose time is at `end` or later.
    pub(crate) fn end_at(&mut self, end: Nanos) {
        self.end = self.end.min(end);
        if let Some(own) = &mut self.own {
            own.end_at(end);
        }
    }

    /// Lets nothing start any more, of what is due before `end` neither.
    pub(crate) fn stop(&mut self, end: Nanos) {
        self.numbering.stop();
        let end = self
            .law
            .paused_at
            .map_or(end, |paused_at| paused_at.min(end));
        if let Some(own) = &mut self.own {
            own.end_at(end);
        }
    }

    /// Hands over what became due to users with laws of their own, and was neither taken nor
    /// dropped. Others ask for their requests themselves, so that none is due before it is taken.
    pub(crate) fn pending(&self, hand_over: impl FnMut(Arrival, u64)) {
        if let Some(own) = &self.own {
            own.pending(self.numbering.next(), u64::from(self.shard.of), hand_over);
        }
    }

    /// What became due before `end`; where a user starts when it is free, its request is intended
    /// when it starts.
    pub(crate) fn tally(&mut self, end: Nanos) -> Tally {
        match &mut self.own {
            Some(own) => own.tally(
                self.law
                    .paused_at
                    .map_or(end, |paused_at| paused_at.min(end)),
            ),
            None => Tally {
                intended: std::mem::take(&mut self.intended),
                dropped: 0,
            },
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
