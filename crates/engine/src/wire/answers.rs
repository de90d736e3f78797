//! The answers that every wire gives the transport, whichever protocol it speaks.
//!
//! Each is a fact, and the transport alone draws the consequence: it closes, redials, and serves
//! the exchanges that wait. An answer with exchanges' ends in it is given after the handler has
//! been called for each of them.

use super::handler::Seen;
use super::underway::Handle;
use crate::blame::Failure;
use drumfire_measure::Closing;
use drumfire_units::Nanos;

/// The result of putting an exchange on a wire.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Submitted {
    /// The wire carries it.
    Carried {
        handle: Handle,
        /// The time at which [`super::WireProtocol::handle_timeout`] must be called for it;
        /// [`Nanos::MAX`] for none.
        due: Nanos,
    },
    /// The wire has no room: the exchange waits.
    Full,
    /// The handler gave the exchange up; the wire does not carry it.
    GivenUp,
}

/// The output that a wire has for its socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outgoing {
    /// None, or the socket takes it when it is writable again.
    Nothing,
    /// Bytes that [`super::WireProtocol::flush`] writes.
    Output,
    /// A send has failed. Bytes that the peer sent before are read once more, then
    /// [`super::WireProtocol::fail_sends`] ends what they have not ended.
    Failed,
}

/// The result of a read.
#[derive(Debug)]
#[must_use]
pub(crate) struct Read {
    pub(crate) flow: Flow,
    /// Whether the socket may hold more than one turn's portion.
    pub(crate) unread: bool,
}

/// The effect of a read on its connection.
#[derive(Debug)]
pub(crate) enum Flow {
    /// It has no more room than before.
    Busy,
    /// It may have room, since its first bytes came, or since now.
    Room { since: Option<Nanos> },
    /// It can't be used any more, and its exchanges have had their last events.
    Close(Closing),
    /// Something happened that concerns more than its exchanges; a few times in a connection's life.
    Events(Box<ConnectionEvents>),
}

const _: () = assert!(size_of::<Read>() <= 32, "every response gives one");

/// Events of one read that concern the connection, not a single exchange.
#[derive(Debug, Default)]
pub(crate) struct ConnectionEvents {
    /// The time at which the first bytes came.
    pub(crate) since: Option<Nanos>,
    /// The time at which the connection began to carry exchanges.
    pub(crate) ready: Option<Nanos>,
    /// The reason for which the server takes no further exchanges.
    pub(crate) refusal: Option<Refusal>,
    failed: Option<Box<Failure>>,
}

impl ConnectionEvents {
    /// Notes bytes that came at a time.
    #[inline]
    pub(crate) fn note_bytes(&mut self, now: Nanos) {
        self.since.get_or_insert(now);
    }

    /// Notes that the connection carries exchanges from now on.
    pub(crate) const fn note_ready(&mut self, now: Nanos) {
        self.ready = Some(now);
    }

    /// Notes that the server takes no further exchanges.
    pub(crate) const fn note_refusal(&mut self, refusal: Refusal) {
        self.refusal = Some(refusal);
    }

    /// Notes that the connection can't go on: its exchanges fail so.
    pub(crate) fn fail(&mut self, failure: Failure) {
        self.failed = Some(Box::new(failure));
    }

    /// Whether the connection can't go on.
    #[inline]
    pub(crate) const fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// The failure of a connection that can't go on, with which its exchanges fail.
    pub(crate) fn into_failure(self) -> Option<Failure> {
        self.failed.map(|failure| *failure)
    }

    /// Whether anything but bytes has come.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.ready.is_none() && self.refusal.is_none() && self.failed.is_none()
    }
}

/// A server's reason to take no further exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Its own, of which it need not say more.
    Own,
    /// The client's pings are too frequent.
    TooManyPings,
}

/// A server that should not be dialed again at once.
#[derive(Debug)]
pub(crate) struct Unwilling {
    /// The failure of the exchanges that it leaves behind.
    pub(crate) failure: Failure,
    took_none: bool,
}

impl Unwilling {
    /// A server that leaves exchanges behind with this failure, and that took none on the
    /// connection where `took_none`.
    pub(crate) const fn new(failure: Failure, took_none: bool) -> Self {
        Self { failure, took_none }
    }

    /// The failure of the exchanges that wait for the server; `None` where it took one on this
    /// connection, and may take others on the next.
    pub(crate) fn refused_all(self) -> Option<Failure> {
        self.took_none.then_some(self.failure)
    }
}

/// The end of a connection whose send failed.
#[derive(Debug)]
pub(crate) enum Broken {
    /// Its exchanges have had their last events.
    Close(Closing),
    /// Its exchanges fail with this.
    Fail(Failure),
}

/// The effect of cancelling an exchange on the connection that carried it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dropped {
    /// The connection can carry nothing else, and has to be closed.
    Connection(Seen),
    /// The connection goes on.
    Stream,
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flushed {
    /// The socket took as much as it had room for.
    Written,
    /// The socket took as much as it had room for, so that exchanges may continue to send by
    /// [`super::WireProtocol::resume`].
    IdleSince,
    /// A send has failed, for the first time.
    Failed,
}

/// The result of a look at a connection whose time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    /// The next look is due then; [`Nanos::MAX`] for never.
    Until(Nanos),
    /// No sign of life came: the connection is dead.
    Dead,
    /// It has carried nothing for as long as the plan allows.
    Idle,
}
