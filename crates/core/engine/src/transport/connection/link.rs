//! The link of a slot: closed, a connection that is being opened, or an open one with its wire.
//!
//! ```text
//!   Closed ─► Dialing ─► (SecuringProxy) ─► (Tunneling) ─► (Securing) ─► Open: silent, then ready
//! ```
//!
//! The route determines the steps in brackets. An attempt moves the link from step to step; only
//! its connection returns it to `Closed`.

use crate::wire::{Wire, WireProtocol};
use drumfire_http1::Machine;
use drumfire_measure::Outcome;
use drumfire_net::Readiness;

/// The link of a slot.
#[derive(Debug)]
pub(in crate::transport) enum Link {
    /// The slot has no connection.
    Closed,
    /// The connection is being dialed.
    Dialing,
    /// The TLS handshake with a proxy is running.
    SecuringProxy,
    /// A CONNECT request was sent to the proxy; the machine reads its answer.
    Tunneling(Box<Machine>),
    /// The TLS handshake is running.
    Securing,
    /// The connection is open and used by the wire.
    Open(Wire),
}

/// The state of a connection, for the owner of the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkState {
    /// The share has no connection.
    Closed,
    /// The connection is being dialed, or in a handshake.
    Opening,
    /// The connection is open and its protocol negotiated, but nothing of the server's greeting has
    /// arrived.
    Silent,
    /// The connection can carry exchanges.
    Ready,
}

/// The step of opening a connection whose socket is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport) enum OpeningStep {
    /// The attempt continues without a read.
    GoOn,
    /// The attempt continues, and the connection is read afterwards.
    GoOnAndRead,
}

impl Link {
    /// The link's state, for the owner of the transport.
    pub(in crate::transport) fn state(&self) -> LinkState {
        match self {
            Self::Closed => LinkState::Closed,
            Self::Open(wire) if wire.is_ready() => LinkState::Ready,
            Self::Open(_) => LinkState::Silent,
            _ => LinkState::Opening,
        }
    }

    /// The step of opening that a socket's readiness allows, if any. Bytes that arrived with the
    /// connection, or with the end of a handshake, cause no further event, and neither does the
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

    /// The outcome of a timeout during this step of opening.
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

    /// The peer may finish the handshake and close at once; no further event is reported then.
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
