//! The demand of a worker's part of a pool: arrivals, the users that make requests, and the
//! arrivals and requests that wait for a connection.
//!
//! A worker holds its demand while it is awake. If it sleeps with something due and no room, it
//! leaves the demand in the pool's [`crate::handover`], and a worker with room calls
//! [`Demand::lend`]: that returns an arrival, which the helper begins with one of its own users, or
//! a request of a user that stays here, which comes back as a [`Returned`].
//!
//! The demand keeps four parts in step, none of which knows the others: [`Arrivals`] decide when
//! something is due, [`Population`] which user may begin it, [`Users`] which request a user makes
//! next, and [`Waiting`] holds the requests and arrivals that have no seat yet. Users of the closed
//! model make the arrivals; arrivals of the open model need a free user. A pool uses the parts
//! directly if it needs only one; the methods here join several:
//!
//! ```text
//!   admits ─► take_arrival ─► begin_iteration ─┬─► free_user      it may begin again
//!                                              └─► retire_user    for good
//! ```
//!
//! In the open model `take_arrival` is called only while [`Population::admits`] holds. Each arrival
//! that was taken is begun, here or by another worker, or waits for a seat. A request that was lent
//! keeps its user busy here until its one [`Demand::take_back`]; until then
//! [`Demand::is_under_way`] holds, so that the pool's drain waits for it.
//!
//! [`Demand::stop`] is called once when the load ends, after the last `take_arrival`, and counts
//! everything that was due and has not begun; [`Demand::finish`] once at the end of the drain.
//! Together they make the books balance: each intended request is sent, dropped, unsent or in
//! flight.

use crate::arrivals::{Arrival, Arrivals};
use crate::id::{LaneId, LaneSet, UserId};
use crate::idle_since::IdleSince;
use crate::population::Population;
use crate::prepare::Request;
use crate::unsent::Unsent;
use crate::users::{DueRequest, Iterations, NextStep, Turn, UserState, Users};
use crate::waiting::Waiting;
use drumfire_cookies::Jar;
use drumfire_measure::{Figures, Outcome};
use drumfire_plan::{Affinity, Taken};
use drumfire_units::Nanos;

/// A worker's part of a pool's demand.
#[derive(Debug)]
pub(crate) struct Demand {
    /// The times at which iterations begin.
    pub(crate) arrivals: Arrivals,
    /// Its users, as far as they are free or busy.
    pub(crate) population: Population,
    /// Its users, at their iterations.
    pub(crate) users: Users,
    /// The requests and arrivals that have no seat yet.
    pub(crate) waiting: Waiting,
    affinity: Affinity,
    /// Requests of its users that other workers carry out.
    lent: u32,
    /// Steps that followed when a helper expected a request (of a user that failed before its first
    /// one). The helper can't carry them out; the home worker does when it holds its demand again.
    pub(crate) left_steps: Vec<NextStep>,
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
    /// The state of its user; `None` if users have none.
    pub(crate) user_state: Option<UserState>,
}

/// The end of a request that another worker has carried out, with everything that its user needs to
/// continue at home.
#[derive(Debug)]
pub(crate) struct Returned {
    pub(crate) user: UserId,
    pub(crate) outcome: Outcome,
    /// The user's cookies.
    pub(crate) jar: Option<Box<Jar>>,
    /// The values that were taken from the response.
    pub(crate) taken: Option<Taken>,
    /// The time from which the user is ready to continue.
    pub(crate) ready: Nanos,
}

/// The room that a worker has for the demands that others leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// The lanes with free seats, always including [`LaneSet::UNSEATED`].
    seats: LaneSet,
    /// Whether a user may begin an iteration.
    users: bool,
}

/// The due requests and arrivals that a demand has for others, and the due time of the first.
/// Published without the demand, so that a worker sees whether a hand-over is worth its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Requests of users that stay at home: a seat is all that they need.
    requests: LaneSet,
    /// Arrivals of the open model, which need a user, too.
    arrivals: LaneSet,
    /// The due time of the first of it.
    pub(crate) due: Nanos,
}

impl Room {
    /// A worker without room, to which no offer is suited.
    pub(crate) const NONE: Self = Self {
        seats: LaneSet::NONE,
        users: false,
    };
    /// The bit of [`Self::bits`] that is set if a user may begin an iteration.
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
            arrivals,
            population,
            users,
            waiting,
            affinity,
            lent: 0,
            left_steps: Vec::new(),
        }
    }

    /// Whether anything has begun and not ended: an iteration, or a request elsewhere.
    pub(crate) fn is_under_way(&self) -> bool {
        let iterations = self.users.iterations.as_ref();
        self.lent > 0 || iterations.is_some_and(Iterations::has_open)
    }

    /// Whether nothing will begin any more.
    pub(crate) fn is_over(&self, now: Nanos) -> bool {
        self.arrivals.is_over(now, &self.population) && self.waiting.arrivals() == 0
    }

    /// Whether no further arrival will come, as far as is known now.
    #[inline]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.arrivals.is_exhausted(&self.population)
    }

    /// Takes the next arrival that may begin now, with its user in the closed model.
    #[inline(always)]
    pub(crate) fn take_arrival(&mut self, now: Nanos) -> Option<Arrival> {
        self.arrivals.take_due(now, &mut self.population)
    }

    /// Takes the arrival that has waited longest for a seat of a lane and is still wanted.
    pub(crate) fn next_wanted(&mut self, lane: LaneId, now: Nanos) -> Option<Arrival> {
        while let Some(arrival) = self.waiting.pop_arrival(lane) {
            if self.arrivals.still_wanted(arrival, now) {
                return Some(arrival);
            }
        }
        None
    }

    /// Begins an iteration for an arrival: with the user that it names, or any that is free.
    #[inline(always)]
    pub(crate) fn begin_iteration(&mut self, arrival: Arrival) -> Turn {
        let user = self.population.occupy_user(arrival.user, arrival.ready);
        self.users.begin_turn(user, arrival)
    }

    /// Frees a user, which was busy until `ready` and may begin another iteration from then on.
    #[inline(always)]
    pub(crate) fn free_user(&mut self, user: UserId, ready: Nanos, since: IdleSince) {
        let is_open = self.arrivals.is_open();
        self.population.release_user(user, since, is_open);
        if !is_open {
            let next_begin = self.users.next_begin(user, ready);
            let population = &mut self.population;
            self.arrivals.ended(user, ready, next_begin, population);
        }
    }

    /// Retires a user that was busy: it begins no other iteration.
    #[cold]
    pub(crate) fn retire_user(&mut self, user: UserId) {
        self.population.retire_user();
        self.arrivals.forget(user);
    }

    /// Records the arrivals that became due or were dropped before a time, since the last call. An
    /// iteration that begins with a request makes that request intended by becoming due; any later
    /// request is intended only when it is reached.
    pub(crate) fn tally(&mut self, end: Nanos, figures: &mut Figures) {
        let tally = self.arrivals.tally(end);
        tally.record_iterations(figures);
        if self.users.begins_with_request() {
            tally.record_requests(figures);
        }
    }

    /// Lets nothing more begin, and records everything that was due until now and has not begun.
    pub(crate) fn stop(
        &mut self,
        now: Nanos,
        requests: &[Request],
        measure_from: Nanos,
        figures: &mut Figures,
    ) {
        self.arrivals.stop(now);
        let stopped_at = self.arrivals.used_time(now, &self.population);
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

    /// Whether another worker may begin an arrival of these users. Not if users have connections of
    /// their own and come with the arrival: those connections belong to this worker.
    fn has_movable_arrivals(&self) -> bool {
        self.arrivals.is_open() || self.affinity == Affinity::Shared
    }

    /// The part that others could do; arrivals only if none can be begun here now.
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

    /// Lends the first thing that is due and that a helper with these seats can do; an arrival of the
    /// open model only if the helper `admits` a user for it. Requests come before arrivals: their
    /// users have waited in the middle of an iteration.
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
        let mut with_seats = self.waiting.lanes().filter(|lane| has_seat(*lane));
        let waiting = with_seats.find_map(|lane| Some((lane, self.next_wanted(lane, now)?)));
        let takes_next = !self.needs_seat() || self.waiting.has_one_lane() && has_seat(LaneId(0));
        let (lane, arrival) = match waiting {
            Some(waiting) => waiting,
            None if takes_next => (LaneId(0), self.take_arrival(now)?),
            None => return None,
        };
        if self.arrivals.is_open() {
            return Some(Lent::Arrival(lane, arrival));
        }
        // In the closed model the arrival has its own user, who begins with a request.
        let turn = self.begin_iteration(arrival);
        match self.users.first_step(turn, arrival, now, unix_time) {
            NextStep::Request(request) => Some(self.lend_request(lane, request)),
            // The user has failed before its first request.
            step => {
                self.left_steps.push(step);
                None
            }
        }
    }

    /// Lends a request with the state (cookies and values) of its user, if users have any.
    fn lend_request(&mut self, lane: LaneId, request: DueRequest) -> Lent {
        self.lent += 1;
        let user_state = self.lend_user_state(request.turn.user);
        Lent::Request(
            lane,
            LentRequest {
                due: request,
                user_state,
            },
        )
    }

    /// Takes a lent request back that has ended, and returns the step that continues its user's
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
        if self.users.keep_state {
            self.users.take_back(user, outcome, jar, taken.as_ref());
        }
        if self.users.has_steps() {
            return self.users.go_on(user, outcome, ready, ready, unix_time);
        }
        self.free_user(user, ready, IdleSince::at(ready));
        None
    }
}

/// The state of users, which their requests borrow.
impl Demand {
    /// Lends the state of a user to its request; `None` if users keep none.
    #[inline]
    pub(crate) fn lend_user_state(&mut self, user: UserId) -> Option<UserState> {
        match self.users.keep_state {
            true => Some(self.users.lend(user)),
            false => None,
        }
    }

    /// The users, to give one its state back; `None` if users keep none.
    #[inline]
    pub(crate) fn keepers(&mut self) -> Option<&mut Users> {
        Some(&mut self.users).filter(|users| users.keep_state)
    }
}
