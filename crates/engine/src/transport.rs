//! Transport: exchanges on their way, and the connections that carry them.
//!
//! It knows lanes (the way to one origin), shares (one connection's worth of a lane, whichever
//! connection serves it at the moment), connections with their wires, and exchanges by their ids.
//! It knows no users, no schedules, no steps and no samples.
//!
//! The worker calls, in each turn of its loop:
//!
//! ```text
//!   submit, cancel              for an exchange, at any time outside of a handler
//!   handle_ready, read_on       after a wait; both report through `Handler` and change no exchange
//!   handle_timeout, wake        when `next_deadline` or an entry of `Timers` is due
//!   flush                       requests after each of them, all output before the next wait
//! ```
//!
//! None of them starts an exchange: what one ends is put on the handler's list, which the worker
//! reads after the call. A seat ([`Seat`]) is the right to have one exchange on a share; it is taken
//! from the connections, held by an exchange until that is over, and given back.
//!
//! Its parts own their state: [`Connections`], [`Origins`] (of redirects), [`Agenda`] (busy slots).

mod agenda;
mod change;
mod connection;
mod connections;
mod context;
mod lane;
mod names;
mod opening;
mod origins;
mod share;

pub(crate) use agenda::Output;
pub(crate) use connection::Connection;
pub(crate) use connections::Connections;
pub(crate) use context::Context;
pub(crate) use lane::{Lane, Lanes, Seat};
pub(crate) use origins::{Answered, Found};

use self::agenda::Agenda;
use self::change::{Change, Lost};
use self::connection::discard_input;
use self::origins::{Origins, Reached};
use crate::blame::Failure;
use crate::id::{ExchangeId, ShareId};
use crate::limits::LOOK_UP;
use crate::prepare::Lookup;
use crate::timers::Wake;
use crate::wire::{
    Cancelled, Carriage, ConnectionEvents, Fate, Flushed, Going, Handler, Input, Note, Opened,
    Phase, Port, Reading, Seen, Silence, Terms, Wire, WireEvent,
};
use drumfire_measure::{Closing, Outcome};
use drumfire_net::{Io, Readiness, Slot};
use drumfire_plan::Origin;
use drumfire_units::Nanos;

/// A worker's exchanges on their way, and its connections.
#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) connections: Connections,
    /// Where each exchange travels, by its id.
    carriages: Vec<Carriage>,
    origins: Origins,
    input: Input,
    pub(crate) agenda: Agenda,
    /// Whether an exchange has ever waited for a connection that was serving another.
    has_waited: bool,
}

impl Transport {
    /// A transport with these connections, which are closed.
    pub(crate) fn new(connections: Connections) -> Self {
        Self {
            connections,
            carriages: Vec::new(),
            origins: Origins::default(),
            input: Input::new(),
            agenda: Agenda::default(),
            has_waited: false,
        }
    }

    /// Puts an exchange on a share's connection, or lets it wait for one.
    #[inline]
    pub(crate) fn submit<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        share: ShareId,
        now: Nanos,
    ) {
        if self.carriages.len() <= id.index() {
            self.carriages.resize(id.index() + 1, Carriage::default());
        }
        let serving = self.connections.share(share);
        let (slot, is_clear) = (serving.slot, serving.is_clear());
        let connection = self.connections.at_mut(slot);
        match &mut connection.wire {
            Wire::Http1(http1) if http1.exchange().is_none() => {
                if http1.is_stale(now - connection.freed) {
                    connection.close(cx, slot, Closing::Idle);
                    self.wait(cx, id, share, now);
                } else {
                    self.board_http1(cx, id, share, slot, now);
                }
            }
            Wire::Http2(http2) if http2.has_room() && is_clear => {
                self.board_http2(cx, id, share, slot, now);
            }
            wire => {
                self.has_waited |= matches!(wire, Wire::Http1(_));
                if let Wire::Http2(http2) = wire
                    && let Some(allowed) = http2.allowed()
                {
                    cx.handler.note(Note::HeldBack(allowed));
                }
                self.wait(cx, id, share, now);
            }
        }
    }

    /// Lets an exchange wait for its share's connection, and sees to it that there is one.
    fn wait<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        share: ShareId,
        now: Nanos,
    ) {
        self.carriages[id.index()] = Carriage::waiting(share);
        let waiting = &mut self.connections.share_mut(share).waiting;
        self.has_waited |= !waiting.is_empty();
        waiting.push_back(id);
        let change = self.connections.dial_if_needed(cx, share, now);
        self.follow(cx, change);
    }

    /// Starts to open a slot's connection.
    pub(crate) fn dial<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
    ) {
        let change = self.connections.dial(cx, slot, now);
        self.follow(cx, change);
    }

    /// Does what a change of a share's connection means for the exchanges that wait for it.
    fn follow<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, change: Change) {
        match change {
            Change::None => {}
            Change::Open { share, since } => self.fill(cx, share, since),
            Change::Greets(slot) => self.flush_slot(cx, slot),
            Change::Failed { share, failure, at } => {
                for id in std::mem::take(&mut self.connections.share_mut(share).waiting) {
                    self.fail(cx.handler, id, failure.clone(), at);
                }
            }
        }
    }

    /// Dials slots from `next` on, `at_once` at a time; `true` when all are open or have failed.
    pub(crate) fn open_more<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        next: &mut usize,
        at_once: usize,
    ) -> bool {
        if !self.connections.are_kept() {
            return true;
        }
        let mut under_way = self.connections.opening(*next);
        let now = cx.io.now();
        for slot in self.connections.slots().skip(*next) {
            if under_way >= at_once {
                return false;
            }
            self.dial(cx, slot, now);
            *next += 1;
            under_way += 1;
        }
        under_way == 0
    }

    /// A slot has rested: dials again, where it still serves a share with need of it.
    pub(crate) fn wake<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
    ) {
        let change = self.connections.wake(cx, slot, now);
        self.follow(cx, change);
    }

    /// Lets the handler make what varies in an exchange's request; `false` when it can't.
    #[inline]
    fn begin<I: Io, H: Handler>(
        &self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        share: ShareId,
        now: Nanos,
    ) -> bool {
        let number = self.connections.share(share).number;
        let (io, handler) = (&*cx.io, &mut *cx.handler);
        handler.begin(id, number, now, || io.unix_time()).is_ok()
    }

    /// Sends an exchange's request on an idle connection of HTTP/1.1.
    // Nearly all calls are that of `submit`, where it pays to be inlined.
    #[inline(always)]
    fn board_http1<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        share: ShareId,
        slot: Slot,
        now: Nanos,
    ) {
        if !self.begin(cx, id, share, now) {
            return;
        }
        self.carriages[id.index()] = Carriage::on_connection(share, slot);
        let (connection, lane) = self.connections.with_lane(slot);
        let Wire::Http1(http1) = &mut connection.wire else {
            return;
        };
        let mut port = Port { io: cx.io, slot };
        let patience = http1.begin(&mut port, id, &lane.settings, cx.handler);
        self.agenda.note_send(slot, http1);
        if patience != Nanos::MAX {
            self.connections.set_deadline(slot, patience);
        }
    }

    /// Opens a stream for an exchange on a connection of HTTP/2 that has room.
    #[inline]
    fn board_http2<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        share: ShareId,
        slot: Slot,
        now: Nanos,
    ) {
        if !self.begin(cx, id, share, now) {
            return;
        }
        let Wire::Http2(http2) = &mut self.connections.at_mut(slot).wire else {
            return;
        };
        match http2.open(id, cx.handler, now) {
            Some(Opened { stream, has_body }) => {
                self.carriages[id.index()] = Carriage::on_stream(share, slot, stream);
                if has_body && !http2.pump(id, stream, cx.handler, now) {
                    self.carriages[id.index()].clear();
                }
                self.agenda.mark_request(slot, http2);
                if http2.is_spent() {
                    self.retire_if_spent(cx, slot, now);
                }
            }
            None => self.wait(cx, id, share, now),
        }
    }

    /// Gives what room a share's connection has to the exchanges that wait for it.
    fn fill<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, share: ShareId, now: Nanos) {
        while let Some(id) = self.connections.share(share).waiting.front().copied() {
            let slot = self.connections.share(share).slot;
            let board = match &self.connections.at(slot).wire {
                Wire::Http1(http1) if http1.exchange().is_none() => Self::board_http1,
                Wire::Http2(http2) if http2.has_room() => Self::board_http2,
                _ => return,
            };
            self.connections.share_mut(share).waiting.pop_front();
            cx.handler.seated(id, now);
            board(self, cx, id, share, slot, now);
        }
    }

    /// Takes an exchange off its connection, or out of those that wait. A connection that carried
    /// it alone is closed.
    pub(crate) fn cancel<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        now: Nanos,
    ) -> Cancelled {
        let carriage = std::mem::take(&mut self.carriages[id.index()]);
        let (mut seen, mut opening) = (Seen::default(), None);
        match carriage.phase {
            Phase::Waiting => {
                let share = self.connections.share_mut(carriage.share);
                share.waiting.retain(|other| *other != id);
                opening = self.connections.give_up_opening(cx, carriage.share, now);
            }
            Phase::OnConnection => {
                let connection = self.connections.at_mut(carriage.slot);
                if let Wire::Http1(http1) = &mut connection.wire {
                    seen = http1.give_up();
                }
                connection.close(cx, carriage.slot, Closing::Failed);
                self.serve_next(cx, carriage.slot);
            }
            Phase::OnStream(stream) => {
                if let Wire::Http2(http2) = &mut self.connections.at_mut(carriage.slot).wire {
                    http2.reset(id, stream);
                    self.agenda.mark_output(carriage.slot, http2);
                    self.connections
                        .doubt(carriage.slot, cx.handler.sent_at(id), now);
                    self.after_stream(cx, carriage.slot, now);
                }
            }
            Phase::Seeking => self.origins.forget(id),
            Phase::Nowhere => {}
        }
        Cancelled {
            phase: carriage.phase,
            seen,
            opening,
        }
    }

    /// How far an exchange has come on its way.
    pub(crate) fn phase_of(&self, id: ExchangeId) -> Phase {
        self.carriages[id.index()].phase
    }

    /// An exchange has more of its body to send.
    pub(crate) fn send_more<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        now: Nanos,
    ) {
        let carriage = self.carriages[id.index()];
        let (slot, Some(stream)) = (carriage.slot, carriage.stream()) else {
            return;
        };
        if let Wire::Http2(http2) = &mut self.connections.at_mut(slot).wire {
            if !http2.pump(id, stream, cx.handler, now) {
                self.carriages[id.index()].clear();
            }
            self.agenda.mark_output(slot, http2);
        }
    }

    /// A slot has become ready for something.
    #[inline]
    pub(crate) fn handle_ready<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        readiness: Readiness,
    ) {
        let slot = readiness.slot;
        let connection = self.connections.at_mut(slot);
        connection.peer_closed |= readiness.peer_closed;
        match &mut connection.wire {
            Wire::Http1(http1) => {
                if readiness.writable && !http1.is_written() {
                    let mut port = Port { io: cx.io, slot };
                    http1.transmit(&mut port, cx.handler);
                    self.agenda.note_send(slot, http1);
                }
                if readiness.readable {
                    self.receive(cx, slot);
                }
            }
            Wire::Http2(http2) => {
                if readiness.writable {
                    self.agenda.mark_output(slot, http2);
                }
                if readiness.readable {
                    self.receive_frames(cx, slot);
                }
            }
            Wire::Dialing if readiness.writable => {
                self.go_on_opening(cx, slot);
                // Bytes that came with the connection have no event of their own.
                if readiness.readable {
                    self.read(cx, slot);
                }
            }
            Wire::SecuringProxy | Wire::Securing => {
                self.go_on_opening(cx, slot);
                // Bytes that came with the end of the handshake have no event of their own.
                self.receive_frames(cx, slot);
            }
            Wire::Tunneling(_) if readiness.readable => self.go_on_opening(cx, slot),
            _ => {}
        }
    }

    /// A slot whose connection is being opened has become ready.
    #[cold]
    fn go_on_opening<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        let change = self.connections.go_on_opening(cx, slot, &mut self.input);
        self.follow(cx, change);
    }

    /// Reads an open connection, whichever protocol it speaks.
    #[cold]
    fn read<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        match self.connections.at(slot).wire {
            Wire::Http1(_) => self.receive(cx, slot),
            Wire::Http2(_) => self.receive_frames(cx, slot),
            _ => {}
        }
    }

    /// Reads a connection of HTTP/1.1.
    // Nearly all calls are that of `handle_ready`, where it pays to be inlined.
    #[inline(always)]
    fn receive<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        let (connection, lane) = self.connections.with_lane(slot);
        let Wire::Http1(http1) = &mut connection.wire else {
            return;
        };
        let Some(id) = http1.exchange() else {
            return connection.refuse_input(cx, slot, &mut self.input);
        };
        let terms = Terms {
            settings: &lane.settings,
            peer_closed: connection.peer_closed,
            leaving: connection.leaving,
        };
        let mut port = Port { io: cx.io, slot };
        let (fate, unread) = http1.receive(&mut port, &mut self.input, &terms, cx.handler);
        let closing = http1.closing();
        if fate == Fate::Waits {
            self.agenda.note_send(slot, http1);
            if !http1.awaits_continue() {
                connection.deadline = Nanos::MAX;
            }
        } else {
            self.carriages[id.index()].clear();
            connection.deadline = Nanos::MAX;
        }
        let notes_idle = fate == Fate::Free && lane.settings.notes_idle();
        match fate {
            Fate::Close => connection.close(cx, slot, closing),
            Fate::Waits | Fate::Free if unread => self.agenda.leave_unread(slot, connection),
            Fate::Waits | Fate::Free => {}
        }
        if notes_idle {
            self.connections.note_free(slot, cx.io.now());
        }
        if fate != Fate::Waits {
            self.serve_next(cx, slot);
        }
    }

    /// An exclusive connection has become free or was closed: serves what waits for it.
    #[inline]
    fn serve_next<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        if self.has_waited {
            self.serve_waiting(cx, slot);
        }
    }

    #[cold]
    fn serve_waiting<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        let share = self.connections.at(slot).share;
        if !self.connections.share(share).is_clear() {
            let now = cx.io.now();
            self.fill(cx, share, now);
            let change = self.connections.dial_if_needed(cx, share, now);
            self.follow(cx, change);
        }
    }

    /// Reads a connection of HTTP/2, then puts what waits on it.
    #[inline]
    fn receive_frames<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        let connection = self.connections.at_mut(slot);
        let Wire::Http2(http2) = &mut connection.wire else {
            return;
        };
        let mut port = Port { io: cx.io, slot };
        let mut reading = Reading::at(Nanos::ZERO, &mut self.carriages, cx.handler);
        let peer_closed = connection.peer_closed;
        http2.receive(&mut port, &mut self.input, peer_closed, &mut reading);
        let events = reading.events;
        self.handle_events(cx, slot, events);
    }

    /// Acts on what reading a connection of HTTP/2 has shown.
    #[inline(always)]
    fn handle_events<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        events: ConnectionEvents,
    ) {
        let connection = self.connections.at_mut(slot);
        if events.answered {
            connection.failures = 0;
        }
        let share = connection.share;
        let Wire::Http2(http2) = &mut connection.wire else {
            return;
        };
        self.agenda.mark_output(slot, http2);
        let may_be_done = http2.is_done() || events.concerns_connection();
        let since = events.since;
        if events.concerns_connection() && !self.handle_connection_events(cx, slot, events) {
            return;
        }
        if !self.connections.share(share).is_clear() {
            // What waited for room since before has it since the first bytes.
            let since = since.unwrap_or_else(|| cx.io.now());
            self.fill(cx, share, since);
        }
        if may_be_done {
            self.connections.close_if_done(cx, slot);
        }
    }

    /// Acts on what concerns the connection itself; `false` when it is closed.
    #[cold]
    fn handle_connection_events<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        events: ConnectionEvents,
    ) -> bool {
        let now = cx.io.now();
        if events.going == Some(Going::TooManyPings) {
            self.connections.pings_halved += 1;
        }
        if let Some(ready) = events.ready {
            self.connections.watch(slot, ready);
            self.connections.fit_seats(slot);
        }
        if events.unread {
            let connection = self.connections.at_mut(slot);
            self.agenda.leave_unread(slot, connection);
        }
        if events.going.is_some() {
            self.retire_if_spent(cx, slot, now);
        }
        let Some(failure) = events.closed else {
            return true;
        };
        // Our GOAWAY names the mistake; a close over unread bytes would reset the connection and
        // lose it.
        self.flush_slot(cx, slot);
        discard_input(cx.io, slot, &mut self.input);
        self.close_failed(cx, slot, now, *failure);
        false
    }

    fn retire_if_spent<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
    ) {
        let change = self.connections.retire_if_spent(cx, slot, now);
        self.follow(cx, change);
    }

    /// A stream has ended otherwise than by reading: there is room, or the connection is done.
    fn after_stream<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
    ) {
        let share = self.connections.at(slot).share;
        self.fill(cx, share, now);
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
        let share = self.connections.at(slot).share;
        match self.connections.lose(cx, slot, &failure, now) {
            Lost::Opening(change) => self.follow(cx, change),
            Lost::Carried(exchanges) => {
                for id in exchanges {
                    self.fail(cx.handler, id, failure.clone(), now);
                }
                let change = self.connections.dial_if_needed(cx, share, now);
                self.follow(cx, change);
            }
        }
    }

    /// Fails an exchange that never came to a wire, or whose wire is gone.
    fn fail<H: Handler>(&mut self, handler: &mut H, id: ExchangeId, failure: Failure, now: Nanos) {
        self.carriages[id.index()].clear();
        handler.on_event(id, WireEvent::failed(failure), now);
    }

    /// Goes on with the first slot of those that were not read to the end.
    pub(crate) fn read_on<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        if let Some(slot) = self.agenda.next_unread() {
            self.connections.at_mut(slot).unread = false;
            self.read(cx, slot);
        }
    }

    /// Reads one slot on which a send failed, and fails what that does not end.
    pub(crate) fn read_failed<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        let Some(slot) = self.agenda.next_failed() else {
            return;
        };
        self.read(cx, slot);
        let now = cx.io.now();
        let connection = self.connections.at_mut(slot);
        let failed = match &mut connection.wire {
            Wire::Http2(http2) => http2.send_failure().cloned(),
            Wire::Http1(http1) if http1.has_failed_send() => {
                let id = http1.exchange();
                http1.fail_unsent(cx.handler, now);
                let why = http1.closing();
                if let Some(id) = id {
                    self.carriages[id.index()].clear();
                }
                connection.close(cx, slot, why);
                None
            }
            _ => None,
        };
        if let Some(failure) = failed {
            self.close_failed(cx, slot, now, failure);
        }
    }

    /// Writes output, that of each slot with one call.
    #[inline]
    pub(crate) fn flush<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, output: Output) {
        while let Some(slot) = self.agenda.next_dirty(output) {
            Agenda::leave(self.connections.at_mut(slot), output);
            self.flush_slot(cx, slot);
        }
    }

    #[inline]
    fn flush_slot<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        let Wire::Http2(http2) = &mut self.connections.at_mut(slot).wire else {
            return;
        };
        let mut port = Port { io: cx.io, slot };
        match http2.flush(&mut port, cx.handler) {
            Flushed::Written => {}
            Flushed::Freed => self.send_on(cx, slot),
            Flushed::Failed => self.agenda.note_failed(slot),
        }
    }

    /// Lets streams send on that waited for output to be written.
    #[cold]
    fn send_on<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        let Wire::Http2(http2) = &mut self.connections.at_mut(slot).wire else {
            return;
        };
        let mut reading = Reading::at(cx.io.now(), &mut self.carriages, cx.handler);
        http2.feed(&[], &mut reading);
        let events = reading.events;
        self.handle_events(cx, slot, events);
    }

    /// Reads the remaining input of all connections: one closed over unread bytes is reset.
    pub(crate) fn drain_input<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        for slot in self.connections.slots() {
            self.receive_frames(cx, slot);
        }
        self.flush(cx, Output::Requests);
    }

    /// Ends all connections, those of HTTP/2 with a GOAWAY.
    pub(crate) fn close_all<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        self.connections.close_all(cx, &mut self.input);
    }

    /// Ends overdue exchanges and connections, and finds the next bound.
    pub(crate) fn handle_timeout<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        now: Nanos,
    ) {
        for slot in self.connections.slots() {
            let connection = self.connections.at_mut(slot);
            if connection.deadline <= now {
                connection.deadline = Nanos::MAX;
                self.expire(cx, slot, now);
            }
            if self.connections.at(slot).leaves_at <= now {
                self.leave(cx, slot, now, Closing::Aged);
            }
        }
        self.connections.end_scan(now);
    }

    /// A connection carries no further exchange, by the plan.
    fn leave<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
        why: Closing,
    ) {
        let change = self.connections.leave(cx, slot, now, why);
        self.follow(cx, change);
    }

    /// A connection's time is up.
    fn expire<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot, now: Nanos) {
        let halved = self.connections.pings_halved;
        let (connection, lane) = self.connections.with_lane(slot);
        match &mut connection.wire {
            Wire::Empty => {}
            Wire::Http1(http1) if http1.exchange().is_none() => {
                self.leave(cx, slot, now, Closing::Idle);
            }
            Wire::Http1(http1) => {
                if http1.awaits_continue() {
                    http1.stop_waiting(&mut Port { io: cx.io, slot }, cx.handler);
                    self.agenda.note_send(slot, http1);
                }
            }
            Wire::Http2(http2) if http2.is_ready() => {
                let (ping, idle) = (lane.ping(halved), lane.settings.life.idle);
                let silence = http2.look_at_silence(ping, idle, now);
                self.agenda.mark_output(slot, http2);
                match silence {
                    Silence::Until(at) | Silence::Pinged(at) => {
                        self.connections.set_deadline(slot, at);
                    }
                    Silence::Idle => self.leave(cx, slot, now, Closing::Idle),
                    Silence::Dead => {
                        self.close_failed(cx, slot, now, Failure::of(Outcome::TimeoutPing));
                    }
                }
            }
            _ => {
                let change = self.connections.time_out_opening(cx, slot, now);
                self.follow(cx, change);
            }
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
        let lane = self.connections.lane_of(home);
        let lanes = &mut self.connections.lanes;
        let reached = self.origins.lane_to(origin, lane, id, lanes, lookup)?;
        if let Reached::Lane(lane) = reached {
            let form = lanes.get(lane).route.form;
            let share = self.connections.redirect_share(cx, home, lane);
            return Ok(Found::Share(share, form));
        }
        if reached == Reached::LookUpBegun {
            cx.timers.at(cx.io.now() + LOOK_UP, Wake::LookUps);
        }
        self.carriages[id.index()] = Carriage::seeking(home);
        Ok(Found::Sought)
    }

    /// Takes the answer to one look-up that has come; `None` when no further answer has.
    pub(crate) fn looked_up<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        now: Nanos,
    ) -> Option<Answered> {
        for change in self.connections.take_names(cx, now) {
            self.follow(cx, change);
        }
        let answered = self.origins.take_answer(&mut self.connections.lanes, cx.io);
        for id in answered.iter().flat_map(|answered| &answered.exchanges) {
            self.carriages[id.index()].clear();
        }
        if answered.is_none() && self.origins.seeks() {
            cx.timers.at(now + LOOK_UP, Wake::LookUps);
        }
        answered
    }
}
