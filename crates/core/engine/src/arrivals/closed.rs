//! The closed model: users that start again when they have finished, or when their own law requires
//! it.
//!
//! A user is in one of three places: taken (an iteration is running, and the user is not here),
//! `ready` (its next iteration begins at a given time), or `held` (the load is paused, and only the
//! rest of the user's pause is kept). [`Closed::take_due`] removes a user, [`Closed::ended`] puts
//! it back.
//!
//! The number of users follows a law over time and the orders that replace it. [`Closed::go_on`]
//! applies both in order of time, before any user is taken that is due later. A user that leaves
//! during an iteration finishes it first. A request is intended when its user becomes free, so
//! there is nothing to tally ahead of the requests taken, unless each user has its own law
//! ([`OwnRates`]).

use super::numbers::{Numbering, Numbers};
use super::own_rates::OwnRates;
use super::resting::{Ready, Resting};
use super::{Arrival, Bounds, Tally};
use crate::id::{Shard, UserId};
use crate::population::{Population, UserLaw};
use drumfire_plan::{Change, UserSteps};
use drumfire_units::Nanos;
use std::collections::VecDeque;
use std::sync::Arc;

/// The users of one worker.
#[derive(Debug)]
pub(crate) struct Closed {
    /// Users without a running iteration.
    ready: Resting,
    /// Users that wait while the load is paused. `at` is the rest of their own pause, counted from
    /// the resumption. Empty while the load is not paused.
    held: Resting,
    /// The number of users over time.
    law: UserLaw,
    /// Changes of the users, pauses and resumptions to come, in ascending order of time.
    changes: VecDeque<Pending>,
    /// The time of the first change in `changes`; [`Nanos::MAX`] if the list is empty.
    next_command: Nanos,
    /// The time of the next change, by `changes` or by the law.
    next_change: Nanos,
    /// The progress of each user in its own law, if users have laws.
    own: Option<OwnRates>,
    numbering: Numbering,
    /// The time from which on no request starts.
    end: Nanos,
    /// The worker's share of users, by which a law for the whole run is divided.
    shard: Shard,
    /// The end of the warm-up: requests with an earlier intended start are counted separately.
    measure_from: Nanos,
    /// The requests with an intended start at or after `measure_from` that were taken since the
    /// last tally.
    intended: u64,
    /// The requests of the warm-up that were taken since the last tally.
    early: u64,
}

/// A change of the load at a time.
#[derive(Debug)]
struct Pending {
    at: Nanos,
    change: Change,
}

impl Closed {
    /// One worker's share of the run's users, all free at first, within the run's bounds. `numbers`
    /// are the request numbers of a bounded load, which this worker shares with other workers.
    pub(crate) fn new(
        users: &UserSteps,
        own: Option<OwnRates>,
        shard: Shard,
        bounds: Bounds,
        numbers: Option<Arc<Numbers>>,
        population: &mut Population,
    ) -> Self {
        let users = users.share(shard.index, shard.of);
        population.reserve(users.most());
        let mut closed = Self {
            ready: Resting::with_capacity(users.most() as usize + 1),
            held: Resting::default(),
            law: UserLaw::new(users, Nanos::ZERO),
            changes: VecDeque::new(),
            next_command: Nanos::MAX,
            next_change: Nanos::MAX,
            numbering: match (&own, numbers) {
                (Some(own), _) => Numbering::OfUsers {
                    taken: 0,
                    deal: own.deal,
                    limit: bounds.limit,
                },
                (None, Some(numbers)) => Numbering::Shared(numbers),
                (None, None) => Numbering::own(shard, bounds.limit),
            },
            own,
            end: bounds.end,
            shard,
            measure_from: bounds.measure_from,
            intended: 0,
            early: 0,
        };
        closed.go_on(Nanos::ZERO, population);
        closed
    }

    /// Applies all changes up to `from`. All users become free at `from` or later, or, if the load
    /// is paused, when it resumes.
    pub(crate) fn begin_from(&mut self, from: Nanos, population: &mut Population) {
        self.go_on(from, population);
        for ready in self.ready.take_all() {
            match self.law.paused_at {
                Some(_) => self.held.push(ready.moved(|_| Nanos::ZERO)),
                None => self.ready.push(ready.moved(|at| at.max(from))),
            }
        }
    }

    /// Changes the load at a time that is not over yet. `change` contains the number of users of
    /// the whole run; this worker takes its share.
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

    /// Updates the times of the next changes.
    fn note_next(&mut self) {
        let command = self.changes.front();
        self.next_command = command.map_or(Nanos::MAX, |pending| pending.at);
        self.next_change = self.law.next_change().min(self.next_command);
    }

    /// Applies all changes up to `now`, in order of time: orders, and users that come and go by the
    /// law.
    #[cold]
    fn go_on(&mut self, now: Nanos, population: &mut Population) {
        loop {
            self.note_next();
            let change = self.next_command;
            if change <= now && change <= self.law.next_change() {
                if let Some(Pending { at, change }) = self.changes.pop_front() {
                    self.take_change(at, change);
                }
            } else if self.law.next_change() <= now {
                let at = self.law.next_change();
                let count = self.law.take_change();
                self.bring_to(count, at, population);
            } else {
                return;
            }
        }
    }

    /// Applies one change to the users' law. A pause and a resumption also move the resting users,
    /// so that a user's rest keeps its length.
    fn take_change(&mut self, at: Nanos, change: Change) {
        match change {
            Change::Users { law } => self.law.replace(law, at),
            Change::Pause => self.pause(at),
            Change::Resume => self.resume(at),
            // Changes that do not concern users.
            _ => {}
        }
    }

    /// Holds the users that would become ready at `at` or later. Users that were ready before may
    /// still start.
    fn pause(&mut self, at: Nanos) {
        if self.law.pause(at) {
            for ready in self.ready.split_off(at) {
                self.held.push(ready.moved(|ready| ready - at));
            }
        }
    }

    /// Releases the users that a pause has held, each with the rest that it had left.
    fn resume(&mut self, at: Nanos) {
        if let Some(stood) = self.law.resume(at) {
            if let Some(own) = &mut self.own {
                own.move_on(stood);
            }
            for held in self.held.take_all() {
                self.ready.push(held.moved(|rest| at + rest));
            }
        }
    }

    /// Adds or removes users at time `at` until there are `count`. The load is not paused then, so
    /// no user is held.
    fn bring_to(&mut self, count: u32, at: Nanos, population: &mut Population) {
        while population.wanted() < count {
            if let Some(user) = population.come() {
                let own = self.own.as_mut();
                let at = own.map_or(at, |own| own.come(user, at));
                self.ready.push(Ready { at, user });
            }
        }
        while population.wanted() > count {
            // The user with the longest rest goes first; a user with a running iteration finishes
            // it.
            let free = self.ready.pop_last().map(|ready| ready.user);
            population.go(free);
            if let (Some(user), Some(own)) = (free, &mut self.own) {
                own.go(user);
            }
        }
    }

    /// Takes the user that has been ready for longest, with the next request number. If other
    /// workers have used up the numbers, the user is put back.
    ///
    /// Changes that are due are applied first, so that a leaving user is not taken and a new user
    /// is. The number is taken last, since a number cannot be returned. The intended start is the
    /// time at which the user was ready, not `now`, so that the figures of a late worker show its
    /// lag.
    #[inline(always)]
    pub(crate) fn take_due(&mut self, now: Nanos, population: &mut Population) -> Option<Arrival> {
        if now >= self.next_change {
            self.go_on(now, population);
        }
        if now >= self.end {
            return None;
        }
        if self.own.is_some() {
            return self.take_own(now, population);
        }
        let ready = self.ready.pop_ready(now)?;
        let Some(index) = self.numbering.next_number() else {
            self.ready.push_first(ready);
            return None;
        };
        let Ready { at: intended, user } = ready;
        match intended >= self.measure_from {
            true => self.intended += 1,
            false => self.early += 1,
        }
        Some(Arrival {
            index,
            intended,
            ready: intended,
            user: Some(user),
        })
    }

    /// Takes the next due arrival of a free user with its own law; drops late arrivals first.
    #[cold]
    fn take_own(&mut self, now: Nanos, population: &mut Population) -> Option<Arrival> {
        let own = self.own.as_mut().filter(|_| !self.numbering.is_used_up())?;
        loop {
            let Ready { at, user } = self.ready.pop_ready(now)?;
            own.drop_late(user, now);
            if let Some(intended) = own.take_due(user, now) {
                let index = self.numbering.next_number()?;
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
                None => population.finish(),
            }
        }
    }

    /// Puts a user back whose iteration has ended; a user that has to leave leaves now.
    ///
    /// `ready` is the end of the iteration, `at` the time at which the next one begins, after the
    /// user's pause. While the load is paused, the rest of the user's pause is kept instead of
    /// `at`.
    #[inline(always)]
    pub(crate) fn ended(
        &mut self,
        user: UserId,
        ready: Nanos,
        at: Nanos,
        population: &mut Population,
    ) {
        if ready >= self.next_command {
            self.go_on(ready, population);
        }
        if population.goes_at_end(user) {
            return self.forget(user);
        }
        if self.own.is_some() {
            return self.ended_own(user, ready, population);
        }
        match self.law.paused_at {
            // Keeps the part of the user's pause that is after the beginning of the load's pause.
            Some(paused_at) if at >= paused_at => {
                let at = at - ready.max(paused_at);
                self.held.push(Ready { at, user });
            }
            _ => self.ready.push(Ready { at, user }),
        }
    }

    /// Puts back a user whose next iteration begins by its own law.
    #[cold]
    fn ended_own(&mut self, user: UserId, ready: Nanos, population: &mut Population) {
        let due = self.own.as_ref().and_then(|own| own.next_due(user));
        match (due, self.law.paused_at) {
            (None, _) => population.finish(),
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

    /// The time at which a user is ready, or at which a change may make one ready; [`Nanos::MAX`]
    /// if the numbers of a bounded load are used up. The result may be too early, but never too
    /// late.
    #[inline]
    pub(crate) fn next_due(&self) -> Nanos {
        if self.numbering.is_used_up() {
            return Nanos::MAX;
        }
        let ready = self.ready.first_at();
        ready.min(self.next_change)
    }

    /// Whether no further request will come, as far as is known now; an order may add users.
    #[inline]
    pub(crate) fn is_exhausted(&self, population: &Population) -> bool {
        self.numbering.is_used_up() || self.has_ended(population)
    }

    /// Whether the load ends at once: the count of requests is used up, or users have left for good
    /// and no others will come.
    pub(crate) fn is_counted_out(&self, population: &Population) -> bool {
        self.numbering.is_used_up() || population.has_retired() && self.has_ended(population)
    }

    /// Whether there were users, and neither they nor others will begin an iteration.
    fn has_ended(&self, population: &Population) -> bool {
        population.have_finished() && self.next_change == Nanos::MAX
    }

    /// The end of the last user's own law, after all users have finished; [`Nanos::MAX`] before,
    /// and if users have no laws.
    pub(crate) fn schedule_end(&self, population: &Population) -> Nanos {
        let own = self.own.as_ref().filter(|_| self.has_ended(population));
        own.and_then(OwnRates::last_end).unwrap_or(Nanos::MAX)
    }

    /// Ends the law of a user that has left.
    pub(crate) fn forget(&mut self, user: UserId) {
        if let Some(own) = &mut self.own {
            own.go(user);
        }
    }

    /// Starts no request whose time is `end` or later.
    pub(crate) fn end_at(&mut self, end: Nanos) {
        self.end = self.end.min(end);
        if let Some(own) = &mut self.own {
            own.end_at(end);
        }
    }

    /// Starts no further request, even if it is due before `end`.
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

    /// Hands over the arrivals that became due to users with their own laws and were neither taken
    /// nor dropped. Without such laws, no request is due before its user takes it.
    pub(crate) fn pending(&self, hand_over: impl FnMut(Arrival, u64)) {
        if let Some(own) = &self.own {
            own.pending(self.numbering.taken(), hand_over);
        }
    }

    /// The requests that became due before `end`. Where a user starts when it is free, its request
    /// is intended when it starts.
    pub(crate) fn tally(&mut self, end: Nanos) -> Tally {
        match &mut self.own {
            Some(own) => own.tally(
                self.law
                    .paused_at
                    .map_or(end, |paused_at| paused_at.min(end)),
            ),
            None => Tally {
                intended: std::mem::take(&mut self.intended),
                early: std::mem::take(&mut self.early),
                dropped: 0,
            },
        }
    }
}
