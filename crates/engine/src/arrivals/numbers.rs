//! The numbers of a bounded load's requests.

use crate::id::Shard;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The numbers that the workers of a pool take in the order in which they come: a worker whose
/// users are slow leaves them to the others.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// The number of those that were asked for; beyond `count` none is given.
    asked: AtomicU64,
    /// The number of all.
    count: u64,
    /// The workers here, by their numbers among all of the run.
    members: Box<[u32]>,
    of: u32,
}

/// The source of the numbers of a worker's requests.
#[derive(Clone, Debug)]
pub(super) enum Numbering {
    /// Its own: `next` and every `of`-th after it, below `limit`.
    Own { next: u64, of: u64, limit: u64 },
    /// Numbers that it shares with other workers.
    Shared(Arc<Numbers>),
    /// Numbers that it would have shared, of which it takes no more.
    Stopped,
}

impl Numbers {
    /// The numbers below `limit` that belong to `members`, of `of` workers to which they are dealt in
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
            Self::Shared(numbers) => numbers.take(),
            Self::Own { .. } | Self::Stopped => None,
        }
    }

    /// Whether there is none left.
    #[inline]
    pub(super) fn is_used_up(&self) -> bool {
        match self {
            Self::Own { next, limit, .. } => next >= limit,
            Self::Shared(numbers) => numbers.are_used_up(),
            Self::Stopped => true,
        }
    }

    /// Takes no more.
    pub(super) fn stop(&mut self) {
        match self {
            Self::Own { next, limit, .. } => *limit = (*limit).min(*next),
            Self::Shared(_) | Self::Stopped => *self = Self::Stopped,
        }
    }

    /// The number that would come next, of a worker's own.
    pub(super) const fn next(&self) -> u64 {
        match self {
            Self::Own { next, .. } => *next,
            Self::Shared(_) | Self::Stopped => 0,
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
    fn numbers_of_other_machines_are_left_to_them() {
        assert_eq!(taken(Numbers::new(11, &[1, 3], 4)), [1, 3, 5, 7, 9]);
        assert_eq!(taken(Numbers::new(12, &[1, 3], 4)), [1, 3, 5, 7, 9, 11]);
        assert_eq!(taken(Numbers::new(1, &[1, 3], 4)), []);
    }
}
