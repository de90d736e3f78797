//! The bytes of sockets: reads and writes of the connections' wires, in the order given by the
//! transport's owner, and the alarms of connections.

use super::Transport;
use super::change::Lost;
use super::connection::OpeningStep;
use super::context::Context;
use super::pending::Output;
use crate::blame::Failure;
use crate::id::Generation;
use crate::timers::Wake;
use crate::wire::{
    BrokenSend, ConnectionEvents, Expiry, Flow, Flushed, Handler, Port, Read, Refusal, Wire,
    WireProtocol, each,
};
use drumfire_measure::{Closing, Outcome};
use drumfire_net::{Io, Readiness, Slot};
use drumfire_units::Nanos;

impl Transport {
    /// Runs one turn of an owner that has nothing to do between its steps.
    pub(crate) fn turn<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        ready: &[Readiness],
    ) {
        self.pending.begin_turn();
        for readiness in ready {
            self.handle_ready(cx, *readiness);
        }
        while self.pending.has_input() {
            self.read_rest(cx);
        }
        let now = cx.io.now();
        while let Some(wake) = cx.timers.due(now) {
            self.wake(cx, wake, now);
        }
        self.flush(cx, Output::All);
    }

    /// Handles a timer of one of its connections, and ignores others. A timer of a connection that
    /// has been replaced has an older generation and does nothing.
    pub(crate) fn wake<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        wake: Wake,
        now: Nanos,
    ) {
        match wake {
            Wake::Dial(slot) => {
                let change = self.connections.end_rest(cx, slot, now);
                self.follow(cx, change);
            }
            Wake::Connection(slot, generation) => self.ring(cx, slot, generation, now),
            _ => {}
        }
    }

    /// Reads the remaining input of all connections, because the system resets a connection that is
    /// closed with unread bytes.
    pub(crate) fn drain_input<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        for slot in self.connections.slots.all() {
            let wire = self.connections.slots[slot].wire();
            if wire.is_some_and(Wire::has_farewell) {
                self.read(cx, slot);
            }
        }
        self.flush(cx, Output::Requests);
    }

    /// Handles the readiness of a slot: writes, reads, then puts waiting exchanges on its connection.
    /// The connection is looked up once for both, because every response takes this path.
    #[inline(always)]
    pub(crate) fn handle_ready<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        readiness: Readiness,
    ) {
        let slot = readiness.slot;
        let (connection, lane) = self.connections.with_lane(slot);
        let terms = connection.read_terms(readiness, &lane.settings);
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
        let speaks_first = lane.settings.protocol.server_speaks_first();
        let Some(step) = connection.link.opening_step(readiness, speaks_first) else {
            return;
        };
        let change = self.connections.go_on_opening(cx, slot, &mut self.input);
        self.follow(cx, change);
        if step == OpeningStep::GoOnAndRead {
            self.read(cx, slot);
        }
    }

    /// Reads a connection, if it is open.
    #[cold]
    fn read<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        if self.connections.slots[slot].wire().is_some() {
            let readiness = Readiness {
                slot,
                readable: true,
                writable: false,
                peer_closed: false,
            };
            self.handle_ready(cx, readiness);
        }
    }

    /// Handles the result of a read.
    #[inline(always)]
    fn after_read<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        read: Read,
    ) {
        let connection = &mut self.connections.slots[slot];
        if read.unread {
            self.pending.leave_unread(slot, &mut connection.listed);
        }
        match read.flow {
            Flow::Busy => {}
            Flow::Room { since } => {
                let is_retiring = connection.is_retiring;
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

    /// Handles the events of a read that concern the connection itself.
    #[cold]
    fn handle_events<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        events: ConnectionEvents,
    ) {
        let now = cx.io.now();
        let refusal = events.refusal;
        if refusal == Some(Refusal::TooManyPings) {
            self.connections.halve_pings();
        }
        let connection = &mut self.connections.slots[slot];
        let share = connection.share;
        if let Some(ready) = events.ready {
            let capacity = connection.wire().and_then(|wire| wire.peer_capacity());
            self.connections.watch(slot, cx.timers, ready);
            self.connections.fit_seats(share, capacity);
        }
        if refusal.is_some() {
            let further = self.further;
            let change = self.connections.retire_if_spent(cx, slot, further, now);
            self.follow(cx, change);
        }
        let since = events.since.unwrap_or(now);
        if let Some(failure) = events.into_failure() {
            // Our GOAWAY contains the mistake; a close with unread bytes would reset the connection
            // and lose it.
            self.flush_slot(cx, slot);
            self.input.discard_all(&mut Port::new(cx.io, slot));
            return self.close_failed(cx, slot, now, failure);
        }
        if !self.connections.shares[share].is_clear() {
            // The room for waiting exchanges exists since the first bytes.
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
        let share = self.connections.slots[slot].share;
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

    /// Reads one slot that was left unread before this turn; or one on which a send failed, and
    /// then fails the remaining exchanges there.
    pub(crate) fn read_rest<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        if let Some(slot) = self.pending.next_unread() {
            self.connections.slots[slot].listed.leave_unread();
            return self.read(cx, slot);
        }
        let Some(slot) = self.pending.next_failed() else {
            return;
        };
        self.connections.slots[slot].listed.leave_failed();
        self.read(cx, slot);
        let now = cx.io.now();
        let connection = &mut self.connections.slots[slot];
        let Some(wire) = connection.wire_mut() else {
            return;
        };
        match wire.fail_sends(&mut self.underway, cx.handler, now) {
            None => {}
            Some(BrokenSend::Close(why)) => {
                connection.close(cx, slot, why);
                self.serve_waiting(cx, slot, None);
            }
            Some(BrokenSend::Fail(failure)) => self.close_failed(cx, slot, now, failure),
        }
    }

    /// Writes output, with one call for each slot. [`Output::Requests`] is written after each event,
    /// so that a request is sent close to its start; [`Output::All`] before a wait, so that
    /// acknowledgements and window updates are sent with all other output of a slot.
    #[inline]
    pub(crate) fn flush<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, output: Output) {
        while let Some(slot) = self.pending.next_dirty(output) {
            self.connections.slots[slot].listed.leave(output);
            self.flush_slot(cx, slot);
        }
    }

    #[inline]
    pub(super) fn flush_slot<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        let Some((wire, listed)) = self.connections.slots[slot].wire_and_listed() else {
            return;
        };
        match wire.flush(&mut Port::new(cx.io, slot), cx.handler) {
            Flushed::Written => {}
            Flushed::IdleSince => self.resume(cx, slot),
            Flushed::Failed => self.pending.note_failed(slot, listed),
        }
    }

    /// Continues exchanges that waited for output to be written.
    #[cold]
    fn resume<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        let Some((wire, listed)) = self.connections.slots[slot].wire_and_listed() else {
            return;
        };
        let now = cx.io.now();
        let read = wire.resume(&mut self.underway, cx.handler, now);
        self.pending.note(slot, listed, wire.outgoing());
        self.after_read(cx, slot, read);
    }

    /// Handles the alarm of a connection.
    fn ring<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        generation: Generation,
        now: Nanos,
    ) {
        let alarm = &mut self.connections.slots[slot].alarm;
        let Some(ring) = alarm.ring(generation, now) else {
            return;
        };
        if ring.is_late {
            self.expire(cx, slot, now);
        }
        if ring.leaves {
            self.leave(cx, slot, now, Closing::Aged);
        }
        self.connections.slots.arm(slot, cx.timers);
    }

    /// Stops a connection from carrying further exchanges, as the plan requires.
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
        if self.connections.slots[slot].is_opening() {
            let change = self.connections.time_out_opening(cx, slot, now);
            return self.follow(cx, change);
        }
        let patience = self.connections.patience(slot);
        let connection = &mut self.connections.slots[slot];
        let Some((wire, listed)) = connection.wire_and_listed() else {
            return;
        };
        let mut port = Port::new(cx.io, slot);
        let expiry = wire.handle_timeout(&mut port, patience, cx.handler, now);
        self.pending.note(slot, listed, wire.outgoing());
        match expiry {
            Expiry::Until(at) => connection.alarm.set_deadline(at),
            Expiry::Idle => self.leave(cx, slot, now, Closing::Idle),
            Expiry::Dead => {
                self.close_failed(cx, slot, now, Failure::from_outcome(Outcome::TimeoutPing));
            }
        }
    }

    /// Ends all connections, each as its protocol requires.
    pub(crate) fn close_all<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        self.connections.close_all(cx, &mut self.input);
    }
}
