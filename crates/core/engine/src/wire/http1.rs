//! HTTP/1.1 on a connection: one exchange at a time, whose bytes are a slice of the prepared
//! request.
//!
//! The wire joins two independent halves. [`Sending`] writes the request, in as many pieces as the
//! socket requires; the [`Machine`] reads the response, which may begin before the request is
//! completely written, and may then end the exchange. The connection is reused only if both are
//! complete, the peer stays, and neither side requested the close (RFC 9112 section 9.3).
//!
//! Requests are not pipelined. Bytes that arrive without a running exchange close the connection
//! instead of being read as the next response ([`refuse_input`]). A large body that is not needed
//! is discarded in the kernel, without being copied to this process.
//!
//! If a reused connection fails just as a request is sent, before any byte of the response, the
//! cause is the race between a server that closes an idle connection and the next request (RFC 9112
//! section 9.3.1). Only such a request may be repeated. A later end is not this race: the server
//! may have processed the request until then.

mod sending;

use self::sending::Sending;
pub(super) use self::sending::note_departure;
use super::answers::{BrokenSend, Dropped, Expiry, Flow, Outgoing, Read, Submitted};
use super::contract::WireProtocol;
use super::fields::Fields;
use super::handler::{Ahead, End as WholeEnd, Handler, Resend, Seen, Then, Whole, WireEvent};
use super::port::{Input, Port};
use super::settings::{Lent, Patience, Settings, Terms};
use super::underway::{Handle, Underway};
use crate::blame::{During, Failure, http1_outcome, io_detail, io_failure};
use crate::id::ExchangeId;
use crate::keep_alive::Hint;
use crate::leniency::leniencies;
use crate::limits::{DISCARD_FROM, RACE_MIN, RACE_ROUND_TRIPS, RECEIVES_PER_TURN};
use drumfire_http1::{BodyKind, End, Error, Event, Head, Machine, Notice, Persistence};
use drumfire_measure::{Cause, Closing, Detail, Outcome};
use drumfire_net::{Io, IoError, Received};
use drumfire_plan::TlsEnd;
use drumfire_units::Nanos;

/// One connection that speaks HTTP/1.1.
#[derive(Debug)]
pub(crate) struct Http1 {
    machine: Machine,
    exchange: Option<ExchangeId>,
    sending: Sending,
    /// Whether any byte of the current response has arrived.
    answered: bool,
    /// The number of requests sent on the connection.
    carried: u64,
    /// The server's last `Keep-Alive` field.
    hint: Hint,
    /// The time at which the current exchange was sent; without one, the time at which the last
    /// exchange ended or the connection was opened.
    since: Nanos,
    /// If the connection ends within this time after a request was sent, the end was on its way
    /// already.
    race: Nanos,
}

impl Http1 {
    /// A connection that has carried nothing; `connect` is the time to connect.
    pub(super) fn new(now: Nanos, connect: Nanos) -> Self {
        Self {
            machine: Machine::new(),
            exchange: None,
            sending: Sending::NOTHING,
            answered: false,
            carried: 0,
            hint: Hint::NONE,
            since: now,
            race: RACE_MIN.max(Nanos(connect.0.saturating_mul(RACE_ROUND_TRIPS))),
        }
    }
}

impl WireProtocol for Http1 {
    #[inline]
    fn is_stale(&self, now: Nanos) -> bool {
        self.hint.is_stale(now - self.since)
    }

    #[inline]
    fn is_idle(&self) -> bool {
        self.exchange.is_none()
    }

    fn carried(&self) -> u64 {
        self.carried
    }

    fn outstanding(&self) -> Vec<ExchangeId> {
        self.exchange.into_iter().collect()
    }

    #[inline]
    fn outgoing(&self) -> Outgoing {
        match self.exchange {
            Some(_) => self.sending.outgoing(),
            None => Outgoing::Nothing,
        }
    }

    fn first_look(&mut self, patience: Patience, now: Nanos) -> Nanos {
        self.since = now;
        patience.idle_at(now).unwrap_or(Nanos::MAX)
    }

    /// Sends an exchange's request.
    #[inline(always)]
    fn submit<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        id: ExchangeId,
        lent: Lent<'_>,
        handler: &mut H,
        _now: Nanos,
    ) -> Submitted {
        let settings = lent.settings;
        let persistence = match settings.keeps_connections() {
            true => Persistence::KeepAlive,
            false => Persistence::Close,
        };
        let now = port.now();
        handler.sent(id, now);
        let Some(message) = handler.message(id) else {
            return Submitted::GivenUp;
        };
        let due = self
            .sending
            .begin_request(message, settings.continue_by(now));
        self.machine.send(message.kind, persistence);
        let first = self.sending.write_first(port, message);
        self.exchange = Some(id);
        self.since = now;
        self.carried += 1;
        self.answered = false;
        self.sending.go_on(port, id, first, handler, now);
        Submitted::Carried {
            handle: Handle::Connection,
            due,
        }
    }

    fn cancel(&mut self, _id: ExchangeId, _handle: Handle) -> Dropped {
        self.exchange = None;
        Dropped::Connection(self.seen())
    }

    /// Writes what the socket has room for.
    #[inline]
    fn handle_writable<I: Io, H: Handler>(&mut self, port: &mut Port<'_, I>, handler: &mut H) {
        if !self.sending.is_written()
            && let Some(id) = self.exchange
        {
            let now = port.now();
            self.sending.write(port, id, handler, now);
        }
    }

    /// Fails the exchange whose send failed, unless bytes that the server sent before have ended
    /// it.
    fn fail_sends<H: Handler>(
        &mut self,
        underway: &mut Underway,
        handler: &mut H,
        now: Nanos,
    ) -> Option<BrokenSend> {
        let id = self.exchange?;
        let failure = self.sending.take_failure()?;
        let is_bare = failure.detail.is_none();
        let (failure, resend) = match failure.outcome {
            Outcome::Send | Outcome::Reset if is_bare && self.is_race(now) => (
                Failure::from_outcome(Outcome::ClosedReused),
                Resend::Idempotent,
            ),
            _ => (failure, Resend::Never),
        };
        self.fail(failure, resend, handler, now);
        underway.clear(id);
        Some(BrokenSend::Close(Closing::Reset))
    }

    /// Sends a body that has waited long enough for `100 Continue`, and reports an idle connection.
    fn handle_timeout<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        patience: Patience,
        handler: &mut H,
        now: Nanos,
    ) -> Expiry {
        let Some(id) = self.exchange else {
            return patience.expiry(self.since, now);
        };
        if self.sending.patient_until() <= now {
            self.sending.send_body(port, id, handler, now);
        }
        let idle_at = patience.idle_at(now).unwrap_or(Nanos::MAX);
        Expiry::Until(idle_at.min(self.sending.patient_until()))
    }

    /// Receives until no more bytes are available, the exchange is over, or this turn's portion is
    /// used up.
    #[inline(always)]
    fn receive<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        terms: &Terms<'_>,
        underway: &mut Underway,
        handler: &mut H,
    ) -> Read {
        let Some(id) = self.exchange else {
            return refuse_input(port, input);
        };
        let read = self.receive_response(port, input, terms, handler, id);
        if self.exchange.is_none() {
            underway.clear(id);
        }
        read
    }
}

impl Http1 {
    fn seen(&self) -> Seen {
        Seen::new(self.machine.status(), leniencies(self.machine.notices()))
    }

    #[inline(always)]
    fn receive_response<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        terms: &Terms<'_>,
        handler: &mut H,
        id: ExchangeId,
    ) -> Read {
        for _ in 0..RECEIVES_PER_TURN {
            let read = match self.unread(id, handler) {
                Some(remaining) => self.discard(port, input, terms, handler, remaining),
                None => self.receive_once(port, input, terms, handler, id),
            };
            if let Some(read) = read {
                return read;
            }
        }
        Read {
            flow: Flow::Busy,
            unread: true,
        }
    }

    /// The number of bytes of the body that may be discarded unread; `None` if this does not pay or
    /// the bytes are needed.
    #[inline]
    fn unread<H: Handler>(&self, id: ExchangeId, handler: &H) -> Option<u64> {
        self.machine
            .body_remaining()
            .filter(|remaining| *remaining >= DISCARD_FROM && !handler.reads_body(id))
    }

    /// Discards a portion of the body. Returns the result of the read, or `None` if there may be
    /// more to receive.
    fn discard<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        terms: &Terms<'_>,
        handler: &mut H,
        remaining: u64,
    ) -> Option<Read> {
        match input.discard(port, remaining) {
            Ok(Received::Bytes {
                length,
                drained,
                arrived,
            }) => {
                let now = port.time_of(arrived);
                if let Some(id) = self.exchange {
                    handler.received(id, length, now);
                }
                let end = self.machine.body_discarded(length as u64);
                let flow = end.map(|end| self.over(end, terms, handler, now));
                read(flow, drained, terms)
            }
            other => Some(self.stopped(port, other, terms, handler)),
        }
    }

    /// Receives once, and handles all events. Returns the result as [`Self::discard`] does.
    #[inline(always)]
    fn receive_once<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        terms: &Terms<'_>,
        handler: &mut H,
        id: ExchangeId,
    ) -> Option<Read> {
        match input.receive(port) {
            Ok(Received::Bytes {
                length,
                drained,
                arrived,
            }) => {
                let now = port.time_of(arrived);
                if arrived.is_some() && !self.answered {
                    note_departure(port, id, handler);
                }
                self.answered = true;
                handler.received(id, length, now);
                let flow = self.feed(port, input, terms, handler, now);
                read(flow, drained, terms)
            }
            other => Some(self.stopped(port, other, terms, handler)),
        }
    }

    /// Ends a series of receives after one without bytes.
    #[cold]
    fn stopped<I: Io, H: Handler>(
        &mut self,
        port: &Port<'_, I>,
        received: Result<Received, IoError>,
        terms: &Terms<'_>,
        handler: &mut H,
    ) -> Read {
        let flow = match received {
            Ok(Received::Bytes { .. } | Received::Nothing) => Flow::Busy,
            Ok(Received::End) => {
                let ended = self.machine.handle_end();
                self.ended(ended, port, terms, handler)
            }
            Err(IoError::TlsNoCloseNotify) if terms.settings.tls_end == TlsEnd::Any => {
                let ended = self.machine.handle_unconfirmed_end();
                self.ended(ended, port, terms, handler)
            }
            Err(error) => self.receive_failed(error, port, handler),
        };
        Read {
            flow,
            unread: false,
        }
    }

    /// Passes received bytes to the response; `None` if it needs more.
    #[inline(always)]
    fn feed<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        terms: &Terms<'_>,
        handler: &mut H,
        now: Nanos,
    ) -> Option<Flow> {
        let id = self.exchange?;
        let (mut rest, shared) = input.received();
        if let Some(whole) = self.machine.whole(rest, shared) {
            self.exchange = None;
            self.sending.keep_body_back();
            read_hint(&mut self.hint, &whole.head, terms.settings);
            let then = handler.whole(id, &whole_response(&whole), now);
            if then == Then::GiveUp {
                return Some(Flow::Close(Closing::Failed));
            }
            return Some(self.free(&whole.end, terms, now));
        }
        loop {
            let step = match self.machine.handle_input(rest, shared) {
                Ok(step) => step,
                Err(error) => {
                    let failure = self.failure_of(&error, now);
                    return Some(self.fail(failure, Resend::Never, handler, now));
                }
            };
            rest = &rest[step.consumed..];
            let then = match step.event {
                Event::NeedInput => return None,
                Event::Interim(100) if self.sending.awaits_continue => {
                    let now = port.now();
                    self.sending.send_body(port, id, handler, now);
                    handler.on_event(id, WireEvent::Interim, now)
                }
                Event::Interim(_) => handler.on_event(id, WireEvent::Interim, now),
                Event::Head(head) => {
                    self.sending.keep_body_back();
                    read_hint(&mut self.hint, &head, terms.settings);
                    handler.on_event(id, head_event(&head), now)
                }
                Event::Body(bytes) => {
                    handler.on_event(id, WireEvent::Data { bytes, end: false }, now)
                }
                Event::End(end) => return Some(self.over(end, terms, handler, now)),
            };
            if then != Then::GoOn {
                self.exchange = None;
                return Some(Flow::Close(Closing::Failed));
            }
        }
    }

    /// Ends the exchange whose response is complete.
    #[inline]
    fn over<H: Handler>(
        &mut self,
        end: End,
        terms: &Terms<'_>,
        handler: &mut H,
        now: Nanos,
    ) -> Flow {
        if let Some(id) = self.exchange.take() {
            let leniencies = leniencies(end.notices);
            handler.on_event(id, WireEvent::End { leniencies }, now);
        }
        self.free(&end, terms, now)
    }

    /// Makes the connection free after a complete response, or ends it.
    #[inline]
    fn free(&mut self, end: &End, terms: &Terms<'_>, now: Nanos) -> Flow {
        let spent = self.carried >= terms.settings.carried_max;
        let leaving = terms.leaving;
        let ends = spent || terms.peer_closed || leaving.is_some() || self.hint.is_used_up();
        if end.reusable && self.sending.is_written() && !ends {
            self.since = now;
            return Flow::Room { since: None };
        }
        Flow::Close(if spent {
            Closing::Spent
        } else if let Some(why) = leaving {
            why
        } else if end.notices.contains(Notice::Excess) {
            Closing::Discarded
        } else if end.reusable && terms.peer_closed {
            Closing::Peer
        } else {
            // Whether the close itself was read together with the response is chance.
            Closing::Announced
        })
    }

    /// Completes the response after the peer has closed, or fails it: a body without a length ends
    /// with the connection.
    fn ended<I: Io, H: Handler>(
        &mut self,
        ended: Result<Option<End>, Error>,
        port: &Port<'_, I>,
        terms: &Terms<'_>,
        handler: &mut H,
    ) -> Flow {
        let now = port.now();
        let flow = match ended {
            Ok(Some(end)) => match self.over(end, terms, handler, now) {
                // The end of the connection was the end of the body.
                Flow::Close(Closing::Announced) => Flow::Close(Closing::Peer),
                flow => flow,
            },
            Ok(None) => Flow::Close(Closing::Peer),
            Err(error) => {
                let failure = self.failure_of(&error, now);
                let failure = self.unanswered(failure, port);
                self.fail(failure, Resend::Idempotent, handler, now)
            }
        };
        match flow {
            Flow::Close(_) => Flow::Close(Closing::Peer),
            flow => flow,
        }
    }

    /// Fails the response if the connection could not be read.
    fn receive_failed<I: Io, H: Handler>(
        &mut self,
        error: IoError,
        port: &Port<'_, I>,
        handler: &mut H,
    ) -> Flow {
        let now = port.now();
        let is_reset = matches!(error, IoError::Reset | IoError::BrokenPipe);
        let failure = match error {
            IoError::Reset | IoError::BrokenPipe => {
                let error = self.machine.handle_reset();
                self.failure_of(&error, now)
            }
            // The stream may have been cut: a body that ends with the connection may be incomplete.
            IoError::TlsNoCloseNotify | IoError::TlsCut => match self.machine.handle_end() {
                Err(error) => self.failure_of(&error, now),
                Ok(_) => {
                    let text = "TLS ended without close_notify";
                    let detail = Detail::new(text, Some(Cause::NoCloseNotify));
                    Failure::with(Outcome::Truncated, detail)
                }
            },
            // With TLS 1.3 the server checks the client's certificate after the handshake.
            IoError::Refused
            | IoError::TimedOut
            | IoError::Unreachable
            | IoError::TlsAlert(_)
            | IoError::TlsProtocol(_)
            | IoError::TlsVersion => io_failure(error, During::Send),
            other => Failure {
                outcome: Outcome::Reset,
                detail: io_detail(other),
            },
        };
        let failure = self.unanswered(failure, port);
        let flow = self.fail(failure, Resend::Idempotent, handler, now);
        match is_reset {
            true => Flow::Close(Closing::Reset),
            false => flow,
        }
    }

    /// Whether the connection had been idle before its exchange, and no byte of a response has
    /// arrived.
    const fn is_reused(&self) -> bool {
        self.carried > 1 && !self.answered
    }

    /// Whether an end of the connection at `now` was on its way when the request was sent.
    fn is_race(&self, now: Nanos) -> bool {
        self.is_reused() && now - self.since <= self.race
    }

    /// Adds information from the handshake to the failure of a connection's first exchange, if the
    /// server has answered nothing.
    fn unanswered<I: Io>(&self, failure: Failure, port: &Port<'_, I>) -> Failure {
        match self.carried <= 1 && !self.answered {
            true => port.explain(failure),
            false => failure,
        }
    }

    /// The failure of the exchange for an error of the machine.
    fn failure_of(&self, error: &Error, now: Nanos) -> Failure {
        let outcome = match error {
            Error::Closed | Error::Reset if self.is_race(now) => Outcome::ClosedReused,
            error => http1_outcome(error),
        };
        Failure {
            outcome,
            detail: error.hint().map(Detail::from),
        }
    }

    fn fail<H: Handler>(
        &mut self,
        mut failure: Failure,
        resend: Resend,
        handler: &mut H,
        now: Nanos,
    ) -> Flow {
        // The server closed before it had the whole request.
        if resend == Resend::Idempotent
            && failure.outcome == Outcome::Closed
            && !self.sending.is_written()
        {
            failure.outcome = Outcome::Send;
        }
        let resend = match failure.outcome {
            Outcome::ClosedReused => resend,
            Outcome::Closed | Outcome::Reset if self.is_reused() => Resend::Reused,
            _ => Resend::Never,
        };
        if let Some(id) = self.exchange.take() {
            let seen = self.seen();
            let failed = WireEvent::Failed {
                failure,
                seen,
                resend,
            };
            handler.on_event(id, failed, now);
        }
        Flow::Close(Closing::Failed)
    }
}

/// The result of a receive with bytes, including the end of the exchange if they complete it;
/// `None` if there may be more to receive. The peer's end follows the received bytes without a
/// separate event.
#[inline(always)]
fn read(flow: Option<Flow>, drained: bool, terms: &Terms<'_>) -> Option<Read> {
    match flow {
        Some(flow) => Some(Read {
            flow,
            unread: !drained,
        }),
        None if drained && !terms.peer_closed => Some(Read {
            flow: Flow::Busy,
            unread: false,
        }),
        None => None,
    }
}

/// A head in the form that handlers take.
#[inline]
fn head_event<'a>(head: &Head<'a>) -> WireEvent<'a> {
    WireEvent::Head {
        status: head.status,
        fields: Fields::from(head.headers),
        ahead: ahead(head),
    }
}

/// A whole response in the form that handlers take.
#[inline]
fn whole_response<'a>(whole: &drumfire_http1::Whole<'a>) -> Whole<'a> {
    Whole {
        status: whole.head.status,
        fields: Fields::from(whole.head.headers),
        ahead: ahead(&whole.head),
        body: whole.body,
        end: WholeEnd::Message(leniencies(whole.end.notices)),
    }
}

#[inline]
fn ahead(head: &Head<'_>) -> Ahead {
    match head.body {
        BodyKind::None => Ahead::NoBody,
        _ => Ahead::Body,
    }
}

/// Reads the server's `Keep-Alive` field, if the plan respects it.
#[inline]
fn read_hint(hint: &mut Hint, head: &Head<'_>, settings: &Settings) {
    if settings.obeys_hints()
        && let Some(value) = head.headers.find("keep-alive")
    {
        *hint = Hint::read(value);
    }
}

/// Closes a connection that received something while it carries no exchange: its end, or
/// unrequested bytes. TLS's own messages leave nothing to receive.
#[cold]
pub(super) fn refuse_input<I: Io>(port: &mut Port<'_, I>, input: &mut Input) -> Read {
    let flow = match input.receive(port) {
        Ok(Received::Nothing) => Flow::Busy,
        Ok(Received::Bytes { .. }) => Flow::Close(Closing::Failed),
        Ok(Received::End) | Err(IoError::TlsNoCloseNotify | IoError::TlsCut) => {
            Flow::Close(Closing::Peer)
        }
        Err(_) => Flow::Close(Closing::Reset),
    };
    Read {
        flow,
        unread: false,
    }
}
