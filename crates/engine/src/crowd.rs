//! How many exchanges may be under way at a time, where that changes over the run.

use drumfire_plan::Users;
use drumfire_units::Nanos;

/// One worker's share of the users who serve an open load.
#[derive(Debug)]
pub(crate) struct Crowd {
    changes: Users,
    next: usize,
    allowed: u32,
    /// Whether a request had to wait because all users were busy.
    blocked: bool,
    /// When a user last became free for a request that waited for one.
    pub(crate) free_since: Nanos,
}

impl Crowd {
    /// Without any changes there is no bound but that of the connections.
    pub(crate) fn new(changes: Option<Users>) -> Self {
        Self {
            allowed: u32::MAX,
            changes: changes.unwrap_or_else(|| Users::constant(u32::MAX)),
            next: 0,
            blocked: false,
            free_since: Nanos::ZERO,
        }
    }

    /// Whether one more exchange may begin beside `active`.
    #[inline]
    pub(crate) fn admits(&mut self, active: u32, now: Nanos) -> bool {
        if now >= self.next_change() {
            self.change(now);
        }
        self.blocked |= active >= self.allowed;
        active < self.allowed
    }

    /// Whether nothing may begin before one of `active` exchanges ends or users come.
    #[inline]
    pub(crate) fn is_full(&self, active: u32) -> bool {
        active >= self.allowed
    }

    /// An exchange has ended: whoever waited for its user waits no more.
    #[inline]
    pub(crate) fn ended(&mut self, now: Nanos) {
        if self.blocked {
            self.free_since = now;
        }
    }

    /// When the number of users changes next.
    #[inline]
    pub(crate) fn next_change(&self) -> Nanos {
        let change = self.changes.changes().get(self.next);
        change.map_or(Nanos::MAX, |(at, _)| *at)
    }

    #[cold]
    fn change(&mut self, now: Nanos) {
        while let Some(&(at, count)) = self.changes.changes().get(self.next)
            && at <= now
        {
            self.next += 1;
            if count > self.allowed && self.blocked {
                self.free_since = at;
            }
            self.allowed = count;
        }
    }
}
