//! Bindings: which slot's connection serves which share, along which lane.
//!
//! A share outlives its connections: it is bound to one slot at a time, as a virtual circuit is to
//! a path. The bindings own the [`Slots`] and the [`Seats`], and do whatever needs both: they add
//! shares, hand seats out, let them rest, and bind a share to another slot or lane. They open no
//! connection and close one only where a redirect leads its share elsewhere.
//!
//! ```text
//!   add_shares ─► list_seats ─┬─► take_seat ─► Seats::give, or rest_seat, later
//!                             └─► replace ─► release, when the old connection is closed
//! ```
//!
//! `list_seats` is called once, when connections are waited for no more; seats are taken only
//! afterwards. A share that is added later, because its lane may grow, comes with a seat taken.
//!
//! Shares are never removed, and a lane's shares are those of the plan: a redirect that leads
//! elsewhere gets a share beside them, which is home to no seat and belongs to the share whose
//! exchange was redirected. Where a connection carries one exchange, that share has one such
//! companion, which is led along whatever lane the next redirect asks for; else one for each lane.
//! So the connections of a run are bounded by its shares, however far servers redirect.

use super::connection::Connection;
use super::context::Context;
use super::lane::{Lane, Seat};
use super::seats::Seats;
use super::share::Share;
use super::slots::Slots;
use crate::blame::Failure;
use crate::freed::Freed;
use crate::id::{LaneId, Shard, ShareId};
use crate::limits::REDIALS_AT_START;
use crate::timers::Timers;
use crate::wire::Handler;
use drumfire_measure::Closing;
use drumfire_net::{Io, Slot};
use drumfire_units::Nanos;

/// A worker's slots of a pool and the shares that they serve.
#[derive(Debug)]
pub(crate) struct Bindings {
    slots: Slots,
    seats: Seats,
}

impl Bindings {
    /// Lanes without shares.
    pub(super) fn new(lanes: Vec<Lane>, shard: Shard) -> Self {
        Self {
            slots: Slots::default(),
            seats: Seats::new(lanes, shard),
        }
    }

    /// The slots.
    pub(super) const fn slots(&self) -> &Slots {
        &self.slots
    }

    /// The connection in a slot.
    #[inline]
    pub(super) fn at(&self, slot: Slot) -> &Connection {
        self.slots.at(slot)
    }

    /// The same, to change it.
    #[inline]
    pub(super) fn at_mut(&mut self, slot: Slot) -> &mut Connection {
        self.slots.at_mut(slot)
    }

    /// Sets the timer of a connection whose alarm has changed.
    #[inline]
    pub(super) fn arm(&mut self, slot: Slot, timers: &mut Timers) {
        self.slots.arm(slot, timers);
    }

    /// The lanes, and the seats on their shares.
    #[inline]
    pub(crate) const fn seats(&self) -> &Seats {
        &self.seats
    }

    /// The same, to change them.
    #[inline]
    pub(crate) const fn seats_mut(&mut self) -> &mut Seats {
        &mut self.seats
    }

    /// A share.
    #[inline]
    pub(super) fn share(&self, share: ShareId) -> &Share {
        self.seats.share(share)
    }

    /// The same, to change it.
    #[inline]
    pub(super) fn share_mut(&mut self, share: ShareId) -> &mut Share {
        self.seats.share_mut(share)
    }

    /// Adds shares to each lane, whose connections are closed.
    pub(crate) fn add_shares(&mut self, count: u32) {
        for lane in self.seats.lanes().ids() {
            for _ in 0..count {
                self.add_planned_share(lane);
            }
        }
    }

    /// Adds one of the plan's shares to a lane.
    fn add_planned_share(&mut self, lane: LaneId) -> ShareId {
        let number = self.seats.next_number(lane);
        let choice = number.wrapping_mul(self.seats.lane(lane).stride());
        let share = self.add_share(lane, number, choice);
        self.seats.lane_mut(lane).add_share(share);
        share
    }

    /// Adds a share that leads along a lane; `number` counts over all workers, and `choice` is the
    /// index of the lane's address that its connection tries first.
    fn add_share(&mut self, lane: LaneId, number: u32, choice: u32) -> ShareId {
        let share = self.seats.next_share();
        let slot = self.slots.add(Connection::new(lane, share, choice));
        self.seats.add(lane, number, slot)
    }

    /// The connection that serves a share.
    pub(super) fn of_share(&self, share: ShareId) -> &Connection {
        self.slots.at(self.seats.share(share).slot())
    }

    /// The connection in a slot and its lane.
    #[inline(always)]
    pub(super) fn with_lane(&mut self, slot: Slot) -> (&mut Connection, &mut Lane) {
        let connection = self.slots.at_mut(slot);
        let lane = self.seats.lane_mut(connection.lane());
        (connection, lane)
    }

    /// Takes a seat of a lane, and adds a share for it where that is needed and may be.
    #[inline]
    pub(crate) fn take_seat(&mut self, lane: LaneId) -> Option<Seat> {
        let seat = self.seats.take(lane);
        if seat.is_none() && self.seats.can_grow(lane) {
            return Some(self.grow(lane));
        }
        seat
    }

    #[cold]
    fn grow(&mut self, lane: LaneId) -> Seat {
        let share = self.add_planned_share(lane);
        self.seats.take_of_new(share)
    }

    /// Lists the free seats when connections are waited for no more: in turn over the connections,
    /// and of connections that carry one exchange the open ones first.
    pub(crate) fn list_seats(&mut self) {
        for id in self.seats.lanes().ids() {
            let shares = self.seats.lane(id).shares().to_vec();
            let settings = self.seats.lane(id).settings();
            let (streams, exclusive) = (settings.streams() as usize, settings.is_exclusive());
            let listed = match exclusive {
                true => self.open_first(shares.clone()),
                false => shares
                    .iter()
                    .copied()
                    .cycle()
                    .take(shares.len() * streams)
                    .collect(),
            };
            let lane = self.seats.lane_mut(id);
            lane.clear_seats(shares.len() * streams + 1);
            let since = Freed::default();
            for share in listed {
                lane.give(Seat::new(share, since));
            }
        }
    }

    /// The shares whose seats are given out now, those with open connections first. The others
    /// withhold theirs: those that failed are dialed one after the other, but for the first.
    fn open_first(&mut self, shares: Vec<ShareId>) -> Vec<ShareId> {
        let (mut open, mut closed) = (Vec::new(), Vec::new());
        for share in shares {
            let connection = self.slots.at_mut(self.seats.share(share).slot());
            let has_failed = connection.redial().failures() > 0 && closed.len() >= REDIALS_AT_START;
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

    /// Gives out the seat of a connection that was opened in advance and not in time.
    pub(super) fn give_withheld_seat(&mut self, slot: Slot, since: Nanos) {
        let (connection, lane) = self.with_lane(slot);
        if connection.release_seat() {
            lane.give(Seat::new(connection.share(), Freed::at(since)));
        }
    }

    /// The end of the rest of a share's seat, where its only connection rests.
    pub(crate) fn rest_of(&self, share: ShareId) -> Nanos {
        let lane = self.seats.lane(self.seats.lane_of(share));
        if lane.settings().is_exclusive() {
            self.of_share(share).redial().rest_end()
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

    /// Lets a share's seat rest, whose last exchange could not be made.
    pub(crate) fn rest_seat(&mut self, share: ShareId, until: Nanos) {
        let slot = self.share(share).slot();
        self.slots.rest_until(slot, until);
    }

    /// Lets a connection rest that has failed.
    pub(super) fn rest(&mut self, slot: Slot, timers: &mut Timers, failure: &Failure, now: Nanos) {
        let lane = self.seats.lane_mut(self.slots.at(slot).lane());
        self.slots.rest(slot, lane, timers, failure, now);
    }

    /// Assigns the addresses of a lane to its shares anew. Adds the slots whose connections lead
    /// elsewhere to `moved`.
    pub(super) fn move_shares(&mut self, id: LaneId, moved: &mut Vec<Slot>) {
        let lane = self.seats.lane(id);
        for share in lane.shares() {
            let share = self.seats.share(*share);
            let slot = share.slot();
            let choice = share.number().wrapping_mul(lane.stride());
            if self.slots.at_mut(slot).assign(choice, lane) {
                moved.push(slot);
            }
        }
    }

    /// Puts a new slot in the place of one whose connection retires, for the same share.
    pub(super) fn replace(&mut self, old: Slot) -> Slot {
        let retired = self.slots.at(old);
        let share = retired.share();
        let new = self.slots.put(retired.successor());
        self.seats.share_mut(share).move_to(new);
        new
    }

    /// Takes a slot back whose connection was closed after another had taken its place.
    pub(super) fn release(&mut self, slot: Slot) {
        self.slots.release(slot);
    }

    /// Whether connections are kept, so that it helps to open them before the run.
    pub(super) fn are_kept(&self) -> bool {
        self.seats
            .lanes()
            .iter()
            .any(|(_, lane)| lane.settings().keeps_connections())
    }

    /// The share that serves a share's exchange on another lane. A connection that
    /// carried the exchange alone is closed, for nothing else uses it meanwhile.
    pub(super) fn redirect_share<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        home: ShareId,
        lane: LaneId,
    ) -> ShareId {
        if lane == self.seats.lane_of(home) {
            return home;
        }
        let exclusive = self.seats.lane(lane).settings().is_exclusive();
        if exclusive {
            let slot = self.seats.share(home).slot();
            self.slots.at_mut(slot).close(cx, slot, Closing::Redirected);
        }
        let known = self.seats.share(home).redirect_shares().iter().copied();
        let fits = |share: &ShareId| exclusive || self.seats.lane_of(*share) == lane;
        if let Some(share) = known.into_iter().find(fits) {
            self.lead(cx, share, lane);
            return share;
        }
        let number = self.seats.share(home).number();
        let share = self.add_share(lane, number, home.0);
        self.seats.share_mut(home).add_redirect_share(share);
        share
    }

    /// Leads a share along a lane; a connection along another is closed.
    fn lead<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
        lane: LaneId,
    ) {
        let slot = self.seats.share(share).slot();
        self.slots.at_mut(slot).lead(cx, slot, lane);
        self.seats.share_mut(share).lead(lane);
    }
}
