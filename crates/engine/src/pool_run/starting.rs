//! The beginnings of a pool's iterations and of their requests.
//!
//! An arrival needs a user and a seat, the share of a connection that one exchange uses. A turn calls
//! [`PoolRun::start_next`] until it has nothing to start. What is due and finds no seat waits in the
//! demand, in the order in which it came; a seat that is freed goes to a request of an iteration
//! under way before it goes to an arrival.

use super::PoolRun;
use crate::arrivals::Arrival;
use crate::exchanges::{ExchangeHandler, Task};
use crate::handover::Member;
use crate::id::{ExchangeId, LaneId};
use crate::limits::WAITING_MAX;
use crate::pool_io::Site;
use crate::transport::{Context, Further, Seat};
use crate::users::{DueRequest, NextStep, Turn};
use drumfire_net::Io;
use drumfire_units::Nanos;

impl PoolRun {
    /// Starts one exchange, or an iteration that begins with a pause; `false` when none is due or
    /// no seat is free for it. Of what is due here and what others leave, the older goes first.
    #[inline]
    pub(crate) fn start_next<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) -> bool {
        if self.sees_offers() {
            return self.start_older(site, now);
        }
        self.start_own_next(site, now)
    }

    /// [`Self::start_next`] of this worker's own.
    pub(super) fn start_own_next<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) -> bool {
        let admits = self.demand.population.admits(now);
        if !self.demand.waiting.is_empty() && self.start_waiting(site, admits, now) {
            return true;
        }
        if !admits {
            return false;
        }
        if !self.demand.needs_seat() {
            return self.begin_without_seat(site, now);
        }
        if self.demand.waiting.has_one_lane() {
            if self.transport.seats().is_full(LaneId(0)) {
                return false;
            }
            let Some(arrival) = self.demand.take(now) else {
                return false;
            };
            let Some(seat) = self.transport.take_seat(LaneId(0)) else {
                return false;
            };
            self.begin_on(site, seat, arrival, now);
            return true;
        }
        if self.demand.waiting.arrivals() >= WAITING_MAX {
            return false;
        }
        let Some(arrival) = self.demand.take(now) else {
            return false;
        };
        let lane = self.lane_of(self.demand.users.first_request(arrival));
        match self.transport.take_seat(lane) {
            Some(seat) => self.begin_on(site, seat, arrival, now),
            None => self.demand.waiting.push_arrival(lane, arrival),
        }
        true
    }

    /// Begins an iteration that needs no free seat: on its user's own connection, or with a pause.
    /// `false` when none is due.
    pub(super) fn begin_without_seat<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) -> bool {
        let Some(arrival) = self.demand.take(now) else {
            return false;
        };
        self.begin_unseated(site, arrival, now);
        true
    }

    /// Begins an arrival's iteration that needs no free seat.
    pub(super) fn begin_unseated<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        arrival: Arrival,
        now: Nanos,
    ) {
        let turn = self.demand.begin(arrival);
        let unix_time = || site.io.unix_time();
        let next = self.demand.users.first_step(turn, arrival, now, unix_time);
        self.carry_on(site, next, now);
    }

    /// Starts a request on its user's own connection.
    pub(super) fn start_own<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        request: DueRequest,
        now: Nanos,
    ) {
        let lane = self.lane_of(request.request);
        let seat = Seat {
            share: self.transport.seats().share_of(lane, request.turn.user),
            since: self.demand.population.free_since(),
        };
        self.start_apart(site, seat, request, now);
    }

    /// Gives a free seat of its lane to a request of an iteration that waits, or to an arrival
    /// where users admit one; `false` when there is none.
    #[cold]
    pub(super) fn start_waiting<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        admits: bool,
        now: Nanos,
    ) -> bool {
        for lane in self.demand.waiting.lanes() {
            while !self.transport.seats().is_full(lane) {
                if let Some(request) = self.demand.waiting.pop_request(lane) {
                    if let Some(seat) = self.transport.take_seat(lane) {
                        self.start_apart(site, seat, request, now);
                        return true;
                    }
                } else if admits && let Some(arrival) = self.demand.waiting.pop_arrival(lane) {
                    if self.demand.arrivals.still_wanted(arrival, now)
                        && let Some(seat) = self.transport.take_seat(lane)
                    {
                        self.begin_on(site, seat, arrival, now);
                        return true;
                    }
                } else {
                    break;
                }
            }
        }
        false
    }

    /// The lane of a request of the list.
    #[inline]
    pub(super) fn lane_of(&self, request: u32) -> LaneId {
        self.prepared.requests()[request as usize].lane()
    }

    /// Begins an iteration on a seat for its first request.
    #[inline(always)]
    pub(super) fn begin_on<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        mut seat: Seat,
        arrival: Arrival,
        now: Nanos,
    ) {
        let turn = self.demand.begin(arrival);
        seat.since = seat.since.and(self.demand.population.free_since());
        if self.demand.users.has_steps() {
            return self.begin_steps_on(site, seat, turn, arrival, now);
        }
        let request = self.demand.users.only_request(turn, arrival);
        self.start(site, seat, request, now);
    }

    /// Begins an iteration with steps on a seat for its first request.
    #[cold]
    pub(super) fn begin_steps_on<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        seat: Seat,
        turn: Turn,
        arrival: Arrival,
        now: Nanos,
    ) {
        let unix_time = || site.io.unix_time();
        match self.demand.users.first_step(turn, arrival, now, unix_time) {
            NextStep::Request(request) => self.start_apart(site, seat, request, now),
            // A seat is taken only for iterations that begin with a request.
            next => {
                self.transport.seats_mut().give(seat);
                self.carry_on(site, next, now);
            }
        }
    }

    /// Begins an exchange for a user, and gives it to the transport.
    #[inline(always)]
    pub(super) fn start<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        seat: Seat,
        due: DueRequest,
        now: Nanos,
    ) {
        let id = self.begin_exchange(seat, self.home(), due, now);
        if self.demand.users.keep_belongings() {
            self.exchanges
                .lend(id, self.demand.users.lend(due.turn.user));
        }
        self.submit_first(site, id, seat, now);
    }

    /// Begins an exchange for a user of a worker.
    #[inline(always)]
    pub(super) fn begin_exchange(
        &mut self,
        seat: Seat,
        home: u32,
        due: DueRequest,
        now: Nanos,
    ) -> ExchangeId {
        let task = Task {
            request: due.request,
            number: due.number,
            turn: due.turn,
            share: seat.share,
            home,
            owed: seat.since.owed(due.intended, now),
        };
        let due_at = seat.since.due(due.intended);
        self.exchanges.start(task, due.intended, due_at, now)
    }

    /// Gives an exchange that has begun to the transport.
    #[inline(always)]
    pub(super) fn submit_first<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        id: ExchangeId,
        seat: Seat,
        now: Nanos,
    ) {
        let further = match self.multiplexes {
            true => self.further(),
            false => Further::Expected,
        };
        self.transport
            .submit(context!(self, site), id, seat.share, further, now);
    }

    /// [`Self::start`] where it is not the way of every request.
    #[cold]
    #[inline(never)]
    pub(super) fn start_apart<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        seat: Seat,
        due: DueRequest,
        now: Nanos,
    ) {
        self.start(site, seat, due, now);
    }

    /// Whether a further request may come.
    pub(super) fn further(&self) -> Further {
        let is_last = self.demand.arrivals.is_exhausted(&self.demand.population)
            && !self.demand.users.has_steps()
            && self.member.as_ref().is_none_or(Member::is_over);
        match is_last {
            true => Further::None,
            false => Further::Expected,
        }
    }
}
