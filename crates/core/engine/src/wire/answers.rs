//! The results that every wire returns to the transport, for all protocols.
//!
//! Each result is a fact, and only the transport acts on it: it closes, redials, and serves waiting
//! exchanges. If a result includes ends of exchanges, the handler has been called for each of them
//! before.

use super::handler::Seen;
use super::underway::Handle;
use crate::blame::Failure;
use drumfire_measure::Closing;
use drumfire_units::Nanos;

/// The result of putting an exchange on a wire.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Submitted {
    /// The wire carries the exchange.
    Carried {
        handle: Handle,
        /// The time at which [`super::WireProtocol::handle_timeout`] must be called for the
        /// exchange; [`Nanos::MAX`] for never.
        due: Nanos,
    },
    /// The wire has no room: the exchange waits.
    Full,
    /// The exchange needs another connection: this one must be closed, and the exchange waits.
    Stale,
    /// The handler gave the exchange up; the wire does not carry it.
    GivenUp,
}

/// The output that a wire has for its socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outgoing {
    /// No output, or output that waits for the socket to become writable.
    Nothing,
    /// Bytes that [`super::WireProtocol::flush`] writes.
    Output,
    /// A send has failed. The transport must read the bytes that the peer sent before, then
    /// [`super::WireProtocol::fail_sends`] ends the remaining exchanges.
    Failed,
}

/// The result of a read.
#[derive(Debug)]
#[must_use]
pub(crate) struct Read {
    pub(crate) flow: Flow,
    /// Whether the socket may have more bytes than one turn's portion.
    pub(crate) unread: bool,
}

/// The effect of a read on its connection.
#[derive(Debug)]
pub(crate) enum Flow {
    /// The connection has no more room than before.
    Busy,
    /// The connection may have room, since `since` (the arrival of the first bytes), or since now.
    Room { since: Option<Nanos> },
    /// The connection can no longer be used, and its exchanges have had their last events.
    Close(Closing),
    /// Something happened that concerns more than the exchanges; a few times in a connection's
    /// life.
    Events(Box<ConnectionEvents>),
}

const _: () = assert!(size_of::<Read>() <= 32, "every response gives one");

/// Events of one read that concern the connection, not a single exchange.
#[derive(Debug, Default)]
pub(crate) struct ConnectionEvents {
    /// The time at which the first bytes arrived.
    pub(crate) since: Option<Nanos>,
    /// The time at which the connection became able to carry exchanges.
    pub(crate) ready: Option<Nanos>,
    /// The reason why the server takes no further exchanges.
    pub(crate) refusal: Option<Refusal>,
    failed: Option<Box<Failure>>,
}

impl ConnectionEvents {
    /// Notes bytes that arrived at `now`.
    #[inline]
    pub(crate) fn note_bytes(&mut self, now: Nanos) {
        self.since.get_or_insert(now);
    }

    /// Notes that the connection can carry exchanges from now on.
    pub(crate) const fn note_ready(&mut self, now: Nanos) {
        self.ready = Some(now);
    }

    /// Notes that the server takes no further exchanges.
    pub(crate) const fn note_refusal(&mut self, refusal: Refusal) {
        self.refusal = Some(refusal);
    }

    /// Notes that the connection has failed, with the failure for its exchanges.
    pub(crate) fn fail(&mut self, failure: Failure) {
        self.failed = Some(Box::new(failure));
    }

    /// Whether the connection has failed.
    #[inline]
    pub(crate) const fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// The failure of the connection, which its exchanges receive; `None` if it has not failed.
    pub(crate) fn into_failure(self) -> Option<Failure> {
        self.failed.map(|failure| *failure)
    }

    /// Whether there were no events except bytes.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.ready.is_none() && self.refusal.is_none() && self.failed.is_none()
    }
}

/// A server's reason to take no further exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The server's own reason, which may be unspecified.
    Own,
    /// The client's pings are too frequent.
    TooManyPings,
}

/// A server that should not be dialed again at once.
#[derive(Debug)]
pub(crate) struct Unwilling {
    /// The failure of the exchanges that the server has not served.
    pub(crate) failure: Failure,
    took_none: bool,
}

impl Unwilling {
    /// A server whose unserved exchanges get this failure; `took_none`: whether it served no
    /// exchange on the connection.
    pub(crate) const fn new(failure: Failure, took_none: bool) -> Self {
        Self { failure, took_none }
    }

    /// The failure of the exchanges that wait for the server; `None` if it served one on this
    /// connection, and may serve others on the next.
    pub(crate) fn refused_all(self) -> Option<Failure> {
        self.took_none.then_some(self.failure)
    }
}

/// The end of a connection whose send failed.
#[derive(Debug)]
pub(crate) enum BrokenSend {
    /// The exchanges of the connection have had their last events.
    Close(Closing),
    /// The exchanges of the connection must fail with this failure.
    Fail(Failure),
}

/// The effect of cancelling an exchange on the connection that carried it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dropped {
    /// The connection can carry nothing else, and must be closed.
    Connection(Seen),
    /// The connection continues.
    Stream,
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flushed {
    /// The socket took as much as it had room for.
    Written,
    /// The socket took as much as it had room for, and exchanges may continue to send with
    /// [`super::WireProtocol::resume`].
    IdleSince,
    /// A send has failed, for the first time.
    Failed,
}

/// The result of checking a connection at its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    /// The next check is due at this time; [`Nanos::MAX`] for never.
    Until(Nanos),
    /// The peer has shown no activity: the connection is dead.
    Dead,
    /// The connection has been idle for as long as the plan allows.
    Idle,
}
