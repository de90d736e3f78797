//! The servers' side of the world.

use super::SimIo;
use crate::answer::{AfterAnswer, Answer, Last};
use crate::link::{FarState, Phase};
use crate::log::Seen;
use crate::queue::{Ending, Event, Wire};
use crate::request::{Request, body_length, frame_lengths, head_end, header};
use crate::server::Expecting;
use drumfire_units::Nanos;

/// The first unit in the received bytes.
enum Front {
    /// A complete request: the length of its head, and its total length.
    Whole(usize, usize),
    /// A head whose body waits for 100 (Continue).
    Expects,
    /// An incomplete unit.
    Part,
}

impl SimIo {
    /// Processes bytes that reach a server.
    pub(super) fn reach(&mut self, wire: Wire, count: usize, at: Nanos) {
        let way = self.network.down.draw(&mut self.random);
        let link = &mut self.links[wire.slot as usize];
        if link.far.state == FarState::Gone {
            self.log.after_close += 1;
            link.up.drain(..count);
            self.queue.add(at + way, Event::Ended(wire, Ending::Reset));
            return;
        }
        link.far.received.extend(link.up.drain(..count));
        self.queue.add(at + way, Event::Room(wire, count));
        if self.hosts[link.host].server.http2.is_some() {
            self.receive(wire, at);
        } else {
            self.look(wire, at);
        }
    }

    /// Takes a request from the received bytes of a connection, if it is complete.
    fn look(&mut self, wire: Wire, at: Nanos) {
        let far = &mut self.links[wire.slot as usize].far;
        if far.received.is_empty() || far.state == FarState::Gone {
            return;
        }
        if far.state == FarState::Serving {
            // Frames may follow each other at any time.
            self.log.pipelined += u64::from(!far.is_socket);
            return;
        }
        let front = match far.is_socket {
            true => frame(&mut far.received),
            false => front(&far.received),
        };
        match front {
            Front::Whole(head, length) => self.take_request(wire, head, length, at),
            Front::Expects if !far.continued => {
                far.continued = true;
                self.expected(wire, at);
            }
            Front::Expects | Front::Part => {}
        }
    }

    /// Processes a head whose body waits for 100 (Continue).
    fn expected(&mut self, wire: Wire, at: Nanos) {
        let host = self.links[wire.slot as usize].host;
        match self.hosts[host].server.expecting.clone() {
            Expecting::Silent => {}
            Expecting::Continues(after) => self.queue.add(at + after, Event::Continue(wire)),
            Expecting::Answers(answer) => {
                let far = &mut self.links[wire.slot as usize].far;
                far.received.clear();
                self.serve(wire, answer, at);
            }
        }
    }

    pub(super) fn ask_for_body(&mut self, wire: Wire, at: Nanos) {
        self.emit(wire, b"HTTP/1.1 100 Continue\r\n\r\n", at);
    }

    /// Processes a complete request.
    fn take_request(&mut self, wire: Wire, head: usize, length: usize, at: Nanos) {
        let link = &mut self.links[wire.slot as usize];
        let host = &mut self.hosts[link.host];
        let far = &mut link.far;
        let request = Request {
            head: match far.is_socket {
                true => "",
                false => std::str::from_utf8(&far.received[..head]).unwrap_or_default(),
            },
            body: &far.received[head..length],
            frame: match far.is_socket {
                true => far.received[0],
                false => 0,
            },
            connection: far.number,
            number: far.taken,
            index: host.requests,
        };
        let answer = (host.server.answering)(&request);
        if self.keeps {
            self.log.seen.push(Seen {
                at: at - self.epoch,
                connection: far.number,
                head: request.head.to_owned(),
                body: length - head,
            });
        }
        host.requests += 1;
        self.log.requests += 1;
        self.log.after_last += u64::from(far.last);
        let is_upgrade = header(request.head, "upgrade").is_some_and(|it| it == "websocket");
        far.is_socket |= is_upgrade && answer.bytes.starts_with(b"HTTP/1.1 101");
        far.received.drain(..length);
        far.continued = false;
        self.serve(wire, answer, at);
    }

    /// Begins to serve; the answer is sent when the work is done.
    fn serve(&mut self, wire: Wire, answer: Answer, at: Nanos) {
        let link = &mut self.links[wire.slot as usize];
        link.far.state = FarState::Serving;
        link.far.taken += 1;
        if answer.last == Last::Yes {
            link.far.last = true;
        }
        let host = &mut self.hosts[link.host];
        let work = match answer.time {
            Some(Nanos::MAX) => return,
            Some(time) => time,
            None => host.server.service.draw(&mut self.random),
        };
        // Before the run, stalls have no reference time.
        let epoch = if self.begun { self.epoch } else { Nanos::MAX };
        let done = host.done(at, work, epoch);
        let event = if host.is_reset(&mut self.random) {
            Event::End(wire, Ending::Reset)
        } else {
            Event::Send(wire, answer, 0)
        };
        self.queue.add(done, event);
    }

    /// Sends the next piece of an answer.
    pub(super) fn answer(&mut self, wire: Wire, answer: Answer, from: usize, at: Nanos) {
        if self.links[wire.slot as usize].far.state == FarState::Gone {
            return;
        }
        let (end, apart) = answer.piece(from);
        self.emit(wire, &answer.bytes[from..end], at);
        if end < answer.bytes.len() {
            self.queue.add(at + apart, Event::Send(wire, answer, end));
            return;
        }
        let link = &mut self.links[wire.slot as usize];
        let server = &self.hosts[link.host].server;
        let far = &mut link.far;
        far.state = FarState::Waiting;
        far.answered += 1;
        match answer.then {
            AfterAnswer::Close(after) => self.end_later(wire, Ending::Finished, at, after),
            AfterAnswer::Reset(after) => self.end_later(wire, Ending::Reset, at, after),
            AfterAnswer::Keep if far.answered >= server.closes_after => {
                self.end_later(wire, Ending::Finished, at, Nanos::ZERO);
            }
            AfterAnswer::Keep => {
                if server.idle < Nanos::MAX {
                    let event = Event::Idle(wire, far.taken);
                    self.queue.add(at + server.idle, event);
                }
                self.look(wire, at);
            }
        }
    }

    fn end_later(&mut self, wire: Wire, ending: Ending, at: Nanos, after: Nanos) {
        if after == Nanos::ZERO {
            self.end_connection(wire.slot, ending, at);
        } else {
            self.queue.add(at + after, Event::End(wire, ending));
        }
    }

    /// Ends a connection from the server's side.
    pub(super) fn end_connection(&mut self, slot: u32, ending: Ending, at: Nanos) {
        let way = self.network.down.draw(&mut self.random);
        let link = &mut self.links[slot as usize];
        if link.far.state == FarState::Gone {
            return;
        }
        link.far.state = FarState::Gone;
        link.down_last = link.down_last.max(at + way);
        let (at, wire) = (link.down_last, link.wire(slot));
        self.queue.add(at, Event::Ended(wire, ending));
    }

    /// Closes a connection that has been idle, unless a request has arrived since.
    pub(super) fn idle(&mut self, slot: u32, taken: u64, at: Nanos) {
        let far = &self.links[slot as usize].far;
        if far.taken == taken && far.received.is_empty() {
            self.end_connection(slot, Ending::Finished, at);
        }
    }

    /// Kills a host: all its connections are reset.
    pub(super) fn die(&mut self, host: usize, at: Nanos) {
        self.hosts[host].alive = false;
        self.hosts[host].forget();
        for slot in 0..self.links.len() {
            if self.links[slot].host == host && self.links[slot].phase == Phase::Open {
                self.end_connection(slot as u32, Ending::Reset, at);
            }
        }
    }

    /// Sends bytes to the client, after the bytes sent before.
    pub(super) fn emit(&mut self, wire: Wire, bytes: &[u8], at: Nanos) {
        if bytes.is_empty() {
            return;
        }
        let way = self.network.down.draw(&mut self.random);
        let link = &mut self.links[wire.slot as usize];
        link.down.extend(bytes);
        link.down_last = link.down_last.max(at + way);
        let at = link.down_last;
        self.queue.add(at, Event::Down(wire, bytes.len()));
    }
}

/// The first frame of a client, whose payload is unmasked if it is complete. Its first two bytes and
/// the payload are what an answer sees as head and body.
fn frame(received: &mut [u8]) -> Front {
    let Some((header, length)) = frame_lengths(received) else {
        return Front::Part;
    };
    if received.len() < header + length {
        return Front::Part;
    }
    let (front, payload) = received.split_at_mut(header);
    let mask = front[header - 4..].iter().cycle();
    for (byte, mask) in payload[..length].iter_mut().zip(mask) {
        *byte ^= mask;
    }
    Front::Whole(header, header + length)
}

/// The first unit in the received bytes.
fn front(received: &[u8]) -> Front {
    let Some(head) = head_end(received) else {
        return Front::Part;
    };
    let text = std::str::from_utf8(&received[..head]).unwrap_or_default();
    let length = head + body_length(text);
    if received.len() >= length {
        return Front::Whole(head, length);
    }
    let expects = header(text, "expect").is_some_and(|value| value == "100-continue");
    if expects && received.len() == head {
        Front::Expects
    } else {
        Front::Part
    }
}
