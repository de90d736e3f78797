//! The settings of a pool for its connections, and the terms of the connection for one read.
//!
//! They are copied from the plan once, so that a wire needs no plan and a redirect's lane has the
//! same as the lane from which it departs.

use crate::protocol::Protocol;
use drumfire_measure::Closing;
use drumfire_plan::{ExpectContinue, KeepAlive, KeepAliveHints, Life, Ping, Pool, Renewal, Spread};
use drumfire_units::Nanos;

/// The settings of a pool for its connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) protocol: Protocol,
    /// The number of exchanges on one connection at a time, at most.
    pub(crate) streams: u32,
    /// The id of a connection's first stream.
    pub(crate) first_stream_id: u32,
    pub(crate) keep_alive: KeepAlive,
    pub(crate) hints: KeepAliveHints,
    pub(crate) expect_continue: ExpectContinue,
    pub(crate) spread: Spread,
    pub(crate) backoff_max: Nanos,
    pub(crate) ping: Option<Ping>,
    pub(crate) life: Life,
    pub(crate) renewal: Renewal,
    pub(crate) connect_limit: Nanos,
    pub(crate) tls_limit: Nanos,
    /// What `keep_alive` means as a number, made once: it is compared after each response.
    carried_max: u64,
}

impl Settings {
    pub(crate) fn of(pool: &Pool, first_stream_id: u32) -> Self {
        let Pool {
            http,
            connections,
            timeouts,
            ..
        } = pool;
        Self {
            protocol: Protocol::of(pool),
            streams: connections.streams,
            first_stream_id,
            keep_alive: connections.keep_alive,
            hints: connections.hints,
            expect_continue: http.expect_continue,
            spread: connections.spread,
            backoff_max: connections.backoff_max,
            ping: connections.ping,
            life: connections.life,
            renewal: pool.reach.renewal,
            connect_limit: timeouts.connect,
            tls_limit: timeouts.tls,
            carried_max: match connections.keep_alive {
                KeepAlive::Yes => u64::MAX,
                KeepAlive::No => 1,
                KeepAlive::AtMost(limit) => limit,
            },
        }
    }

    /// The number of exchanges that a connection carries in all, at most.
    #[inline]
    pub(crate) const fn carried_max(&self) -> u64 {
        self.carried_max
    }

    /// The patience with the silence of a connection that is pinged so.
    pub(crate) const fn patience(&self, ping: Option<Ping>) -> Patience {
        Patience {
            ping,
            idle: self.life.idle,
        }
    }
}

/// The state of the connection that a read depends on and the wire does not own.
pub(crate) struct Terms<'a> {
    pub(crate) settings: &'a Settings,
    /// Whether the peer has finished sending: the end follows without an event of its own, and the
    /// connection carries no other request.
    pub(crate) peer_closed: bool,
    /// The reason for which the connection is closed after the exchanges that it carries, if it is.
    pub(crate) leaving: Option<Closing>,
}

/// The silences after which a connection is pinged or closed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) ping: Option<Ping>,
    pub(crate) idle: Option<Nanos>,
}
