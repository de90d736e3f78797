//! How a pool wants its connections treated.

use drumfire_plan::{
    ExpectContinue, HttpVersion, KeepAlive, KeepAliveHints, Life, Ping, Pool, Renewal, Spread,
};
use drumfire_units::Nanos;

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
    pub(crate) life: Life,
    pub(crate) renewal: Renewal,
    pub(crate) connect_limit: Nanos,
    pub(crate) tls_limit: Nanos,
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
            version: http.version,
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
        }
    }

    /// Whether a connection's idle time matters.
    pub(crate) fn notes_idle(&self) -> bool {
        self.hints == KeepAliveHints::Respect || self.life.idle.is_some()
    }

    /// Whether a connection carries one exchange at a time, and so belongs to the one that waits
    /// for it.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.version == HttpVersion::Http1
    }
}
