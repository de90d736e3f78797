//! The demand of a worker's part of a pool: arrivals, the users that make requests, and what of
//! both waits for a connection.
//!
//! A worker holds its demand while it is awake. Where it sleeps with something due and no room, it
//! leaves the demand in the pool's [`crate::handover`], and a worker with room calls
//! [`Demand::lend`]: that gives an arrival, which the helper begins with a user of its own, or a
//! request of a user that stays here, which comes back as a [`Returned`].
//!
//! It keeps four parts in step, none of which knows the others: [`Arrivals`] says when something is
//! due, [`Population`] which users are free, [`Users`] which request a user makes next, [`Waiting`]
//! what has no seat yet. A turn goes [`Demand::carry_out`], then [`Demand::take`] and
//! [`Demand::begin`] for each arrival with room. Each user that was begun comes to exactly one
//! [`Demand::free_user`] or [`Demand::retire_user`]. A request that was lent keeps its user busy
//! here, and comes to one [`Demand::take_back`]; until then [`Demand::is_under_way`] holds, so that
//! the pool's drain waits for it.
//!
//! [`Demand::stop`] is called once when the load ends, and counts everything that was due and has
//! not begun; [`Demand::finish`] once at the end of the drain. Together they make the books
//! balance: each intended request is sent, dropped, unsent or in flight.

use crate::arrivals::{Arrival, Arrivals};
use crate::control::Orders;
use crate::freed::Freed;
use crate::id::{LaneId, LaneSet, UserId};
use crate::population::Population;
use crate::prepare::Request;
use crate::unsent::Unsent;
use crate::users::{Belongings, DueRequest, Iterations, NextStep, Turn, Users};
use crate::waiting::Waiting;
use drumfire_cookies::Jar;
use drumfire_measure::{Figures, Outcome};
use drumfire_plan::{Affinity, Taken};
use drumfire_units::Nanos;

/// A worker's part of a pool's demand.
#[derive(Debug)]
pub(crate) struct Demand {
    pub(crate) arrivals: Arrivals,
    pub(crate) population: Population,
    pub(crate) users: Users,
    pub(crate) waiting: Waiting,
    affinity: Affinity,
    /// Requests of its users that other workers carry out.
    lent: u32,
    /// Steps that followed where a helper expected a request (a user that failed before its first
    /// one). The helper has no place to carry them out; the home worker does when it holds its
    /// demand again.
    steps: Vec<NextStep>,
}

/// One thing that a worker does for another.
#[derive(Debug)]
pub(crate) enum Lent {
    /// An arrival, whose first request takes a seat of the lane.
    Arrival(LaneId, Arrival),
    /// A request of a user that stays with the other worker, to which its end goes back.
    Request(LaneId, LentRequest),
}

/// A request of another worker's user.
#[derive(Debug)]
pub(crate) struct LentRequest {
    pub(crate) due: DueRequest,
    pub(crate) belongings: Belongings,
}

/// The end of a request that another worker has carried out, with what its user needs to go on at
/// home.
#[derive(Debug)]
pub(crate) struct Returned {
    pub(crate) user: UserId,
    pub(crate) outcome: Outcome,
    pub(crate) jar: Option<Box<Jar>>,
    pub(crate) taken: Option<Taken>,
    /// The time from which the user is ready to go on.
    pub(crate) ready: Nanos,
}

/// The room that a worker has for what others leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// The lanes with free seats; always with [`LaneSet::UNSEATED`].
    pub(crate) seats: LaneSet,
    /// Whether a user may begin an iteration.
    pub(crate) users: bool,
}

/// The due requests and arrivals that a demand has for others, and the due time of the first. It is
/// published without the demand, so that a worker sees whether a handover is worth its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Requests of users that stay at home: a seat is all that they need.
    pub(crate) requests: LaneSet,
    /// Arrivals of the open model, which need a user, too.
    pub(crate) arrivals: LaneSet,
    pub(crate) due: Nanos,
}

impl Room {
    /// A worker without room, to which no offer is suited.
    pub(crate) const NONE: Self = Self {
        seats: LaneSet::NONE,
        users: false,
    };

    /// Whether there is room for something of an offer.
    pub(crate) const fn suits(self, offer: Offer) -> bool {
        self.seats.meets(offer.requests) || self.users && self.seats.meets(offer.arrivals)
    }
}

impl Offer {
    /// A demand that leaves nothing to others.
    pub(crate) const NONE: Self = Self {
        requests: LaneSet::NONE,
        arrivals: LaneSet::NONE,
        due: Nanos::MAX,
    };

    /// Whether there is anything.
    pub(crate) fn is_any(self) -> bool {
        self.requests != LaneSet::NONE || self.arrivals != LaneSet::NONE
    }
}

impl Demand {
    pub(crate) const fn new(
        arrivals: Arrivals,
        population: Population,
        users: Users,
        waiting: Waiting,
        affinity: Affinity,
    ) -> Self {
        Self {
            arrivals,
            population,
            users,
            waiting,
            affinity,
            lent: 0,
            steps: Vec::new(),
        }
    }

    /// Whether anything of it has begun and not ended: an iteration, or a request elsewhere.
    pub(crate) fn is_under_way(&self) -> bool {
        let iterations = self.users.iterations();
        self.lent > 0 || iterations.is_some_and(Iterations::has_open)
    }

    /// Whether nothing of it will begin any more.
    pub(crate) fn is_over(&self, now: Nanos) -> bool {
        self.arrivals.is_over(now, &self.population) && self.waiting.arrivals() == 0
    }

    /// Applies the orders that are due to the arrivals, and to the users whose number they change.
    #[inline]
    pub(crate) fn carry_out(&mut self, orders: &mut Orders, now: Nanos) {
        orders.carry_out(&mut self.arrivals, &self.population, now);
    }

    /// The time at which the load has to be looked at for its end.
    pub(crate) fn next_end(&self, now: Nanos) -> Nanos {
        self.arrivals.next_end(now, &self.population)
    }

    /// The time until which the load was asked for or has lasted.
    pub(crate) fn used_time(&self, now: Nanos) -> Nanos {
        self.arrivals.used_time(now, &self.population)
    }

    /// Takes the next arrival that may begin now, with its user in the closed model.
    #[inline(always)]
    pub(crate) fn take(&mut self, now: Nanos) -> Option<Arrival> {
        self.arrivals.take(now, &mut self.population)
    }

    /// Begins an iteration for an arrival.
    #[inline(always)]
    pub(crate) fn begin(&mut self, arrival: Arrival) -> Turn {
        let user = self.population.begin(arrival.user, arrival.ready);
        self.users.begin(user, arrival)
    }

    /// Frees a user, which may begin another iteration from `ready` on.
    #[inline(always)]
    pub(crate) fn free_user(&mut self, user: UserId, ready: Nanos, since: Freed) {
        let is_open = self.arrivals.is_open();
        self.population.end(user, since, is_open);
        if !is_open {
            let next = self.users.next_begin(user, ready);
            self.arrivals.ended(user, ready, next, &mut self.population);
        }
    }

    /// Retires a user, which begins no other iteration.
    #[cold]
    pub(crate) fn retire_user(&mut self, user: UserId) {
        self.population.retire();
        self.arrivals.forget(user);
    }

    /// Records what became due and what was dropped before a time, since the last call. An
    /// iteration that begins with a request makes that request intended by becoming due; any later
    /// request is intended only when it is reached.
    pub(crate) fn tally(&mut self, end: Nanos, figures: &mut Figures) {
        let tally = self.arrivals.tally(end);
        figures.record_warmup_due(tally.early);
        figures.record_iterations_intended(tally.intended);
        figures.record_iterations_dropped(tally.dropped);
        if self.users.begins_with_request() {
            figures.record_intended(tally.intended);
            figures.record_dropped(tally.dropped);
        }
    }

    /// Lets nothing more begin, and records all that was due until now and has not begun.
    pub(crate) fn stop(
        &mut self,
        now: Nanos,
        requests: &[Request],
        measure_from: Nanos,
        figures: &mut Figures,
    ) {
        self.arrivals.stop(now);
        let stopped_at = self.used_time(now);
        let mut unsent = Unsent::new(&self.users, requests, measure_from, figures);
        for arrival in self.waiting.drain_arrivals() {
            unsent.arrival(arrival, stopped_at);
        }
        let record = |last, count| unsent.arrivals(last, count, stopped_at);
        self.arrivals.pending(self.users.round(), record);
    }

    /// Records the iterations that have not ended, and their requests that have no seat.
    pub(crate) fn finish(
        &self,
        now: Nanos,
        requests: &[Request],
        measure_from: Nanos,
        figures: &mut Figures,
    ) {
        let mut unsent = Unsent::new(&self.users, requests, measure_from, figures);
        unsent.iterations(self.waiting.requests(), now);
    }

    /// Whether another worker may begin an arrival of these users. Not where users have connections
    /// of their own and come with the arrival: those connections are with this worker.
    fn has_movable_arrivals(&self) -> bool {
        self.arrivals.is_open() || self.affinity == Affinity::Shared
    }

    /// The part of it that others could do; its arrivals only where none can be begun here now.
    pub(crate) fn offer(&self, is_blocked: bool) -> Offer {
        let (requests, request) = self.waiting.requests_by_lane();
        let (mut arrivals, mut arrival) = self.waiting.arrivals_by_lane();
        if is_blocked && self.has_movable_arrivals() {
            let lanes = match self.needs_seat() {
                true => LaneSet::NONE.with(LaneId(0)),
                false => LaneSet::UNSEATED,
            };
            arrivals = arrivals.and(lanes);
            arrival = arrival.min(self.arrivals.next_due());
        }
        let due = request.min(arrival);
        match self.arrivals.is_open() {
            true => Offer {
                requests,
                arrivals,
                due,
            },
            // Users of the closed model stay at home.
            false => Offer {
                requests: requests.and(arrivals),
                arrivals: LaneSet::NONE,
                due,
            },
        }
    }

    /// Whether an arrival takes a seat of its lane as it begins.
    pub(crate) fn needs_seat(&self) -> bool {
        self.affinity == Affinity::Shared && self.users.begins_with_request()
    }

    /// Gives the first thing that is due and that a helper can do which has such seats, and a user
    /// for an arrival where it `admits` one. Requests come before arrivals: their users have waited
    /// in the middle of an iteration.
    pub(crate) fn lend(
        &mut self,
        now: Nanos,
        admits: bool,
        has_seat: impl Fn(LaneId) -> bool,
        unix_time: impl Fn() -> u64,
    ) -> Option<Lent> {
        for lane in self.waiting.lanes().filter(|lane| has_seat(*lane)) {
            if let Some(request) = self.waiting.pop_request(lane) {
                return Some(self.lend_request(lane, request));
            }
        }
        if !self.has_movable_arrivals() || self.arrivals.is_open() && !admits {
            return None;
        }
        for lane in self.waiting.lanes().filter(|lane| has_seat(*lane)) {
            while let Some(arrival) = self.waiting.pop_arrival(lane) {
                if self.arrivals.still_wanted(arrival, now) {
                    return self.lend_arrival(lane, arrival, now, unix_time);
                }
            }
        }
        if self.needs_seat() && !(self.waiting.has_one_lane() && has_seat(LaneId(0))) {
            return None;
        }
        let arrival = self.take(now)?;
        self.lend_arrival(LaneId(0), arrival, now, unix_time)
    }

    /// Lends an arrival, or the request that its own user begins with.
    fn lend_arrival(
        &mut self,
        lane: LaneId,
        arrival: Arrival,
        now: Nanos,
        unix_time: impl Fn() -> u64,
    ) -> Option<Lent> {
        if self.arrivals.is_open() {
            return Some(Lent::Arrival(lane, arrival));
        }
        let turn = self.begin(arrival);
        match self.users.first_step(turn, arrival, now, unix_time) {
            NextStep::Request(request) => Some(self.lend_request(lane, request)),
            // It has failed before its first request.
            step => {
                self.steps.push(step);
                None
            }
        }
    }

    /// Lends a request with the belongings (cookies and values) of its user, where users have any.
    fn lend_request(&mut self, lane: LaneId, request: DueRequest) -> Lent {
        self.lent += 1;
        let belongings = match self.users.keep_belongings() {
            true => self.users.lend(request.turn.user),
            false => Belongings::default(),
        };
        Lent::Request(
            lane,
            LentRequest {
                due: request,
                belongings,
            },
        )
    }

    /// Whether a step followed while this demand was away from its worker.
    pub(crate) const fn has_steps(&self) -> bool {
        !self.steps.is_empty()
    }

    /// The next step that followed while this demand was away from its worker.
    pub(crate) fn next_step(&mut self) -> Option<NextStep> {
        self.steps.pop()
    }

    /// Notes that a lent request has come back.
    pub(crate) const fn take_back(&mut self) {
        self.lent -= 1;
    }
}
