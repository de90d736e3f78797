//! Where each exchange travels.

use super::Seen;
use crate::id::ShareId;
use drumfire_http2::StreamRef;
use drumfire_measure::Outcome;
use drumfire_net::Slot;

/// Where an exchange travels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carriage {
    /// The share that it was submitted to.
    pub(crate) share: ShareId,
    /// The slot that carries it.
    pub(crate) slot: Slot,
    pub(crate) phase: Phase,
}

/// How far an exchange has come on its way to the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The transport knows nothing of it.
    Nowhere,
    /// The origin that it is redirected to is being looked up.
    Seeking,
    /// It waits for a connection, or for room on one.
    Waiting,
    /// It has a connection of HTTP/1.1 to itself.
    OnConnection,
    /// It has a stream.
    OnStream(StreamRef),
}

impl Default for Carriage {
    fn default() -> Self {
        Self {
            share: ShareId(0),
            slot: Slot(0),
            phase: Phase::Nowhere,
        }
    }
}

impl Carriage {
    /// It waits for a share's connection.
    pub(crate) const fn waiting(share: ShareId) -> Self {
        Self {
            share,
            slot: Slot(0),
            phase: Phase::Waiting,
        }
    }

    /// It waits for the address of an origin.
    pub(crate) const fn seeking(share: ShareId) -> Self {
        Self {
            share,
            slot: Slot(0),
            phase: Phase::Seeking,
        }
    }

    /// It has the connection in this slot to itself.
    #[inline]
    pub(crate) const fn on_connection(share: ShareId, slot: Slot) -> Self {
        Self {
            share,
            slot,
            phase: Phase::OnConnection,
        }
    }

    /// It has a stream on the connection in this slot.
    #[inline]
    pub(crate) const fn on_stream(share: ShareId, slot: Slot, stream: StreamRef) -> Self {
        Self {
            share,
            slot,
            phase: Phase::OnStream(stream),
        }
    }

    /// Its stream, if it has one.
    #[inline]
    pub(crate) const fn stream(&self) -> Option<StreamRef> {
        match self.phase {
            Phase::OnStream(stream) => Some(stream),
            _ => None,
        }
    }

    /// It travels no more.
    #[inline]
    pub(crate) const fn clear(&mut self) {
        self.phase = Phase::Nowhere;
    }
}

/// The phase of an exchange when it was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cancelled {
    pub(crate) phase: Phase,
    pub(crate) seen: Seen,
    /// The phase in which its connection was late, where that was being opened for it alone.
    pub(crate) opening: Option<Outcome>,
}
