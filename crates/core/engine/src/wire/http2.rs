//! HTTP/2 on a connection: any number of exchanges at a time, each on a stream whose token is the
//! exchange's id.
//!
//! The [`Machine`] has the streams, flow control, HPACK and the output, which `flush` writes once
//! per turn for all streams. An exchange counts as sent when the flush that carries its head
//! begins; until then it is in `unsent`.
//!
//! A stream ends with its response (and a reset, if the request is incomplete), with a reset by the
//! server, with our reset if the exchange is given up, or with the connection. Streams above the
//! last one of a GOAWAY were not processed (RFC 9113 section 6.8) and may be sent again.
//!
//! A peer's violation on a stream resets the stream; one on the connection ends it with our GOAWAY.

mod going;
mod reading;
mod silence;
mod stream;

use self::going::{GoingAway, refusal};
use self::reading::Reading;
use self::silence::{Look, Silence};
pub(super) use self::stream::open;
use self::stream::stream;
use super::answers::{BrokenSend, Dropped, Expiry, Flushed, Outgoing, Read, Submitted, Unwilling};
use super::contract::WireProtocol;
use super::fields::Fields;
use super::handler::{Ahead, End, FIELDS_TOO_LARGE, Handler, Pump, Resend, Then, Whole, WireEvent};
use super::port::{Input, Port};
use super::settings::{Lent, Patience, Settings, Terms};
use super::underway::{Handle, Underway};
use crate::blame::{During, Failure, http2_failure, io_failure, stream_failure};
use crate::id::ExchangeId;
use crate::limits::{BACKOFF_MIN, RECEIVES_PER_TURN};
use drumfire_http2::{
    Connection as Machine, EndStream, ErrorCode, Event, Settings as Http2Settings, StreamError,
    StreamRef,
};
use drumfire_measure::{Detail, Outcome};
use drumfire_net::{Io, IoError, Received};
use drumfire_units::Nanos;
use drumfire_units::rounded::count as grouped;
use std::fmt;

/// The payload of all our pings, which are not distinguished: any byte from the server shows
/// activity.
const PAYLOAD: [u8; 8] = *b"drumfire";

/// One connection that speaks HTTP/2.
#[derive(Debug)]
pub(crate) struct Http2 {
    machine: Machine,
    /// Exchanges whose streams were opened and have not been written yet.
    unsent: Vec<ExchangeId>,
    /// Whether the server's SETTINGS have arrived.
    ready: bool,
    /// The number of streams opened.
    carried: u64,
    /// The number of streams that the plan allows; 0 after the connection must take no more.
    carried_max: u64,
    /// The number of responses received.
    answered: u64,
    /// The server's GOAWAY.
    going: Option<GoingAway>,
    silence: Silence,
    /// A head that the server may refuse because of its size.
    oversized: Option<HeadSize>,
    /// The failure of a send; bytes that the server sent before must still be read.
    send_failure: Option<Box<Failure>>,
}

/// The size of a head up to which no common server refuses it by default.
const HEAD_USUAL: u32 = 8 << 10;

/// The size of a request's head, as counted for SETTINGS_MAX_HEADER_LIST_SIZE, and the server's
/// value of that setting; `u32::MAX` if the server has sent none.
#[derive(Clone, Copy, Debug)]
struct HeadSize {
    bytes: u32,
    allowed: u32,
}

impl HeadSize {
    /// Whether a server may refuse this head.
    const fn is_suspect(self) -> bool {
        match self.allowed {
            u32::MAX => self.bytes > HEAD_USUAL,
            allowed => self.bytes > allowed,
        }
    }

    /// Whether this failure may be such a refusal. Without an announced limit, only an error for
    /// excess is.
    fn explains(self, outcome: Outcome) -> bool {
        let mut excesses = [ErrorCode::ENHANCE_YOUR_CALM, ErrorCode::FRAME_SIZE_ERROR].into_iter();
        let is_excess = excesses.any(|ErrorCode(code)| {
            outcome == Outcome::h2_connection(code) || outcome == Outcome::h2_stream(code)
        });
        self.allowed < u32::MAX || is_excess
    }
}

impl fmt::Display for HeadSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, allowed) = (grouped(self.bytes.into()), grouped(self.allowed.into()));
        write!(f, "the request has {bytes} bytes of header fields, ")?;
        match self.allowed {
            u32::MAX => f.write_str("the server announced no limit"),
            limit if limit < self.bytes => write!(f, "the server accepts {allowed}"),
            _ => write!(f, "the server announced a limit of {allowed}"),
        }
    }
}

impl Http2 {
    /// A new connection, whose preface is output at once.
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            machine: Machine::new(&Http2Settings {
                streams: settings.streams,
                first_stream_id: settings.first_stream_id,
                ..Http2Settings::default()
            }),
            unsent: Vec::new(),
            ready: false,
            carried: 0,
            carried_max: settings.carried_max,
            answered: 0,
            going: None,
            silence: Silence::from(Nanos::ZERO),
            oversized: None,
            send_failure: None,
        }
    }
}

impl WireProtocol for Http2 {
    #[inline]
    fn is_ready(&self) -> bool {
        self.ready
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.machine.has_room()
    }

    #[inline]
    fn is_idle(&self) -> bool {
        self.machine.streams_open() == 0
    }

    #[inline]
    fn is_spent(&self) -> bool {
        self.machine.is_spent() || self.carried >= self.carried_max
    }

    fn peer_capacity(&self) -> Option<u32> {
        if self.ready && !self.machine.is_spent() {
            self.machine.streams_max_peer()
        } else {
            None
        }
    }

    fn carried(&self) -> u64 {
        self.carried
    }

    fn is_fruitless(&self) -> bool {
        self.answered == 0
    }

    fn is_refused(&self) -> bool {
        self.going.is_some()
    }

    fn unwilling(&self) -> Option<Unwilling> {
        let going = self.going.as_ref()?;
        (going.is_error() || self.answered == 0)
            .then(|| Unwilling::new(going.failure(), self.carried == 0))
    }

    fn outstanding(&self) -> Vec<ExchangeId> {
        self.machine.tokens().map(ExchangeId).collect()
    }

    #[inline]
    fn outgoing(&self) -> Outgoing {
        if self.machine.output().is_empty() {
            Outgoing::Nothing
        } else {
            Outgoing::Output
        }
    }

    /// Running streams continue to their ends.
    fn take_no_more(&mut self) -> bool {
        self.carried_max = 0;
        false
    }

    /// Opens a stream for an exchange, and sends as much of its body as the stream takes.
    #[inline]
    fn submit<I: Io, H: Handler>(
        &mut self,
        _port: &mut Port<'_, I>,
        id: ExchangeId,
        _lent: Lent<'_>,
        handler: &mut H,
        now: Nanos,
    ) -> Submitted {
        let Some(opening) = handler.opening(id) else {
            return Submitted::Full;
        };
        let has_body = opening.has_body;
        let size = HeadSize {
            bytes: opening.list_bytes(),
            allowed: self.machine.header_list_max_peer(),
        };
        if size.is_suspect() {
            self.oversized = Some(size);
        }
        let before = self.machine.output().len();
        let end = match has_body {
            true => EndStream::No,
            false => EndStream::Yes,
        };
        let Ok(stream) = open(&mut self.machine, id, &opening, end) else {
            return Submitted::Full;
        };
        self.carried += 1;
        self.unsent.push(id);
        let grown = self.machine.output().len() - before;
        handler.written(id, grown, !has_body, now);
        if has_body && !self.pump(id, stream, handler, now) {
            return Submitted::GivenUp;
        }
        Submitted::Carried {
            handle: Handle::Stream(stream),
            due: Nanos::MAX,
        }
    }

    fn send_more<H: Handler>(
        &mut self,
        id: ExchangeId,
        handle: Handle,
        handler: &mut H,
        now: Nanos,
    ) -> bool {
        match stream(handle) {
            Some(stream) => self.pump(id, stream, handler, now),
            None => true,
        }
    }

    fn cancel(&mut self, id: ExchangeId, handle: Handle) -> Dropped {
        if let Some(stream) = stream(handle) {
            self.reset(id, stream);
        }
        Dropped::Stream
    }

    /// Receives until no more bytes are available, or this turn's portion is used up.
    #[inline]
    fn receive<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        terms: &Terms<'_>,
        underway: &mut Underway,
        handler: &mut H,
    ) -> Read {
        let mut reading = Reading::at(Nanos::ZERO, underway, handler);
        let unread = self.receive_all(port, input, terms.peer_closed, &mut reading);
        reading.finish_read(unread)
    }

    /// Continues streams that waited for output to be written: the machine has events for them.
    #[cold]
    fn resume<H: Handler>(&mut self, underway: &mut Underway, handler: &mut H, now: Nanos) -> Read {
        let mut reading = Reading::at(now, underway, handler);
        self.feed(&[], &mut reading);
        reading.finish_read(false)
    }

    /// Writes the output with one call.
    #[inline]
    fn flush<I: Io, H: Handler>(&mut self, port: &mut Port<'_, I>, handler: &mut H) -> Flushed {
        if self.machine.output().is_empty() {
            return Flushed::Written;
        }
        let sent = match self.unsent.is_empty() {
            true => port.send(self.machine.output()),
            false => self.send_requests(port, handler),
        };
        match sent {
            Ok(sent) => self.machine.output_sent(sent),
            Err(error) => return self.note_failed_send(error),
        }
        if self.machine.has_event() {
            Flushed::IdleSince
        } else {
            Flushed::Written
        }
    }

    /// Returns the failure of a send, with which the exchanges fail.
    fn fail_sends<H: Handler>(
        &mut self,
        _underway: &mut Underway,
        _handler: &mut H,
        _now: Nanos,
    ) -> Option<BrokenSend> {
        let failure = self.send_failure.as_deref().cloned();
        failure.map(|failure| BrokenSend::Fail(self.lost(failure)))
    }

    fn first_look(&mut self, patience: Patience, now: Nanos) -> Nanos {
        self.silence = Silence::from(now);
        let pinged_at = patience.ping.map(|ping| now + ping.after);
        let first = pinged_at.into_iter().chain(patience.idle_at(now)).min();
        first.unwrap_or(Nanos::MAX)
    }

    /// Pings a silent connection that carries streams, and reports one that has been idle for long.
    fn handle_timeout<I: Io, H: Handler>(
        &mut self,
        _port: &mut Port<'_, I>,
        patience: Patience,
        _handler: &mut H,
        now: Nanos,
    ) -> Expiry {
        match self.silence.look(patience, self.is_idle(), now) {
            Look::Is(expiry) => expiry,
            Look::Ping(answered_by) => {
                self.machine.ping(PAYLOAD);
                Expiry::Until(answered_by)
            }
        }
    }

    fn doubt(&mut self, sent: Nanos, now: Nanos) -> bool {
        let doubts = self.ready && self.silence.doubt(sent, now);
        if doubts {
            self.machine.ping(PAYLOAD);
        }
        doubts
    }

    fn has_farewell(&self) -> bool {
        true
    }

    /// Sends the queued output, with our GOAWAY unless the server has sent its own.
    fn drain<I: Io>(&mut self, port: &mut Port<'_, I>) {
        if self.going.is_none() {
            self.machine.go_away(ErrorCode::NO_ERROR);
        }
        let _not_taken = port.send(self.machine.output());
    }
}

impl Http2 {
    /// Writes output that opens streams. All of them count as sent when the first bytes are sent.
    #[inline]
    fn send_requests<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        handler: &mut H,
    ) -> Result<usize, IoError> {
        let now = port.now();
        for id in &self.unsent {
            handler.sent(*id, now);
        }
        let sent = port.send_request(self.machine.output());
        if let Some(left) = port.departure() {
            for id in &self.unsent {
                handler.left(*id, left);
            }
        }
        self.unsent.clear();
        sent
    }

    /// Passes as much of an exchange's body to a stream as it takes. Returns `false` if this fails
    /// the exchange, whose stream is then reset.
    fn pump<H: Handler>(
        &mut self,
        id: ExchangeId,
        stream: StreamRef,
        handler: &mut H,
        now: Nanos,
    ) -> bool {
        while let Some(chunk) = handler.body(id) {
            let (length, is_last) = (chunk.bytes.len(), chunk.is_last);
            let end = if is_last {
                EndStream::Yes
            } else {
                EndStream::No
            };
            let before = self.machine.output().len();
            let Ok(taken) = self.machine.send_data(stream, chunk.bytes, end) else {
                handler.body_refused(id);
                return true;
            };
            let grown = self.machine.output().len() - before;
            handler.written(id, grown, is_last && taken == length, now);
            match handler.body_taken(id, taken, now) {
                Pump::Again => {}
                Pump::Wait => return true,
                Pump::GiveUp => {
                    self.reset(id, stream);
                    return false;
                }
            }
        }
        true
    }

    /// Resets the stream of an exchange that is given up.
    fn reset(&mut self, id: ExchangeId, stream: StreamRef) {
        self.machine.reset(stream, ErrorCode::CANCEL);
        self.forget_unsent(id);
    }

    /// Forgets an exchange whose stream ended before it was written; its id may be reused.
    fn forget_unsent(&mut self, id: ExchangeId) {
        self.unsent.retain(|unsent| *unsent != id);
    }

    /// Receives into a reading. Returns whether the socket may hold more.
    fn receive_all<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        peer_closed: bool,
        reading: &mut Reading<'_, H>,
    ) -> bool {
        for _ in 0..RECEIVES_PER_TURN {
            match input.receive(port) {
                Ok(Received::Bytes {
                    drained, arrived, ..
                }) => {
                    let now = port.time_of(arrived);
                    reading.go_on(now);
                    self.silence.renew(now);
                    self.feed(input.received().0, reading);
                    if reading.events.has_failed() || drained && !peer_closed {
                        return false;
                    }
                }
                Ok(Received::Nothing) => return false,
                Ok(Received::End) => {
                    let failure = self.ended(port);
                    reading.fail(failure);
                    return false;
                }
                Err(error) => {
                    let failure = self.lost(self.unanswered(receive_failure(error), port));
                    reading.fail(failure);
                    return false;
                }
            }
        }
        true
    }

    /// Passes received bytes to the machine; without bytes, only handles its pending events.
    #[inline]
    fn feed<H: Handler>(&mut self, mut bytes: &[u8], reading: &mut Reading<'_, H>) {
        while !bytes.is_empty() || self.machine.has_event() {
            if let Some(size) = self.feed_whole(bytes, reading) {
                bytes = &bytes[size..];
                continue;
            }
            let allowed = self.machine.header_list_max_peer();
            let step = match self.machine.handle_input(bytes) {
                Ok(step) => step,
                Err(error) => {
                    reading.fail(http2_failure(&error));
                    return;
                }
            };
            let size = step.frame_bytes;
            bytes = &bytes[step.consumed..];
            let (token, event) = match step.event {
                Event::NeedInput => return,
                Event::Head {
                    token,
                    status,
                    headers,
                    end,
                } => {
                    if status == FIELDS_TOO_LARGE {
                        explain_refusal(token, allowed, reading);
                    }
                    let head = WireEvent::Head {
                        status,
                        fields: Fields::from(headers),
                        ahead: if end { Ahead::Nothing } else { Ahead::Body },
                    };
                    (token, head)
                }
                Event::Data { token, bytes, end } => (token, WireEvent::Data { bytes, end }),
                Event::Trailers { token, headers } => {
                    let fields = Fields::from(headers);
                    (token, WireEvent::Trailers { fields })
                }
                Event::Interim { token, .. } => {
                    reading.report_interim(token);
                    continue;
                }
                Event::GoAway { code, debug } => {
                    let going = GoingAway::new(code, debug);
                    going.keep_in(&mut self.going);
                    reading.note_refusal(refusal(debug));
                    continue;
                }
                Event::Ready => {
                    self.ready = true;
                    reading.note_ready();
                    continue;
                }
                Event::Capacity | Event::Pong { .. } => continue,
                Event::StreamFailed { token, error } => {
                    self.fail_stream(token, error, reading);
                    continue;
                }
                Event::Unprocessed { token } => {
                    self.fail_unprocessed(token, reading);
                    continue;
                }
                Event::Writable { token } => {
                    self.pump_on(token, reading);
                    continue;
                }
            };
            let then = reading.report(token, size, event);
            self.after(token, then, reading);
        }
    }

    /// Handles a response that came in one piece; returns the number of its bytes, if there was
    /// one.
    #[inline(always)]
    fn feed_whole<H: Handler>(
        &mut self,
        bytes: &[u8],
        reading: &mut Reading<'_, H>,
    ) -> Option<usize> {
        let allowed = self.machine.header_list_max_peer();
        let whole = self.machine.whole(bytes)?;
        let (token, size) = (whole.token, whole.consumed);
        if whole.status == FIELDS_TOO_LARGE {
            explain_refusal(token, allowed, reading);
        }
        let then = reading.report_whole(token, size, &whole_response(&whole));
        self.after(token, then, reading);
        Some(size)
    }

    /// Lets a stream take more of its exchange's body.
    #[cold]
    fn pump_on<H: Handler>(&mut self, token: u32, reading: &mut Reading<'_, H>) {
        let Some(stream) = reading.stream(token) else {
            return;
        };
        let (handler, now) = reading.handler();
        if !self.pump(ExchangeId(token), stream, handler, now) {
            reading.clear(token);
        }
    }

    /// Ends the stream of an exchange that is over after an event.
    #[inline]
    fn after<H>(&mut self, token: u32, then: Then, reading: &mut Reading<'_, H>) {
        let reset = match then {
            Then::GoOn => return,
            Then::Over { cut } => {
                self.answered += 1;
                cut
            }
            Then::GiveUp => true,
        };
        // A stream whose response is complete before its request would stay open for ever.
        if reset && let Some(stream) = reading.stream(token) {
            self.reset(ExchangeId(token), stream);
        }
        reading.clear(token);
    }

    /// Whether an exchange whose stream failed may be sent again: only if the server has not
    /// processed it.
    #[cold]
    fn resend_after(&self, error: StreamError) -> Resend {
        let going = self.going.as_ref();
        let going = going.map(|going| going.resend(self.answered > 0));
        match (error.is_unprocessed(), going) {
            (false, _) => Resend::Never,
            (true, Some(Resend::After(_))) => Resend::After(BACKOFF_MIN),
            (true, Some(resend)) => resend,
            (true, None) => Resend::Refused,
        }
    }

    /// Fails a request that the server will never process: it may be sent again.
    #[cold]
    fn fail_unprocessed<H: Handler>(&mut self, token: u32, reading: &mut Reading<'_, H>) {
        let (failure, resend) = match &self.going {
            Some(going) => (going.failure(), going.resend(self.answered > 0)),
            None => (
                Failure::from_outcome(Outcome::H2GoAway),
                Resend::After(Nanos::ZERO),
            ),
        };
        let failure = self.explain(failure);
        self.fail(token, failure, resend, reading);
    }

    /// Fails a request whose stream was ended by the server or because of its violation.
    #[cold]
    fn fail_stream<H: Handler>(
        &mut self,
        token: u32,
        error: StreamError,
        reading: &mut Reading<'_, H>,
    ) {
        let resend = self.resend_after(error);
        let mut failure = stream_failure(error);
        let (handler, _) = reading.handler();
        let opening = handler.opening(ExchangeId(token));
        let size = HeadSize {
            bytes: opening.map_or(0, |opening| opening.list_bytes()),
            allowed: self.machine.header_list_max_peer(),
        };
        if size.is_suspect() {
            failure = self.explain(failure);
        }
        let then = self.fail(token, failure, resend, reading);
        // A request that a server shutting down did not process received no response.
        let is_left = error.is_unprocessed() && self.going.is_some();
        if then != Then::GoOn && !is_left {
            self.answered += 1;
        }
    }

    /// Ends an exchange whose stream has ended, unless the handler sends it again.
    #[cold]
    fn fail<H: Handler>(
        &mut self,
        token: u32,
        failure: Failure,
        resend: Resend,
        reading: &mut Reading<'_, H>,
    ) -> Then {
        reading.clear(token);
        self.forget_unsent(ExchangeId(token));
        reading.report_failure(token, failure, resend)
    }

    #[cold]
    fn note_failed_send(&mut self, error: IoError) -> Flushed {
        if self.send_failure.is_some() {
            return Flushed::Written;
        }
        let failure = io_failure(error, During::Send);
        self.send_failure = Some(Box::new(failure));
        Flushed::Failed
    }

    /// The failure of the exchanges on a connection that the server has closed.
    fn ended<I: Io>(&mut self, port: &Port<'_, I>) -> Failure {
        match self.machine.handle_end() {
            Err(error) => http2_failure(&error),
            Ok(()) => self.lost(self.unanswered(Failure::from_outcome(Outcome::Closed), port)),
        }
    }

    /// The failure of the exchanges on a connection that is lost. If a GOAWAY had an error, that is
    /// the reason, however the connection ends after it.
    fn lost(&self, failure: Failure) -> Failure {
        match &self.going {
            Some(going) if going.is_error() => self.explain(going.failure()),
            _ => self.explain(failure),
        }
    }

    /// Adds information from the handshake to the failure of a connection, if the server has
    /// answered nothing.
    fn unanswered<I: Io>(&self, failure: Failure, port: &Port<'_, I>) -> Failure {
        match self.answered {
            0 => port.explain(failure),
            _ => failure,
        }
    }

    /// Adds to a failure that the server may have refused a head because of its size.
    #[cold]
    fn explain(&self, failure: Failure) -> Failure {
        match self.oversized.filter(|size| size.explains(failure.outcome)) {
            None => failure,
            Some(size) => {
                let text = format!("{size}; {}", failure.words());
                let detail = Detail::new(text, failure.inherited_cause());
                Failure::with(failure.outcome, detail)
            }
        }
    }
}

/// Adds the sizes to a response that refuses the head of its request.
#[cold]
fn explain_refusal<H: Handler>(token: u32, allowed: u32, reading: &mut Reading<'_, H>) {
    let id = ExchangeId(token);
    let (handler, _) = reading.handler();
    if let Some(opening) = handler.opening(id) {
        let bytes = opening.list_bytes();
        handler.head_refused(id, HeadSize { bytes, allowed }.to_string());
    }
}

/// A whole response in the form that handlers take.
#[inline]
fn whole_response<'a>(whole: &drumfire_http2::Whole<'a>) -> Whole<'a> {
    Whole {
        status: whole.status,
        fields: Fields::from(whole.headers),
        ahead: Ahead::Body,
        body: whole.body,
        end: match whole.trailers {
            None => End::Body,
            Some(trailers) => End::Trailers(Fields::from(trailers)),
        },
    }
}

/// The failure of the exchanges on a connection that could not be read.
fn receive_failure(error: IoError) -> Failure {
    match error {
        IoError::Reset | IoError::BrokenPipe => Failure::from_outcome(Outcome::Reset),
        IoError::TlsNoCloseNotify | IoError::TlsCut => Failure::from_outcome(Outcome::Closed),
        other => io_failure(other, During::Send),
    }
}
