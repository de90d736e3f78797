//! HTTP/2 on a connection: any number of exchanges at a time, each on a stream whose token is the
//! exchange's id.

use super::{
    Ahead, Carriage, End, Fields, Handler, Input, Port, Pump, Resend, Seen, Settings, Then, Whole,
    WireEvent,
};
use crate::blame::{Failure, http2_failure, stream_failure};
use crate::id::ExchangeId;
use crate::limits::{BACKOFF_MIN, DOUBT_REST};
use drumfire_http2::{
    Connection as Machine, EndStream, ErrorCode, Event, OpenError, Settings as Http2Settings,
    StreamError, StreamRef,
};
use drumfire_measure::Outcome;
use drumfire_net::{Io, IoError, Received};
use drumfire_plan::{KeepAlive, Ping};
use drumfire_units::Nanos;

/// The debug data of gRPC servers' GOAWAY for a client that pings too often.
const TOO_MANY_PINGS: &[u8] = b"too_many_pings";

/// Fields of one exchange that are handed over without an allocation.
const FIELDS_INLINE: usize = 16;

/// Our pings need no telling apart: any byte of the server's is a sign of life.
const PAYLOAD: [u8; 8] = *b"drumfire";

/// One connection that speaks HTTP/2.
#[derive(Debug)]
pub(crate) struct Http2 {
    machine: Machine,
    /// Exchanges whose streams were opened and have not been written.
    unsent: Vec<ExchangeId>,
    /// Whether the server's SETTINGS have come.
    ready: bool,
    /// The lists of connections with output in which it stands.
    pub(crate) listed: Listed,
    /// Whether another connection has taken its place: it carries its exchanges to their ends.
    pub(crate) retiring: bool,
    /// Streams opened.
    carried: u64,
    /// How many of them the plan allows.
    carried_max: u64,
    /// Responses that have come.
    answered: u64,
    /// The server's GOAWAY.
    going: Option<GoingAway>,
    signs: SignsOfLife,
    /// Whether a send has failed; bytes that the server sent before are still to be read.
    send_failure: Option<Box<Failure>>,
}

/// The lists of connections with output in which a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    /// In none.
    Nowhere,
    /// In that of all with something to write.
    Dirty,
    /// In that one, and in that of those with a request to write.
    Requesting,
}

/// A server's GOAWAY.
#[derive(Clone, Debug)]
struct GoingAway {
    code: u32,
    words: Option<Box<str>>,
}

/// When a connection last gave a sign of life.
#[derive(Clone, Copy, Debug)]
struct SignsOfLife {
    /// When its last bytes came.
    last: Nanos,
    /// Whether it was pinged since then.
    pinged: bool,
    /// When a stream that was given up may be a reason to ping next.
    doubted_from: Nanos,
}

impl SignsOfLife {
    const fn at(now: Nanos) -> Self {
        Self {
            last: now,
            pinged: false,
            doubted_from: Nanos::ZERO,
        }
    }

    /// Bytes came.
    const fn renew(&mut self, now: Nanos) {
        self.last = now;
        self.pinged = false;
    }
}

/// How a server refuses further streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Going {
    Away,
    /// Because of our pings.
    TooManyPings,
}

/// Events of one read that concern the connection, not a single exchange.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionEvents {
    /// When the first bytes came.
    pub(crate) since: Option<Nanos>,
    /// When the server's first SETTINGS came.
    pub(crate) ready: Option<Nanos>,
    /// A response was read to its end.
    pub(crate) answered: bool,
    /// The server takes no further streams.
    pub(crate) going: Option<Going>,
    /// The socket may hold more.
    pub(crate) unread: bool,
    /// The connection can't go on.
    pub(crate) closed: Option<Box<Failure>>,
}

impl ConnectionEvents {
    /// Whether anything has happened that concerns more than streams.
    #[inline]
    pub(crate) const fn concerns_connection(&self) -> bool {
        self.going.is_some() || self.ready.is_some() || self.unread || self.closed.is_some()
    }
}

/// The state that a read changes beside the connection itself.
pub(crate) struct Reading<'a, H> {
    pub(crate) carriages: &'a mut [Carriage],
    pub(crate) handler: &'a mut H,
    pub(crate) events: ConnectionEvents,
    /// When the bytes came that are being fed.
    pub(crate) now: Nanos,
}

impl<'a, H> Reading<'a, H> {
    /// A reading of bytes that came at this time.
    pub(crate) fn at(now: Nanos, carriages: &'a mut [Carriage], handler: &'a mut H) -> Self {
        Self {
            carriages,
            handler,
            events: ConnectionEvents::default(),
            now,
        }
    }
}

/// A stream that was opened for an exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened {
    pub(crate) stream: StreamRef,
    /// Whether the request goes on with a body.
    pub(crate) has_body: bool,
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flushed {
    /// The socket took what it had room for.
    Written,
    /// The same, and streams may send on by that.
    Freed,
    /// A send has failed, for the first time.
    Failed,
}

/// The action on a silent connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// To be looked at again then.
    Until(Nanos),
    /// A ping was queued; its answer is due then.
    Pinged(Nanos),
    /// No sign of life came: the connection is dead.
    Dead,
    /// It has carried nothing for as long as the plan allows.
    Idle,
}

impl Http2 {
    /// A new connection, whose preface is output at once.
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            machine: Machine::new(&Http2Settings {
                streams: settings.streams,
                first_stream_id: settings.first_stream_id,
                ..Http2Settings::default()
            }),
            unsent: Vec::new(),
            ready: false,
            listed: Listed::Nowhere,
            retiring: false,
            carried: 0,
            carried_max: match settings.keep_alive {
                KeepAlive::Yes => u64::MAX,
                KeepAlive::No => 1,
                KeepAlive::AtMost(limit) => limit,
            },
            answered: 0,
            going: None,
            signs: SignsOfLife::at(Nanos::ZERO),
            send_failure: None,
        }
    }

    /// Whether the server's SETTINGS have come.
    #[inline]
    pub(crate) const fn is_ready(&self) -> bool {
        self.ready
    }

    /// Whether it takes one more exchange now.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.machine.has_room()
    }

    /// How many streams the server allows, where that is what holds exchanges back.
    pub(crate) fn allowed(&self) -> Option<u32> {
        if self.ready && !self.machine.is_spent() {
            self.machine.streams_max_peer()
        } else {
            None
        }
    }

    /// Streams opened.
    pub(crate) const fn carried(&self) -> u64 {
        self.carried
    }

    /// Whether the server has said GOAWAY.
    pub(crate) const fn is_going(&self) -> bool {
        self.going.is_some()
    }

    /// Whether it takes no further exchange, by its own state or the plan's limit.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        self.machine.is_spent() || self.carried >= self.carried_max
    }

    /// Lets it take no further exchange.
    pub(crate) const fn take_no_more(&mut self) {
        self.carried_max = 0;
    }

    /// Whether it has given its place to another and has nothing more to carry.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.retiring && self.machine.streams_open() == 0
    }

    /// Whether it has brought no response.
    pub(crate) const fn is_fruitless(&self) -> bool {
        self.answered == 0
    }

    /// Why a server that has enough of us, or that goes before it has done anything, should not be
    /// dialed again at once; the second value is whether the connection carried nothing.
    pub(crate) fn unwilling(&self) -> Option<(Failure, bool)> {
        let going = self.going.as_ref()?;
        let unwilling = going.code != 0 || self.answered == 0;
        unwilling.then(|| (going.failure(), self.carried == 0))
    }

    /// The exchanges whose responses are outstanding.
    pub(crate) fn outstanding(&self) -> Vec<ExchangeId> {
        self.machine.tokens().map(ExchangeId).collect()
    }

    /// Opens a stream for an exchange; `None` when there is no room, or its request is none for a
    /// stream.
    #[inline]
    pub(crate) fn open<H: Handler>(
        &mut self,
        id: ExchangeId,
        handler: &mut H,
        now: Nanos,
    ) -> Option<Opened> {
        let opening = handler.opening(id)?;
        let has_body = opening.has_body;
        let end = if has_body {
            EndStream::No
        } else {
            EndStream::Yes
        };
        let before = self.machine.output().len();
        let opened = match opening.extra {
            None => self.machine.open(id.0, opening.head.http2(), &[], end),
            Some(extra) => {
                let mut fields: [(&[u8], &[u8]); FIELDS_INLINE] = [(&[], &[]); FIELDS_INLINE];
                let mut count = 0;
                for (place, field) in fields.iter_mut().zip(extra.iter()) {
                    *place = field;
                    count += 1;
                }
                if count < FIELDS_INLINE {
                    self.machine
                        .open(id.0, opening.head.http2(), &fields[..count], end)
                } else {
                    let fields: Vec<(&[u8], &[u8])> = extra.iter().collect();
                    self.machine.open(id.0, opening.head.http2(), &fields, end)
                }
            }
        };
        match opened {
            Ok(stream) => {
                self.carried += 1;
                self.unsent.push(id);
                let grown = self.machine.output().len() - before;
                handler.written(id, grown, !has_body, now);
                Some(Opened { stream, has_body })
            }
            Err(OpenError::Full | OpenError::Spent) => None,
        }
    }

    /// Hands to a stream as much of its exchange's body as it takes. `false` when the exchange
    /// fails by that: its stream is reset.
    pub(crate) fn pump<H: Handler>(
        &mut self,
        id: ExchangeId,
        stream: StreamRef,
        handler: &mut H,
        now: Nanos,
    ) -> bool {
        while let Some(chunk) = handler.body(id) {
            let end = if chunk.end {
                EndStream::Yes
            } else {
                EndStream::No
            };
            let before = self.machine.output().len();
            let (length, last) = (chunk.bytes.len(), chunk.end);
            let Ok(taken) = self.machine.send_data(stream, chunk.bytes, end) else {
                handler.body_refused(id);
                return true;
            };
            let grown = self.machine.output().len() - before;
            handler.written(id, grown, last && taken == length, now);
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
    pub(crate) fn reset(&mut self, id: ExchangeId, stream: StreamRef) {
        self.machine.reset(stream, ErrorCode::CANCEL);
        self.forget_unsent(id);
    }

    /// Forgets an exchange whose stream is gone before it was written: its id may be another's when
    /// the output is.
    fn forget_unsent(&mut self, id: ExchangeId) {
        self.unsent.retain(|unsent| *unsent != id);
    }

    /// Receives until there is nothing more for now, or this turn's portion is used up.
    pub(crate) fn receive<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        peer_closed: bool,
        reading: &mut Reading<'_, H>,
    ) {
        for _ in 0..crate::limits::RECEIVES_PER_TURN {
            match port.receive(&mut input.buffer) {
                Ok(Received::Bytes { length, drained }) => {
                    let now = port.now();
                    reading.now = now;
                    reading.events.since.get_or_insert(now);
                    self.signs.renew(now);
                    self.feed(&input.buffer[..length], reading);
                    if reading.events.closed.is_some() || drained && !peer_closed {
                        return;
                    }
                }
                Ok(Received::Nothing) => return,
                Ok(Received::End) => {
                    reading.events.closed = Some(Box::new(self.ended()));
                    return;
                }
                Err(error) => {
                    reading.events.closed = Some(Box::new(receive_failure(error)));
                    return;
                }
            }
        }
        reading.events.unread = true;
    }

    /// Feeds received bytes, or none where the machine has events of its own.
    #[inline]
    pub(crate) fn feed<H: Handler>(&mut self, mut bytes: &[u8], reading: &mut Reading<'_, H>) {
        let now = reading.now;
        while !bytes.is_empty() || self.machine.has_event() {
            if let Some(size) = self.feed_whole(bytes, reading) {
                bytes = &bytes[size..];
                continue;
            }
            let step = match self.machine.handle_input(bytes) {
                Ok(step) => step,
                Err(error) => {
                    reading.events.closed = Some(Box::new(http2_failure(&error)));
                    return;
                }
            };
            let size = step.consumed;
            bytes = &bytes[size..];
            let (token, event) = match step.event {
                Event::NeedInput => return,
                Event::Head {
                    token,
                    status,
                    headers,
                    end,
                } => {
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
                    let handler = &mut reading.handler;
                    handler.on_event(ExchangeId(token), WireEvent::Interim, now);
                    continue;
                }
                Event::GoAway { code, debug } => {
                    self.going = Some(GoingAway::new(code, debug));
                    reading.events.going = Some(Going::of(debug));
                    continue;
                }
                Event::Ready => {
                    self.ready = true;
                    reading.events.ready = Some(now);
                    continue;
                }
                Event::Capacity | Event::Pong { .. } => continue,
                Event::StreamFailed { token, error } => {
                    let resend = self.resend_after(error);
                    self.fail(token, stream_failure(error), resend, reading);
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
            let id = ExchangeId(token);
            reading.handler.received(id, size, now);
            let then = reading.handler.on_event(id, event, now);
            self.after(token, then, reading);
        }
    }

    /// Feeds a response that came in one piece; how many bytes it takes, if one did.
    #[inline(always)]
    fn feed_whole<H: Handler>(
        &mut self,
        bytes: &[u8],
        reading: &mut Reading<'_, H>,
    ) -> Option<usize> {
        let whole = self.machine.whole(bytes)?;
        let (token, size) = (whole.token, whole.consumed);
        let id = ExchangeId(token);
        reading.handler.received(id, size, reading.now);
        let then = reading
            .handler
            .whole(id, &whole_response(&whole), reading.now);
        self.after(token, then, reading);
        Some(size)
    }

    /// A stream takes more of its exchange's body.
    #[cold]
    fn pump_on<H: Handler>(&mut self, token: u32, reading: &mut Reading<'_, H>) {
        let carriage = &mut reading.carriages[token as usize];
        if let Some(stream) = carriage.stream()
            && !self.pump(ExchangeId(token), stream, reading.handler, reading.now)
        {
            carriage.clear();
        }
    }

    /// Ends the stream of an exchange that is over after a report.
    #[inline]
    fn after<H>(&mut self, token: u32, then: Then, reading: &mut Reading<'_, H>) {
        let reset = match then {
            Then::GoOn => return,
            Then::Over { cut } => {
                self.answered += 1;
                reading.events.answered = true;
                cut
            }
            Then::GiveUp => true,
        };
        let carriage = &mut reading.carriages[token as usize];
        // A stream whose response is over before its request is would stay open for ever.
        if reset && let Some(stream) = carriage.stream() {
            carriage.clear();
            return self.reset(ExchangeId(token), stream);
        }
        carriage.clear();
    }

    /// Whether an exchange is worth another attempt whose stream failed so.
    #[cold]
    fn resend_after(&self, error: StreamError) -> Resend {
        match (error.is_unprocessed(), self.going.is_some()) {
            (false, _) => Resend::Never,
            (true, true) => Resend::After(BACKOFF_MIN),
            (true, false) => Resend::Refused,
        }
    }

    /// The server will never process a request that it has not: it may be sent again.
    #[cold]
    fn fail_unprocessed<H: Handler>(&mut self, token: u32, reading: &mut Reading<'_, H>) {
        let failure = Failure::of(Outcome::H2GoAway);
        self.fail(token, failure, Resend::After(Nanos::ZERO), reading);
    }

    /// A stream is gone, and its exchange with it, unless the handler sends that once more.
    #[cold]
    fn fail<H: Handler>(
        &mut self,
        token: u32,
        failure: Failure,
        resend: Resend,
        reading: &mut Reading<'_, H>,
    ) {
        let failed = WireEvent::Failed {
            failure,
            seen: Seen::default(),
            resend,
        };
        reading.carriages[token as usize].clear();
        self.forget_unsent(ExchangeId(token));
        let then = reading
            .handler
            .on_event(ExchangeId(token), failed, reading.now);
        // A request that the server did not process brought no response.
        if then != Then::GoOn && !matches!(resend, Resend::After(_)) {
            self.answered += 1;
            reading.events.answered = true;
        }
    }

    /// Writes the output with one call.
    #[inline]
    pub(crate) fn flush<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        handler: &mut H,
    ) -> Flushed {
        if !self.has_output() {
            return Flushed::Written;
        }
        if !self.unsent.is_empty() {
            let now = port.now();
            for id in self.unsent.drain(..) {
                handler.sent(id, now);
            }
        }
        match port.send(self.machine.output()) {
            Ok(sent) => self.machine.output_sent(sent),
            Err(error) => return self.note_failed_send(error),
        }
        if self.machine.has_event() {
            Flushed::Freed
        } else {
            Flushed::Written
        }
    }

    #[cold]
    fn note_failed_send(&mut self, error: IoError) -> Flushed {
        if self.send_failure.is_some() {
            return Flushed::Written;
        }
        let failure = crate::blame::io_failure(error, crate::blame::During::Send);
        self.send_failure = Some(Box::new(failure));
        Flushed::Failed
    }

    /// Why a send failed, if one did.
    #[inline]
    pub(crate) fn send_failure(&self) -> Option<&Failure> {
        self.send_failure.as_deref()
    }

    /// Whether there is something to write.
    #[inline]
    pub(crate) fn has_output(&self) -> bool {
        !self.machine.output().is_empty()
    }

    /// The connection carries exchanges from now on, or is watched anew.
    pub(crate) const fn watch(&mut self, now: Nanos) {
        self.signs = SignsOfLife::at(now);
    }

    /// Looks at how long the connection has been silent: asks for a sign of life where it carries
    /// streams, and ends it where it has long carried none.
    pub(crate) fn look_at_silence(
        &mut self,
        ping: Option<Ping>,
        idle: Option<Nanos>,
        now: Nanos,
    ) -> Silence {
        if self.signs.pinged {
            return Silence::Dead;
        }
        let is_free = self.machine.streams_open() == 0;
        let idle_at = idle.map(|idle| match is_free {
            true => self.signs.last + idle,
            false => now + idle,
        });
        let idle_at = idle_at.unwrap_or(Nanos::MAX);
        if is_free && idle_at <= now {
            return Silence::Idle;
        }
        let Some(ping) = ping else {
            return Silence::Until(idle_at);
        };
        let enough = self.signs.last + ping.after;
        if now < enough {
            return Silence::Until(enough.min(idle_at));
        }
        if is_free {
            return Silence::Until(idle_at.min(now + ping.after));
        }
        self.machine.ping(PAYLOAD);
        self.signs.pinged = true;
        Silence::Pinged(now + ping.timeout)
    }

    /// A stream that was sent then was given up: asks for a sign of life where none has come since.
    /// Gives whether it did.
    pub(crate) fn doubt(&mut self, sent: Nanos, now: Nanos) -> bool {
        let signs = &mut self.signs;
        if signs.pinged || signs.last > sent || now < signs.doubted_from {
            return false;
        }
        signs.pinged = true;
        signs.doubted_from = now + DOUBT_REST;
        self.machine.ping(PAYLOAD);
        true
    }

    /// Queues our GOAWAY, unless the server has sent its own.
    pub(crate) fn go_away_first(&mut self) {
        if self.going.is_none() {
            self.go_away();
        }
    }

    /// Queues our GOAWAY.
    pub(crate) fn go_away(&mut self) {
        self.machine.go_away(ErrorCode::NO_ERROR);
    }

    /// Sends queued output before the connection is closed. It is dropped if the socket has no room
    /// for it.
    pub(crate) fn send_queued<I: Io>(&self, port: &mut Port<'_, I>) {
        let _not_taken = port.send(self.machine.output());
    }

    /// The server has closed the connection: what that means for the exchanges on it.
    fn ended(&mut self) -> Failure {
        match (self.machine.handle_end(), &self.going) {
            (Err(error), _) => http2_failure(&error),
            (Ok(()), Some(going)) if going.code != 0 => going.failure(),
            (Ok(()), _) => Failure::of(Outcome::Closed),
        }
    }
}

impl Going {
    /// The debug data of a GOAWAY.
    fn of(debug: &[u8]) -> Self {
        match debug {
            TOO_MANY_PINGS => Self::TooManyPings,
            _ => Self::Away,
        }
    }
}

impl GoingAway {
    #[cold]
    fn new(code: ErrorCode, debug: &[u8]) -> Self {
        let words = (!debug.is_empty()).then(|| String::from_utf8_lossy(debug).into());
        Self {
            code: code.0,
            words,
        }
    }

    /// The failure of an exchange that it leaves behind.
    fn failure(&self) -> Failure {
        Failure {
            outcome: match self.code {
                0 => Outcome::H2GoAway,
                code => Outcome::h2_connection(code),
            },
            detail: self.words.as_deref().map(str::to_owned),
        }
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
        IoError::Reset | IoError::BrokenPipe => Failure::of(Outcome::Reset),
        IoError::TlsNoCloseNotify => Failure::of(Outcome::Closed),
        other => crate::blame::io_failure(other, crate::blame::During::Send),
    }
}
