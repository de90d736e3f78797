//! Transport: connections and what travels on them. Everything below the exchange.
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
//!   handle_timeout, wake        when `next_timeout` or an entry of `Timers` is due
//!   flush                       before the next wait
//! ```
//!
//! None of them starts an exchange: what one ends is put on the handler's list, which the worker
//! reads after the call. A seat ([`Seat`]) is the right to have one exchange on a share; it is taken
//! from a lane, held by an exchange until that is over, and given back.

mod connection;
mod deadlines;
mod dial;
mod ending;
mod lane;
mod origins;
mod share;
mod silence;

pub(crate) use connection::Connection;
pub(crate) use lane::{Lane, Lanes, Seat};
pub(crate) use origins::Found;
pub(crate) use share::{Seats, Share};

use self::origins::Origins;
use crate::blame::Failure;
use crate::id::{ExchangeId, LaneId, ShareId};
use crate::limits::{DISCARD_BYTES, RECEIVE_BYTES, RECEIVES_PER_TURN};
use crate::timers::Timers;
use crate::wire::{
    Cancelled, Carriage, Fate, Flushed, Going, Handler, Heard, Heed, Input, Note, Opened, Phase,
    Port, Reading, Resend, Seen, Terms, Wire,
};
use drumfire_http1 as h1;
use drumfire_measure::Closing;
use drumfire_net::{Io, IoError, Readiness, Received, Slot};
use drumfire_plan::KeepAliveHints;
use drumfire_units::Nanos;

/// The parts that the transport borrows for a call.
pub(crate) struct Context<'a, I, H> {
    pub(crate) io: &'a mut I,
    pub(crate) handler: &'a mut H,
    pub(crate) timers: &'a mut Timers,
}

/// A worker's connections.
#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) lanes: Lanes,
    shares: Vec<Share>,
    connections: Vec<Connection>,
    /// Where each exchange travels, by its id.
    carriages: Vec<Carriage>,
    origins: Origins,
    input: Input,
    /// Slots whose sockets may hold more than was received in one turn. Their edge has passed, so
    /// only this list knows of it.
    unread: Vec<Slot>,
    /// Slots on which a send failed: they are read once more, then their exchanges fail.
    failed_sends: Vec<Slot>,
    /// Slots with something to write.
    dirty: Vec<Slot>,
    /// Slots that no share uses.
    spares: Vec<Slot>,
    /// No connection's deadline lies before this.
    next_scan: Nanos,
    /// No connection rests after this.
    last_rest: Nanos,
    /// Whether nothing more will be submitted that is not under way: a connection that ends has no
    /// successor.
    pub(crate) is_last: bool,
    /// Whether an exchange has ever waited for a connection that was serving another.
    has_waited: bool,
    /// How often servers refused our pings as too frequent (ENHANCE_YOUR_CALM): each halves their
    /// rate.
    pings_halved: u32,
}

impl Transport {
    /// A transport over these lanes, with no connections.
    pub(crate) fn new(lanes: Lanes) -> Self {
        Self {
            lanes,
            shares: Vec::new(),
            connections: Vec::new(),
            carriages: Vec::new(),
            origins: Origins::default(),
            input: Input {
                buffer: vec![0; RECEIVE_BYTES],
                filled: 0,
                scratch: vec![0; DISCARD_BYTES],
                shared: h1::Shared::new(h1::Limits::default()),
            },
            unread: Vec::new(),
            failed_sends: Vec::new(),
            dirty: Vec::new(),
            spares: Vec::new(),
            next_scan: Nanos::MAX,
            last_rest: Nanos::ZERO,
            is_last: false,
            has_waited: false,
            pings_halved: 0,
        }
    }

    /// Adds one of the plan's shares to a lane.
    pub(crate) fn add_planned_share(&mut self, lane: LaneId, number: u32) {
        let choice = number.wrapping_mul(self.lanes.get(lane).stride());
        let share = self.add_share(lane, number, choice);
        self.lanes.get_mut(lane).add_share(share);
    }

    /// Takes a seat of a lane, and adds a share for it where that is needed and may be. Share `n` of
    /// a worker has the number that `number_of` gives it.
    #[inline]
    pub(crate) fn take_seat(
        &mut self,
        lane: LaneId,
        number_of: impl FnOnce(u32) -> u32,
    ) -> Option<Seat> {
        let seat = self.lanes.get_mut(lane).take();
        if seat.is_none() && self.lanes.get(lane).can_grow() {
            return Some(self.grow(lane, number_of));
        }
        seat
    }

    #[cold]
    fn grow(&mut self, lane: LaneId, number_of: impl FnOnce(u32) -> u32) -> Seat {
        let number = number_of(self.lanes.get(lane).shares().len() as u32);
        let choice = number.wrapping_mul(self.lanes.get(lane).stride());
        let share = self.add_share(lane, number, choice);
        let lane = self.lanes.get_mut(lane);
        lane.add_share(share);
        let (streams, since) = (lane.settings.streams, Nanos::ZERO);
        for _ in 1..streams {
            lane.give(Seat { share, since });
        }
        self.shares[share.index()].seats = Seats::of(streams);
        Seat { share, since }
    }

    /// Adds a share that leads along a lane; `number` counts over all workers, and `choice` is the
    /// index of the lane's address that its connection tries first.
    fn add_share(&mut self, lane: LaneId, number: u32, choice: u32) -> ShareId {
        let (share, slot) = (
            ShareId(self.shares.len() as u32),
            Slot(self.connections.len() as u32),
        );
        self.connections.push(Connection::new(lane, share, choice));
        self.shares.push(Share::new(lane, slot, number));
        share
    }

    /// How many shares there are.
    pub(crate) fn share_count(&self) -> usize {
        self.shares.len()
    }

    /// The lane that a share is on.
    #[inline]
    pub(crate) fn lane_of(&self, share: ShareId) -> LaneId {
        self.shares[share.index()].lane
    }

    #[inline]
    fn connection(&mut self, slot: Slot) -> &mut Connection {
        &mut self.connections[slot.0 as usize]
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
        let slot = self.shares[share.index()].slot;
        let connection = &mut self.connections[slot.0 as usize];
        match &mut connection.wire {
            Wire::Http1(http1) if http1.exchange().is_none() => {
                if http1.is_stale(now - connection.freed) {
                    self.close(cx, slot, Closing::Idle);
                    self.wait(cx, id, share, now);
                } else {
                    self.board_http1(cx, id, share, slot, now);
                }
            }
            Wire::Http2(http2) if http2.has_room() && self.shares[share.index()].is_clear() => {
                self.board_http2(cx, id, share, slot, now);
            }
            wire => {
                match wire {
                    Wire::Http1(_) => self.has_waited = true,
                    Wire::Http2(http2) => {
                        if let Some(allowed) = http2.allowed() {
                            cx.handler.note(Note::HeldBack(allowed));
                        }
                    }
                    _ => {}
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
        self.has_waited |= !self.shares[share.index()].is_clear();
        self.shares[share.index()].waiting.push_back(id);
        self.call_for_connection(cx, share, now);
    }

    /// Dials for the exchanges that wait, unless that is under way or the connection rests.
    fn call_for_connection<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
        now: Nanos,
    ) {
        let slot = self.shares[share.index()].slot;
        let connection = self.connection(slot);
        if matches!(connection.wire, Wire::Empty) && connection.rest_until <= now {
            self.dial(cx, slot, now);
        }
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
        let number = self.shares[share.index()].number;
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
        let connection = &mut self.connections[slot.0 as usize];
        let lane = self.lanes.get(connection.lane);
        let Wire::Http1(http1) = &mut connection.wire else {
            return;
        };
        let mut port = Port { io: cx.io, slot };
        let patience = http1.begin(&mut port, id, &lane.settings, cx.handler);
        if http1.has_failed_send() {
            self.failed_sends.push(slot);
        }
        if patience != Nanos::MAX {
            self.set_deadline(slot, patience);
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
        let Wire::Http2(http2) = &mut self.connections[slot.0 as usize].wire else {
            return;
        };
        match http2.open(id, cx.handler, now) {
            Some(Opened { stream, has_body }) => {
                self.carriages[id.index()] = Carriage::on_stream(share, slot, stream);
                if has_body && !http2.pump(id, stream, cx.handler, now) {
                    self.carriages[id.index()].clear();
                }
                if !std::mem::replace(&mut http2.dirty, true) {
                    self.dirty.push(slot);
                }
                if http2.is_spent() {
                    self.retire_if_spent(cx, slot, now);
                }
            }
            None => self.wait(cx, id, share, now),
        }
    }

    /// Gives what room a share's connection has to the exchanges that wait for it.
    fn fill<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, share: ShareId, now: Nanos) {
        while let Some(id) = self.shares[share.index()].waiting.front().copied() {
            let slot = self.shares[share.index()].slot;
            let board = match &self.connections[slot.0 as usize].wire {
                Wire::Http1(http1) if http1.exchange().is_none() => Self::board_http1,
                Wire::Http2(http2) if http2.has_room() => Self::board_http2,
                _ => return,
            };
            self.shares[share.index()].waiting.pop_front();
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
        let seen = match carriage.phase {
            Phase::Waiting => return self.cancel_waiting(cx, id, carriage.share, now),
            Phase::OnConnection => {
                let seen = match &mut self.connection(carriage.slot).wire {
                    Wire::Http1(http1) => http1.give_up(),
                    _ => Seen::default(),
                };
                self.close(cx, carriage.slot, Closing::Failed);
                self.serve_next(cx, carriage.slot);
                seen
            }
            Phase::OnStream(stream) => {
                if let Wire::Http2(http2) = &mut self.connection(carriage.slot).wire {
                    http2.reset(stream);
                    self.mark(carriage.slot);
                    self.after_stream(cx, carriage.slot, now);
                }
                Seen::default()
            }
            Phase::Seeking => {
                self.origins.forget(id);
                Seen::default()
            }
            Phase::Nowhere => Seen::default(),
        };
        Cancelled {
            phase: carriage.phase,
            seen,
            opening: None,
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
        let Carriage {
            slot,
            phase: Phase::OnStream(stream),
            ..
        } = self.carriages[id.index()]
        else {
            return;
        };
        if let Wire::Http2(http2) = &mut self.connection(slot).wire {
            if !http2.pump(id, stream, cx.handler, now) {
                self.carriages[id.index()].clear();
            }
            self.mark(slot);
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
        let connection = &mut self.connections[slot.0 as usize];
        connection.peer_closed |= readiness.peer_closed;
        match &mut connection.wire {
            Wire::Http1(http1) => {
                if readiness.writable && !http1.is_written() {
                    let mut port = Port { io: cx.io, slot };
                    http1.transmit(&mut port, cx.handler);
                    if http1.has_failed_send() {
                        self.failed_sends.push(slot);
                    }
                }
                if readiness.readable {
                    self.receive(cx, slot);
                }
            }
            Wire::Http2(_) => {
                if readiness.readable {
                    self.receive_frames(cx, slot);
                }
                if readiness.writable {
                    self.flush_slot(cx, slot);
                }
            }
            Wire::Dialing if readiness.writable => {
                self.on_dialing(cx, slot);
                // Bytes that came with the connection have no event of their own.
                if readiness.readable {
                    self.read(cx, slot);
                }
            }
            Wire::Securing => {
                let progress = cx.io.handshake(slot);
                self.on_securing(cx, slot, progress);
                // Bytes that came with the end of the handshake have no event of their own.
                if matches!(self.connection(slot).wire, Wire::Http2(_)) {
                    self.receive_frames(cx, slot);
                }
            }
            Wire::Tunneling(_) if readiness.readable => self.receive_tunnel(cx, slot),
            _ => {}
        }
    }

    /// Reads an open connection, whichever protocol it speaks.
    #[cold]
    fn read<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        match self.connection(slot).wire {
            Wire::Http1(_) => self.receive(cx, slot),
            Wire::Http2(_) => self.receive_frames(cx, slot),
            _ => {}
        }
    }

    /// Reads a connection of HTTP/1.1.
    // Nearly all calls are that of `handle_ready`, where it pays to be inlined.
    #[inline(always)]
    fn receive<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        let connection = &mut self.connections[slot.0 as usize];
        let Wire::Http1(http1) = &mut connection.wire else {
            return;
        };
        let Some(id) = http1.exchange() else {
            return self.on_unsolicited(cx, slot);
        };
        let lane = self.lanes.get(connection.lane);
        let terms = Terms {
            settings: &lane.settings,
            peer_closed: connection.peer_closed,
            transient: lane.is_transient,
        };
        let mut port = Port { io: cx.io, slot };
        let (fate, unread) = http1.receive(&mut port, &mut self.input, &terms, cx.handler);
        let (send_failed, closing) = (http1.has_failed_send(), http1.closing());
        if fate == Fate::Waits {
            if send_failed && !self.failed_sends.contains(&slot) {
                self.failed_sends.push(slot);
            }
            if !http1.awaits_continue() {
                connection.deadline = Nanos::MAX;
            }
        } else {
            self.carriages[id.index()].clear();
            connection.deadline = Nanos::MAX;
            if lane.settings.hints == KeepAliveHints::Respect {
                connection.freed = cx.io.now();
            }
        }
        match fate {
            Fate::Close => self.close(cx, slot, closing),
            Fate::Waits | Fate::Free if unread => self.leave_unread(slot),
            Fate::Waits | Fate::Free => {}
        }
        if fate != Fate::Waits {
            self.serve_next(cx, slot);
        }
    }

    /// An exclusive connection has become free or was closed: serves the next exchange that waits
    /// for it, if users share it.
    #[inline]
    fn serve_next<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        if self.has_waited {
            self.serve_waiting(cx, slot);
        }
    }

    #[cold]
    fn serve_waiting<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        let share = self.connections[slot.0 as usize].share;
        if !self.shares[share.index()].is_clear() {
            let now = cx.io.now();
            self.fill(cx, share, now);
            if !self.shares[share.index()].is_clear() {
                self.call_for_connection(cx, share, now);
            }
        }
    }

    /// Something came on a connection that carries no exchange: its end, or bytes that were not
    /// asked for. Either way it is closed. After TLS's own messages there is nothing to receive.
    fn on_unsolicited<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        let received = cx.io.receive(slot, &mut self.input.buffer);
        let why = match received {
            Ok(Received::Nothing) => return,
            Ok(Received::Bytes { .. }) => Closing::Failed,
            Ok(Received::End) | Err(IoError::TlsNoCloseNotify) => Closing::Peer,
            Err(_) => Closing::Reset,
        };
        self.close(cx, slot, why);
    }

    /// Reads a connection of HTTP/2, then puts what waits on it.
    #[inline]
    fn receive_frames<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        let connection = &mut self.connections[slot.0 as usize];
        let Wire::Http2(http2) = &mut connection.wire else {
            return;
        };
        let mut port = Port { io: cx.io, slot };
        let mut reading = Reading {
            carriages: &mut self.carriages,
            handler: cx.handler,
            heed: Heed::default(),
            now: Nanos::ZERO,
        };
        let peer_closed = connection.peer_closed;
        http2.receive(&mut port, &mut self.input, peer_closed, &mut reading);
        let heed = reading.heed;
        self.heed(cx, slot, heed);
    }

    /// Acts on what reading a connection of HTTP/2 has shown.
    #[inline(always)]
    fn heed<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot, heed: Heed) {
        let connection = &mut self.connections[slot.0 as usize];
        if heed.answered {
            connection.failures = 0;
        }
        let share = connection.share;
        let Wire::Http2(http2) = &mut connection.wire else {
            return;
        };
        if http2.has_output() && !std::mem::replace(&mut http2.dirty, true) {
            self.dirty.push(slot);
        }
        let may_be_done = http2.is_done() || heed.concerns_connection();
        let since = heed.since;
        if heed.concerns_connection() && !self.heed_connection(cx, slot, heed) {
            return;
        }
        if !self.shares[share.index()].is_clear() {
            // What waited for room since before has it since the first bytes.
            let since = since.unwrap_or_else(|| cx.io.now());
            self.fill(cx, share, since);
        }
        if may_be_done {
            self.close_if_done(cx, slot);
        }
    }

    /// Acts on what concerns the connection itself; `false` when it is closed.
    #[cold]
    fn heed_connection<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        heed: Heed,
    ) -> bool {
        let now = cx.io.now();
        if heed.going == Some(Going::TooManyPings) {
            self.pings_halved += 1;
        }
        if let Some(ready) = heed.ready {
            self.watch(slot, ready);
            self.fit_seats(slot);
        }
        if heed.unread {
            self.leave_unread(slot);
        }
        if heed.going.is_some() {
            self.retire_if_spent(cx, slot, now);
        }
        let Some(failure) = heed.closed else {
            return true;
        };
        // Our GOAWAY names the mistake; a close over unread bytes would reset the connection and
        // lose it.
        self.flush_slot(cx, slot);
        self.empty(cx.io, slot);
        self.close_failed(cx, slot, now, *failure);
        false
    }

    /// Leaves the rest of a socket's input for the next turn.
    fn leave_unread(&mut self, slot: Slot) {
        let connection = self.connection(slot);
        if !std::mem::replace(&mut connection.unread, true) {
            self.unread.push(slot);
        }
    }

    /// How many slots were not read to the end.
    #[inline]
    pub(crate) fn unread_count(&self) -> usize {
        self.unread.len()
    }

    /// Goes on with the first slot of those that were not read to the end. One that carries another
    /// connection by now has nothing to read, which does no harm.
    pub(crate) fn read_on<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        if self.unread.is_empty() {
            return;
        }
        let slot = self.unread.remove(0);
        self.connection(slot).unread = false;
        self.read(cx, slot);
    }

    /// Whether a send has failed on any slot.
    #[inline]
    pub(crate) fn has_failed(&self) -> bool {
        !self.failed_sends.is_empty()
    }

    /// Reads one slot on which a send failed, and fails what that does not end.
    pub(crate) fn read_failed<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        let Some(slot) = self.failed_sends.pop() else {
            return;
        };
        self.read(cx, slot);
        let now = cx.io.now();
        let failed = match &mut self.connection(slot).wire {
            Wire::Http2(http2) => http2.send_failure().cloned(),
            Wire::Http1(http1) if http1.has_failed_send() => {
                let id = http1.exchange();
                http1.fail_unsent(cx.handler, now);
                let why = http1.closing();
                if let Some(id) = id {
                    self.carriages[id.index()].clear();
                }
                self.close(cx, slot, why);
                None
            }
            _ => None,
        };
        if let Some(failure) = failed {
            self.close_failed(cx, slot, now, failure);
        }
    }

    /// Notes that a slot has something to write.
    #[inline]
    fn mark(&mut self, slot: Slot) {
        if let Wire::Http2(http2) = &mut self.connections[slot.0 as usize].wire
            && !http2.dirty
            && http2.has_output()
        {
            http2.dirty = true;
            self.dirty.push(slot);
        }
    }

    /// Writes the output of all slots, each with one call.
    #[inline]
    pub(crate) fn flush<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        let count = self.dirty.len();
        for at in 0..count {
            self.flush_slot(cx, self.dirty[at]);
        }
        self.dirty.drain(..count);
    }

    #[inline]
    fn flush_slot<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        let Wire::Http2(http2) = &mut self.connections[slot.0 as usize].wire else {
            return;
        };
        let mut port = Port { io: cx.io, slot };
        match http2.flush(&mut port, cx.handler) {
            Flushed::Written => {}
            Flushed::Freed => self.send_on(cx, slot),
            Flushed::Failed => self.failed_sends.push(slot),
        }
    }

    /// Lets streams send on that waited for output to be written.
    #[cold]
    fn send_on<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        let Wire::Http2(http2) = &mut self.connections[slot.0 as usize].wire else {
            return;
        };
        let mut reading = Reading {
            carriages: &mut self.carriages,
            handler: cx.handler,
            heed: Heed::default(),
            now: cx.io.now(),
        };
        http2.feed(&[], &mut reading);
        let heed = reading.heed;
        self.heed(cx, slot, heed);
    }

    /// Whether there is something to write.
    #[inline]
    pub(crate) fn has_output(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Whether there is something to do before any wait.
    #[inline]
    pub(crate) fn is_pressed(&self) -> bool {
        !self.unread.is_empty() || !self.failed_sends.is_empty() || !self.dirty.is_empty()
    }

    /// Discards the input of a connection that is to be closed.
    fn empty<I: Io>(&mut self, io: &mut I, slot: Slot) {
        for _ in 0..RECEIVES_PER_TURN {
            let limit = self.input.scratch.len() as u64;
            match io.discard(slot, limit, &mut self.input.scratch) {
                Ok(Received::Bytes { .. }) => {}
                // An error of a connection that is given up changes nothing.
                Ok(Received::Nothing | Received::End) | Err(_) => return,
            }
        }
    }

    /// Reads the remaining input of all connections, so that none is closed over unread bytes,
    /// which would reset it.
    pub(crate) fn drain_input<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        for index in 0..self.connections.len() {
            self.receive_frames(cx, Slot(index as u32));
        }
        self.flush(cx);
    }

    /// Fails an exchange that never came to a wire.
    fn fail<H: Handler>(&mut self, handler: &mut H, id: ExchangeId, failure: Failure, now: Nanos) {
        self.carriages[id.index()].clear();
        let failed = Heard::Failed {
            failure,
            seen: Seen::default(),
            resend: Resend::Never,
        };
        handler.heard(id, failed, now);
    }
}
