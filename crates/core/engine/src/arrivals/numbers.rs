//! The numbers of a bounded load's requests.
//!
//! A number selects the request of a list and the rows of feeds, so each number must be given once,
//! and every number below the limit must be given. In the open model each worker has every `of`-th
//! arrival, which determines its numbers. In the closed model a slow worker would leave its part of
//! a count unused. The workers of a machine therefore share one counter ([`Numbers`]), which costs
//! one atomic addition per request, and only if a count bounds the load. Machines do not share
//! numbers: each has a fixed part for its workers.
//!
//! The arrivals of users with their own rates are computed, so each worker needs its part of the
//! numbers beforehand. Numbers are dealt to users in turn ([`UserNumbers`]), because workers may
//! have different numbers of users.

use crate::id::Shard;
use drumfire_plan::UserSteps;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The numbers of the pool's workers in this process, given in the order of the workers' requests.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// The number of requests for a number; after `count` requests, no number is given.
    asked: AtomicU64,
    /// The count of all numbers that belong to these workers.
    count: u64,
    /// The indices of these workers among all workers of the run.
    members: Box<[u32]>,
    /// The number of all workers of the run.
    of: u32,
}

/// The source of the numbers of a worker's requests.
#[derive(Clone, Debug)]
pub(super) enum Numbering {
    /// The worker's own numbers: `next` and every `of`-th after it, below `limit`.
    Own { next: u64, of: u64, limit: u64 },
    /// The numbers of the worker's users, all below `limit`: `taken` of them are used up.
    OfUsers {
        taken: u64,
        deal: UserNumbers,
        limit: u64,
    },
    /// Numbers that the worker shares with other workers.
    Shared(Arc<Numbers>),
    /// No more numbers: the worker shared them and was stopped.
    Stopped,
}

/// The numbers of one worker's users. Numbers are dealt to the run's users in turn, and users to
/// workers in turn: worker 0 of two has the numbers of users 0, 2, 4, ….
#[derive(Clone, Copy, Debug)]
pub(super) struct UserNumbers {
    shard: Shard,
    /// The number of users of this worker, at least one.
    users: u64,
    /// The number of users of all workers.
    all: u64,
}

/// The number of receivers to which numbers are dealt in turn: the users, or the workers if a
/// worker would have no user. If users come later, numbers are dealt to workers, since these users
/// have no part in the requests before.
pub(crate) fn dealt_to(users: &UserSteps, of: u32) -> u32 {
    match users.changes() {
        [(_, count)] => (*count).max(of),
        _ => of,
    }
}

impl UserNumbers {
    /// A deal to `all` users. If a worker has no users, numbers are dealt to workers.
    pub(super) fn new(shard: Shard, all: u32) -> Self {
        let (all, of) = (u64::from(all), u64::from(shard.of));
        let (all, users) = match all < of {
            true => (of, 1),
            false => (all, (all - u64::from(shard.index)).div_ceil(of)),
        };
        Self { shard, users, all }
    }

    /// The worker's `n`-th number.
    pub(super) fn number(&self, n: u64) -> u64 {
        let user = n % self.users * u64::from(self.shard.of) + u64::from(self.shard.index);
        (n / self.users)
            .saturating_mul(self.all)
            .saturating_add(user)
    }

    /// How many of the worker's numbers are below a limit.
    pub(super) fn below(&self, limit: u64) -> u64 {
        let rest = (limit % self.all).saturating_sub(u64::from(self.shard.index));
        let rest = rest.div_ceil(u64::from(self.shard.of)).min(self.users);
        (limit / self.all)
            .saturating_mul(self.users)
            .saturating_add(rest)
    }
}

impl Numbers {
    /// The numbers below `limit` that belong to `members`, with numbers dealt to `of` workers in
    /// turn.
    pub(crate) fn new(limit: u64, members: &[u32], of: u32) -> Self {
        let (rounds, rest) = (limit / u64::from(of), limit % u64::from(of));
        let last = members.iter().filter(|member| u64::from(**member) < rest);
        Self {
            asked: AtomicU64::new(0),
            count: rounds * members.len() as u64 + last.count() as u64,
            members: members.into(),
            of,
        }
    }

    /// The next number; `None` if all are used up. Concurrent calls return different numbers.
    fn next_number(&self) -> Option<u64> {
        if self.are_used_up() {
            return None;
        }
        let place = self.asked.fetch_add(1, Ordering::Relaxed);
        if place >= self.count {
            return None;
        }
        let members = self.members.len() as u64;
        let member = self.members[(place % members) as usize];
        Some(place / members * u64::from(self.of) + u64::from(member))
    }

    fn are_used_up(&self) -> bool {
        self.asked.load(Ordering::Relaxed) >= self.count
    }
}

impl Numbering {
    /// The numbers of one worker, below a limit.
    pub(super) const fn own(shard: Shard, limit: u64) -> Self {
        Self::Own {
            next: shard.index as u64,
            of: shard.of as u64,
            limit,
        }
    }

    /// The next number.
    #[inline]
    pub(super) fn next_number(&mut self) -> Option<u64> {
        match self {
            Self::Own { next, of, limit } if *next < *limit => {
                let number = *next;
                *next += *of;
                Some(number)
            }
            Self::OfUsers { taken, deal, limit } => {
                let number = deal.number(*taken);
                (number < *limit).then(|| {
                    *taken += 1;
                    number
                })
            }
            Self::Shared(numbers) => numbers.next_number(),
            Self::Own { .. } | Self::Stopped => None,
        }
    }

    /// Whether all numbers are used up.
    #[inline]
    pub(super) fn is_used_up(&self) -> bool {
        match self {
            Self::Own { next, limit, .. } => next >= limit,
            Self::OfUsers { taken, deal, limit } => deal.number(*taken) >= *limit,
            Self::Shared(numbers) => numbers.are_used_up(),
            Self::Stopped => true,
        }
    }

    /// Issues no further number.
    pub(super) fn stop(&mut self) {
        match self {
            Self::Own { next, limit, .. } => *limit = (*limit).min(*next),
            Self::OfUsers { limit, .. } => *limit = 0,
            Self::Shared(_) | Self::Stopped => *self = Self::Stopped,
        }
    }

    /// The count of used numbers of this worker's users, for pending arrivals; 0 if numbers are not
    /// dealt to users.
    pub(super) const fn taken(&self) -> u64 {
        match self {
            Self::OfUsers { taken, .. } => *taken,
            Self::Own { .. } | Self::Shared(_) | Self::Stopped => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All numbers that two takers receive in turn.
    fn taken(numbers: Numbers) -> Vec<u64> {
        let numbers = Arc::new(numbers);
        let mut takers = [(); 2].map(|()| Numbering::Shared(Arc::clone(&numbers)));
        let mut taken = Vec::new();
        while let Some(number) = takers[taken.len() % 2].next_number() {
            taken.push(number);
        }
        assert!(takers.iter().all(Numbering::is_used_up));
        taken
    }

    #[test]
    fn every_number_is_taken_once() {
        for limit in 0..20 {
            let all: Vec<u64> = (0..limit).collect();
            assert_eq!(taken(Numbers::new(limit, &[0, 1, 2], 3)), all);
        }
    }

    #[test]
    fn each_user_has_its_part_of_the_numbers() {
        let parts = |limit: u64, users: u32, of: u32| -> Vec<Vec<u64>> {
            let shards = (0..of).map(|index| UserNumbers::new(Shard { index, of }, users));
            let numbers = shards.map(|deal| {
                let mut numbering = Numbering::OfUsers {
                    taken: 0,
                    deal,
                    limit,
                };
                let taken: Vec<u64> = std::iter::from_fn(|| numbering.next_number()).collect();
                assert_eq!(taken.len() as u64, deal.below(limit));
                assert!(numbering.is_used_up());
                taken
            });
            numbers.collect()
        };
        let three = parts(12, 3, 2);
        assert_eq!(three, [vec![0, 2, 3, 5, 6, 8, 9, 11], vec![1, 4, 7, 10]]);
        for (limit, users, of) in [(0, 3, 2), (13, 5, 3), (7, 1, 4), (100, 16, 3), (2, 9, 2)] {
            let mut all = parts(limit, users, of).concat();
            all.sort_unstable();
            assert_eq!(
                all,
                (0..limit).collect::<Vec<u64>>(),
                "{limit} {users} {of}"
            );
        }
    }

    #[test]
    fn numbers_of_other_machines_are_left_to_them() {
        assert_eq!(taken(Numbers::new(11, &[1, 3], 4)), [1, 3, 5, 7, 9]);
        assert_eq!(taken(Numbers::new(12, &[1, 3], 4)), [1, 3, 5, 7, 9, 11]);
        assert!(taken(Numbers::new(1, &[1, 3], 4)).is_empty());
    }
}
