//! WebSockets of users, and requests in the background: what happens to them waits in the user's list until its
//! script takes it.

use super::{Run, Vu, Work};
use crate::ask::Answer;
use crate::clock::Due;
use crate::codes;
use crate::errand::Errand;
use crate::talk::{Event, Handshake, Happening, SocketAct, SocketErrand, SocketModule};
use drumfire_engine::{Reply, SocketEvent, SocketRequest, SocketSend, SocketTicket};
use drumfire_k6::Tags;
use drumfire_measure::Outcome as EngineOutcome;
use drumfire_net::Io;
use drumfire_plan::MessageKind;
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// What happens to a user beside its calls.
#[derive(Default)]
pub(super) struct Background {
    sockets: Vec<OwnSocket>,
    events: VecDeque<Event>,
    /// Whether the user waits for an event, and of which number.
    awaits: Option<Option<u32>>,
    last: u32,
}

/// A socket of a user.
struct OwnSocket {
    number: u32,
    ticket: SocketTicket,
    tags: Tags,
    url: String,
    module: SocketModule,
    begun: Nanos,
    /// When the pings were sent that have no pong.
    pings: VecDeque<Nanos>,
}

impl Background {
    fn next_number(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    /// Notes that the user goes on without an event.
    pub(super) fn stop_waiting(&mut self) {
        self.awaits = None;
    }

    /// Takes the events that a user waits for.
    fn take(&mut self, only: Option<u32>) -> Vec<Event> {
        let is_wanted = |event: &Event| only.is_none_or(|only| event.number == only);
        let all = std::mem::take(&mut self.events);
        let (taken, left): (Vec<Event>, Vec<Event>) = all.into_iter().partition(is_wanted);
        self.events = left.into();
        taken
    }
}

/// The socket of a user with a ticket.
fn socket_of(vu: &mut Vu, ticket: SocketTicket) -> Option<&mut OwnSocket> {
    let background = vu.background.as_mut()?;
    let mut sockets = background.sockets.iter_mut();
    sockets.find(|own| own.ticket == ticket)
}

impl<I: Io> Run<I> {
    /// Opens a socket.
    pub(super) fn open_socket(&mut self, user: u32, socket: SocketErrand) {
        let now = self.shared.now.get();
        let number = self.background(user).next_number();
        let mut tags = self.shared.tags_of(user);
        let settings = self.shared.settings.borrow();
        if settings.has_tag("url") {
            tags.set("url", &socket.address);
        }
        if socket.module == SocketModule::Websockets && settings.has_tag("name") {
            tags.set("name", &socket.address);
        }
        for (name, value) in &socket.errand.tags {
            tags.set(name, value);
        }
        drop(settings);
        match &socket.errand.hop {
            Ok(hop) => {
                let (request, _) = self.request_of(user, hop, &socket.errand);
                let ticket = self.client.open_socket(SocketRequest {
                    user,
                    request,
                    subprotocols: socket.subprotocols,
                    deflate: socket.deflate,
                    timeout: socket.errand.timeout,
                });
                self.socket_owners.insert(ticket, user);
                let own = OwnSocket {
                    number,
                    ticket,
                    tags,
                    url: socket.address,
                    module: socket.module,
                    begun: now,
                    pings: VecDeque::new(),
                };
                self.background(user).sockets.push(own);
            }
            Err((error, _)) => {
                let refused = Happening::Refused(Handshake {
                    url: String::new(),
                    status: 0,
                    fields: Vec::new(),
                    error: error.clone(),
                });
                self.happen(user, number, refused);
            }
        }
        self.answer(user, Answer::Number(number));
    }

    /// Carries out an act on a socket.
    pub(super) fn act_on_socket(&mut self, user: u32, number: u32, act: SocketAct) {
        let now = self.shared.now.get();
        let background = self.vus[user as usize].background.as_mut();
        let mut sockets = background.into_iter().flat_map(|of| &mut of.sockets);
        if let Some(own) = sockets.find(|own| own.number == number) {
            let ticket = own.ticket;
            match act {
                SocketAct::Drop => {
                    let own = self.remove_socket(user, ticket);
                    self.client.drop_socket(ticket);
                    self.end_session(own.as_ref());
                }
                SocketAct::Send(what) => {
                    let is_message = matches!(what, SocketSend::Message(..));
                    if matches!(what, SocketSend::Ping(_)) {
                        own.pings.push_back(now);
                    }
                    if is_message || own.module == SocketModule::Websockets {
                        let tags = own.tags.clone();
                        self.shared.add(self.shared.builtin.ws_sent, 1.0, &tags);
                    }
                    self.client.send_on(ticket, what);
                }
            }
        }
        self.answer(user, Answer::Woken);
    }

    /// Begins requests whose results become an event.
    pub(super) fn start_requests(&mut self, user: u32, errands: Vec<Errand>) {
        let number = self.background(user).next_number();
        self.begin_flight(user, number, errands);
        self.answer(user, Answer::Number(number));
    }

    /// Lets a user wait for events, at most for a time.
    pub(super) fn await_events(&mut self, user: u32, wait: Option<Nanos>, only: Option<u32>) {
        let events = self.background(user).take(only);
        if !events.is_empty() || wait == Some(Nanos::ZERO) {
            return self.answer(user, Answer::Events(events));
        }
        self.background(user).awaits = Some(only);
        if let Some(wait) = wait {
            let turn = self.vus[user as usize].turn;
            let at = self.shared.now.get() + wait;
            self.timers.add(at, Due::Wake(user, turn));
        }
    }

    /// Answers a call of a user at once.
    fn answer(&mut self, user: u32, answer: Answer) {
        let (turn, now) = (self.vus[user as usize].turn, self.shared.now.get());
        self.work.push_back(Work::Answer(user, turn, answer, now));
    }

    /// What happens to a user beside its calls.
    fn background(&mut self, user: u32) -> &mut Background {
        self.vus[user as usize].background.get_or_insert_default()
    }

    /// Gives an event to a user, and continues the user if it waits for one.
    pub(super) fn happen(&mut self, user: u32, number: u32, what: Happening) {
        let background = self.background(user);
        background.events.push_back(Event { number, what });
        let Some(only) = background.awaits else {
            return;
        };
        if only.is_some_and(|only| only != number) {
            return;
        }
        background.awaits = None;
        let events = background.take(only);
        self.answer(user, Answer::Events(events));
    }

    /// Handles what has happened on sockets.
    pub(super) fn hear_sockets(&mut self) {
        while let Some((ticket, event)) = self.client.take_socket_event() {
            let Some(user) = self.socket_owners.get(&ticket).copied() else {
                continue;
            };
            self.hear_socket(user, ticket, event);
        }
    }

    fn hear_socket(&mut self, user: u32, ticket: SocketTicket, event: SocketEvent) {
        let now = self.shared.now.get();
        let Some(own) = socket_of(&mut self.vus[user as usize], ticket) else {
            return;
        };
        let number = own.number;
        let builtin = &self.shared.builtin;
        let what = match event {
            SocketEvent::Opened(reply) => return self.socket_opened(user, ticket, *reply),
            SocketEvent::Message(kind, bytes) => {
                let tags = own.tags.clone();
                self.shared.add(builtin.ws_received, 1.0, &tags);
                self.count_received(user, bytes.len());
                match kind {
                    MessageKind::Text => Happening::Text(bytes),
                    MessageKind::Binary => Happening::Binary(bytes),
                }
            }
            SocketEvent::Ping => Happening::Ping,
            SocketEvent::Pong => {
                if let Some(sent) = own.pings.pop_front() {
                    let (tags, time) = (own.tags.clone(), (now - sent).0 as f64 / 1e6);
                    self.shared.add(builtin.ws_ping, time, &tags);
                }
                Happening::Pong
            }
            SocketEvent::Closed(code, reason) => {
                let own = self.remove_socket(user, ticket);
                self.end_session(own.as_ref());
                Happening::Closed(code, reason)
            }
            SocketEvent::Failed(outcome, detail) => {
                let own = self.remove_socket(user, ticket);
                self.end_session(own.as_ref());
                Happening::Failed(codes::words(outcome, Some(&detail)))
            }
        };
        self.happen(user, number, what);
    }

    /// Handles the answer to a handshake: its samples, and the response that the script gets.
    fn socket_opened(&mut self, user: u32, ticket: SocketTicket, reply: Reply) {
        let is_ok = reply.outcome == EngineOutcome::Ok;
        let Some(own) = socket_of(&mut self.vus[user as usize], ticket) else {
            return;
        };
        let field = |wanted: &str| {
            let mut fields = reply.fields.iter();
            let found = fields.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map_or_else(String::new, |(_, value)| {
                String::from_utf8_lossy(value).into_owned()
            })
        };
        if reply.status != 0 {
            let settings = self.shared.settings.borrow();
            if settings.has_tag("status") {
                own.tags.set("status", &reply.status.to_string());
            }
            if settings.has_tag("subproto") {
                own.tags.set("subproto", &field("sec-websocket-protocol"));
            }
        }
        let (number, begun, tags) = (own.number, own.begun, own.tags.clone());
        let url = own.url.clone();
        let connecting = (reply.times.end - reply.times.began).0 as f64 / 1e6;
        let builtin = &self.shared.builtin;
        self.shared.add_at(begun, builtin.ws_sessions, 1.0, &tags);
        self.shared
            .add_at(begun, builtin.ws_connecting, connecting, &tags);
        let mut users = self.shared.users.borrow_mut();
        users[user as usize].bytes_sent += reply.bytes_sent;
        users[user as usize].bytes_received += reply.bytes_received;
        drop(users);
        let handshake = Handshake {
            url: if is_ok { url } else { String::new() },
            status: reply.status,
            fields: reply.fields,
            error: match is_ok || reply.status != 0 {
                true => String::new(),
                false => codes::words(reply.outcome, reply.detail.as_deref()),
            },
        };
        if is_ok {
            return self.happen(user, number, Happening::Opened(handshake));
        }
        let own = self.remove_socket(user, ticket);
        self.end_session(own.as_ref());
        self.happen(user, number, Happening::Refused(handshake));
    }

    fn count_received(&self, user: u32, bytes: usize) {
        let mut users = self.shared.users.borrow_mut();
        users[user as usize].bytes_received += bytes as u64;
    }

    fn remove_socket(&mut self, user: u32, ticket: SocketTicket) -> Option<OwnSocket> {
        self.socket_owners.remove(&ticket);
        let sockets = &mut self.background(user).sockets;
        let at = sockets.iter().position(|own| own.ticket == ticket)?;
        Some(sockets.remove(at))
    }

    /// Counts the time of a socket that has ended.
    fn end_session(&self, own: Option<&OwnSocket>) {
        if let Some(own) = own {
            let time = (self.shared.now.get() - own.begun).0 as f64 / 1e6;
            let metric = self.shared.builtin.ws_session_duration;
            self.shared.add_at(own.begun, metric, time, &own.tags);
        }
    }

    /// Ends everything that a user has in the background.
    pub(super) fn end_background(&mut self, user: u32) {
        let Some(background) = self.vus[user as usize].background.take() else {
            return;
        };
        for own in background.sockets {
            self.socket_owners.remove(&own.ticket);
            self.client.drop_socket(own.ticket);
            self.end_session(Some(&own));
        }
        self.cancel_flights(user);
    }
}
