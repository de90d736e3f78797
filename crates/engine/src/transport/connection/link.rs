//! The link of a slot: nothing, a connection on its way to being open, or an open one with its
//! wire.
//!
//! ```text
//!   Closed ─► Dialing ─► (SecuringProxy) ─► (Tunneling) ─► (Securing) ─► Open: silent, then ready
//! ```
//!
//! The steps in brackets are those of its route. An attempt to open it moves it from step to step;
//! its connection alone takes it back to `Closed`.

use crate::wire::{Wire, WireProtocol};
use drumfire_http1::Machine;
use drumfire_measure::Outcome;
use drumfire_net::Readiness;

/// The link of a slot.
#[derive(Debug)]
pub(in crate::transport) enum Link {
    /// The slot has no connection.
    Closed,
    /// It is being dialed.
    Dialing,
    /// The TLS handshake with a proxy is under way.
    SecuringProxy,
    /// A proxy has been asked to connect through; this reads its answer.
    Tunneling(Box<Machine>),
    /// The TLS handshake is under way.
    Securing,
    /// It is open, and the wire speaks on it.
    Open(Wire),
}

/// The state of a connection, for the owner of the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkState {
    /// The share has no connection.
    Closed,
    /// It is being dialed, or in a handshake.
    Opening,
    /// It is open, both sides have agreed on its protocol, and nothing has come of the server's
    /// greeting.
    Silent,
    /// It carries exchanges.
    Ready,
}

/// The step of opening a connection whose socket has become ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport) enum OpeningStep {
    /// The attempt continues.
    GoOn,
    /// The attempt continues, and the connection is read afterwards.
    GoOnAndRead,
}

impl Link {
    /// Its state, for the owner of the transport.
    pub(in crate::transport) fn state(&self) -> LinkState {
        match self {
            Self::Closed => LinkState::Closed,
            Self::Open(wire) if wire.is_ready() => LinkState::Ready,
            Self::Open(_) => LinkState::Silent,
            _ => LinkState::Opening,
        }
    }

    /// The step of opening it that a socket's readiness allows, if any. Bytes that came with the
    /// connection, or with the end of a handshake, have no event of their own, and neither has the
    /// peer's end.
    pub(in crate::transport) const fn opening_step(
        &self,
        readiness: Readiness,
        server_speaks_first: bool,
    ) -> Option<OpeningStep> {
        let (goes_on, reads) = match self {
            Self::Dialing => (readiness.writable, readiness.readable),
            Self::SecuringProxy | Self::Securing => {
                (true, server_speaks_first || readiness.peer_closed)
            }
            Self::Tunneling(_) => (readiness.readable, readiness.peer_closed),
            Self::Closed | Self::Open(_) => (false, false),
        };
        match (goes_on, reads) {
            (false, _) => None,
            (true, false) => Some(OpeningStep::GoOn),
            (true, true) => Some(OpeningStep::GoOnAndRead),
        }
    }

    /// The outcome of a timeout while it is being opened.
    pub(in crate::transport) const fn opening_timeout(&self) -> Outcome {
        match self {
            Self::Securing => Outcome::TimeoutTls,
            _ => Outcome::TimeoutConnect,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Link, OpeningStep};
    use drumfire_net::{Readiness, Slot};

    /// The peer may finish the handshake and close at once: no further event says so.
    #[test]
    fn an_end_behind_a_handshake_is_read() {
        let readiness = |peer_closed| Readiness {
            slot: Slot(0),
            readable: true,
            writable: true,
            peer_closed,
        };
        for (peer_closed, speaks_first, step) in [
            (false, false, OpeningStep::GoOn),
            (false, true, OpeningStep::GoOnAndRead),
            (true, false, OpeningStep::GoOnAndRead),
        ] {
            let found = Link::Securing.opening_step(readiness(peer_closed), speaks_first);
            assert_eq!(found, Some(step));
        }
        assert_eq!(Link::Closed.opening_step(readiness(true), true), None);
    }
}
