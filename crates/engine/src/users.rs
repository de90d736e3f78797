//! Users: the actors of a run, each with a number of its own, and how many of them there may be.
//!
//! A user takes one iteration at a time. In the closed model the arrival names it; in the open model
//! an arrival takes whichever user is idle, and users come into being as they are needed. The worker
//! asks [`Users::admits`] before it takes an arrival, calls [`Users::begin`] with it, and
//! [`Users::end`] when the iteration is over.

use crate::arrivals::Shard;
use drumfire_plan::Users as UserCount;
use drumfire_units::Nanos;

/// A user's place in the list of a worker's users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct UserId(pub(crate) u32);

/// One worker's users.
#[derive(Debug)]
pub(crate) struct Users {
    /// The number of user `n` is `n · of + index`: the numbers of all workers' users are 0, 1, 2, …
    /// without gaps.
    shard: Shard,
    /// How many have come into being.
    count: u32,
    idle: Vec<UserId>,
    limit: UserLimit,
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
            count: 0,
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

    /// An idle user begins an iteration.
    #[inline]
    pub(crate) fn begin(&mut self) -> UserId {
        match self.idle.pop() {
            Some(user) => user,
            None => {
                self.count += 1;
                UserId(self.count - 1)
            }
        }
    }

    /// A user's iteration is over.
    #[inline]
    pub(crate) fn end(&mut self, user: UserId, now: Nanos) {
        self.idle.push(user);
        if self.limit.blocked {
            self.limit.free_since = now;
        }
    }

    /// A user's number among those of all workers.
    #[inline]
    pub(crate) const fn number(&self, user: UserId) -> u32 {
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
