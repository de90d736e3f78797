//! The work of a pool's part for the pool's other workers, and theirs for it, by way of
//! [`crate::handover`].
//!
//! [`PoolRun::rest`] leaves the demand to others, and [`PoolRun::resume`] takes it back; while it is
//! away nothing here may touch it. [`PoolRun::take_back`] follows `resume` where others have ended
//! requests of this worker's users, or where a step followed meanwhile.

use super::PoolRun;
use crate::demand::{Lent, LentRequest, Returned, Room};
use crate::exchanges::End;
use crate::freed::Freed;
use crate::handover::Member;
use crate::id::{LaneSet, UserId};
use crate::limits::ORDERS_WITHIN;
use crate::pool_io::Site;
use crate::transport::Seat;
use drumfire_net::Io;
use drumfire_units::Nanos;

impl PoolRun {
    /// Whether another worker has left something for any that has room.
    #[inline]
    pub(super) fn sees_offers(&self) -> bool {
        self.member.as_ref().is_some_and(Member::sees_offers)
    }

    /// This worker's number among those of the pool.
    #[inline]
    pub(super) fn home(&self) -> u32 {
        self.member.as_ref().map_or(0, Member::number)
    }

    /// Whether the users of every worker of the pool have left for good.
    #[cold]
    pub(super) fn is_deserted(&self) -> bool {
        self.member.as_ref().is_none_or(Member::note_deserted)
    }

    /// Starts the arrival or request that has been due for longest, here or with a worker that has
    /// no room for it.
    #[cold]
    pub(super) fn start_older<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) -> bool {
        let own = if self.is_blocked() {
            Nanos::MAX
        } else {
            self.demand.arrivals.drop_late(now);
            self.demand.arrivals.next_due()
        };
        let own = own.min(self.demand.waiting.first_request());
        self.help(site, own, now)
            || self.start_own_next(site, now)
            || self.help(site, Nanos::MAX, now)
    }

    /// Does the first thing that another worker has left and that has been due for longer than
    /// `own`; `false` when there is none for which there is room here.
    fn help<I: Io>(&mut self, site: &mut Site<'_, I>, own: Nanos, now: Nanos) -> bool {
        let Some(member) = &mut self.member else {
            return false;
        };
        let admits = self.demand.population.admits(now);
        let seats = self.transport.seats();
        let unix_time = || site.io.unix_time();
        let lent = member.take(own, now, |demand| {
            demand.lend(now, admits, |lane| !seats.is_full(lane), unix_time)
        });
        match lent {
            Some((_, Lent::Arrival(lane, arrival))) => {
                if !self.demand.needs_seat() {
                    self.begin_unseated(site, arrival, now);
                } else if let Some(seat) = self.transport.take_seat(lane) {
                    self.begin_on(site, seat, arrival, now);
                }
                true
            }
            Some((home, Lent::Request(lane, request))) => {
                if let Some(seat) = self.transport.take_seat(lane) {
                    self.start_lent(site, seat, home, request, now);
                }
                true
            }
            None => false,
        }
    }

    /// Starts a request of another worker's user.
    fn start_lent<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        seat: Seat,
        home: u32,
        lent: LentRequest,
        now: Nanos,
    ) {
        let LentRequest { due, belongings } = lent;
        let id = self.begin_exchange(seat, home, due, now);
        if self.demand.users.keep_belongings() {
            self.exchanges.lend(id, belongings);
        }
        self.submit_first(site, id, seat, now);
    }

    /// Gives the end of a request back to the worker whose user made it.
    #[cold]
    pub(super) fn give_back(&mut self, home: u32, end: End, user: UserId, ready: Nanos) {
        let (jar, taken) = self.exchanges.belongings(end.id);
        let returned = Returned {
            user,
            outcome: end.outcome,
            jar,
            taken: taken.cloned(),
            ready,
        };
        if let Some(member) = &self.member {
            member.give_back(home, returned);
        }
    }

    /// The worker is about to sleep. Gives the time by which to wake for the pool's others.
    #[inline]
    pub(crate) fn rest(&mut self, now: Nanos) -> Nanos {
        match self.member {
            None => Nanos::MAX,
            Some(_) => self.rest_beside(now),
        }
    }

    fn rest_beside(&mut self, now: Nanos) -> Nanos {
        let Some(mut member) = self.member.take() else {
            return Nanos::MAX;
        };
        let (offer, room) = (self.demand.offer(self.is_blocked()), self.room());
        let wake = member.rest(&mut self.demand, offer, room, now);
        let has_left = member.has_left();
        self.member = Some(member);
        // Others take what lies before the horizon, which only this worker moves.
        match has_left {
            true => wake.min(now + Nanos(ORDERS_WITHIN.0 / 2)),
            false => wake,
        }
    }

    /// The room here for the demands that others leave.
    fn room(&self) -> Room {
        if self.course.is_stopped() {
            return Room::NONE;
        }
        let free = self.transport.seats().lanes_with_room();
        Room {
            seats: free.fold(LaneSet::UNSEATED, LaneSet::with),
            users: !self.demand.population.is_full(),
        }
    }

    /// The worker is awake again, with its demand and its users' requests that others carried out.
    #[inline]
    pub(crate) fn resume(&mut self) -> Vec<Returned> {
        match &mut self.member {
            None => Vec::new(),
            Some(member) => member.resume(&mut self.demand),
        }
    }

    /// Whether a user's step followed while the demand was left to others.
    #[inline]
    pub(crate) const fn has_left_steps(&self) -> bool {
        self.demand.has_steps()
    }

    /// Continues the iterations whose requests others have ended while the worker slept.
    #[cold]
    pub(crate) fn take_back<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        returned: Vec<Returned>,
        now: Nanos,
    ) {
        for returned in returned {
            self.demand.take_back();
            let Returned {
                user,
                outcome,
                jar,
                taken,
                ready,
            } = returned;
            if self.demand.users.keep_belongings() {
                let users = &mut self.demand.users;
                users.take_back(user, outcome, jar, taken.as_ref());
            }
            if self.demand.users.has_steps() {
                self.go_on_user(site, user, outcome, ready, ready);
            } else {
                self.demand.free_user(user, ready, Freed::at(ready));
            }
        }
        while let Some(step) = self.demand.next_step() {
            self.carry_on(site, step, now);
        }
    }
}
