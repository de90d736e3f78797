//! Seats: the lanes of a pool, the shares of each, and the right to have an exchange on a share.
//!
//! A pool takes a seat before it starts an exchange ([`super::Bindings::take_seat`]), and gives it
//! back when the exchange is over, unless [`Seats::keeps_one`] withdraws it then. The seats know which
//! slot serves a share, and nothing of the connection in it.
//!
//! The seats of a lane are its shares' times the streams of a connection. Each is either free (in
//! the lane's list), taken by an exchange, withheld by a connection that has not opened yet, or,
//! where the lane grows, withdrawn since the server allows fewer streams. The list order is the
//! order of use.

use super::lane::{Lane, Lanes, Seat};
use super::share::{SeatCount, Share};
use crate::freed::Freed;
use crate::id::{LaneId, Shard, ShareId, UserId};
use drumfire_net::Slot;

/// A worker's lanes of a pool with their shares and seats.
#[derive(Debug)]
pub(crate) struct Seats {
    shard: Shard,
    lanes: Lanes,
    shares: Vec<Share>,
}

impl Seats {
    /// Lanes without shares.
    pub(super) fn new(lanes: Vec<Lane>, shard: Shard) -> Self {
        Self {
            shard,
            lanes: Lanes::new(lanes),
            shares: Vec::new(),
        }
    }

    /// The number of shares.
    pub(crate) fn share_count(&self) -> usize {
        self.shares.len()
    }

    /// The lane that a share is on.
    #[inline]
    pub(crate) fn lane_of(&self, share: ShareId) -> LaneId {
        self.share(share).lane()
    }

    /// The share of a lane that a user keeps to.
    #[inline]
    pub(crate) fn share_of(&self, lane: LaneId, user: UserId) -> ShareId {
        self.lanes.get(lane).share_of(user)
    }

    /// Whether every seat of a lane has an exchange and there will be no others.
    #[inline]
    pub(crate) fn is_full(&self, lane: LaneId) -> bool {
        self.lanes.get(lane).is_full()
    }

    /// The lanes with room for an exchange.
    pub(crate) fn lanes_with_room(&self) -> impl Iterator<Item = LaneId> {
        self.lanes.ids().filter(|lane| !self.is_full(*lane))
    }

    /// Gives a free seat back.
    #[inline]
    pub(crate) fn give(&mut self, seat: Seat) {
        let lane = self.lane_of(seat.share());
        self.lanes.get_mut(lane).give(seat);
    }

    /// Takes a seat back that an exchange has left; `false` when it is withdrawn.
    #[inline]
    pub(crate) fn keeps_one(&mut self, share: ShareId) -> bool {
        self.share_mut(share).seats_mut().keeps_one()
    }

    /// Lets up to this many shares be added to each lane as they are needed.
    pub(crate) fn make_room(&mut self, count: usize) {
        for lane in self.lanes.ids() {
            self.lane_mut(lane).make_room(count);
        }
    }

    /// Takes a free seat of a lane.
    #[inline]
    pub(super) fn take(&mut self, lane: LaneId) -> Option<Seat> {
        self.lanes.get_mut(lane).take()
    }

    /// Whether a share may be added to a lane.
    #[inline]
    pub(super) fn can_grow(&self, lane: LaneId) -> bool {
        self.lanes.get(lane).can_grow()
    }

    /// The seats that a new share has; one of them is taken at once.
    pub(super) fn take_of_new(&mut self, share: ShareId) -> Seat {
        let lane = self.lanes.get_mut(self.shares[share.index()].lane());
        let (streams, since) = (lane.settings().streams(), Freed::default());
        for _ in 1..streams {
            lane.give(Seat::new(share, since));
        }
        *self.share_mut(share).seats_mut() = SeatCount::of(streams);
        Seat::new(share, since)
    }

    /// Fits the seats of a growing lane's share to the number of exchanges that its server allows at
    /// a time: seats for more would keep exchanges waiting where another connection could carry them.
    pub(super) fn fit(&mut self, share: ShareId, allowed: Option<u32>) {
        let of = &mut self.shares[share.index()];
        let lane = self.lanes.get_mut(of.lane());
        of.seats_mut().fit(share, allowed, lane);
    }

    /// The lanes.
    pub(super) const fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    /// The same, to change them.
    pub(super) const fn lanes_mut(&mut self) -> &mut Lanes {
        &mut self.lanes
    }

    /// A lane.
    #[inline]
    pub(super) fn lane(&self, id: LaneId) -> &Lane {
        self.lanes.get(id)
    }

    /// The same, to change it.
    #[inline]
    pub(super) fn lane_mut(&mut self, id: LaneId) -> &mut Lane {
        self.lanes.get_mut(id)
    }

    /// A share.
    #[inline]
    pub(super) fn share(&self, share: ShareId) -> &Share {
        &self.shares[share.index()]
    }

    /// The same, to change it.
    #[inline]
    pub(super) fn share_mut(&mut self, share: ShareId) -> &mut Share {
        &mut self.shares[share.index()]
    }

    /// The share that is added next.
    pub(super) fn next_share(&self) -> ShareId {
        ShareId(self.shares.len() as u32)
    }

    /// The number of the plan's next share on a lane, counted over all workers.
    pub(super) fn next_number(&self, lane: LaneId) -> u32 {
        self.shard.number(self.lane(lane).shares().len() as u32)
    }

    /// Adds a share that leads along a lane and that this slot serves. Its number counts over all
    /// workers.
    pub(super) fn add(&mut self, lane: LaneId, number: u32, slot: Slot) -> ShareId {
        let share = self.next_share();
        self.shares.push(Share::new(lane, slot, number));
        share
    }
}
