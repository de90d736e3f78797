//! Ids of pools, exchanges, shares, lanes and users. Each id is an index into a list of the part
//! that owns the items; other parts hold only the id.
//!
//! Except for a pool's id, which is the plan's, ids belong to one worker and have no meaning in
//! another. Ids of exchanges, slots of connections and users are reused. If something may arrive
//! late for an earlier owner (a timer, an answer), it also carries the [`Generation`].

use std::num::NonZeroU32;

/// A place in the plan's list of pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PoolId(pub(crate) u16);

/// A place in the list of a worker's exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ExchangeId(pub(crate) u32);

/// Distinguishes the exchanges that had one id, the iterations of one user, or the timers of one
/// connection. The number wraps after 2³², far beyond the life of anything that holds an earlier
/// one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Generation(u32);

/// A place in the list of a worker's shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ShareId(pub(crate) u32);

/// A place in the list of a worker's lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LaneId(pub(crate) u16);

/// A place in the list of a worker's users.
///
/// Stored as the place plus one, so that an optional id is a single word. A separate tag would be
/// written by two stores and read by one load, which stalls on store forwarding once per request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct UserId(NonZeroU32);

/// Lanes on which something waits or seats are free: one bit each, the 31st bit for all further
/// lanes, and the 32nd for work that needs no seat. Two sets can therefore share a bit without
/// sharing a lane, which costs an unnecessary check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaneSet(pub(crate) u32);

impl PoolId {
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl ExchangeId {
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Generation {
    /// The first generation.
    pub(crate) const FIRST: Self = Self(0);

    /// The generation of the next exchange with the same id; wraps around after 2^32 of them.
    #[inline]
    pub(crate) const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

impl ShareId {
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl LaneId {
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl LaneSet {
    /// The empty set.
    pub(crate) const NONE: Self = Self(0);
    /// The set for an iteration that needs no seat to begin.
    pub(crate) const UNSEATED: Self = Self(1 << 31);

    /// The set with one more lane. Lanes from the 31st on share a bit, so a set may contain too
    /// many lanes, but never too few.
    pub(crate) fn with(self, lane: LaneId) -> Self {
        Self(self.0 | 1 << lane.0.min(30))
    }

    /// The lanes of both sets.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the sets share a lane.
    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl UserId {
    /// The user at a place below 2³² − 1, which exceeds the maximum number of users of a pool.
    #[inline]
    pub(crate) const fn new(place: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(place))
    }

    /// The user's place in the list.
    #[inline]
    pub(crate) const fn place(self) -> u32 {
        self.0.get() - 1
    }

    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.place() as usize
    }
}

impl Default for UserId {
    fn default() -> Self {
        Self::new(0)
    }
}

/// A worker's part of a run's load and connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The worker's index, from 0.
    pub index: u32,
    /// The number of workers.
    pub of: u32,
}

impl Shard {
    /// The number of a worker's `n`-th item among the items of all workers, which are dealt in
    /// turn: 0, 1, 2, … without gaps.
    #[inline]
    pub(crate) const fn number(self, n: u32) -> u32 {
        n.wrapping_mul(self.of).wrapping_add(self.index)
    }
}
