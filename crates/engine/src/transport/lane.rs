//! Lanes: the way to one origin, how its connections are treated, and the seats on them.

use super::ShareId;
use crate::limits::ADDRESS_REST;
use crate::prepare::Route;
use drumfire_plan::{
    Connections, ExpectContinue, HttpOptions, HttpVersion, KeepAlive, KeepAliveHints, Ping, Spread,
    Timeouts,
};
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// A lane's place in the list of a worker's lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LaneId(pub(crate) u16);

impl LaneId {
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The right to have one exchange on a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    pub(crate) share: ShareId,
    /// When it became free.
    pub(crate) since: Nanos,
}

/// How a pool wants its connections treated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) version: HttpVersion,
    /// Exchanges on one connection at a time.
    pub(crate) streams: u32,
    /// The id of a connection's first stream.
    pub(crate) first_stream_id: u32,
    pub(crate) keep_alive: KeepAlive,
    pub(crate) hints: KeepAliveHints,
    pub(crate) expect_continue: ExpectContinue,
    pub(crate) spread: Spread,
    pub(crate) backoff_max: Nanos,
    pub(crate) ping: Option<Ping>,
    pub(crate) connect_limit: Nanos,
    pub(crate) tls_limit: Nanos,
}

impl Settings {
    pub(crate) fn of(
        http: &HttpOptions,
        connections: &Connections,
        timeouts: &Timeouts,
        first_stream_id: u32,
    ) -> Self {
        Self {
            version: http.version,
            streams: connections.streams,
            first_stream_id,
            keep_alive: connections.keep_alive,
            hints: connections.hints,
            expect_continue: http.expect_continue,
            spread: connections.spread,
            backoff_max: connections.backoff_max,
            ping: connections.ping,
            connect_limit: timeouts.connect,
            tls_limit: timeouts.tls,
        }
    }

    /// Whether a connection carries one exchange at a time, and so belongs to the one that waits
    /// for it.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.version == HttpVersion::Http1
    }
}

/// The way to one origin.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) route: Route,
    pub(crate) settings: Settings,
    /// Whether its connections are closed after each exchange: redirects alone use them.
    pub(crate) is_transient: bool,
    /// Seats that no exchange has.
    free: VecDeque<Seat>,
    /// For each address, until when it is tried last.
    down_until: Vec<Nanos>,
}

impl Lane {
    pub(crate) fn new(route: Route, settings: Settings) -> Self {
        Self {
            down_until: vec![Nanos::ZERO; route.width()],
            is_transient: false,
            free: VecDeque::new(),
            route,
            settings,
        }
    }

    /// Whether every seat has an exchange.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Takes the seat that has been free for longest.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Seat> {
        self.free.pop_front()
    }

    /// Gives a seat back, or adds one.
    #[inline]
    pub(crate) fn give(&mut self, seat: Seat) {
        self.free.push_back(seat);
    }

    /// Forgets all seats.
    pub(crate) fn clear_seats(&mut self, room: usize) {
        self.free.clear();
        self.free.reserve_exact(room);
    }

    /// The first address from `choice` on that is not known to refuse now.
    pub(crate) fn choose(&self, choice: u32, now: Nanos) -> usize {
        let choice = choice as usize;
        let down = &self.down_until;
        let up = |choice: &usize| down[choice % down.len()] <= now;
        (choice..choice + down.len()).find(up).unwrap_or(choice)
    }

    /// An address failed: it is tried last for a while.
    pub(crate) fn note_down(&mut self, choice: usize, now: Nanos) {
        let width = self.down_until.len();
        if width > 1 {
            self.down_until[choice % width] = now + ADDRESS_REST;
        }
    }

    /// How its silent connections are asked for signs of life, where servers have said this often
    /// that we do so too often (gRPC's proposal A8).
    pub(crate) fn ping(&self, halved: u32) -> Option<Ping> {
        self.settings.ping.map(|ping| Ping {
            after: Nanos(ping.after.0.saturating_mul(1 << halved.min(32))),
            ..ping
        })
    }
}

/// A worker's lanes.
#[derive(Debug, Default)]
pub(crate) struct Lanes(Vec<Lane>);

impl Lanes {
    pub(crate) fn new(lanes: Vec<Lane>) -> Self {
        Self(lanes)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(crate) fn get(&self, id: LaneId) -> &Lane {
        &self.0[id.index()]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: LaneId) -> &mut Lane {
        &mut self.0[id.index()]
    }

    pub(crate) fn add(&mut self, lane: Lane) -> LaneId {
        self.0.push(lane);
        LaneId((self.0.len() - 1) as u16)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = LaneId> + use<> {
        (0..self.0.len() as u16).map(LaneId)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (LaneId, &Lane)> {
        self.ids().zip(&self.0)
    }
}
