//! Shares: one connection's worth of a lane, and the exchanges that wait for it.
//!
//! A share is the plan's unit of a connection. It exists for the whole run, is served by one slot
//! after the other, and has a number among those of all workers, which decides its addresses and
//! its ages. An exchange that finds no room on the connection waits here, in the order of arrival,
//! and is put on whichever connection serves the share next. The exchange waits for this share
//! alone, because its seat is here.

use super::lane::{Lane, Seat};
use crate::id::{ExchangeId, LaneId, ShareId};
use crate::idle_since::IdleSince;
use drumfire_net::Slot;
use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

/// One of the plan's connections, whichever slot serves it at the moment.
#[derive(Debug)]
pub(super) struct Share {
    /// The lane along which it leads now.
    pub(super) lane: LaneId,
    /// The slot that takes its exchanges now.
    pub(super) slot: Slot,
    /// Its number among the run's connections, counted over all workers.
    pub(super) number: u32,
    /// The number of connections that have served it.
    lives: u32,
    /// Exchanges that wait for the connection, or for room on it.
    waiting: VecDeque<ExchangeId>,
    /// The shares that serve its redirected exchanges.
    pub(super) redirect_shares: Vec<ShareId>,
    /// Its seats, if its lane grows; other lanes count none.
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
            seats: SeatCount::of(0),
        }
    }

    /// Counts a connection that serves it from now on. Returns the number of those before it.
    pub(super) const fn begin_life(&mut self) -> u32 {
        self.lives += 1;
        self.lives - 1
    }

    /// Lets an exchange wait; `true` if another waits before it.
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

    /// Removes an exchange from those that wait. Costs a pass over them, which only timeouts pay.
    pub(super) fn forget(&mut self, id: ExchangeId) {
        self.waiting.retain(|other| *other != id);
    }
}

/// A worker's shares.
#[derive(Debug, Default)]
pub(super) struct Shares(Vec<Share>);

impl Shares {
    /// The number of shares, and the id of the next.
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
/// server's setting may change it at any time: seats that become too many are withdrawn, the free
/// ones at once and the others when their exchanges end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SeatCount {
    /// The seats for which its connection has room.
    count: u32,
    /// The seats beyond them, which are withdrawn when their exchanges give them back.
    surplus: u32,
}

impl SeatCount {
    /// The seats of a connection with this many streams.
    pub(super) const fn of(streams: u32) -> Self {
        Self {
            count: streams,
            surplus: 0,
        }
    }

    /// Takes a seat back that an exchange has left; `false` if it is withdrawn.
    #[inline]
    pub(super) fn keeps_one(&mut self) -> bool {
        let is_kept = self.surplus == 0;
        self.surplus -= u32::from(!is_kept);
        is_kept
    }

    /// Fits the seats of a share of a growing lane to the exchanges that its server takes at a
    /// time, and those that are free on the lane with them.
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
