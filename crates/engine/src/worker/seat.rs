//! Exchanges on connections that carry many at a time: from the start to the last byte written.

use super::Worker;
use crate::arrivals::Arrival;
use crate::blame::{Failure, grpc_code};
use crate::connection::{Exchange, State};
use crate::limits::BACKOFF_MIN;
use crate::place::{Group, Phase, Place, Talk};
use crate::prepare::{Request, StreamRequest};
use crate::redirect::{Follow, StreamHop};
use drumfire_http2::{EndStream, OpenError};
use drumfire_measure::{GRPC_STATUS, Outcome};
use drumfire_net::{Io, Slot};
use drumfire_plan::HttpVersion;
use drumfire_units::Nanos;
use std::cmp::Reverse;
use std::collections::VecDeque;

impl<I: Io> Worker<I> {
    /// Makes the places, where connections carry many exchanges.
    pub(super) fn furnish(&mut self) {
        let plan = &self.prepared.plan;
        if plan.http.version != HttpVersion::Http2 {
            return;
        }
        for (slot, connection) in (0u32..).zip(&mut self.slots) {
            connection.group = slot;
            self.groups.push(Group {
                slot,
                waiting: VecDeque::new(),
            });
            let places = (0..plan.connections.streams).map(|_| Place::new(slot));
            self.places.extend(places);
        }
    }

    /// Lists the free places, the connections in turn.
    pub(super) fn gather_places(&mut self) {
        let streams = self.prepared.plan.connections.streams as usize;
        for seat in 0..streams {
            for group in 0..self.groups.len() {
                let route = self.slots[group].route;
                let place = (group * streams + seat) as u32;
                self.routes[usize::from(route)].free.push_back(place);
            }
        }
    }

    /// Whether connections carry many exchanges at a time.
    #[inline]
    pub(crate) fn is_multiplexed(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Gives a request to a free place.
    #[inline]
    pub(crate) fn seat(&mut self, index: u32, arrival: Arrival, now: Nanos) {
        let request = self.request_of(arrival);
        let total = self.prepared.plan.timeouts.total;
        let limit = self.prepared.requests[request].limit(total);
        let place = &mut self.places[index as usize];
        place.exchange = Exchange {
            request: request as u32,
            number: arrival.index,
            intended: arrival.intended,
            due: arrival.intended.max(place.freed).max(self.crowd.free_since),
            started: now,
            ..Exchange::NONE
        };
        place.told = 0;
        if let Some(talk) = &mut place.talk {
            talk.counted = 0;
            talk.total = Talk::UNKNOWN;
        }
        place.deadline = now + limit;
        self.next_scan = self.next_scan.min(place.deadline);
        self.active += 1;
        self.started += u64::from(arrival.intended >= self.measure_from);
        self.board(index, now);
    }

    /// Puts a place's exchange on its connection, or lets it wait for one.
    #[inline]
    pub(super) fn board(&mut self, index: u32, now: Nanos) {
        let place = &mut self.places[index as usize];
        place.status = 0;
        place.interim = 0;
        let group = &self.groups[place.group as usize];
        let slot = group.slot;
        let connection = &self.slots[slot as usize];
        let room = match &connection.link {
            Some(link) if connection.state == State::Open => link.machine.capacity(),
            _ => 0,
        };
        let ahead = group.waiting.len() as u32;
        if self.reading == Some(slot) && room > ahead {
            self.wait_for_room(index);
        } else if room > 0 && ahead == 0 {
            self.open_stream(index, slot, now);
        } else {
            self.note_held_back(slot);
            self.wait_for_room(index);
            self.call_for_connection(slot, now);
        }
    }

    /// A request waits: on an open connection, because the server allows no further stream.
    fn note_held_back(&mut self, slot: u32) {
        let connection = &self.slots[slot as usize];
        let machine = connection.link.as_ref().map(|link| &link.machine);
        if connection.state == State::Open
            && let Some(machine) = machine.filter(|machine| !machine.is_spent())
            && let Some(allowed) = machine.streams_max_peer()
        {
            self.recorder.interval().held_back.record(allowed);
        }
    }

    fn wait_for_room(&mut self, index: u32) {
        let place = &mut self.places[index as usize];
        place.phase = Phase::Waiting;
        self.groups[place.group as usize].waiting.push_back(index);
    }

    /// Opens a place's stream, if its connection has room.
    pub(super) fn open_stream(&mut self, index: u32, slot: u32, now: Nanos) {
        self.tools.metadata.clear();
        if let Err(reason) = self.begin_call(index, now) {
            return self.fail_place(index, now, (Outcome::BadData, Some(reason)));
        }
        let place = &mut self.places[index as usize];
        let request = &self.prepared.requests[place.exchange.request as usize];
        let Some(stream) = stream_of(place.follow.as_deref(), request) else {
            return;
        };
        let end = if stream.has_body {
            EndStream::No
        } else {
            EndStream::Yes
        };
        let length = stream.body.len() as u32;
        let Some(link) = &mut self.slots[slot as usize].link else {
            return;
        };
        let before = link.machine.output().len();
        let metadata = &self.tools.metadata;
        let opened = if metadata.is_empty() {
            link.machine.open(index, &stream.head, &[], end)
        } else {
            let fields: Vec<(&[u8], &[u8])> = metadata
                .iter()
                .map(|field| (field.name().as_bytes(), field.value()))
                .collect();
            link.machine.open(index, &stream.head, &fields, end)
        };
        match opened {
            Ok(opened) => {
                place.phase = Phase::Open(opened);
                place.slot = slot;
                place.exchange.unwritten = length;
                link.carried += 1;
                link.unsent.push(index);
                let has_body = stream.has_body;
                count_sent(&mut place.exchange, link.machine.output().len() - before);
                self.mark(slot);
                if has_body {
                    self.send_body(index);
                }
                self.retire_if_spent(slot, now);
            }
            Err(OpenError::Full | OpenError::Spent) => self.wait_for_room(index),
        }
    }

    /// Hands to a place's stream what it takes of the request's body.
    pub(super) fn send_body(&mut self, index: u32) {
        if self.is_talking(index) {
            return self.send_talk(index);
        }
        let place = &mut self.places[index as usize];
        let (Phase::Open(opened), slot) = (place.phase, place.slot) else {
            return;
        };
        let request = &self.prepared.requests[place.exchange.request as usize];
        let Some(stream) = stream_of(place.follow.as_deref(), request) else {
            return;
        };
        let Some(link) = &mut self.slots[slot as usize].link else {
            return;
        };
        let from = stream.body.len() - place.exchange.unwritten as usize;
        let before = link.machine.output().len();
        let rest = &stream.body[from..];
        // A stream that is gone wants no more; its response says why.
        if let Ok(taken) = link.machine.send_data(opened, rest, EndStream::Yes) {
            place.exchange.unwritten -= taken as u32;
        }
        let went = place.note_body_sent(request);
        // Before the first write, the flush sees to it.
        if let Some(limit) = self.head_limit
            && place.exchange.sent != Nanos::MAX
        {
            let deadline = place.expect_head(request, limit, self.io.now());
            self.next_scan = self.next_scan.min(deadline);
        }
        count_sent(&mut place.exchange, link.machine.output().len() - before);
        self.count_messages_sent(index, went);
        self.mark(slot);
    }

    /// Notes that a slot has something to write.
    #[inline]
    pub(super) fn mark(&mut self, slot: u32) {
        if let Some(link) = &mut self.slots[slot as usize].link
            && !std::mem::replace(&mut link.dirty, true)
        {
            self.dirty.push(slot);
        }
    }

    /// Writes what all slots have to say.
    #[inline]
    pub(super) fn flush_dirty(&mut self) {
        let count = self.dirty.len();
        for at in 0..count {
            self.flush(self.dirty[at]);
        }
        self.dirty.drain(..count);
    }

    /// Writes what a slot has to say, in one go.
    pub(super) fn flush(&mut self, slot: u32) {
        let Some(link) = &mut self.slots[slot as usize].link else {
            return;
        };
        link.dirty = false;
        if link.machine.output().is_empty() {
            return;
        }
        if !link.unsent.is_empty() {
            let now = self.io.now();
            for index in link.unsent.drain(..) {
                let place = &mut self.places[index as usize];
                place.exchange.note_sent(now);
                if let Some(limit) = self.head_limit {
                    let request = &self.prepared.requests[place.exchange.request as usize];
                    let deadline = place.expect_head(request, limit, now);
                    self.next_scan = self.next_scan.min(deadline);
                }
            }
        }
        match self.io.send(Slot(slot), link.machine.output()) {
            Ok(sent) => link.machine.output_sent(sent),
            Err(error) => return self.sending_failed(slot, error),
        }
        if link.machine.has_event() {
            let now = self.io.now();
            self.feed_frames(slot, now, &[]);
        }
    }

    /// A place's exchange has ended in any way: makes its sample and uses the place again.
    #[inline]
    pub(super) fn end_place(&mut self, index: u32, now: Nanos, verdict: Failure) {
        self.record_place(index, now, verdict);
        self.release_place(index, now);
    }

    /// A place's request could not be made: it rests, so that a plan without data spins no core.
    #[cold]
    fn fail_place(&mut self, index: u32, now: Nanos, verdict: Failure) {
        self.record_place(index, now, verdict);
        self.places[index as usize].freed = now + BACKOFF_MIN;
        self.resting_places.push((now + BACKOFF_MIN, index));
    }

    pub(super) fn record_place(&mut self, index: u32, now: Nanos, (outcome, detail): Failure) {
        if now >= self.recorder.edge() {
            self.roll(now);
        }
        self.count_messages_unsent(index);
        let place = &mut self.places[index as usize];
        let request = &self.prepared.requests[place.exchange.request as usize];
        let is_call = request.call().is_some();
        let status = match place.status {
            0 if is_call && outcome != Outcome::Ok => GRPC_STATUS + grpc_code(outcome),
            status => status,
        };
        let sample = place.exchange.sample(now, outcome, status, request.step);
        self.recorder.interval().interim += u64::from(place.interim);
        place.phase = Phase::Free;
        place.deadline = Nanos::MAX;
        place.decoder = None;
        if place.follow.take().is_some() {
            place.group = place.home;
        }
        self.account(&sample, detail);
    }

    /// Frees a place, or gives it the next request at once.
    #[inline]
    pub(super) fn release_place(&mut self, index: u32, now: Nanos) {
        let place = &mut self.places[index as usize];
        place.freed = now;
        let route = self.slots[self.groups[place.group as usize].slot as usize].route;
        match self.next_for(route, now) {
            Some(arrival) => self.seat(index, arrival, now),
            None => self.routes[usize::from(route)].free.push_back(index),
        }
    }

    /// When a place has something to do by itself.
    #[inline]
    pub(super) fn places_due(&self) -> Nanos {
        let timer = self.timers.peek().map_or(Nanos::MAX, |Reverse(t)| t.0);
        let rests = self.resting_places.iter().map(|(until, _)| *until);
        timer.min(rests.min().unwrap_or(Nanos::MAX))
    }

    /// Does what places have to do by themselves.
    pub(super) fn wake_places(&mut self, now: Nanos) {
        while let Some(Reverse((at, index, started))) = self.timers.peek().copied()
            && at <= now
        {
            self.timers.pop();
            let place = &self.places[index as usize];
            match place.phase {
                _ if place.exchange.started != started => {}
                Phase::Resting => self.board(index, now),
                _ => self.talk_on(index, now),
            }
        }
        for at in (0..self.resting_places.len()).rev() {
            if self.resting_places[at].0 <= now {
                let (_, index) = self.resting_places.swap_remove(at);
                let group = self.places[index as usize].group as usize;
                let route = self.slots[self.groups[group].slot as usize].route;
                self.routes[usize::from(route)].free.push_back(index);
            }
        }
    }
}

impl Place {
    /// Where the whole request is written and its response's head has not come, that has its time
    /// from now on. Gives the deadline.
    fn expect_head(&mut self, request: &Request, limit: Nanos, now: Nanos) -> Nanos {
        let has_head = match request.call() {
            // A call has no status before its end, and no redirects.
            Some(_) => self.exchange.first_byte != Nanos::MAX,
            None => self.status != 0,
        };
        if !has_head && !self.is_speaking() {
            self.deadline = self.deadline.min(now + limit);
        }
        self.deadline
    }
}

/// What an exchange's stream carries: the redirected request that it is on, or the plan's own.
#[inline]
fn stream_of<'a>(
    follow: Option<&'a Follow<StreamHop>>,
    request: &'a Request,
) -> Option<&'a StreamRequest> {
    match follow.and_then(|follow| follow.current.as_ref()) {
        Some(hop) => Some(&hop.stream),
        None => request.stream.as_deref(),
    }
}

/// Accounts for bytes that an exchange's stream has to write.
#[inline]
pub(super) fn count_sent(exchange: &mut Exchange, bytes: usize) {
    exchange.bytes_sent = exchange.bytes_sent.saturating_add(bytes as u32);
}
