//! The silence of an HTTP/2 connection: the last activity of its peer, and the times for pings
//! (docs/design/01-time-and-blame.md#signs-of-life).
//!
//! Any byte from the peer is activity. A connection is pinged after a silence while it carries
//! streams (never an idle one, which gRPC servers treat as abuse), or once after a stream without
//! any activity was given up. If no byte follows a ping in time, the connection is dead.

use crate::limits::DOUBT_REST;
use crate::wire::{Expiry, Patience};
use drumfire_units::Nanos;

/// The last activity of a connection's peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    /// The time at which the peer's last bytes arrived.
    last: Nanos,
    /// Whether a ping was sent since then.
    is_pinged: bool,
    /// The time from which a stream that was given up may cause another ping.
    doubted_from: Nanos,
}

/// The action for a connection whose silence was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Send a ping, whose answer must arrive by this time.
    Ping(Nanos),
    /// No ping; return this result.
    Is(Expiry),
}

impl Silence {
    /// Silence that begins now.
    pub(super) const fn from(now: Nanos) -> Self {
        Self {
            last: now,
            is_pinged: false,
            doubted_from: Nanos::ZERO,
        }
    }

    /// Notes bytes of the peer.
    #[inline]
    pub(super) const fn renew(&mut self, now: Nanos) {
        self.last = now;
        self.is_pinged = false;
    }

    /// Checks the silence of a connection that carries streams or is idle. With streams it is
    /// pinged; if it has been idle for long, it ends.
    pub(super) fn look(&mut self, patience: Patience, is_idle: bool, now: Nanos) -> Look {
        if self.is_pinged {
            return Look::Is(Expiry::Dead);
        }
        let used_last = match is_idle {
            true => self.last,
            false => now,
        };
        let idle_at = patience.idle_at(used_last).unwrap_or(Nanos::MAX);
        if is_idle && idle_at <= now {
            return Look::Is(Expiry::Idle);
        }
        let Some(ping) = patience.ping else {
            return Look::Is(Expiry::Until(idle_at));
        };
        let enough = self.last + ping.after;
        if now < enough {
            return Look::Is(Expiry::Until(enough.min(idle_at)));
        }
        if is_idle {
            return Look::Is(Expiry::Until(idle_at.min(now + ping.after)));
        }
        self.is_pinged = true;
        Look::Ping(now + ping.timeout)
    }

    /// Checks the peer after a stream sent at `sent` was given up. Returns whether to ping the
    /// connection: nothing has arrived since, and no other stream caused a ping recently.
    pub(super) fn doubt(&mut self, sent: Nanos, now: Nanos) -> bool {
        if self.is_pinged || self.last > sent || now < self.doubted_from {
            return false;
        }
        self.is_pinged = true;
        self.doubted_from = now + DOUBT_REST;
        true
    }
}
