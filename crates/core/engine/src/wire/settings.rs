//! The settings of a pool for its connections, and the terms of the connection for one read.
//!
//! The settings are copied from the plan once, so that a wire needs no plan. A redirect's lane has
//! the same settings as the lane it comes from. Settings that only lead to a time or a decision are
//! private.

use super::answers::Expiry;
use super::port::Input;
use crate::limits::{
    BACKOFF_MIN, DOUBT_MAX, EVENT_BYTES, LOOK_UP_AGAIN, LOOK_UP_LEAST, SHOWN_BYTES,
};
use crate::protocol::Protocol;
use drumfire_measure::Closing;
use drumfire_plan::{
    ExpectContinue, HttpRequest, KeepAlive, KeepAliveHints, Life, Ping, Pool, Renewal, Spread,
    TlsEnd, Transcripts, WebSocket,
};
use drumfire_units::Nanos;

/// The settings of a pool for its connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// The protocol of the connections.
    pub(crate) protocol: Protocol,
    /// The maximum number of exchanges on one connection at a time.
    pub(crate) streams: u32,
    /// The id of a connection's first stream.
    pub(crate) first_stream_id: u32,
    keep_alive: KeepAlive,
    hints: KeepAliveHints,
    /// The kinds of TLS end that end a body.
    pub(crate) tls_end: TlsEnd,
    expect_continue: ExpectContinue,
    /// The order in which connections use the addresses of a name.
    pub(crate) spread: Spread,
    backoff_max: Nanos,
    ping: Option<Ping>,
    /// The limits of a connection's life.
    pub(crate) life: Life,
    renewal: Renewal,
    connect_limit: Nanos,
    tls_limit: Nanos,
    /// The maximum number of exchanges that one connection carries. Computed once from `keep_alive`,
    /// because it is compared after each response.
    pub(crate) carried_max: u64,
    /// The number of bytes of each message of a WebSocket that exchanges need.
    pub(crate) socket_keep: usize,
    /// Whether exchanges only receive, so that earlier messages are kept for them.
    pub(crate) keeps_messages: bool,
}

impl Settings {
    pub(crate) fn for_pool(pool: &Pool, first_stream_id: u32) -> Self {
        let Pool {
            http,
            connections,
            timeouts,
            ..
        } = pool;
        Self {
            protocol: Protocol::for_pool(pool),
            streams: connections.streams,
            first_stream_id,
            keep_alive: connections.keep_alive,
            hints: connections.hints,
            tls_end: connections.tls_end,
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
            socket_keep: socket_keep(pool),
            keeps_messages: sockets(pool).any(|(socket, _)| socket.only_receives()),
        }
    }

    /// These settings for the connections of a lane. A WebSocket has its connection for itself.
    pub(crate) const fn carrying(self, protocol: Protocol) -> Self {
        let streams = match protocol.is_socket() {
            true => 1,
            false => self.streams,
        };
        Self {
            protocol,
            streams,
            ..self
        }
    }

    /// The settings of a pool for one HTTP/2 connection that carries one exchange after another,
    /// without limits that end it: its user has a limit for the whole conversation.
    pub(crate) fn of_conversation(pool: &Pool) -> Self {
        Self {
            protocol: Protocol::Http2,
            streams: 1,
            ping: None,
            life: Life::default(),
            connect_limit: Nanos::MAX,
            tls_limit: Nanos::MAX,
            ..Self::for_pool(pool, 1)
        }
    }

    /// Whether a connection is kept after an exchange.
    #[inline]
    pub(crate) const fn keeps_connections(&self) -> bool {
        !matches!(self.keep_alive, KeepAlive::No)
    }

    /// Whether a server's `Keep-Alive` field is respected.
    #[inline]
    pub(crate) fn obeys_hints(&self) -> bool {
        self.hints == KeepAliveHints::Respect
    }

    /// The time until which a body waits for `100 Continue` after a head that is sent now; `None`
    /// if it does not wait.
    #[inline]
    pub(crate) fn continue_by(&self, now: Nanos) -> Option<Nanos> {
        match self.expect_continue {
            ExpectContinue::No => None,
            ExpectContinue::Wait(time) => Some(now + time),
        }
    }

    /// The rest of a connection after this many consecutive failures, from 1: each is twice the
    /// last.
    pub(crate) fn backoff(&self, failures: u8) -> Nanos {
        let doubled = BACKOFF_MIN.0 << (failures - 1).min(20);
        Nanos(doubled).min(self.backoff_max)
    }

    /// The time by which a connection that is dialed now must be established.
    pub(crate) fn connect_by(&self, now: Nanos) -> Nanos {
        now + self.connect_limit
    }

    /// The time by which a handshake that begins now must be over.
    pub(crate) fn tls_by(&self, now: Nanos) -> Nanos {
        now + self.tls_limit
    }

    /// The time for which an address with this time to live is used before its name is looked up
    /// again; `None` means the whole run.
    pub(crate) fn known_for(&self, ttl: Option<Nanos>) -> Option<Nanos> {
        match self.renewal {
            Renewal::Never => None,
            Renewal::Each(time) => Some(time),
            Renewal::Ttl => Some(ttl.unwrap_or(LOOK_UP_AGAIN).max(LOOK_UP_LEAST)),
        }
    }

    /// The limits for a connection's silence, after servers have refused pings as too frequent
    /// `halved` times (gRPC's proposal A8: each refusal doubles the interval).
    pub(crate) fn patience(&self, halved: u32) -> Patience {
        let ping = self.ping.map(|ping| Ping {
            after: Nanos(ping.after.0.saturating_mul(1 << halved.min(32))),
            ..ping
        });
        Patience {
            ping,
            idle: self.life.idle,
        }
    }

    /// The time within which a checked connection must show activity.
    pub(crate) fn doubt_limit(&self) -> Nanos {
        self.ping.map_or(DOUBT_MAX, |ping| ping.timeout)
    }
}

/// What a wire is lent to put an exchange on it.
pub(crate) struct Lent<'a> {
    /// The settings of its pool.
    pub(crate) settings: &'a Settings,
    /// The buffers of the worker.
    pub(crate) input: &'a mut Input,
}

/// The state of the connection that a read depends on and the wire does not own.
pub(crate) struct Terms<'a> {
    /// The settings of its pool.
    pub(super) settings: &'a Settings,
    /// Whether the peer has finished sending: the end follows without a separate event, and the
    /// connection carries no further request.
    pub(super) peer_closed: bool,
    /// The reason why the connection is closed after its exchanges, if it is.
    pub(super) leaving: Option<Closing>,
}

impl<'a> Terms<'a> {
    /// The terms of a connection; `peer_closed`: whether the peer has finished sending; `leaving`:
    /// the reason why the connection is closed after its exchanges, if it is.
    #[inline]
    pub(crate) const fn new(
        settings: &'a Settings,
        peer_closed: bool,
        leaving: Option<Closing>,
    ) -> Self {
        Self {
            settings,
            peer_closed,
            leaving,
        }
    }
}

/// The silences after which a connection is pinged or closed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// The pings of a silent connection; `None` if it is not pinged.
    pub(super) ping: Option<Ping>,
    idle: Option<Nanos>,
}

impl Patience {
    /// The time at which a connection that was last used at `last` has been idle for too long;
    /// `None` for never.
    pub(crate) fn idle_at(self, last: Nanos) -> Option<Nanos> {
        self.idle.map(|idle| last + idle)
    }

    /// What is due now on a connection that was last used at `last`.
    pub(super) fn expiry(self, last: Nanos, now: Nanos) -> Expiry {
        match self.idle_at(last) {
            Some(at) if at <= now => Expiry::Idle,
            at => Expiry::Until(at.unwrap_or(Nanos::MAX)),
        }
    }
}

/// The requests of a pool on WebSockets.
fn sockets(pool: &Pool) -> impl Iterator<Item = (&WebSocket, &HttpRequest)> {
    let requests = pool.requests.iter();
    requests.filter_map(|request| Some((request.socket.as_deref()?, request)))
}

/// The number of bytes of each message that the pool needs: one more than it may inspect, so that a
/// longer message is noticed, or the part that is shown.
fn socket_keep(pool: &Pool) -> usize {
    let inspected = sockets(pool).filter_map(|(_, request)| {
        let inspection = request.inspection.as_ref()?;
        let each = inspection.inspects_messages().then_some(EVENT_BYTES);
        let body = inspection.body_max();
        let body = body.map(|max| usize::try_from(max.0).unwrap_or(usize::MAX));
        Some(each.max(body)?.saturating_add(1))
    });
    let shown = match pool.transcripts {
        Transcripts::None => 0,
        Transcripts::Every | Transcripts::From(_) => SHOWN_BYTES,
    };
    inspected.max().unwrap_or(0).max(shown)
}
