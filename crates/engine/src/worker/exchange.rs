//! An exchange from its start to its sample.

use super::Worker;
use crate::arrivals::Arrival;
use crate::blame::{During, Failure, io_failure};
use crate::connection::{Connection, Duty, Exchange, State};
use crate::leniency::leniencies;
use crate::prepare::{Rendered, Request};
use drumfire_http1::{End, Persistence, RequestKind};
use drumfire_measure::{Outcome, Sample};
use drumfire_net::{Io, IoError, Slot};
use drumfire_plan::{ExpectContinue, KeepAlive};
use drumfire_units::Nanos;

impl<I: Io> Worker<I> {
    /// Gives a request to a free slot, or to a free place where connections carry many.
    #[inline]
    pub(crate) fn start(&mut self, slot: u32, arrival: Arrival, now: Nanos) {
        if self.is_multiplexed() {
            return self.seat(slot, arrival, now);
        }
        let request = self.request_of(arrival);
        let connection = &mut self.slots[slot as usize];
        connection.duty = Duty::Exchange;
        connection.exchange = Exchange {
            request: request as u32,
            number: arrival.index,
            intended: arrival.intended,
            due: arrival
                .intended
                .max(connection.freed)
                .max(self.crowd.free_since),
            started: now,
            ..Exchange::NONE
        };
        self.active += 1;
        self.started += u64::from(arrival.intended >= self.measure_from);
        match connection.state {
            State::Idle if connection.hint.is_stale(now - connection.freed) => {
                self.close_connection(slot);
                self.dial(slot, now);
            }
            State::Idle => self.begin_sending(slot),
            _ => self.dial(slot, now),
        }
    }

    /// Sends the request on an open connection.
    #[inline]
    pub(crate) fn begin_sending(&mut self, slot: u32) {
        let waits = self.prepared.plan.http.expect_continue != ExpectContinue::No;
        let persistence = match self.prepared.plan.connections.keep_alive {
            KeepAlive::No => Persistence::Close,
            KeepAlive::Yes | KeepAlive::AtMost(_) => Persistence::KeepAlive,
        };
        let (kind, length, head_length) = self.shape(slot);
        let connection = &mut self.slots[slot as usize];
        connection.state = State::Busy;
        connection.broken = false;
        connection.carried += 1;
        connection.exchange.unwritten = length as u32;
        connection.exchange.awaits_continue = waits && length > head_length;
        connection.machine.send(kind, persistence);
        if connection.exchange.sent == Nanos::MAX {
            connection.exchange.sent = self.io.now();
        }
        self.transmit(slot);
    }

    /// What the current request's response may look like, the request's length, and its head's.
    #[inline]
    fn shape(&self, slot: u32) -> (RequestKind, usize, usize) {
        let rendered = self.rendered(slot);
        (rendered.kind, rendered.bytes.len(), rendered.head_length)
    }

    /// The current request's bytes.
    #[inline]
    pub(crate) fn rendered(&self, slot: u32) -> &Rendered {
        rendered_of(&self.slots[slot as usize], &self.prepared.requests)
    }

    /// Whether the whole request is written.
    #[inline]
    pub(crate) fn is_written(&self, slot: u32) -> bool {
        self.slots[slot as usize].exchange.unwritten == 0
    }

    /// Writes what there is room for.
    pub(crate) fn transmit(&mut self, slot: u32) {
        let connection = &self.slots[slot as usize];
        let rendered = rendered_of(connection, &self.prepared.requests);
        let end = if connection.exchange.awaits_continue {
            rendered.head_length
        } else {
            rendered.bytes.len()
        };
        let from = rendered.bytes.len() - connection.exchange.unwritten as usize;
        if from >= end {
            return;
        }
        match self.io.send(Slot(slot), &rendered.bytes[from..end]) {
            Ok(sent) => self.written(slot, sent, from + sent == end),
            Err(error) => self.sending_failed(slot, error),
        }
    }

    /// Accounts for written bytes; the head's time runs from the last of them.
    #[inline]
    fn written(&mut self, slot: u32, sent: usize, all: bool) {
        let timeouts = &self.prepared.plan.timeouts;
        let (head, total) = (timeouts.head, timeouts.total);
        let waits = self.prepared.plan.http.expect_continue;
        let connection = &mut self.slots[slot as usize];
        let exchange = &mut connection.exchange;
        exchange.unwritten -= sent as u32;
        exchange.bytes_sent = exchange.bytes_sent.saturating_add(sent as u32);
        let whole = exchange.started + total;
        connection.deadline = match (all, exchange.awaits_continue, waits) {
            (true, true, ExpectContinue::Wait(time)) => whole.min(exchange.sent + time),
            // A request that was written in one go was so when it was sent.
            (true, _, _) if from_first(exchange, sent) => whole.min(exchange.sent + head),
            (true, _, _) => whole.min(self.io.now() + head),
            (false, _, _) => whole,
        };
        self.next_scan = self.next_scan.min(connection.deadline);
    }

    /// The connection broke while the request was written. What the server has already answered,
    /// such as a refusal of the body, is read before the exchange is given up; not here, where
    /// another receive may be under way.
    #[cold]
    pub(crate) fn sending_failed(&mut self, slot: u32, error: IoError) {
        let connection = &mut self.slots[slot as usize];
        if !std::mem::replace(&mut connection.broken, true) {
            self.broken.push((slot, io_failure(error, During::Send)));
        }
    }

    /// Reads what is left on the slots whose sends failed, and gives up those that it does not end.
    pub(crate) fn read_broken(&mut self) {
        for (slot, failure) in std::mem::take(&mut self.broken) {
            // The exchange may have ended since, and the slot have begun another.
            if self.slots[slot as usize].link.is_some() {
                self.read_broken_link(slot, failure);
                continue;
            }
            if !self.is_broken(slot) {
                continue;
            }
            self.receive(slot);
            if self.is_broken(slot) {
                let now = self.io.now();
                self.fail(slot, now, failure);
            }
        }
    }

    /// Whether the slot's exchange is one whose send failed.
    fn is_broken(&self, slot: u32) -> bool {
        let connection = &self.slots[slot as usize];
        connection.broken && connection.state == State::Busy && connection.duty == Duty::Exchange
    }

    /// The response is complete: records the exchange and uses the slot again.
    #[inline]
    pub(crate) fn complete(&mut self, slot: u32, now: Nanos, end: End, verdict: Failure) {
        let written = self.is_written(slot);
        let connection = &mut self.slots[slot as usize];
        let spent = match self.prepared.plan.connections.keep_alive {
            KeepAlive::Yes => false,
            KeepAlive::No => true,
            KeepAlive::AtMost(limit) => connection.carried >= limit,
        };
        let spent = spent || connection.peer_closed || connection.hint.is_used_up();
        if end.reusable && written && !spent && connection.detour().is_none() {
            connection.state = State::Idle;
        } else {
            self.close_connection(slot);
        }
        self.record(slot, now, verdict);
        self.release(slot, now);
    }

    /// The exchange has failed and its connection with it.
    pub(crate) fn fail(&mut self, slot: u32, now: Nanos, failure: Failure) {
        self.close_connection(slot);
        self.record(slot, now, failure);
        self.release(slot, now);
    }

    /// Ends all exchanges that are under way on connections of their own.
    pub(crate) fn cancel_exchanges(&mut self, now: Nanos) {
        for slot in 0..self.slots.len() as u32 {
            if self.slots[slot as usize].duty == Duty::Exchange {
                self.close_connection(slot);
                self.record(slot, now, (Outcome::LocalCancelled, None));
            }
        }
    }

    /// Makes the sample of an exchange that has ended in any way; its slot is not freed by it.
    #[inline]
    pub(crate) fn record(&mut self, slot: u32, now: Nanos, (outcome, detail): Failure) {
        if now >= self.recorder.edge() {
            self.roll(now);
        }
        let connection = &mut self.slots[slot as usize];
        let exchange = &connection.exchange;
        let step = self.prepared.requests[exchange.request as usize].step;
        let mut sample = exchange.sample(now, outcome, connection.machine.status(), step);
        sample.leniencies = leniencies(connection.machine.notices());
        self.recorder.interval().interim += u64::from(connection.machine.interim());
        connection.duty = Duty::None;
        connection.deadline = Nanos::MAX;
        connection.decoder = None;
        connection.follow = None;
        self.account(&sample, detail);
    }

    /// Accounts for an exchange that has ended, on a connection of its own or not.
    #[inline]
    pub(super) fn account(&mut self, sample: &Sample, detail: Option<String>) {
        self.active -= 1;
        self.crowd.ended(sample.end);
        self.last_end = sample.end;
        self.recorder.record(sample);
        if let Some(detail) = detail {
            self.recorder.detail(sample, &detail);
        }
        debug_assert!(sample.outcome == Outcome::Ok || sample.outcome.blame().is_some());
        self.arrivals.ended(sample.end);
    }

    /// Frees a slot, or gives it the next request at once.
    #[inline]
    fn release(&mut self, slot: u32, now: Nanos) {
        let connection = &mut self.slots[slot as usize];
        connection.freed = now;
        let route = connection.route;
        match self.next_for(route, now) {
            Some(arrival) => self.start(slot, arrival, now),
            None => self.routes[usize::from(route)].free.push_back(slot),
        }
    }

    /// What a slot or place that has just become free does at once: the next request, where nobody
    /// was free before it and none waits.
    #[inline]
    pub(super) fn next_for(&mut self, route: u16, now: Nanos) -> Option<Arrival> {
        let lane = &self.routes[usize::from(route)];
        let first =
            self.prepared.routes.len() == 1 && lane.free.is_empty() && lane.waiting.is_empty();
        if first && self.crowd.admits(self.active, now) {
            self.arrivals.take(now)
        } else {
            None
        }
    }

    /// Closes a slot's connection, if it has one.
    pub(crate) fn close_connection(&mut self, slot: u32) {
        let connection = &mut self.slots[slot as usize];
        if connection.state != State::Empty {
            connection.state = State::Empty;
            connection.link = None;
            self.io.close(Slot(slot));
        }
    }
}

/// Whether the bytes just sent were the exchange's first.
#[inline]
fn from_first(exchange: &Exchange, sent: usize) -> bool {
    exchange.bytes_sent as usize == sent
}

/// The request that a slot is on: its own, or the one that a redirect led to.
#[inline]
fn rendered_of<'a>(connection: &'a Connection, requests: &'a [Request]) -> &'a Rendered {
    match connection
        .follow
        .as_ref()
        .and_then(|follow| follow.current.as_ref())
    {
        Some(hop) => &hop.rendered,
        None => &requests[connection.exchange.request as usize].rendered,
    }
}
