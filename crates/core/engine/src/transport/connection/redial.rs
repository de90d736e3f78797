//! The dials of a slot's connection: the next address, and the time before which none is tried.
//!
//! ```text
//!   begin_attempt ─► choose ─► try_another ─► choose …      one attempt: the lane's addresses, each once
//!     ▲                     └─ none left ─► back_off ─► rest_end ─┐
//!     └────────────────────────────────────────────────────────────┘
//!   succeed                         the next failure is the first again
//! ```
//!
//! An attempt that fails at every address, and a connection that fails without a response, count as
//! one failure each. The rests between failures double up to the plan's bound, and the lane lets
//! failed connections dial in turn, so that neither one slot nor all of them flood a dead target. A
//! planned successor inherits the number of consecutive failures: a server that refuses each
//! connection after its greeting is not dialed without a rest.

use crate::blame::Failure;
use crate::transport::lane::Lane;
use drumfire_plan::Spread;
use drumfire_units::Nanos;

/// The dials of a slot's connection.
#[derive(Debug)]
pub(in crate::transport) struct Redial {
    /// The number of consecutive failures.
    failures: u8,
    /// The number of addresses tried in the current attempt.
    tried: u16,
    /// The index of the lane's address to dial next.
    choice: u32,
    /// The end of the rest.
    rest_until: Nanos,
    /// The last of the consecutive failures.
    last: Option<Box<Failure>>,
}

impl Redial {
    /// Dials that begin with this address of the lane.
    pub(super) const fn from(choice: u32) -> Self {
        Self {
            failures: 0,
            tried: 0,
            choice,
            rest_until: Nanos::ZERO,
            last: None,
        }
    }

    /// The dials of the successor connection, without a rest.
    pub(super) fn successor(&self) -> Self {
        Self {
            failures: self.failures,
            last: self.last.clone(),
            ..Self::from(self.choice)
        }
    }

    /// Begins an attempt. If all connections use the lane's first address, that address is tried
    /// first again, because it may be reachable again.
    pub(super) fn begin_attempt(&mut self, lane: &Lane) {
        self.tried = 0;
        if lane.settings.spread == Spread::First {
            self.choice -= self.choice % lane.route.width() as u32;
        }
    }

    /// The address to dial now.
    pub(super) fn choose(&self, lane: &Lane, now: Nanos) -> usize {
        lane.choose(self.choice, now)
    }

    /// Notes that the address has failed; returns whether there is another one to try.
    pub(in crate::transport) fn try_another(&mut self, lane: &mut Lane, now: Nanos) -> bool {
        let choice = lane.choose(self.choice, now);
        self.choice = choice as u32 + 1;
        self.tried += 1;
        lane.note_down(choice, now);
        usize::from(self.tried) < lane.route.width()
    }

    /// Dials this address of the lane next.
    pub(super) const fn begin_at(&mut self, choice: u32) {
        self.choice = choice;
    }

    /// Resets the consecutive failures.
    #[inline]
    pub(in crate::transport) fn succeed(&mut self) {
        self.failures = 0;
        if self.last.is_some() {
            self.last = None;
        }
    }

    /// The last of the consecutive failures, if any.
    pub(in crate::transport) fn last_failure(&self) -> Option<&Failure> {
        self.last.as_deref()
    }

    /// The number of consecutive failures.
    pub(in crate::transport) const fn failures(&self) -> u8 {
        self.failures
    }

    /// Counts a failure and rests, twice as long as after the previous one. Returns the end of the
    /// rest.
    pub(in crate::transport) fn back_off(
        &mut self,
        lane: &mut Lane,
        failure: &Failure,
        now: Nanos,
    ) -> Nanos {
        self.failures = self.failures.saturating_add(1);
        // A dead target fails in the same way each time, so the stored failure is usually equal.
        if self.last.as_deref() != Some(failure) {
            self.last = Some(Box::new(failure.clone()));
        }
        let own = now + lane.settings.backoff(self.failures);
        self.rest_until = own.max(lane.pace_redial(now));
        self.rest_until
    }

    /// Rests until `until`, or until the end of the current rest if that is later.
    pub(in crate::transport) fn rest_until(&mut self, until: Nanos) {
        self.rest_until = self.rest_until.max(until);
    }

    /// The end of the rest; in the past without a rest.
    pub(in crate::transport) const fn rest_end(&self) -> Nanos {
        self.rest_until
    }

    /// Begins the run: the rest ends at this time of the run.
    pub(super) const fn begin_run(&mut self, rest_until: Nanos) {
        self.rest_until = rest_until;
    }
}
