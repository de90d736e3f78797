//! The users of a worker: present, busy or away.
//!
//! In the closed model users come and go by a law. [`crate::arrivals`] decides when, calls
//! [`Population::come`] and [`Population::go`], and chooses the user of each arrival. If the law
//! requires fewer users, a user with a running iteration leaves at the iteration's end
//! ([`Population::goes_at_end`]). In the open model an arrival takes an idle user, or a new one if
//! none is idle, as long as [`Population::admits`] allows one more.
//!
//! In both models, [`Population::occupy_user`] and [`Population::release_user`] are called in
//! pairs; for a user that leaves for good, [`Population::retire_user`] is called instead of the
//! latter.
//!
//! A user here is a number, from 0 without gaps; its state is in [`crate::users`]. A user that left
//! and comes back is the same user, and the last one to leave comes back first, so that a law that
//! swings between two counts creates no new users. `came - gone - leaving` is the number that the
//! law requires, and `busy <= came` always holds. In the open model `busy <= allowed` holds, except
//! while the law has fallen below the number of busy users, which then finish.
//!
//! The population also knows since when a user was free for an arrival that had to wait for one.
//! [`Population::free_since`] passes this to the accounting of delays: a wait for a user results
//! from the plan's number of users, and is not lag.

mod user_law;

pub(crate) use user_law::UserLaw;

use crate::id::UserId;
use crate::idle_since::IdleSince;
use drumfire_plan::{Affinity, Load, Pool, UserSteps as UserCount};
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// One worker's population.
#[derive(Debug)]
pub(crate) struct Population {
    /// The number of users created so far; the id of the next one.
    came: u32,
    /// The number of users in an iteration.
    busy: u32,
    /// The number of users that have left for good.
    retired: u32,
    limit: BusyLimit,
    presence: UsersPresent,
    /// The users that an arrival of the open model may take, in the order in which they became idle.
    idle: VecDeque<UserId>,
    order: IdleOrder,
    /// Whether each user has its own rate, so that an arrival may become due while its user is
    /// busy.
    has_own_rates: bool,
}

/// The maximum number of busy users, for arrivals that may take any user. A law determines the
/// number, which may change during the run.
#[derive(Debug)]
struct BusyLimit {
    law: UserLaw,
    /// The number of users that may be busy now, less the users that have left for good.
    allowed: u32,
    /// Whether an arrival may have waited because all users were busy. Once set, it stays set, and
    /// the times at which users become free are noted.
    blocked: bool,
    /// The time at which a user last became free for a waiting arrival.
    free_since: IdleSince,
}

/// The present users, if a law determines their number.
#[derive(Debug, Default)]
struct UsersPresent {
    /// The number of users that the law requires.
    wanted: u32,
    /// Users that have left; the last of them comes back first.
    gone: Vec<UserId>,
    /// Users that leave at the end of their iteration.
    leaving: u32,
    /// Users that begin nothing more: retired users, and users whose own law is over.
    finished: u32,
}

/// How an arrival of the open model chooses an idle user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IdleOrder {
    /// The user that was busy last, so that there are no more users than are busy at the same time.
    LastBusy,
    /// Each user in turn, after the allowed number has been created.
    InTurn,
}

impl IdleOrder {
    /// A fixed number of users with their own connections take turns, so that every connection is
    /// used.
    fn for_pool(pool: &Pool) -> Self {
        match (&pool.users, pool.connections.affinity) {
            (Some(_), Affinity::User) => Self::InTurn,
            _ => Self::LastBusy,
        }
    }
}

impl Population {
    /// One worker's users of a pool. If arrivals may take any user, the law limits the number of
    /// busy users.
    pub(crate) fn new(law: Option<UserCount>, pool: &Pool) -> Self {
        let law = law.unwrap_or_else(|| UserCount::constant(u32::MAX));
        let has_own_rates = matches!(pool.load, Load::PerUser { .. });
        Self::with_law(law, IdleOrder::for_pool(pool), has_own_rates)
    }

    fn with_law(law: UserCount, order: IdleOrder, has_own_rates: bool) -> Self {
        Self {
            came: 0,
            busy: 0,
            retired: 0,
            limit: BusyLimit {
                law: UserLaw::new(law, Nanos::ZERO),
                allowed: u32::MAX,
                blocked: false,
                free_since: IdleSince::default(),
            },
            presence: UsersPresent::default(),
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

    /// Whether one more user may be busy under the law at `now`.
    #[inline]
    pub(crate) fn admits(&mut self, now: Nanos) -> bool {
        if now >= self.limit.law.next_change() {
            self.limit.change(now, self.retired);
        }
        self.limit.blocked |= self.is_full();
        !self.is_full()
    }

    /// Whether no iteration may begin until a user is idle or users come.
    #[inline]
    pub(crate) const fn is_full(&self) -> bool {
        self.busy >= self.limit.allowed
    }

    /// The time at which the limit of busy users changes next.
    #[inline]
    pub(crate) fn next_change(&self) -> Nanos {
        self.limit.law.next_change()
    }

    /// Whether all users of the open model have left for good and none will come.
    #[inline]
    pub(crate) fn are_gone(&self) -> bool {
        self.retired > 0 && self.limit.allowed == 0 && self.next_change() == Nanos::MAX
    }

    /// The time at which a user last became free for a waiting arrival; for users with their own
    /// rates, the time for the user that began last.
    #[inline]
    pub(crate) const fn free_since(&self) -> IdleSince {
        self.limit.free_since
    }

    /// Begins an iteration of the arrival's user, an idle user, or a new one. Since `ready`, only
    /// the worker itself has delayed the start.
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

    /// The idle user that takes the next arrival; `None` if a new user should take it.
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

    /// Ends an iteration of a user; `is_idle`: whether the next arrival may take the user.
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

    /// Ends the last iteration of a user that leaves for good, and lowers the limit of busy users
    /// by one.
    #[cold]
    pub(crate) const fn retire_user(&mut self) {
        self.busy -= 1;
        self.retired += 1;
        self.presence.finished += 1;
        self.limit.allowed = self.limit.allowed.saturating_sub(1);
    }

    /// The number of users that the law requires.
    pub(crate) const fn wanted(&self) -> u32 {
        self.presence.wanted
    }

    /// Adds one user: a user that left comes back, or a new one comes. `None` if a user stays that
    /// was to leave at the end of its iteration.
    pub(crate) fn come(&mut self) -> Option<UserId> {
        self.presence.wanted += 1;
        if self.presence.leaving > 0 {
            self.presence.leaving -= 1;
            return None;
        }
        let gone = self.presence.gone.pop();
        Some(gone.unwrap_or_else(|| self.new_user()))
    }

    /// Removes one user: the free one, or, without one, the next user whose iteration ends.
    pub(crate) fn go(&mut self, free: Option<UserId>) {
        self.presence.wanted -= 1;
        match free {
            Some(user) => self.presence.gone.push(user),
            None => self.presence.leaving += 1,
        }
    }

    /// Whether a user whose iteration has ended leaves now, because there are more users than the
    /// law requires; if so, it is removed.
    #[inline]
    pub(crate) fn goes_at_end(&mut self, user: UserId) -> bool {
        let goes = self.presence.leaving > 0;
        if goes {
            self.presence.leaving -= 1;
            self.presence.gone.push(user);
        }
        goes
    }

    /// Notes that a present user begins nothing more, because its own law is over.
    pub(crate) const fn finish(&mut self) {
        self.presence.finished += 1;
    }

    /// Whether there were users, and no present user will begin anything more.
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

impl BusyLimit {
    /// Applies the law up to `now`. If a change adds users, a waiting arrival has a free user only
    /// from the change on.
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
            let mut population = Population::with_law(UserCount::constant(9), IdleOrder::LastBusy, false);
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
