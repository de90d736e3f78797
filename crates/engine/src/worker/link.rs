//! A connection that carries many exchanges: its beginning, its replacement, its end.

use super::Worker;
use crate::blame::{During, Failure, io_failure};
use crate::connection::{Connection, State};
use crate::limits::RECEIVES_PER_TURN;
use crate::place::{Link, Phase};
use drumfire_http2::{Connection as Machine, ErrorCode, Settings};
use drumfire_measure::Outcome;
use drumfire_net::{Io, IoError, Received, Slot};
use drumfire_plan::{Drain, KeepAlive};
use drumfire_units::Nanos;
use std::cmp::Reverse;

impl<I: Io> Worker<I> {
    /// The transport is open: says hello, and waits for the server's SETTINGS.
    pub(super) fn greet(&mut self, slot: u32, now: Nanos) {
        let settings = Settings {
            streams: self.prepared.plan.connections.streams,
            first_stream_id: self.prepared.first_stream_id,
            ..Settings::default()
        };
        let limit = self.prepared.plan.timeouts.connect;
        let connection = &mut self.slots[slot as usize];
        connection.state = State::Greeting;
        connection.broken = false;
        connection.link = Some(Box::new(Link::new(Machine::new(&settings))));
        self.set_deadline(slot, now + limit);
        self.flush(slot);
    }

    /// The server's SETTINGS have come: requests may go out, once all is read that came with them.
    pub(super) fn greeted(&mut self, slot: u32, now: Nanos) {
        self.slots[slot as usize].state = State::Open;
        self.watch(slot, now);
    }

    /// Gives a connection's room to those who wait for it, unless it is being read.
    pub(super) fn fill(&mut self, group: usize, now: Nanos) {
        while let Some(&index) = self.groups[group].waiting.front() {
            let slot = self.groups[group].slot;
            let connection = &self.slots[slot as usize];
            let room = connection
                .link
                .as_ref()
                .map_or(0, |link| link.machine.capacity());
            if connection.state != State::Open || room == 0 || self.reading == Some(slot) {
                return;
            }
            self.groups[group].waiting.pop_front();
            // The connection, or room on it, is what it waited for; that is no lag of ours.
            let exchange = &mut self.places[index as usize].exchange;
            if exchange.sent == Nanos::MAX {
                exchange.due = exchange.due.max(now);
            }
            self.open_stream(index, slot, now);
        }
    }

    /// Dials for those who wait, unless that is under way or the slot rests.
    pub(super) fn call_for_connection(&mut self, slot: u32, now: Nanos) {
        let connection = &self.slots[slot as usize];
        if connection.state == State::Empty && connection.freed <= now {
            self.dial(slot, now);
        }
    }

    /// The connection could not be opened: whoever waited for it has failed, and it rests.
    pub(super) fn greeting_failed(&mut self, slot: u32, now: Nanos, failure: Failure) {
        let rest = self.rest_after_failure(slot, now);
        self.resting.push((rest, slot));
        let group = self.slots[slot as usize].group as usize;
        if self.groups[group].slot != slot {
            return;
        }
        self.fail_waiting(group, now, &failure);
    }

    /// Nothing comes of it for those who wait for a connection now.
    fn fail_waiting(&mut self, group: usize, now: Nanos, failure: &Failure) {
        for index in std::mem::take(&mut self.groups[group].waiting) {
            self.end_place(index, now, failure.clone());
        }
    }

    /// Dials again for groups whose slots have rested and who have need of it.
    pub(super) fn wake_groups(&mut self, now: Nanos) {
        for at in (0..self.resting.len()).rev() {
            let (until, slot) = self.resting[at];
            if until > now {
                continue;
            }
            self.resting.swap_remove(at);
            let group = &self.groups[self.slots[slot as usize].group as usize];
            if group.slot == slot && !group.waiting.is_empty() {
                self.call_for_connection(slot, now);
            }
        }
    }

    /// A connection that takes no further streams gives its place to a new one, and ends when
    /// what it carries has ended.
    pub(super) fn retire_if_spent(&mut self, slot: u32, now: Nanos) {
        let limit = match self.prepared.plan.connections.keep_alive {
            KeepAlive::Yes => u64::MAX,
            KeepAlive::No => 1,
            KeepAlive::AtMost(limit) => limit,
        };
        let Some(link) = &mut self.slots[slot as usize].link else {
            return;
        };
        if link.retiring || !(link.machine.is_spent() || link.carried >= limit) {
            return;
        }
        link.retiring = true;
        // A server that has enough of us, or that goes before it has done anything, is not dialed
        // again at once.
        let unwilling = link
            .going
            .filter(|code| *code != 0 || link.answered == 0)
            .map(|code| (went_away(code, link.farewell.clone()), link.carried == 0));
        let old = &self.slots[slot as usize];
        let mut fresh = Connection::new(old.route, old.choice);
        fresh.group = old.group;
        fresh.failures = old.failures;
        let group = old.group;
        let new = match self.spares.pop() {
            Some(spare) => {
                self.slots[spare as usize] = fresh;
                spare
            }
            None => {
                self.slots.push(fresh);
                (self.slots.len() - 1) as u32
            }
        };
        self.groups[group as usize].slot = new;
        let Some((failure, took_none)) = unwilling else {
            // The last of all has no successor.
            if !(self.arrivals.is_exhausted() && self.groups[group as usize].waiting.is_empty()) {
                self.dial(new, now);
            }
            return;
        };
        let rest = self.rest_after_failure(new, now);
        self.resting.push((rest, new));
        // Once may be a server on its way out. One that greets each connection so refuses us.
        if took_none && self.slots[new as usize].failures > 1 {
            self.fail_waiting(group as usize, now, &failure);
        }
    }

    /// Closes a connection that has given its place to another and has nothing more to carry. Only
    /// then does it say so: there are servers that drop what is under way when they hear GOAWAY.
    pub(super) fn close_if_done(&mut self, slot: u32) {
        let Some(link) = &mut self.slots[slot as usize].link else {
            return;
        };
        if link.retiring && link.machine.streams_open() == 0 {
            if link.going.is_none() {
                link.machine.go_away(ErrorCode::NO_ERROR);
            }
            self.flush(slot);
            self.close_connection(slot);
            self.spares.push(slot);
        }
    }

    /// The server has closed the connection.
    pub(super) fn link_ended(&mut self, slot: u32) {
        let now = self.io.now();
        let Some(link) = &mut self.slots[slot as usize].link else {
            return;
        };
        let failure = match (link.machine.handle_end(), link.going) {
            (Err(error), _) => crate::blame::http2_failure(&error),
            (Ok(()), Some(code)) if code != 0 => went_away(code, link.farewell.take()),
            (Ok(()), _) => (Outcome::Closed, None),
        };
        self.lost(slot, now, failure);
    }

    /// The connection broke while it was read.
    pub(super) fn link_broken(&mut self, slot: u32, error: IoError) {
        let now = self.io.now();
        let failure = match error {
            IoError::Reset | IoError::BrokenPipe => (Outcome::Reset, None),
            IoError::TlsNoCloseNotify => (Outcome::Closed, None),
            other => io_failure(other, During::Send),
        };
        self.lost(slot, now, failure);
    }

    /// Reads what is left on a connection whose send failed, and gives it up.
    pub(super) fn read_broken_link(&mut self, slot: u32, failure: Failure) {
        self.receive_frames(slot);
        let connection = &self.slots[slot as usize];
        if connection.broken && connection.link.is_some() {
            let now = self.io.now();
            self.lost(slot, now, failure);
        }
    }

    /// The connection is gone, and with it what it carried. One that never brought a response is
    /// not dialed again at once.
    pub(super) fn lost(&mut self, slot: u32, now: Nanos, failure: Failure) {
        let connection = &mut self.slots[slot as usize];
        let was_greeting = connection.state == State::Greeting;
        let Some(link) = connection.link.take() else {
            return;
        };
        self.close_connection(slot);
        if was_greeting {
            let failure = match failure {
                (Outcome::Closed | Outcome::Reset, None) => (Outcome::ConnectReset, None),
                other => other,
            };
            return self.greeting_failed(slot, now, failure);
        }
        if link.retiring {
            self.spares.push(slot);
        } else if link.answered == 0 {
            let rest = self.rest_after_failure(slot, now);
            self.resting.push((rest, slot));
        }
        let carried: Vec<u32> = link.machine.tokens().collect();
        for index in carried {
            self.end_place(index, now, failure.clone());
        }
        let group = self.slots[slot as usize].group as usize;
        if !self.groups[group].waiting.is_empty() {
            self.call_for_connection(self.groups[group].slot, now);
        }
    }

    /// The server has done nothing for a request: once, that is as if it had never been sent, and
    /// it is sent again after a rest. The second time it has failed in this way.
    pub(super) fn not_processed(&mut self, index: u32, now: Nanos, verdict: Failure, rest: Nanos) {
        let place = &mut self.places[index as usize];
        if place.exchange.retried {
            return self.end_place(index, now, verdict);
        }
        place.exchange.retried = true;
        place.exchange.first_byte = Nanos::MAX;
        place.decoder = None;
        self.recorder.interval().retried += 1;
        if rest == Nanos::ZERO {
            return self.board(index, now);
        }
        place.phase = Phase::Resting;
        let started = place.exchange.started;
        self.timers.push(Reverse((now + rest, index, started)));
    }

    /// A place's time is up.
    pub(super) fn expire_place(&mut self, index: u32, now: Nanos) {
        let place = &mut self.places[index as usize];
        place.deadline = Nanos::MAX;
        match place.phase {
            Phase::Free => {}
            Phase::Waiting => {
                let group = place.group as usize;
                self.groups[group].waiting.retain(|waits| *waits != index);
                self.end_place(index, now, (Outcome::TimeoutTotal, None));
            }
            Phase::Resting => self.end_place(index, now, (Outcome::TimeoutTotal, None)),
            Phase::Resolving => self.end_place(index, now, (Outcome::DnsTimeout, None)),
            Phase::Open(_) => {
                let outcome = self.stream_lateness(index, now);
                self.give_up(index, now, (outcome, None));
            }
        }
    }

    /// Ends a place's exchange, and its stream with it.
    pub(super) fn give_up(&mut self, index: u32, now: Nanos, verdict: Failure) {
        let place = &self.places[index as usize];
        let slot = place.slot;
        if let Phase::Open(stream) = place.phase {
            self.give_up_stream(slot, stream);
        }
        self.end_place(index, now, verdict);
        self.after_stream(slot, now);
    }

    /// Resets a stream of ours that nobody waits for any more.
    pub(super) fn give_up_stream(&mut self, slot: u32, stream: drumfire_http2::StreamRef) {
        if let Some(link) = &mut self.slots[slot as usize].link {
            link.machine.reset(stream, ErrorCode::CANCEL);
            self.mark(slot);
        }
    }

    /// A stream has ended: there is room for another, or the connection has done what it had to.
    #[inline]
    pub(super) fn after_stream(&mut self, slot: u32, now: Nanos) {
        let group = self.slots[slot as usize].group as usize;
        if !self.groups[group].waiting.is_empty() {
            self.fill(group, now);
        }
        self.close_if_done(slot);
    }

    /// What becomes of what is under way when nothing more is started.
    pub(super) fn drain(&mut self, now: Nanos) {
        match self.prepared.plan.stop.drain {
            Drain::Wait => {}
            Drain::Ignore => self.drain_until = Some(now),
            Drain::Close => {
                self.drain_until = Some(now);
                let cancelled = || (Outcome::LocalCancelled, None);
                for index in 0..self.places.len() as u32 {
                    let place = &self.places[index as usize];
                    // What the server still says of it must not end it a second time.
                    if let (Phase::Open(stream), slot) = (place.phase, place.slot) {
                        self.give_up_stream(slot, stream);
                    }
                    if self.places[index as usize].phase != Phase::Free {
                        self.record_place(index, now, cancelled());
                    }
                }
                self.cancel_exchanges(now);
            }
        }
    }

    /// Hears what servers have still said, so that no connection is closed over unread bytes,
    /// which would reset it.
    pub(super) fn hear_out(&mut self) {
        for slot in 0..self.slots.len() as u32 {
            if self.slots[slot as usize].link.is_some() {
                self.receive_frames(slot);
            }
        }
    }

    /// Throws away what has come and nobody will read.
    pub(super) fn empty(&mut self, slot: u32) {
        for _ in 0..RECEIVES_PER_TURN {
            let limit = self.scratch.len() as u64;
            match self.io.discard(Slot(slot), limit, &mut self.scratch) {
                Ok(Received::Bytes { .. }) => {}
                // Whatever is wrong with a connection that is given up concerns nobody.
                Ok(Received::Nothing | Received::End) | Err(_) => return,
            }
        }
    }

    /// Tells the server that no more comes, before the connection is closed.
    pub(super) fn say_goodbye(&mut self, slot: u32) {
        if let Some(link) = &mut self.slots[slot as usize].link {
            link.machine.go_away(ErrorCode::NO_ERROR);
            // What it does not take, it does not need.
            let _sent = self.io.send(Slot(slot), link.machine.output());
            self.empty(slot);
        }
    }
}

/// What a GOAWAY with this code and these words means for a request that it leaves behind.
fn went_away(code: u32, words: Option<Box<str>>) -> Failure {
    let outcome = match code {
        0 => Outcome::H2GoAway,
        code => Outcome::h2_connection(code),
    };
    (outcome, words.map(String::from))
}
