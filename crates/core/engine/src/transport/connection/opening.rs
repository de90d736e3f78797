//! Opening a connection: addresses in turn, a proxy's tunnel, TLS, the greeting.
//!
//! ```text
//!   dial ─► dialing ─► securing the proxy ─► tunnelling ─► securing ─► Open, or Greets
//!     ▲        │                │                 │            │
//!     └─ next ─┴─── none left ──┴─────────────────┴────────────┴────► Failed
//! ```
//!
//! An [`Attempt`] borrows a slot's connection and its lane for one step: `dial` begins, `go_on`
//! handles a socket's readiness, `time_out` the connection's deadline. Between steps the state is
//! in the connection's [`Link`]; each step sets its deadline and returns a [`Way`]. If an address
//! cannot be reached, the lane's next one is tried within the same attempt; a failure of proxy, TLS
//! or protocol ends the attempt.
//!
//! The deadline is the plan's time to connect until TLS with the origin begins, and then the plan's
//! time for the handshake. Each address of a lane has the whole time to connect. `http1`'s machine
//! reads a proxy's bytes, with its limits. Any answer but 2xx refuses the tunnel, and so do bytes
//! after the answer, which would be read as the origin's. The head decides: the body of a refusal
//! is not read, since it may be endless, and a step would last as long as the proxy sends.

use super::{Connection, Link};
use crate::blame::{During, Failure, http1_outcome, io_failure};
use crate::transport::context::Context;
use crate::transport::lane::Lane;
use crate::wire::{ConnectionNote, Handler, Input, Port, Wire, WireProtocol};
use drumfire_http1::{BodyKind, Event, Machine, Persistence, RequestKind};
use drumfire_measure::{Closing, Outcome};
use drumfire_net::{Io, IoError, Progress, Received, Slot};
use drumfire_units::Nanos;

/// The result of one step of opening a connection.
#[derive(Debug)]
#[must_use]
pub(in crate::transport) enum Way {
    /// The attempt continues, until the connection's deadline.
    Pending,
    /// The connection can carry exchanges from that time on.
    Open { since: Nanos },
    /// The connection is open since that time, and its greeting must be sent.
    Greets { since: Nanos },
    /// The connection cannot be opened.
    Failed {
        failure: Failure,
        /// The time of the failure.
        at: Nanos,
    },
}

/// One step of opening a slot's connection. Borrows the parts that the step changes; the state that
/// lasts is in the connection.
pub(in crate::transport) struct Attempt<'a, 'c, I, H> {
    /// The connection that is being opened.
    connection: &'a mut Connection,
    /// The lane, which has the addresses and the times at which they failed.
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

    /// Begins with the first address that accepts the attempt.
    pub(in crate::transport) fn dial(mut self, now: Nanos) -> Way {
        self.connection.redial.begin_attempt(self.lane);
        self.dial_next(now)
    }

    /// Continues after the slot has become ready.
    pub(in crate::transport) fn go_on(self, input: &mut Input) -> Way {
        match self.connection.link {
            Link::Dialing => self.on_dialing(),
            Link::SecuringProxy => self.on_securing_proxy(),
            Link::Tunneling(_) => self.receive_tunnel(input),
            Link::Securing => self.on_securing(),
            Link::Closed | Link::Open(_) => Way::Pending,
        }
    }

    /// Ends the step that took too long: if the connection was not established, the next address is
    /// dialed, else the attempt fails.
    pub(in crate::transport) fn time_out(mut self, now: Nanos) -> Way {
        let outcome = self.connection.link.opening_timeout();
        if outcome == Outcome::TimeoutConnect && self.connection.redial.try_another(self.lane, now)
        {
            self.connection.close(self.cx, self.slot, Closing::Failed);
            return self.dial_next(now);
        }
        failed(Failure::from_outcome(outcome), now)
    }

    /// Tries the lane's addresses, each once, beginning with the slot's choice.
    fn dial_next(&mut self, now: Nanos) -> Way {
        loop {
            let choice = self.connection.redial.choose(self.lane, now);
            let address = match self.lane.route.address(choice) {
                Ok(address) => address,
                Err(reason) => return failed(Failure::from_outcome(reason), now),
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

    /// Continues a dial whose socket has made progress.
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

    /// Begins the next step on an established connection: TLS with a proxy, a tunnel, TLS, or the
    /// protocol.
    fn connected(&mut self, now: Nanos) -> Way {
        let time = now - self.connection.phase_start;
        let address = self.connection.address;
        self.connection.connect_time = time;
        self.cx
            .handler
            .note(ConnectionNote::Connected { time, address });
        self.connection.phase_start = now;
        let Some(config) = self.lane.route.proxy_tls else {
            return self.tunnel(now);
        };
        self.connection.link = Link::SecuringProxy;
        let progress = self.cx.io.start_tls(self.slot, config);
        self.secure_proxy(progress)
    }

    /// Continues the handshake with a proxy.
    fn on_securing_proxy(mut self) -> Way {
        let progress = self.cx.io.handshake(self.slot);
        self.secure_proxy(progress)
    }

    /// Ends the handshake with a proxy, if it is complete. Any failure, including one of the
    /// proxy's certificate, is the proxy's: the origin was not reached.
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

    /// Requests a tunnel through the proxy, if the route has one.
    fn tunnel(&mut self, now: Nanos) -> Way {
        let Some(head) = self.lane.route.tunnel() else {
            return self.tunnelled(now);
        };
        // A new machine has room for a CONNECT.
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
        // Bytes of a server that sends first may follow the answer, and do not belong to the proxy.
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
                Err(error) => ProxyTunnel::Refused(words_of(error, During::Send)),
            };
            if !matches!(tunnel, ProxyTunnel::Waits) {
                break tunnel;
            }
        };
        let now = self.cx.io.now();
        match tunnel {
            ProxyTunnel::Waits => Way::Pending,
            ProxyTunnel::Open => self.tunnelled(now),
            ProxyTunnel::Refused(reason) => {
                failed(Failure::with(Outcome::ConnectProxy, reason), now)
            }
        }
    }

    /// Begins TLS with the origin, which can now be reached, or opens the connection without TLS.
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

    /// Continues the handshake with the origin.
    fn on_securing(mut self) -> Way {
        let progress = self.cx.io.handshake(self.slot);
        self.secure(progress)
    }

    /// Ends the handshake, if it is complete. If the protocol requires ALPN, it must have been
    /// negotiated.
    fn secure(&mut self, progress: Result<Progress, IoError>) -> Way {
        match progress {
            Ok(Progress::Pending) => Way::Pending,
            Ok(Progress::Done) => {
                let now = self.cx.io.now();
                let time = now - self.connection.phase_start;
                let is_resumed = self.cx.io.is_resumed(self.slot);
                self.cx
                    .handler
                    .note(ConnectionNote::Secured { time, is_resumed });
                let protocol = self.lane.settings.protocol;
                let is_agreed = |cx: &Context<'_, I, H>| cx.io.agreed(self.slot, protocol.alpn());
                if protocol.must_be_agreed() && !is_agreed(self.cx) {
                    return failed(Failure::from_outcome(Outcome::TlsAlpn), now);
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

    /// Opens the wire, which can carry exchanges at once or sends a greeting first.
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

/// The result of an attempt that failed at `at`.
const fn failed(failure: Failure, at: Nanos) -> Way {
    Way::Failed { failure, at }
}

/// A proxy's answer to CONNECT.
enum ProxyTunnel {
    /// The head of the answer has not arrived yet.
    Waits,
    Open,
    /// The proxy refuses the tunnel, for this reason.
    Refused(String),
}

/// Passes a proxy's answer to its reader.
fn read_tunnel(
    machine: &mut Machine,
    mut bytes: &[u8],
    shared: &mut drumfire_http1::Shared,
) -> ProxyTunnel {
    loop {
        let step = match machine.handle_input(bytes, shared) {
            Ok(step) => step,
            Err(error) => return ProxyTunnel::Refused(refusal(&error)),
        };
        bytes = &bytes[step.consumed..];
        match step.event {
            Event::NeedInput => return ProxyTunnel::Waits,
            Event::Head(head) if head.body == BodyKind::Tunnel => {
                return match bytes.is_empty() {
                    true => ProxyTunnel::Open,
                    false => {
                        ProxyTunnel::Refused("unexpected bytes after the proxy's answer".to_owned())
                    }
                };
            }
            Event::Head(head) => {
                let status = head.status;
                return ProxyTunnel::Refused(format!("the proxy answered with status {status}"));
            }
            // A head comes before these events.
            Event::Interim(_) | Event::Body(_) | Event::End(_) => {}
        }
    }
}

/// The answer of a proxy that has closed the connection.
fn refused_by_end(machine: &mut Machine) -> ProxyTunnel {
    match machine.handle_end() {
        // The head of a response has arrived, and the end completes the response.
        Ok(_) => ProxyTunnel::Refused(Outcome::Closed.words().to_owned()),
        Err(error) => ProxyTunnel::Refused(refusal(&error)),
    }
}

/// Describes a proxy's answer that is not valid HTTP: a hint, or the description of the failure.
fn refusal(error: &drumfire_http1::Error) -> String {
    let words = || http1_outcome(error).words().to_owned();
    error.hint().unwrap_or_else(words)
}

/// The description of a socket's error in one phase of opening.
fn words_of(error: IoError, during: During) -> String {
    io_failure(error, during).words().into_owned()
}
