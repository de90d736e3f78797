//! Traffic: exchanges and bytes between the pool and the wires of its connections, in the order
//! that [`Transport`](super::Transport) gives.
//!
//! Where an exchange is stands in [`Underway`] alone: nowhere, waiting for a share, or carried by a
//! slot's wire under a handle. Each method leaves that entry, the share's queue and the wire in
//! step. A wire may end an exchange within a read: after each call that could close a connection it
//! is looked up again.

use super::change::{Change, Lost};
use super::connection::OpeningStep;
use super::connections::{Connections, Further};
use super::context::Context;
use super::pending::{Output, Pending};
use crate::blame::Failure;
use crate::id::{ExchangeId, Generation, ShareId};
use crate::wire::{
    Broken, Cancelled, ConnectionEvents, Dropped, Expiry, Flow, Flushed, Handle, Handler, Input,
    Note, Port, Read, Refusal, Seen, Submitted, Underway, WireProtocol, each,
};
use drumfire_measure::{Closing, Outcome};
use drumfire_net::{Io, Readiness, Slot};
use drumfire_units::Nanos;

/// A pool's exchanges under way, and the connections between which they move.
#[derive(Debug)]
pub(super) struct Traffic {
    connections: Connections,
    /// The way of each exchange.
    underway: Underway,
    pending: Pending,
    input: Input,
    /// Whether further exchanges were expected when the last one was submitted.
    further: Further,
    /// Whether an exchange has ever waited for a connection that was serving another. Until then no
    /// read has to look for one that waits.
    has_waited: bool,
}

impl Traffic {
    pub(super) fn new(connections: Connections) -> Self {
        Self {
            connections,
            underway: Underway::default(),
            pending: Pending::default(),
            input: Input::new(),
            further: Further::Expected,
            has_waited: false,
        }
    }

    /// The connections.
    #[inline]
    pub(super) const fn connections(&self) -> &Connections {
        &self.connections
    }

    /// The same, to change them; a [`Change`] that comes of it is to be followed.
    #[inline]
    pub(super) const fn connections_mut(&mut self) -> &mut Connections {
        &mut self.connections
    }

    /// The ways of the exchanges.
    pub(super) const fn underway_mut(&mut self) -> &mut Underway {
        &mut self.underway
    }

    /// The sockets with something to do before the next wait.
    #[inline]
    pub(super) const fn pending(&self) -> &Pending {
        &self.pending
    }

    /// Begins a turn: slots that are left unread from now on are the next one's.
    #[inline]
    pub(super) fn begin_turn(&mut self) {
        self.pending.begin_turn();
    }

    /// Puts an exchange on a share's connection, or lets it wait for one.
    #[inline(always)]
    pub(super) fn submit<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        share: ShareId,
        further: Further,
        now: Nanos,
    ) {
        self.underway.admit(id);
        self.further = further;
        let serving = self.connections.share(share);
        let (slot, number) = (serving.slot(), serving.number());
        let is_clear = serving.is_clear();
        let connection = self.connections.at_mut(slot);
        let Some(wire) = connection.wire() else {
            return self.wait(cx, id, share, now);
        };
        if wire.has_room() && is_clear {
            if wire.is_stale(now) {
                connection.close(cx, slot, Closing::Idle);
                self.wait(cx, id, share, now);
            } else {
                self.board(cx, id, (share, number), slot, now);
            }
        } else {
            self.has_waited = true;
            if let Some(capacity) = wire.peer_capacity() {
                cx.handler.note(Note::HeldBack(capacity));
            }
            self.wait(cx, id, share, now);
        }
    }

    /// Lets an exchange wait for its share's connection, and has one dialed where there is none.
    fn wait<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        share: ShareId,
        now: Nanos,
    ) {
        self.underway.wait(id, share);
        self.has_waited |= self.connections.share_mut(share).wait(id);
        let change = self.connections.dial_if_needed(cx, share, now);
        self.follow(cx, change);
    }

    /// Carries out the effect of a change of a share's connection on exchanges that wait for it.
    pub(super) fn follow<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, change: Change) {
        match change {
            Change::None => {}
            Change::Open { share, since } => self.fill(cx, share, since),
            Change::Greets(slot) => self.flush_slot(cx, slot),
            Change::Failed { share, failure, at } => {
                for id in self.connections.share_mut(share).all_waiting() {
                    self.underway.fail(cx.handler, id, failure.clone(), at);
                }
            }
        }
    }

    /// Puts an exchange on the wire of an open connection with room, that of the share with this
    /// number.
    // Nearly all calls are that of `submit`, where it pays to be inlined.
    #[inline(always)]
    fn board<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        (share, number): (ShareId, u32),
        slot: Slot,
        now: Nanos,
    ) {
        let (io, handler) = (&*cx.io, &mut *cx.handler);
        if handler.begin(id, number, now, || io.unix_time()).is_err() {
            return;
        }
        let (connection, lane) = self.connections.with_lane(slot);
        let Some((wire, listed)) = connection.wire_and_listed() else {
            return;
        };
        let mut port = Port::new(cx.io, slot);
        let (submitted, is_spent) = each!(wire, it => {
            let submitted = it.submit(&mut port, id, lane.settings(), cx.handler, now);
            self.pending.note_request(slot, listed, it.outgoing());
            (submitted, it.is_spent())
        });
        match submitted {
            Submitted::Carried { handle, due } => {
                self.underway.carry(id, share, slot, handle);
                if due != Nanos::MAX {
                    connection.alarm_mut().lower_deadline(due);
                    self.connections.bindings_mut().arm(slot, cx.timers);
                }
            }
            Submitted::GivenUp => {}
            Submitted::Full => {
                self.has_waited = true;
                return self.wait(cx, id, share, now);
            }
        }
        if is_spent {
            let further = self.further;
            let change = self.connections.retire_if_spent(cx, slot, further, now);
            self.follow(cx, change);
        }
    }

    /// Gives the room that a share's connection has since a time to the exchanges that wait for it.
    #[cold]
    fn fill<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
        since: Nanos,
    ) {
        while !self.connections.share(share).is_clear() {
            let slot = self.connections.share(share).slot();
            let wire = self.connections.at(slot).wire();
            if !wire.is_some_and(|wire| wire.has_room()) {
                self.has_waited = true;
                return;
            }
            let Some(id) = self.connections.share_mut(share).next_waiting() else {
                return;
            };
            cx.handler.seated(id, since);
            let (number, now) = (self.connections.share(share).number(), cx.io.now());
            self.board(cx, id, (share, number), slot, now.max(since));
        }
    }

    /// Takes an exchange off the wire that carries it.
    fn take_off<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        (slot, handle): (Slot, Handle),
        now: Nanos,
    ) -> Seen {
        let Some((wire, listed)) = self.connections.at_mut(slot).wire_and_listed() else {
            return Seen::default();
        };
        match wire.cancel(id, handle) {
            Dropped::Connection(seen) => {
                let connection = self.connections.at_mut(slot);
                connection.close(cx, slot, Closing::Failed);
                self.serve_waiting(cx, slot, None);
                seen
            }
            Dropped::Stream => {
                self.pending.note(slot, listed, wire.outgoing());
                let sent = cx.handler.sent_at(id);
                self.connections.doubt(slot, cx.timers, sent, now);
                let share = self.connections.at(slot).share();
                self.fill(cx, share, now);
                self.connections.close_if_done(cx, slot);
                Seen::default()
            }
        }
    }

    /// Takes an exchange off its connection or queue; a connection that carried it alone is closed.
    pub(super) fn cancel<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        now: Nanos,
    ) -> Cancelled {
        let assignment = self.underway.take(id);
        let (mut seen, mut waiting) = (Seen::default(), None);
        if let Some(carrier) = assignment.carrier() {
            seen = self.take_off(cx, id, carrier, now);
        }
        if let Some(share) = assignment.awaited() {
            waiting = Some(self.connections.lateness(share));
            self.connections.share_mut(share).forget(id);
            self.connections.give_up_opening(cx, share, now);
        }
        Cancelled::new(assignment.phase(), seen, waiting)
    }

    /// Lets an exchange send more of its body.
    pub(super) fn send_more<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        now: Nanos,
    ) {
        let Some((slot, handle)) = self.underway.get(id).carrier() else {
            return;
        };
        if let Some((wire, listed)) = self.connections.at_mut(slot).wire_and_listed() {
            if !wire.send_more(id, handle, cx.handler, now) {
                self.underway.clear(id);
            }
            self.pending.note(slot, listed, wire.outgoing());
        }
    }

    /// Handles the readiness of a slot: writes, reads, then puts waiting exchanges on its connection.
    /// The connection is looked up once for both, on the way of every response.
    #[inline(always)]
    pub(super) fn handle_ready<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        readiness: Readiness,
    ) {
        let slot = readiness.slot;
        let (connection, lane) = self.connections.with_lane(slot);
        let terms = connection.read_terms(readiness, lane.settings());
        let Some((wire, listed)) = connection.wire_and_listed() else {
            return self.go_on_opening(cx, readiness);
        };
        let mut port = Port::new(cx.io, slot);
        let (input, underway) = (&mut self.input, &mut self.underway);
        each!(wire, it => {
            if readiness.writable {
                it.handle_writable(&mut port, cx.handler);
            }
            if !readiness.readable {
                return self.pending.note(slot, listed, it.outgoing());
            }
            let read = it.receive(&mut port, input, &terms, underway, cx.handler);
            self.pending.note(slot, listed, it.outgoing());
            self.after_read(cx, slot, read);
        });
    }

    /// Handles the readiness of a slot whose connection is being opened.
    #[cold]
    fn go_on_opening<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        readiness: Readiness,
    ) {
        let slot = readiness.slot;
        let (connection, lane) = self.connections.with_lane(slot);
        let speaks_first = lane.settings().protocol().server_speaks_first();
        let Some(step) = connection.link().opening_step(readiness, speaks_first) else {
            return;
        };
        let change = self.connections.go_on_opening(cx, slot, &mut self.input);
        self.follow(cx, change);
        if step == OpeningStep::GoOnAndRead {
            self.read(cx, slot);
        }
    }

    /// Reads a connection, where it is open.
    #[cold]
    pub(super) fn read<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        if self.connections.at(slot).wire().is_some() {
            let readiness = Readiness {
                slot,
                readable: true,
                writable: false,
                peer_closed: false,
            };
            self.handle_ready(cx, readiness);
        }
    }

    /// Acts on the result of a read.
    #[inline(always)]
    fn after_read<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        read: Read,
    ) {
        let connection = self.connections.at_mut(slot);
        if read.unread {
            self.pending.leave_unread(slot, connection.listed_mut());
        }
        match read.flow {
            Flow::Busy => {}
            Flow::Room { since } => {
                let is_retiring = connection.is_retiring();
                if self.has_waited {
                    self.serve_waiting(cx, slot, since);
                }
                if is_retiring {
                    self.connections.close_if_done(cx, slot);
                }
            }
            Flow::Close(why) => {
                connection.close(cx, slot, why);
                if self.has_waited {
                    self.serve_waiting(cx, slot, None);
                }
            }
            Flow::Events(events) => self.handle_events(cx, slot, *events),
        }
    }

    /// Serves the exchanges that wait for room on a connection, which is there since then, or since
    /// now.
    #[cold]
    fn serve_waiting<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        since: Option<Nanos>,
    ) {
        let share = self.connections.at(slot).share();
        if !self.connections.share(share).is_clear() {
            let now = cx.io.now();
            self.fill(cx, share, since.unwrap_or(now));
            let change = self.connections.dial_if_needed(cx, share, now);
            self.follow(cx, change);
        }
    }

    /// Acts on the events of a read that concern the connection itself.
    #[cold]
    fn handle_events<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        events: ConnectionEvents,
    ) {
        let now = cx.io.now();
        let refusal = events.refusal();
        if refusal == Some(Refusal::TooManyPings) {
            self.connections.halve_pings();
        }
        let connection = self.connections.at(slot);
        let share = connection.share();
        if let Some(ready) = events.ready() {
            let capacity = connection.wire().and_then(|wire| wire.peer_capacity());
            self.connections.watch(slot, cx.timers, ready);
            self.connections
                .bindings_mut()
                .seats_mut()
                .fit(share, capacity);
        }
        if refusal.is_some() {
            let further = self.further;
            let change = self.connections.retire_if_spent(cx, slot, further, now);
            self.follow(cx, change);
        }
        let since = events.since().unwrap_or(now);
        if let Some(failure) = events.into_failure() {
            // Our GOAWAY names the mistake; a close over unread bytes would reset the connection
            // and lose it.
            self.flush_slot(cx, slot);
            self.input.discard_all(&mut Port::new(cx.io, slot));
            return self.close_failed(cx, slot, now, failure);
        }
        if !self.connections.share(share).is_clear() {
            // What waited for room since before has it since the first bytes.
            self.fill(cx, share, since);
        }
        self.connections.close_if_done(cx, slot);
    }

    /// Closes a connection that has failed, and fails every exchange on it.
    fn close_failed<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
        failure: Failure,
    ) {
        let share = self.connections.at(slot).share();
        match self.connections.lose(cx, slot, &failure, now) {
            Lost::Opening(change) => self.follow(cx, change),
            Lost::Carried(exchanges) => {
                for id in exchanges {
                    self.underway.fail(cx.handler, id, failure.clone(), now);
                }
                let change = self.connections.dial_if_needed(cx, share, now);
                self.follow(cx, change);
            }
        }
    }

    /// Reads one slot that was not read to the end before this turn; or one on which a send failed,
    /// and fails there what the read has not ended.
    pub(super) fn read_rest<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        if let Some(slot) = self.pending.next_unread() {
            self.connections.at_mut(slot).listed_mut().leave_unread();
            return self.read(cx, slot);
        }
        let Some(slot) = self.pending.next_failed() else {
            return;
        };
        self.connections.at_mut(slot).listed_mut().leave_failed();
        self.read(cx, slot);
        let now = cx.io.now();
        let connection = self.connections.at_mut(slot);
        let Some(wire) = connection.wire_mut() else {
            return;
        };
        match wire.fail_sends(&mut self.underway, cx.handler, now) {
            None => {}
            Some(Broken::Close(why)) => {
                connection.close(cx, slot, why);
                self.serve_waiting(cx, slot, None);
            }
            Some(Broken::Fail(failure)) => self.close_failed(cx, slot, now, failure),
        }
    }

    /// Writes output, that of each slot with one call.
    #[inline]
    pub(super) fn flush<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, output: Output) {
        while let Some(slot) = self.pending.next_dirty(output) {
            self.connections.at_mut(slot).listed_mut().leave(output);
            self.flush_slot(cx, slot);
        }
    }

    #[inline]
    fn flush_slot<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        let Some((wire, listed)) = self.connections.at_mut(slot).wire_and_listed() else {
            return;
        };
        match wire.flush(&mut Port::new(cx.io, slot), cx.handler) {
            Flushed::Written => {}
            Flushed::Freed => self.resume(cx, slot),
            Flushed::Failed => self.pending.note_failed(slot, listed),
        }
    }

    /// Lets exchanges send on that waited for output to be written.
    #[cold]
    fn resume<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        let Some((wire, listed)) = self.connections.at_mut(slot).wire_and_listed() else {
            return;
        };
        let now = cx.io.now();
        let read = wire.resume(&mut self.underway, cx.handler, now);
        self.pending.note(slot, listed, wire.outgoing());
        self.after_read(cx, slot, read);
    }

    /// Handles the alarm of a connection.
    pub(super) fn ring<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        generation: Generation,
        now: Nanos,
    ) {
        let alarm = self.connections.at_mut(slot).alarm_mut();
        let Some(ring) = alarm.ring(generation, now) else {
            return;
        };
        if ring.is_late() {
            self.expire(cx, slot, now);
        }
        if ring.leaves() {
            self.leave(cx, slot, now, Closing::Aged);
        }
        self.connections.bindings_mut().arm(slot, cx.timers);
    }

    /// Lets a connection carry no further exchange, by the plan.
    pub(super) fn leave<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
        why: Closing,
    ) {
        let further = self.further;
        let change = self.connections.leave(cx, slot, why, further, now);
        self.follow(cx, change);
    }

    /// Handles a connection whose deadline has passed.
    fn expire<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot, now: Nanos) {
        if self.connections.at(slot).is_opening() {
            let change = self.connections.time_out_opening(cx, slot, now);
            return self.follow(cx, change);
        }
        let patience = self.connections.patience(slot);
        let connection = self.connections.at_mut(slot);
        let Some((wire, listed)) = connection.wire_and_listed() else {
            return;
        };
        let mut port = Port::new(cx.io, slot);
        let expiry = wire.handle_timeout(&mut port, patience, cx.handler, now);
        self.pending.note(slot, listed, wire.outgoing());
        match expiry {
            Expiry::Until(at) => connection.alarm_mut().set_deadline(at),
            Expiry::Idle => self.leave(cx, slot, now, Closing::Idle),
            Expiry::Dead => {
                self.close_failed(cx, slot, now, Failure::of(Outcome::TimeoutPing));
            }
        }
    }

    /// Ends all connections, each as its protocol has it.
    pub(super) fn close_all<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        self.connections.close_all(cx, &mut self.input);
    }
}
