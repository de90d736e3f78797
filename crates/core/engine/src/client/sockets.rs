//! The WebSockets of a client: conversations of any length, on connections of their own.
//!
//! ```text
//!   open ─► Connect ─► Receive ◄─► Send, Ping ─► Close ─► gone
//! ```
//!
//! The wire carries one exchange at a time. A socket that is open therefore receives by an exchange
//! without an end, which gives way to an exchange for each message that is sent. What the server
//! does becomes a [`SocketEvent`], in the order in which it happened.

use super::reply::SocketTicket;
use super::sites::Use;
use super::socket_event::{NO_CODE, SocketEvent};
use super::{BodyUse, Client, ClientRequest};
use crate::id::{ExchangeId, LaneId, ShareId};
use drumfire_measure::Outcome;
use drumfire_net::Io;
use drumfire_plan::{
    Body, Deflate, HttpRequest, MessageKind, Receive, ReceiveUntil, SocketAct, WebSocket,
};
use drumfire_units::Nanos;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// A WebSocket to open.
#[derive(Debug)]
pub struct SocketRequest {
    /// The number of the user, as the caller counts.
    pub user: u32,
    /// The handshake: its URL, with the scheme http or https, and its fields.
    pub request: HttpRequest,
    /// The subprotocols to offer, in order of preference; tokens without duplicates.
    pub subprotocols: Vec<String>,
    /// Whether the client offers to compress messages.
    pub deflate: Deflate,
    /// The maximum time of the handshake.
    pub timeout: Nanos,
}

/// What the client sends.
#[derive(Debug)]
pub enum SocketSend {
    /// A message.
    Message(MessageKind, Vec<u8>),
    /// A ping.
    Ping(Vec<u8>),
    /// A close frame with a code and a reason of at most 123 bytes.
    Close(u16, String),
}

/// The maximum time for the server's part of the closing handshake.
const CLOSE_MAX: Nanos = Nanos::from_secs(10);

/// What an exchange of a socket does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Connect,
    Receive,
    /// A message or a ping.
    Send,
    Close(u16),
}

struct Talk {
    user: u32,
    request: HttpRequest,
    plan: WebSocket,
    seat: Option<(LaneId, ShareId)>,
    current: Option<(ExchangeId, Doing)>,
    queue: VecDeque<SocketSend>,
    is_open: bool,
    closes: bool,
    /// The code and reason of the server's close frame.
    farewell: Option<(u16, String)>,
}

/// The sockets of a client.
#[derive(Default)]
pub(super) struct Sockets {
    talks: HashMap<u32, Talk>,
    next: u32,
    events: VecDeque<(SocketTicket, SocketEvent)>,
    /// The socket of each exchange.
    owners: HashMap<ExchangeId, u32>,
}

impl Sockets {
    pub(super) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    fn event(&mut self, socket: u32, event: SocketEvent) {
        self.events.push_back((SocketTicket(socket), event));
    }
}

impl<I: Io> Client<I> {
    /// Opens a WebSocket. Its ticket is valid until [`SocketEvent::Closed`],
    /// [`SocketEvent::Failed`], a failed [`SocketEvent::Opened`], or [`Self::drop_socket`].
    pub fn open_socket(&mut self, request: SocketRequest) -> SocketTicket {
        let number = self.sockets.next;
        self.sockets.next = number.wrapping_add(1);
        let plan = WebSocket {
            act: SocketAct::Connect,
            opens: true,
            subprotocols: request.subprotocols,
            deflate: request.deflate,
        };
        let talk = Talk {
            user: request.user,
            request: request.request,
            plan,
            seat: None,
            current: None,
            queue: VecDeque::new(),
            is_open: false,
            closes: false,
            farewell: None,
        };
        self.sockets.talks.insert(number, talk);
        let id = self.begin_exchange(number, Doing::Connect, Body::default(), request.timeout);
        if let Some(id) = id {
            self.seek(id, Use::Socket);
        }
        SocketTicket(number)
    }

    /// Sends something on a socket, after what was given before. A socket that is closing, or has
    /// ended, sends nothing.
    pub fn send_on(&mut self, socket: SocketTicket, what: SocketSend) {
        let Some(talk) = self.sockets.talks.get_mut(&socket.0) else {
            return;
        };
        if talk.closes {
            return;
        }
        talk.closes = matches!(what, SocketSend::Close(..));
        talk.queue.push_back(what);
        self.go_on(socket.0);
    }

    /// Takes what happened on any socket next.
    pub fn take_socket_event(&mut self) -> Option<(SocketTicket, SocketEvent)> {
        self.sockets.events.pop_front()
    }

    /// Ends a socket without a closing handshake and without a further event.
    pub fn drop_socket(&mut self, socket: SocketTicket) {
        self.sockets.events.retain(|(other, _)| *other != socket);
        self.end_talk(socket.0);
    }

    /// Removes a socket and closes its connection.
    fn end_talk(&mut self, socket: u32) {
        let Some(talk) = self.sockets.talks.remove(&socket) else {
            return;
        };
        if let Some((id, _)) = talk.current {
            self.sockets.owners.remove(&id);
            self.give_up(id);
        }
        if let Some(seat) = talk.seat {
            self.transport.close_share(context!(self), seat.1);
            self.leave(talk.user, seat);
        }
    }

    /// Begins an exchange of a socket, without a place.
    fn begin_exchange(
        &mut self,
        socket: u32,
        doing: Doing,
        body: Body,
        timeout: Nanos,
    ) -> Option<ExchangeId> {
        let talk = self.sockets.talks.get_mut(&socket)?;
        let receive = Receive {
            until: ReceiveUntil::Count(u64::MAX),
            gap: Nanos::MAX,
        };
        // Only the handshake, which comes first, has these.
        let subprotocols = std::mem::take(&mut talk.plan.subprotocols);
        let headers = std::mem::take(&mut talk.request.headers);
        let mut plan = WebSocket {
            subprotocols,
            ..talk.plan.clone()
        };
        (plan.act, plan.opens) = match (doing, &talk.queue.front()) {
            (Doing::Connect, _) => (SocketAct::Connect, true),
            (Doing::Receive, _) => {
                let (send, receive) = (None, Some(receive));
                (SocketAct::Message { send, receive }, false)
            }
            (_, Some(SocketSend::Message(kind, _))) => {
                let (send, receive) = (Some(*kind), None);
                (SocketAct::Message { send, receive }, false)
            }
            (_, Some(SocketSend::Close(code, reason))) => {
                let (code, reason) = (Some(*code), reason.clone());
                (SocketAct::Close { code, reason }, false)
            }
            (_, _) => (SocketAct::Ping, false),
        };
        let request = HttpRequest {
            headers,
            body,
            socket: Some(Arc::new(plan)),
            ..talk.request.clone()
        };
        let (user, seat) = (talk.user, talk.seat);
        let now = self.io.now();
        let id = self.desk.begin(
            ClientRequest {
                user,
                request,
                timeout,
                body: BodyUse::Drop,
            },
            now,
        );
        self.desk.entry_mut(id).seat = seat;
        self.sockets.owners.insert(id, socket);
        if let Some(talk) = self.sockets.talks.get_mut(&socket) {
            talk.current = Some((id, doing));
        }
        Some(id)
    }

    /// Begins what a socket does next, if it is free for it.
    fn go_on(&mut self, socket: u32) {
        let Some(talk) = self.sockets.talks.get_mut(&socket) else {
            return;
        };
        if !talk.is_open {
            return;
        }
        match talk.current {
            Some((id, Doing::Receive)) if !talk.queue.is_empty() => {
                talk.current = None;
                self.sockets.owners.remove(&id);
                self.give_up(id);
            }
            Some(_) => return,
            None => {}
        }
        let Some(talk) = self.sockets.talks.get_mut(&socket) else {
            return;
        };
        let (doing, body) = match talk.queue.front_mut() {
            None => (Doing::Receive, Vec::new()),
            Some(SocketSend::Message(_, bytes) | SocketSend::Ping(bytes)) => {
                (Doing::Send, std::mem::take(bytes))
            }
            Some(SocketSend::Close(code, _)) => (Doing::Close(*code), Vec::new()),
        };
        let seat = talk.seat;
        let body = Body(Some(body.into()));
        let limit = match doing {
            Doing::Close(_) => CLOSE_MAX,
            _ => Nanos::MAX,
        };
        let id = self.begin_exchange(socket, doing, body, limit);
        if doing != Doing::Receive
            && let Some(talk) = self.sockets.talks.get_mut(&socket)
        {
            talk.queue.pop_front();
        }
        if let (Some(id), Some((_, share))) = (id, seat) {
            self.submit(id, share, self.io.now());
        }
    }

    /// Notes the place of a socket's handshake.
    pub(super) fn seat_socket(&mut self, id: ExchangeId, seat: (LaneId, ShareId)) {
        let socket = self.sockets.owners.get(&id);
        if let Some(talk) = socket.and_then(|socket| self.sockets.talks.get_mut(socket)) {
            talk.seat = Some(seat);
        }
    }

    /// Turns what the desk has heard into events, and begins what follows.
    pub(super) fn settle_sockets(&mut self) {
        loop {
            let mut is_quiet = true;
            while let Some((id, note)) = self.desk.take_socket_note() {
                is_quiet = false;
                let Some(socket) = self.sockets.owners.get(&id).copied() else {
                    continue;
                };
                match note {
                    SocketEvent::Closed(code, reason) => {
                        if let Some(talk) = self.sockets.talks.get_mut(&socket) {
                            talk.farewell = Some((code, reason));
                        }
                    }
                    event => self.sockets.event(socket, event),
                }
            }
            while let Some(id) = self.desk.next_socket_ended() {
                is_quiet = false;
                self.exchange_ended(id);
            }
            if is_quiet {
                return;
            }
        }
    }

    fn exchange_ended(&mut self, id: ExchangeId) {
        let Some(socket) = self.sockets.owners.remove(&id) else {
            return self.desk.forget(id);
        };
        let Some(talk) = self.sockets.talks.get_mut(&socket) else {
            return self.desk.forget(id);
        };
        let doing = talk.current.take().map(|(_, doing)| doing);
        let farewell = talk.farewell.take();
        let address = talk
            .seat
            .and_then(|(_, share)| self.transport.address_of(share));
        let reply = self.desk.take_reply(id, address);
        let is_ok = reply.outcome == Outcome::Ok;
        if is_ok && doing == Some(Doing::Send) {
            // The exchange is over, and its connection is to carry the next one.
            let now = self.io.now();
            self.transport.cancel(context!(self), id, now);
        }
        match (doing, is_ok) {
            (Some(Doing::Connect), _) => {
                if let Some(talk) = self.sockets.talks.get_mut(&socket) {
                    talk.is_open = is_ok;
                }
                self.sockets
                    .event(socket, SocketEvent::Opened(Box::new(reply)));
                match is_ok {
                    true => self.go_on(socket),
                    false => self.end_talk(socket),
                }
            }
            (Some(Doing::Close(code)), true) => {
                let (code, reason) = farewell.unwrap_or((code, String::new()));
                self.sockets
                    .event(socket, SocketEvent::Closed(code, reason));
                self.end_talk(socket);
            }
            (_, true) => self.go_on(socket),
            (_, false) => {
                let event = match (farewell, reply.outcome) {
                    (Some((code, reason)), _) => SocketEvent::Closed(code, reason),
                    (None, Outcome::WebSocketClosed) => SocketEvent::Closed(NO_CODE, String::new()),
                    (None, outcome) => {
                        let text = reply.detail.unwrap_or_else(|| outcome.words().to_owned());
                        SocketEvent::Failed(outcome, text)
                    }
                };
                self.sockets.event(socket, event);
                self.end_talk(socket);
            }
        }
    }
}
