//! Transport: exchanges on their way, and the connections that carry them.
//!
//! It knows lanes (the way to one origin), shares (one connection's worth of a lane, whichever
//! connection serves it at the moment), connections with their wires, and exchanges by their ids.
//! It knows no users, no schedules, no steps and no samples, and of protocols only what a
//! [`Wire`](crate::wire::Wire) answers.
//!
//! Its owner calls, in each turn of its loop:
//!
//! ```text
//!   submit, cancel, send_more   for an exchange, at any time outside of a handler
//!   begin_turn                  after a wait; then
//!   handle_ready                for each slot that is ready,
//!   read_rest                   until `has_input` is over,
//!   wake                        for each entry of `Timers` that is due
//!   flush                       requests after each of them, all output before the next wait
//! ```
//!
//! [`Transport::turn`] is all of that for an owner with nothing to do in between. None of the calls
//! starts an exchange: what one ends is put on the handler's list, which the owner reads after the
//! call. A seat ([`Seat`]) is the right to have one exchange on a share; it is taken from the
//! transport, held by an exchange until that is over, and given back to its [`Seats`].
//!
//! Its parts own their state: [`Traffic`] moves exchanges and bytes, over [`Connections`] (their slots
//! and seats) and the list of sockets with something to do; [`Origins`] are those of redirects.

mod alarm;
mod change;
mod connection;
mod connections;
mod context;
mod lane;
mod names;
mod opening;
mod origins;
mod pending;
mod seats;
mod share;
mod slots;
mod traffic;

pub(crate) use connections::Further;
pub(crate) use context::Context;
pub(crate) use lane::{Lane, Seat};
pub(crate) use origins::{Answered, Found};
pub(crate) use pending::Output;
pub(crate) use seats::Seats;

use self::connections::Connections;
use self::origins::{Origins, Reached};
use self::traffic::Traffic;
use crate::blame::Failure;
use crate::id::{ExchangeId, LaneId, Shard, ShareId};
use crate::limits::LOOK_UP;
use crate::prepare::Lookup;
use crate::timers::{Timers, Wake};
use crate::wire::{Cancelled, Handler, Phase, Wire, WireProtocol};
use drumfire_measure::Closing;
use drumfire_net::{Io, Readiness};
use drumfire_plan::Origin;
use drumfire_units::Nanos;

/// A worker's exchanges of a pool on their way, and its connections.
#[derive(Debug)]
pub(crate) struct Transport {
    traffic: Traffic,
    origins: Origins,
}

impl Transport {
    /// A transport along these lanes, without connections.
    pub(crate) fn new(lanes: Vec<Lane>, shard: Shard, seed: u64) -> Self {
        Self {
            traffic: Traffic::new(Connections::new(lanes, shard, seed)),
            origins: Origins::default(),
        }
    }

    /// Adds shares to each lane, whose connections are closed.
    pub(crate) fn add_shares(&mut self, count: u32) {
        for lane in self.traffic.connections.seats.lanes().ids() {
            for _ in 0..count {
                self.traffic.connections.add_planned_share(lane);
            }
        }
    }

    /// Lets up to this many shares be added to each lane as they are needed.
    pub(crate) fn make_room(&mut self, count: usize) {
        for lane in self.traffic.connections.seats.lanes().ids() {
            self.traffic
                .connections
                .seats
                .lane_mut(lane)
                .make_room(count);
        }
    }

    /// The seats of its connections.
    #[inline]
    pub(crate) const fn seats(&self) -> &Seats {
        &self.traffic.connections.seats
    }

    /// The same, to give one back.
    #[inline]
    pub(crate) const fn seats_mut(&mut self) -> &mut Seats {
        &mut self.traffic.connections.seats
    }

    /// Takes a seat of a lane, and adds a share for it where that is needed and may be.
    #[inline]
    pub(crate) fn take_seat(&mut self, lane: LaneId) -> Option<Seat> {
        let seat = self.traffic.connections.seats.take(lane);
        if seat.is_none() && self.traffic.connections.seats.can_grow(lane) {
            return Some(self.grow(lane));
        }
        seat
    }

    #[cold]
    fn grow(&mut self, lane: LaneId) -> Seat {
        let share = self.traffic.connections.add_planned_share(lane);
        self.traffic.connections.seats.take_of_new(share)
    }

    /// Until when a share's seat rests, where its only connection does.
    pub(crate) fn rest_of(&self, share: ShareId) -> Nanos {
        self.traffic.connections.rest_of(share)
    }

    /// When a share's seat may be used again: now, unless its only connection rests.
    #[inline]
    pub(crate) fn usable_from(&self, share: ShareId, now: Nanos) -> Nanos {
        if self.traffic.connections.slots.is_awake(now) {
            now
        } else {
            self.rest_of(share).max(now)
        }
    }

    /// Lets a share's seat rest, whose last exchange could not be made.
    pub(crate) fn rest_seat(&mut self, share: ShareId, until: Nanos) {
        let slot = self.traffic.connections.seats.share(share).slot();
        self.traffic.connections.slots.rest_until(slot, until);
    }

    /// Connections are waited for no more: lists the seats, those of open ones first. Timers of
    /// before the run do not hold in it.
    pub(crate) fn list_seats(&mut self) {
        self.traffic.connections.list_seats();
    }

    /// The run begins: all times count from here.
    pub(crate) fn begin_run(&mut self, timers: &mut Timers) {
        self.traffic.connections.begin_run(timers);
    }

    /// Whether a share's connection is being dialed, or in a handshake.
    pub(crate) fn is_unsecured(&self, share: ShareId) -> bool {
        let connection = self.traffic.connections.of_share(share);
        connection.is_opening() && !connection.is_silent()
    }

    /// Whether a share's connection is open, so that both sides have agreed on its protocol.
    pub(crate) fn is_agreed(&self, share: ShareId) -> bool {
        self.traffic.connections.of_share(share).wire().is_some()
    }

    /// Whether a share's connection is open and nothing has come of the server's greeting.
    pub(crate) fn is_silent(&self, share: ShareId) -> bool {
        self.traffic.connections.of_share(share).is_silent()
    }

    /// Starts to open a share's connection.
    pub(crate) fn dial<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
        now: Nanos,
    ) {
        let slot = self.traffic.connections.seats.share(share).slot();
        let change = self.traffic.connections.dial(cx, slot, now);
        self.traffic.follow(cx, change);
    }

    /// Dials slots from `next` on, `at_once` at a time; `true` when all are open or have failed.
    pub(crate) fn open_more<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        next: &mut usize,
        at_once: usize,
    ) -> bool {
        if !self.traffic.connections.are_kept() {
            return true;
        }
        let mut under_way = self.traffic.connections.slots.opening(*next);
        let now = cx.io.now();
        for slot in self.traffic.connections.slots.all().skip(*next) {
            if under_way >= at_once {
                return false;
            }
            let change = self.traffic.connections.dial(cx, slot, now);
            self.traffic.follow(cx, change);
            *next += 1;
            under_way += 1;
        }
        under_way == 0
    }

    /// How far an exchange has come on its way.
    pub(crate) fn phase_of(&self, id: ExchangeId) -> Phase {
        self.traffic.underway.get(id).phase
    }

    /// A turn of the owner's loop begins, after its wait.
    #[inline]
    pub(crate) fn begin_turn(&mut self) {
        self.traffic.pending.begin_turn();
    }

    /// One turn of an owner that has nothing to do between its steps.
    pub(crate) fn turn<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        ready: &[Readiness],
    ) {
        self.begin_turn();
        for readiness in ready {
            self.handle_ready(cx, *readiness);
        }
        while self.has_input() {
            self.read_rest(cx);
        }
        let now = cx.io.now();
        while let Some(wake) = cx.timers.due(now) {
            self.wake(cx, wake, now);
        }
        self.flush(cx, Output::All);
    }

    /// Whether this turn has input to read of which no readiness tells.
    #[inline]
    pub(crate) const fn has_input(&self) -> bool {
        self.traffic.pending.has_input()
    }

    /// Reads one slot that was not read to the end before this turn, or on which a send failed.
    pub(crate) fn read_rest<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        if let Some(slot) = self.traffic.pending.next_unread() {
            self.traffic
                .connections
                .slots
                .at_mut(slot)
                .listed
                .leave_unread();
            self.traffic.read(cx, slot);
        } else if let Some(slot) = self.traffic.pending.next_failed() {
            self.traffic.read(cx, slot);
            self.traffic.fail_sends(cx, slot);
        }
    }

    /// Whether there is something to do before any wait.
    #[inline]
    pub(crate) fn is_pressing(&self) -> bool {
        self.traffic.pending.is_pressing()
    }

    /// Whether there is such output.
    #[inline]
    pub(crate) fn has_output(&self, output: Output) -> bool {
        self.traffic.pending.has_output(output)
    }

    /// Writes output, that of each slot with one call.
    #[inline]
    pub(crate) fn flush<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, output: Output) {
        self.traffic.flush(cx, output);
    }

    /// Reads the remaining input of all connections: one closed over unread bytes is reset.
    pub(crate) fn drain_input<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        for slot in self.traffic.connections.slots.all() {
            let wire = self.traffic.connections.slots.at(slot).wire();
            if wire.is_some_and(Wire::has_farewell) {
                self.traffic.read(cx, slot);
            }
        }
        self.flush(cx, Output::Requests);
    }

    /// Ends all connections, each as its protocol has it.
    pub(crate) fn close_all<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        self.traffic.close_all(cx);
    }

    /// Handles a wake of its connections; those of others are none of its.
    pub(crate) fn wake<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        wake: Wake,
        now: Nanos,
    ) {
        match wake {
            Wake::Dial(slot) => {
                let change = self.traffic.connections.end_rest(cx, slot, now);
                self.traffic.follow(cx, change);
            }
            Wake::Connection(slot, generation) => self.traffic.ring(cx, slot, generation, now),
            _ => {}
        }
    }

    /// How an exchange of a share gets to an origin.
    ///
    /// # Errors
    /// When it can't.
    pub(crate) fn reach<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        home: ShareId,
        origin: &Origin,
        lookup: &Lookup,
    ) -> Result<Found, Failure> {
        let lane = self.traffic.connections.seats.lane_of(home);
        let lanes = self.traffic.connections.seats.lanes_mut();
        let reached = self.origins.lane_to(origin, lane, id, lanes, lookup)?;
        if let Reached::Lane(lane) = reached {
            let form = lanes.get(lane).route().form;
            let share = self.traffic.connections.redirect_share(cx, home, lane);
            return Ok(Found::Share(share, form));
        }
        if reached == Reached::LookUpBegun {
            cx.timers.at(cx.io.now() + LOOK_UP, Wake::LookUps);
        }
        self.traffic.underway.seek(id, home);
        Ok(Found::Sought)
    }

    /// Looks up again where a lane leads.
    pub(crate) fn look_up(
        &mut self,
        lane: LaneId,
        lookup: &Lookup,
        timers: &mut Timers,
        now: Nanos,
    ) {
        self.traffic.connections.look_up(lane, lookup, timers, now);
    }

    /// Takes the answer to one look-up that has come; `None` when no further answer has.
    pub(crate) fn looked_up<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        now: Nanos,
    ) -> Option<Answered> {
        for slot in self.traffic.connections.take_names(cx.timers, now) {
            self.traffic.leave(cx, slot, now, Closing::Moved);
        }
        let lanes = self.traffic.connections.seats.lanes_mut();
        let answered = self.origins.take_answer(lanes, cx.io);
        for id in answered.iter().flat_map(|answered| &answered.exchanges) {
            self.traffic.underway.clear(*id);
        }
        if answered.is_none() && self.origins.seeks() {
            cx.timers.at(now + LOOK_UP, Wake::LookUps);
        }
        answered
    }

    /// Takes an exchange off its connection, or out of those that wait. A connection that carried
    /// it alone is closed.
    pub(crate) fn cancel<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        now: Nanos,
    ) -> Cancelled {
        let cancelled = self.traffic.cancel(cx, id, now);
        if cancelled.phase == Phase::Seeking {
            self.origins.forget(id);
        }
        cancelled
    }

    /// An exchange has more of its body to send.
    pub(crate) fn send_more<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        now: Nanos,
    ) {
        self.traffic.send_more(cx, id, now);
    }

    /// Puts an exchange on a share's connection, or lets it wait for one.
    #[inline]
    pub(crate) fn submit<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        share: ShareId,
        further: Further,
        now: Nanos,
    ) {
        self.traffic.submit(cx, id, share, further, now);
    }

    /// A slot has become ready for something.
    #[inline]
    pub(crate) fn handle_ready<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        readiness: Readiness,
    ) {
        self.traffic.handle_ready(cx, readiness);
    }
}
