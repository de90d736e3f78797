//! The demand of a worker's part of a pool: arrivals, the users that make requests, and the
//! arrivals and requests that wait for a connection.
//!
//! A worker holds its demand while it is awake. If it sleeps while something is due and it has no
//! room, it leaves the demand in the pool's [`crate::handover`], and a worker with room calls
//! [`Demand::lend`]. `lend` returns an arrival, which the helper begins with a user of the helper,
//! or a request of a user that stays here and whose end comes back as a [`Returned`].
//!
//! The demand keeps four independent parts consistent: [`Arrivals`] decide when something is due,
//! [`Population`] which user may begin it, [`Users`] which request a user makes next, and
//! [`Waiting`] holds the requests and arrivals that have no seat yet. Users of the closed model
//! produce the arrivals; arrivals of the open model need a free user. A pool uses a part directly
//! if it needs only one part; the methods here join several:
//!
//! ```text
//!   admits ─► take_arrival ─► begin_iteration ─┬─► free_user      it may begin again
//!                                              └─► retire_user    for good
//! ```
//!
//! In the open model, call `take_arrival` only while [`Population::admits`] is true. Each arrival
//! that was taken must be begun, here or by another worker, or wait for a seat. A lent request
//! keeps its user busy here until the matching [`Demand::take_back`]; until then
//! [`Demand::is_under_way`] is true, so that the pool's drain waits for it.
//!
//! [`Demand::stop`] is called once when the load ends, after the last `take_arrival`, and counts
//! everything that was due and has not begun. [`Demand::finish`] is called once at the end of the
//! drain. Together they account for each intended request: it is sent, dropped, unsent or in
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
    /// The users' states: free or busy.
    pub(crate) population: Population,
    /// The users' iterations.
    pub(crate) users: Users,
    /// The requests and arrivals that have no seat yet.
    pub(crate) waiting: Waiting,
    affinity: Affinity,
    /// Requests of its users that other workers carry out.
    lent: u32,
    /// Steps other than a request that resulted when a helper expected a request (the user failed
    /// before its first one). The helper cannot carry them out; the home worker does after it holds
    /// its demand again.
    pub(crate) left_steps: Vec<NextStep>,
}

/// One thing that a worker does for another.
#[derive(Debug)]
pub(crate) enum Lent {
    /// An arrival, whose first request takes a seat of the lane.
    Arrival(LaneId, Arrival),
    /// A request of a user that stays with the home worker, which receives the request's end.
    Request(LaneId, LentRequest),
}

/// A request of another worker's user.
#[derive(Debug)]
pub(crate) struct LentRequest {
    pub(crate) due: DueRequest,
    /// The state of the user; `None` if users keep no state.
    pub(crate) user_state: Option<UserState>,
}

/// The end of a request that another worker has carried out, with everything that the user needs to
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

/// A worker's room for the demands of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// The lanes with free seats, always including [`LaneSet::UNSEATED`].
    seats: LaneSet,
    /// Whether a user may begin an iteration.
    users: bool,
}

/// The due requests and arrivals that a demand offers to others, and the due time of the first.
/// Published separately from the demand, so that a worker sees whether a hand-over is worth taking
/// the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorkOffer {
    /// Lanes of requests whose users stay at home: they need only a seat.
    requests: LaneSet,
    /// Lanes of arrivals of the open model, which also need a user.
    arrivals: LaneSet,
    /// The due time of the first request or arrival.
    pub(crate) due: Nanos,
}

impl Room {
    /// No room: no offer is suited.
    pub(crate) const NONE: Self = Self {
        seats: LaneSet::NONE,
        users: false,
    };
    /// The bit of [`Self::bits`] that is set if a user may begin an iteration.
    const USERS: u64 = 1 << 32;

    /// Room on the free seats of these lanes; `users`: whether a user may begin an iteration.
    pub(crate) fn new(lanes: impl Iterator<Item = LaneId>, users: bool) -> Self {
        Self {
            seats: lanes.fold(LaneSet::UNSEATED, LaneSet::with),
            users,
        }
    }

    /// The room as the lower 33 bits of a number, to be published in one atomic store.
    pub(crate) fn bits(self) -> u64 {
        let users = if self.users { Self::USERS } else { 0 };
        users | u64::from(self.seats.0)
    }

    /// The room from such a number; the upper bits are ignored.
    pub(crate) const fn of_bits(bits: u64) -> Self {
        Self {
            seats: LaneSet(bits as u32),
            users: bits & Self::USERS != 0,
        }
    }

    /// Whether there is room for a part of an offer.
    pub(crate) const fn suits(self, offer: WorkOffer) -> bool {
        self.seats.meets(offer.requests) || self.users && self.seats.meets(offer.arrivals)
    }
}

impl WorkOffer {
    /// An offer of nothing.
    pub(crate) const NONE: Self = Self {
        requests: LaneSet::NONE,
        arrivals: LaneSet::NONE,
        due: Nanos::MAX,
    };

    /// Whether the offer has anything that is due now.
    pub(crate) fn is_due(self, now: Nanos) -> bool {
        let is_any = self.requests != LaneSet::NONE || self.arrivals != LaneSet::NONE;
        is_any && self.due <= now
    }

    /// The lanes as one number, to be published: requests in the lower half, arrivals in the upper
    /// half.
    pub(crate) fn lanes(self) -> u64 {
        u64::from(self.arrivals.0) << 32 | u64::from(self.requests.0)
    }

    /// The offer with these published lanes, whose first part is due at `due`.
    pub(crate) const fn new(lanes: u64, due: Nanos) -> Self {
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

    /// Whether an iteration, or a request lent to another worker, has begun and not ended.
    pub(crate) fn is_under_way(&self) -> bool {
        let iterations = self.users.iterations.as_ref();
        self.lent > 0 || iterations.is_some_and(Iterations::has_open)
    }

    /// Whether nothing further will begin.
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

    /// Begins an iteration for an arrival, with the arrival's user or any free user.
    #[inline(always)]
    pub(crate) fn begin_iteration(&mut self, arrival: Arrival) -> Turn {
        let user = self.population.occupy_user(arrival.user, arrival.ready);
        self.users.begin_turn(user, arrival)
    }

    /// Frees a user that was busy until `ready`; it may begin another iteration from then on.
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

    /// Retires a busy user: it begins no further iteration.
    #[cold]
    pub(crate) fn retire_user(&mut self, user: UserId) {
        self.population.retire_user();
        self.arrivals.forget(user);
    }

    /// Records the arrivals that became due or were dropped before `end`, since the last call. If
    /// an iteration begins with a request, that request is intended when the iteration becomes due;
    /// a later request is intended only when the user reaches it.
    pub(crate) fn tally(&mut self, end: Nanos, figures: &mut Figures) {
        let tally = self.arrivals.tally(end);
        tally.record_iterations(figures);
        if self.users.begins_with_request() {
            tally.record_requests(figures);
        }
    }

    /// Stops all further beginnings, and records everything that was due until now and has not
    /// begun.
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

    /// Whether another worker may begin an arrival of these users. `false` if users have their own
    /// connections and come with the arrival: those connections belong to this worker.
    fn has_movable_arrivals(&self) -> bool {
        self.arrivals.is_open() || self.affinity == Affinity::Shared
    }

    /// The part that others could do. Arrivals are offered only if this worker cannot begin them
    /// now.
    pub(crate) fn offer(&self, is_blocked: bool) -> WorkOffer {
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
            true => WorkOffer {
                requests,
                arrivals,
                due,
            },
            // Users of the closed model stay at home.
            false => WorkOffer {
                requests: requests.and(arrivals),
                arrivals: LaneSet::NONE,
                due,
            },
        }
    }

    /// Whether an arrival takes a seat of its lane when it begins.
    pub(crate) fn needs_seat(&self) -> bool {
        self.affinity == Affinity::Shared && self.users.begins_with_request()
    }

    /// Lends the first due thing that a helper with these seats can do; an arrival of the open
    /// model only if the helper `admits` a user for it. Requests come before arrivals, because
    /// their users have waited in the middle of an iteration.
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

    /// Takes back a lent request that has ended, and returns the step that continues its user's
    /// iteration. If the request was the whole iteration, the user is freed.
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

/// The state of users, which is lent to their requests.
impl Demand {
    /// Lends the state of a user to its request; `None` if users keep none.
    #[inline]
    pub(crate) fn lend_user_state(&mut self, user: UserId) -> Option<UserState> {
        match self.users.keep_state {
            true => Some(self.users.lend(user)),
            false => None,
        }
    }

    /// The users, to return a user's state to; `None` if users keep no state.
    #[inline]
    pub(crate) fn keepers(&mut self) -> Option<&mut Users> {
        Some(&mut self.users).filter(|users| users.keep_state)
    }
}
