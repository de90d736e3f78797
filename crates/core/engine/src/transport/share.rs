//! Shares: one connection's worth of a lane, and the exchanges that wait for it.
//!
//! A share is the plan's unit of a connection. It exists for the whole run, and one slot after
//! another serves it. Its number among the shares of all workers determines its addresses and the
//! ages of its connections. An exchange that finds no room on the connection waits here, in order
//! of arrival, until any connection that serves the share has room. The exchange waits only for
//! this share, because its seat is here.

use super::lane::{Lane, Seat};
use crate::id::{ExchangeId, LaneId, ShareId};
use crate::idle_since::IdleSince;
use drumfire_net::Slot;
use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

/// One of the plan's connections, whichever slot serves it at the moment.
#[derive(Debug)]
pub(super) struct Share {
    /// The current lane of the share.
    pub(super) lane: LaneId,
    /// The slot that takes the share's exchanges now.
    pub(super) slot: Slot,
    /// The number of the share among the run's connections, counted over all workers.
    pub(super) number: u32,
    /// The number of connections that have served the share.
    lives: u32,
    /// Exchanges that wait for the connection, or for room on it.
    waiting: VecDeque<ExchangeId>,
    /// The shares that serve its redirected exchanges.
    pub(super) redirect_shares: Vec<ShareId>,
    /// The seats of the share, if its lane grows; other lanes do not count them.
    pub(super) seats: SeatCount,
}

impl Share {
    pub(super) const fn new(lane: LaneId, slot: Slot, number: u32) -> Self {
        Self {
            lane,
            slot,
            number,
            lives: 0,
            waiting: VecDeque::new(),
            redirect_shares: Vec::new(),
            seats: SeatCount::for_streams(0),
        }
    }

    /// Counts a connection that serves the share from now on. Returns the number of earlier
    /// connections.
    pub(super) const fn begin_life(&mut self) -> u32 {
        self.lives += 1;
        self.lives - 1
    }

    /// Queues an exchange; returns whether another waits before it.
    pub(super) fn wait(&mut self, id: ExchangeId) -> bool {
        let waited = !self.waiting.is_empty();
        self.waiting.push_back(id);
        waited
    }

    /// Whether no exchange waits.
    #[inline]
    pub(super) fn is_clear(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Takes the exchange that has waited for longest.
    pub(super) fn next_waiting(&mut self) -> Option<ExchangeId> {
        self.waiting.pop_front()
    }

    /// Takes all exchanges that wait.
    pub(super) fn all_waiting(&mut self) -> VecDeque<ExchangeId> {
        std::mem::take(&mut self.waiting)
    }

    /// Removes an exchange from the queue. Costs a pass over the queue, which occurs only for
    /// timeouts.
    pub(super) fn forget(&mut self, id: ExchangeId) {
        self.waiting.retain(|other| *other != id);
    }
}

/// A worker's shares.
#[derive(Debug, Default)]
pub(super) struct Shares(Vec<Share>);

impl Shares {
    /// The number of shares, which is the id of the next one.
    pub(super) const fn count(&self) -> usize {
        self.0.len()
    }

    /// Adds a share.
    pub(super) fn push_share(&mut self, share: Share) {
        self.0.push(share);
    }
}

impl Index<ShareId> for Shares {
    type Output = Share;

    #[inline]
    fn index(&self, share: ShareId) -> &Share {
        &self.0[share.index()]
    }
}

impl IndexMut<ShareId> for Shares {
    #[inline]
    fn index_mut(&mut self, share: ShareId) -> &mut Share {
        &mut self.0[share.index()]
    }
}

/// The number of exchanges that a share of a growing lane takes before another share is added. A
/// server's setting may change it at any time: surplus seats are withdrawn, free ones at once and
/// the others when their exchanges end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SeatCount {
    /// The number of seats for which the connection has room.
    count: u32,
    /// The number of further seats, which are withdrawn when their exchanges return them.
    surplus: u32,
}

impl SeatCount {
    /// The seats of a connection with this many streams.
    pub(super) const fn for_streams(streams: u32) -> Self {
        Self {
            count: streams,
            surplus: 0,
        }
    }

    /// Whether the seat that an exchange has left is kept; `false` if it is withdrawn.
    #[inline]
    pub(super) fn keeps_one(&mut self) -> bool {
        let is_kept = self.surplus == 0;
        self.surplus -= u32::from(!is_kept);
        is_kept
    }

    /// Adapts the number of seats of a growing lane's share to the exchanges that its server allows
    /// at a time, and adds or removes free seats of the lane accordingly.
    pub(super) fn fit(&mut self, share: ShareId, allowed: Option<u32>, lane: &mut Lane) {
        if self.count == 0 {
            return;
        }
        let streams = lane.settings.streams;
        let count = allowed.map_or(streams, |allowed| allowed.clamp(1, streams));
        let fewer = self.count.saturating_sub(count);
        let more = count.saturating_sub(self.count);
        self.count = count;
        let kept = more.min(self.surplus);
        self.surplus = self.surplus - kept + fewer - lane.withdraw(share, fewer);
        let since = IdleSince::default();
        (kept..more).for_each(|_| lane.give_seat(Seat::new(share, since)));
    }
}
