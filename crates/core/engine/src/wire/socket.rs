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
mod exchange;
mod handshake;
mod inbox;
mod receiving;
mod sending;

use self::carrier::{SocketCarrier, Tunnel};
use self::exchange::{Goal, SocketExchange};
use self::handshake::SentHandshake;
use self::inbox::SocketInbox;
use super::answers::{
    BrokenSend, ConnectionEvents, Dropped, Expiry, Flow, Flushed, Outgoing, Read, Submitted,
};
use super::contract::WireProtocol;
use super::handler::{Handler, Seen, WireEvent};
use super::http1::refuse_input;
use super::port::{Input, Port};
use super::settings::{Lent, Patience, Settings, Terms};
use super::underway::{Handle, Underway};
use crate::blame::Failure;
use crate::id::ExchangeId;
use drumfire_measure::{Closing, Leniencies, Outcome};
use drumfire_net::Io;
use drumfire_units::Nanos;
use drumfire_websocket as ws;

/// A connection that is, or will be, a WebSocket.
#[derive(Debug)]
pub(crate) struct Socket {
    carrier: SocketCarrier,
    stage: Stage,
    exchange: Option<SocketExchange>,
    /// Bytes that wait for the socket to become writable.
    unsent: Vec<u8>,
    /// The answer to the latest ping, if [`PONG_BYTES`](crate::limits::PONG_BYTES) wait already. RFC 6455 section 5.5.3 allows
    /// to answer only the latest.
    pong: Option<Box<[u8]>>,
    /// The failure of a send; bytes that the server sent before must still be read.
    failure: Option<Box<Failure>>,
    /// Messages that no exchange has received yet; `None` until there was one.
    inbox: Option<Box<SocketInbox>>,
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
    Opening(Box<SentHandshake>),
    /// The handshake was sent on a stream.
    Asking,
    /// Messages can be sent.
    Open(Talk),
    /// The server has ended the connection.
    Over(Box<Failure>),
}

/// The protocol of an open connection.
#[derive(Debug)]
struct Talk {
    reader: ws::Reader,
    writer: ws::Writer,
    closing: ws::Closing,
}

impl Socket {
    /// A connection without a handshake, opened at `now`, to be opened by HTTP/1.1.
    pub(super) const fn new(now: Nanos) -> Self {
        Self::on(SocketCarrier::Connection, now)
    }

    /// A connection of HTTP/2, opened at `now`, whose only stream will be the WebSocket.
    pub(super) fn on_stream(settings: &Settings, now: Nanos) -> Self {
        Self::on(SocketCarrier::Stream(Box::new(Tunnel::new(settings))), now)
    }

    const fn on(carrier: SocketCarrier, now: Nanos) -> Self {
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
            SocketCarrier::Stream(tunnel) => tunnel.is_ready(),
            SocketCarrier::Connection | SocketCarrier::Lent => true,
        }
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
                SocketCarrier::Stream(tunnel) if tunnel.has_output() => Outgoing::Output,
                _ => Outgoing::Nothing,
            },
        }
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
            Goal::from_act(&task.request.plan.act),
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
        self.exchange = Some(SocketExchange {
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
                Dropped::Connection(Seen::new(status, Leniencies::default()))
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
        let last = match self.exchange {
            None => self.since,
            Some(_) => now,
        };
        patience.expiry(last, now)
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
        if is_unused && matches!(self.carrier, SocketCarrier::Connection) {
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

/// Fails an exchange before anything of it was sent.
#[cold]
fn refuse<H: Handler>(id: ExchangeId, failure: Failure, handler: &mut H, now: Nanos) -> Submitted {
    handler.on_event(id, WireEvent::failed(failure), now);
    Submitted::GivenUp
}
