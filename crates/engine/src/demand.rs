//! The demand of a worker's part of a pool: arrivals, the users that make requests, and what of
//! both waits for a connection.
//!
//! A worker holds its demand while it is awake. Where it sleeps with something due and no room, it
//! leaves the demand in the pool's [`crate::handover`], and a worker with room calls
//! [`Demand::lend`]: that gives an arrival, which the helper begins with a user of its own, or a
//! request of a user that stays here, which comes back as a [`Returned`].
//!
//! It keeps three parts in step, none of which knows the others: [`Intake`] has the arrivals that
//! are due and the users that may begin them, [`Users`] the request that a user makes next,
//! [`Waiting`] what has no seat yet. A turn goes [`Intake::carry_out`], then [`Intake::take`] and
//! [`Demand::begin`] for each arrival with room. Each user that was begun comes to exactly one
//! [`Demand::free_user`] or [`Intake::retire`]. A request that was lent keeps its user busy here,
//! and comes to one [`Demand::take_back`]; until then [`Demand::is_under_way`] holds, so that the
//! pool's drain waits for it.
//!
//! [`Demand::stop`] is called once when the load ends, and counts everything that was due and has
//! not begun; [`Demand::finish`] once at the end of the drain. Together they make the books
//! balance: each intended request is sent, dropped, unsent or in flight.

mod intake;

pub(crate) use intake::Intake;

use crate::arrivals::{Arrival, Arrivals};
use crate::freed::Freed;
use crate::id::{Generation, LaneId, LaneSet, UserId};
use crate::population::Population;
use crate::prepare::Request;
use crate::unsent::Unsent;
use crate::users::{Belongings, DueRequest, Iterations, NextStep, Prevented, Turn, Users};
use crate::waiting::Waiting;
use drumfire_cookies::Jar;
use drumfire_measure::{Figures, Outcome};
use drumfire_plan::{Affinity, Taken};
use drumfire_units::Nanos;

/// A worker's part of a pool's demand.
#[derive(Debug)]
pub(crate) struct Demand {
    intake: Intake,
    users: Users,
    waiting: Waiting,
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
    due: DueRequest,
    belongings: Option<Belongings>,
}

impl LentRequest {
    /// The request, and the belongings of its user where users have any.
    pub(crate) fn into_parts(self) -> (DueRequest, Option<Belongings>) {
        (self.due, self.belongings)
    }
}

/// The end of a request that another worker has carried out, with what its user needs to go on at
/// home.
#[derive(Debug)]
pub(crate) struct Returned {
    user: UserId,
    outcome: Outcome,
    jar: Option<Box<Jar>>,
    taken: Option<Taken>,
    ready: Nanos,
}

impl Returned {
    /// The end of a request with an outcome, for a user that is ready to go on from a time on: its
    /// cookies, and the values that were taken from the response.
    pub(crate) const fn new(
        user: UserId,
        outcome: Outcome,
        jar: Option<Box<Jar>>,
        taken: Option<Taken>,
        ready: Nanos,
    ) -> Self {
        Self {
            user,
            outcome,
            jar,
            taken,
            ready,
        }
    }

    /// The time from which the user is ready to go on.
    pub(crate) const fn ready(&self) -> Nanos {
        self.ready
    }
}

/// The room that a worker has for what others leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// The lanes with free seats; always with [`LaneSet::UNSEATED`].
    seats: LaneSet,
    /// Whether a user may begin an iteration.
    users: bool,
}

/// The due requests and arrivals that a demand has for others, and the due time of the first. It is
/// published without the demand, so that a worker sees whether a handover is worth its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Requests of users that stay at home: a seat is all that they need.
    requests: LaneSet,
    /// Arrivals of the open model, which need a user, too.
    arrivals: LaneSet,
    due: Nanos,
}

impl Room {
    /// A worker without room, to which no offer is suited.
    pub(crate) const NONE: Self = Self {
        seats: LaneSet::NONE,
        users: false,
    };
    /// The bit of [`Self::bits`] that is set where a user may begin an iteration.
    const USERS: u64 = 1 << 32;

    /// Room on the free seats of these lanes, and for users that begin iterations or not.
    pub(crate) fn of(lanes: impl Iterator<Item = LaneId>, users: bool) -> Self {
        Self {
            seats: lanes.fold(LaneSet::UNSEATED, LaneSet::with),
            users,
        }
    }

    /// The room in the lower 33 bits of a number, to be published in one step.
    pub(crate) fn bits(self) -> u64 {
        let users = if self.users { Self::USERS } else { 0 };
        users | u64::from(self.seats.0)
    }

    /// The room of such a number, whose upper bits don't matter.
    pub(crate) const fn of_bits(bits: u64) -> Self {
        Self {
            seats: LaneSet(bits as u32),
            users: bits & Self::USERS != 0,
        }
    }

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

    /// Whether there is anything that is due by now.
    pub(crate) fn is_due(self, now: Nanos) -> bool {
        let is_any = self.requests != LaneSet::NONE || self.arrivals != LaneSet::NONE;
        is_any && self.due <= now
    }

    /// The due time of the first of it.
    pub(crate) const fn due(self) -> Nanos {
        self.due
    }

    /// The lanes of it in one number, to be published: of requests in the lower half, of arrivals
    /// in the upper.
    pub(crate) fn lanes(self) -> u64 {
        u64::from(self.arrivals.0) << 32 | u64::from(self.requests.0)
    }

    /// The offer on such lanes, whose first is due at a time.
    pub(crate) const fn of(lanes: u64, due: Nanos) -> Self {
        Self {
            requests: LaneSet(lanes as u32),
            arrivals: LaneSet((lanes >> 32) as u32),
            due,
        }
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
            intake: Intake::new(arrivals, population),
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
        self.intake.is_over(now) && self.waiting.arrivals() == 0
    }

    /// The arrivals that are due, and the users that may begin them.
    #[inline]
    pub(crate) const fn intake(&self) -> &Intake {
        &self.intake
    }

    /// The same, to take arrivals.
    #[inline]
    pub(crate) const fn intake_mut(&mut self) -> &mut Intake {
        &mut self.intake
    }

    /// The requests and arrivals that have no seat yet.
    #[inline]
    pub(crate) const fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    /// The same, to add to them or to take some.
    #[inline]
    pub(crate) const fn waiting_mut(&mut self) -> &mut Waiting {
        &mut self.waiting
    }

    /// Takes the arrival that has waited longest for a seat of a lane and is still wanted.
    pub(crate) fn next_wanted(&mut self, lane: LaneId, now: Nanos) -> Option<Arrival> {
        while let Some(arrival) = self.waiting.pop_arrival(lane) {
            if self.intake.still_wants(arrival, now) {
                return Some(arrival);
            }
        }
        None
    }

    /// Begins an iteration for an arrival.
    #[inline(always)]
    pub(crate) fn begin(&mut self, arrival: Arrival) -> Turn {
        let user = self.intake.begin(arrival);
        self.users.begin(user, arrival)
    }

    /// Frees a user, which may begin another iteration from `ready` on.
    #[inline(always)]
    pub(crate) fn free_user(&mut self, user: UserId, ready: Nanos, since: Freed) {
        let next_begin = || self.users.next_begin(user, ready);
        self.intake.end(user, ready, since, next_begin);
    }

    /// Records what became due and what was dropped before a time, since the last call. An
    /// iteration that begins with a request makes that request intended by becoming due; any later
    /// request is intended only when it is reached.
    pub(crate) fn tally(&mut self, end: Nanos, figures: &mut Figures) {
        let tally = self.intake.tally(end);
        tally.record_iterations(figures);
        if self.users.begins_with_request() {
            tally.record_requests(figures);
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
        let stopped_at = self.intake.stop(now);
        let mut unsent = Unsent::new(&self.users, requests, measure_from, figures);
        for arrival in self.waiting.drain_arrivals() {
            unsent.arrival(arrival, stopped_at);
        }
        let record = |last, count| unsent.arrivals(last, count, stopped_at);
        self.intake.pending(self.users.round(), record);
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
        self.intake.is_open() || self.affinity == Affinity::Shared
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
            arrival = arrival.min(self.intake.next_due());
        }
        let due = request.min(arrival);
        match self.intake.is_open() {
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
        if !self.has_movable_arrivals() || self.intake.is_open() && !admits {
            return None;
        }
        let mut with_seats = self.waiting.lanes().filter(|lane| has_seat(*lane));
        let waiting = with_seats.find_map(|lane| Some((lane, self.next_wanted(lane, now)?)));
        let takes_next = !self.needs_seat() || self.waiting.has_one_lane() && has_seat(LaneId(0));
        let (lane, arrival) = match waiting {
            Some(waiting) => waiting,
            None if takes_next => (LaneId(0), self.intake.take(now)?),
            None => return None,
        };
        if self.intake.is_open() {
            return Some(Lent::Arrival(lane, arrival));
        }
        // In the closed model the arrival has its own user, who begins with a request.
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
        let belongings = self.lend_belongings(request.turn().user());
        Lent::Request(
            lane,
            LentRequest {
                due: request,
                belongings,
            },
        )
    }

    /// Whether a step followed while this demand was away from its worker.
    pub(crate) const fn has_left_steps(&self) -> bool {
        !self.steps.is_empty()
    }

    /// The next step that followed while this demand was away from its worker.
    pub(crate) fn next_left_step(&mut self) -> Option<NextStep> {
        self.steps.pop()
    }

    /// Takes a lent request back whose end has come, and gives the step that continues its user's
    /// iteration. A user whose iteration was that request is free.
    pub(crate) fn take_back(
        &mut self,
        returned: Returned,
        unix_time: impl Fn() -> u64,
    ) -> Option<NextStep> {
        let Returned {
            user,
            outcome,
            jar,
            taken,
            ready,
        } = returned;
        self.lent -= 1;
        if self.users.keep_belongings() {
            self.users.take_back(user, outcome, jar, taken.as_ref());
        }
        if self.users.has_steps() {
            return self.users.go_on(user, outcome, ready, ready, unix_time);
        }
        self.free_user(user, ready, Freed::at(ready));
        None
    }
}

/// The users of it, at their iterations.
impl Demand {
    /// Whether an iteration has steps, and is not one request alone.
    #[inline]
    pub(crate) const fn has_steps(&self) -> bool {
        self.users.has_steps()
    }

    /// The request that an arrival's iteration sends first.
    #[inline]
    pub(crate) fn first_request(&self, arrival: Arrival) -> u32 {
        self.users.first_request(arrival)
    }

    /// The first action of an iteration that has begun now.
    #[inline]
    pub(crate) fn first_step(
        &mut self,
        turn: Turn,
        arrival: Arrival,
        now: Nanos,
        unix_time: impl Fn() -> u64,
    ) -> NextStep {
        self.users.first_step(turn, arrival, now, unix_time)
    }

    /// The one request of an iteration without steps.
    #[inline]
    pub(crate) fn only_request(&self, turn: Turn, arrival: Arrival) -> DueRequest {
        self.users.only_request(turn, arrival)
    }

    /// Lends the belongings of a user to its request; `None` where users keep none.
    #[inline]
    pub(crate) fn lend_belongings(&mut self, user: UserId) -> Option<Belongings> {
        match self.users.keep_belongings() {
            true => Some(self.users.lend(user)),
            false => None,
        }
    }

    /// The users, to give one its belongings back where they keep any.
    #[inline]
    pub(crate) fn keepers(&mut self) -> Option<&mut Users> {
        Some(&mut self.users).filter(|users| users.keep_belongings())
    }

    /// The action that continues a user's iteration of steps whose request has ended now, for a
    /// user that is ready then or later.
    pub(crate) fn go_on(
        &mut self,
        user: UserId,
        outcome: Outcome,
        ready: Nanos,
        now: Nanos,
        unix_time: impl Fn() -> u64,
    ) -> Option<NextStep> {
        self.users.go_on(user, outcome, ready, now, unix_time)
    }

    /// The action that continues a user's iteration after a pause; `None` where the wake is stale.
    pub(crate) fn wake(
        &mut self,
        user: UserId,
        generation: Generation,
        unix_time: impl Fn() -> u64,
    ) -> Option<NextStep> {
        self.users.wake(user, generation, unix_time)
    }

    /// The request before which a user's iteration, which is over, has given up.
    pub(crate) fn take_prevented(&mut self, user: UserId) -> Option<Box<Prevented>> {
        self.users.take_prevented(user)
    }
}
