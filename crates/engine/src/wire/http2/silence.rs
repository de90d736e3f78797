//! The silence of a connection of HTTP/2: the last sign of life of its peer, and the times to ask
//! for one (docs/design/01-time-and-blame.md#signs-of-life).
//!
//! Any byte of the peer is a sign of life. A connection is pinged after a silence while it carries
//! streams (never an idle one, which gRPC's servers take for abuse), or once after a stream was
//! given up on which nothing had come; a ping without any byte after it, in its time, means that
//! the connection is dead.

use crate::limits::DOUBT_REST;
use crate::wire::{Expiry, Patience};
use drumfire_units::Nanos;

/// The last sign of life of a connection's peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    /// The time at which its last bytes came.
    last: Nanos,
    /// Whether it was pinged since then.
    is_pinged: bool,
    /// The time from which a stream that was given up may be a reason to ping again.
    doubted_from: Nanos,
}

/// The action on a connection whose silence was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// A ping is due, whose answer is awaited until then.
    Ping(Nanos),
    /// None, but to act on this.
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

    /// Looks at the silence of a connection that carries streams or is idle. With streams it is
    /// pinged; without any for long it is at its end.
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

    /// Doubts the peer after a stream that was sent then was given up. `true` when the connection
    /// has to be pinged for that: nothing has come since, and no other stream was a reason lately.
    pub(super) fn doubt(&mut self, sent: Nanos, now: Nanos) -> bool {
        if self.is_pinged || self.last > sent || now < self.doubted_from {
            return false;
        }
        self.is_pinged = true;
        self.doubted_from = now + DOUBT_REST;
        true
    }
}
