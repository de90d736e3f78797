//! What a WebSocket sends: handshakes, messages, pings and closes, and the bytes that wait for the
//! socket.

use super::carrier::SocketCarrier;
use super::exchange::{Goal, SocketExchange};
use super::handshake::SentHandshake;
use super::{Socket, Stage};
use crate::blame::{During, Failure, io_failure};
use crate::id::ExchangeId;
use crate::wire::port::SocketTools;
use crate::wire::{Handler, Port, WireEvent};
use drumfire_http1 as h1;
use drumfire_measure::Outcome;
use drumfire_net::{Io, IoError};
use drumfire_plan::SocketAct;
use drumfire_units::Nanos;
use drumfire_websocket as ws;

impl Socket {
    /// Sends the handshake of an exchange; `false` if the exchange is over.
    pub(super) fn open<I: Io, H: Handler>(
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
            SocketCarrier::Connection => self.ask(port, id, tools, handler),
            SocketCarrier::Stream(_) | SocketCarrier::Lent => self.ask_on_stream(port, id, handler),
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
        self.stage = Stage::Opening(Box::new(SentHandshake {
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
    pub(super) fn begin<I: Io, H: Handler>(
        &mut self,
        port: &mut Port<'_, I>,
        tools: &mut SocketTools,
        handler: &mut H,
        now: Nanos,
    ) -> bool {
        let Some(SocketExchange { id, goal, .. }) = self.exchange else {
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
    pub(super) fn send<I: Io>(&mut self, port: &mut Port<'_, I>, bytes: &[u8]) {
        if !self.unsent.is_empty() {
            return self.unsent.extend_from_slice(bytes);
        }
        match self.carrier.send(port, bytes) {
            Ok(sent) => self.unsent.extend_from_slice(&bytes[sent..]),
            Err(error) => self.send_failed(error),
        }
    }

    #[cold]
    pub(super) fn send_failed(&mut self, error: IoError) {
        self.failure = Some(Box::new(io_failure(error, During::Send)));
    }

    /// Sends the bytes that wait.
    pub(super) fn write_rest<I: Io, H: Handler>(
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

    pub(super) fn goal(&self) -> Option<Goal> {
        self.exchange.map(|exchange| exchange.goal)
    }
}
