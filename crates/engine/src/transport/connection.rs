//! One slot's connection, and where each exchange travels.

use super::{LaneId, ShareId};
use crate::wire::Wire;
use drumfire_http2::StreamRef;
use drumfire_net::Slot;
use drumfire_units::Nanos;

/// A slot: a connection or the room for one.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) wire: Wire,
    pub(crate) lane: LaneId,
    /// Whose exchanges it carries.
    pub(crate) share: ShareId,
    /// Failed attempts to open it, in a row.
    pub(crate) failures: u8,
    /// Whether the peer has finished sending: what it sent is read to its end, which no further
    /// event will tell.
    pub(crate) peer_closed: bool,
    /// Whether it stands in the list of those not read to the end.
    pub(crate) unread: bool,
    /// Whether its share's seat is given out when it is open, or when it has failed to open.
    pub(crate) withholds_seat: bool,
    /// Addresses tried in the current attempt to open it.
    pub(crate) tried: u16,
    /// Which of the lane's addresses is next.
    pub(crate) choice: u32,
    /// When its last exchange ended.
    pub(crate) freed: Nanos,
    /// It is not dialed again before this.
    pub(crate) rest_until: Nanos,
    /// When the current phase of opening began.
    pub(crate) phase_start: Nanos,
    /// When something must have happened; [`Nanos::MAX`] when nothing must.
    pub(crate) deadline: Nanos,
}

const _: () = assert!(
    size_of::<Connection>() <= 232,
    "a slot is small: there may be a million"
);

impl Connection {
    /// Room for a connection of a share.
    pub(crate) const fn new(lane: LaneId, share: ShareId, choice: u32) -> Self {
        Self {
            wire: Wire::Empty,
            lane,
            share,
            failures: 0,
            peer_closed: false,
            unread: false,
            withholds_seat: false,
            tried: 0,
            choice,
            freed: Nanos::ZERO,
            rest_until: Nanos::ZERO,
            phase_start: Nanos::ZERO,
            deadline: Nanos::MAX,
        }
    }

    /// Whether it is on its way to being open.
    pub(crate) fn is_opening(&self) -> bool {
        match &self.wire {
            Wire::Dialing | Wire::Tunneling(_) | Wire::Securing => true,
            Wire::Http2(http2) => !http2.is_ready(),
            Wire::Empty | Wire::Http1(_) => false,
        }
    }
}

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
