//! The silence of a connection of HTTP/2: when its peer last gave a sign of life, and when to ask
//! for one (docs/design/0011).

use crate::limits::DOUBT_REST;
use crate::wire::{Expiry, Patience};
use drumfire_units::Nanos;

/// The last sign of life of a connection's peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    /// When its last bytes came.
    last: Nanos,
    /// Whether it was pinged since then.
    is_pinged: bool,
    /// When a stream that was given up may be a reason to ping next.
    doubted_from: Nanos,
}

/// The action on a connection whose silence was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// A ping is due, whose answer is awaited until then.
    Ping(Nanos),
    /// None but to do as this says.
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

    /// Bytes came.
    #[inline]
    pub(super) const fn renew(&mut self, now: Nanos) {
        self.last = now;
        self.is_pinged = false;
    }

    /// Looks at the silence of a connection that carries streams or is idle. One that carries
    /// streams is pinged; one that carried none for long is at its end.
    pub(super) fn look(&mut self, patience: Patience, is_idle: bool, now: Nanos) -> Look {
        if self.is_pinged {
            return Look::Is(Expiry::Dead);
        }
        let idle_at = patience.idle.map(|idle| match is_idle {
            true => self.last + idle,
            false => now + idle,
        });
        let idle_at = idle_at.unwrap_or(Nanos::MAX);
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

    /// A stream that was sent then was given up. `true` when the connection has to be pinged for
    /// that: nothing has come since, and no other stream was a reason lately.
    pub(super) fn doubt(&mut self, sent: Nanos, now: Nanos) -> bool {
        if self.is_pinged || self.last > sent || now < self.doubted_from {
            return false;
        }
        self.is_pinged = true;
        self.doubted_from = now + DOUBT_REST;
        true
    }
}
