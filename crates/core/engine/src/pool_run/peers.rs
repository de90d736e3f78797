//! The other workers of a pool, reached through [`crate::handover`].
//!
//! Around each wait the pool calls [`PoolPeers::rest`], which leaves the demand to others, and
//! [`PoolPeers::resume`], which takes it back; in between nothing here may touch the demand. While
//! the worker is awake it may [`take_lent`](PoolPeers::take_lent) requests and arrivals that others
//! have left, and [`give_back`](PoolPeers::give_back) the ends of their requests. For a worker
//! without peers, all of this does nothing: it sees no offers, and the pool is over and deserted as
//! soon as its own part is.

use crate::demand::{Demand, Lent, Returned, Room, WorkOffer};
use crate::handover::Member;
use crate::limits::ORDERS_WITHIN;
use drumfire_units::Nanos;

/// The other workers of a pool, if there are any.
pub(super) struct PoolPeers {
    /// The worker's index among the workers of the pool.
    pub(super) home: u32,
    member: Option<Member>,
}

impl PoolPeers {
    /// The peers that a `member` reaches; an empty set without a member.
    pub(super) fn new(member: Option<Member>) -> Self {
        Self {
            home: member.as_ref().map_or(0, |member| member.me),
            member,
        }
    }

    /// Whether the pool has no other worker.
    #[inline]
    pub(super) const fn is_alone(&self) -> bool {
        self.member.is_none()
    }

    /// Whether another worker has left work for any worker with room.
    #[inline]
    pub(super) fn sees_offers(&self) -> bool {
        let member = self.member.as_ref();
        member.is_some_and(|member| member.handover.has_offers())
    }

    /// Notes that all users of this worker have left for good; returns whether the users of all
    /// workers have.
    #[cold]
    pub(super) fn are_deserted(&self) -> bool {
        self.member.as_ref().is_none_or(Member::note_deserted)
    }

    /// Notes that this worker's demand is over; returns whether this is so for all workers.
    pub(super) fn note_over(&mut self) -> bool {
        if let Some(member) = &mut self.member {
            member.note_over();
        }
        self.are_over()
    }

    /// Whether no worker of the pool will begin anything more.
    pub(super) fn are_over(&self) -> bool {
        let member = self.member.as_ref();
        member.is_none_or(|member| member.handover.is_over())
    }

    /// Takes one thing, chosen by `lend`, from the left demand whose first thing is due earliest
    /// and before `own`. Returns it with the index of its home worker.
    pub(super) fn take_lent(
        &mut self,
        own: Nanos,
        now: Nanos,
        lend: impl FnMut(&mut Demand) -> Option<Lent>,
    ) -> Option<(u32, Lent)> {
        self.member.as_mut()?.take_lent(own, now, lend)
    }

    /// Returns the end of a request to the worker whose user made it.
    pub(super) fn give_back(&self, home: u32, returned: Returned) {
        if let Some(member) = &self.member {
            member.give_back(home, returned);
        }
    }

    /// Leaves a demand to others before a sleep, if it offers something that is due. Returns the time
    /// by which to wake for others.
    pub(super) fn rest(
        &mut self,
        demand: &mut Demand,
        offer: WorkOffer,
        room: Room,
        now: Nanos,
    ) -> Nanos {
        let Some(member) = &mut self.member else {
            return Nanos::MAX;
        };
        let wake = member.rest(demand, offer, room, now);
        // Others take only arrivals before the horizon, which only this worker moves.
        match member.has_left {
            true => wake.min(now + Nanos(ORDERS_WITHIN.0 / 2)),
            false => wake,
        }
    }

    /// Takes the demand back after a sleep, and returns the ends of requests that other workers
    /// have carried out for its users.
    #[inline]
    pub(super) fn resume(&mut self, demand: &mut Demand) -> Vec<Returned> {
        match &mut self.member {
            None => Vec::new(),
            Some(member) => member.resume(demand),
        }
    }
}
