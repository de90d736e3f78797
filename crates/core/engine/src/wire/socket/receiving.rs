//! What a WebSocket receives: the answer to its handshake, messages, and the end.

use super::carrier::{Came, SocketCarrier};
use super::exchange::{Goal, SocketExchange};
use super::handshake::HandshakeAnswer;
use super::{Socket, Stage, Talk};
use crate::blame::{During, Failure, http1_outcome, io_failure, socket_closed, socket_violation};
use crate::id::ExchangeId;
use crate::leniency::socket_leniencies;
use crate::limits::{PONG_BYTES, RECEIVES_PER_TURN};
use crate::wire::contract::WireProtocol;
use crate::wire::handler::SocketNote;
use crate::wire::http1::note_departure;
use crate::wire::port::SocketTools;
use crate::wire::{
    ConnectionEvents, Flow, Handler, Input, Port, Read, Resend, Seen, SocketMessage, Terms, Then,
    WireEvent,
};
use drumfire_measure::{Closing, Leniencies, Outcome};
use drumfire_net::{Io, IoError, Received};
use drumfire_units::Nanos;
use drumfire_websocket as ws;

/// What the reading of received bytes needs.
struct Reading<'a> {
    terms: &'a Terms<'a>,
    tools: &'a mut SocketTools,
    /// The time at which the bytes arrived.
    now: Nanos,
}

/// The result of passing bytes on.
pub(super) enum Fed {
    /// All bytes were read.
    More,
    /// The connection cannot be used any more.
    End(Closing),
    /// The connection failed before it could carry an exchange.
    Unready(Failure),
}

impl Socket {
    pub(super) fn receive_all<I: Io, H: Handler>(
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
        if let SocketCarrier::Stream(_) = self.carrier {
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
        let carrier = std::mem::replace(&mut self.carrier, SocketCarrier::Lent);
        let SocketCarrier::Stream(mut tunnel) = carrier else {
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
        self.carrier = SocketCarrier::Stream(tunnel);
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
                let head = HandshakeAnswer {
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
            Some(SocketExchange {
                goal: Goal::Connect,
                ..
            }) => {
                // The handler has ended the exchange with the head.
                self.exchange = None;
                self.is_held = true;
            }
            Some(SocketExchange {
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
            Some(SocketExchange { id, .. }) => {
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
    pub(super) fn receive_kept<H: Handler>(
        &mut self,
        id: ExchangeId,
        handler: &mut H,
        now: Nanos,
    ) -> bool {
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
        if let Some(SocketExchange {
            id,
            goal: Goal::Close,
            ..
        }) = self.exchange
        {
            self.exchange = None;
            let leniencies = Leniencies::default();
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
    pub(super) fn fail<H: Handler>(
        &mut self,
        failure: Failure,
        handler: &mut H,
        now: Nanos,
    ) -> Fed {
        let status = match &self.stage {
            Stage::Opening(handshake) => handshake.machine.status(),
            _ => 0,
        };
        if let Some(exchange) = self.exchange.take() {
            let failed = WireEvent::Failed {
                failure,
                seen: Seen::new(status, Leniencies::default()),
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
    pub(super) fn free<I: Io>(
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

/// Passes a note to the exchange on the connection.
fn note<H: Handler>(
    exchange: Option<SocketExchange>,
    note: SocketNote<'_>,
    handler: &mut H,
    now: Nanos,
) {
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
