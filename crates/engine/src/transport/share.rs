//! Shares: one connection's worth of a lane, and the exchanges that wait for it.
//!
//! A share is the plan's unit of a connection: it exists for the whole run, has its number among
//! all workers' (which decides its addresses and its ages), and is served by one slot after the
//! other. An exchange that finds no room on the connection waits here, in the order of arrival, and
//! is put on whichever connection serves the share next. It waits for this share alone, since its
//! seat is here.

use super::lane::{Lane, Seat};
use crate::freed::Freed;
use crate::id::{ExchangeId, LaneId, ShareId};
use drumfire_net::Slot;
use std::collections::VecDeque;

/// One of the plan's connections, whichever slot serves it at the moment.
#[derive(Debug)]
pub(super) struct Share {
    lane: LaneId,
    /// The slot that takes its exchanges now.
    slot: Slot,
    /// Its number among the run's connections, counted over all workers.
    number: u32,
    /// The number of connections that have served it.
    lives: u32,
    /// Exchanges that wait for the connection, or for room on it.
    waiting: VecDeque<ExchangeId>,
    /// The shares that serve its redirected exchanges.
    redirect_shares: Vec<ShareId>,
    /// Its seats, where its lane grows; elsewhere none is counted.
    seats: SeatCount,
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

    #[inline]
    pub(super) const fn lane(&self) -> LaneId {
        self.lane
    }

    /// Leads along another lane from now on.
    pub(super) const fn lead(&mut self, lane: LaneId) {
        self.lane = lane;
    }

    /// The slot that takes its exchanges now.
    #[inline]
    pub(super) const fn slot(&self) -> Slot {
        self.slot
    }

    /// Lets another slot take its exchanges.
    pub(super) const fn move_to(&mut self, slot: Slot) {
        self.slot = slot;
    }

    /// Its number among the run's connections, counted over all workers.
    #[inline]
    pub(super) const fn number(&self) -> u32 {
        self.number
    }

    /// Counts a connection that serves it from now on. Gives the number of those before it.
    pub(super) const fn begin_life(&mut self) -> u32 {
        self.lives += 1;
        self.lives - 1
    }

    /// Lets an exchange wait; `true` when another waits before it.
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

    /// Takes an exchange out of those that wait. Costs a pass over them, which only timeouts pay.
    pub(super) fn forget(&mut self, id: ExchangeId) {
        self.waiting.retain(|other| *other != id);
    }

    /// The shares that serve its redirected exchanges.
    pub(super) fn redirect_shares(&self) -> &[ShareId] {
        &self.redirect_shares
    }

    /// Adds a share for redirected exchanges.
    pub(super) fn add_redirect_share(&mut self, share: ShareId) {
        self.redirect_shares.push(share);
    }

    /// Its seats.
    #[inline]
    pub(super) const fn seats_mut(&mut self) -> &mut SeatCount {
        &mut self.seats
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

    /// Takes one back that an exchange has left; `false` when it is withdrawn.
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
        let streams = lane.settings().streams();
        let count = allowed.map_or(streams, |allowed| allowed.clamp(1, streams));
        let fewer = self.count.saturating_sub(count);
        let more = count.saturating_sub(self.count);
        self.count = count;
        let kept = more.min(self.surplus);
        self.surplus = self.surplus - kept + fewer - lane.withdraw(share, fewer);
        let since = Freed::default();
        (kept..more).for_each(|_| lane.give(Seat::new(share, since)));
    }
}
