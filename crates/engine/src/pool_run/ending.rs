//! The ends of a pool's exchanges: the sample is recorded, the user goes on, the seat is used again.
//!
//! [`PoolRun::settle`] alone calls `end`, once for an exchange, so that an exchange that starts on a
//! freed seat never begins within the end of another's call.

use super::PoolRun;
use crate::exchanges::{End, Finished, Held};
use crate::freed::Freed;
use crate::id::{LaneId, ShareId, UserId};
use crate::pool_io::Site;
use crate::timers::Wake;
use crate::transport::Seat;
use crate::users::NextStep;
use drumfire_measure::Outcome;
use drumfire_net::Io;
use drumfire_plan::Affinity;
use drumfire_units::Nanos;

impl PoolRun {
    /// Records an exchange that is over, lets its user go on, and uses its seat again.
    #[inline]
    pub(super) fn end<I: Io>(&mut self, site: &mut Site<'_, I>, end: End) {
        let End {
            id,
            now,
            rest,
            outcome,
        } = end;
        let Held {
            share,
            user,
            home,
            owed,
        } = self.account(site, end);
        // A turn that takes long looks for orders again, so that what is due may start.
        if now > self.demand.arrivals.horizon() {
            self.orders
                .carry_out(&mut self.demand.arrivals, &self.demand.population, now);
        }
        let usable_from = self.transport.usable_from(share, now);
        let rests_until = usable_from.max(now + rest);
        // A user that keeps to a connection is ready when that is.
        let ready = match self.affinity {
            Affinity::User => rests_until,
            Affinity::Shared => now,
        };
        if home != self.home() {
            self.give_back(home, end, user, ready);
        } else if self.demand.users.keep_belongings() {
            let (jar, taken) = self.exchanges.belongings(id);
            self.demand.users.take_back(user, outcome, jar, taken);
        }
        if home != self.home() {
            // Its user goes on elsewhere.
        } else if self.demand.users.has_steps() {
            self.go_on_user(site, user, outcome, ready, now);
        } else {
            self.demand
                .free_user(user, ready, Freed::after_stop(now, owed));
        }
        if self.affinity == Affinity::User {
            if self.demand.population.admits(now) {
                self.begin_without_seat(site, now);
            }
            return;
        }
        if rests_until > now {
            if rest > Nanos::ZERO {
                self.transport.rest_seat(share, rests_until);
            }
            return self.timers.at(rests_until, Wake::Seat(share));
        }
        self.free(site, share, Freed::after_stop(now, owed), now);
    }

    /// Lets a user go on in an iteration of several steps, whose request has ended.
    #[cold]
    pub(super) fn go_on_user<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        user: UserId,
        outcome: Outcome,
        ready: Nanos,
        now: Nanos,
    ) {
        let unix_time = || site.io.unix_time();
        if let Some(next) = self
            .demand
            .users
            .go_on(user, outcome, ready, now, unix_time)
        {
            self.carry_on(site, next, now);
        }
    }

    /// Carries out the action that continues an iteration of several steps.
    #[cold]
    pub(super) fn carry_on<I: Io>(&mut self, site: &mut Site<'_, I>, next: NextStep, now: Nanos) {
        let measure_from = self.course.measure_from();
        match next {
            NextStep::Request(due) => {
                if !due.came_with_arrival && due.intended >= measure_from {
                    site.recorder.figures(self.id).record_intended(1);
                }
                if self.affinity == Affinity::User {
                    return self.start_own(site, due, now);
                }
                let lane = self.lane_of(due.request);
                self.demand.waiting.push_request(lane, due);
            }
            NextStep::Pause {
                user,
                generation,
                until,
            } => self.timers.at(until, Wake::User(user, generation)),
            NextStep::Over {
                user,
                sample,
                stops_user,
            } => {
                if sample.intended >= measure_from {
                    let figures = site.recorder.figures(self.id);
                    figures.record_iteration(&sample);
                }
                if stops_user {
                    self.demand.retire_user(user);
                } else {
                    self.demand.free_user(user, sample.end, Freed::at(now));
                }
            }
        }
    }

    /// Frees a seat, or gives it at once to a request that waits or to the next arrival. In the
    /// open model an arrival gets it only where no other seat is free, so that connections take
    /// turns.
    #[inline]
    pub(super) fn free<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        share: ShareId,
        since: Freed,
        now: Nanos,
    ) {
        if self.multiplexes && !self.transport.seats_mut().keeps_one(share) {
            return;
        }
        let seats = self.transport.seats_mut();
        let id = seats.lane_of(share);
        let seat = Seat { share, since };
        if self.demand.waiting.has_requests() {
            return self.free_for_request(site, id, seat, now);
        }
        // What others leave may be older than what is due here; the next turn looks.
        let sees_offers = self.sees_offers();
        let next_in_turn = self.transport.seats().is_full(id) || !self.demand.arrivals.is_open();
        let reuses = self.demand.waiting.has_one_lane()
            && next_in_turn
            && self.demand.users.begins_with_request();
        let next = if reuses && !sees_offers && self.demand.population.admits(now) {
            self.demand.take(now)
        } else {
            None
        };
        match next {
            Some(arrival) => self.begin_on(site, seat, arrival, now),
            None => self.transport.seats_mut().give(seat),
        }
    }

    /// Gives a seat to a request that waits for one of its lane, or frees it for those that wait
    /// for others.
    #[cold]
    pub(super) fn free_for_request<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        lane: LaneId,
        seat: Seat,
        now: Nanos,
    ) {
        match self.demand.waiting.pop_request(lane) {
            Some(request) => self.start_apart(site, seat, request, now),
            None => {
                self.transport.seats_mut().give(seat);
                self.start_waiting(site, false, now);
            }
        }
    }

    /// Makes the sample of an exchange that is over.
    #[inline]
    pub(super) fn account<I: Io>(&mut self, site: &mut Site<'_, I>, end: End) -> Held {
        let id = end.id;
        let Finished { sample, held } = self.exchanges.finish(end, site.recorder.figures(self.id));
        self.course.note_end(sample.end);
        site.recorder
            .record(self.id, &sample, || self.exchanges.particulars(id));
        if sample.outcome != Outcome::Ok
            && let Some(detail) = self.exchanges.account_failure(id, &sample)
        {
            site.recorder.detail(self.id, &sample, &detail);
        }
        held
    }

    /// Makes the samples of the exchanges that are over, and starts nothing.
    ///
    /// # Errors
    /// As [`Self::settle`].
    pub(crate) fn account_all<I: Io>(&mut self, site: &mut Site<'_, I>) -> Result<(), Nanos> {
        let edge = site.recorder.edge();
        while let Some(end) = self.exchanges.lists().next_ended(edge)? {
            self.account(site, end);
        }
        Ok(())
    }
}
