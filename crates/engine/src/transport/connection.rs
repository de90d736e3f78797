//! One slot's connection.

use crate::id::{LaneId, ShareId};
use crate::wire::Wire;
use drumfire_units::Nanos;

/// A slot: a connection or the room for one.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) wire: Wire,
    pub(crate) lane: LaneId,
    /// The share whose exchanges it carries.
    pub(crate) share: ShareId,
    /// Failed attempts to open it, in a row.
    pub(crate) failures: u8,
    /// Whether the peer has finished sending: its bytes are read to the end, for which no further
    /// event comes.
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
    /// When its current phase began: of opening, or of being open.
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
