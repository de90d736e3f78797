//! Transport: carries exchanges, and manages the connections for them.
//!
//! The transport handles lanes (the way to one origin), shares (one connection's worth of a lane,
//! whichever connection serves it at the moment), connections with their wires, and exchanges by
//! their ids. It is independent of users, schedules, steps and samples, and uses protocols only
//! through a [`Wire`].
//!
//! The transport's owner calls, in each turn of its loop:
//!
//! ```text
//!   submit, cancel, send_more   for an exchange, at any time outside of a handler
//!   begin_turn                  after a wait; then
//!   handle_ready                for each slot that is ready,
//!   read_rest                   while `Pending::has_input`,
//!   wake                        for each entry of `Timers` that is due
//!   flush                       requests after each of them, all output before the next wait
//! ```
//!
//! [`Transport::turn`] does all of this for an owner with nothing to do in between. None of the
//! calls starts an exchange: an exchange that a call ends is put on the handler's list, which the
//! owner reads after the call. A seat ([`Seat`]) is the right to have one exchange on a share. The
//! owner takes it from the [`Connections`] before it submits an exchange, and returns it after the
//! exchange's end.
//!
//! [`Connections`] own the slots, shares and lanes, and open and close connections. The transport
//! puts exchanges on their wires, and handles each [`Change`] of a connection. Only [`Underway`]
//! has the position of an exchange: nowhere, waiting for a share, or carried by a slot's wire under
//! a handle. Each method keeps that entry, the share's queue and the wire consistent. A wire may
//! end an exchange within a read, so the entry is looked up again after each call that could close
//! a connection. `sockets` moves the bytes of sockets. [`Pending`] lists the sockets with work to
//! do, [`Origins`] has the origins of redirects, and [`Names`] the names of lanes that are looked
//! up again.
//!
//! Peers cannot delay the schedule: a ready socket is read a limited number of times per turn
//! ([`crate::limits::RECEIVES_PER_TURN`]) and the rest later. A connection that is refused, reset
//! or silent fails its exchanges, rests, and is opened again when an exchange needs it.

mod alarm;
mod answer_wake;
mod change;
mod connection;
mod connections;
mod context;
mod lane;
mod names;
mod origins;
mod pending;
mod share;
mod slots;
mod sockets;

pub(crate) use connection::LinkState;
pub(crate) use connections::{Connections, Further};
pub(crate) use context::Context;
pub(crate) use lane::{Lane, Seat};
pub(crate) use origins::{Answered, Found};
pub(crate) use pending::{Output, Pending};

use self::answer_wake::AnswerWake;
use self::change::Change;
use self::names::Names;
use self::origins::{Origins, Reached};
use crate::blame::Failure;
use crate::id::{ExchangeId, LaneId, Shard, ShareId};
use crate::prepare::Lookup;
use crate::timers::Timers;
use crate::wire::{
    Cancelled, ConnectionNote, Dropped, Handle, Handler, Input, Lent, Phase, Port, Seen, Submitted,
    Underway, WireProtocol, each,
};
use drumfire_measure::Closing;
use drumfire_net::{Io, Slot};
use drumfire_plan::Origin;
use drumfire_units::{Nanos, Random};
use std::net::SocketAddr;

/// A worker's exchanges of a pool on their way, and its connections.
#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) connections: Connections,
    /// The position of each exchange.
    underway: Underway,
    /// The sockets with something to do before the next wait.
    pub(crate) pending: Pending,
    input: Input,
    /// Whether further exchanges were expected when the last one was submitted.
    further: Further,
    /// Whether an exchange has ever waited for a connection that was serving another. Until then no
    /// read has to check for waiting exchanges.
    has_waited: bool,
    origins: Origins,
    names: Names,
    answer_wake: AnswerWake,
}

impl Transport {
    /// A transport along these lanes, without connections.
    pub(crate) fn new(lanes: Vec<Lane>, shard: Shard, seed: u64) -> Self {
        Self {
            connections: Connections::new(lanes, shard, seed),
            underway: Underway::default(),
            pending: Pending::default(),
            input: Input::new(Random::new(seed, shard.index.into(), 0, 0)),
            further: Further::Expected,
            has_waited: false,
            origins: Origins::default(),
            names: Names::default(),
            answer_wake: AnswerWake::default(),
        }
    }

    /// Starts to open a share's connection, for an owner that needs it open before it submits
    /// anything, such as a conversation. A submission dials automatically.
    pub(crate) fn dial<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
        now: Nanos,
    ) {
        let slot = self.connections.shares[share].slot;
        let change = self.connections.dial(cx, slot, now);
        self.follow(cx, change);
    }

    /// Dials slots from `next` on, `at_once` at a time, and advances `next`; `true` if all are open
    /// or have failed. Called in each turn before the run. If connections are closed after each
    /// exchange, none is opened in advance.
    pub(crate) fn open_more<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        next: &mut usize,
        at_once: usize,
    ) -> bool {
        if !self.connections.lanes.keep_connections() {
            return true;
        }
        let slots = &self.connections.slots;
        let mut under_way = slots.opening(*next);
        let now = cx.io.now();
        for slot in slots.all().skip(*next) {
            if under_way >= at_once {
                return false;
            }
            let change = self.connections.dial(cx, slot, now);
            self.follow(cx, change);
            *next += 1;
            under_way += 1;
        }
        under_way == 0
    }

    /// The progress of an exchange on its way.
    pub(crate) fn phase_of(&self, id: ExchangeId) -> Phase {
        self.underway.get(id).phase
    }

    /// Puts an exchange on a share's connection, or queues it for one. The exchange may be sent, or
    /// fail, within this call; the handler has been notified by then.
    #[inline(always)]
    pub(crate) fn submit<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        share: ShareId,
        further: Further,
        now: Nanos,
    ) {
        self.underway.admit(id);
        self.further = further;
        let serving = &self.connections.shares[share];
        let (slot, is_clear) = (serving.slot, serving.is_clear());
        let connection = &mut self.connections.slots[slot];
        let Some(wire) = connection.wire() else {
            return self.wait(cx, id, share, now);
        };
        if wire.has_room() && is_clear {
            if wire.is_stale(now) {
                connection.close(cx, slot, Closing::Idle);
                self.wait(cx, id, share, now);
            } else {
                self.board(cx, id, share, slot, now);
            }
        } else {
            self.has_waited = true;
            if let Some(capacity) = wire.peer_capacity() {
                cx.handler.note(ConnectionNote::HeldBack(capacity));
            }
            self.wait(cx, id, share, now);
        }
    }

    /// Queues an exchange for its share's connection. Dials if the connection is closed.
    fn wait<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        share: ShareId,
        now: Nanos,
    ) {
        self.underway.wait(id, share);
        self.has_waited |= self.connections.shares[share].wait(id);
        let change = self.connections.dial_if_needed(cx, share, now);
        self.follow(cx, change);
    }

    /// Applies a change of a share's connection to the exchanges that wait for it.
    fn follow<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, change: Change) {
        match change {
            Change::None => {}
            Change::Open { share, since } => self.fill(cx, share, since),
            Change::Greets(slot) => self.flush_slot(cx, slot),
            Change::Failed { share, failure, at } => {
                for id in self.connections.shares[share].all_waiting() {
                    self.underway.fail(cx.handler, id, failure.clone(), at);
                }
            }
        }
    }

    /// Puts an exchange of a share on the wire of the open connection that serves it and has room.
    // Nearly all calls come from `submit`, so it pays to inline this.
    #[inline(always)]
    fn board<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        share: ShareId,
        slot: Slot,
        now: Nanos,
    ) {
        let number = self.connections.shares[share].number;
        let (io, handler) = (&*cx.io, &mut *cx.handler);
        if handler
            .render_request(id, number, now, || io.unix_time())
            .is_err()
        {
            return;
        }
        let (connection, lane) = self.connections.with_lane(slot);
        let Some((wire, listed)) = connection.wire_and_listed() else {
            return;
        };
        let mut port = Port::new(cx.io, slot);
        let (submitted, is_spent) = each!(wire, it => {
            let lent = Lent { settings: &lane.settings, input: &mut self.input };
            let submitted = it.submit(&mut port, id, lent, cx.handler, now);
            self.pending.note_request(slot, listed, it.outgoing());
            (submitted, it.is_spent())
        });
        match submitted {
            Submitted::Carried { handle, due } => {
                self.underway.carry(id, share, slot, handle);
                if due != Nanos::MAX {
                    connection.alarm.lower_deadline(due);
                    connection.alarm.arm(slot, cx.timers);
                }
            }
            Submitted::GivenUp => {}
            Submitted::Full => {
                self.has_waited = true;
                return self.wait(cx, id, share, now);
            }
            Submitted::Stale => {
                connection.hang_up(cx, slot, Closing::Left);
                return self.wait(cx, id, share, now);
            }
        }
        if is_spent {
            let further = self.further;
            let change = self.connections.retire_if_spent(cx, slot, further, now);
            self.follow(cx, change);
        }
    }

    /// Gives the room on a share's connection, free since `since`, to the exchanges that wait for
    /// it.
    #[cold]
    fn fill<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
        since: Nanos,
    ) {
        while !self.connections.shares[share].is_clear() {
            let slot = self.connections.shares[share].slot;
            let wire = self.connections.slots[slot].wire();
            if !wire.is_some_and(|wire| wire.has_room()) {
                self.has_waited = true;
                return;
            }
            let Some(id) = self.connections.shares[share].next_waiting() else {
                return;
            };
            cx.handler.seated(id, since);
            let now = cx.io.now();
            self.board(cx, id, share, slot, now.max(since));
        }
    }

    /// Takes an exchange off its connection or queue, and returns its phase. A connection that
    /// carried only this exchange is closed, because the rest of the response would be read as the
    /// next one. The exchange itself is not ended here.
    pub(crate) fn cancel<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        now: Nanos,
    ) -> Cancelled {
        let assignment = self.underway.take_assignment(id);
        let (mut seen, mut waiting) = (Seen::default(), None);
        if let Some((slot, handle)) = assignment.carrier() {
            seen = self.take_off(cx, id, slot, handle, now);
        }
        if let Some(share) = assignment.awaited() {
            waiting = Some(self.connections.lateness(share));
            self.connections.shares[share].forget(id);
            self.connections.give_up_opening(cx, share, now);
        }
        let cancelled = Cancelled::new(assignment.phase, seen, waiting);
        if cancelled.was_sought() {
            self.origins.forget(id);
        }
        cancelled
    }

    /// Takes an exchange off the wire that carries it in a slot.
    fn take_off<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        slot: Slot,
        handle: Handle,
        now: Nanos,
    ) -> Seen {
        let connection = &mut self.connections.slots[slot];
        let Some((wire, listed)) = connection.wire_and_listed() else {
            return Seen::default();
        };
        match wire.cancel(id, handle) {
            Dropped::Connection(seen) => {
                connection.close(cx, slot, Closing::Failed);
                self.serve_waiting(cx, slot, None);
                seen
            }
            Dropped::Stream => {
                self.pending.note(slot, listed, wire.outgoing());
                let sent = cx.handler.sent_at(id);
                let share = connection.share;
                self.connections.doubt(slot, cx.timers, sent, now);
                self.fill(cx, share, now);
                self.connections.close_if_done(cx, slot);
                Seen::default()
            }
        }
    }

    /// Serves the exchanges that wait for room on a connection, free since `since` or since now.
    #[cold]
    fn serve_waiting<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        since: Option<Nanos>,
    ) {
        let share = self.connections.slots[slot].share;
        if !self.connections.shares[share].is_clear() {
            let now = cx.io.now();
            self.fill(cx, share, since.unwrap_or(now));
            let change = self.connections.dial_if_needed(cx, share, now);
            self.follow(cx, change);
        }
    }

    /// Closes the connection of a share that carries no exchange, because its user needs it no more.
    /// The next exchange opens another.
    pub(crate) fn hang_up<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
    ) {
        let slot = self.connections.shares[share].slot;
        let connection = &mut self.connections.slots[slot];
        let is_used = connection
            .wire()
            .is_some_and(|wire| wire.is_idle() && wire.carried() > 0);
        if is_used {
            connection.hang_up(cx, slot, Closing::Left);
        }
    }

    /// Sends more of an exchange's body.
    pub(crate) fn send_more<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        now: Nanos,
    ) {
        let Some((slot, handle)) = self.underway.get(id).carrier() else {
            return;
        };
        if let Some((wire, listed)) = self.connections.slots[slot].wire_and_listed() {
            if !wire.send_more(id, handle, cx.handler, now) {
                self.underway.clear(id);
            }
            self.pending.note(slot, listed, wire.outgoing());
        }
    }
}

/// For an owner that adds lanes and shares one by one.
impl Transport {
    /// Adds a lane without shares.
    pub(crate) fn add_lane(&mut self, lane: Lane) -> LaneId {
        self.connections.lanes.add_lane(lane)
    }

    /// Adds a share to a lane, whose connection is closed. The owner needs no seats.
    pub(crate) fn add_share(&mut self, lane: LaneId) -> ShareId {
        self.connections.add_own_share(lane)
    }

    /// The address that the connection of a share dialed last.
    pub(crate) fn address_of(&self, share: ShareId) -> Option<SocketAddr> {
        let slot = self.connections.shares[share].slot;
        self.connections.slots[slot].address()
    }

    /// Closes the connection of a share that carries no exchange.
    pub(crate) fn close_share<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
    ) {
        let slot = self.connections.shares[share].slot;
        self.connections.slots[slot].close(cx, slot, Closing::Idle);
    }
}

/// Redirects, and look-ups of names.
impl Transport {
    /// Finds the way of a share's exchange to the origin of a redirect: a known lane, a new one, or
    /// a look-up that has to come first. In the last case the exchange waits without a connection,
    /// and [`Self::looked_up`] returns it.
    pub(crate) fn reach<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        home: ShareId,
        origin: &Origin,
        lookup: &Lookup,
    ) -> Result<Found, Failure> {
        let lane = self.connections.lane_of(home);
        let lanes = &mut self.connections.lanes;
        let reached = self.origins.lane_to(origin, lane, id, lanes, lookup)?;
        if let Reached::Lane(lane) = reached {
            let form = lanes[lane].route.form;
            let share = self.connections.redirect_share(cx, home, lane);
            return Ok(Found::Share(share, form));
        }
        if reached == Reached::LookUpBegun {
            let now = cx.io.now();
            self.answer_wake.set(cx.timers, now);
        }
        self.underway.seek(id, home);
        Ok(Found::Sought)
    }

    /// Looks up the addresses of a lane again.
    pub(crate) fn look_up(
        &mut self,
        lane: LaneId,
        lookup: &Lookup,
        timers: &mut Timers,
        now: Nanos,
    ) {
        let lanes = &self.connections.lanes;
        self.names.look_up(lane, lanes, lookup, timers, now);
        if self.names.seek() {
            self.answer_wake.set(timers, now);
        }
    }

    /// Takes the answer to one finished look-up; `None` if all were taken. Call it until then, when
    /// the timer for look-ups fires. Answers for lanes are applied here; the owner continues the
    /// exchanges of all others.
    pub(crate) fn looked_up<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        now: Nanos,
    ) -> Option<Answered> {
        let connections = &mut self.connections;
        for slot in self.names.take_answers(connections, cx.timers, now) {
            self.leave(cx, slot, now, Closing::Moved);
        }
        let lanes = &mut self.connections.lanes;
        let answered = self.origins.take_answer(lanes, cx.io);
        for id in answered.iter().flat_map(|answered| &answered.exchanges) {
            self.underway.clear(*id);
        }
        if answered.is_none() && (self.names.seek() || self.origins.seeks()) {
            self.answer_wake.set(cx.timers, now);
        }
        answered
    }
}
