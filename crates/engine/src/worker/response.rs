//! Readiness and responses.

use super::Worker;
use crate::blame::{During, Failure, coding_outcome, http1_outcome, io_detail, io_failure};
use crate::connection::{Connection, Duty, State};
use crate::decoding::decoder;
use crate::keep_alive::Hint;
use crate::limits::{DISCARD_FROM, RECEIVES_PER_TURN};
use crate::redirect::after_redirect;
use drumfire_http1::{BodyKind, End, Error, Event, Head, Shared};
use drumfire_measure::Outcome;
use drumfire_net::{Io, IoError, Readiness, Received, Slot};
use drumfire_plan::{Expect, KeepAliveHints, Plan, ReusedClosed};
use drumfire_units::Nanos;

/// Where feeding bytes to a response led.
enum Fed {
    /// All bytes are used up, and more are needed.
    More,
    /// `100 Continue`: the body may go out.
    Continue,
    /// The response is over; what came after it is thrown away.
    Over(End),
    /// A proxy has opened a tunnel.
    Tunnel,
}

impl<I: Io> Worker<I> {
    /// A slot has become ready for something.
    #[inline]
    pub(crate) fn on_ready(&mut self, readiness: Readiness) {
        let Slot(slot) = readiness.slot;
        self.slots[slot as usize].peer_closed |= readiness.peer_closed;
        match self.slots[slot as usize].state {
            State::Busy => {
                if readiness.writable && !self.is_written(slot) {
                    self.transmit(slot);
                }
                if readiness.readable {
                    self.receive(slot);
                }
            }
            State::Greeting | State::Open => {
                if readiness.readable {
                    self.receive_frames(slot);
                }
                if readiness.writable {
                    self.flush(slot);
                }
            }
            State::Dialing if readiness.writable => {
                self.on_dialing(slot);
                // What came with the connection has no event of its own either.
                match self.slots[slot as usize].state {
                    State::Busy if readiness.readable => self.receive(slot),
                    State::Greeting if readiness.readable => self.receive_frames(slot),
                    State::Idle if readiness.readable => self.on_unsolicited(slot),
                    _ => {}
                }
            }
            State::Securing => {
                let progress = self.io.handshake(Slot(slot));
                self.on_securing(slot, progress);
                // What came with the end of the handshake has no event of its own.
                if self.slots[slot as usize].state == State::Greeting {
                    self.receive_frames(slot);
                }
            }
            State::Tunneling if readiness.readable => self.receive(slot),
            State::Idle if readiness.readable => self.on_unsolicited(slot),
            _ => {}
        }
    }

    /// Something came on a connection that carries no exchange: its end, or bytes that nobody
    /// asked for. Either way it is of no more use. TLS may have had something to say to itself.
    fn on_unsolicited(&mut self, slot: u32) {
        let mut buffer = std::mem::take(&mut self.buffer);
        if self.io.receive(Slot(slot), &mut buffer) != Ok(Received::Nothing) {
            self.close_connection(slot);
        }
        self.buffer = buffer;
    }

    /// Receives until there is nothing more for now, or this turn's portion is used up.
    pub(crate) fn receive(&mut self, slot: u32) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut left = RECEIVES_PER_TURN;
        while matches!(
            self.slots[slot as usize].state,
            State::Busy | State::Tunneling
        ) {
            if left == 0 {
                self.leave_unread(slot);
                break;
            }
            left -= 1;
            let drained = match self.unseen(slot) {
                Some(remaining) => self.discard(slot, remaining),
                None => self.receive_once(slot, &mut buffer),
            };
            if drained {
                break;
            }
        }
        self.buffer = buffer;
    }

    /// Leaves the rest of what a slot's socket may hold for the next turn.
    pub(crate) fn leave_unread(&mut self, slot: u32) {
        let connection = &mut self.slots[slot as usize];
        if !std::mem::replace(&mut connection.unread, true) {
            self.unread.push(slot);
        }
    }

    /// Goes on with the first slots of those that were not read to the end. One that carries
    /// something else by now has nothing to say, which does no harm.
    pub(crate) fn read_on(&mut self, count: usize) {
        for index in 0..count {
            let slot = self.unread[index];
            self.slots[slot as usize].unread = false;
            if self.slots[slot as usize].link.is_some() {
                self.receive_frames(slot);
            } else {
                self.receive(slot);
            }
        }
        self.unread.drain(..count);
    }

    /// How much of the body may be thrown away unseen.
    #[inline]
    fn unseen(&self, slot: u32) -> Option<u64> {
        let connection = &self.slots[slot as usize];
        connection
            .machine
            .body_remaining()
            .filter(|remaining| *remaining >= DISCARD_FROM && connection.decoder.is_none())
    }

    /// Throws a portion of the body away; `true` when there is nothing more for now.
    fn discard(&mut self, slot: u32, remaining: u64) -> bool {
        match self.io.discard(Slot(slot), remaining, &mut self.scratch) {
            Ok(Received::Bytes { length, drained }) => {
                let now = self.io.now();
                let connection = &mut self.slots[slot as usize];
                connection.exchange.bytes_received += length as u64;
                if let Some(end) = connection.machine.body_discarded(length as u64) {
                    self.over(slot, now, end);
                }
                drained && !self.slots[slot as usize].peer_closed
            }
            Ok(Received::Nothing) => true,
            Ok(Received::End) => self.ended(slot),
            Err(error) => self.broken(slot, error),
        }
    }

    /// One receive and all that it says; `true` when there is nothing more for now.
    #[inline]
    fn receive_once(&mut self, slot: u32, buffer: &mut [u8]) -> bool {
        match self.io.receive(Slot(slot), buffer) {
            Ok(Received::Bytes { length, drained }) => {
                let now = self.io.now();
                let exchange = &mut self.slots[slot as usize].exchange;
                exchange.first_byte = exchange.first_byte.min(now);
                exchange.bytes_received += length as u64;
                self.feed_all(slot, now, &buffer[..length]);
                // The end follows what has come, without an event of its own.
                drained && !self.slots[slot as usize].peer_closed
            }
            Ok(Received::Nothing) => true,
            Ok(Received::End) => self.ended(slot),
            Err(error) => self.broken(slot, error),
        }
    }

    /// Feeds received bytes to the slot's response.
    #[inline]
    fn feed_all(&mut self, slot: u32, now: Nanos, mut input: &[u8]) {
        loop {
            let connection = &mut self.slots[slot as usize];
            let fed = feed(
                connection,
                &self.prepared.plan,
                &mut self.shared,
                &mut input,
            );
            match fed {
                Ok(Fed::More) => return,
                Ok(Fed::Over(end)) => return self.over(slot, now, end),
                Ok(Fed::Continue) => {
                    self.slots[slot as usize].exchange.awaits_continue = false;
                    self.transmit(slot);
                }
                Ok(Fed::Tunnel) => return self.tunnelled(slot, now),
                Err(failing) => return self.broke_off(slot, now, failing),
            }
        }
    }

    /// The response can't be finished.
    fn broke_off(&mut self, slot: u32, now: Nanos, failing: Failure) {
        match self.slots[slot as usize].state {
            State::Tunneling => {
                let reason = failing.1.unwrap_or_else(|| failing.0.words().to_owned());
                self.opening_failed(slot, now, (Outcome::ConnectProxy, Some(reason)));
            }
            _ => self.fail(slot, now, failing),
        }
    }

    /// The peer has closed: completes the response, or fails it. Nothing more will come.
    fn ended(&mut self, slot: u32) -> bool {
        let now = self.io.now();
        let connection = &mut self.slots[slot as usize];
        match connection.machine.handle_end() {
            Ok(Some(end)) => self.over(slot, now, end),
            Ok(None) => self.close_connection(slot),
            Err(error) => {
                let failing = failing(connection, &error);
                self.retry_or_break_off(slot, now, failing);
            }
        }
        true
    }

    /// The connection broke: fails the response. Nothing more will come.
    fn broken(&mut self, slot: u32, error: IoError) -> bool {
        let now = self.io.now();
        let connection = &mut self.slots[slot as usize];
        let outcome = match error {
            IoError::Reset | IoError::BrokenPipe => {
                let error = connection.machine.handle_reset();
                failing(connection, &error)
            }
            // The stream may have been cut: a body that runs to the end is not known to be whole.
            IoError::TlsNoCloseNotify => match connection.machine.handle_end() {
                Err(error) => failing(connection, &error),
                Ok(_) => (
                    Outcome::Truncated,
                    Some("TLS ended without close_notify".to_owned()),
                ),
            },
            // With TLS 1.3 the server judges the client's certificate after the handshake.
            IoError::Refused
            | IoError::TimedOut
            | IoError::Unreachable
            | IoError::TlsAlert(_)
            | IoError::TlsProtocol(_) => io_failure(error, During::Send),
            other => (Outcome::Reset, io_detail(other)),
        };
        self.retry_or_break_off(slot, now, outcome);
        true
    }

    /// Sends an idempotent request once more, on a new connection, where the plan says so and the
    /// kept-alive one turned out to be closed; otherwise the exchange has failed.
    fn retry_or_break_off(&mut self, slot: u32, now: Nanos, failing: Failure) {
        // The server went away before it had the whole request.
        let failing = match failing {
            (Outcome::Closed, hint) if !self.is_written(slot) => (Outcome::Send, hint),
            other => other,
        };
        let wanted = self.prepared.plan.connections.reused_closed == ReusedClosed::Retry;
        let idempotent = self.rendered(slot).idempotent;
        let exchange = &mut self.slots[slot as usize].exchange;
        let again = wanted && idempotent && !exchange.retried;
        if failing.0 != Outcome::ClosedReused || !again {
            return self.broke_off(slot, now, failing);
        }
        exchange.retried = true;
        self.recorder.interval().retried += 1;
        self.close_connection(slot);
        self.dial(slot, now);
    }

    /// A response is complete: judges it, follows it, or records it.
    #[inline]
    fn over(&mut self, slot: u32, now: Nanos, end: End) {
        if self.slots[slot as usize].state == State::Tunneling {
            let reason = Some(format!("the proxy answered with status {}", end.status));
            return self.opening_failed(slot, now, (Outcome::ConnectProxy, reason));
        }
        let connection = &mut self.slots[slot as usize];
        if let Some(next) = connection
            .follow
            .as_mut()
            .and_then(|follow| follow.next.take())
        {
            connection.decoder = None;
            return self.follow(slot, now, end, next);
        }
        let decoded = connection
            .decoder
            .take()
            .map_or(Ok(0), |mut decoder| decoder.finish());
        let verdict = match decoded {
            Err(error) => (coding_outcome(&error), Some(error.to_string())),
            Ok(_) => (judge(self.prepared.plan.expect, end.status), None),
        };
        self.complete(slot, now, end, verdict);
    }
}

/// What a failed machine's error means for the exchange.
fn failing(connection: &Connection, error: &Error) -> Failure {
    let reused = connection.carried > 1 && connection.exchange.bytes_received == 0;
    let outcome = match error {
        Error::Closed | Error::Reset if reused => Outcome::ClosedReused,
        error => http1_outcome(error),
    };
    (outcome, error.hint())
}

/// Whether a complete response is ok.
#[inline]
pub(crate) fn judge(expect: Expect, status: u16) -> Outcome {
    match status {
        100..=599 if expect.accepts(status) => Outcome::Ok,
        100..=599 => Outcome::HttpStatus,
        _ => Outcome::InvalidStatus,
    }
}

/// Feeds bytes until something happens that concerns more than the response itself.
#[inline]
fn feed(
    connection: &mut Connection,
    plan: &Plan,
    shared: &mut Shared,
    input: &mut &[u8],
) -> Result<Fed, Failure> {
    loop {
        let step = match connection.machine.handle_input(input, shared) {
            Ok(step) => step,
            Err(error) => return Err(failing(connection, &error)),
        };
        let taken = step.consumed;
        let fed = match step.event {
            Event::NeedInput => Some(Fed::More),
            Event::Interim(100) if connection.exchange.awaits_continue => Some(Fed::Continue),
            Event::Interim(_) => None,
            Event::Head(head) => on_head(connection, plan, &head)?,
            Event::Body(bytes) => {
                if let Some(decoder) = &mut connection.decoder {
                    let decoded = decoder.push(bytes, &mut |_| {});
                    decoded.map_err(|e| (coding_outcome(&e), Some(e.to_string())))?;
                }
                None
            }
            Event::End(end) => Some(Fed::Over(end)),
        };
        *input = &input[taken..];
        if let Some(fed) = fed {
            return Ok(fed);
        }
    }
}

/// A head may begin a tunnel, a body to decode, or a redirect to follow.
#[inline]
fn on_head(
    connection: &mut Connection,
    plan: &Plan,
    head: &Head<'_>,
) -> Result<Option<Fed>, Failure> {
    if head.body == BodyKind::Tunnel && connection.state == State::Tunneling {
        return Ok(Some(Fed::Tunnel));
    }
    if connection.duty == Duty::None {
        return Ok(None);
    }
    // The head is there: what remains is the time of the whole.
    connection.deadline = connection.exchange.started + plan.timeouts.total;
    // An answer before the body was asked for: the body is not sent any more.
    connection.exchange.awaits_continue = false;
    if plan.connections.hints == KeepAliveHints::Respect
        && let Some(value) = head.headers.find("keep-alive")
    {
        connection.hint = Hint::read(value);
    }
    if head.body != BodyKind::None {
        let coding = || head.headers.find("content-encoding");
        connection.decoder = decoder(plan.http.compressed, coding)?;
    }
    if matches!(head.status, 300..=399) {
        let original = &plan.requests[connection.exchange.request as usize];
        let follow = connection.follow.as_ref();
        let current = follow.and_then(|follow| follow.current.as_ref());
        let current = current.map_or((original, 0), |hop| (&hop.request, hop.number));
        let location = || head.headers.find("location");
        if let Some(next) = after_redirect(plan, current, head.status, location) {
            connection.follow.get_or_insert_default().next = Some(next);
        }
    }
    Ok(None)
}
