//! The account of each request of a client: the transport's [`Handler`].
//!
//! An event changes only its own entry. The end of a request puts its id on a list, which the client
//! reads after the transport has returned.

use super::reply::{Reply, ReplyTimes, Ticket};
use super::socket_event::SocketEvent;
use super::{BodyUse, ClientRequest};
use crate::blame::Failure;
use crate::id::{ExchangeId, LaneId, ShareId};
use crate::prepare::{Form, Rendered, SocketRequest};
use crate::wire::{
    Ahead, Chunk, ConnectionNote, Fields, GivenUp, Handler, Opening, Pump, Resend, SocketNote,
    SocketTask, Then, WireEvent,
};
use drumfire_measure::Outcome;
use drumfire_net::Slot;
use drumfire_plan::{Body, HttpRequest, MessageKind};
use drumfire_units::Nanos;
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

/// The state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// The entry can be used by the next request.
    Free,
    Running,
    /// The reply can be taken.
    Ended,
}

/// One request.
pub(super) struct Entry {
    progress: Progress,
    pub(super) user: u32,
    pub(super) request: HttpRequest,
    /// The request as it is sent, once its route is known.
    pub(super) form: Option<Form>,
    /// What the exchange does, if it is one of a WebSocket.
    socket: Option<SocketRequest>,
    /// The share that carries the request.
    pub(super) seat: Option<(LaneId, ShareId)>,
    body_use: BodyUse,
    /// The bytes of a stream's body that were sent.
    body_sent: usize,
    is_written: bool,
    is_resent: bool,
    deadline: Nanos,
    reply: Reply,
}

impl Entry {
    fn new(request: ClientRequest, id: ExchangeId, now: Nanos) -> Self {
        Self {
            progress: Progress::Running,
            user: request.user,
            socket: SocketRequest::of(&request.request),
            request: request.request,
            form: None,
            seat: None,
            body_use: request.body,
            body_sent: 0,
            is_written: false,
            is_resent: false,
            deadline: Nanos(now.0.saturating_add(request.timeout.0)),
            reply: Reply {
                ticket: Ticket(id.0),
                outcome: Outcome::Ok,
                detail: None,
                status: 0,
                version: "",
                fields: Vec::new(),
                body: Vec::new(),
                times: ReplyTimes {
                    began: now,
                    sent: Nanos::MAX,
                    written: Nanos::MAX,
                    first_byte: Nanos::MAX,
                    end: Nanos::MAX,
                    connect: Nanos::ZERO,
                    tls: Nanos::ZERO,
                },
                address: None,
                bytes_sent: 0,
                bytes_received: 0,
            },
        }
    }

    /// Prepares another attempt, if the first one may be repeated.
    fn resends(&mut self, resend: Resend) -> bool {
        let idempotent = || self.form.as_ref().is_some_and(Form::is_idempotent);
        let allowed = match resend {
            Resend::Never => false,
            Resend::Idempotent | Resend::Reused => idempotent(),
            Resend::Refused | Resend::After(_) => true,
        };
        if self.is_resent || !allowed {
            return false;
        }
        self.is_resent = true;
        self.is_written = false;
        self.body_sent = 0;
        self.reply.status = 0;
        self.reply.fields.clear();
        self.reply.body.clear();
        self.reply.times.first_byte = Nanos::MAX;
        true
    }
}

/// All requests of a client.
pub(super) struct Desk {
    entries: Vec<Entry>,
    free: Vec<ExchangeId>,
    ended: VecDeque<ExchangeId>,
    /// What happened on WebSockets, and their exchanges that have ended.
    notes: VecDeque<(ExchangeId, SocketEvent)>,
    ended_on_sockets: VecDeque<ExchangeId>,
    resends: Vec<ExchangeId>,
    /// A lower bound of all deadlines.
    next_scan: Nanos,
    body_max: usize,
    /// The slot whose events are handled.
    slot: Option<Slot>,
    /// The times of connections that are being opened.
    openings: HashMap<Option<Slot>, (Nanos, Nanos)>,
}

impl Desk {
    pub(super) fn new(body_max: usize) -> Self {
        Self {
            entries: Vec::new(),
            free: Vec::new(),
            ended: VecDeque::new(),
            notes: VecDeque::new(),
            ended_on_sockets: VecDeque::new(),
            resends: Vec::new(),
            next_scan: Nanos::MAX,
            body_max,
            slot: None,
            openings: HashMap::new(),
        }
    }

    /// The number of entries in use.
    pub(super) const fn open(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Sets the slot to which the following events belong, if it is known.
    pub(super) const fn at_work(&mut self, slot: Option<Slot>) {
        self.slot = slot;
    }

    pub(super) fn begin(&mut self, request: ClientRequest, now: Nanos) -> ExchangeId {
        let id = self.free.pop();
        let id = id.unwrap_or(ExchangeId(self.entries.len() as u32));
        let entry = Entry::new(request, id, now);
        self.next_scan = self.next_scan.min(entry.deadline);
        match self.entries.get_mut(id.index()) {
            Some(place) => *place = entry,
            None => self.entries.push(entry),
        }
        id
    }

    pub(super) fn entry_mut(&mut self, id: ExchangeId) -> &mut Entry {
        &mut self.entries[id.index()]
    }

    fn entry(&self, id: ExchangeId) -> &Entry {
        &self.entries[id.index()]
    }

    pub(super) fn is_running(&self, id: ExchangeId) -> bool {
        self.entry(id).progress == Progress::Running
    }

    /// Ends a request.
    pub(super) fn end(&mut self, id: ExchangeId, failure: Failure, now: Nanos) {
        let entry = self.entry_mut(id);
        if entry.progress != Progress::Running {
            return;
        }
        entry.progress = Progress::Ended;
        entry.deadline = Nanos::MAX;
        let times = &mut entry.reply.times;
        let seen = |at: Nanos| if at == Nanos::MAX { Nanos::ZERO } else { at };
        let last = seen(times.sent).max(seen(times.first_byte));
        times.end = now.max(last).max(times.began);
        entry.reply.outcome = failure.outcome;
        entry.reply.detail = failure.detail.map(|detail| detail.to_string());
        match entry.socket {
            None => self.ended.push_back(id),
            Some(_) => self.ended_on_sockets.push_back(id),
        }
    }

    /// Frees the entry of a request whose reply is not wanted.
    pub(super) fn forget(&mut self, id: ExchangeId) {
        self.ended.retain(|other| *other != id);
        self.ended_on_sockets.retain(|other| *other != id);
        self.resends.retain(|other| *other != id);
        self.free_entry(id);
    }

    fn free_entry(&mut self, id: ExchangeId) {
        let entry = self.entry_mut(id);
        if entry.progress != Progress::Free {
            entry.progress = Progress::Free;
            entry.deadline = Nanos::MAX;
            entry.form = None;
            entry.socket = None;
            // As many entries stay as users once had requests at a time.
            entry.request.headers = Vec::new();
            entry.request.body = Body::default();
            self.free.push(id);
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Takes what happened next on a WebSocket.
    pub(super) fn take_socket_note(&mut self) -> Option<(ExchangeId, SocketEvent)> {
        self.notes.pop_front()
    }

    /// Whether something happened on WebSockets.
    pub(super) fn has_socket_news(&self) -> bool {
        !self.notes.is_empty() || !self.ended_on_sockets.is_empty()
    }

    pub(super) fn next_socket_ended(&mut self) -> Option<ExchangeId> {
        self.ended_on_sockets.pop_front()
    }

    pub(super) fn next_ended(&mut self) -> Option<ExchangeId> {
        self.ended.pop_front()
    }

    /// Takes the reply of a request that has ended.
    pub(super) fn take_reply(&mut self, id: ExchangeId, address: Option<SocketAddr>) -> Reply {
        let reply = &mut self.entry_mut(id).reply;
        let reply = Reply {
            detail: reply.detail.take(),
            fields: std::mem::take(&mut reply.fields),
            body: std::mem::take(&mut reply.body),
            address,
            ..*reply
        };
        self.free_entry(id);
        reply
    }

    pub(super) fn next_resend(&mut self) -> Option<ExchangeId> {
        self.resends.pop()
    }

    /// The time at which to call [`Self::overdue`].
    pub(super) const fn next_timeout(&self) -> Nanos {
        self.next_scan
    }

    /// The requests whose time is up. The scan takes all requests, once for the earliest deadline.
    pub(super) fn overdue(&mut self, now: Nanos) -> Vec<ExchangeId> {
        if now < self.next_scan {
            return Vec::new();
        }
        let ids = (0..).map(ExchangeId).zip(&self.entries);
        let running = ids.filter(|(_, entry)| entry.progress == Progress::Running);
        let (mut late, mut next) = (Vec::new(), Nanos::MAX);
        for (id, entry) in running {
            if entry.deadline <= now {
                late.push(id);
            } else {
                next = next.min(entry.deadline);
            }
        }
        self.next_scan = next;
        late
    }

    /// Ends a request whose time is up.
    pub(super) fn time_out(&mut self, id: ExchangeId, now: Nanos) {
        self.resends.retain(|other| *other != id);
        let outcome = match self.entry(id).reply.status {
            0 if self.entry(id).reply.times.sent != Nanos::MAX => Outcome::TimeoutHead,
            _ => Outcome::TimeoutTotal,
        };
        self.end(id, Failure::from_outcome(outcome), now);
    }

    fn over(&mut self, id: ExchangeId, failure: Failure, now: Nanos) -> Then {
        let cut = !self.entry(id).is_written;
        self.end(id, failure, now);
        Then::Over { cut }
    }

    fn head(&mut self, id: ExchangeId, status: u16, fields: Fields<'_>) {
        let reply = &mut self.entry_mut(id).reply;
        reply.status = status;
        reply.version = fields.version();
        let kept = &mut reply.fields;
        fields.all(|name, value| kept.push((name.to_owned(), value.to_vec())));
    }

    /// Keeps bytes of a body; `false` if the body is too large.
    fn data(&mut self, id: ExchangeId, bytes: &[u8]) -> bool {
        let limit = self.body_max;
        let entry = self.entry_mut(id);
        if entry.body_use == BodyUse::Keep {
            entry.reply.body.extend_from_slice(bytes);
        }
        entry.reply.body.len() <= limit
    }
}

impl Handler for Desk {
    fn render_request(
        &mut self,
        _: ExchangeId,
        _: u32,
        _: Nanos,
        _: impl FnOnce() -> u64,
    ) -> Result<(), GivenUp> {
        Ok(())
    }

    fn sent_at(&self, id: ExchangeId) -> Nanos {
        self.entry(id).reply.times.sent
    }

    fn message(&self, id: ExchangeId) -> Option<&Rendered> {
        match self.entry(id).form.as_ref()? {
            Form::Rendered(rendered) => Some(rendered),
            _ => None,
        }
    }

    fn opening(&self, id: ExchangeId) -> Option<Opening<'_>> {
        match self.entry(id).form.as_ref()? {
            Form::Stream(stream) => Some(Opening::new(&stream.head, None, !stream.body.is_empty())),
            _ => None,
        }
    }

    fn socket(&self, id: ExchangeId) -> Option<SocketTask<'_>> {
        let entry = self.entry(id);
        Some(SocketTask {
            request: entry.socket.as_ref()?,
            message: entry.request.body.0.as_deref().unwrap_or_default(),
            step: 0,
        })
    }

    fn noted(&mut self, id: ExchangeId, note: SocketNote<'_>, _: Nanos) {
        let event = match note {
            SocketNote::Ping => SocketEvent::Ping,
            SocketNote::Pong => SocketEvent::Pong,
            SocketNote::Close(code, reason) => SocketEvent::closed(code, reason),
        };
        self.notes.push_back((id, event));
    }

    fn body(&self, id: ExchangeId) -> Option<Chunk<'_>> {
        let entry = self.entry(id);
        match entry.form.as_ref()? {
            Form::Stream(stream) if !entry.is_written && !stream.body.is_empty() => {
                Some(Chunk::new(&stream.body[entry.body_sent..], true))
            }
            _ => None,
        }
    }

    fn body_taken(&mut self, id: ExchangeId, taken: usize, now: Nanos) -> Pump {
        if self.entry(id).socket.is_some() {
            self.end(id, Failure::from_outcome(Outcome::Ok), now);
            return Pump::Wait;
        }
        let entry = self.entry_mut(id);
        entry.body_sent += taken;
        match &entry.form {
            Some(Form::Stream(stream)) if entry.body_sent < stream.body.len() => Pump::Again,
            _ => Pump::Wait,
        }
    }

    fn body_refused(&mut self, id: ExchangeId) {
        self.entry_mut(id).is_written = true;
    }

    fn written(&mut self, id: ExchangeId, bytes: usize, whole: bool, now: Nanos) {
        let entry = self.entry_mut(id);
        entry.reply.bytes_sent += bytes as u64;
        if whole {
            entry.is_written = true;
            entry.reply.times.written = now;
        }
    }

    fn sent(&mut self, id: ExchangeId, now: Nanos) {
        let times = &mut self.entry_mut(id).reply.times;
        if times.sent == Nanos::MAX {
            times.sent = now;
        }
    }

    fn received(&mut self, id: ExchangeId, bytes: usize, now: Nanos) {
        let reply = &mut self.entry_mut(id).reply;
        reply.times.first_byte = reply.times.first_byte.min(now);
        reply.bytes_received += bytes as u64;
    }

    fn reads_body(&self, id: ExchangeId) -> bool {
        self.entry(id).body_use == BodyUse::Keep
    }

    fn on_event(&mut self, id: ExchangeId, event: WireEvent<'_>, now: Nanos) -> Then {
        match event {
            WireEvent::Interim => Then::GoOn,
            WireEvent::Message(message) => {
                if message.length > message.payload.len() as u64 {
                    self.end(id, Failure::from_outcome(Outcome::LimitMessage), now);
                    return Then::GiveUp;
                }
                let kind = match message.kind {
                    drumfire_websocket::Kind::Text => MessageKind::Text,
                    drumfire_websocket::Kind::Binary => MessageKind::Binary,
                };
                let event = SocketEvent::Message(kind, message.payload.to_vec());
                self.notes.push_back((id, event));
                Then::GoOn
            }
            WireEvent::Head {
                status,
                fields,
                ahead,
            } => {
                self.head(id, status, fields);
                match ahead {
                    Ahead::Nothing => self.over(id, Failure::from_outcome(Outcome::Ok), now),
                    Ahead::Body | Ahead::NoBody => Then::GoOn,
                }
            }
            WireEvent::Data { bytes, end } => {
                if !self.data(id, bytes) {
                    self.end(id, Failure::from_outcome(Outcome::LimitBody), now);
                    return Then::GiveUp;
                }
                match end {
                    true => self.over(id, Failure::from_outcome(Outcome::Ok), now),
                    false => Then::GoOn,
                }
            }
            WireEvent::End { .. } | WireEvent::Trailers { .. } => {
                self.over(id, Failure::from_outcome(Outcome::Ok), now)
            }
            WireEvent::Failed {
                failure,
                seen,
                resend,
            } => {
                let entry = self.entry_mut(id);
                if let (Some(_), Some(status)) = (&entry.socket, seen.status()) {
                    // The server has refused the handshake.
                    entry.reply.status = status;
                }
                if self.entry_mut(id).resends(resend) {
                    self.resends.push(id);
                    return Then::GoOn;
                }
                self.over(id, failure, now)
            }
        }
    }

    fn seated(&mut self, id: ExchangeId, _: Nanos) {
        let opened = self.openings.remove(&self.slot);
        if let Some((connect, tls)) = opened {
            let times = &mut self.entry_mut(id).reply.times;
            times.connect = connect;
            times.tls = tls;
        }
    }

    fn note(&mut self, note: ConnectionNote) {
        match note {
            ConnectionNote::Connected { time, .. } => {
                self.openings.insert(self.slot, (time, Nanos::ZERO));
            }
            ConnectionNote::Secured { time, .. } => {
                self.openings.entry(self.slot).or_default().1 = time;
            }
            ConnectionNote::Closed(_) => {
                self.openings.remove(&self.slot);
            }
            ConnectionNote::Paused | ConnectionNote::HeldBack(_) => {}
        }
    }
}
