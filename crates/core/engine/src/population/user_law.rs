//! The number of users over time. The law has its own time, as [`drumfire_schedule::Course`] has
//! for rates: it stops while the load is paused.
//!
//! The changes are a list in order of time, which the compiler has computed from the plan's ramps;
//! each is taken once. Call [`UserLaw::take_change`] whenever [`UserLaw::next_change`] has been
//! reached. A pause moves all later changes by its length; earlier changes are not undone.

use drumfire_plan::UserSteps;
use drumfire_units::Nanos;

/// A number of users over time, and the position of the next change.
#[derive(Debug)]
pub(crate) struct UserLaw {
    changes: UserSteps,
    /// The index of the next change.
    next: usize,
    /// The moment at which the law's time was 0, plus the length of all pauses.
    origin: Nanos,
    /// The moment at which the law's time stopped, during a pause.
    pub(crate) paused_at: Option<Nanos>,
}

impl UserLaw {
    /// A law whose time is 0 at `origin`.
    pub(crate) const fn new(changes: UserSteps, origin: Nanos) -> Self {
        Self {
            changes,
            next: 0,
            origin,
            paused_at: None,
        }
    }

    /// The time at which the number of users changes next; [`Nanos::MAX`] during a pause.
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

    /// Stops the law's time; `false` if it was already stopped.
    pub(crate) fn pause(&mut self, at: Nanos) -> bool {
        let runs = self.paused_at.is_none();
        self.paused_at.get_or_insert(at);
        runs
    }

    /// Continues the law's time; returns the length of the pause, if there was one.
    pub(crate) fn resume(&mut self, at: Nanos) -> Option<Nanos> {
        let stood = at - self.paused_at.take()?;
        self.origin += stood;
        Some(stood)
    }

    /// Replaces the law by one that begins at `at`; a pause stays in effect.
    pub(crate) fn replace(&mut self, changes: UserSteps, at: Nanos) {
        let paused_at = self.paused_at.map(|_| at);
        *self = Self::new(changes, at);
        self.paused_at = paused_at;
    }
}
