//! A WebSocket on a connection: the handshake, then one exchange of messages at a time.
//!
//! ```text
//!   Fresh ─► Opening ─► Open ─► closed
//!                        └────► Over    the server has ended it: the next exchange fails with this
//! ```
//!
//! An exchange that opens sends its request's head as the handshake (RFC 6455 section 4). It is over
//! with the answer, or continues with its message: the handshake is then part of its wait for a
//! connection. On an open connection, an exchange sends its request's body as a message, receives
//! messages, or closes.
//!
//! Pings are answered at once, and messages that no exchange waits for are counted. If a step opened
//! the connection, they are also kept for the next exchange that only receives, up to a limit, and
//! the end of the connection is kept, too: the messages belong to a conversation. Otherwise an ended
//! connection is closed, and the next exchange opens another.
//!
//! The protocol's machine is `drumfire-websocket`. An idle connection has no buffers.

mod carrier;
mod inbox;

use self::carrier::{Came, Carrier, Tunnel};
use self::inbox::Inbox;
use super::answers::{
    BrokenSend, ConnectionEvents, Dropped, Expiry, Flow, Flushed, Outgoing, Read, Submitted,
};
use super::contract::WireProtocol;
use super::fields::Fields;
use super::handler::{Ahead, Handler, Resend, Seen, SocketMessage, SocketNote, Then, WireEvent};
use super::http1::{note_departure, refuse_input};
use super::port::{Input, Port, SocketTools};
use super::settings::{Lent, Patience, Settings, Terms};
use super::underway::{Handle, Underway};
use crate::blame::{During, Failure, http1_outcome, io_failure, socket_closed, socket_violation};
use crate::id::ExchangeId;
use crate::leniency::socket_leniencies;
use crate::limits::{PONG_BYTES, RECEIVES_PER_TURN};
use drumfire_http1 as h1;
use drumfire_measure::{Closing, Outcome};
use drumfire_net::{Io, IoError, Received};
use drumfire_plan::{MessageKind, ReceiveUntil, SocketAct};
use drumfire_units::Nanos;
use drumfire_websocket as ws;

/// A connection that is, or will be, a WebSocket.
#[derive(Debug)]
pub(crate) struct Socket {
    carrier: Carrier,
    stage: Stage,
    exchange: Option<Carried>,
    /// Bytes that wait for the socket to become writable.
    unsent: Vec<u8>,
    /// The answer to the latest ping, if [`PONG_BYTES`] wait already. RFC 6455 section 5.5.3 allows
    /// to answer only the latest.
    pong: Option<Box<[u8]>>,
    /// The failure of a send; bytes that the server sent before must still be read.
    failure: Option<Box<Failure>>,
    /// Messages that no exchange has received yet; `None` until there was one.
    inbox: Option<Box<Inbox>>,
    /// The number of exchanges that the connection has carried.
    carried: u64,
    /// The time at which the connection was last used.
    since: Nanos,
    /// The time of the last message, or of the handshake's end.
    last: Nanos,
    /// The step of the last exchange.
    step: u16,
    /// Whether a step opened the connection, for later steps.
    is_held: bool,
}

const _: () = assert!(
    size_of::<Socket>() <= 320,
    "there may be a million WebSockets"
);

/// The stage of a connection.
#[derive(Debug)]
enum Stage {
    /// Nothing was sent.
    Fresh,
    /// The handshake was sent.
    Opening(Box<Handshake>),
    /// The handshake was sent on a stream.
    Asking,
    /// Messages can be sent.
    Open(Talk),
    /// The server has ended the connection.
    Over(Box<Failure>),
}

/// A handshake that was sent.
#[derive(Debug)]
struct Handshake {
    machine: h1::Machine,
    key: ws::Key,
    agreed: Option<ws::Agreed>,
}

/// The protocol of an open connection.
#[derive(Debug)]
struct Talk {
    reader: ws::Reader,
    writer: ws::Writer,
    closing: ws::Closing,
}

/// The exchange on the connection.
#[derive(Clone, Copy, Debug)]
struct Carried {
    id: ExchangeId,
    goal: Goal,
    /// Whether its message is not written completely.
    is_writing: bool,
    /// Whether a byte has arrived since it was sent.
    is_answered: bool,
}

/// What an exchange does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    /// The handshake.
    Connect,
    /// Messages.
    Message {
        send: Option<ws::Kind>,
        receives: bool,
        /// Whether a message that comes after the exchange was given up could be taken for the
        /// answer to a later one.
        is_asked: bool,
    },
    /// A ping.
    Ping,
    /// The closing handshake.
    Close,
}

/// What the reading of received bytes needs.
struct Reading<'a> {
    terms: &'a Terms<'a>,
    tools: &'a mut SocketTools,
    /// The time at which the bytes arrived.
    now: Nanos,
}

/// The result of passing bytes on.
enum Fed {
    /// All bytes were read.
    More,
    /// The connection cannot be used any more.
    End(Closing),
    /// The connection failed before it could carry an exchange.
    Unready(Failure),
}

impl Socket {
    /// A connection without a handshake, opened at `now`, to be opened by HTTP/1.1.
    pub(super) const fn new(now: Nanos) -> Self {
        Self::on(Carrier::Connection, now)
    }

    /// A connection of HTTP/2, opened at `now`, whose only stream will be the WebSocket.
    pub(super) fn on_stream(settings: &Settings, now: Nanos) -> Self {
        Self::on(Carrier::Stream(Box::new(Tunnel::new(settings))), now)
    }

    const fn on(carrier: Carrier, now: Nanos) -> Self {
        Self {
            carrier,
            stage: Stage::Fresh,
            exchange: None,
            unsent: Vec::new(),
            pong: None,
            failure: None,
            inbox: None,
            carried: 0,
            since: now,
            last: now,
            step: 0,
            is_held: false,
        }
    }
}

impl WireProtocol for Socket {
    fn is_ready(&self) -> bool {
        match &self.carrier {
            Carrier::Stream(tunnel) => tunnel.is_ready(),
            Carrier::Connection | Carrier::Lent => true,
        }
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.exchange.is_none()
    }

    #[inline]
    fn is_idle(&self) -> bool {
        self.exchange.is_none()
    }

    fn carried(&self) -> u64 {
        self.carried
    }

    fn outstanding(&self) -> Vec<ExchangeId> {
        self.exchange.iter().map(|exchange| exchange.id).collect()
    }

    #[inline]
    fn outgoing(&self) -> Outgoing {
        match self.failure {
            Some(_) if self.exchange.is_some() => Outgoing::Failed,
            _ => match &self.carrier {
                Carrier::Stream(tunnel) if tunnel.has_output() => Outgoing::Output,
                _ => Outgoing::Nothing,
            },
        }
    }

    fn take_no_more(&mut self) -> bool {
        self.exchange.is_none()
    }

    /// Writes what HTTP/2 has to send; bytes of messages are written when they are made.
    fn flush<I: Io, H: Handler>(&mut self, port: &mut Port<'_, I>, _handler: &mut H) -> Flushed {
        let Some(Err(error)) = self.carrier.tunnel().map(|tunnel| tunnel.flush(port)) else {
            return Flushed::Written;
        };
        match self.failure {
            Some(_) => Flushed::Written,
            None => {
                self.send_failed(error);
                Flushed::Failed
            }
        }
    }

    fn first_look(&mut self, patience: Patience, now: Nanos) -> Nanos {
        self.since = now;
        patience.idle_at(now).unwrap_or(Nanos::MAX)
    }

    fn submit<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        id: ExchangeId,
        lent: Lent<'_>,
        handler: &mut H,
        _now: Nanos,
    ) -> Submitted {
        let Some(task) = handler.socket(id) else {
            return Submitted::GivenUp;
        };
        let (opens, goal, step) = (
            task.request.plan.opens,
            Goal::of(&task.request.plan.act),
            task.step,
        );
        let is_spent = self.carried >= lent.settings.carried_max;
        let tools = lent.input.socket();
        let now = port.now();
        match &self.stage {
            Stage::Fresh if opens => {}
            Stage::Fresh => {
                let failure = Failure::from_outcome(Outcome::WebSocketNotOpen);
                return refuse(id, failure, handler, now);
            }
            Stage::Over(_) if opens => return Submitted::Stale,
            Stage::Over(failure) => return refuse(id, (**failure).clone(), handler, now),
            Stage::Open(_) if goal == Goal::Connect || opens && is_spent => {
                return Submitted::Stale;
            }
            Stage::Open(_) => {}
            Stage::Opening(_) | Stage::Asking => return Submitted::Full,
        }
        self.step = step;
        self.exchange = Some(Carried {
            id,
            goal,
            is_writing: false,
            is_answered: false,
        });
        self.carried += 1;
        self.since = now;
        let begun = match self.stage {
            Stage::Fresh => self.open(port, id, tools, handler, now),
            _ => self.begin(port, tools, handler, now),
        };
        match begun {
            true => Submitted::Carried {
                handle: Handle::Connection,
                due: Nanos::MAX,
            },
            false => Submitted::GivenUp,
        }
    }

    /// A connection survives an exchange that only receives, or only sends.
    fn cancel(&mut self, _id: ExchangeId, _handle: Handle) -> Dropped {
        let exchange = self.exchange.take();
        let survives = exchange.is_some_and(|exchange| match exchange.goal {
            Goal::Message { is_asked, .. } => !is_asked && !exchange.is_writing,
            Goal::Ping => true,
            Goal::Connect | Goal::Close => false,
        });
        match &self.stage {
            Stage::Open(_) if survives => Dropped::Stream,
            Stage::Opening(handshake) => {
                let status = handshake.machine.status();
                Dropped::Connection(Seen::new(status, drumfire_measure::Leniencies::default()))
            }
            _ => Dropped::Connection(Seen::default()),
        }
    }

    fn handle_writable<I: Io, H: Handler>(&mut self, port: &mut Port<'_, I>, handler: &mut H) {
        let now = port.now();
        self.write_rest(port, handler, now);
    }

    fn fail_sends<H: Handler>(
        &mut self,
        underway: &mut Underway,
        handler: &mut H,
        now: Nanos,
    ) -> Option<BrokenSend> {
        let id = self.exchange?.id;
        let failure = self.failure.take()?;
        self.fail(*failure, handler, now);
        underway.clear(id);
        Some(BrokenSend::Close(Closing::Reset))
    }

    fn handle_timeout<I: Io, H: Handler>(
        &mut self,
        _port: &mut Port<'_, I>,
        patience: Patience,
        _handler: &mut H,
        now: Nanos,
    ) -> Expiry {
        let from = match self.exchange {
            None => self.since,
            Some(_) => now,
        };
        match patience.idle_at(from) {
            Some(at) if at <= now => Expiry::Idle,
            at => Expiry::Until(at.unwrap_or(Nanos::MAX)),
        }
    }

    fn receive<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        terms: &Terms<'_>,
        underway: &mut Underway,
        handler: &mut H,
    ) -> Read {
        let is_unused = matches!(self.stage, Stage::Fresh);
        if is_unused && matches!(self.carrier, Carrier::Connection) {
            return refuse_input(port, input);
        }
        let was_ready = self.is_ready();
        let before = self.exchange;
        let mut read = self.receive_all(port, input, terms, handler);
        if let (Some(before), None) = (before, self.exchange) {
            underway.clear(before.id);
            if matches!(read.flow, Flow::Busy) {
                read.flow = self.free(port, input, terms);
            }
        }
        if !was_ready && self.is_ready() && matches!(read.flow, Flow::Busy) {
            let mut events = ConnectionEvents::default();
            events.note_ready(port.now());
            read.flow = Flow::Events(Box::new(events));
        }
        read
    }

    /// Whether a close frame tells the server that the end is meant.
    fn has_farewell(&self) -> bool {
        matches!(&self.stage, Stage::Open(talk) if talk.closing.may_send())
    }

    fn drain<I: Io>(&mut self, port: &mut Port<'_, I>) {
        let Stage::Open(talk) = &mut self.stage else {
            return;
        };
        // Bytes that wait must not be cut, and there is no time to wait for room.
        if talk.closing.may_send() && self.unsent.is_empty() {
            let mut frame = Vec::new();
            // A frame without a reason is never too long.
            let _fits = ws::Writer::close(&mut frame, Some(ws::CloseCode::NORMAL), "", 0);
            talk.closing.close_sent();
            // The connection is closed in any case.
            let _sent = self.carrier.send(port, &frame);
            if let Some(tunnel) = self.carrier.tunnel() {
                tunnel.end(port);
            }
        }
    }
}

impl Goal {
    fn of(act: &SocketAct) -> Self {
        match act {
            SocketAct::Connect => Self::Connect,
            SocketAct::Ping => Self::Ping,
            SocketAct::Close { .. } => Self::Close,
            SocketAct::Message { send, receive } => Self::Message {
                send: send.map(|kind| match kind {
                    MessageKind::Text => ws::Kind::Text,
                    MessageKind::Binary => ws::Kind::Binary,
                }),
                receives: receive.is_some(),
                is_asked: send.is_some()
                    && receive
                        .is_some_and(|receive| !matches!(receive.until, ReceiveUntil::Time(_))),
            },
        }
    }
}

/// Sending.
impl Socket {
    /// Sends the handshake of an exchange; `false` if the exchange is over.
    fn open<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        id: ExchangeId,
        tools: &mut SocketTools,
        handler: &mut H,
        now: Nanos,
    ) -> bool {
        let is_connect = self.goal() == Some(Goal::Connect);
        if is_connect {
            handler.sent(id, now);
        }
        let length = match self.carrier {
            Carrier::Connection => self.ask(port, id, tools, handler),
            Carrier::Stream(_) | Carrier::Lent => self.ask_on_stream(port, id, handler),
        };
        match length {
            Ok(length) => {
                handler.written(id, length, is_connect, now);
                true
            }
            Err(failure) => {
                self.exchange = None;
                handler.on_event(id, WireEvent::failed(failure), now);
                false
            }
        }
    }

    /// Sends the handshake of HTTP/1.1. Returns its length.
    fn ask<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        id: ExchangeId,
        tools: &mut SocketTools,
        handler: &H,
    ) -> Result<usize, Failure> {
        let key = ws::Key::new(tools.nonce());
        let Some(message) = handler.message(id) else {
            return Err(Failure::from_outcome(Outcome::WebSocketNotOpen));
        };
        // The head ends with an empty line, before which the key of this connection is inserted.
        let head = message.head();
        let fields = &head[..head.len() - 2];
        tools.out.clear();
        for part in [fields, b"Sec-WebSocket-Key: ", &key.text(), b"\r\n\r\n"] {
            tools.out.extend_from_slice(part);
        }
        let mut machine = h1::Machine::new();
        machine.send(h1::RequestKind::Upgrade, h1::Persistence::KeepAlive);
        self.stage = Stage::Opening(Box::new(Handshake {
            machine,
            key,
            agreed: None,
        }));
        let length = tools.out.len();
        self.send(port, &tools.out);
        Ok(length)
    }

    /// Opens the stream. Returns the number of bytes.
    fn ask_on_stream<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        id: ExchangeId,
        handler: &H,
    ) -> Result<usize, Failure> {
        let (Some(tunnel), Some(opening)) = (self.carrier.tunnel(), handler.opening(id)) else {
            return Err(Failure::from_outcome(Outcome::WebSocketNotOpen));
        };
        if !tunnel.is_offered() {
            let text = "the server does not offer WebSockets over HTTP/2 (RFC 8441)";
            return Err(Failure::with(Outcome::WebSocketRefused, text));
        }
        let Some(length) = tunnel.open(id, &opening) else {
            let text = "the server allows no stream on the connection";
            return Err(Failure::with(Outcome::WebSocketRefused, text));
        };
        self.stage = Stage::Asking;
        if let Err(error) = tunnel.flush(port) {
            self.send_failed(error);
        }
        Ok(length)
    }

    /// Begins an exchange on an open connection; `false` if the exchange is over already.
    fn begin<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        tools: &mut SocketTools,
        handler: &mut H,
        now: Nanos,
    ) -> bool {
        let Some(Carried { id, goal, .. }) = self.exchange else {
            return false;
        };
        self.since = now;
        handler.sent(id, now);
        match goal {
            Goal::Connect => true,
            Goal::Close => self.begin_close(port, id, tools, handler),
            Goal::Ping => self.begin_ping(port, id, tools, handler),
            Goal::Message {
                send: Some(kind),
                receives,
                ..
            } => {
                if receives {
                    // What came before is not an answer.
                    self.inbox = None;
                }
                self.send_message(port, kind, tools, handler, now);
                true
            }
            Goal::Message { send: None, .. } => {
                handler.written(id, 0, true, now);
                self.receive_kept(id, handler, now)
            }
        }
    }

    /// Sends the body of the exchange's request as a message.
    fn send_message<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        kind: ws::Kind,
        tools: &mut SocketTools,
        handler: &mut H,
        now: Nanos,
    ) {
        let (Stage::Open(talk), Some(exchange)) = (&mut self.stage, &mut self.exchange) else {
            return;
        };
        let id = exchange.id;
        let Some(task) = handler.socket(id) else {
            return;
        };
        let SocketTools {
            shared,
            out,
            random,
            ..
        } = tools;
        out.clear();
        let message = ws::Outgoing::new(kind, task.message);
        let mut mask = || random.bits() as u32;
        talk.writer.message(out, message, &mut mask, shared);
        exchange.is_writing = true;
        let length = out.len();
        match self.unsent.is_empty() {
            true => match self.carrier.send_request(port, out) {
                Ok(sent) => self.unsent.extend_from_slice(&out[sent..]),
                Err(error) => self.send_failed(error),
            },
            false => self.unsent.extend_from_slice(out),
        }
        tools.shrink();
        handler.written(id, length, self.unsent.is_empty(), now);
        self.note_written(handler, now);
    }

    /// Notes that the exchange's message is written, once.
    fn note_written<H: Handler>(&mut self, handler: &mut H, now: Nanos) {
        if let Some(exchange) = &mut self.exchange
            && exchange.is_writing
            && self.unsent.is_empty()
            && self.failure.is_none()
        {
            exchange.is_writing = false;
            let _pump = handler.body_taken(exchange.id, 0, now);
        }
    }

    /// Sends the ping of an exchange; `false` if there is none.
    fn begin_ping<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        id: ExchangeId,
        tools: &mut SocketTools,
        handler: &mut H,
    ) -> bool {
        let Some(task) = handler.socket(id) else {
            return false;
        };
        tools.out.clear();
        let mask = tools.random.bits() as u32;
        // A plan's ping fits, and one that is too long is not sent.
        let _fits = ws::Writer::ping(&mut tools.out, task.message, mask);
        let length = tools.out.len();
        self.send(port, &tools.out);
        let now = port.now();
        handler.written(id, length, true, now);
        let _pump = handler.body_taken(id, 0, now);
        true
    }

    /// Sends the close frame of an exchange.
    fn begin_close<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        id: ExchangeId,
        tools: &mut SocketTools,
        handler: &mut H,
    ) -> bool {
        let (Stage::Open(talk), Some(task)) = (&mut self.stage, handler.socket(id)) else {
            return false;
        };
        tools.out.clear();
        if let SocketAct::Close { code, reason } = &task.request.plan.act {
            let code = code.map(ws::CloseCode);
            // The plan's reason fits.
            let mask = tools.random.bits() as u32;
            let _fits = ws::Writer::close(&mut tools.out, code, reason, mask);
        }
        talk.closing.close_sent();
        let length = tools.out.len();
        self.send(port, &tools.out);
        let now = port.now();
        handler.written(id, length, true, now);
        true
    }

    /// Sends bytes, after those that wait.
    fn send<I: Io>(&mut self, port: &mut Port<'_, I>, bytes: &[u8]) {
        if !self.unsent.is_empty() {
            return self.unsent.extend_from_slice(bytes);
        }
        match self.carrier.send(port, bytes) {
            Ok(sent) => self.unsent.extend_from_slice(&bytes[sent..]),
            Err(error) => self.send_failed(error),
        }
    }

    #[cold]
    fn send_failed(&mut self, error: IoError) {
        self.failure = Some(Box::new(io_failure(error, During::Send)));
    }

    /// Sends the bytes that wait.
    fn write_rest<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        handler: &mut H,
        now: Nanos,
    ) {
        if self.unsent.is_empty() || self.failure.is_some() || self.carrier.is_lent() {
            return;
        }
        match self.carrier.send(port, &self.unsent) {
            Ok(sent) if sent == self.unsent.len() => {
                // The memory is not kept: a connection seldom has to wait.
                self.unsent = Vec::new();
                if let Some(pong) = self.pong.take() {
                    self.send(port, &pong);
                }
                if let Some(exchange) = self.exchange.filter(|exchange| exchange.is_writing) {
                    handler.written(exchange.id, 0, true, now);
                }
                self.note_written(handler, now);
            }
            Ok(sent) => drop(self.unsent.drain(..sent)),
            Err(error) => self.send_failed(error),
        }
    }

    fn goal(&self) -> Option<Goal> {
        self.exchange.map(|exchange| exchange.goal)
    }
}

/// Receiving.
impl Socket {
    fn receive_all<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        terms: &Terms<'_>,
        handler: &mut H,
    ) -> Read {
        for _ in 0..RECEIVES_PER_TURN {
            let received = input.receive(port);
            let Ok(Received::Bytes {
                length,
                drained,
                arrived,
            }) = received
            else {
                return Read {
                    flow: self.stopped(received, port, handler),
                    unread: false,
                };
            };
            let now = port.time_of(arrived);
            if let Some(exchange) = &mut self.exchange {
                if arrived.is_some() && !exchange.is_answered {
                    note_departure(port, exchange.id, handler);
                }
                exchange.is_answered = true;
                handler.received(exchange.id, length, now);
            }
            let flow = match self.feed(port, input, terms, handler, now) {
                Fed::More => None,
                Fed::End(why) => Some(Flow::Close(why)),
                Fed::Unready(failure) => Some(unready(failure)),
            };
            if let Some(flow) = flow {
                return Read {
                    flow,
                    unread: false,
                };
            }
            if drained && !terms.peer_closed {
                return Read {
                    flow: Flow::Busy,
                    unread: false,
                };
            }
        }
        Read {
            flow: Flow::Busy,
            unread: true,
        }
    }

    /// Passes received bytes on: to the handshake, then to the messages.
    fn feed<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        terms: &Terms<'_>,
        handler: &mut H,
        now: Nanos,
    ) -> Fed {
        let (mut rest, shared, tools) = input.received_of_socket();
        let mut reading = Reading { terms, tools, now };
        if let Carrier::Stream(_) = self.carrier {
            return self.feed_stream(port, rest, &mut reading, handler);
        }
        if let Stage::Opening(handshake) = &mut self.stage {
            match self.exchange {
                Some(exchange) => match handshake.read(&mut rest, shared, exchange, handler, now) {
                    Ok(None) => return Fed::More,
                    Ok(Some(agreed)) => {
                        return self.opened(port, &agreed, rest, &mut reading, handler);
                    }
                    Err(failure) => return self.fail(failure, handler, now),
                },
                None => return Fed::End(Closing::Failed),
            }
        }
        self.read_frames(port, rest, &mut reading, handler)
    }

    /// Passes bytes of HTTP/2 on.
    fn feed_stream<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        mut rest: &[u8],
        reading: &mut Reading<'_>,
        handler: &mut H,
    ) -> Fed {
        let carrier = std::mem::replace(&mut self.carrier, Carrier::Lent);
        let Carrier::Stream(mut tunnel) = carrier else {
            self.carrier = carrier;
            return Fed::More;
        };
        let fed = loop {
            let fed = match tunnel.read(rest) {
                Ok(None) => break Fed::More,
                Ok(Some(piece)) => {
                    rest = &rest[piece.consumed..];
                    self.came(port, &piece.came, reading, handler)
                }
                Err(failure) => self.stream_failed(failure, handler, reading.now),
            };
            if !matches!(fed, Fed::More) {
                break fed;
            }
        };
        self.carrier = Carrier::Stream(tunnel);
        self.write_rest(port, handler, reading.now);
        self.flush(port, handler);
        fed
    }

    /// Handles what has come on the stream.
    fn came<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        came: &Came<'_>,
        reading: &mut Reading<'_>,
        handler: &mut H,
    ) -> Fed {
        let now = reading.now;
        let (fed, end) = match (came, self.exchange) {
            (Came::Nothing, _) => return Fed::More,
            (Came::Interim, Some(exchange)) => {
                handler.on_event(exchange.id, WireEvent::Interim, now);
                return Fed::More;
            }
            (
                Came::Head {
                    status,
                    headers,
                    end,
                },
                Some(exchange),
            ) => {
                let head = Answer {
                    status: *status,
                    fields: (*headers).into(),
                };
                let checked = head.check(exchange, handler, now, |offer| {
                    offer.check_http2(*status, headers.iter())
                });
                match checked {
                    Ok(agreed) => (self.opened(port, &agreed, &[], reading, handler), *end),
                    Err(failure) => return self.fail(failure, handler, now),
                }
            }
            (Came::Interim | Came::Head { .. }, None) => return Fed::End(Closing::Failed),
            (Came::Bytes { bytes, end }, _) => {
                (self.read_frames(port, bytes, reading, handler), *end)
            }
        };
        match (fed, end) {
            (Fed::More, true) if !matches!(self.stage, Stage::Over(_)) => {
                let failure = Failure::from_outcome(Outcome::WebSocketLost);
                self.end(failure, handler, now)
            }
            (fed, _) => fed,
        }
    }

    /// Ends the connection after its stream, or HTTP/2 itself, has failed.
    #[cold]
    fn stream_failed<H: Handler>(&mut self, failure: Failure, handler: &mut H, now: Nanos) -> Fed {
        match self.stage {
            Stage::Fresh => Fed::Unready(failure),
            Stage::Over(_) => Fed::More,
            Stage::Opening(_) | Stage::Asking => self.fail(failure, handler, now),
            Stage::Open(_) => {
                let text = failure.words().into_owned();
                let lost = Failure::with(Outcome::WebSocketLost, text);
                self.end(lost, handler, now)
            }
        }
    }

    /// Continues with an open connection, after the answer to the handshake and with the bytes
    /// after it.
    fn opened<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        agreed: &ws::Agreed,
        rest: &[u8],
        reading: &mut Reading<'_>,
        handler: &mut H,
    ) -> Fed {
        let now = reading.now;
        self.stage = Stage::Open(Talk {
            reader: ws::Reader::new(agreed, reading.terms.settings.socket_keep),
            writer: ws::Writer::new(agreed),
            closing: ws::Closing::new(),
        });
        self.last = now;
        match self.exchange {
            Some(Carried {
                goal: Goal::Connect,
                ..
            }) => {
                // The handler has ended the exchange with the head.
                self.exchange = None;
                self.is_held = true;
            }
            Some(Carried {
                id,
                goal: Goal::Message { send: Some(_), .. },
                ..
            }) => {
                // A message that comes with the answer is a greeting: ours is not sent yet.
                if let Some(exchange) = &mut self.exchange {
                    exchange.is_writing = true;
                }
                let fed = self.read_frames(port, rest, reading, handler);
                if self.exchange.is_some() {
                    handler.seated(id, now);
                    self.start(port, reading.tools, handler);
                }
                return fed;
            }
            Some(Carried { id, .. }) => {
                handler.seated(id, now);
                self.start(port, reading.tools, handler);
            }
            None => {}
        }
        self.read_frames(port, rest, reading, handler)
    }

    /// Begins the exchange that has waited for the handshake.
    fn start<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        tools: &mut SocketTools,
        handler: &mut H,
    ) {
        let now = port.now();
        if !self.begin(port, tools, handler, now) {
            self.exchange = None;
        }
    }

    /// Reads frames.
    fn read_frames<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        mut rest: &[u8],
        reading: &mut Reading<'_>,
        handler: &mut H,
    ) -> Fed {
        let now = reading.now;
        loop {
            let Stage::Open(talk) = &mut self.stage else {
                // After the server's end, everything is discarded.
                return Fed::More;
            };
            let SocketTools { shared, random, .. } = &mut *reading.tools;
            let step = match talk.reader.handle_input(rest, shared) {
                Ok(step) => step,
                Err(violation) => {
                    let code = violation.close_code();
                    let mut frame = Vec::new();
                    let mask = random.bits() as u32;
                    // A frame without a reason is never too long.
                    let _fits = ws::Writer::close(&mut frame, Some(code), "", mask);
                    talk.closing.close_sent();
                    self.send(port, &frame);
                    return self.end(socket_violation(&violation), handler, now);
                }
            };
            rest = &rest[step.consumed..];
            match step.event {
                ws::Event::NeedInput => break,
                ws::Event::Pong(_) => note(self.exchange, SocketNote::Pong, handler, now),
                ws::Event::Ping(payload) => {
                    note(self.exchange, SocketNote::Ping, handler, now);
                    let mask = random.bits() as u32;
                    // The payload of a ping fits into a pong.
                    if self.unsent.len() < PONG_BYTES {
                        let _fits = ws::Writer::pong(&mut self.unsent, payload, mask);
                    } else {
                        let mut latest = Vec::new();
                        let _fits = ws::Writer::pong(&mut latest, payload, mask);
                        self.pong = Some(latest.into());
                    }
                }
                ws::Event::Message(message) => {
                    let (payload, length) = (message.payload, message.length);
                    let message = SocketMessage {
                        kind: message.kind,
                        payload,
                        length,
                        leniencies: socket_leniencies(talk.reader.take_notices()),
                    };
                    if let Some(why) = self.message(&message, reading.terms, handler, now) {
                        return Fed::End(why);
                    }
                }
                ws::Event::Close(close) => {
                    let (code, reason) = (close.code, close.reason.to_owned());
                    if let Some(reply) = talk.closing.close_received(code) {
                        let mask = random.bits() as u32;
                        // A frame without a reason is never too long.
                        let _fits = ws::Writer::close(&mut self.unsent, reply.code, "", mask);
                        talk.closing.close_sent();
                    }
                    let closes = SocketNote::Close(code.map(|code| code.0), &reason);
                    note(self.exchange, closes, handler, now);
                    self.write_rest(port, handler, now);
                    return self.closed(socket_closed(code, &reason), handler, now);
                }
            }
        }
        self.write_rest(port, handler, now);
        Fed::More
    }

    /// Passes a message to the exchange that waits for it, or counts and perhaps keeps it. Returns
    /// the reason if the connection must be closed.
    fn message<H: Handler>(
        &mut self,
        message: &SocketMessage<'_>,
        terms: &Terms<'_>,
        handler: &mut H,
        now: Nanos,
    ) -> Option<Closing> {
        let before = std::mem::replace(&mut self.last, now);
        let exchange = self.exchange.filter(|exchange| {
            !exchange.is_writing && matches!(exchange.goal, Goal::Message { receives: true, .. })
        });
        let Some(exchange) = exchange else {
            handler.unasked(self.step, before, now);
            if self.is_held && terms.settings.keeps_messages {
                self.inbox.get_or_insert_default().push(message);
            }
            return None;
        };
        match handler.on_event(exchange.id, WireEvent::Message(*message), now) {
            Then::GoOn => None,
            Then::Over { .. } => {
                self.exchange = None;
                None
            }
            Then::GiveUp => {
                self.exchange = None;
                Some(Closing::Failed)
            }
        }
    }

    /// Passes the messages that were kept to an exchange that only receives; `false` if they end it.
    fn receive_kept<H: Handler>(&mut self, id: ExchangeId, handler: &mut H, now: Nanos) -> bool {
        let Some(mut inbox) = self.inbox.take() else {
            return true;
        };
        if inbox.is_full() {
            self.exchange = None;
            let failure = Failure::from_outcome(Outcome::LimitInbox);
            handler.on_event(id, WireEvent::failed(failure), now);
            return false;
        }
        while let Some(kept) = inbox.pop() {
            let message = SocketMessage {
                kind: kept.kind,
                payload: &kept.payload,
                length: kept.length,
                leniencies: kept.leniencies,
            };
            if handler.on_event(id, WireEvent::Message(message), now) != Then::GoOn {
                self.exchange = None;
                self.inbox = Some(inbox).filter(|inbox| !inbox.is_empty());
                return false;
            }
        }
        true
    }

    /// Ends the exchange after the server's close frame: a close is then complete, and anything else
    /// has failed.
    fn closed<H: Handler>(&mut self, failure: Failure, handler: &mut H, now: Nanos) -> Fed {
        if let Some(Carried {
            id,
            goal: Goal::Close,
            ..
        }) = self.exchange
        {
            self.exchange = None;
            let leniencies = drumfire_measure::Leniencies::default();
            handler.on_event(id, WireEvent::End { leniencies }, now);
            return Fed::End(Closing::Left);
        }
        self.end(failure, handler, now)
    }

    /// Ends the connection, which the server has ended: its exchange fails, or the next one does if
    /// a step has opened the connection.
    fn end<H: Handler>(&mut self, failure: Failure, handler: &mut H, now: Nanos) -> Fed {
        if self.exchange.is_some() {
            let _failed = self.fail(failure, handler, now);
            return Fed::End(Closing::Peer);
        }
        match self.is_held {
            true => {
                self.stage = Stage::Over(Box::new(failure));
                self.inbox = None;
                Fed::More
            }
            false => Fed::End(Closing::Peer),
        }
    }

    /// Fails the exchange.
    fn fail<H: Handler>(&mut self, failure: Failure, handler: &mut H, now: Nanos) -> Fed {
        let status = match &self.stage {
            Stage::Opening(handshake) => handshake.machine.status(),
            _ => 0,
        };
        if let Some(exchange) = self.exchange.take() {
            let failed = WireEvent::Failed {
                failure,
                seen: Seen::new(status, drumfire_measure::Leniencies::default()),
                resend: Resend::Never,
            };
            handler.on_event(exchange.id, failed, now);
        }
        Fed::End(Closing::Failed)
    }

    /// Ends a series of receives after one without bytes.
    #[cold]
    fn stopped<I: Io, H: Handler>(
        &mut self,
        received: Result<Received, IoError>,
        port: &Port<'_, I>,
        handler: &mut H,
    ) -> Flow {
        let now = port.now();
        let failure = match (received, &mut self.stage) {
            (Ok(Received::Bytes { .. } | Received::Nothing), _) => return Flow::Busy,
            (Ok(Received::End), Stage::Opening(handshake)) => {
                let error = handshake.machine.handle_end();
                let outcome = error.map_or_else(|error| http1_outcome(&error), |_| Outcome::Closed);
                port.explain(Failure::from_outcome(outcome))
            }
            (Ok(Received::End), Stage::Fresh) => {
                return unready(port.explain(Failure::from_outcome(Outcome::Closed)));
            }
            (Err(error), Stage::Fresh) => {
                return unready(port.explain(io_failure(error, During::Send)));
            }
            (Ok(Received::End), Stage::Asking) => {
                port.explain(Failure::from_outcome(Outcome::Closed))
            }
            (Ok(Received::End), Stage::Over(_)) => return Flow::Busy,
            (Ok(Received::End), _) => Failure::from_outcome(Outcome::WebSocketLost),
            (Err(_), Stage::Over(_)) => return Flow::Busy,
            (Err(error), Stage::Opening(_) | Stage::Asking) => {
                port.explain(io_failure(error, During::Send))
            }
            (Err(error), _) => {
                let text = io_failure(error, During::Send).words().into_owned();
                Failure::with(Outcome::WebSocketLost, text)
            }
        };
        match self.end(failure, handler, now) {
            Fed::More => Flow::Busy,
            Fed::End(why) => Flow::Close(why),
            Fed::Unready(failure) => unready(failure),
        }
    }

    /// Makes the connection free after an exchange, or ends it.
    fn free<I: Io>(
        &mut self,
        port: &mut Port<'_, I>,
        input: &mut Input,
        terms: &Terms<'_>,
    ) -> Flow {
        self.since = port.now();
        let is_spent = self.carried >= terms.settings.carried_max;
        let why = match (terms.leaving, is_spent && !self.is_held) {
            (Some(why), _) => why,
            (None, true) => Closing::Spent,
            (None, false) => return Flow::Room { since: None },
        };
        self.drain(port);
        input.discard_all(port);
        Flow::Close(why)
    }
}

impl Handshake {
    /// Reads bytes of the answer, and removes them from `rest`. Returns what was agreed on after the
    /// head.
    ///
    /// # Errors
    /// If the server refuses, or its answer is invalid.
    fn read<'a, H: Handler>(
        &mut self,
        rest: &mut &'a [u8],
        shared: &mut h1::Shared,
        exchange: Carried,
        handler: &mut H,
        now: Nanos,
    ) -> Result<Option<ws::Agreed>, Failure> {
        loop {
            let input: &'a [u8] = rest;
            let step = match self.machine.handle_input(input, shared) {
                Ok(step) => step,
                Err(error) => {
                    let failure = Failure::from_outcome(http1_outcome(&error));
                    return Err(match error.hint() {
                        Some(hint) => Failure::with(failure.outcome, hint),
                        None => failure,
                    });
                }
            };
            *rest = &input[step.consumed..];
            match step.event {
                h1::Event::NeedInput => return Ok(None),
                h1::Event::Interim(_) => {
                    handler.on_event(exchange.id, WireEvent::Interim, now);
                }
                h1::Event::Head(head) => {
                    let answer = Answer {
                        status: head.status,
                        fields: head.headers.into(),
                    };
                    let agreed = answer.check(exchange, handler, now, |offer| {
                        offer.check_http1(&self.key, head.status, head.headers.iter())
                    })?;
                    self.agreed = Some(agreed);
                }
                h1::Event::Body(_) => {}
                h1::Event::End(_) => return Ok(self.agreed.take()),
            }
        }
    }
}

/// The head of the answer to a handshake.
struct Answer<'a> {
    status: u16,
    fields: Fields<'a>,
}

impl Answer<'_> {
    /// Checks the head by the offer of the exchange's request, and passes it on if it ends the
    /// exchange.
    ///
    /// # Errors
    /// If the server refuses, or its answer is invalid.
    fn check<H: Handler>(
        self,
        exchange: Carried,
        handler: &mut H,
        now: Nanos,
        check: impl FnOnce(&ws::Offer) -> Result<ws::Agreed, ws::Refusal>,
    ) -> Result<ws::Agreed, Failure> {
        let Some(task) = handler.socket(exchange.id) else {
            return Err(Failure::from_outcome(Outcome::WebSocketNotOpen));
        };
        let agreed = check(&task.request.offer).map_err(|refusal| {
            let outcome = match refusal {
                ws::Refusal::Status(_) => Outcome::WebSocketRefused,
                _ => Outcome::WebSocketHandshake,
            };
            Failure::with(outcome, refusal.to_string())
        })?;
        if exchange.goal == Goal::Connect {
            let head = WireEvent::Head {
                status: self.status,
                fields: self.fields,
                ahead: Ahead::Nothing,
            };
            handler.on_event(exchange.id, head, now);
        }
        Ok(agreed)
    }
}

/// Passes a note to the exchange on the connection.
fn note<H: Handler>(exchange: Option<Carried>, note: SocketNote<'_>, handler: &mut H, now: Nanos) {
    if let Some(exchange) = exchange {
        handler.noted(exchange.id, note, now);
    }
}

/// The end of a connection that failed before it could carry an exchange.
#[cold]
fn unready(failure: Failure) -> Flow {
    let mut events = ConnectionEvents::default();
    events.fail(failure);
    Flow::Events(Box::new(events))
}

/// Fails an exchange before anything of it was sent.
#[cold]
fn refuse<H: Handler>(id: ExchangeId, failure: Failure, handler: &mut H, now: Nanos) -> Submitted {
    handler.on_event(id, WireEvent::failed(failure), now);
    Submitted::GivenUp
}
