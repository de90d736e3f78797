//! The intake of a demand: arrivals that are due, and the users that may begin them.
//!
//! [`Arrivals`] says when, [`Population`] for which user, and each call that concerns one of them
//! needs the other: users of the closed model make the arrivals, arrivals of the open model need a
//! free user. They are kept in step here:
//!
//! ```text
//!   admits ─► take ─► begin ─┬─► end       the user may begin again: at once, or at a time
//!                            └─► retire    for good
//! ```
//!
//! In the open model `take` is called only while `admits` holds. Each arrival that was taken is
//! begun, here or by another worker, or put into the queue of those that wait for a seat. `stop`
//! comes once, after the last `take`.

use crate::arrivals::{Arrival, Arrivals, Tally};
use crate::control::Orders;
use crate::freed::Freed;
use crate::id::UserId;
use crate::population::Population;
use drumfire_units::Nanos;

/// The arrivals of a worker's part of a pool, and its users as far as they are free or busy.
#[derive(Debug)]
pub(crate) struct Intake {
    arrivals: Arrivals,
    population: Population,
}

impl Intake {
    pub(super) const fn new(arrivals: Arrivals, population: Population) -> Self {
        Self {
            arrivals,
            population,
        }
    }

    /// Lets the load begin at a time of the run, with the orders that were given so far.
    pub(crate) fn begin_from(&mut self, orders: &mut Orders, from: Nanos) {
        orders.begin_from(from, &mut self.arrivals, &mut self.population);
    }

    /// Applies the orders that are due to the arrivals, and to the users whose number they change.
    #[inline]
    pub(crate) fn carry_out(&mut self, orders: &mut Orders, now: Nanos) {
        orders.carry_out(&mut self.arrivals, &self.population, now);
    }

    /// Whether arrivals do not depend on users.
    #[inline]
    pub(crate) const fn is_open(&self) -> bool {
        self.arrivals.is_open()
    }

    /// Whether the plan's duration is over.
    #[inline]
    pub(crate) fn is_timed_out(&self, now: Nanos) -> bool {
        self.arrivals.is_timed_out(now)
    }

    /// Whether all users of the open model have left for good and none will come.
    #[inline]
    pub(crate) fn is_deserted(&self) -> bool {
        self.population.are_gone()
    }

    /// Whether no further arrival will come, as far as is known now.
    #[inline]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.arrivals.is_exhausted(&self.population)
    }

    /// Whether no arrival will come and the time that was asked for is used.
    pub(super) fn is_over(&self, now: Nanos) -> bool {
        self.arrivals.is_over(now, &self.population)
    }

    /// The time at which the load has to be looked at for its end.
    pub(crate) fn next_end(&self, now: Nanos) -> Nanos {
        self.arrivals.next_end(now, &self.population)
    }

    /// The time until which the load was asked for or has lasted.
    pub(crate) fn used_time(&self, now: Nanos) -> Nanos {
        self.arrivals.used_time(now, &self.population)
    }

    /// Nothing that is due later is taken before orders are looked for again.
    #[inline]
    pub(crate) const fn horizon(&self) -> Nanos {
        self.arrivals.horizon()
    }

    /// The due time of the next arrival; [`Nanos::MAX`] when none becomes due by itself.
    #[inline]
    pub(crate) fn next_due(&self) -> Nanos {
        self.arrivals.next_due()
    }

    /// The time at which the number of users that may be busy changes next.
    #[inline]
    pub(crate) fn next_change(&self) -> Nanos {
        self.population.next_change()
    }

    /// Whether one more user may be busy, by the law as of `now`.
    #[inline]
    pub(crate) fn admits(&mut self, now: Nanos) -> bool {
        self.population.admits(now)
    }

    /// Whether no iteration may begin before a user is idle or users come.
    #[inline]
    pub(crate) const fn is_full(&self) -> bool {
        self.population.is_full()
    }

    /// The time since which the user that has begun last was free for an arrival that waited.
    #[inline]
    pub(crate) const fn user_free_since(&self) -> Freed {
        self.population.free_since()
    }

    /// Takes the next arrival that may begin now, with its user in the closed model.
    #[inline(always)]
    pub(crate) fn take(&mut self, now: Nanos) -> Option<Arrival> {
        self.arrivals.take(now, &mut self.population)
    }

    /// Whether an arrival that has waited for a seat is still to be begun; one that is not is
    /// counted as dropped, so that this is asked once for each.
    pub(super) fn still_wants(&mut self, arrival: Arrival, now: Nanos) -> bool {
        self.arrivals.still_wanted(arrival, now)
    }

    /// Whether late arrivals may be dropped.
    pub(crate) const fn drops(&self) -> bool {
        self.arrivals.drops()
    }

    /// Drops the arrivals that are too late by now, so that [`Self::next_due`] is that of an
    /// arrival that is wanted.
    pub(crate) fn drop_late(&mut self, now: Nanos) {
        self.arrivals.drop_late(now);
    }

    /// Makes a user busy with an arrival: the one that it names, or any that is free.
    #[inline(always)]
    pub(super) fn begin(&mut self, arrival: Arrival) -> UserId {
        self.population.begin(arrival.user(), arrival.ready())
    }

    /// Frees a user that was busy until `ready`. In the closed model it begins its next iteration
    /// at the time that `next_begin` gives.
    #[inline(always)]
    pub(super) fn end(
        &mut self,
        user: UserId,
        ready: Nanos,
        since: Freed,
        next_begin: impl FnOnce() -> Nanos,
    ) {
        let is_open = self.is_open();
        self.population.end(user, since, is_open);
        if !is_open {
            self.arrivals
                .ended(user, ready, next_begin(), &mut self.population);
        }
    }

    /// Retires a user that was busy: it begins no other iteration.
    #[cold]
    pub(crate) fn retire(&mut self, user: UserId) {
        self.population.retire();
        self.arrivals.forget(user);
    }

    /// The arrivals that became due before `end` and those that were dropped, since the last call.
    pub(super) fn tally(&mut self, end: Nanos) -> Tally {
        self.arrivals.tally(end)
    }

    /// Lets nothing more begin. Gives the time until which the load has lasted by that.
    pub(super) fn stop(&mut self, now: Nanos) -> Nanos {
        self.arrivals.stop(now);
        self.used_time(now)
    }

    /// Hands over the arrivals that were due before the stop and neither taken nor dropped, as
    /// [`Arrivals::pending`] does.
    pub(super) fn pending(&self, round: u64, hand_over: impl FnMut(Arrival, u64)) {
        self.arrivals.pending(round, hand_over);
    }
}
