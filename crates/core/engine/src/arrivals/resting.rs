//! Users between two iterations, by the time at which they are ready.
//!
//! If all pauses are equal, users become ready in the order in which they finished, and a queue
//! takes each in constant time. Only a user that belongs before the queue's end goes into a heap.
//! While the heap is empty, no operation reads it.

use crate::id::UserId;
use drumfire_units::Nanos;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A user without a running iteration, and the time at which its next iteration begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ready {
    pub(super) at: Nanos,
    pub(super) user: UserId,
}

impl Ready {
    pub(super) fn moved(self, time: impl Fn(Nanos) -> Nanos) -> Self {
        Self {
            at: time(self.at),
            ..self
        }
    }
}

/// Users between two iterations. With equal pauses, users are taken in the order in which they were
/// added, and only the queue is used; users that belong before its end are in a heap.
///
/// `next` and `queue` are one ascending list, whose first element has its own field. The heap is
/// not ordered with the list, so unless the heap is empty, every search for the first user compares
/// both. At equal times, users of the list are taken before users of the heap.
#[derive(Debug, Default)]
pub(super) struct Resting {
    /// The first user of the list. If each user has a connection, one user at a time is put here
    /// and taken at once, and the queue stays empty.
    next: Option<Ready>,
    /// The users after `next`, in ascending order of time; empty if `next` is empty.
    queue: VecDeque<Ready>,
    /// Users that became ready before the end of the queue.
    heap: BinaryHeap<Reverse<Ready>>,
}

impl Resting {
    /// An empty collection, with room for `count` users.
    pub(super) fn with_capacity(count: usize) -> Self {
        Self {
            next: None,
            queue: VecDeque::with_capacity(count),
            heap: BinaryHeap::new(),
        }
    }

    /// Makes room for `count` users in all.
    pub(super) fn reserve(&mut self, count: usize) {
        self.queue.reserve(count.saturating_sub(self.queue.len()));
    }

    /// Adds a user: to the end of the list if it is ready no sooner than the last user of the list,
    /// else to the heap.
    #[inline]
    pub(super) fn push(&mut self, user: Ready) {
        match &self.next {
            None => self.next = Some(user),
            Some(next) if self.queue.back().unwrap_or(next).at <= user.at => {
                self.queue.push_back(user);
            }
            Some(_) => self.push_between(user),
        }
    }

    /// Puts back the user that was taken last.
    #[cold]
    pub(super) fn push_first(&mut self, user: Ready) {
        if let Some(next) = self.next.replace(user) {
            self.queue.push_front(next);
        }
    }

    #[cold]
    fn push_between(&mut self, user: Ready) {
        self.heap.push(Reverse(user));
    }

    /// The time at which the first user is ready; [`Nanos::MAX`] if there are no users.
    #[inline]
    pub(super) fn first_at(&self) -> Nanos {
        if self.heap.is_empty() {
            return self.next.map_or(Nanos::MAX, |next| next.at);
        }
        self.any_at()
    }

    #[cold]
    fn any_at(&self) -> Nanos {
        self.first().map_or(Nanos::MAX, |first| first.at)
    }

    /// Takes the first user, if it is ready by `now`.
    #[inline(always)]
    pub(super) fn pop_ready(&mut self, now: Nanos) -> Option<Ready> {
        if self.heap.is_empty() {
            self.next.filter(|next| next.at <= now)?;
            return self.pop_next();
        }
        self.pop_any_ready(now)
    }

    /// Takes the first user of the list.
    #[inline(always)]
    fn pop_next(&mut self) -> Option<Ready> {
        std::mem::replace(&mut self.next, self.queue.pop_front())
    }

    #[cold]
    fn pop_any_ready(&mut self, now: Nanos) -> Option<Ready> {
        self.first().filter(|first| first.at <= now)?;
        self.pop_first()
    }

    /// The user that is ready first.
    fn first(&self) -> Option<Ready> {
        match (self.next, self.heap.peek()) {
            (Some(next), Some(Reverse(other))) if other.at < next.at => Some(*other),
            (Some(next), _) => Some(next),
            (None, other) => other.map(|Reverse(other)| *other),
        }
    }

    /// Takes the user that is ready first.
    fn pop_first(&mut self) -> Option<Ready> {
        match (self.next, self.heap.peek()) {
            (Some(next), Some(Reverse(other))) if next.at <= other.at => self.pop_next(),
            (_, Some(_)) => self.heap.pop().map(|Reverse(other)| other),
            (_, None) => self.pop_next(),
        }
    }

    /// Takes the user that is ready last.
    pub(super) fn pop_last(&mut self) -> Option<Ready> {
        let longest = self.heap.iter().map(|Reverse(other)| *other).max();
        match (self.queue.back().or(self.next.as_ref()), longest) {
            (last, Some(other)) if last.is_none_or(|last| last.at < other.at) => {
                self.heap.retain(|Reverse(kept)| *kept != other);
                Some(other)
            }
            _ => self.queue.pop_back().or_else(|| self.next.take()),
        }
    }

    /// Takes all users that are ready at a time or later, ascending.
    pub(super) fn split_off(&mut self, at: Nanos) -> Vec<Ready> {
        let from = self.queue.partition_point(|ready| ready.at < at);
        let next = self.next.take_if(|next| next.at >= at).into_iter();
        let mut taken: Vec<Ready> = next.chain(self.queue.drain(from..)).collect();
        taken.extend(
            self.heap
                .iter()
                .map(|Reverse(other)| *other)
                .filter(|other| other.at >= at),
        );
        self.heap.retain(|Reverse(other)| other.at < at);
        taken.sort_by_key(|ready| ready.at);
        taken
    }

    /// Takes all users, ascending.
    pub(super) fn take_all(&mut self) -> Vec<Ready> {
        self.split_off(Nanos::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::{Ready, Resting};
    use crate::id::UserId;
    use drumfire_units::Nanos;
    use proptest::prelude::*;

    fn resting_at(times: &[u64]) -> Resting {
        let mut resting = Resting::with_capacity(times.len());
        for (user, at) in (0..).zip(times) {
            resting.push(Ready {
                at: Nanos(*at),
                user: UserId::new(user),
            });
        }
        resting
    }

    proptest! {
        #[test]
        fn users_leave_in_the_order_of_their_times(times in prop::collection::vec(0_u64..20, 0..30)) {
            let mut sorted = times.clone();
            sorted.sort_unstable();
            let mut resting = resting_at(&times);
            let mut taken = Vec::new();
            for now in (0..20).map(Nanos) {
                while let Some(first) = resting.pop_ready(now) {
                    prop_assert!(first.at <= now);
                    taken.push(first.at.0);
                }
                prop_assert!(resting.first_at() > now);
            }
            prop_assert_eq!(&taken, &sorted);
            let mut resting = resting_at(&times);
            let last = resting.pop_last();
            prop_assert_eq!(last.map(|ready| ready.at.0), sorted.pop());
            let late = resting.split_off(Nanos(10));
            let late: Vec<u64> = late.iter().map(|ready| ready.at.0).collect();
            let from = sorted.partition_point(|at| *at < 10);
            prop_assert_eq!(&late, &sorted[from..]);
            let early: Vec<u64> = resting.take_all().iter().map(|ready| ready.at.0).collect();
            prop_assert_eq!(&early, &sorted[..from]);
            prop_assert!(resting.first().is_none());
        }
    }
}
