//! The users of a worker: present, busy or gone.
//!
//! In the closed model users come and go by a law: [`crate::arrivals`] says when, calls
//! [`Population::come`] and [`Population::go`], and names the user of each arrival. A user whose
//! iteration is under way when the law asks for fewer leaves at its end
//! ([`Population::goes_at_end`]). In the open model an arrival takes a user that is idle, and a new
//! one where none is, as long as the limit [`Population::admits`] one more.
//!
//! In both, [`Population::occupy_user`] and [`Population::release_user`] are called in pairs, or
//! [`Population::retire_user`] in place of the latter for a user that leaves for good.
//!
//! A user here is a number, from 0 without gaps; its state is with [`crate::users`]. A user that
//! has gone and comes back is the same user, the last that went first, so that a law that swings
//! between two counts makes no new ones. `came - gone - leaving` is the number that the law wants,
//! and `busy <= came` holds; in the open model `busy <= allowed` does but while the law falls below
//! the users that are busy, which then finish.
//!
//! The population also knows since when a user was free for an arrival that had to wait for one,
//! which [`Population::free_since`] gives to the book-keeping of delays: a wait for a user is the
//! plan's choice of users, not lag.

mod user_law;

pub(crate) use user_law::UserLaw;

use crate::id::UserId;
use crate::idle_since::IdleSince;
use drumfire_plan::{Affinity, Load, Pool, Users as UserCount};
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// One worker's population.
#[derive(Debug)]
pub(crate) struct Population {
    /// The number of users that have come into being; the next one's id.
    came: u32,
    /// The number of users that are at an iteration.
    busy: u32,
    /// The number of users that have left for good.
    retired: u32,
    limit: Limit,
    presence: Presence,
    /// The users that an arrival of the open model may take, in the order in which they became idle.
    idle: VecDeque<UserId>,
    order: IdleOrder,
    /// Whether each user has its own rate, so that an arrival may have become due while its user
    /// was busy.
    has_own_rates: bool,
}

/// The limit of users that may be busy at a time, where arrivals do not name them. The number is a
/// law's, which may change during the run.
#[derive(Debug)]
struct Limit {
    law: UserLaw,
    /// The number that may be busy now, less those that have left for good.
    allowed: u32,
    /// Whether an arrival may have had to wait because all users were busy. It stays so: from then
    /// on the times at which users become free are noted.
    blocked: bool,
    /// The time at which a user last became free for an arrival that waited for one.
    free_since: IdleSince,
}

/// The users that are there, where a law gives their number.
#[derive(Debug, Default)]
struct Presence {
    /// The number that the law asks for.
    wanted: u32,
    /// Users that have gone; the next to come takes the place of the last of them.
    gone: Vec<UserId>,
    /// Users that leave at the end of their iteration.
    leaving: u32,
    /// Users that begin nothing more: those retired, and those whose own law is over.
    finished: u32,
}

/// The rule by which an arrival of the open model takes an idle user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IdleOrder {
    /// The one that was last busy, so that there are no more users than are busy at a time.
    LastBusy,
    /// Each in turn, once there are as many as there may be.
    InTurn,
}

impl IdleOrder {
    /// A given number of users with connections of their own take turns, so that each connection
    /// has its share.
    fn of(pool: &Pool) -> Self {
        match (&pool.users, pool.connections.affinity) {
            (Some(_), Affinity::User) => Self::InTurn,
            _ => Self::LastBusy,
        }
    }
}

impl Population {
    /// One worker's users of a pool, with at most as many busy as the law says where arrivals do
    /// not name them.
    pub(crate) fn new(law: Option<UserCount>, pool: &Pool) -> Self {
        let law = law.unwrap_or_else(|| UserCount::constant(u32::MAX));
        let has_own_rates = matches!(pool.load, Load::PerUser { .. });
        Self::of(law, IdleOrder::of(pool), has_own_rates)
    }

    fn of(law: UserCount, order: IdleOrder, has_own_rates: bool) -> Self {
        Self {
            came: 0,
            busy: 0,
            retired: 0,
            limit: Limit {
                law: UserLaw::new(law, Nanos::ZERO),
                allowed: u32::MAX,
                blocked: false,
                free_since: IdleSince::default(),
            },
            presence: Presence::default(),
            idle: VecDeque::new(),
            order,
            has_own_rates,
        }
    }

    /// Makes room for this many users that come and go.
    pub(crate) fn reserve(&mut self, most: u32) {
        let gone = &mut self.presence.gone;
        gone.reserve((most as usize).saturating_sub(gone.len()));
    }

    /// Whether one more user may be busy, by the law as of `now`.
    #[inline]
    pub(crate) fn admits(&mut self, now: Nanos) -> bool {
        if now >= self.limit.law.next_change() {
            self.limit.change(now, self.retired);
        }
        self.limit.blocked |= self.is_full();
        !self.is_full()
    }

    /// Whether no iteration may begin before a user is idle or users come.
    #[inline]
    pub(crate) const fn is_full(&self) -> bool {
        self.busy >= self.limit.allowed
    }

    /// The time at which the number of users that may be busy changes next.
    #[inline]
    pub(crate) fn next_change(&self) -> Nanos {
        self.limit.law.next_change()
    }

    /// Whether all users of the open model have left for good and none will come.
    #[inline]
    pub(crate) fn are_gone(&self) -> bool {
        self.retired > 0 && self.limit.allowed == 0 && self.next_change() == Nanos::MAX
    }

    /// The time at which a user last became free for an arrival that waited; of users with rates of
    /// their own, the one that began last.
    #[inline]
    pub(crate) const fn free_since(&self) -> IdleSince {
        self.limit.free_since
    }

    /// Begins an iteration of a user that an arrival names, of one that is idle, or of a new one;
    /// nothing but ourselves keeps it from beginning since `ready`.
    #[inline(always)]
    pub(crate) fn occupy_user(&mut self, named: Option<UserId>, ready: Nanos) -> UserId {
        let user = match named.or_else(|| self.idle()) {
            Some(user) => user,
            None => self.new_user(),
        };
        self.busy += 1;
        if self.has_own_rates {
            self.limit.free_since = IdleSince::at(ready);
        }
        user
    }

    /// The idle user that takes the next arrival; `None` where that is a new one.
    #[inline]
    fn idle(&mut self) -> Option<UserId> {
        match self.order {
            IdleOrder::LastBusy => self.idle.pop_back(),
            IdleOrder::InTurn if self.came < self.limit.allowed => None,
            IdleOrder::InTurn => self.idle.pop_front(),
        }
    }

    fn new_user(&mut self) -> UserId {
        let user = UserId::new(self.came);
        self.came += 1;
        user
    }

    /// Ends an iteration of a user; `is_idle` where the next arrival may take the user.
    #[inline]
    pub(crate) fn release_user(&mut self, user: UserId, since: IdleSince, is_idle: bool) {
        self.busy -= 1;
        if is_idle {
            self.idle.push_back(user);
        }
        if self.limit.blocked {
            self.limit.free_since = since;
        }
    }

    /// Ends the last iteration of a user, which leaves for good: one user fewer may be busy.
    #[cold]
    pub(crate) const fn retire_user(&mut self) {
        self.busy -= 1;
        self.retired += 1;
        self.presence.finished += 1;
        self.limit.allowed = self.limit.allowed.saturating_sub(1);
    }

    /// The number of users that the law asks for.
    pub(crate) const fn wanted(&self) -> u32 {
        self.presence.wanted
    }

    /// Wants one user more: a user that has gone before comes back, or a new one comes. `None`
    /// where a user stays that was to go at the end of its iteration.
    pub(crate) fn come(&mut self) -> Option<UserId> {
        self.presence.wanted += 1;
        if self.presence.leaving > 0 {
            self.presence.leaving -= 1;
            return None;
        }
        let gone = self.presence.gone.pop();
        Some(gone.unwrap_or_else(|| self.new_user()))
    }

    /// Wants one user fewer: the one that is free goes, or without one, the next whose iteration
    /// ends.
    pub(crate) fn go(&mut self, free: Option<UserId>) {
        self.presence.wanted -= 1;
        match free {
            Some(user) => self.presence.gone.push(user),
            None => self.presence.leaving += 1,
        }
    }

    /// Whether a user whose iteration has ended goes by that, since there are more than the law
    /// asks for.
    #[inline]
    pub(crate) fn goes_at_end(&mut self, user: UserId) -> bool {
        let goes = self.presence.leaving > 0;
        if goes {
            self.presence.leaving -= 1;
            self.presence.gone.push(user);
        }
        goes
    }

    /// Notes that a user that stays begins nothing more: its own law is over.
    pub(crate) const fn finish(&mut self) {
        self.presence.finished += 1;
    }

    /// Whether there were users, and none of those present will begin anything more.
    #[inline]
    pub(crate) const fn have_finished(&self) -> bool {
        let finished = self.presence.finished;
        finished > 0 && self.came - self.presence.gone.len() as u32 == finished
    }

    /// Whether any user has left for good.
    pub(crate) const fn has_retired(&self) -> bool {
        self.retired > 0
    }
}

impl Limit {
    /// Brings the limit up to a time. A user that comes by a change was not there before: an
    /// arrival that waited is free from the change on.
    #[cold]
    fn change(&mut self, now: Nanos, retired: u32) {
        while self.law.next_change() <= now {
            let at = self.law.next_change();
            let count = self.law.take_change().saturating_sub(retired);
            if count > self.allowed && self.blocked {
                self.free_since = IdleSince::at(at);
            }
            self.allowed = count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_many_are_there_as_are_wanted(counts in prop::collection::vec((0_u32..9, 0_u32..9), 0..30)) {
            let mut population = Population::of(UserCount::constant(9), IdleOrder::LastBusy, false);
            let (mut free, mut busy): (Vec<UserId>, Vec<UserId>) = Default::default();
            for (wanted, at_work) in counts {
                while population.wanted() < wanted {
                    free.extend(population.come());
                }
                while population.wanted() > wanted {
                    population.go(free.pop());
                }
                let there = free.len() + busy.len();
                prop_assert_eq!(there as u32, wanted + population.presence.leaving);
                while busy.len() > at_work as usize {
                    let user = busy.remove(0);
                    population.release_user(user, IdleSince::default(), false);
                    if !population.goes_at_end(user) {
                        free.push(user);
                    }
                }
                while busy.len() < at_work as usize
                    && let Some(user) = free.pop()
                {
                    busy.push(population.occupy_user(Some(user), Nanos::ZERO));
                }
                let mut all: Vec<UserId> = free.iter().chain(&busy).copied().collect();
                all.extend(&population.presence.gone);
                all.sort_unstable();
                prop_assert_eq!(all, (0..population.came).map(UserId::new).collect::<Vec<_>>());
            }
        }
    }
}
