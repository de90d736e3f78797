//! Opening a connection: addresses in turn, a proxy's tunnel, TLS, the greeting; and back-off.

use super::{Context, Transport};
use crate::blame::{During, Failure, http1_outcome, io_failure};
use crate::id::{ExchangeId, LaneId, ShareId};
use crate::limits::REDIALS_AT_START;
use crate::timers::{Timers, Wake};
use crate::transport::Seat;
use crate::wire::{Cancelled, Handler, Http1, Http2, Note, Phase, Seen, Wire};
use drumfire_http1::{BodyKind, Event, Machine, Persistence, RequestKind};
use drumfire_measure::{Closing, Outcome};
use drumfire_net::{Io, IoError, Progress, Received, Slot};
use drumfire_plan::{HttpVersion, KeepAlive, Spread};
use drumfire_units::Nanos;

/// A proxy's answer to CONNECT.
enum Tunnel {
    /// Nothing yet.
    Waits,
    Open,
    /// Why there is none.
    Refused(String),
}

impl Transport {
    /// Starts to open a slot's connection, at the first address that accepts the attempt.
    pub(crate) fn dial<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
    ) {
        let connection = &mut self.connections[slot.0 as usize];
        let lane = self.lanes.get(connection.lane);
        connection.tried = 0;
        if lane.settings.spread == Spread::First {
            // Back to the first, which may have returned.
            connection.choice -= connection.choice % lane.route.width() as u32;
        }
        self.dial_next(cx, slot, now);
    }

    /// Tries the lane's addresses from the slot's own choice on, each once.
    fn dial_next<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot, now: Nanos) {
        loop {
            let connection = &mut self.connections[slot.0 as usize];
            let lane = self.lanes.get(connection.lane);
            let limit = lane.settings.connect_limit;
            let choice = lane.choose(connection.choice, now);
            let address = match lane.route.address(choice) {
                Ok(address) => address,
                Err(reason) => {
                    return self.opening_failed(cx, slot, now, Failure::of(reason));
                }
            };
            let result = cx.io.dial(slot, &address);
            connection.phase_start = now;
            connection.peer_closed = false;
            match result {
                Ok(Progress::Done) => return self.connected(cx, slot, now),
                Ok(Progress::Pending) => {
                    connection.wire = Wire::Dialing;
                    return self.set_deadline(slot, now + limit);
                }
                Err(error) => {
                    if !self.try_another(slot, now) {
                        let failure = io_failure(error, During::Connect);
                        return self.opening_failed(cx, slot, now, failure);
                    }
                }
            }
        }
    }

    /// Notes that an address failed; `true` when there is another to try.
    fn try_another(&mut self, slot: Slot, now: Nanos) -> bool {
        let connection = &mut self.connections[slot.0 as usize];
        let lane = self.lanes.get_mut(connection.lane);
        let choice = lane.choose(connection.choice, now);
        connection.choice = choice as u32 + 1;
        connection.tried += 1;
        lane.note_down(choice, now);
        usize::from(connection.tried) < lane.route.width()
    }

    /// A slot that was being dialed has made progress.
    pub(super) fn on_dialing<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot) {
        match cx.io.finish_dial(slot) {
            Ok(Progress::Pending) => {}
            Ok(Progress::Done) => {
                let now = cx.io.now();
                self.connected(cx, slot, now);
            }
            Err(error) => {
                let now = cx.io.now();
                self.close(cx, slot, Closing::Failed);
                if self.try_another(slot, now) {
                    self.dial_next(cx, slot, now);
                } else {
                    self.opening_failed(cx, slot, now, io_failure(error, During::Connect));
                }
            }
        }
    }

    /// The connection is open: a tunnel, TLS, or the exchange is next.
    fn connected<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot, now: Nanos) {
        let connection = &mut self.connections[slot.0 as usize];
        cx.handler
            .note(Note::Connected(now - connection.phase_start));
        connection.phase_start = now;
        let Some(head) = &self.lanes.get(connection.lane).route.tunnel else {
            return self.tunnelled(cx, slot, now);
        };
        // A fresh connection has room for a CONNECT.
        let mut machine = Box::new(Machine::new());
        machine.send(RequestKind::Connect, Persistence::KeepAlive);
        connection.wire = Wire::Tunneling(machine);
        let error = match cx.io.send(slot, head) {
            Ok(sent) if sent == head.len() => return,
            Ok(_) => IoError::Other("the proxy takes no request".to_owned()),
            Err(error) => error,
        };
        let now = cx.io.now();
        self.opening_failed(cx, slot, now, io_failure(error, During::Connect));
    }

    /// Reads a proxy's answer to CONNECT.
    pub(super) fn receive_tunnel<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
    ) {
        let Wire::Tunneling(machine) = &mut self.connections[slot.0 as usize].wire else {
            return;
        };
        let tunnel = loop {
            let received = cx.io.receive(slot, &mut self.input.buffer);
            let tunnel = match received {
                Ok(Received::Bytes { length, .. }) => {
                    let bytes = &self.input.buffer[..length];
                    read_tunnel(machine, bytes, &mut self.input.shared)
                }
                Ok(Received::Nothing) => break Tunnel::Waits,
                Ok(Received::End) => refused_by_end(machine),
                Err(error) => Tunnel::Refused(words_of(error)),
            };
            if !matches!(tunnel, Tunnel::Waits) {
                break tunnel;
            }
        };
        let now = cx.io.now();
        match tunnel {
            Tunnel::Waits => {}
            Tunnel::Open => self.tunnelled(cx, slot, now),
            Tunnel::Refused(reason) => {
                let failure = Failure::with(Outcome::ConnectProxy, reason);
                self.opening_failed(cx, slot, now, failure);
            }
        }
    }

    /// The way to the origin is open.
    fn tunnelled<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot, now: Nanos) {
        let connection = &mut self.connections[slot.0 as usize];
        connection.phase_start = now;
        let lane = self.lanes.get(connection.lane);
        let Some(config) = lane.route.tls else {
            return self.opened(cx, slot, now);
        };
        connection.wire = Wire::Securing;
        let limit = lane.settings.tls_limit;
        self.set_deadline(slot, now + limit);
        let progress = cx.io.start_tls(slot, config);
        self.on_securing(cx, slot, progress);
    }

    /// A handshake has made progress.
    pub(super) fn on_securing<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        progress: Result<Progress, IoError>,
    ) {
        match progress {
            Ok(Progress::Pending) => {}
            Ok(Progress::Done) => {
                let now = cx.io.now();
                let connection = &self.connections[slot.0 as usize];
                cx.handler.note(Note::Secured(now - connection.phase_start));
                let version = self.lanes.get(connection.lane).settings.version;
                if version == HttpVersion::Http2 && !cx.io.agreed(slot, b"h2") {
                    let failure = Failure::of(Outcome::TlsAlpn);
                    return self.opening_failed(cx, slot, now, failure);
                }
                self.opened(cx, slot, now);
            }
            Err(error) => {
                let now = cx.io.now();
                self.opening_failed(cx, slot, now, io_failure(error, During::Tls));
            }
        }
    }

    /// The connection can carry exchanges, or greets the server first.
    fn opened<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, slot: Slot, now: Nanos) {
        let connection = &mut self.connections[slot.0 as usize];
        let settings = &self.lanes.get(connection.lane).settings;
        let share = connection.share;
        connection.phase_start = now;
        match settings.version {
            HttpVersion::Http1 => {
                connection.wire = Wire::Http1(Http1::new());
                connection.failures = 0;
                connection.freed = now;
                connection.deadline = Nanos::MAX;
                self.give_withheld_seat(slot, now);
                self.fill(cx, share, now);
            }
            HttpVersion::Http2 => {
                connection.wire = Wire::Http2(Box::new(Http2::new(settings)));
                let limit = settings.connect_limit;
                self.set_deadline(slot, now + limit);
                self.flush_slot(cx, slot);
            }
        }
    }

    /// Gives out the seat of a connection that was opened in advance and not in time.
    pub(super) fn give_withheld_seat(&mut self, slot: Slot, since: Nanos) {
        let connection = &mut self.connections[slot.0 as usize];
        if std::mem::take(&mut connection.withholds_seat) {
            let share = connection.share;
            let lane = connection.lane;
            self.lanes.get_mut(lane).give(Seat { share, since });
        }
    }

    /// The connection can't be opened: the exchanges that wait for it fail, and the slot rests
    /// before it dials again.
    pub(super) fn opening_failed<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
        failure: Failure,
    ) {
        self.close(cx, slot, Closing::Failed);
        self.rest(cx, slot, now);
        let share = self.connection(slot).share;
        if self.shares[share.index()].slot == slot {
            self.fail_waiting(cx, share, &failure, now);
        }
    }

    /// The time for opening a connection is up.
    pub(super) fn opening_timed_out<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
    ) {
        let outcome = self.opening_timeout(slot);
        if outcome == Outcome::TimeoutConnect && self.try_another(slot, now) {
            self.close(cx, slot, Closing::Failed);
            return self.dial_next(cx, slot, now);
        }
        self.opening_failed(cx, slot, now, Failure::of(outcome));
    }

    /// The outcome of a timeout while the connection is being opened.
    fn opening_timeout(&mut self, slot: Slot) -> Outcome {
        match self.connection(slot).wire {
            Wire::Securing => Outcome::TimeoutTls,
            _ => Outcome::TimeoutConnect,
        }
    }

    /// Takes an exchange out of those that wait. A connection that is being opened for it alone is
    /// given up.
    pub(super) fn cancel_waiting<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        share: ShareId,
        now: Nanos,
    ) -> Cancelled {
        let waiting = &mut self.shares[share.index()];
        waiting.waiting.retain(|other| *other != id);
        let (slot, lane) = (waiting.slot, waiting.lane);
        let mut opening = None;
        if self.lanes.get(lane).settings.is_exclusive() && self.connection(slot).is_opening() {
            opening = Some(self.opening_timeout(slot));
            self.try_another(slot, now);
            self.close(cx, slot, Closing::Failed);
            self.rest(cx, slot, now);
        }
        Cancelled {
            phase: Phase::Waiting,
            seen: Seen::default(),
            opening,
        }
    }

    /// Dials slots from `next` on, `at_once` of them at a time; `true` when all are open or have
    /// failed.
    pub(crate) fn open_more<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        next: &mut usize,
        at_once: usize,
    ) -> bool {
        if !self.keeps_connections() {
            return true;
        }
        let dialed = self.connections[..*next].iter();
        let mut under_way = dialed.filter(|slot| slot.is_opening()).count();
        let now = cx.io.now();
        while *next < self.connections.len() && under_way < at_once {
            self.dial(cx, Slot(*next as u32), now);
            *next += 1;
            under_way += 1;
        }
        *next == self.connections.len() && under_way == 0
    }

    /// Whether a slot's connection is being opened and its handshake is not over.
    pub(crate) fn is_unsecured(&self, slot: Slot) -> bool {
        let wire = &self.connections[slot.0 as usize].wire;
        matches!(wire, Wire::Dialing | Wire::Tunneling(_) | Wire::Securing)
    }

    /// Whether a slot's connection has come to speak HTTP/2.
    pub(crate) fn speaks_http2(&self, slot: Slot) -> bool {
        matches!(self.connections[slot.0 as usize].wire, Wire::Http2(_))
    }

    /// Lists the free seats, in turn over the connections; of connections that carry one exchange,
    /// the open ones first.
    pub(crate) fn list_seats(&mut self) {
        for id in self.lanes.ids() {
            let shares = self.lanes.get(id).shares().to_vec();
            let lane = self.lanes.get_mut(id);
            let streams = lane.settings.streams as usize;
            lane.clear_seats(shares.len() * streams + 1);
            let since = Nanos::ZERO;
            if !lane.settings.is_exclusive() {
                for _ in 0..streams {
                    for share in &shares {
                        let share = *share;
                        lane.give(Seat { share, since });
                    }
                }
                continue;
            }
            let (mut open, mut empty) = (Vec::new(), Vec::new());
            for share in shares {
                let slot = self.shares[share.index()].slot;
                let connection = &mut self.connections[slot.0 as usize];
                match connection.wire {
                    Wire::Http1(_) => open.push(share),
                    // Those that failed are dialed one after the other, but for the first.
                    Wire::Empty if connection.failures > 0 && empty.len() >= REDIALS_AT_START => {
                        connection.withholds_seat = true;
                    }
                    Wire::Empty => empty.push(share),
                    _ => connection.withholds_seat = true,
                }
            }
            for share in open.into_iter().chain(empty) {
                lane.give(Seat { share, since });
            }
        }
    }

    /// Whether connections are kept, so that it helps to open them before the run.
    fn keeps_connections(&self) -> bool {
        self.lanes
            .iter()
            .any(|(_, lane)| lane.settings.keep_alive != KeepAlive::No)
    }

    /// All times count from the run's start from now on.
    pub(crate) fn begin_run(&mut self, timers: &mut Timers) {
        self.next_scan = Nanos::MAX;
        for id in self.lanes.ids() {
            self.lanes.get_mut(id).begin_run();
        }
        for index in 0..self.connections.len() {
            let connection = &mut self.connections[index];
            connection.freed = Nanos::ZERO;
            connection.rest_until = Nanos::ZERO;
            connection.phase_start = Nanos::ZERO;
            let slot = Slot(index as u32);
            if connection.withholds_seat && matches!(connection.wire, Wire::Empty) {
                connection.rest_until = self.lanes.get_mut(connection.lane).next_redial();
                timers.at(connection.rest_until, Wake::Dial(slot));
            }
            if matches!(&connection.wire, Wire::Http2(http2) if http2.is_ready()) {
                self.watch(slot, Nanos::ZERO);
            } else if connection.deadline != Nanos::MAX {
                let limit = self.lanes.get(connection.lane).settings.connect_limit;
                self.set_deadline(slot, limit);
            }
        }
    }

    /// Where a share's exchange goes elsewhere: the share that serves it there. A connection that
    /// carried the exchange alone is closed, for nothing else uses it meanwhile.
    pub(crate) fn redirect_share<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        home: ShareId,
        lane: LaneId,
    ) -> ShareId {
        if lane == self.lane_of(home) {
            return home;
        }
        let exclusive = self.lanes.get(lane).settings.is_exclusive();
        if exclusive {
            let slot = self.shares[home.index()].slot;
            self.close(cx, slot, Closing::Redirected);
        }
        let known = self.shares[home.index()].redirect_shares.iter().copied();
        let fits = |share: &ShareId| exclusive || self.shares[share.index()].lane == lane;
        if let Some(share) = known.into_iter().find(fits) {
            let slot = self.shares[share.index()].slot;
            self.close_unless_on(cx, slot, lane);
            self.shares[share.index()].lane = lane;
            return share;
        }
        let number = self.shares[home.index()].number;
        let share = self.add_share(lane, number, home.0);
        self.shares[home.index()].redirect_shares.push(share);
        share
    }

    /// Leads a slot to another lane.
    fn close_unless_on<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        lane: LaneId,
    ) {
        if self.connection(slot).lane != lane {
            self.close(cx, slot, Closing::Redirected);
            self.connection(slot).lane = lane;
        }
    }
}

/// Feeds a proxy's answer to its reader.
fn read_tunnel(
    machine: &mut Machine,
    mut bytes: &[u8],
    shared: &mut drumfire_http1::Shared,
) -> Tunnel {
    loop {
        let step = match machine.handle_input(bytes, shared) {
            Ok(step) => step,
            Err(error) => return Tunnel::Refused(refusal(&error)),
        };
        bytes = &bytes[step.consumed..];
        match step.event {
            Event::NeedInput => return Tunnel::Waits,
            Event::Head(head) if head.body == BodyKind::Tunnel => return Tunnel::Open,
            Event::End(end) => {
                let status = end.status;
                return Tunnel::Refused(format!("the proxy answered with status {status}"));
            }
            Event::Interim(_) | Event::Head(_) | Event::Body(_) => {}
        }
    }
}

/// A proxy closed the connection.
fn refused_by_end(machine: &mut Machine) -> Tunnel {
    match machine.handle_end() {
        Ok(Some(end)) => {
            let status = end.status;
            Tunnel::Refused(format!("the proxy answered with status {status}"))
        }
        Ok(None) => Tunnel::Refused(Outcome::Closed.words().to_owned()),
        Err(error) => Tunnel::Refused(refusal(&error)),
    }
}

fn refusal(error: &drumfire_http1::Error) -> String {
    let words = || http1_outcome(error).words().to_owned();
    error.hint().unwrap_or_else(words)
}

fn words_of(error: IoError) -> String {
    let failure = io_failure(error, During::Send);
    let words = failure.outcome.words().to_owned();
    failure.detail.unwrap_or(words)
}
