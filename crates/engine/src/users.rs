//! Users: the actors of a run, each with a number of its own, and how many of them there may be.
//!
//! A user takes one iteration at a time. In the closed model the arrival names it; in the open
//! model an arrival takes whichever user is idle, and users come into being as they are needed. The
//! worker asks [`Users::admits`] before it takes an arrival, calls [`Users::begin`] with it, and
//! [`Users::end`] when the iteration is over. The requests of a user are a function of the plan's
//! seed, its number and its iteration, so that any worker of any machine can repeat it.

use crate::arrivals::{Arrival, Shard};
use crate::id::UserId;
use drumfire_plan::Users as UserCount;
use drumfire_units::Nanos;

/// One worker's users.
#[derive(Debug)]
pub(crate) struct Users {
    /// The number of user `n` is `n · of + index`: the numbers of all workers' users are 0, 1, 2, …
    /// without gaps.
    shard: Shard,
    list: Vec<User>,
    /// Those that an arrival of the open model may take, the one that was last busy first.
    idle: Vec<UserId>,
    limit: UserLimit,
}

/// One user.
#[derive(Clone, Copy, Debug, Default)]
struct User {
    /// Iterations that it has begun.
    iterations: u64,
}

/// A user at one of its iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) user: UserId,
    /// The user's number among those of all workers.
    pub(crate) number: u32,
    /// Which of the user's iterations it is, from 0.
    pub(crate) iteration: u64,
}

/// How many users may be busy at a time, where that changes over the run.
#[derive(Debug)]
struct UserLimit {
    changes: UserCount,
    next: usize,
    allowed: u32,
    /// Whether an arrival had to wait because all users were busy.
    blocked: bool,
    /// When a user last became free for an arrival that waited for one.
    free_since: Nanos,
}

impl Users {
    /// One worker's users. Without a law there is no bound but that of the connections.
    pub(crate) fn new(law: Option<UserCount>, shard: Shard) -> Self {
        Self {
            shard,
            list: Vec::new(),
            idle: Vec::new(),
            limit: UserLimit {
                allowed: u32::MAX,
                changes: law.unwrap_or_else(|| UserCount::constant(u32::MAX)),
                next: 0,
                blocked: false,
                free_since: Nanos::ZERO,
            },
        }
    }

    /// Whether one more user may be busy beside `busy` others.
    #[inline]
    pub(crate) fn admits(&mut self, busy: u32, now: Nanos) -> bool {
        let limit = &mut self.limit;
        if now >= limit.next_change() {
            limit.change(now);
        }
        limit.blocked |= busy >= limit.allowed;
        busy < limit.allowed
    }

    /// Whether no iteration may begin before one of `busy` users is idle or users come.
    #[inline]
    pub(crate) fn is_full(&self, busy: u32) -> bool {
        busy >= self.limit.allowed
    }

    /// When a user last became free for an arrival that waited for one.
    #[inline]
    pub(crate) fn free_since(&self) -> Nanos {
        self.limit.free_since
    }

    /// When the number of users changes next.
    #[inline]
    pub(crate) fn next_change(&self) -> Nanos {
        self.limit.next_change()
    }

    /// The user that an arrival names, or one that is idle, begins an iteration.
    #[inline]
    pub(crate) fn begin(&mut self, arrival: Arrival) -> Turn {
        let user = match arrival.user.or_else(|| self.idle.pop()) {
            Some(user) => user,
            None => UserId(self.list.len() as u32),
        };
        if self.list.len() <= user.index() {
            self.list.resize(user.index() + 1, User::default());
        }
        let iterations = &mut self.list[user.index()].iterations;
        let iteration = *iterations;
        *iterations += 1;
        Turn {
            user,
            number: self.number(user),
            iteration,
        }
    }

    /// An iteration of a user is over; `is_idle` where the next arrival may take the user.
    #[inline]
    pub(crate) fn end(&mut self, user: UserId, now: Nanos, is_idle: bool) {
        if is_idle {
            self.idle.push(user);
        }
        if self.limit.blocked {
            self.limit.free_since = now;
        }
    }

    /// A user's number among those of all workers.
    #[inline]
    const fn number(&self, user: UserId) -> u32 {
        user.0
            .wrapping_mul(self.shard.of)
            .wrapping_add(self.shard.index)
    }
}

impl UserLimit {
    #[inline]
    fn next_change(&self) -> Nanos {
        let change = self.changes.changes().get(self.next);
        change.map_or(Nanos::MAX, |(at, _)| *at)
    }

    #[cold]
    fn change(&mut self, now: Nanos) {
        while let Some(&(at, count)) = self.changes.changes().get(self.next)
            && at <= now
        {
            self.next += 1;
            if count > self.allowed && self.blocked {
                self.free_since = at;
            }
            self.allowed = count;
        }
    }
}
