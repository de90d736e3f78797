//! The servers' side of HTTP/2 connections.

use super::SimIo;
use crate::frame;
use crate::http2::session::{Session, SessionLedger};
use crate::http2::{Announcement, Farewell, Http2Behaviour};
use crate::link::FarState;
use crate::log::Seen;
use crate::queue::{Ending, Event, Wire};
use crate::reply::{Ends, Step};
use crate::request::Request;
use drumfire_units::Nanos;
use std::sync::Arc;

impl SimIo {
    /// Processes the received bytes of a connection.
    pub(super) fn receive(&mut self, wire: Wire, at: Nanos) {
        let link = &mut self.links[wire.slot as usize];
        let Some(script) = self.hosts[link.host].server.http2.clone() else {
            return;
        };
        let far = &mut link.far;
        let number = far.number;
        let session = far
            .session
            .get_or_insert_with(|| Box::new(Session::new(number)));
        let mut ledger = SessionLedger {
            log: &mut self.log,
            at: at - self.epoch,
            keeps: self.keeps,
        };
        let used = session.receive(&far.received, &script, &mut ledger);
        far.received.drain(..used);
        if std::mem::take(&mut session.begun) {
            for (index, (after, _)) in script.events.iter().enumerate() {
                self.queue.add(at + *after, Event::Announce(wire, index));
            }
        }
        let mut ready = std::mem::take(&mut session.ready);
        for id in ready.drain(..) {
            self.take_stream(wire, id, &script, at);
        }
        if let Some(session) = &mut self.links[wire.slot as usize].far.session {
            session.ready = ready;
        }
        self.speak(wire, at);
    }

    /// Begins the reply to a stream's request.
    fn take_stream(&mut self, wire: Wire, id: u32, script: &Arc<Http2Behaviour>, at: Nanos) {
        let link = &mut self.links[wire.slot as usize];
        let (host, number) = (&mut self.hosts[link.host], link.far.number);
        let Some(session) = &mut link.far.session else {
            return;
        };
        if script.refuses_late && session.going.is_some() {
            self.log.unserved += 1;
            return session.reset(id, frame::REFUSED_STREAM);
        }
        let taken = link.far.taken;
        let Some(stream) = session.stream(id) else {
            return;
        };
        let request = Request {
            frame: 0,
            head: &stream.head,
            body: &stream.body,
            connection: number,
            number: taken,
            index: host.requests,
        };
        if self.keeps {
            self.log.seen.push(Seen {
                at: at - self.epoch,
                connection: number,
                head: stream.head.clone(),
                body: stream.body.len(),
            });
        }
        host.requests += 1;
        self.log.requests += 1;
        link.far.taken += 1;
        if script.refuse_share > 0.0 && self.random.unit() < script.refuse_share {
            return session.reset(id, frame::REFUSED_STREAM);
        }
        let reply = (script.replying)(&request);
        let work = match reply.time {
            Some(Nanos::MAX) => return,
            Some(time) => time,
            None => host.server.service.draw(&mut self.random),
        };
        stream.reply = Some(reply);
        // Before the run, stalls have no reference time.
        let epoch = if self.begun { self.epoch } else { Nanos::MAX };
        let done = host.done(at, work, epoch);
        let event = if host.is_reset(&mut self.random) {
            Event::End(wire, Ending::Reset)
        } else {
            Event::Step(wire, id, 0)
        };
        self.queue.add(done, event);
    }

    /// Continues a stream's reply, up to the next pause.
    pub(super) fn step(&mut self, wire: Wire, id: u32, from: usize, at: Nanos) {
        let far = &mut self.links[wire.slot as usize].far;
        let (FarState::Waiting, Some(session)) = (far.state, &mut far.session) else {
            return;
        };
        let Some(reply) = session.stream(id).and_then(|stream| stream.reply.clone()) else {
            // The client has reset the stream.
            return;
        };
        let mut next = from;
        let mut ending = None;
        while let Some(step) = reply.steps.get(next) {
            next += 1;
            match step {
                Step::Head(block, ends) => {
                    session.send_frame(frame::HEADERS, id, block, *ends == Ends::Yes);
                }
                Step::Data(bytes, ends) => {
                    session.send_frame(frame::DATA, id, bytes, *ends == Ends::Yes)
                }
                Step::Reset(code) => session.reset(id, *code),
                Step::Pause(time) => {
                    self.queue.add(at + *time, Event::Step(wire, id, next));
                    break;
                }
                Step::Again(place) => next = *place,
                Step::Frame(frame) => {
                    let on = if frame.whole { 0 } else { id };
                    frame::write(
                        &mut session.out,
                        frame.kind,
                        frame.flags,
                        on,
                        &frame.payload,
                    );
                }
                Step::End(how) => ending = Some(*how),
            }
        }
        self.speak(wire, at);
        if let Some(ending) = ending {
            self.end_connection(wire.slot, ending, at);
        }
    }

    /// Sends the frames of the script with this index on a connection.
    pub(super) fn announce(&mut self, wire: Wire, index: usize, at: Nanos) {
        let link = &mut self.links[wire.slot as usize];
        let Some(script) = &self.hosts[link.host].server.http2 else {
            return;
        };
        let (FarState::Waiting, Some(session)) = (link.far.state, &mut link.far.session) else {
            return;
        };
        match script.events[index].1 {
            Announcement::Settings(name, value) => session.send_settings(&[(name, value)]),
            Announcement::GoAway(last, code, farewell) => session.go_away(last, code, farewell),
        }
        self.speak(wire, at);
    }

    /// Sends a server's output on a connection, and closes the connection at the end.
    fn speak(&mut self, wire: Wire, at: Nanos) {
        let link = &mut self.links[wire.slot as usize];
        let script = &self.hosts[link.host].server.http2;
        let (size, apart) = script
            .as_ref()
            .map_or((usize::MAX, Nanos::ZERO), |s| s.drip);
        let far = &mut link.far;
        let Some(session) = &mut far.session else {
            return;
        };
        let closes = match (session.going, session.farewell) {
            (None, _) | (_, Farewell::Stays) => false,
            (_, Farewell::WhenDone) => session.streams.is_empty(),
            (_, Farewell::AtOnce) => true,
        };
        let mut out = std::mem::take(&mut session.out);
        if far.state == FarState::Waiting {
            for (n, piece) in (0..).zip(out.chunks(size)) {
                self.emit(wire, piece, at + Nanos(apart.0 * n));
            }
        }
        out.clear();
        if let Some(session) = &mut self.links[wire.slot as usize].far.session {
            session.out = out;
        }
        if closes {
            self.end_connection(wire.slot, Ending::Finished, at);
        }
    }
}
