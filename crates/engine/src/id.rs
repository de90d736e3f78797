//! Ids of pools, exchanges, shares, lanes and users. Each is an index into the list of the part
//! that owns the thing; other parts hold the id and nothing else of it.
//!
//! Ids are a worker's own, but for a pool's, which is the plan's: an id of another worker means
//! nothing here. An exchange's id is given away again when the exchange is over, and so are a
//! connection's slot and a user's turn; where something may come late for the earlier one (a timer,
//! an answer), it carries the [`Generation`] besides.

use std::num::NonZeroU32;

/// A place in the plan's list of pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PoolId(pub(crate) u16);

/// A place in the list of a worker's exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ExchangeId(pub(crate) u32);

/// Tells apart the exchanges that had one id, the iterations of one user, or the timers of one
/// connection. It wraps after 2³², far beyond the life of anything that holds an earlier one.
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
/// It is held as the place and one, so that an optional one is a single word: a tag and a place,
/// written by two stores and read by one load, wait for the memory (store forwarding) once for each
/// request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct UserId(NonZeroU32);

/// Lanes on which something waits, or seats are free: a bit each, the 31st bit for all lanes from
/// that on, and the 32nd for what needs no seat. Two sets may thus meet where no lane does, which
/// costs a look in vain.
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
    /// The first one.
    pub(crate) const FIRST: Self = Self(0);

    /// The generation of the next exchange with the id; it wraps around after 2^32 of them.
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
    /// The set of an iteration that needs no seat to begin.
    pub(crate) const UNSEATED: Self = Self(1 << 31);

    /// The set with one more lane. Lanes from the 31st on share a bit, so that a set may say too
    /// much, and never too little.
    pub(crate) fn with(self, lane: LaneId) -> Self {
        Self(self.0 | 1 << lane.0.min(30))
    }

    /// The lanes of both.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether both have a lane in common.
    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl UserId {
    /// The user at a place below 2³² − 1, beyond the most users that a pool has.
    #[inline]
    pub(crate) const fn new(place: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(place))
    }

    /// Its place.
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
    /// The worker's number, from 0.
    pub index: u32,
    /// The number of workers.
    pub of: u32,
}

impl Shard {
    /// The number of a worker's `n`-th thing among those of all workers, which are dealt in turn:
    /// 0, 1, 2, … without gaps.
    #[inline]
    pub(crate) const fn number(self, n: u32) -> u32 {
        n.wrapping_mul(self.of).wrapping_add(self.index)
    }
}
