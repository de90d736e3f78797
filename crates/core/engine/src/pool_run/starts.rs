//! Starts a pool's iterations and their requests, and continues users from one request to the next.
//!
//! ```text
//!   start_own ─► arrival ─► turn of a user ─► request on a seat ─► begin_exchange
//!                   ▲                               ▲                    │
//!                   └── free user ◄── carry_on ─────┘   reuse_seat ◄── its end
//! ```
//!
//! Arrivals need users, and requests need seats; an arrival begins when both are free. A due
//! request without a seat waits in the demand, in order of arrival. A free seat goes to a request
//! of a running iteration before it goes to an arrival.
//!
//! `start_own` is called until it starts nothing. After an exchange has ended and is accounted for,
//! the pool calls `continue_user` if the user belongs to this worker, then `reuse_seat`, once each;
//! either may start an exchange at once. `start_lent` and `take_back` belong to the hand-over
//! between workers: the helper calls the first, and the user's home worker the second, after it has
//! its demand back.
//!
//! A seat that was taken must be given to exactly one exchange or given back. A method that takes
//! an arrival from the demand must have a seat first, because an arrival cannot be put back: the
//! order of the schedule would be lost. If requests go to several origins, the lane is known only
//! with the arrival; such an arrival waits in the demand, and [`WAITING_MAX`] bounds the number of
//! these.
//!
//! Users with their own connections ([`Affinity::User`]) need no free seat: user and seat are one,
//! and become free together.

use super::PoolRun;
use crate::arrivals::Arrival;
use crate::demand::{Lent, LentRequest, Returned};
use crate::exchanges::{End, Held};
use crate::id::{Generation, LaneId, UserId};
use crate::idle_since::IdleSince;
use crate::limits::WAITING_MAX;
use crate::pool_io::PoolContext;
use crate::timers::Wake;
use crate::transport::Seat;
use crate::users::{DueRequest, NextStep, Prevented};
use drumfire_measure::Outcome;
use drumfire_net::Io;
use drumfire_plan::Affinity;
use drumfire_units::Nanos;

impl PoolRun {
    /// Whether no arrival can begin here, even if it is due.
    #[inline]
    pub(super) fn is_blocked(&self) -> bool {
        let demand = &self.demand;
        let takes_seat = demand.waiting.has_one_lane() && demand.needs_seat();
        takes_seat && self.is_full(LaneId(0)) || demand.population.is_full()
    }

    /// Whether every seat of a lane has an exchange and there will be no others.
    #[inline]
    fn is_full(&self, lane: LaneId) -> bool {
        self.transport.connections.lanes[lane].is_full()
    }

    /// Starts one exchange, or an iteration that begins with a pause, of this worker's own demand;
    /// `false` if none is due or no seat is free.
    pub(super) fn start_own<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, now: Nanos) -> bool {
        let admits = self.demand.population.admits(now);
        if !self.demand.waiting.is_empty() && self.start_waiting(cx, admits, now) {
            return true;
        }
        if !admits {
            return false;
        }
        if !self.demand.needs_seat() {
            return self.begin_without_seat(cx, now);
        }
        if self.demand.waiting.has_one_lane() {
            if self.is_full(LaneId(0)) {
                return false;
            }
            let Some(arrival) = self.demand.take_arrival(now) else {
                return false;
            };
            let Some(seat) = self.transport.connections.take_seat(LaneId(0)) else {
                return false;
            };
            self.begin_on(cx, seat, arrival, now);
            return true;
        }
        if self.demand.waiting.arrivals() >= WAITING_MAX {
            return false;
        }
        let Some(arrival) = self.demand.take_arrival(now) else {
            return false;
        };
        let lane = self
            .prepared
            .lane_of(self.demand.users.first_request(arrival));
        match self.transport.connections.take_seat(lane) {
            Some(seat) => self.begin_on(cx, seat, arrival, now),
            None => self.demand.waiting.push_arrival(lane, arrival),
        }
        true
    }

    /// Begins an iteration that needs no free seat: on its user's own connection, or with a pause.
    /// `false` if none is due.
    fn begin_without_seat<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, now: Nanos) -> bool {
        let Some(arrival) = self.demand.take_arrival(now) else {
            return false;
        };
        self.begin_unseated(cx, arrival, now);
        true
    }

    /// Begins an arrival's iteration that needs no free seat.
    fn begin_unseated<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, arrival: Arrival, now: Nanos) {
        let turn = self.demand.begin_iteration(arrival);
        let unix_time = || cx.io.unix_time();
        let next = self.demand.users.first_step(turn, arrival, now, unix_time);
        self.carry_on(cx, next, now);
    }

    /// Starts the thing that the worker `home` has lent: an arrival, with a user of this worker, or
    /// a request of a user that stays at home.
    pub(super) fn start_lent<I: Io>(
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
                } else if let Some(seat) = self.transport.connections.take_seat(lane) {
                    self.begin_on(cx, seat, arrival, now);
                }
            }
            Lent::Request(lane, LentRequest { due, user_state }) => {
                if let Some(seat) = self.transport.connections.take_seat(lane) {
                    let id = self.begin_exchange(seat, home, due, now);
                    if let Some(user_state) = user_state {
                        self.exchanges.lend(id, user_state);
                    }
                    self.submit_first(cx, id, seat.share, now);
                }
            }
        }
    }

    /// Starts a request on the user's own connection.
    fn start_kept<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, request: DueRequest, now: Nanos) {
        let lane = &self.transport.connections.lanes[self.prepared.lane_of(request.request)];
        let share = lane.share_of(request.turn.user);
        let seat = Seat::new(share, self.demand.population.free_since());
        self.start_apart(cx, seat, request, now);
    }

    /// Gives a free seat to a waiting request of the lane, or to a waiting arrival if users admit
    /// one; `false` if no seat can be given.
    #[cold]
    fn start_waiting<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        admits: bool,
        now: Nanos,
    ) -> bool {
        for lane in self.demand.waiting.lanes() {
            if self.is_full(lane) {
                continue;
            }
            if let Some(request) = self.demand.waiting.pop_request(lane) {
                if let Some(seat) = self.transport.connections.take_seat(lane) {
                    self.start_apart(cx, seat, request, now);
                    return true;
                }
            } else if admits
                && let Some(arrival) = self.demand.next_wanted(lane, now)
                && let Some(seat) = self.transport.connections.take_seat(lane)
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
        // The turn is not an argument of the call, which would write it to memory first.
        if self.demand.users.has_steps() {
            return self.begin_steps_on(cx, seat, arrival, now);
        }
        let turn = self.demand.begin_iteration(arrival);
        let seat = seat.with_user(self.demand.population.free_since());
        let request = self.demand.users.only_request(turn, arrival);
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
        let turn = self.demand.begin_iteration(arrival);
        let seat = seat.with_user(self.demand.population.free_since());
        let unix_time = || cx.io.unix_time();
        match self.demand.users.first_step(turn, arrival, now, unix_time) {
            NextStep::Request(request) => self.start_apart(cx, seat, request, now),
            // A seat is taken only for iterations that begin with a request.
            next => {
                self.transport.connections.give_seat(seat);
                self.carry_on(cx, next, now);
            }
        }
    }

    /// Begins an exchange for a user, and passes it to the transport.
    #[inline(always)]
    fn start<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        seat: Seat,
        due: DueRequest,
        now: Nanos,
    ) {
        let id = self.begin_exchange(seat, self.peers.home, due, now);
        if let Some(user_state) = self.demand.lend_user_state(due.turn.user) {
            self.exchanges.lend(id, user_state);
        }
        self.submit_first(cx, id, seat.share, now);
    }

    /// [`Self::start`] for rare paths.
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

    /// The time from which a user can continue after a request that ended now, whose seat rests
    /// until `rests_until`. A user with its own connection must wait for the connection.
    #[inline]
    pub(super) const fn ready_from(&self, rests_until: Nanos, now: Nanos) -> Nanos {
        match self.affinity {
            Affinity::User => rests_until,
            Affinity::Shared => now,
        }
    }

    /// Continues the user of an ended exchange from `ready` on: in its iteration, or as a free
    /// user. The user is free since the exchange's end, which is before `now` if ends have kernel
    /// time stamps.
    #[inline]
    pub(super) fn continue_user<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        end: End,
        held: Held,
        ready: Nanos,
        now: Nanos,
    ) {
        let (user, outcome) = (held.user, end.outcome);
        if let Some(users) = self.demand.keepers() {
            let (jar, taken) = self.exchanges.user_state(end.id);
            users.take_back(user, outcome, jar, taken);
        }
        if self.demand.users.has_steps() {
            self.continue_in_steps(cx, user, outcome, ready, now);
        } else {
            let since = IdleSince::after_stop(end.now, held.owed);
            self.demand.free_user(user, ready, since);
        }
    }

    /// Continues a user whose request has ended, in an iteration of several steps.
    #[cold]
    fn continue_in_steps<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        user: UserId,
        outcome: Outcome,
        ready: Nanos,
        now: Nanos,
    ) {
        let unix_time = || cx.io.unix_time();
        let users = &mut self.demand.users;
        if let Some(next) = users.go_on(user, outcome, ready, now, unix_time) {
            self.carry_on(cx, next, now);
        }
    }

    /// Continues a user whose pause is over.
    pub(super) fn wake_user<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        user: UserId,
        generation: Generation,
        now: Nanos,
    ) {
        let unix_time = || cx.io.unix_time();
        if let Some(next) = self.demand.users.wake(user, generation, unix_time) {
            self.carry_on(cx, next, now);
        }
    }

    /// Continues the iterations whose requests other workers have ended during the sleep.
    #[cold]
    pub(crate) fn take_back<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        returned: Vec<Returned>,
        now: Nanos,
    ) {
        for returned in returned {
            let (ready, unix_time) = (returned.ready, || cx.io.unix_time());
            if let Some(next) = self.demand.take_back(returned, unix_time) {
                self.carry_on(cx, next, ready);
            }
        }
        while let Some(step) = self.demand.left_steps.pop() {
            self.carry_on(cx, step, now);
        }
    }

    /// Carries out the next step of an iteration of several steps.
    #[cold]
    fn carry_on<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, next: NextStep, now: Nanos) {
        match next {
            NextStep::Request(due) => {
                if !due.came_with_arrival && due.intended >= self.lifecycle.measure_from {
                    cx.recorder.figures(self.id).record_intended(1);
                }
                if self.affinity == Affinity::User {
                    return self.start_kept(cx, due, now);
                }
                let lane = self.prepared.lane_of(due.request);
                self.demand.waiting.push_request(lane, due);
            }
            NextStep::Pause {
                user,
                generation,
                until,
            } => self.timers.insert(until, Wake::User(user, generation)),
            NextStep::Over {
                user,
                sample,
                stops_user,
            } => {
                self.hang_up(cx, user);
                if let Some(prevented) = self.demand.users.take_prevented(user) {
                    self.record_prevented(cx, &prevented, sample.end);
                }
                if sample.intended >= self.lifecycle.measure_from {
                    let figures = cx.recorder.figures(self.id);
                    figures.record_iteration(&sample);
                }
                if stops_user {
                    self.demand.retire_user(user);
                } else {
                    self.demand.free_user(user, sample.end, IdleSince::at(now));
                }
            }
        }
    }

    /// Closes the WebSockets of a user whose iteration is over.
    fn hang_up<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, user: UserId) {
        for index in 0..self.prepared.socket_lanes.len() {
            let lane = self.prepared.socket_lanes[index];
            let share = self.transport.connections.lanes[lane].share_of(user);
            self.transmit(cx, |transport, cx| transport.hang_up(cx, share));
        }
    }

    /// Records a request that its iteration, which ended at `at`, has not reached.
    #[cold]
    fn record_prevented<I: Io>(
        &self,
        cx: &mut PoolContext<'_, I>,
        prevented: &Prevented,
        at: Nanos,
    ) {
        let request = &self.prepared.requests[prevented.request as usize];
        let sample = prevented.sample(request.step, at);
        if at >= self.lifecycle.measure_from {
            cx.recorder.figures(self.id).record_intended(1);
        }
        let particulars = || (prevented.particulars(at), None);
        cx.recorder.record(self.id, &sample, particulars);
        cx.recorder
            .detail(self.id, &sample, None, &prevented.reason.words);
    }

    /// Reuses the seat of an ended exchange: at once, or after its rest. If users have their own
    /// connections, a ready user begins its next iteration. The seat is free since the exchange's
    /// end.
    #[inline]
    pub(super) fn reuse_seat<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        end: End,
        held: Held,
        rests_until: Nanos,
        now: Nanos,
    ) {
        let share = held.share;
        if self.affinity == Affinity::User {
            if !self.peers.sees_offers() && self.demand.population.admits(now) {
                self.begin_without_seat(cx, now);
            }
            return;
        }
        if rests_until > now {
            self.transport.connections.rest_seat(share, rests_until);
            return self.timers.insert(rests_until, Wake::Seat(share));
        }
        let since = IdleSince::after_stop(end.now, held.owed);
        self.free_seat(cx, Seat::new(share, since), now);
    }

    /// Frees a seat, or gives it at once to a waiting request or to the next arrival. In the open
    /// model an arrival gets it only if no other seat is free, so that connections take turns.
    #[inline]
    fn free_seat<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, seat: Seat, now: Nanos) {
        if self.multiplexes && !self.transport.connections.keeps_seat(seat.share) {
            return;
        }
        if self.demand.waiting.has_requests() {
            return self.free_for_request(cx, seat, now);
        }
        // Other workers may have left older work; the next turn checks.
        let sees_offers = self.peers.sees_offers();
        let connections = &self.transport.connections;
        let is_last = || connections.lanes[connections.lane_of(seat.share)].is_full();
        let reuses = self.demand.waiting.has_one_lane()
            && self.demand.needs_seat()
            && (!self.demand.arrivals.is_open() || is_last());
        let next = if reuses && !sees_offers && self.demand.population.admits(now) {
            self.demand.take_arrival(now)
        } else {
            None
        };
        match next {
            Some(arrival) => self.begin_on(cx, seat, arrival, now),
            None => self.transport.connections.give_seat(seat),
        }
    }

    /// Gives a seat to a request that waits in its lane; without one, frees it for requests of
    /// other lanes.
    #[cold]
    fn free_for_request<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, seat: Seat, now: Nanos) {
        let lane = self.transport.connections.lane_of(seat.share);
        match self.demand.waiting.pop_request(lane) {
            Some(request) => self.start_apart(cx, seat, request, now),
            None => {
                self.transport.connections.give_seat(seat);
                self.start_waiting(cx, false, now);
            }
        }
    }
}
