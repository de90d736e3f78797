//! The numbers of a bounded load's requests.
//!
//! A number selects the request of a list and the rows of feeds, so that each must be given once,
//! and all below the limit. In the open model each worker has every `of`-th arrival and knows its
//! numbers by that. Where users ask for requests, slow workers would keep their part of a count to
//! themselves: the workers of a machine then share one counter ([`Numbers`]), which costs one
//! atomic addition a request and only where a count bounds the load. Machines stay apart, each with
//! the numbers of its own workers.
//!
//! Users with rates of their own don't ask for numbers: their arrivals are computed, so that each
//! worker needs its part of the numbers beforehand. They are dealt to users, in turn ([`Deal`]),
//! for workers may have different numbers of users.

use crate::id::Shard;
use drumfire_plan::Users;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The numbers of the workers of a pool that are here, given in the order in which the workers ask.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// The number of times that one was asked for; beyond `count` none is given.
    asked: AtomicU64,
    /// The number of all numbers that belong to these workers.
    count: u64,
    /// The workers here, by their numbers among all of the run.
    members: Box<[u32]>,
    /// The number of all workers of the run.
    of: u32,
}

/// The source of the numbers of a worker's requests.
#[derive(Clone, Debug)]
pub(super) enum Numbering {
    /// Its own: `next` and every `of`-th after it, below `limit`.
    Own { next: u64, of: u64, limit: u64 },
    /// The numbers of the worker's users: `taken` of them are used up, and none is above `limit`.
    OfUsers { taken: u64, deal: Deal, limit: u64 },
    /// Numbers that it shares with other workers.
    Shared(Arc<Numbers>),
    /// None any more, of a worker that shared numbers.
    Stopped,
}

/// The numbers of one worker's users, where all are dealt to the run's users in turn, and users to
/// workers in turn: those of user 0, 2, 4, … of worker 0 of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deal {
    shard: Shard,
    /// The users of this worker, at least one.
    users: u64,
    /// The users of all workers.
    all: u64,
}

/// How many users, or workers where some worker would have none, numbers are dealt to in turn. Users
/// that come later have no part of what is sent before: then they are dealt to workers.
pub(crate) fn dealt_to(users: &Users, of: u32) -> u32 {
    match users.changes() {
        [(_, count)] => (*count).max(of),
        _ => of,
    }
}

impl Deal {
    /// A deal to this many users in all. Where some worker has none, numbers are dealt to workers.
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

    /// The number of the worker's numbers that are below a limit.
    pub(super) fn below(&self, limit: u64) -> u64 {
        let rest = (limit % self.all).saturating_sub(u64::from(self.shard.index));
        let rest = rest.div_ceil(u64::from(self.shard.of)).min(self.users);
        (limit / self.all)
            .saturating_mul(self.users)
            .saturating_add(rest)
    }
}

impl Numbers {
    /// The numbers below `limit` that belong to `members`, of `of` workers to which numbers are
    /// dealt in turn.
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

    /// The next number; `None` where all are used up. Workers that ask at the same time get
    /// different ones.
    fn take(&self) -> Option<u64> {
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
    /// A worker's own, below a limit.
    pub(super) const fn own(shard: Shard, limit: u64) -> Self {
        Self::Own {
            next: shard.index as u64,
            of: shard.of as u64,
            limit,
        }
    }

    /// The next number.
    #[inline]
    pub(super) fn take(&mut self) -> Option<u64> {
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
            Self::Shared(numbers) => numbers.take(),
            Self::Own { .. } | Self::Stopped => None,
        }
    }

    /// Whether there is none left.
    #[inline]
    pub(super) fn is_used_up(&self) -> bool {
        match self {
            Self::Own { next, limit, .. } => next >= limit,
            Self::OfUsers { taken, deal, limit } => deal.number(*taken) >= *limit,
            Self::Shared(numbers) => numbers.are_used_up(),
            Self::Stopped => true,
        }
    }

    /// Gives no further number.
    pub(super) fn stop(&mut self) {
        match self {
            Self::Own { next, limit, .. } => *limit = (*limit).min(*next),
            Self::OfUsers { limit, .. } => *limit = 0,
            Self::Shared(_) | Self::Stopped => *self = Self::Stopped,
        }
    }

    /// How many of its users' numbers are used up, for arrivals that are pending; 0 where numbers
    /// are not those of users.
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

    /// All numbers that two takers get in turn.
    fn taken(numbers: Numbers) -> Vec<u64> {
        let numbers = Arc::new(numbers);
        let mut takers = [(); 2].map(|()| Numbering::Shared(Arc::clone(&numbers)));
        let mut taken = Vec::new();
        while let Some(number) = takers[taken.len() % 2].take() {
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
            let shards = (0..of).map(|index| Deal::new(Shard { index, of }, users));
            let numbers = shards.map(|deal| {
                let mut numbering = Numbering::OfUsers {
                    taken: 0,
                    deal,
                    limit,
                };
                let taken: Vec<u64> = std::iter::from_fn(|| numbering.take()).collect();
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
        assert_eq!(taken(Numbers::new(1, &[1, 3], 4)), []);
    }
}
