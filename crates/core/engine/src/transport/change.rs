//! Changes of connections, for the exchanges that wait for one or that it carried.
//!
//! [`Connections`](super::connections::Connections) do not touch exchanges, so each call that could
//! affect them returns a change instead. The transport must apply it before the next call: a
//! dropped change would leave exchanges waiting for ever, which `must_use` prevents.

use crate::blame::Failure;
use crate::id::{ExchangeId, ShareId};
use drumfire_net::Slot;
use drumfire_units::Nanos;

/// A change of a share's connection, for the exchanges that wait for it.
#[derive(Debug)]
#[must_use]
pub(super) enum Change {
    /// No effect on waiting exchanges.
    None,
    /// The connection can carry exchanges since a time.
    Open { share: ShareId, since: Nanos },
    /// The connection's greeting must be sent.
    Greets(Slot),
    /// The connection cannot be opened: the waiting exchanges fail.
    Failed {
        share: ShareId,
        failure: Failure,
        at: Nanos,
    },
}

/// An HTTP/2 connection that has failed.
#[derive(Debug)]
#[must_use]
pub(super) enum Lost {
    /// The connection was not open yet.
    Opening(Change),
    /// The connection carried these exchanges.
    Carried(Vec<ExchangeId>),
}
