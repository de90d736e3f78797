//! The beginnings of a pool's iterations and of their requests, from one request of a user to the
//! next.
//!
//! ```text
//!   start_next ─► arrival ─► turn of a user ─► request on a seat ─► Dispatcher
//!                    ▲                               ▲                  │
//!                    └── free user ◄── carry_on ─────┘   reuse_seat ◄── end
//! ```
//!
//! It owns the demand, whose arrivals ask for users, and the dispatcher, whose seats these need; an
//! arrival begins where both are free. A request that is due and finds no seat waits in the demand,
//! in the order in which it came; a seat that is freed goes to a request of an iteration under way
//! before it goes to an arrival.
//!
//! The pool calls `start_next` until it starts nothing. When an exchange has ended and is accounted
//! for, it calls `go_on` for a user of this worker, then `reuse_seat`, once each; either may start
//! an exchange at once. `begin_lent` and `take_back` are for the hand-over between workers: the
//! first on the side that helps, the second on that of the user, with its demand at hand again.
//!
//! A seat that was taken is given to exactly one exchange or given back. Each method that takes an
//! arrival from the demand has made sure of a seat before, for an arrival can't be put back: the
//! order of the schedule would be lost. Where requests go to several origins, the lane is known
//! only when the arrival is; such an arrival waits in the demand, of which [`WAITING_MAX`] bounds
//! the number.
//!
//! Users with connections of their own ([`Affinity::User`]) need no free seat: the user is the
//! seat, so that both are free together.

use super::dispatcher::Dispatcher;
use crate::arrivals::Arrival;
use crate::demand::{Demand, Lent, Returned, Room};
use crate::exchanges::{End, Held};
use crate::freed::Freed;
use crate::handover::Handover;
use crate::id::{Generation, LaneId, PoolId, UserId};
use crate::limits::WAITING_MAX;
use crate::pool_io::PoolContext;
use crate::prepare::PreparedPool;
use crate::protocol::Protocol;
use crate::transport::{Further, Seat};
use crate::users::{DueRequest, NextStep, Prevented};
use drumfire_measure::Outcome;
use drumfire_net::Io;
use drumfire_plan::Affinity;
use drumfire_units::Nanos;
use std::sync::Arc;

/// A worker's demand of a pool, and the exchanges that come of it.
pub(crate) struct Admission {
    prepared: Arc<PreparedPool>,
    id: PoolId,
    demand: Demand,
    dispatcher: Dispatcher,
    /// This worker's number among those of the pool.
    home: u32,
    /// The state that the pool's workers share, where there are others.
    handover: Option<Arc<Handover>>,
    affinity: Affinity,
    /// Whether connections carry many exchanges, and one may end for want of more.
    multiplexes: bool,
    /// The end of the warm-up: what is intended earlier is not measured.
    measure_from: Nanos,
}

impl Admission {
    /// Of the worker `home` of those that share a state, where there are others.
    pub(super) fn new(
        prepared: &Arc<PreparedPool>,
        demand: Demand,
        dispatcher: Dispatcher,
        home: u32,
        handover: Option<Arc<Handover>>,
    ) -> Self {
        let pool = prepared.pool();
        Self {
            id: prepared.id(),
            demand,
            dispatcher,
            home,
            handover,
            affinity: pool.connections.affinity,
            multiplexes: !Protocol::of(pool).is_exclusive(),
            measure_from: prepared.generator().warmup.span(),
            prepared: Arc::clone(prepared),
        }
    }

    /// The arrivals and the users.
    #[inline]
    pub(super) const fn demand(&self) -> &Demand {
        &self.demand
    }

    /// The same, for orders, tallies and the hand-over.
    #[inline]
    pub(super) const fn demand_mut(&mut self) -> &mut Demand {
        &mut self.demand
    }

    /// The exchanges on their way.
    #[inline]
    pub(super) const fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    /// The same, to move them on.
    #[inline]
    pub(super) const fn dispatcher_mut(&mut self) -> &mut Dispatcher {
        &mut self.dispatcher
    }

    /// This worker's number among those of the pool.
    #[inline]
    pub(super) const fn home(&self) -> u32 {
        self.home
    }

    /// Whether a further request may come.
    pub(super) fn further(&self) -> Further {
        let is_last = self.demand.intake().is_exhausted()
            && !self.demand.has_steps()
            && self.handover.as_ref().is_none_or(|all| all.is_over());
        match is_last {
            true => Further::None,
            false => Further::Expected,
        }
    }

    /// Whether no arrival can begin here, however long it has been due.
    #[inline]
    pub(super) fn is_blocked(&self) -> bool {
        let takes_seat = self.demand.waiting().has_one_lane() && self.demand.needs_seat();
        let seats = self.dispatcher.transport().seats();
        takes_seat && seats.is_full(LaneId(0)) || self.demand.intake().is_full()
    }

    /// The room here for the demands that others leave.
    pub(super) fn room(&self) -> Room {
        let free = self.dispatcher.transport().seats().lanes_with_room();
        Room::of(free, !self.demand.intake().is_full())
    }

    /// Starts one exchange, or an iteration that begins with a pause, of this worker's own demand;
    /// `false` when none is due or no seat is free for it.
    pub(super) fn start_next<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, now: Nanos) -> bool {
        let admits = self.demand.intake_mut().admits(now);
        if !self.demand.waiting().is_empty() && self.start_waiting(cx, admits, now) {
            return true;
        }
        if !admits {
            return false;
        }
        if !self.demand.needs_seat() {
            return self.begin_without_seat(cx, now);
        }
        if self.demand.waiting().has_one_lane() {
            if self.dispatcher.transport().seats().is_full(LaneId(0)) {
                return false;
            }
            let Some(arrival) = self.demand.intake_mut().take(now) else {
                return false;
            };
            let Some(seat) = self.dispatcher.take_seat(LaneId(0)) else {
                return false;
            };
            self.begin_on(cx, seat, arrival, now);
            return true;
        }
        if self.demand.waiting().arrivals() >= WAITING_MAX {
            return false;
        }
        let Some(arrival) = self.demand.intake_mut().take(now) else {
            return false;
        };
        let lane = self.prepared.lane_of(self.demand.first_request(arrival));
        match self.dispatcher.take_seat(lane) {
            Some(seat) => self.begin_on(cx, seat, arrival, now),
            None => self.demand.waiting_mut().push_arrival(lane, arrival),
        }
        true
    }

    /// Begins an iteration that needs no free seat: on its user's own connection, or with a pause.
    /// `false` when none is due.
    fn begin_without_seat<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, now: Nanos) -> bool {
        let Some(arrival) = self.demand.intake_mut().take(now) else {
            return false;
        };
        self.begin_unseated(cx, arrival, now);
        true
    }

    /// Begins an arrival's iteration that needs no free seat.
    fn begin_unseated<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, arrival: Arrival, now: Nanos) {
        let turn = self.demand.begin(arrival);
        let unix_time = || cx.io.unix_time();
        let next = self.demand.first_step(turn, arrival, now, unix_time);
        self.carry_on(cx, next, now);
    }

    /// Begins what the worker `home` has left: an arrival with a user of this worker, or a request
    /// of a user that stays there.
    pub(super) fn begin_lent<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        home: u32,
        lent: Lent,
        now: Nanos,
    ) {
        match lent {
            Lent::Arrival(lane, arrival) => {
                if !self.demand.needs_seat() {
                    self.begin_unseated(cx, arrival, now);
                } else if let Some(seat) = self.dispatcher.take_seat(lane) {
                    self.begin_on(cx, seat, arrival, now);
                }
            }
            Lent::Request(lane, request) => {
                if let Some(seat) = self.dispatcher.take_seat(lane) {
                    let (due, belongings) = request.into_parts();
                    let id = self.dispatcher.begin(seat, home, due, now);
                    if let Some(belongings) = belongings {
                        self.dispatcher.lend(id, belongings);
                    }
                    let further = self.further_of_first();
                    self.dispatcher
                        .submit_first(cx, id, seat.share(), further, now);
                }
            }
        }
    }

    /// Starts a request on its user's own connection.
    fn start_own<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, request: DueRequest, now: Nanos) {
        let lane = self.prepared.lane_of(request.request());
        let seats = self.dispatcher.transport().seats();
        let share = seats.share_of(lane, request.turn().user());
        let seat = Seat::new(share, self.demand.intake().user_free_since());
        self.start_apart(cx, seat, request, now);
    }

    /// Gives a free seat of its lane to a request of an iteration that waits, or to an arrival
    /// where users admit one; `false` when there is none.
    #[cold]
    fn start_waiting<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        admits: bool,
        now: Nanos,
    ) -> bool {
        for lane in self.demand.waiting().lanes() {
            if self.dispatcher.transport().seats().is_full(lane) {
                continue;
            }
            if let Some(request) = self.demand.waiting_mut().pop_request(lane) {
                if let Some(seat) = self.dispatcher.take_seat(lane) {
                    self.start_apart(cx, seat, request, now);
                    return true;
                }
            } else if admits
                && let Some(arrival) = self.demand.next_wanted(lane, now)
                && let Some(seat) = self.dispatcher.take_seat(lane)
            {
                self.begin_on(cx, seat, arrival, now);
                return true;
            }
        }
        false
    }

    /// Begins an iteration on a seat for its first request.
    #[inline(always)]
    fn begin_on<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        seat: Seat,
        arrival: Arrival,
        now: Nanos,
    ) {
        // The turn is no argument of the call, for it would be written to memory first.
        if self.demand.has_steps() {
            return self.begin_steps_on(cx, seat, arrival, now);
        }
        let turn = self.demand.begin(arrival);
        let seat = seat.with_user(self.demand.intake().user_free_since());
        let request = self.demand.only_request(turn, arrival);
        self.start(cx, seat, request, now);
    }

    /// Begins an iteration with steps on a seat for its first request.
    #[cold]
    fn begin_steps_on<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        seat: Seat,
        arrival: Arrival,
        now: Nanos,
    ) {
        let turn = self.demand.begin(arrival);
        let seat = seat.with_user(self.demand.intake().user_free_since());
        let unix_time = || cx.io.unix_time();
        match self.demand.first_step(turn, arrival, now, unix_time) {
            NextStep::Request(request) => self.start_apart(cx, seat, request, now),
            // A seat is taken only for iterations that begin with a request.
            next => {
                self.dispatcher.seats_mut().give(seat);
                self.carry_on(cx, next, now);
            }
        }
    }

    /// Begins an exchange for a user, and gives it to the transport.
    #[inline(always)]
    fn start<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        seat: Seat,
        due: DueRequest,
        now: Nanos,
    ) {
        let id = self.dispatcher.begin(seat, self.home, due, now);
        if let Some(belongings) = self.demand.lend_belongings(due.turn().user()) {
            self.dispatcher.lend(id, belongings);
        }
        let further = self.further_of_first();
        self.dispatcher
            .submit_first(cx, id, seat.share(), further, now);
    }

    /// Whether a further request may come, as far as it matters to one that is submitted for the
    /// first time.
    #[inline(always)]
    fn further_of_first(&self) -> Further {
        match self.multiplexes {
            true => self.further(),
            false => Further::Expected,
        }
    }

    /// [`Self::start`] where it is not the way of every request.
    #[cold]
    #[inline(never)]
    fn start_apart<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        seat: Seat,
        due: DueRequest,
        now: Nanos,
    ) {
        self.start(cx, seat, due, now);
    }

    /// The time from which a user is ready to go on after a request that ended now, where its seat
    /// rests until then: a user that keeps to a connection is ready when that is.
    #[inline]
    pub(super) const fn ready_from(&self, rests_until: Nanos, now: Nanos) -> Nanos {
        match self.affinity {
            Affinity::User => rests_until,
            Affinity::Shared => now,
        }
    }

    /// Lets the user of an exchange that has ended go on from `ready` on: in its iteration, or as a
    /// free one. It is free since the exchange's end, which lies before `now` by the kernel's
    /// clock.
    #[inline]
    pub(super) fn go_on<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        end: End,
        held: Held,
        ready: Nanos,
        now: Nanos,
    ) {
        let (user, outcome) = (held.user(), end.outcome());
        if let Some(users) = self.demand.keepers() {
            let (jar, taken) = self.dispatcher.belongings(end.id());
            users.take_back(user, outcome, jar, taken);
        }
        if self.demand.has_steps() {
            self.go_on_in_steps(cx, user, outcome, ready, now);
        } else {
            let since = Freed::after_stop(end.now(), held.owed());
            self.demand.free_user(user, ready, since);
        }
    }

    /// Lets a user go on in an iteration of several steps, whose request has ended.
    #[cold]
    fn go_on_in_steps<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        user: UserId,
        outcome: Outcome,
        ready: Nanos,
        now: Nanos,
    ) {
        let unix_time = || cx.io.unix_time();
        if let Some(next) = self.demand.go_on(user, outcome, ready, now, unix_time) {
            self.carry_on(cx, next, now);
        }
    }

    /// Lets a user go on whose pause is over.
    pub(super) fn wake_user<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        user: UserId,
        generation: Generation,
        now: Nanos,
    ) {
        let unix_time = || cx.io.unix_time();
        if let Some(next) = self.demand.wake(user, generation, unix_time) {
            self.carry_on(cx, next, now);
        }
    }

    /// Continues the iterations whose requests others have ended while the worker slept.
    #[cold]
    pub(super) fn take_back<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        returned: Vec<Returned>,
        now: Nanos,
    ) {
        for returned in returned {
            let (ready, unix_time) = (returned.ready(), || cx.io.unix_time());
            if let Some(next) = self.demand.take_back(returned, unix_time) {
                self.carry_on(cx, next, ready);
            }
        }
        while let Some(step) = self.demand.next_left_step() {
            self.carry_on(cx, step, now);
        }
    }

    /// Carries out the action that continues an iteration of several steps.
    #[cold]
    fn carry_on<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, next: NextStep, now: Nanos) {
        match next {
            NextStep::Request(due) => {
                if !due.came_with_arrival() && due.intended() >= self.measure_from {
                    cx.recorder.figures(self.id).record_intended(1);
                }
                if self.affinity == Affinity::User {
                    return self.start_own(cx, due, now);
                }
                let lane = self.prepared.lane_of(due.request());
                self.demand.waiting_mut().push_request(lane, due);
            }
            NextStep::Pause {
                user,
                generation,
                until,
            } => self.dispatcher.pause(user, generation, until),
            NextStep::Over {
                user,
                sample,
                stops_user,
            } => {
                if let Some(prevented) = self.demand.take_prevented(user) {
                    self.record_prevented(cx, &prevented, sample.end);
                }
                if sample.intended >= self.measure_from {
                    let figures = cx.recorder.figures(self.id);
                    figures.record_iteration(&sample);
                }
                if stops_user {
                    self.demand.intake_mut().retire(user);
                } else {
                    self.demand.free_user(user, sample.end, Freed::at(now));
                }
            }
        }
    }

    /// Records a request that its iteration, which ended then, has not come to.
    #[cold]
    fn record_prevented<I: Io>(
        &self,
        cx: &mut PoolContext<'_, I>,
        prevented: &Prevented,
        at: Nanos,
    ) {
        let request = &self.prepared.requests()[prevented.request() as usize];
        let sample = prevented.sample(request.step(), at);
        if at >= self.measure_from {
            cx.recorder.figures(self.id).record_intended(1);
        }
        let particulars = || prevented.particulars(at);
        cx.recorder.record(self.id, &sample, particulars);
        cx.recorder.detail(self.id, &sample, prevented.reason());
    }

    /// Uses the seat of an exchange that has ended again: at once, or after its rest. Where users
    /// have connections of their own, that is the next iteration of one that is ready. The seat is
    /// free since the exchange's end.
    #[inline]
    pub(super) fn reuse_seat<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        end: End,
        held: Held,
        rests_until: Nanos,
        now: Nanos,
    ) {
        let share = held.share();
        if self.affinity == Affinity::User {
            if !self.sees_offers() && self.demand.intake_mut().admits(now) {
                self.begin_without_seat(cx, now);
            }
            return;
        }
        if rests_until > now {
            return self.dispatcher.rest_seat(share, rests_until);
        }
        let since = Freed::after_stop(end.now(), held.owed());
        self.free_seat(cx, Seat::new(share, since), now);
    }

    /// Whether others have left something that may be older than what is due here; the next turn
    /// looks.
    #[inline]
    fn sees_offers(&self) -> bool {
        self.handover.as_ref().is_some_and(|all| all.has_offers())
    }

    /// Frees a seat, or gives it at once to a request that waits or to the next arrival. In the
    /// open model an arrival gets it only where no other seat is free, so that connections take
    /// turns.
    #[inline]
    fn free_seat<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, seat: Seat, now: Nanos) {
        if self.multiplexes && !self.dispatcher.seats_mut().keeps_one(seat.share()) {
            return;
        }
        if self.demand.waiting().has_requests() {
            return self.free_for_request(cx, seat, now);
        }
        let sees_offers = self.sees_offers();
        let seats = self.dispatcher.transport().seats();
        let is_last = || seats.is_full(seats.lane_of(seat.share()));
        let reuses = self.demand.waiting().has_one_lane()
            && self.demand.needs_seat()
            && (!self.demand.intake().is_open() || is_last());
        let next = if reuses && !sees_offers && self.demand.intake_mut().admits(now) {
            self.demand.intake_mut().take(now)
        } else {
            None
        };
        match next {
            Some(arrival) => self.begin_on(cx, seat, arrival, now),
            None => self.dispatcher.seats_mut().give(seat),
        }
    }

    /// Gives a seat to a request that waits for one of its lane, or frees it for those that wait
    /// for others.
    #[cold]
    fn free_for_request<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, seat: Seat, now: Nanos) {
        let lane = self.dispatcher.transport().seats().lane_of(seat.share());
        match self.demand.waiting_mut().pop_request(lane) {
            Some(request) => self.start_apart(cx, seat, request, now),
            None => {
                self.dispatcher.seats_mut().give(seat);
                self.start_waiting(cx, false, now);
            }
        }
    }
}
