//! HTTP/1.1 on a connection: one exchange at a time, whose bytes are a slice of the prepared
//! request.

use super::{
    Ahead, End as WholeEnd, Fields, Handler, Input, Port, Resend, Seen, Settings, Then, Whole,
    WireEvent,
};
use crate::blame::{During, Failure, http1_outcome, io_detail, io_failure};
use crate::id::ExchangeId;
use crate::keep_alive::Hint;
use crate::leniency::leniencies;
use crate::limits::{DISCARD_FROM, RECEIVES_PER_TURN};
use crate::prepare::Rendered;
use drumfire_http1::{BodyKind, End, Error, Event, Head, Machine, Persistence};
use drumfire_measure::{Closing, Outcome};
use drumfire_net::{Io, IoError, Received};
use drumfire_plan::{ExpectContinue, KeepAlive, KeepAliveHints};
use drumfire_units::Nanos;

/// One connection that speaks HTTP/1.1.
#[derive(Debug)]
pub(crate) struct Http1 {
    machine: Machine,
    exchange: Option<ExchangeId>,
    /// How many of the request's bytes are still to be written.
    unwritten: usize,
    /// Whether the body waits for `100 Continue`.
    awaits_continue: bool,
    /// Whether any byte of the response has come.
    answered: bool,
    /// Requests sent on it.
    carried: u64,
    /// The server's `Keep-Alive` field.
    hint: Hint,
    /// Why it is closed, where [`Fate::Close`] says that it is.
    closing: Closing,
    /// Why a send failed; bytes that the server sent before that are still to be read.
    send_failure: Option<Box<Failure>>,
}

/// The connection's state after a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It waits for the rest of a response.
    Waits,
    /// The exchange is over, and it may carry another.
    Free,
    /// It can't be used any more.
    Close,
}

/// The result of one receive.
enum Step {
    /// There may be more.
    More,
    /// There is nothing more for now.
    Drained,
    /// The exchange is over.
    Done(Fate),
}

/// How the request is written and its response read: the parameters that the connection itself does
/// not own.
pub(crate) struct Terms<'a> {
    pub(crate) settings: &'a Settings,
    /// Whether the peer has finished sending: the end follows without an event of its own, and the
    /// connection carries no other request.
    pub(crate) peer_closed: bool,
    /// Why it is closed after the exchange, regardless of the response, if it is.
    pub(crate) leaving: Option<Closing>,
}

impl Http1 {
    /// A connection that has carried nothing.
    pub(crate) const fn new() -> Self {
        Self {
            machine: Machine::new(),
            exchange: None,
            unwritten: 0,
            awaits_continue: false,
            answered: false,
            carried: 0,
            hint: Hint::NONE,
            closing: Closing::Failed,
            send_failure: None,
        }
    }

    /// The exchange that it carries.
    #[inline]
    pub(crate) const fn exchange(&self) -> Option<ExchangeId> {
        self.exchange
    }

    /// Requests sent on it.
    pub(crate) const fn carried(&self) -> u64 {
        self.carried
    }

    /// Why it is closed, where [`Fate::Close`] says that it is.
    pub(crate) const fn closing(&self) -> Closing {
        self.closing
    }

    /// Whether the whole request is written.
    #[inline]
    pub(crate) const fn is_written(&self) -> bool {
        self.unwritten == 0
    }

    /// Whether the server may already have closed a connection that was idle for this long.
    #[inline]
    pub(crate) fn is_stale(&self, idle: Nanos) -> bool {
        self.hint.is_stale(idle)
    }

    /// Whether a send has failed and the exchange is not over.
    #[inline]
    pub(crate) const fn has_failed_send(&self) -> bool {
        self.send_failure.is_some() && self.exchange.is_some()
    }

    /// Sends an exchange's request. Gives the time by which a body that waits for `100 Continue`
    /// is sent without it; [`Nanos::MAX`] where none waits.
    #[inline(always)]
    pub(crate) fn begin<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        id: ExchangeId,
        settings: &Settings,
        handler: &mut H,
    ) -> Nanos {
        let persistence = match settings.keep_alive {
            KeepAlive::No => Persistence::Close,
            KeepAlive::Yes | KeepAlive::AtMost(_) => Persistence::KeepAlive,
        };
        let waits = settings.expect_continue != ExpectContinue::No;
        let now = port.now();
        handler.sent(id, now);
        let Some(message) = handler.message(id) else {
            return Nanos::MAX;
        };
        let length = message.length();
        self.exchange = Some(id);
        self.carried += 1;
        self.answered = false;
        self.send_failure = None;
        self.unwritten = length;
        self.awaits_continue = waits && length > message.head_length;
        self.machine.send(message.kind, persistence);
        let end = self.may_write_to(message);
        let piece = message.piece(0, end);
        let (wanted, sent) = (piece.len(), port.send(piece));
        // More follows where a long body lies in a piece of its own.
        if self.note_sent(id, wanted, sent, handler, now) && wanted < end {
            self.write(port, handler, now);
        }
        match settings.expect_continue {
            ExpectContinue::Wait(time) if self.awaits_continue => now + time,
            _ => Nanos::MAX,
        }
    }

    /// Writes what there is room for.
    pub(crate) fn transmit<I: Io, H: Handler>(&mut self, port: &mut Port<'_, I>, handler: &mut H) {
        let now = port.now();
        self.write(port, handler, now);
    }

    fn write<I: Io, H: Handler>(&mut self, port: &mut Port<'_, I>, handler: &mut H, now: Nanos) {
        let Some(id) = self.exchange else {
            return;
        };
        while let Some(message) = handler.message(id) {
            let end = self.may_write_to(message);
            let from = message.length() - self.unwritten;
            if from >= end {
                return;
            }
            let piece = message.piece(from, end);
            let (wanted, sent) = (piece.len(), port.send(piece));
            if !self.note_sent(id, wanted, sent, handler, now) {
                return;
            }
        }
    }

    /// How much of a request may be written now: its head alone while the body waits.
    #[inline]
    fn may_write_to(&self, message: &Rendered) -> usize {
        if self.awaits_continue {
            message.head_length
        } else {
            message.length()
        }
    }

    /// Takes note of the result of a send; `true` when the socket took all bytes.
    #[inline(always)]
    fn note_sent<H: Handler>(
        &mut self,
        id: ExchangeId,
        wanted: usize,
        sent: Result<usize, IoError>,
        handler: &mut H,
        now: Nanos,
    ) -> bool {
        match sent {
            Ok(sent) => {
                self.unwritten -= sent;
                handler.written(id, sent, self.is_written(), now);
                sent == wanted
            }
            Err(error) => {
                self.send_failure = Some(Box::new(io_failure(error, During::Send)));
                false
            }
        }
    }

    /// Sends a body that waited for `100 Continue` long enough.
    #[cold]
    pub(crate) fn stop_waiting<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        handler: &mut H,
    ) {
        self.awaits_continue = false;
        self.transmit(port, handler);
    }

    /// Whether a body waits for `100 Continue`.
    pub(crate) const fn awaits_continue(&self) -> bool {
        self.awaits_continue
    }

    /// Gives the exchange up; the connection must be closed.
    pub(crate) fn give_up(&mut self) -> Seen {
        self.exchange = None;
        self.seen()
    }

    /// Fails the exchange whose send failed, unless bytes that the server had sent before have
    /// ended it.
    pub(crate) fn fail_unsent<H: Handler>(&mut self, handler: &mut H, now: Nanos) {
        if let Some(failure) = self.send_failure.take() {
            self.closing = Closing::Reset;
            self.fail(*failure, Resend::Never, handler, now);
        }
    }

    fn seen(&self) -> Seen {
        Seen {
            status: self.machine.status(),
            leniencies: leniencies(self.machine.notices()),
        }
    }

    /// Receives until there is nothing more for now, the exchange is over, or this turn's portion
    /// is used up. The second value is whether the socket may hold more.
    #[inline(always)]
    pub(crate) fn receive<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        terms: &Terms<'_>,
        handler: &mut H,
    ) -> (Fate, bool) {
        for _ in 0..RECEIVES_PER_TURN {
            let Some(id) = self.exchange else {
                return (Fate::Free, true);
            };
            let (step, drained) = match self.unread(id, handler) {
                Some(remaining) => self.discard(port, input, terms, handler, remaining),
                None => self.receive_once(port, input, terms, handler, id),
            };
            match step {
                Step::More => {}
                Step::Drained => return (Fate::Waits, false),
                Step::Done(fate) => return (fate, !drained),
            }
        }
        (Fate::Waits, true)
    }

    /// How much of the body may be thrown away unread.
    #[inline]
    fn unread<H: Handler>(&self, id: ExchangeId, handler: &H) -> Option<u64> {
        self.machine
            .body_remaining()
            .filter(|remaining| *remaining >= DISCARD_FROM && !handler.reads_body(id))
    }

    /// Throws a portion of the body away.
    fn discard<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        terms: &Terms<'_>,
        handler: &mut H,
        remaining: u64,
    ) -> (Step, bool) {
        match port.io.discard(port.slot, remaining, &mut input.scratch) {
            Ok(Received::Bytes { length, drained }) => {
                let now = port.now();
                if let Some(id) = self.exchange {
                    handler.received(id, length, now);
                }
                let step = match self.machine.body_discarded(length as u64) {
                    Some(end) => Step::Done(self.over(end, terms, handler, now)),
                    None if drained && !terms.peer_closed => Step::Drained,
                    None => Step::More,
                };
                (step, drained)
            }
            other => (self.stopped(port, other, terms, handler), true),
        }
    }

    /// One receive, and all of its events.
    #[inline]
    fn receive_once<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        terms: &Terms<'_>,
        handler: &mut H,
        id: ExchangeId,
    ) -> (Step, bool) {
        match port.receive(&mut input.buffer) {
            Ok(Received::Bytes { length, drained }) => {
                let now = port.now();
                self.answered = true;
                handler.received(id, length, now);
                input.filled = length;
                let step = match self.feed(port, input, terms, handler, now) {
                    Some(fate) => Step::Done(fate),
                    // The peer's end follows the received bytes, without an event of its own.
                    None if drained && !terms.peer_closed => Step::Drained,
                    None => Step::More,
                };
                (step, drained)
            }
            other => (self.stopped(port, other, terms, handler), true),
        }
    }

    /// A receive brought no bytes.
    fn stopped<I: Io, H: Handler>(
        &mut self,
        port: &Port<'_, I>,
        received: Result<Received, IoError>,
        terms: &Terms<'_>,
        handler: &mut H,
    ) -> Step {
        match received {
            Ok(Received::Bytes { .. } | Received::Nothing) => Step::Drained,
            Ok(Received::End) => Step::Done(self.ended(terms, handler, port.now())),
            Err(error) => Step::Done(self.receive_failed(error, handler, port.now())),
        }
    }

    /// Feeds received bytes to the response; `None` when it needs more.
    #[inline]
    fn feed<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        terms: &Terms<'_>,
        handler: &mut H,
        now: Nanos,
    ) -> Option<Fate> {
        let id = self.exchange?;
        let mut rest = &input.buffer[..input.filled];
        if let Some(whole) = self.machine.whole(rest, &mut input.shared) {
            self.exchange = None;
            self.awaits_continue = false;
            read_hint(&mut self.hint, &whole.head, terms.settings);
            let then = handler.whole(id, &whole_response(&whole), now);
            if then == Then::GiveUp {
                return Some(Fate::Close);
            }
            return Some(self.fate(whole.end.reusable, terms));
        }
        loop {
            let step = match self.machine.handle_input(rest, &mut input.shared) {
                Ok(step) => step,
                Err(error) => {
                    let failure = self.failure_of(&error);
                    return Some(self.fail(failure, Resend::Never, handler, now));
                }
            };
            rest = &rest[step.consumed..];
            let then = match step.event {
                Event::NeedInput => return None,
                Event::Interim(100) if self.awaits_continue => {
                    self.awaits_continue = false;
                    self.transmit(port, handler);
                    handler.on_event(id, WireEvent::Interim, now)
                }
                Event::Interim(_) => handler.on_event(id, WireEvent::Interim, now),
                Event::Head(head) => {
                    // An answer before the body was asked for: the body is not sent any more.
                    self.awaits_continue = false;
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
                return Some(Fate::Close);
            }
        }
    }

    /// The response is complete.
    #[inline]
    fn over<H: Handler>(
        &mut self,
        end: End,
        terms: &Terms<'_>,
        handler: &mut H,
        now: Nanos,
    ) -> Fate {
        if let Some(id) = self.exchange.take() {
            let leniencies = leniencies(end.notices);
            handler.on_event(id, WireEvent::End { leniencies }, now);
        }
        self.fate(end.reusable, terms)
    }

    /// The connection's state after a complete response.
    #[inline]
    fn fate(&mut self, reusable: bool, terms: &Terms<'_>) -> Fate {
        let spent = match terms.settings.keep_alive {
            KeepAlive::Yes => false,
            KeepAlive::No => true,
            KeepAlive::AtMost(limit) => self.carried >= limit,
        };
        let ends = spent || terms.peer_closed || terms.leaving.is_some() || self.hint.is_used_up();
        if reusable && self.is_written() && !ends {
            return Fate::Free;
        }
        self.closing = if spent {
            Closing::Spent
        } else if let Some(why) = terms.leaving {
            why
        } else if terms.peer_closed {
            Closing::Peer
        } else {
            Closing::Announced
        };
        Fate::Close
    }

    /// The peer has closed: completes the response, or fails it.
    fn ended<H: Handler>(&mut self, terms: &Terms<'_>, handler: &mut H, now: Nanos) -> Fate {
        let fate = match self.machine.handle_end() {
            Ok(Some(end)) => self.over(end, terms, handler, now),
            Ok(None) => Fate::Close,
            Err(error) => {
                let failure = self.failure_of(&error);
                self.fail(failure, Resend::Idempotent, handler, now)
            }
        };
        self.closing = Closing::Peer;
        fate
    }

    /// Reading the connection failed: fails the response.
    fn receive_failed<H: Handler>(&mut self, error: IoError, handler: &mut H, now: Nanos) -> Fate {
        let failure = match error {
            IoError::Reset | IoError::BrokenPipe => {
                self.closing = Closing::Reset;
                let error = self.machine.handle_reset();
                self.failure_of(&error)
            }
            // The stream may have been cut: a body that runs to the end is not known to be whole.
            IoError::TlsNoCloseNotify => match self.machine.handle_end() {
                Err(error) => self.failure_of(&error),
                Ok(_) => Failure::with(Outcome::Truncated, "TLS ended without close_notify"),
            },
            // With TLS 1.3 the server judges the client's certificate after the handshake.
            IoError::Refused
            | IoError::TimedOut
            | IoError::Unreachable
            | IoError::TlsAlert(_)
            | IoError::TlsProtocol(_) => io_failure(error, During::Send),
            other => Failure {
                outcome: Outcome::Reset,
                detail: io_detail(other),
            },
        };
        self.fail(failure, Resend::Idempotent, handler, now)
    }

    /// The failure of the exchange for an error of the machine.
    fn failure_of(&self, error: &Error) -> Failure {
        let reused = self.carried > 1 && !self.answered;
        let outcome = match error {
            Error::Closed | Error::Reset if reused => Outcome::ClosedReused,
            error => http1_outcome(error),
        };
        Failure {
            outcome,
            detail: error.hint(),
        }
    }

    fn fail<H: Handler>(
        &mut self,
        mut failure: Failure,
        resend: Resend,
        handler: &mut H,
        now: Nanos,
    ) -> Fate {
        // The server went away before it had the whole request.
        if resend == Resend::Idempotent && failure.outcome == Outcome::Closed && !self.is_written()
        {
            failure.outcome = Outcome::Send;
        }
        let resend = match failure.outcome {
            Outcome::ClosedReused => resend,
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
        Fate::Close
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

/// Reads the server's `Keep-Alive` field, where the plan wants it obeyed.
#[inline]
fn read_hint(hint: &mut Hint, head: &Head<'_>, settings: &Settings) {
    if settings.hints == KeepAliveHints::Respect
        && let Some(value) = head.headers.find("keep-alive")
    {
        *hint = Hint::read(value);
    }
}
