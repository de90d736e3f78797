//! Opening a connection: addresses in turn, a proxy's tunnel, TLS, the greeting.
//!
//! ```text
//!   dial ─► dialing ─► securing the proxy ─► tunnelling ─► securing ─► Open, or Greets
//!     ▲        │                │                 │            │
//!     └─ next ─┴─── none left ──┴─────────────────┴────────────┴────► Failed
//! ```
//!
//! An [`Attempt`] borrows a slot's connection and its lane for one step: `dial` begins, `go_on`
//! follows a socket's readiness, `time_out` the connection's deadline. The state between the steps
//! is the connection's [`Link`]; each step sets its deadline and gives the [`Way`] that remains. An
//! address that can't be reached is followed by the lane's next within the same attempt; a failure
//! of proxy, TLS or protocol ends the attempt.
//!
//! The deadline is that of connecting up to TLS with the origin, and that of the handshake from
//! there; both are the plan's. Each address of a lane has the whole time of connecting. Bytes of a
//! proxy are read by `http1`'s machine with its limits; any answer but 2xx refuses, and so do bytes
//! behind it, which would be taken for the origin's. The head decides: the body of a refusal is not
//! read, since it may have no end, and a step would last as long as a proxy sends.

use super::{Connection, Link};
use crate::blame::{During, Failure, http1_outcome, io_failure};
use crate::transport::context::Context;
use crate::transport::lane::Lane;
use crate::wire::{Handler, Input, Note, Port, Wire, WireProtocol};
use drumfire_http1::{BodyKind, Event, Machine, Persistence, RequestKind};
use drumfire_measure::{Closing, Outcome};
use drumfire_net::{Io, IoError, Progress, Received, Slot};
use drumfire_units::Nanos;

/// The result of one step of opening a connection.
#[derive(Debug)]
#[must_use]
pub(in crate::transport) enum Way {
    /// The attempt goes on, until the connection's deadline.
    Pending,
    /// The connection carries exchanges from that time on.
    Open { since: Nanos },
    /// The connection is open since that time, and its greeting is to be sent.
    Greets { since: Nanos },
    /// The connection can't be opened.
    Failed {
        failure: Failure,
        /// The time of the failure.
        at: Nanos,
    },
}

/// An attempt to open a slot's connection, for one step. It borrows what a step changes, and is
/// gone when the step has been taken; what lasts is in the connection.
pub(in crate::transport) struct Attempt<'a, 'c, I, H> {
    /// The connection that is opened.
    connection: &'a mut Connection,
    /// Its lane, which knows the addresses and which of them were down.
    lane: &'a mut Lane,
    slot: Slot,
    cx: &'a mut Context<'c, I, H>,
}

impl<'a, 'c, I: Io, H: Handler> Attempt<'a, 'c, I, H> {
    /// A step of opening the connection in a slot, along its lane.
    pub(in crate::transport) const fn new(
        connection: &'a mut Connection,
        lane: &'a mut Lane,
        slot: Slot,
        cx: &'a mut Context<'c, I, H>,
    ) -> Self {
        Self {
            connection,
            lane,
            slot,
            cx,
        }
    }

    /// Begins, at the first address that accepts the attempt.
    pub(in crate::transport) fn dial(mut self, now: Nanos) -> Way {
        self.connection.redial.begin_attempt(self.lane);
        self.dial_next(now)
    }

    /// Goes on, after the slot has become ready.
    pub(in crate::transport) fn go_on(self, input: &mut Input) -> Way {
        match self.connection.link {
            Link::Dialing => self.on_dialing(),
            Link::SecuringProxy => self.on_securing_proxy(),
            Link::Tunneling(_) => self.receive_tunnel(input),
            Link::Securing => self.on_securing(),
            Link::Closed | Link::Open(_) => Way::Pending,
        }
    }

    /// Ends the step that took too long: the next address is dialed where the connection was not
    /// established, else the attempt has failed.
    pub(in crate::transport) fn time_out(mut self, now: Nanos) -> Way {
        let outcome = self.connection.link.opening_timeout();
        if outcome == Outcome::TimeoutConnect && self.connection.redial.try_another(self.lane, now)
        {
            self.connection.close(self.cx, self.slot, Closing::Failed);
            return self.dial_next(now);
        }
        failed(Failure::of(outcome), now)
    }

    /// Tries the lane's addresses from the slot's own choice on, each once.
    fn dial_next(&mut self, now: Nanos) -> Way {
        loop {
            let choice = self.connection.redial.choose(self.lane, now);
            let address = match self.lane.route.address(choice) {
                Ok(address) => address,
                Err(reason) => return failed(Failure::of(reason), now),
            };
            let result = self.cx.io.dial(self.slot, &address);
            self.connection.address = address.peer();
            self.connection.phase_start = now;
            self.connection.peer_closed = false;
            match result {
                Ok(Progress::Done) => return self.connected(now),
                Ok(Progress::Pending) => {
                    self.connection.link = Link::Dialing;
                    let limit = self.lane.settings.connect_by(now);
                    self.connection.alarm.set_deadline(limit);
                    return Way::Pending;
                }
                Err(error) => {
                    if !self.connection.redial.try_another(self.lane, now) {
                        return failed(io_failure(error, During::Connect), now);
                    }
                }
            }
        }
    }

    /// Goes on with a dial whose socket has made progress.
    fn on_dialing(mut self) -> Way {
        match self.cx.io.finish_dial(self.slot) {
            Ok(Progress::Pending) => Way::Pending,
            Ok(Progress::Done) => {
                let now = self.cx.io.now();
                self.connected(now)
            }
            Err(error) => {
                let now = self.cx.io.now();
                self.connection.close(self.cx, self.slot, Closing::Failed);
                if self.connection.redial.try_another(self.lane, now) {
                    self.dial_next(now)
                } else {
                    failed(io_failure(error, During::Connect), now)
                }
            }
        }
    }

    /// Begins the next step over an established connection: TLS with a proxy, a tunnel, TLS, or the
    /// protocol itself.
    fn connected(&mut self, now: Nanos) -> Way {
        let time = now - self.connection.phase_start;
        let address = self.connection.address;
        self.connection.connect_time = time;
        self.cx.handler.note(Note::Connected { time, address });
        self.connection.phase_start = now;
        let Some(config) = self.lane.route.proxy_tls else {
            return self.tunnel(now);
        };
        self.connection.link = Link::SecuringProxy;
        let progress = self.cx.io.start_tls(self.slot, config);
        self.secure_proxy(progress)
    }

    /// Goes on with the handshake with a proxy.
    fn on_securing_proxy(mut self) -> Way {
        let progress = self.cx.io.handshake(self.slot);
        self.secure_proxy(progress)
    }

    /// Ends the handshake with a proxy, if it is over. Any failure is the proxy's, also one of its
    /// certificate: the origin was not reached.
    fn secure_proxy(&mut self, progress: Result<Progress, IoError>) -> Way {
        let now = self.cx.io.now();
        match progress {
            Ok(Progress::Pending) => Way::Pending,
            Ok(Progress::Done) => self.tunnel(now),
            Err(error) => {
                let reason = format!("TLS with the proxy: {}", words_of(error, During::Tls));
                failed(Failure::with(Outcome::ConnectProxy, reason), now)
            }
        }
    }

    /// Asks the proxy to connect through, where the route has a tunnel.
    fn tunnel(&mut self, now: Nanos) -> Way {
        let Some(head) = self.lane.route.tunnel() else {
            return self.tunnelled(now);
        };
        // A fresh connection has room for a CONNECT.
        let mut machine = Box::new(Machine::new());
        machine.send(RequestKind::Connect, Persistence::KeepAlive);
        self.connection.link = Link::Tunneling(machine);
        let error = match self.cx.io.send(self.slot, head) {
            Ok(sent) if sent == head.len() => return Way::Pending,
            Ok(_) => IoError::Other("the proxy does not accept the request".to_owned()),
            Err(error) => error,
        };
        failed(io_failure(error, During::Connect), self.cx.io.now())
    }

    /// Reads a proxy's answer to CONNECT.
    fn receive_tunnel(mut self, input: &mut Input) -> Way {
        let Link::Tunneling(machine) = &mut self.connection.link else {
            return Way::Pending;
        };
        // Bytes of a server that speaks first may follow the answer, and are not the proxy's.
        let settings = &self.lane.settings;
        let is_plain = self.lane.route.tls.is_none();
        let speaks_first = is_plain && settings.protocol.server_speaks_first();
        let tunnel = loop {
            let mut port = Port::new(&mut *self.cx.io, self.slot);
            let received = match speaks_first {
                true => input.receive_byte(&mut port),
                false => input.receive(&mut port),
            };
            let tunnel = match received {
                Ok(Received::Bytes { .. }) => {
                    let (bytes, shared) = input.received();
                    read_tunnel(machine, bytes, shared)
                }
                Ok(Received::Nothing) => return Way::Pending,
                Ok(Received::End) => refused_by_end(machine),
                Err(error) => Tunnel::Refused(words_of(error, During::Send)),
            };
            if !matches!(tunnel, Tunnel::Waits) {
                break tunnel;
            }
        };
        let now = self.cx.io.now();
        match tunnel {
            Tunnel::Waits => Way::Pending,
            Tunnel::Open => self.tunnelled(now),
            Tunnel::Refused(reason) => failed(Failure::with(Outcome::ConnectProxy, reason), now),
        }
    }

    /// Begins TLS with the origin, to which the way is open, or opens the connection without.
    fn tunnelled(&mut self, now: Nanos) -> Way {
        self.connection.phase_start = now;
        let Some(config) = self.lane.route.tls else {
            return self.opened(now);
        };
        self.connection.link = Link::Securing;
        let limit = self.lane.settings.tls_by(now);
        self.connection.alarm.set_deadline(limit);
        let progress = self.cx.io.start_tls(self.slot, config);
        self.secure(progress)
    }

    /// Goes on with the handshake with the origin.
    fn on_securing(mut self) -> Way {
        let progress = self.cx.io.handshake(self.slot);
        self.secure(progress)
    }

    /// Ends the handshake, if it is over: the protocol must have been agreed where it needs that.
    fn secure(&mut self, progress: Result<Progress, IoError>) -> Way {
        match progress {
            Ok(Progress::Pending) => Way::Pending,
            Ok(Progress::Done) => {
                let now = self.cx.io.now();
                let time = now - self.connection.phase_start;
                let is_resumed = self.cx.io.is_resumed(self.slot);
                self.cx.handler.note(Note::Secured { time, is_resumed });
                let protocol = self.lane.settings.protocol;
                let is_agreed = |cx: &Context<'_, I, H>| cx.io.agreed(self.slot, protocol.alpn());
                if protocol.must_be_agreed() && !is_agreed(self.cx) {
                    return failed(Failure::of(Outcome::TlsAlpn), now);
                }
                self.opened(now)
            }
            Err(error) => {
                let failure = io_failure(error, During::Tls);
                let failure = Port::new(&mut *self.cx.io, self.slot).explain(failure);
                failed(failure, self.cx.io.now())
            }
        }
    }

    /// Opens the wire, which carries exchanges at once or greets the server first.
    fn opened(&mut self, now: Nanos) -> Way {
        let settings = &self.lane.settings;
        let mut wire = Wire::open(settings, now, self.connection.connect_time);
        let is_ready = wire.is_ready();
        self.connection.phase_start = now;
        self.connection.leaving = self.lane.is_transient.then_some(Closing::Redirected);
        let way = if is_ready {
            self.connection.redial.succeed();
            let first_look = wire.first_look(settings.patience(0), now);
            self.connection.alarm.set_deadline(first_look);
            Way::Open { since: now }
        } else {
            self.connection.alarm.set_deadline(settings.connect_by(now));
            Way::Greets { since: now }
        };
        self.connection.link = Link::Open(wire);
        way
    }
}

/// The way of an attempt that has failed at a time.
const fn failed(failure: Failure, at: Nanos) -> Way {
    Way::Failed { failure, at }
}

/// A proxy's answer to CONNECT.
enum Tunnel {
    /// The head of the answer has not come yet.
    Waits,
    Open,
    /// The proxy opens none, for this reason.
    Refused(String),
}

/// Feeds a proxy's answer to its reader.
fn read_tunnel(
    machine: &mut Machine,
    mut bytes: &[u8],
    shared: &mut drumfire_http1::Shared,
) -> Tunnel {
    loop {
        let step = match machine.handle_input(bytes, shared) {
            Ok(step) => step,
            Err(error) => return Tunnel::Refused(refusal(&error)),
        };
        bytes = &bytes[step.consumed..];
        match step.event {
            Event::NeedInput => return Tunnel::Waits,
            Event::Head(head) if head.body == BodyKind::Tunnel => {
                return match bytes.is_empty() {
                    true => Tunnel::Open,
                    false => {
                        Tunnel::Refused("unexpected bytes after the proxy's answer".to_owned())
                    }
                };
            }
            Event::Head(head) => {
                let status = head.status;
                return Tunnel::Refused(format!("the proxy answered with status {status}"));
            }
            // A head comes before them.
            Event::Interim(_) | Event::Body(_) | Event::End(_) => {}
        }
    }
}

/// The answer of a proxy that has closed the connection.
fn refused_by_end(machine: &mut Machine) -> Tunnel {
    match machine.handle_end() {
        // A response whose head has come is over by that.
        Ok(_) => Tunnel::Refused(Outcome::Closed.words().to_owned()),
        Err(error) => Tunnel::Refused(refusal(&error)),
    }
}

/// A proxy's answer that is no HTTP, in words: its hint, or those of the failure.
fn refusal(error: &drumfire_http1::Error) -> String {
    let words = || http1_outcome(error).words().to_owned();
    error.hint().unwrap_or_else(words)
}

/// The words for an error of a socket in one phase of opening.
fn words_of(error: IoError, during: During) -> String {
    io_failure(error, during).words().into_owned()
}
