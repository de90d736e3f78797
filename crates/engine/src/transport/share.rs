//! Shares: one connection's worth of a lane.

use super::{Lane, Seat};
use crate::freed::Freed;
use crate::id::{ExchangeId, LaneId, ShareId};
use drumfire_net::Slot;
use std::collections::VecDeque;

/// One of the plan's connections, whichever slot serves it at the moment.
#[derive(Debug)]
pub(crate) struct Share {
    pub(crate) lane: LaneId,
    /// The slot that takes its exchanges now.
    pub(crate) slot: Slot,
    /// Which of the run's connections it is, counted over all workers.
    pub(crate) number: u32,
    /// How many connections have served it.
    pub(crate) lives: u32,
    /// Exchanges that wait for the connection, or for room on it.
    pub(crate) waiting: VecDeque<ExchangeId>,
    /// The shares that serve its redirected exchanges.
    pub(crate) redirect_shares: Vec<ShareId>,
    /// Its seats, where its lane grows; elsewhere none is counted.
    pub(crate) seats: Seats,
}

impl Share {
    pub(crate) const fn new(lane: LaneId, slot: Slot, number: u32) -> Self {
        Self {
            lane,
            slot,
            number,
            lives: 0,
            waiting: VecDeque::new(),
            redirect_shares: Vec::new(),
            seats: Seats::of(0),
        }
    }

    /// Whether no exchange waits.
    #[inline]
    pub(crate) fn is_clear(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// How many exchanges a share of a growing lane takes before another share is added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seats {
    /// Those that its connection has room for.
    count: u32,
    /// Those beyond them, which are withdrawn when their exchanges give them back.
    surplus: u32,
}

impl Seats {
    /// The seats of a connection with this many streams.
    pub(crate) const fn of(streams: u32) -> Self {
        Self {
            count: streams,
            surplus: 0,
        }
    }

    /// Takes one back that an exchange has left; `false` when it is withdrawn.
    #[inline]
    pub(crate) fn keeps_one(&mut self) -> bool {
        let is_kept = self.surplus == 0;
        self.surplus -= u32::from(!is_kept);
        is_kept
    }

    /// Fits the seats of a share of a growing lane to the exchanges that its server takes at a
    /// time, and those that are free on the lane with them.
    pub(crate) fn fit(&mut self, share: ShareId, allowed: Option<u32>, lane: &mut Lane) {
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
        let since = Freed::default();
        (kept..more).for_each(|_| lane.give(Seat { share, since }));
    }
}
