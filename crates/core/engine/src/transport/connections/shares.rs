//! The shares of a pool and the seats on them.
//!
//! A pool takes a seat before it starts an exchange ([`Connections::take_seat`]), and returns it
//! when the exchange is over ([`Connections::give_seat`]), unless [`Connections::keeps_seat`]
//! withdraws it. The number of seats of a lane is shares times streams of a connection. Each seat
//! is free (in the lane's list), taken by an exchange, withheld by a connection that has not opened
//! yet, or, if the lane grows, withdrawn because the server allows fewer streams. Seats are taken
//! in the order of the list.
//!
//! ```text
//!   add_shares ─► list_seats ─► take_seat ─► give_seat, or rest_seat, later
//! ```
//!
//! `list_seats` is called once, when the wait for connections is over; seats are taken only
//! afterwards. A share that is added later, because its lane may grow, has one seat taken at once.
//!
//! Shares are never removed, and the plan's shares of a lane stay in it. A redirect to another lane
//! gets an additional share, which has no seats and belongs to the share whose exchange was
//! redirected. If a connection carries one exchange at a time, a share has one such companion,
//! which moves to the lane of each redirect; otherwise one for each lane. So the number of shares
//! bounds the number of connections, however far servers redirect.

use super::Connections;
use crate::id::{LaneId, ShareId};
use crate::idle_since::IdleSince;
use crate::limits::REDIALS_AT_START;
use crate::transport::connection::Connection;
use crate::transport::context::Context;
use crate::transport::lane::Seat;
use crate::transport::share::{SeatCount, Share};
use crate::wire::Handler;
use drumfire_measure::Closing;
use drumfire_net::{Io, Slot};
use drumfire_units::Nanos;

impl Connections {
    /// Adds shares to each lane, whose connections are closed.
    pub(crate) fn add_shares(&mut self, count: u32) {
        for lane in self.lanes.ids() {
            for _ in 0..count {
                self.add_planned_share(lane);
            }
        }
    }

    /// Adds one of the plan's shares to a lane. Its number counts over all workers.
    fn add_planned_share(&mut self, id: LaneId) -> ShareId {
        let lane = &self.lanes[id];
        let number = self.shard.number(lane.shares.len() as u32);
        let choice = number.wrapping_mul(lane.stride());
        let share = self.add_share(id, number, choice);
        self.lanes[id].shares.push(share);
        share
    }

    /// Adds a share to a lane; `number` counts over all workers, and `choice` is the index of the
    /// lane's address that its connection tries first.
    fn add_share(&mut self, lane: LaneId, number: u32, choice: u32) -> ShareId {
        let share = ShareId(self.shares.count() as u32);
        let slot = self.slots.add_slot(Connection::new(lane, share, choice));
        self.shares.push_share(Share::new(lane, slot, number));
        share
    }

    /// Adds a share to a lane, for an owner that adds shares one by one and uses no seats.
    pub(in crate::transport) fn add_own_share(&mut self, lane: LaneId) -> ShareId {
        self.add_planned_share(lane)
    }

    /// The number of shares.
    pub(crate) fn share_count(&self) -> usize {
        self.shares.count()
    }

    /// The lane that a share is on.
    #[inline]
    pub(crate) fn lane_of(&self, share: ShareId) -> LaneId {
        self.shares[share].lane
    }

    /// Takes a seat of a lane. Adds a share for it if necessary and permitted.
    #[inline]
    pub(crate) fn take_seat(&mut self, id: LaneId) -> Option<Seat> {
        let lane = &mut self.lanes[id];
        let seat = lane.take_seat();
        if seat.is_none() && lane.can_grow() {
            return Some(self.grow(id));
        }
        seat
    }

    /// Adds a share to a lane, with its seats, and takes one of them.
    #[cold]
    fn grow(&mut self, id: LaneId) -> Seat {
        let share = self.add_planned_share(id);
        let lane = &mut self.lanes[id];
        let (streams, since) = (lane.settings.streams, IdleSince::default());
        for _ in 1..streams {
            lane.give_seat(Seat::new(share, since));
        }
        self.shares[share].seats = SeatCount::for_streams(streams);
        Seat::new(share, since)
    }

    /// Returns a seat.
    #[inline]
    pub(crate) fn give_seat(&mut self, seat: Seat) {
        let lane = self.lane_of(seat.share);
        self.lanes[lane].give_seat(seat);
    }

    /// Whether the seat that an exchange has left is kept; `false` if it is withdrawn.
    #[inline]
    pub(crate) fn keeps_seat(&mut self, share: ShareId) -> bool {
        self.shares[share].seats.keeps_one()
    }

    /// Adapts the seats of a growing lane's share to the number of exchanges that its server allows
    /// at a time: further seats would make exchanges wait that another connection could carry.
    pub(in crate::transport) fn fit_seats(&mut self, share: ShareId, allowed: Option<u32>) {
        let of = &mut self.shares[share];
        let lane = &mut self.lanes[of.lane];
        of.seats.fit(share, allowed, lane);
    }

    /// Lists the free seats when the wait for connections is over: in turn over the connections,
    /// the open ones first if a connection carries one exchange.
    pub(crate) fn list_seats(&mut self) {
        for id in self.lanes.ids() {
            let lane = &self.lanes[id];
            let shares = lane.shares.clone();
            let streams = lane.settings.streams as usize;
            let count = shares.len() * streams;
            let listed = match lane.settings.protocol.is_exclusive() {
                true => self.open_first(shares),
                false => shares.iter().copied().cycle().take(count).collect(),
            };
            let lane = &mut self.lanes[id];
            lane.clear_seats(count + 1);
            let since = IdleSince::default();
            for share in listed {
                lane.give_seat(Seat::new(share, since));
            }
        }
    }

    /// The shares whose seats are given out now, those with open connections first. The others
    /// withhold their seats: after the first few, failed ones are dialed one after another.
    fn open_first(&mut self, shares: Vec<ShareId>) -> Vec<ShareId> {
        let (mut open, mut closed) = (Vec::new(), Vec::new());
        for share in shares {
            let connection = &mut self.slots[self.shares[share].slot];
            let has_failed = connection.redial.failures() > 0 && closed.len() >= REDIALS_AT_START;
            if connection.is_ready() {
                open.push(share);
            } else if connection.is_closed() && !has_failed {
                closed.push(share);
            } else {
                connection.withhold_seat();
            }
        }
        open.append(&mut closed);
        open
    }

    /// Gives out the seat of a connection that was to be opened in advance, but opened late.
    pub(super) fn give_withheld_seat(&mut self, slot: Slot, since: Nanos) {
        let (connection, lane) = self.with_lane(slot);
        if connection.release_seat() {
            lane.give_seat(Seat::new(connection.share, IdleSince::at(since)));
        }
    }

    /// The end of the rest of a share's seat, if its only connection rests.
    pub(crate) fn rest_of(&self, share: ShareId) -> Nanos {
        if self.lanes[self.lane_of(share)]
            .settings
            .protocol
            .is_exclusive()
        {
            self.of_share(share).redial.rest_end()
        } else {
            Nanos::ZERO
        }
    }

    /// The time from which a share's seat may be used again: now, unless its only connection rests.
    #[inline]
    pub(crate) fn usable_from(&self, share: ShareId, now: Nanos) -> Nanos {
        if self.slots.is_awake(now) {
            now
        } else {
            self.rest_of(share).max(now)
        }
    }

    /// Rests a share's seat, whose last exchange could not be made.
    pub(crate) fn rest_seat(&mut self, share: ShareId, until: Nanos) {
        let slot = self.shares[share].slot;
        self.slots.rest_until(slot, until);
    }

    /// Assigns the addresses of a lane to its shares again. Adds the slots with connections to
    /// other addresses to `moved`.
    pub(in crate::transport) fn move_shares(&mut self, id: LaneId, moved: &mut Vec<Slot>) {
        let lane = &self.lanes[id];
        for share in &lane.shares {
            let share = &self.shares[*share];
            let choice = share.number.wrapping_mul(lane.stride());
            if self.slots[share.slot].assign(choice, lane) {
                moved.push(share.slot);
            }
        }
    }

    /// The share that serves a share's exchange on another lane. A connection that carried only
    /// this exchange is closed, because nothing else uses it meanwhile.
    pub(in crate::transport) fn redirect_share<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        home: ShareId,
        lane: LaneId,
    ) -> ShareId {
        if lane == self.lane_of(home) {
            return home;
        }
        let exclusive = self.lanes[lane].settings.protocol.is_exclusive();
        if exclusive {
            let slot = self.shares[home].slot;
            self.slots[slot].close(cx, slot, Closing::Redirected);
        }
        let mut known = self.shares[home].redirect_shares.iter().copied();
        let fits = |share: &ShareId| exclusive || self.lane_of(*share) == lane;
        if let Some(share) = known.find(fits) {
            self.lead(cx, share, lane);
            return share;
        }
        let number = self.shares[home].number;
        let share = self.add_share(lane, number, home.0);
        self.shares[home].redirect_shares.push(share);
        share
    }

    /// Moves a share to a lane. A connection on another lane is closed.
    fn lead<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
        lane: LaneId,
    ) {
        let of = &mut self.shares[share];
        of.lane = lane;
        self.slots[of.slot].lead(cx, of.slot, lane);
    }
}
