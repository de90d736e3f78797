//! How a connection carries plans out: input to requests, plans to output, in order.

use crate::cache::ANSWER_MAX;
use crate::clock;
use crate::connection::{Closing, Connection, Fate, Phase, Work};
use crate::desk::Desk;
use crate::outgoing::{Flushed, flush, send_at_once};
use crate::poller::{Interest, Poller};
use crate::responder::{Responder, Step};
use crate::shared::WorkerShared;
use crate::timers::Timers;
use drumfire_units::Nanos;
use rustix::io::Errno;
use rustix::net::{RecvFlags, Shutdown, recv, shutdown};
use std::rc::Rc;

/// Bytes read at once.
const READ_SIZE: usize = 64 * 1024;
/// Idle connections' work kept for the next that needs some.
const SPARES_MAX: usize = 1_024;
/// How long a closed connection may linger.
const LINGER: Nanos = Nanos::from_secs(1);

/// State that all of a worker's connections share.
pub(crate) struct Driver {
    pub(crate) poller: Poller,
    pub(crate) timers: Timers,
    responder: Responder,
    #[expect(
        clippy::vec_box,
        reason = "a box moves between here and a connection as it is"
    )]
    spares: Vec<Box<Work>>,
    /// The result of a read.
    input: Vec<u8>,
    /// The same, opened.
    opened: Vec<u8>,
    /// Known answers on their way.
    out: Vec<u8>,
}

impl Driver {
    pub(crate) fn new(desk: Rc<Desk>, poller: Poller, close_after: Option<u32>) -> Self {
        Self {
            poller,
            timers: Timers::default(),
            responder: Responder::new(desk, close_after),
            spares: Vec::new(),
            input: vec![0; READ_SIZE],
            opened: Vec::new(),
            out: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn own(&self) -> &WorkerShared {
        self.responder.own()
    }

    /// Bytes can be read; with `ending`, so can the peer's end.
    #[inline]
    pub(crate) fn readable(&mut self, connection: &mut Connection, ending: bool) -> Fate {
        let mut input = std::mem::take(&mut self.input);
        let fate = self.read_all(connection, &mut input, ending);
        self.input = input;
        fate
    }

    #[inline]
    fn read_all(&mut self, connection: &mut Connection, input: &mut [u8], ending: bool) -> Fate {
        connection.unread = true;
        loop {
            if connection.work.as_ref().is_some_and(|work| work.is_full()) {
                return Fate::Open;
            }
            match recv(&connection.fd, &mut *input, RecvFlags::empty()) {
                Ok((0, _)) => return self.peer_ended(connection),
                Ok((length, _)) => {
                    self.own().tallies.bytes_received.add(length as u64);
                    // A short read took everything: the next bytes bring an event of their own.
                    let drained = length < input.len() && !ending;
                    connection.unread = !drained;
                    let fate = self.received(connection, &input[..length]);
                    if fate != Fate::Open || drained {
                        return fate;
                    }
                }
                Err(Errno::AGAIN) => {
                    connection.unread = false;
                    return Fate::Open;
                }
                Err(Errno::INTR) => {}
                Err(_) => return Fate::Closed,
            }
        }
    }

    /// The peer sends nothing more; outstanding answers are still sent.
    fn peer_ended(&self, connection: &mut Connection) -> Fate {
        connection.ended = true;
        connection.unread = false;
        match connection.work.as_ref().map(|work| &work.phase) {
            Some(Phase::Held(_) | Phase::Sending) => Fate::Open,
            None | Some(Phase::Reading | Phase::Lingering) => Fate::Closed,
        }
    }

    /// Bytes came from the wire.
    #[inline]
    fn received(&mut self, connection: &mut Connection, wire: &[u8]) -> Fate {
        let Some(session) = &mut connection.tls else {
            return self.take_plain(connection, wire);
        };
        let mut opened = std::mem::take(&mut self.opened);
        opened.clear();
        let was_handshaking = session.is_handshaking();
        let result = session.open(wire, &mut opened);
        let wants_write = session.wants_write();
        let fate = if result.is_err() {
            if was_handshaking {
                self.own().tallies.tls_failed.add(1);
            }
            // The alert is worth one attempt.
            self.last_words(connection);
            Fate::Closed
        } else if opened.is_empty() && !wants_write {
            Fate::Open
        } else {
            self.take_plain(connection, &opened)
        };
        self.opened = opened;
        fate
    }

    /// Bytes came, opened if need be.
    #[inline]
    fn take_plain(&mut self, connection: &mut Connection, bytes: &[u8]) -> Fate {
        let mut bytes = bytes;
        if connection.work.is_none() {
            let fate = self.answer_known(connection, &mut bytes);
            let sealed = connection.tls.as_ref().is_some_and(|tls| tls.wants_write());
            if fate != Fate::Open || (bytes.is_empty() && !sealed) {
                return fate;
            }
        }
        self.take_new(connection, bytes)
    }

    /// Answers the cached requests at the start of the input, all with one write.
    #[inline]
    fn answer_known(&mut self, connection: &mut Connection, input: &mut &[u8]) -> Fate {
        let Some((answer, length)) = self.responder.known(input) else {
            return Fate::Open;
        };
        let own = self.responder.own();
        if length == input.len() && connection.tls.is_none() {
            own.tallies.requests.add(1);
            if own.arrivals.is_on() {
                own.arrivals.record(clock::now());
            }
            *input = &[];
            return match send_at_once(connection, answer) {
                Ok(sent) if sent == answer.len() => {
                    own.tallies.bytes_sent.add(sent as u64);
                    own.tallies.responses.add(1);
                    Fate::Open
                }
                Ok(sent) => {
                    own.tallies.bytes_sent.add(sent as u64);
                    let mut work = self.spares.pop().unwrap_or_default();
                    work.wire.extend_from_slice(&answer[sent..]);
                    work.unsent_answers = 1;
                    self.start_sending(connection, work)
                }
                Err(_) => Fate::Closed,
            };
        }
        self.answer_known_many(connection, input)
    }

    /// The same for pipelined requests, and for sealed connections.
    fn answer_known_many(&mut self, connection: &mut Connection, input: &mut &[u8]) -> Fate {
        let own = self.responder.own();
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        let mut count = 0;
        while let Some((answer, length)) = self.responder.known(input)
            && out.len() < ANSWER_MAX
        {
            out.extend_from_slice(answer);
            *input = &input[length..];
            count += 1;
            if own.arrivals.is_on() {
                own.arrivals.record(clock::now());
            }
        }
        own.tallies.requests.add(u64::from(count));
        let mut work = self.spares.pop().unwrap_or_default();
        std::mem::swap(&mut work.plain, &mut out);
        work.unsent_answers = count;
        self.out = out;
        self.start_sending(connection, work)
    }

    fn start_sending(&mut self, connection: &mut Connection, mut work: Box<Work>) -> Fate {
        work.phase = Phase::Sending;
        let fate = self.drive(connection, &mut work, &mut &[][..]);
        self.put_back(connection, work);
        fate
    }

    /// Input that the cache does not answer.
    fn take_new(&mut self, connection: &mut Connection, bytes: &[u8]) -> Fate {
        let spare = &mut self.spares;
        let mut work = connection
            .work
            .take()
            .unwrap_or_else(|| spare.pop().unwrap_or_default());
        let fate = if work.input.is_empty() {
            let mut rest = bytes;
            let fate = self.drive(connection, &mut work, &mut rest);
            work.input.extend_from_slice(rest);
            fate
        } else {
            work.input.extend_from_slice(bytes);
            self.resume(connection, &mut work)
        };
        self.put_back(connection, work);
        fate
    }

    /// Goes on with the input that waits.
    fn resume(&mut self, connection: &mut Connection, work: &mut Work) -> Fate {
        let mut input = std::mem::take(&mut work.input);
        let mut rest = &input[..];
        let fate = self.drive(connection, work, &mut rest);
        let used = input.len() - rest.len();
        input.drain(..used);
        work.input = input;
        fate
    }

    fn put_back(&mut self, connection: &mut Connection, mut work: Box<Work>) {
        if work.is_idle() {
            if self.spares.len() < SPARES_MAX {
                work.reset();
                self.spares.push(work);
            }
        } else {
            connection.work = Some(work);
        }
    }

    /// Bytes can be written.
    pub(crate) fn writable(&mut self, connection: &mut Connection) -> Fate {
        self.wake(connection, |_, _, work| match work.phase {
            Phase::Held(_) => Some(Fate::Open),
            _ => None,
        })
    }

    /// The time set for a connection has come.
    pub(crate) fn due(&mut self, connection: &mut Connection, at: Nanos) -> Fate {
        self.wake(
            connection,
            |driver, connection, work| match std::mem::take(&mut work.phase) {
                Phase::Held(held) => {
                    driver
                        .responder
                        .perform(connection, work, held.plan, held.manner);
                    None
                }
                Phase::Lingering => Some(Fate::Closed),
                Phase::Sending => {
                    work.phase = Phase::Sending;
                    if let Some(pace) = &mut work.pace {
                        pace.allowed += pace.drip.size;
                        pace.next = at + pace.drip.interval;
                        pace.armed = false;
                    }
                    None
                }
                Phase::Reading => None,
            },
        )
    }

    /// Lets a connection go on after `first`, which may decide its fate.
    fn wake(
        &mut self,
        connection: &mut Connection,
        first: impl FnOnce(&mut Self, &mut Connection, &mut Work) -> Option<Fate>,
    ) -> Fate {
        let Some(mut work) = connection.work.take() else {
            return Fate::Open;
        };
        let fate = match first(self, connection, &mut work) {
            Some(Fate::Open) => self.send(connection, &mut work).1,
            Some(fate) => fate,
            None => self.resume(connection, &mut work),
        };
        self.put_back(connection, work);
        if fate == Fate::Open && connection.unread {
            return self.readable(connection, false);
        }
        fate
    }

    /// Goes on until input, room, time or the peer is needed.
    fn drive(&mut self, connection: &mut Connection, work: &mut Work, rest: &mut &[u8]) -> Fate {
        loop {
            match work.phase {
                Phase::Reading => match self.responder.read_request(connection, work, rest) {
                    Step::Onward => {}
                    Step::Due(at) => self.timers.set(at, connection.token),
                    Step::Http2 => return Fate::Http2,
                    Step::Starved => {
                        let sealed = connection.tls.as_ref().is_some_and(|tls| tls.wants_write());
                        if !work.has_output() && !sealed {
                            return self.starved(connection);
                        }
                        work.phase = Phase::Sending;
                    }
                },
                Phase::Sending => match self.send(connection, work) {
                    (Flushed::Done, _) => {
                        let fate = self.sent(connection, work, rest);
                        if fate != Fate::Open {
                            return fate;
                        }
                    }
                    (_, fate) => return fate,
                },
                Phase::Held(_) => return self.send(connection, work).1,
                Phase::Lingering => {
                    *rest = &[];
                    return Fate::Open;
                }
            }
        }
    }

    /// Nothing can be done without more input.
    fn starved(&self, connection: &Connection) -> Fate {
        if connection.ended {
            Fate::Closed
        } else {
            Fate::Open
        }
    }

    /// Hands over what there is, and arranges to go on when it is not all.
    pub(crate) fn send(&mut self, connection: &mut Connection, work: &mut Work) -> (Flushed, Fate) {
        let (flushed, taken) = flush(connection, work);
        self.own().tallies.bytes_sent.add(taken);
        let fate = match flushed {
            Flushed::Failed => Fate::Closed,
            Flushed::Blocked if !connection.watches_room => {
                connection.watches_room = true;
                let interest = Interest::ReadWrite;
                let changed = self
                    .poller
                    .change(&connection.fd, connection.token, interest);
                changed.map_or(Fate::Closed, |()| Fate::Open)
            }
            Flushed::Paused => {
                if let Some(pace) = &mut work.pace
                    && !pace.armed
                {
                    pace.armed = true;
                    self.timers.set(pace.next, connection.token);
                }
                Fate::Open
            }
            Flushed::Done | Flushed::Blocked => Fate::Open,
        };
        (flushed, fate)
    }

    /// Everything is handed over.
    fn sent(&mut self, connection: &mut Connection, work: &mut Work, rest: &[u8]) -> Fate {
        self.own()
            .tallies
            .responses
            .add(u64::from(work.unsent_answers));
        work.unsent_answers = 0;
        work.pace = None;
        work.phase = Phase::Reading;
        match work.closing {
            Closing::No => return Fate::Open,
            Closing::Reset => return Fate::Reset,
            Closing::Yes | Closing::Midway => {}
        }
        self.last_words(connection);
        if rest.is_empty() && !connection.unread && work.closing == Closing::Yes {
            return Fate::Closed;
        }
        // Closing with unread input would reset the connection, and the answer could be lost.
        if shutdown(&connection.fd, Shutdown::Write).is_err() {
            return Fate::Closed;
        }
        work.phase = Phase::Lingering;
        self.timers.set(clock::now() + LINGER, connection.token);
        Fate::Open
    }

    /// Sends the last messages of TLS, once; a peer that has no room for them misses them.
    fn last_words(&self, connection: &mut Connection) {
        let mut wire = Vec::new();
        if let Some(session) = &mut connection.tls {
            session.close(&mut wire);
        }
        if !wire.is_empty()
            && let Ok(sent) = send_at_once(connection, &wire)
        {
            self.own().tallies.bytes_sent.add(sent as u64);
        }
    }

    /// A connection is gone.
    pub(crate) fn ended(&self, connection: Connection) {
        self.own().tallies.connections_ended.add(1);
        drop(connection);
    }
}
