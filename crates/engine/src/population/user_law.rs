//! The number of users over time, by a time of its own as [`drumfire_schedule::Course`] has it for
//! rates: it stands while the load pauses.
//!
//! The changes are a list in order of time, which the compiler has made of the plan's ramps; each
//! is taken once. [`UserLaw::take_change`] is called when [`UserLaw::next_change`] has come, as often as
//! that is so. A pause moves all later changes by its length; changes before it are not undone.

use drumfire_plan::Users;
use drumfire_units::Nanos;

/// A number of users over time, and the next of its changes.
#[derive(Debug)]
pub(crate) struct UserLaw {
    changes: Users,
    /// The changes before this one are done.
    next: usize,
    /// The moment at which the law's time was 0, with all its pauses added.
    origin: Nanos,
    /// The moment at which the law's time was stopped, while it stands.
    pub(crate) paused_at: Option<Nanos>,
}

impl UserLaw {
    /// A law whose time is 0 at `origin`.
    pub(crate) const fn new(changes: Users, origin: Nanos) -> Self {
        Self {
            changes,
            next: 0,
            origin,
            paused_at: None,
        }
    }

    /// The time at which the number of users changes next; [`Nanos::MAX`] while the law's time stands.
    #[inline]
    pub(crate) fn next_change(&self) -> Nanos {
        match self.changes.changes().get(self.next) {
            Some((at, _)) if self.paused_at.is_none() => self.origin + *at,
            _ => Nanos::MAX,
        }
    }

    /// Takes the next change: the number of users from then on.
    pub(crate) fn take_change(&mut self) -> u32 {
        let count = self.changes.changes().get(self.next).map(|(_, n)| *n);
        self.next += 1;
        count.unwrap_or_default()
    }

    /// Stops the law's time; `false` where it stood already.
    pub(crate) fn pause(&mut self, at: Nanos) -> bool {
        let runs = self.paused_at.is_none();
        self.paused_at.get_or_insert(at);
        runs
    }

    /// Lets the law's time go on; returns how long it stood, if it did.
    pub(crate) fn resume(&mut self, at: Nanos) -> Option<Nanos> {
        let stood = at - self.paused_at.take()?;
        self.origin += stood;
        Some(stood)
    }

    /// Begins another law at a time, which stands where this one did.
    pub(crate) fn replace(&mut self, changes: Users, at: Nanos) {
        let paused_at = self.paused_at.map(|_| at);
        *self = Self::new(changes, at);
        self.paused_at = paused_at;
    }
}
