//! Changes of connections, for the exchanges that wait for one or that it carried.
//!
//! [`Connections`](super::connections::Connections) do not touch exchanges, so each call that could
//! concern them returns a change instead. The transport follows it at once, before the next call: a
//! change that is dropped would leave exchanges waiting for ever, which `must_use` prevents.

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
    /// The connection carries exchanges since a time.
    Open { share: ShareId, since: Nanos },
    /// The connection's greeting is to be sent.
    Greets(Slot),
    /// The connection can't be opened: the waiting exchanges fail.
    Failed {
        share: ShareId,
        failure: Failure,
        at: Nanos,
    },
}

/// A connection of HTTP/2 that has failed.
#[derive(Debug)]
#[must_use]
pub(super) enum Lost {
    /// The connection was not open yet.
    Opening(Change),
    /// The connection carried these exchanges.
    Carried(Vec<ExchangeId>),
}
