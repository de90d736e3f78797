//! Changes of connections, as they concern the exchanges that wait for one or that it carried.
//!
//! [`Connections`](super::connections::Connections) may not touch exchanges, so each call that
//! could concern them gives a change in place of doing so. The transport follows it at once, before
//! the next call: a change that is dropped would leave exchanges waiting for ever, of which
//! `must_use` warns.

use crate::blame::Failure;
use crate::id::{ExchangeId, ShareId};
use drumfire_net::Slot;
use drumfire_units::Nanos;

/// A change of a share's connection, for the exchanges that wait for it.
#[derive(Debug)]
#[must_use]
pub(super) enum Change {
    /// None that concerns them.
    None,
    /// It carries exchanges from now on.
    Open { share: ShareId, since: Nanos },
    /// Its greeting is to be sent.
    Greets(Slot),
    /// It can't be opened: they fail.
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
    /// It was not open yet.
    Opening(Change),
    /// It carried these exchanges.
    Carried(Vec<ExchangeId>),
}
