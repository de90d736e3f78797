//! Lanes: the way to one origin, with the settings of its connections and the seats on them.
//!
//! A lane knows its shares by their ids, and no connection. It decides three things:
//!
//! - for a pool: which seat is taken next (`take_seat`, `give_seat`, `is_full`), and whether a
//!   share may be added for one more (`can_grow`);
//! - for an attempt to open a connection: which address is tried first (`choose`), after those that
//!   failed lately (`note_down`), and when a failed one may be dialed again (`pace_redial`);
//! - for a look-up: whether an answer changes the addresses (`lead_to`), and when the next is due
//!   (`looked_up_at`).
//!
//! A lane bounds the influence of peers and name servers: an address that fails is tried last for a
//! while; after a burst, failed connections are dialed one after another, so that a dead target
//! costs a fraction of a core; a name's time to live is at least
//! [`LOOK_UP_LEAST`](crate::limits::LOOK_UP_LEAST).

use crate::id::{LaneId, ShareId, UserId};
use crate::idle_since::IdleSince;
use crate::limits::{ADDRESS_REST, REDIAL_BURST, REDIAL_INTERVAL};
use crate::prepare::{Place, Route};
use crate::wire::Settings;
use drumfire_plan::Spread;
use drumfire_units::Nanos;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::{Index, IndexMut};

/// The right to have one exchange on a share, and the moment since which the seat is free, for the
/// accounting of delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    pub(crate) share: ShareId,
    /// The moment since which the seat is free.
    pub(crate) since: IdleSince,
}

impl Seat {
    /// A seat on a share, free since `since`.
    #[inline]
    pub(crate) const fn new(share: ShareId, since: IdleSince) -> Self {
        Self { share, since }
    }

    /// This seat with a user that is free since `since`.
    #[inline]
    pub(crate) fn with_user(self, since: IdleSince) -> Self {
        Self {
            since: self.since.and(since),
            ..self
        }
    }
}

/// A worker's way to one origin.
#[derive(Debug)]
pub(crate) struct Lane {
    /// The route to the origin.
    pub(super) route: Route,
    /// The settings of the lane's connections.
    pub(super) settings: Settings,
    /// Whether connections are closed after each exchange, because only redirects use them.
    pub(super) is_transient: bool,
    /// The plan's shares on the lane.
    pub(super) shares: Vec<ShareId>,
    /// The maximum number of shares, if shares are added as needed; else 0.
    room: usize,
    /// The free seats.
    free: VecDeque<Seat>,
    /// The time of the last planned redial of a failed connection; they are dialed one after
    /// another.
    redialed_at: Nanos,
    /// For each address, the time until which it is tried after the others.
    down_until: Vec<Nanos>,
}

impl Lane {
    pub(crate) fn new(route: Route, settings: Settings) -> Self {
        Self {
            down_until: vec![Nanos::ZERO; route.width()],
            is_transient: false,
            shares: Vec::new(),
            room: 0,
            free: VecDeque::new(),
            redialed_at: Nanos::ZERO,
            route,
            settings,
        }
    }

    /// A lane that only redirects use. If a connection carries one exchange at a time, it is closed
    /// after each one.
    pub(super) fn for_redirects(route: Route, settings: Settings) -> Self {
        Self {
            is_transient: settings.protocol.is_exclusive(),
            ..Self::new(route, settings)
        }
    }

    /// The distance between the first address choices of consecutive shares. If all use the first
    /// address, each share starts a separate round, because local addresses take turns by the
    /// round.
    pub(super) fn stride(&self) -> u32 {
        match self.settings.spread {
            Spread::Turn => 1,
            Spread::First => self.route.width() as u32,
        }
    }

    /// The share of a user with its own connection.
    #[inline]
    pub(crate) fn share_of(&self, user: UserId) -> ShareId {
        self.shares[user.index() % self.shares.len()]
    }

    /// Whether a share may be added.
    #[inline]
    pub(crate) fn can_grow(&self) -> bool {
        self.shares.len() < self.room
    }

    /// Whether every seat has an exchange and there will be no further seats.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.free.is_empty() && !self.can_grow()
    }

    /// Takes the seat that has been free for longest. If seats are added as needed, takes the one
    /// that was used last, so that there are no more than needed.
    #[inline]
    pub(super) fn take_seat(&mut self) -> Option<Seat> {
        if self.room > 0 {
            return self.take_last();
        }
        self.free.pop_front()
    }

    /// Takes the seat that was used last. The request waited for the target only while no seat was
    /// free and none could be added; any further wait is our own lateness.
    #[inline]
    fn take_last(&mut self) -> Option<Seat> {
        let first = self.free.front()?.since;
        let since = if self.can_grow() {
            IdleSince::default()
        } else {
            first
        };
        self.free.pop_back().map(|seat| Seat { since, ..seat })
    }

    /// Returns a seat, or adds one.
    #[inline]
    pub(super) fn give_seat(&mut self, seat: Seat) {
        self.free.push_back(seat);
    }

    /// Withdraws up to `count` free seats of a share. Returns the number withdrawn.
    pub(crate) fn withdraw(&mut self, share: ShareId, count: u32) -> u32 {
        let mut left = count;
        self.free.retain(|seat| {
            let goes = seat.share == share && left > 0;
            left -= u32::from(goes);
            !goes
        });
        count - left
    }

    /// The time from which another failed connection may be dialed again: now, or in turn after a
    /// burst.
    pub(crate) fn pace_redial(&mut self, now: Nanos) -> Nanos {
        self.redialed_at = self.redialed_at.max(now);
        self.next_redial() - Nanos(REDIAL_INTERVAL.0 * REDIAL_BURST)
    }

    /// The time at which the next failed connection is dialed, in turn.
    pub(crate) fn next_redial(&mut self) -> Nanos {
        self.redialed_at += REDIAL_INTERVAL;
        self.redialed_at
    }

    /// Replaces the addresses, all of which count as up; `false` if they are unchanged.
    pub(crate) fn lead_to(&mut self, place: Place) -> bool {
        let moves = self.route.lead_to(place);
        if moves {
            self.down_until = vec![Nanos::ZERO; self.route.width()];
        }
        moves
    }

    /// The time of the next look-up of the lane's name, after an answer at `now`; `None` for never.
    pub(crate) fn looked_up_at(&self, now: Nanos) -> Option<Nanos> {
        let ttl = self.route.named()?.ttl;
        self.settings.known_for(ttl).map(|time| now + time)
    }

    /// The address for a share's connection with this first choice, if no address is down; `None`
    /// if any address is acceptable.
    pub(crate) fn address_of(&self, choice: u32) -> Option<SocketAddr> {
        match self.settings.spread {
            Spread::Turn => self.route.peer(choice as usize),
            Spread::First => None,
        }
    }

    /// Begins the run: all times count from the run's start.
    pub(crate) fn begin_run(&mut self) {
        self.redialed_at = Nanos::ZERO;
    }

    /// Removes all seats, and reserves memory for `room` seats.
    pub(crate) fn clear_seats(&mut self, room: usize) {
        self.free.clear();
        self.free.reserve_exact(room);
    }

    /// The first address from `choice` on that has not failed recently. If all have, `choice`
    /// itself, because an address that is down is better than none.
    pub(crate) fn choose(&self, choice: u32, now: Nanos) -> usize {
        let choice = choice as usize;
        let down = &self.down_until;
        let up = |choice: &usize| down[choice % down.len()] <= now;
        (choice..choice + down.len()).find(up).unwrap_or(choice)
    }

    /// Notes that an address has failed, so that it is tried after the others for a while.
    pub(crate) fn note_down(&mut self, choice: usize, now: Nanos) {
        let width = self.down_until.len();
        if width > 1 {
            self.down_until[choice % width] = now + ADDRESS_REST;
        }
    }
}

/// A worker's lanes.
#[derive(Debug)]
pub(crate) struct Lanes(Vec<Lane>);

impl Lanes {
    pub(crate) fn new(lanes: Vec<Lane>) -> Self {
        Self(lanes)
    }

    /// Adds a lane.
    pub(super) fn add_lane(&mut self, lane: Lane) -> LaneId {
        self.0.push(lane);
        LaneId((self.0.len() - 1) as u16)
    }

    /// The ids of all lanes. The iterator borrows nothing.
    pub(super) fn ids(&self) -> impl Iterator<Item = LaneId> + use<> {
        (0..self.0.len() as u16).map(LaneId)
    }

    /// All lanes with their ids.
    pub(super) fn iter(&self) -> impl Iterator<Item = (LaneId, &Lane)> {
        self.ids().zip(&self.0)
    }

    /// All lanes with their ids, to change them.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (LaneId, &mut Lane)> {
        self.ids().zip(&mut self.0)
    }

    /// The lanes with room for an exchange.
    pub(crate) fn with_room(&self) -> impl Iterator<Item = LaneId> {
        self.iter()
            .filter(|(_, lane)| !lane.is_full())
            .map(|(id, _)| id)
    }

    /// Whether connections are kept after an exchange, so that opening them before the run is
    /// useful.
    pub(super) fn keep_connections(&self) -> bool {
        self.0.iter().any(|lane| lane.settings.keeps_connections())
    }

    /// Adds shares as they are needed, up to this many on each lane, instead of all at the start.
    pub(crate) fn grow_up_to(&mut self, shares: usize) {
        for lane in &mut self.0 {
            lane.room = shares;
        }
    }
}

impl Index<LaneId> for Lanes {
    type Output = Lane;

    #[inline]
    fn index(&self, id: LaneId) -> &Lane {
        &self.0[id.index()]
    }
}

impl IndexMut<LaneId> for Lanes {
    #[inline]
    fn index_mut(&mut self, id: LaneId) -> &mut Lane {
        &mut self.0[id.index()]
    }
}
