//! One pool of a worker under way: its share of the pool's load, and all parts that carry it.
//!
//! ```text
//!   arrivals ──► users ──► exchanges ◄──► transport ◄──► io
//!      ▲                       │
//!      └──────── ended ────────┴──► recorder
//! ```
//!
//! Each part owns its state, and none reaches into another: the pool moves what one gives to the
//! next. The driver and the recorder are the worker's, which lends them as a [`Site`] and calls
//! [`PoolRun::settle`] after everything that may have ended an exchange. That is the only place
//! where an exchange ends, and after it ended the only place where the next one starts at once.

use crate::arrivals::{Arrival, Arrivals};
use crate::blame::Failure;
use crate::channel::Channel;
use crate::control::Orders;
use crate::course::{Course, Finish};
use crate::exchanges::{Due, End, Exchanges, Finished, Hearing, Held, Task, Todo};
use crate::id::{ExchangeId, LaneId, PoolId, ShareId, UserId};
use crate::limits::{STARTS_PER_TURN, STREAMS_PER_TURN, WAITING_MAX};
use crate::pool_io::{PoolIo, Site};
use crate::prepare::{Lookup, PreparedPool};
use crate::recorder::Recorder;
use crate::timers::{Timers, Wake};
use crate::transport::{Context, Found, Output, Seat, Transport};
use crate::unsent::Unsent;
use crate::users::{DueRequest, Iterations, NextStep, Turn, Users};
use crate::waiting::Waiting;
use drumfire_measure::Outcome;
use drumfire_net::Io;
use drumfire_plan::{Affinity, Drain, HttpVersion};
use drumfire_units::Nanos;
use std::sync::Arc;

/// How large a worker's part of a pool is.
pub(crate) struct Extent {
    pub(crate) transport: Transport,
    pub(crate) users: Users,
    pub(crate) arrivals: Arrivals,
    pub(crate) orders: Orders,
}

/// A worker's part of one pool.
pub(crate) struct PoolRun {
    prepared: Arc<PreparedPool>,
    id: PoolId,
    orders: Orders,
    arrivals: Arrivals,
    users: Users,
    exchanges: Exchanges,
    transport: Transport,
    timers: Timers,
    lookup: Lookup,
    waiting: Waiting,
    course: Course,
    affinity: Affinity,
    /// Whether connections carry many exchanges, and one may end for want of more.
    multiplexes: bool,
    /// How many slots had not been read to the end when the turn began.
    unread: usize,
}

/// Lends the transport the parts that it needs for a call.
macro_rules! context {
    ($pool:ident, $site:ident) => {
        &mut Context {
            io: &mut $site.io,
            handler: &mut Hearing {
                exchanges: &mut $pool.exchanges,
                interval: $site.recorder.figures($pool.id),
            },
            timers: &mut $pool.timers,
        }
    };
}

impl PoolRun {
    pub(crate) fn new(prepared: &Arc<PreparedPool>, extent: Extent) -> Self {
        let pool = prepared.pool();
        let transport = extent.transport;
        let room = transport.connections.share_count() * pool.connections.streams as usize;
        let lanes = transport.connections.lanes.count();
        Self {
            id: prepared.id,
            exchanges: Exchanges::new(Arc::clone(prepared), room),
            lookup: Lookup::new(prepared),
            timers: Timers::default(),
            waiting: Waiting::new(lanes),
            course: Course::new(prepared.generator().warmup.span()),
            affinity: pool.connections.affinity,
            multiplexes: pool.http.version == HttpVersion::Http2,
            unread: 0,
            prepared: Arc::clone(prepared),
            orders: extent.orders,
            arrivals: extent.arrivals,
            users: extent.users,
            transport,
        }
    }

    /// The connections, for questions that change nothing.
    pub(crate) const fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Lets the connections do something, with the parts that they need for it.
    #[inline]
    pub(crate) fn transmit<I: Io, T>(
        &mut self,
        site: &mut Site<'_, I>,
        act: impl FnOnce(&mut Transport, &mut Context<'_, PoolIo<'_, I>, Hearing<'_>>) -> T,
    ) -> T {
        act(&mut self.transport, context!(self, site))
    }

    /// Dials shares from `next` on, `at_once` at a time; `true` when all are open or have failed.
    pub(crate) fn open_more<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        next: &mut usize,
        at_once: usize,
    ) -> bool {
        let transport = &mut self.transport;
        transport.open_more(context!(self, site), next, at_once) || self.orders.is_stopping()
    }

    /// Writes what opened connections have to say, and looks after those that take too long.
    pub(crate) fn go_on_opening<I: Io>(&mut self, site: &mut Site<'_, I>) {
        let transport = &mut self.transport;
        transport.flush(context!(self, site), Output::All);
        let now = site.io.now();
        if now >= self.transport.connections.next_deadline() {
            self.transport.handle_timeout(context!(self, site), now);
        }
    }

    /// Connections are waited for no more.
    pub(crate) fn opened(&mut self) {
        self.timers.clear();
        self.transport.connections.list_seats();
    }

    /// The run begins.
    pub(crate) fn begin(&mut self) {
        self.transport.connections.begin_run(&mut self.timers);
    }

    /// Applies what was ordered.
    #[inline]
    pub(crate) fn carry_out(&mut self, now: Nanos) {
        self.orders.carry_out(&mut self.arrivals, now);
    }

    /// Whether the load ends now.
    #[inline]
    pub(crate) fn has_to_stop(&self, now: Nanos) -> bool {
        let stops =
            self.arrivals.is_timed_out(now) || self.orders.is_stopping() || self.users.are_gone();
        stops && !self.course.is_stopped()
    }

    /// How many exchanges start at most in a turn.
    pub(crate) const fn portion(&self) -> u32 {
        if self.multiplexes {
            STREAMS_PER_TURN
        } else {
            STARTS_PER_TURN
        }
    }

    /// A turn begins: what was left unread before is read after what is ready.
    #[inline]
    pub(crate) fn begin_turn(&mut self) {
        self.unread = self.transport.agenda.unread_count();
    }

    /// How many slots had not been read to the end when the turn began.
    pub(crate) const fn unread(&self) -> usize {
        self.unread
    }

    /// Whether the turn has more to do than what is ready: input that was left, or something whose
    /// time has come.
    #[inline]
    pub(crate) fn has_more(&self, now: Nanos) -> bool {
        let timeout = self.exchanges.next_timeout();
        let timeout = timeout.min(self.transport.connections.next_deadline());
        self.unread > 0
            || self.transport.agenda.has_failed()
            || now >= timeout.min(self.timers.next())
    }

    /// The exchanges whose time is up.
    pub(crate) fn overdue(&mut self, now: Nanos) -> Vec<ExchangeId> {
        if now < self.exchanges.next_timeout() {
            return Vec::new();
        }
        self.exchanges.overdue(now)
    }

    /// Ends an exchange whose time is up.
    pub(crate) fn time_out<I: Io>(&mut self, site: &mut Site<'_, I>, id: ExchangeId, now: Nanos) {
        let cancelled = self.transport.cancel(context!(self, site), id, now);
        self.exchanges.time_out(id, cancelled, now);
    }

    /// The next wake that is due.
    #[inline]
    pub(crate) fn due(&mut self, now: Nanos) -> Option<Wake> {
        self.timers.due(now)
    }

    /// Starts one exchange, or an iteration that begins with a pause; `false` when none is due or
    /// no seat is free for it.
    pub(crate) fn start_next<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) -> bool {
        let admits = self.users.admits(now);
        if !self.waiting.is_empty() && self.start_waiting(site, admits, now) {
            return true;
        }
        if !admits {
            return false;
        }
        if self.affinity == Affinity::User || !self.users.begins_with_request() {
            return self.begin_without_seat(site, now);
        }
        if self.waiting.has_one_lane() {
            if self.transport.connections.is_full(LaneId(0)) {
                return false;
            }
            let Some(arrival) = self.arrivals.take(now) else {
                return false;
            };
            let Some(seat) = self.transport.connections.take_seat(LaneId(0)) else {
                return false;
            };
            self.begin_on(site, seat, arrival, now);
            return true;
        }
        if self.waiting.arrivals() >= WAITING_MAX {
            return false;
        }
        let Some(arrival) = self.arrivals.take(now) else {
            return false;
        };
        let lane = self.lane_of(self.users.first_request(arrival));
        match self.transport.connections.take_seat(lane) {
            Some(seat) => self.begin_on(site, seat, arrival, now),
            None => self.waiting.push_arrival(lane, arrival),
        }
        true
    }

    /// Begins an iteration that needs no free seat: on its user's own connection, or with a pause.
    /// `false` when none is due.
    fn begin_without_seat<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) -> bool {
        let Some(arrival) = self.arrivals.take(now) else {
            return false;
        };
        let turn = self.users.begin(arrival);
        let unix_time = || site.io.unix_time();
        let next = self.users.first_step(turn, arrival, now, unix_time);
        self.carry_on(site, next, now);
        true
    }

    /// Starts a request on its user's own connection.
    fn start_own<I: Io>(&mut self, site: &mut Site<'_, I>, request: DueRequest, now: Nanos) {
        let lane = self.lane_of(request.request);
        let lanes = &self.transport.connections.lanes;
        let seat = Seat {
            share: lanes.get(lane).share_of(request.turn.user),
            since: self.users.free_since(),
        };
        self.start_apart(site, seat, request, now);
    }

    /// Gives a free seat of its lane to a request of an iteration that waits, or to an arrival
    /// where users admit one; `false` when there is none.
    #[cold]
    fn start_waiting<I: Io>(&mut self, site: &mut Site<'_, I>, admits: bool, now: Nanos) -> bool {
        for lane in self.waiting.lanes() {
            while !self.transport.connections.is_full(lane) {
                if let Some(request) = self.waiting.pop_request(lane) {
                    if let Some(seat) = self.transport.connections.take_seat(lane) {
                        self.start_apart(site, seat, request, now);
                        return true;
                    }
                } else if admits && let Some(arrival) = self.waiting.pop_arrival(lane) {
                    if self.arrivals.still_wanted(arrival, now)
                        && let Some(seat) = self.transport.connections.take_seat(lane)
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
    fn lane_of(&self, request: u32) -> LaneId {
        self.prepared.requests[request as usize].lane
    }

    /// Begins an iteration on a seat for its first request.
    #[inline(always)]
    fn begin_on<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        mut seat: Seat,
        arrival: Arrival,
        now: Nanos,
    ) {
        let turn = self.users.begin(arrival);
        seat.since = seat.since.max(self.users.free_since());
        if self.users.has_steps() {
            return self.begin_steps_on(site, seat, turn, arrival, now);
        }
        let request = self.users.only_request(turn, arrival);
        self.start(site, seat, request, now);
    }

    /// The same of an iteration with steps.
    #[cold]
    fn begin_steps_on<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        seat: Seat,
        turn: Turn,
        arrival: Arrival,
        now: Nanos,
    ) {
        let unix_time = || site.io.unix_time();
        match self.users.first_step(turn, arrival, now, unix_time) {
            NextStep::Request(request) => self.start_apart(site, seat, request, now),
            // A seat is taken only for iterations that begin with a request.
            next => {
                self.transport.connections.give_seat(seat);
                self.carry_on(site, next, now);
            }
        }
    }

    /// Begins an exchange for a user, and gives it to the transport.
    #[inline(always)]
    fn start<I: Io>(&mut self, site: &mut Site<'_, I>, seat: Seat, due: DueRequest, now: Nanos) {
        let task = Task {
            request: due.request,
            number: due.number,
            turn: due.turn,
            share: seat.share,
        };
        let due_at = due.intended.max(seat.since);
        let id = self.exchanges.start(task, due.intended, due_at, now);
        if self.users.keep_belongings() {
            self.exchanges.lend(id, self.users.lend(due.turn.user));
        }
        if self.multiplexes {
            self.transport.connections.is_last = self.is_last();
        }
        self.transport
            .submit(context!(self, site), id, seat.share, now);
    }

    /// [`Self::start`] where it is not the way of every request.
    #[cold]
    #[inline(never)]
    fn start_apart<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        seat: Seat,
        due: DueRequest,
        now: Nanos,
    ) {
        self.start(site, seat, due, now);
    }

    /// Whether no further request may come.
    fn is_last(&self) -> bool {
        self.arrivals.is_exhausted() && !self.users.has_steps()
    }

    /// Does what exchanges have left to be done, until there is nothing more.
    ///
    /// # Errors
    /// When the interval must be closed first that lies before this time.
    #[inline]
    pub(crate) fn settle<I: Io>(&mut self, site: &mut Site<'_, I>) -> Result<(), Nanos> {
        if self.has_to_settle() {
            self.settle_all(site)
        } else {
            Ok(())
        }
    }

    #[inline]
    fn has_to_settle(&self) -> bool {
        self.exchanges.has_ended() || self.exchanges.has_todo()
    }

    fn settle_all<I: Io>(&mut self, site: &mut Site<'_, I>) -> Result<(), Nanos> {
        let edge = site.recorder.edge();
        loop {
            while let Some(end) = self.exchanges.next_ended(edge)? {
                self.end(site, end);
            }
            match self.exchanges.next_todo() {
                Some(todo) => self.go_on(site, todo),
                None if self.exchanges.has_ended() => {}
                None => return Ok(()),
            }
        }
    }

    /// Goes on with an exchange that is not over.
    #[cold]
    fn go_on<I: Io>(&mut self, site: &mut Site<'_, I>, todo: Todo) {
        match todo {
            Todo::Resend { id, pause, now } if pause == Nanos::ZERO => self.submit(site, id, now),
            Todo::Resend { id, pause, now } => {
                let wake = Wake::Exchange(id, self.exchanges.generation(id));
                self.timers.at(now + pause, wake);
            }
            Todo::Message { id, at } => {
                let wake = Wake::Exchange(id, self.exchanges.generation(id));
                self.timers.at(at, wake);
            }
            Todo::Follow { id, now } => match self.exchanges.follow(id) {
                Ok(()) => self.submit(site, id, now),
                Err(failure) => self.exchanges.end(id, failure, now),
            },
        }
    }

    /// Submits an exchange to the connection that it wants by now: its seat's, or one that a
    /// redirect leads to.
    fn submit<I: Io>(&mut self, site: &mut Site<'_, I>, id: ExchangeId, now: Nanos) {
        let home = self.exchanges.home(id);
        self.transport.connections.is_last = self.is_last();
        let Some(origin) = self.exchanges.heads_for(id) else {
            return self.transport.submit(context!(self, site), id, home, now);
        };
        let found = self
            .transport
            .reach(context!(self, site), id, home, &origin, &self.lookup);
        let reached = found.and_then(|found| match found {
            Found::Sought => Ok(None),
            Found::Share(share, form) => {
                self.exchanges.prepare_hop(id, form)?;
                Ok(Some(share))
            }
        });
        match reached {
            Ok(None) => {}
            Ok(Some(share)) => self.transport.submit(context!(self, site), id, share, now),
            Err(failure) => self.exchanges.end(id, failure, now),
        }
    }

    /// Goes on with the exchanges whose origins have been looked up.
    fn take_look_ups<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) {
        while let Some(answered) = self.transport.looked_up(context!(self, site), now) {
            for id in answered.exchanges {
                match &answered.failure {
                    Some(failure) => self.exchanges.end(id, failure.clone(), now),
                    None => self.submit(site, id, now),
                }
            }
        }
    }

    /// Handles a wake.
    #[cold]
    pub(crate) fn wake<I: Io>(&mut self, site: &mut Site<'_, I>, wake: Wake, now: Nanos) {
        let connections = &mut self.transport.connections;
        match wake {
            Wake::Seat(share) => {
                let since = connections.rest_of(share);
                if connections.keeps_seat(share) {
                    connections.give_seat(Seat { share, since });
                }
            }
            Wake::Dial(slot) => self.transport.wake(context!(self, site), slot, now),
            Wake::LookUps => self.take_look_ups(site, now),
            Wake::Names(lane) => connections.look_up(lane, &self.lookup, &mut self.timers, now),
            Wake::User(user, generation) => {
                let unix_time = || site.io.unix_time();
                if let Some(next) = self.users.wake(user, generation, unix_time) {
                    self.carry_on(site, next, now);
                }
            }
            Wake::Exchange(id, generation) => {
                let phase = self.transport.phase_of(id);
                match self.exchanges.due(id, generation, phase, now) {
                    Due::Nothing => {}
                    Due::Submit => self.submit(site, id, now),
                    Due::Send => self.transport.send_more(context!(self, site), id, now),
                    Due::Over(failure) => {
                        self.transport.cancel(context!(self, site), id, now);
                        self.exchanges.end(id, failure, now);
                    }
                }
            }
        }
    }

    /// Records an exchange that is over, lets its user go on, and uses its seat again.
    #[inline]
    fn end<I: Io>(&mut self, site: &mut Site<'_, I>, end: End) {
        let End {
            id,
            now,
            rest,
            outcome,
        } = end;
        let Held { share, user } = self.account(site, end);
        // A turn that takes long looks for orders again, so that what is due may start.
        if now > self.arrivals.horizon() {
            self.orders.carry_out(&mut self.arrivals, now);
        }
        let usable_from = self.transport.connections.usable_from(share, now);
        let rests_until = usable_from.max(now + rest);
        // A user that keeps to a connection is ready when that is.
        let ready = match self.affinity {
            Affinity::User => rests_until,
            Affinity::Shared => now,
        };
        if self.users.keep_belongings() {
            let (jar, taken) = self.exchanges.belongings(id);
            self.users.take_back(user, outcome, jar, taken);
        }
        if self.users.has_steps() {
            self.go_on_user(site, user, outcome, ready, now);
        } else {
            self.free_user(user, ready, now);
        }
        if self.affinity == Affinity::User {
            if self.users.admits(now) {
                self.begin_without_seat(site, now);
            }
            return;
        }
        if rests_until > now {
            if rest > Nanos::ZERO {
                self.transport.connections.rest_seat(share, rests_until);
            }
            return self.timers.at(rests_until, Wake::Seat(share));
        }
        self.free(site, share, now);
    }

    /// Frees a user, which may begin another iteration from `ready` on.
    #[inline(always)]
    fn free_user(&mut self, user: UserId, ready: Nanos, now: Nanos) {
        let is_open = self.arrivals.is_open();
        self.users.end(user, now, is_open);
        if !is_open {
            let next = self.users.next_begin(user, ready);
            self.arrivals.ended(user, ready, next);
        }
    }

    /// Lets a user go on in an iteration of several steps, whose request has ended.
    #[cold]
    fn go_on_user<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        user: UserId,
        outcome: Outcome,
        ready: Nanos,
        now: Nanos,
    ) {
        let unix_time = || site.io.unix_time();
        if let Some(next) = self.users.go_on(user, outcome, ready, now, unix_time) {
            self.carry_on(site, next, now);
        }
    }

    /// Does what follows in an iteration of several steps.
    #[cold]
    fn carry_on<I: Io>(&mut self, site: &mut Site<'_, I>, next: NextStep, now: Nanos) {
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
                self.waiting.push_request(lane, due);
            }
            NextStep::Pause(pausing) => {
                let wake = Wake::User(pausing.user, pausing.generation);
                self.timers.at(pausing.until, wake);
            }
            NextStep::Over(over) => {
                if over.sample.intended >= measure_from {
                    let figures = site.recorder.figures(self.id);
                    figures.record_iteration(&over.sample);
                }
                if over.stops_user {
                    self.users.leave();
                    self.arrivals.left(over.user);
                } else {
                    self.free_user(over.user, over.sample.end, now);
                }
            }
        }
    }

    /// Frees a seat, or gives it at once to a request that waits or to the next arrival. In the
    /// open model an arrival gets it only where no other seat is free, so that connections take
    /// turns.
    #[inline]
    fn free<I: Io>(&mut self, site: &mut Site<'_, I>, share: ShareId, now: Nanos) {
        if self.multiplexes && !self.transport.connections.keeps_seat(share) {
            return;
        }
        let id = self.transport.connections.lane_of(share);
        let seat = Seat { share, since: now };
        if self.waiting.has_requests() {
            return self.free_for_request(site, id, seat, now);
        }
        let lane = self.transport.connections.lanes.get_mut(id);
        let next_in_turn = lane.is_full() || !self.arrivals.is_open();
        let reuses =
            self.waiting.has_one_lane() && next_in_turn && self.users.begins_with_request();
        let next = if reuses && self.users.admits(now) {
            self.arrivals.take(now)
        } else {
            None
        };
        match next {
            Some(arrival) => self.begin_on(site, seat, arrival, now),
            None => lane.give(seat),
        }
    }

    /// Gives a seat to a request that waits for one of its lane, or frees it for those that wait
    /// for others.
    #[cold]
    fn free_for_request<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        lane: LaneId,
        seat: Seat,
        now: Nanos,
    ) {
        match self.waiting.pop_request(lane) {
            Some(request) => self.start_apart(site, seat, request, now),
            None => {
                self.transport.connections.give_seat(seat);
                self.start_waiting(site, false, now);
            }
        }
    }

    /// Makes the sample of an exchange that is over.
    #[inline]
    fn account<I: Io>(&mut self, site: &mut Site<'_, I>, end: End) -> Held {
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
        while let Some(end) = self.exchanges.next_ended(edge)? {
            self.account(site, end);
        }
        Ok(())
    }

    /// When the loop must turn again by itself, at `now`.
    pub(crate) fn next_wake(&self, now: Nanos) -> Nanos {
        if self.transport.agenda.is_pressing() {
            return Nanos::ZERO;
        }
        // An arrival that is due and has no seat is started when one becomes free.
        let takes_seat = self.waiting.has_one_lane() && self.users.begins_with_request();
        let blocked = takes_seat && self.transport.connections.is_full(LaneId(0));
        let due = if blocked || self.users.is_full() {
            Nanos::MAX
        } else {
            self.arrivals.next_due()
        };
        let drained = self.course.drained_by();
        let end = drained.unwrap_or_else(|| self.arrivals.next_end(now));
        due.min(end)
            .min(self.users.next_change())
            .min(self.timers.next())
            .min(self.exchanges.next_timeout())
            .min(self.transport.connections.next_deadline())
    }

    /// Takes over from the arrivals what became due and what was dropped before a time.
    pub(crate) fn tally(&mut self, recorder: &mut Recorder<Channel>, end: Nanos) {
        let tally = self.arrivals.tally(end);
        let figures = recorder.figures(self.id);
        figures.record_iterations_intended(tally.intended);
        figures.record_iterations_dropped(tally.dropped);
        if self.users.begins_with_request() {
            figures.record_intended(tally.intended);
            figures.record_dropped(tally.dropped);
        }
        figures.under_way += self.course.note_under_way(self.exchanges.open());
        recorder.hand_over(self.exchanges.take_written());
    }

    /// Ends the load: records what was due and has no seat, and cancels where the plan says so.
    pub(crate) fn stop<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) {
        self.tally(site.recorder, now + Nanos(1));
        self.arrivals.stop(now);
        let stopped_at = self.arrivals.used_time(now);
        let mut unsent = Unsent {
            users: &self.users,
            requests: &self.prepared.requests,
            measure_from: self.course.measure_from(),
            figures: site.recorder.figures(self.id),
        };
        for arrival in self.waiting.drain_arrivals() {
            unsent.arrival(arrival, stopped_at);
        }
        let round = self.users.round();
        self.arrivals.pending(round, |last, count| {
            unsent.arrivals(last, count, stopped_at)
        });
        let drain = self.prepared.pool().stop.drain;
        self.course.stop(now, drain);
        if drain == Drain::Close {
            self.cancel_all(site, now);
        }
    }

    /// Ends all that is under way.
    fn cancel_all<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) {
        for id in self.exchanges.ids() {
            self.transport.cancel(context!(self, site), id, now);
            self.exchanges
                .end(id, Failure::of(Outcome::LocalCancelled), now);
        }
    }

    /// Whether nothing is left to be done but to account for it.
    pub(crate) fn is_done(&self, now: Nanos) -> bool {
        if self.orders.is_ending() {
            return true;
        }
        let iterations = self.users.iterations();
        if self.exchanges.open() > 0 || iterations.is_some_and(Iterations::has_open) {
            return self.course.drained_by().is_some_and(|until| now >= until);
        }
        self.course.is_stopped() || self.arrivals.is_over(now) && self.waiting.arrivals() == 0
    }

    /// Accounts for everything, once, and closes all connections.
    pub(crate) fn finish<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) {
        self.tally(site.recorder, now + Nanos(1));
        let figures = site.recorder.figures(self.id);
        let in_flight = self.exchanges.record_in_flight(now, figures);
        let mut unsent = Unsent {
            users: &self.users,
            requests: &self.prepared.requests,
            measure_from: self.course.measure_from(),
            figures,
        };
        unsent.iterations(self.waiting.requests(), now);
        self.transport.close_all(context!(self, site));
        let used_until = self.arrivals.used_time(now);
        self.course.finish(now, used_until, in_flight);
    }

    /// When it was accounted for, if it was.
    pub(crate) const fn finished(&self) -> Option<Finish> {
        self.course.finished()
    }
}
