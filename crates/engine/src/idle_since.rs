//! The moment since which a connection or a user is free: the real one, and that of a worker which
//! had never stood still.
//!
//! A worker that stands still finds a queue when it goes on, and sends it with as many connections
//! as it has. The first of the queue are late by the stop, which is lag. The others find their
//! connections busy, but only since those of the first were sent too late: on time, the connection
//! would have been free for them earlier. So the time that a connection loses by a stop is owed to
//! the requests that follow on it, until it has been idle, and is lag there, too
//! (docs/design/01-time-and-blame.md#lag-after-the-generator-was-stopped).
//!
//! A request needs a connection and, in the closed model, a user; [`IdleSince::and`] joins the two.
//! [`IdleSince::due`] then splits its wait: up to there it is the target's (everything was busy),
//! beyond it the generator's. [`IdleSince::owed`] is what the exchange carries to its end, where
//! [`IdleSince::after_stop`] makes the next moment of it. An idle gap ends the debt by itself, since a
//! request that is intended after `at` has nothing to inherit.

use crate::limits::STOOD_STILL;
use drumfire_units::Nanos;

/// The moment since which something is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IdleSince {
    at: Nanos,
    /// The moment at which it would have been free, had its worker always been on time; not later
    /// than `at`.
    on_time: Nanos,
}

impl IdleSince {
    /// Free since a time, and no sooner in any case.
    pub(crate) const fn at(time: Nanos) -> Self {
        Self {
            at: time,
            on_time: time,
        }
    }

    /// Free since a time, after a worker whose stops took `owed` of it.
    #[inline]
    pub(crate) fn after_stop(time: Nanos, owed: Nanos) -> Self {
        Self {
            at: time,
            on_time: time - owed,
        }
    }

    /// The moment since which two things are free at the same time.
    #[inline]
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            at: self.at.max(other.at),
            on_time: self.on_time.max(other.on_time),
        }
    }

    /// The due time of a request that was intended for a time: what it waits after that is lag.
    #[inline]
    pub(crate) fn due(self, intended: Nanos) -> Nanos {
        intended.max(self.on_time)
    }

    /// The debt to the next request on the same connection, where this one, intended for a time,
    /// begins now. Lateness within a turn of the loop (under [`STOOD_STILL`]) is lag of this
    /// request alone: it would add up where the target is the limit.
    #[inline]
    pub(crate) fn owed(self, intended: Nanos, now: Nanos) -> Nanos {
        let could = intended.max(self.at);
        let own = now - could;
        let inherited = could - self.due(intended);
        if own >= STOOD_STILL {
            inherited + own
        } else {
            inherited
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn ms(n: u64) -> Nanos {
        Nanos(n * MS)
    }

    #[test]
    fn a_queue_after_a_stop_is_late_by_the_stop() {
        // Idle since 10 ms; the worker stands still until 70 ms. Requests every 5 ms take 2 ms.
        let (mut free, mut now) = (IdleSince::at(ms(10)), ms(70));
        for n in 0..20 {
            let intended = ms(15 + 5 * n);
            now = now.max(intended);
            let (due, owed) = (free.due(intended), free.owed(intended, now));
            assert_eq!(due, intended, "the connection would have been idle");
            now += ms(2);
            free = IdleSince::after_stop(now, owed);
        }
        // The queue is gone by then, and nothing is owed.
        assert_eq!(free, IdleSince::at(ms(112)));
    }

    #[test]
    fn a_slow_target_is_not_our_lateness() {
        // Requests every 5 ms take 10 ms, and the worker needs 1 µs for each.
        let mut free = IdleSince::at(Nanos::ZERO);
        for n in 0..1000 {
            let intended = ms(5 * n);
            let now = free.at.max(intended) + Nanos(1_000);
            assert_eq!(now - free.due(intended), Nanos(1_000));
            let owed = free.owed(intended, now);
            assert_eq!(owed, Nanos::ZERO);
            free = IdleSince::after_stop(now + ms(10), owed);
        }
    }
}
