//! The moment since which a connection or a user is free: the actual moment, and the moment at
//! which it would have been free if the worker had never been stopped.
//!
//! A worker that was stopped finds a queue when it continues, and sends it with its connections.
//! The first requests of the queue are late by the stop, which is lag. The others find their
//! connections busy, but only because the first ones were sent too late: on time, a connection
//! would have been free for them earlier. So the time that a connection loses by a stop is owed to
//! the requests that follow on it, until the connection has been idle, and counts as lag for them,
//! too (docs/design/01-time-and-blame.md#lag-after-the-generator-was-stopped).
//!
//! A request needs a connection and, in the closed model, a user; [`IdleSince::and`] joins the two.
//! [`IdleSince::due`] then splits its wait: the part before is the target's (everything was busy),
//! the part after the generator's. An exchange carries [`IdleSince::owed`] to its end, where
//! [`IdleSince::after_stop`] computes the next moment from it. An idle gap ends the debt, because a
//! request that is intended after `at` inherits nothing.
//!
//! In the closed model, a stop delays users as well as connections: the next request of a user is
//! intended when the last one has ended, which was later because of the stop. [`Delays`] has the
//! time by which each user was delayed, and a request inherits only the part of its connection's
//! debt that exceeds this delay. Otherwise each user of a busy connection would be late by a stop
//! for the rest of the run.

use crate::id::UserId;
use crate::limits::STOOD_STILL;
use drumfire_units::Nanos;

/// The times by which stops of the worker have delayed its users.
#[derive(Debug)]
pub(crate) struct Delays {
    /// The delays by user; `None` in the open model, where the schedule intends all requests, so
    /// that no user is delayed.
    users: Option<Vec<Nanos>>,
    /// The number of delayed users: 0 most of the time, so that most requests look no further.
    delayed: u32,
}

impl Delays {
    /// The delays of a pool's users, none at first; `users`: their number, or `None` in the open
    /// model.
    pub(crate) fn new(users: Option<u32>) -> Self {
        Self {
            users: users.map(|count| vec![Nanos::ZERO; count as usize]),
            delayed: 0,
        }
    }

    /// Whether no user is delayed.
    #[inline]
    pub(crate) const fn are_none(&self) -> bool {
        self.delayed == 0
    }

    /// Returns the delay of a user; `None` if only the schedule intends requests.
    pub(crate) fn of_user(&self, user: UserId) -> Option<Nanos> {
        let users = self.users.as_ref()?;
        Some(users.get(user.index()).copied().unwrap_or_default())
    }

    /// Sets the delay of a user whose request has ended.
    pub(crate) fn set_delay(&mut self, user: UserId, delay: Nanos) {
        let Some(users) = &mut self.users else {
            return;
        };
        if users.len() <= user.index() {
            users.resize(user.index() + 1, Nanos::ZERO);
        }
        let before = std::mem::replace(&mut users[user.index()], delay);
        self.delayed += u32::from(delay > Nanos::ZERO);
        self.delayed -= u32::from(before > Nanos::ZERO);
    }
}

/// The moment since which a connection or a user is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IdleSince {
    at: Nanos,
    /// The moment at which it would have been free if its worker had always been on time; not later
    /// than `at`.
    on_time: Nanos,
}

impl IdleSince {
    /// Free since `time`, without any delay by stops.
    pub(crate) const fn at(time: Nanos) -> Self {
        Self {
            at: time,
            on_time: time,
        }
    }

    /// Free since `time`, after a worker whose stops took `owed` of it.
    #[inline]
    pub(crate) fn after_stop(time: Nanos, owed: Nanos) -> Self {
        Self {
            at: time,
            on_time: time - owed,
        }
    }

    /// The moment since which both are free.
    #[inline]
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            at: self.at.max(other.at),
            on_time: self.on_time.max(other.on_time),
        }
    }

    /// The time that stops took.
    #[inline]
    pub(crate) fn debt(self) -> Nanos {
        self.at - self.on_time
    }

    /// Whether stops took nothing.
    #[inline]
    pub(crate) fn is_on_time(self) -> bool {
        self.at == self.on_time
    }

    /// The due time of a request that was intended for `intended`, by a user whom stops have
    /// delayed by `delay`. The request's wait after the due time is lag.
    #[inline]
    pub(crate) fn due(self, intended: Nanos, delay: Nanos) -> Nanos {
        intended.max(self.at.min(self.on_time + delay))
    }

    /// The debt to the next request on the same connection, if this one begins `now`. It was
    /// intended for `intended` by a user whom stops have delayed by `delay`; the user is then
    /// delayed by the debt. Lateness within a turn of the loop (under [`STOOD_STILL`]) is lag of
    /// this request only: otherwise it would add up if the target is the limit.
    #[inline]
    pub(crate) fn owed(self, intended: Nanos, delay: Nanos, now: Nanos) -> Nanos {
        let could = intended.max(self.at);
        let own = now - could;
        let inherited = delay + (could - self.due(intended, delay));
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
        // Idle since 10 ms; the worker is stopped until 70 ms. Requests every 5 ms take 2 ms.
        let (mut free, mut now) = (IdleSince::at(ms(10)), ms(70));
        for n in 0..20 {
            let intended = ms(15 + 5 * n);
            now = now.max(intended);
            let due = free.due(intended, Nanos::ZERO);
            let owed = free.owed(intended, Nanos::ZERO, now);
            assert_eq!(due, intended, "the connection would have been idle");
            now += ms(2);
            free = IdleSince::after_stop(now, owed);
        }
        // By then the queue is empty, and nothing is owed.
        assert_eq!(free, IdleSince::at(ms(112)));
    }

    #[test]
    fn users_of_a_busy_connection_are_late_by_each_stop_once() {
        // Three users from 0 on, and a worker that is stopped until 6 ms, and for 10 ms in the
        // second round. A request takes 20 ms.
        let (mut free, mut now) = (IdleSince::at(Nanos::ZERO), ms(6));
        let mut users = [(Nanos::ZERO, Nanos::ZERO); 3];
        let mut lags = Vec::new();
        for number in 0..15 {
            let (intended, delay) = users[number % 3];
            if number == 4 {
                now += ms(10);
            }
            lags.push((now - free.due(intended, delay)).0 / MS);
            let owed = free.owed(intended, delay, now);
            now += ms(20);
            free = IdleSince::after_stop(now, owed);
            users[number % 3] = (now, owed);
        }
        assert_eq!(lags, [6, 6, 6, 0, 10, 10, 10, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_slow_target_is_not_our_lateness() {
        // Requests every 5 ms take 10 ms, and the worker needs 1 µs for each.
        let mut free = IdleSince::at(Nanos::ZERO);
        for n in 0..1000 {
            let intended = ms(5 * n);
            let now = free.at.max(intended) + Nanos(1_000);
            assert_eq!(now - free.due(intended, Nanos::ZERO), Nanos(1_000));
            let owed = free.owed(intended, Nanos::ZERO, now);
            assert_eq!(owed, Nanos::ZERO);
            free = IdleSince::after_stop(now + ms(10), owed);
        }
    }
}
