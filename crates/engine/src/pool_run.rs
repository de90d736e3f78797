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

use crate::arrivals::{Arrival, Arrivals, Shard};
use crate::blame::Failure;
use crate::channel::Channel;
use crate::control::Orders;
use crate::exchanges::{Due, End, Exchanges, Hearing, Task, Todo};
use crate::id::{ExchangeId, LaneId, PoolId, ShareId, UserId};
use crate::limits::{DIALS_AT_ONCE, DRAIN_MAX, STARTS_PER_TURN, STREAMS_PER_TURN, WAITING_MAX};
use crate::pool_io::PoolIo;
use crate::prepare::{Lookup, PreparedPool};
use crate::recorder::Recorder;
use crate::timers::{Timers, Wake};
use crate::transport::{Context, Found, Lane, Lanes, Seat, Transport};
use crate::users::{Turn, Users};
use crate::wire::Settings;
use drumfire_measure::Outcome;
use drumfire_net::{Io, Readiness, Slot};
use drumfire_plan::{Affinity, Drain, Growth, HttpVersion, Spread};
use drumfire_units::Nanos;
use std::collections::VecDeque;
use std::sync::Arc;

/// How large a worker's part of a pool is.
pub(crate) struct Extent {
    /// Connections to each origin: those with the numbers `index`, `index + of`, …
    pub(crate) connections: u32,
    pub(crate) shard: Shard,
    pub(crate) users: Users,
    pub(crate) arrivals: Arrivals,
    pub(crate) orders: Orders,
    /// The id of the first stream of each connection of HTTP/2.
    pub(crate) first_stream_id: u32,
}

/// The parts that a worker lends to one of its pools.
pub(crate) struct Site<'a, I> {
    pub(crate) io: PoolIo<'a, I>,
    pub(crate) recorder: &'a mut Recorder<Channel>,
}

/// How far a worker's part of a pool is.
#[derive(Debug)]
struct Course {
    /// The end of the drain; set when nothing more is started.
    drain_until: Option<Nanos>,
    last_end: Nanos,
    measure_from: Nanos,
    /// When everything was accounted for, and what the run's end is by that.
    finished: Option<Finish>,
}

/// The end of a worker's part of a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finish {
    /// When it was accounted for.
    pub(crate) at: Nanos,
    /// When its last exchange ended, or the time that was asked for is used.
    pub(crate) end: Nanos,
}

/// Arrivals that were taken and found no seat, by lane. Where there is one lane they stay in
/// the schedule.
#[derive(Debug)]
struct Waiting {
    lanes: Vec<VecDeque<Arrival>>,
    count: usize,
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
    shard: Shard,
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
        let transport = transport_of(prepared, &extent);
        let room = transport.share_count() * pool.connections.streams as usize;
        let lanes = transport.lanes.count();
        Self {
            id: prepared.id,
            exchanges: Exchanges::new(Arc::clone(prepared), room),
            lookup: Lookup::new(prepared),
            timers: Timers::default(),
            waiting: Waiting {
                lanes: vec![VecDeque::new(); lanes],
                count: 0,
            },
            course: Course {
                drain_until: None,
                last_end: Nanos::ZERO,
                measure_from: prepared.generator().warmup,
                finished: None,
            },
            shard: extent.shard,
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

    /// Dials shares from `next` on, as many at a time as may be; `true` when all are open or have
    /// failed.
    pub(crate) fn open_more<I: Io>(&mut self, site: &mut Site<'_, I>, next: &mut usize) -> bool {
        let wanted = self.transport.slot_count();
        if !self.transport.keeps_connections() {
            return true;
        }
        let mut under_way = self.transport.opening_among(*next);
        let now = site.io.now();
        while *next < wanted && under_way < DIALS_AT_ONCE {
            let slot = Slot(*next as u32);
            self.transport.dial(context!(self, site), slot, now);
            *next += 1;
            under_way += 1;
        }
        *next == wanted && under_way == 0 || self.orders.is_stopping()
    }

    /// Writes what opened connections have to say, and looks after those that take too long.
    pub(crate) fn go_on_opening<I: Io>(&mut self, site: &mut Site<'_, I>) {
        self.transport.flush(context!(self, site));
        let now = site.io.now();
        if now >= self.transport.next_timeout() {
            self.transport.handle_timeout(context!(self, site), now);
        }
    }

    /// Connections are waited for no more.
    pub(crate) fn opened(&mut self) {
        self.timers.clear();
        self.transport.list_seats();
    }

    /// The run begins.
    pub(crate) fn begin(&mut self) {
        self.transport.begin_run(&mut self.timers);
    }

    /// Applies what was ordered.
    #[inline]
    pub(crate) fn carry_out(&mut self, now: Nanos) {
        self.orders.carry_out(&mut self.arrivals, now);
    }

    /// Whether the load ends now.
    #[inline]
    pub(crate) fn has_to_stop(&self, now: Nanos) -> bool {
        let stops = self.arrivals.is_timed_out(now) || self.orders.is_stopping();
        stops && self.course.drain_until.is_none()
    }

    /// How many exchanges start at most in a turn.
    pub(crate) const fn portion(&self) -> u32 {
        if self.multiplexes {
            STREAMS_PER_TURN
        } else {
            STARTS_PER_TURN
        }
    }

    /// Whether anything is to be written.
    #[inline]
    pub(crate) fn has_output(&self) -> bool {
        self.transport.has_output()
    }

    /// Writes what is to be written.
    #[inline]
    pub(crate) fn flush<I: Io>(&mut self, site: &mut Site<'_, I>) {
        self.transport.flush(context!(self, site));
    }

    /// A turn begins: what was left unread before is read after what is ready.
    #[inline]
    pub(crate) fn begin_turn(&mut self) {
        self.unread = self.transport.unread_count();
    }

    /// How many slots had not been read to the end when the turn began.
    #[inline]
    pub(crate) const fn unread(&self) -> usize {
        self.unread
    }

    /// A slot has become ready for something.
    #[inline]
    pub(crate) fn handle_ready<I: Io>(&mut self, site: &mut Site<'_, I>, readiness: Readiness) {
        self.transport.handle_ready(context!(self, site), readiness);
    }

    /// Goes on with the first slot of those that were not read to the end.
    pub(crate) fn read_on<I: Io>(&mut self, site: &mut Site<'_, I>) {
        self.transport.read_on(context!(self, site));
    }

    /// Whether a send has failed on any slot.
    #[inline]
    pub(crate) fn has_broken(&self) -> bool {
        self.transport.has_broken()
    }

    /// Reads one slot on which a send failed.
    pub(crate) fn read_broken<I: Io>(&mut self, site: &mut Site<'_, I>) {
        self.transport.read_broken(context!(self, site));
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

    /// When [`Self::handle_timeout`] is due.
    #[inline]
    pub(crate) fn next_timeout(&self) -> Nanos {
        self.transport.next_timeout()
    }

    /// Looks after connections whose time is up.
    pub(crate) fn handle_timeout<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) {
        self.transport.handle_timeout(context!(self, site), now);
    }

    /// The next wake that is due.
    #[inline]
    pub(crate) fn due(&mut self, now: Nanos) -> Option<Wake> {
        self.timers.due(now)
    }

    /// Starts one exchange; `false` when none is due or no seat is free for it.
    pub(crate) fn start_next<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) -> bool {
        if !self.users.admits(self.exchanges.open(), now) {
            return false;
        }
        if self.affinity == Affinity::User {
            return self.start_own(site, now);
        }
        if self.waiting.count > 0 && self.start_waiting(site, now) {
            return true;
        }
        if self.waiting.lanes.len() == 1 {
            if self.transport.lanes.get(LaneId(0)).is_full() {
                return false;
            }
            let Some(arrival) = self.arrivals.take(now) else {
                return false;
            };
            let shard = self.shard;
            let seat = self.transport.take_seat(LaneId(0), |n| shard.number(n));
            let Some(seat) = seat else {
                return false;
            };
            self.start(site, seat, arrival, now);
            return true;
        }
        if self.waiting.count >= WAITING_MAX {
            return false;
        }
        let Some(arrival) = self.arrivals.take(now) else {
            return false;
        };
        let lane = self.prepared.requests[self.request_of(arrival)].lane;
        let shard = self.shard;
        match self.transport.take_seat(lane, |n| shard.number(n)) {
            Some(seat) => self.start(site, seat, arrival, now),
            None => {
                self.waiting.lanes[lane.index()].push_back(arrival);
                self.waiting.count += 1;
            }
        }
        true
    }

    /// Starts one exchange on its user's own connection; `false` when none is due.
    fn start_own<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) -> bool {
        let Some(arrival) = self.arrivals.take(now) else {
            return false;
        };
        let lane = self.prepared.requests[self.request_of(arrival)].lane;
        let turn = self.users.begin(arrival);
        let seat = Seat {
            share: self.transport.lanes.get(lane).share_of(turn.user),
            since: Nanos::ZERO,
        };
        self.start_turn(site, seat, turn, arrival, now);
        true
    }

    /// Gives an arrival that waits to a free seat of its lane; `false` when there is none.
    fn start_waiting<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) -> bool {
        let shard = self.shard;
        for index in 0..self.waiting.lanes.len() {
            let lane = LaneId(index as u16);
            while !self.transport.lanes.get(lane).is_full()
                && let Some(arrival) = self.waiting.lanes[index].pop_front()
            {
                self.waiting.count -= 1;
                if self.arrivals.still_wanted(arrival, now)
                    && let Some(seat) = self.transport.take_seat(lane, |n| shard.number(n))
                {
                    self.start(site, seat, arrival, now);
                    return true;
                }
            }
        }
        false
    }

    /// Which request of the list an arrival is.
    #[inline]
    fn request_of(&self, arrival: Arrival) -> usize {
        match self.prepared.requests.len() {
            1 => 0,
            count => (arrival.index % count as u64) as usize,
        }
    }

    /// Gives an arrival to a user and a seat.
    #[inline]
    fn start<I: Io>(&mut self, site: &mut Site<'_, I>, seat: Seat, arrival: Arrival, now: Nanos) {
        let turn = self.users.begin(arrival);
        self.start_turn(site, seat, turn, arrival, now);
    }

    /// Begins an exchange for a user, and gives it to the transport.
    #[inline]
    fn start_turn<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        seat: Seat,
        turn: Turn,
        arrival: Arrival,
        now: Nanos,
    ) {
        let task = Task {
            request: self.request_of(arrival) as u32,
            number: arrival.index,
            turn,
            share: seat.share,
        };
        let since = seat.since.max(self.users.free_since());
        let due = arrival.intended.max(since);
        let id = self.exchanges.start(task, arrival.intended, due, now);
        if self.multiplexes {
            self.transport.is_last = self.arrivals.is_exhausted();
        }
        self.transport
            .submit(context!(self, site), id, seat.share, now);
    }

    /// Does what exchanges have left to be done, until there is nothing more; then writes.
    ///
    /// # Errors
    /// When the interval must be closed first that lies before this time.
    #[inline]
    pub(crate) fn settle<I: Io>(&mut self, site: &mut Site<'_, I>) -> Result<(), Nanos> {
        let edge = site.recorder.edge();
        while let Some(end) = self.exchanges.next_ended(edge)? {
            self.end(site, end);
        }
        if self.exchanges.has_todo() {
            return self.settle_all(site);
        }
        if self.transport.has_output() {
            self.transport.flush(context!(self, site));
            let goes_on = self.exchanges.has_ended() || self.exchanges.has_todo();
            if goes_on || self.transport.has_output() {
                return self.settle_all(site);
            }
        }
        Ok(())
    }

    fn settle_all<I: Io>(&mut self, site: &mut Site<'_, I>) -> Result<(), Nanos> {
        let edge = site.recorder.edge();
        loop {
            if let Some(end) = self.exchanges.next_ended(edge)? {
                self.end(site, end);
            } else if let Some(todo) = self.exchanges.next_todo() {
                self.go_on(site, todo);
            } else if self.transport.has_output() {
                self.transport.flush(context!(self, site));
            } else {
                return Ok(());
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
        self.transport.is_last = self.arrivals.is_exhausted();
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
        while let Some((exchanges, failure)) = self.transport.looked_up(context!(self, site), now) {
            for id in exchanges {
                match &failure {
                    Some(failure) => self.exchanges.end(id, failure.clone(), now),
                    None => self.submit(site, id, now),
                }
            }
        }
    }

    /// Handles a wake.
    #[cold]
    pub(crate) fn wake<I: Io>(&mut self, site: &mut Site<'_, I>, wake: Wake, now: Nanos) {
        match wake {
            Wake::Seat(share) => {
                let lane = self.transport.lane_of(share);
                let since = self.transport.rest_of(share);
                self.transport
                    .lanes
                    .get_mut(lane)
                    .give(Seat { share, since });
            }
            Wake::Dial(slot) => self.transport.wake(context!(self, site), slot, now),
            Wake::LookUps => self.take_look_ups(site, now),
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

    /// Records an exchange that is over, frees its user, and uses its seat again.
    #[inline]
    fn end<I: Io>(&mut self, site: &mut Site<'_, I>, end: End) {
        let (now, rest) = (end.now, end.rest);
        let (share, user) = self.account(site, end);
        // A turn that takes long looks for orders again, so that what is due may start.
        if now > self.arrivals.horizon() {
            self.orders.carry_out(&mut self.arrivals, now);
        }
        self.users.end(user, now, self.arrivals.is_open());
        let rests_until = self.transport.usable_from(share, now).max(now + rest);
        if self.affinity == Affinity::User {
            self.arrivals.ended(user, rests_until);
            self.dispatch_next(site, now);
            return;
        }
        self.arrivals.ended(user, now);
        if rests_until > now {
            if rest > Nanos::ZERO {
                self.transport.rest_seat(share, rests_until);
            }
            return self.timers.at(rests_until, Wake::Seat(share));
        }
        self.free(site, share, now);
    }

    /// Starts the next exchange that is due, after a user has become free.
    fn dispatch_next<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) {
        if self.users.admits(self.exchanges.open(), now) {
            self.start_own(site, now);
        }
    }

    /// Frees a seat, or gives it the next arrival at once. In the open model that is so only where
    /// no other seat is free, so that connections take turns.
    #[inline]
    fn free<I: Io>(&mut self, site: &mut Site<'_, I>, share: ShareId, now: Nanos) {
        let lane = self.transport.lane_of(share);
        let seat = Seat { share, since: now };
        let lane = self.transport.lanes.get_mut(lane);
        let next_in_turn = lane.is_full() || !self.arrivals.is_open();
        let reuses = self.waiting.lanes.len() == 1 && next_in_turn;
        let next = if reuses && self.users.admits(self.exchanges.open(), now) {
            self.arrivals.take(now)
        } else {
            None
        };
        match next {
            Some(arrival) => self.start(site, seat, arrival, now),
            None => lane.give(seat),
        }
    }

    /// Makes the sample of an exchange that is over. Gives the seat's share and the user.
    #[inline]
    fn account<I: Io>(&mut self, site: &mut Site<'_, I>, end: End) -> (ShareId, UserId) {
        let id = end.id;
        let finished = self.exchanges.finish(end, site.recorder.figures(self.id));
        let sample = &finished.sample;
        self.course.last_end = sample.end;
        site.recorder.record(self.id, sample);
        if sample.outcome != Outcome::Ok
            && let Some(detail) = self.exchanges.take_detail(id)
        {
            site.recorder.detail(self.id, sample, &detail);
        }
        (finished.share, finished.user)
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
        if self.transport.is_pressed() {
            return Nanos::ZERO;
        }
        // An arrival that is due and has no seat is started when one becomes free.
        let blocked =
            self.waiting.lanes.len() == 1 && self.transport.lanes.get(LaneId(0)).is_full();
        let due = if blocked || self.users.is_full(self.exchanges.open()) {
            Nanos::MAX
        } else {
            self.arrivals.next_due()
        };
        let end = match self.course.drain_until {
            Some(until) => until,
            None => self.arrivals.next_end(now),
        };
        due.min(end)
            .min(self.users.next_change())
            .min(self.timers.next())
            .min(self.exchanges.next_timeout())
            .min(self.transport.next_timeout())
    }

    /// Takes over from the arrivals what became due and what was dropped before a time.
    pub(crate) fn tally(&mut self, recorder: &mut Recorder<Channel>, end: Nanos) {
        let tally = self.arrivals.tally(end);
        let figures = recorder.figures(self.id);
        figures.record_intended(tally.intended);
        figures.record_dropped(tally.dropped);
    }

    /// Ends the load; what was due before and has a free seat is started already. Cancels what is
    /// under way where the plan says so.
    pub(crate) fn stop<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) {
        self.tally(site.recorder, now + Nanos(1));
        self.arrivals.stop(now);
        self.record_pending(site, now);
        self.waiting.clear();
        self.course.drain_until = Some(now + DRAIN_MAX);
        match self.prepared.pool().stop.drain {
            Drain::Wait => {}
            Drain::Ignore => self.course.drain_until = Some(now),
            Drain::Close => {
                self.course.drain_until = Some(now);
                self.cancel_all(site, now);
            }
        }
    }

    /// Records the wait of requests that were due before the stop and are not sent any more.
    fn record_pending<I: Io>(&self, site: &mut Site<'_, I>, now: Nanos) {
        let stopped_at = self.arrivals.used_time(now);
        let requests = &self.prepared.requests;
        let length = requests.len() as u64;
        let measure_from = self.course.measure_from;
        let interval = site.recorder.figures(self.id);
        let mut record = |arrival: Arrival, count| {
            let step = requests[(arrival.index % length) as usize].step;
            interval.record_pending(step, stopped_at - arrival.intended, count);
        };
        let waiting = self.waiting.lanes.iter().flatten();
        for arrival in waiting.filter(|arrival| arrival.intended >= measure_from) {
            record(*arrival, 1);
        }
        self.arrivals.pending(length, record);
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
        if self.exchanges.open() > 0 {
            return self.course.drain_until.is_some_and(|until| now >= until);
        }
        self.course.drain_until.is_some() || self.arrivals.is_over(now) && self.waiting.count == 0
    }

    /// Reads what servers have still said, before everything is accounted for.
    pub(crate) fn drain_input<I: Io>(&mut self, site: &mut Site<'_, I>) {
        self.transport.drain_input(context!(self, site));
    }

    /// Accounts for everything, once, and closes all connections.
    pub(crate) fn finish<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) {
        self.tally(site.recorder, now + Nanos(1));
        let figures = site.recorder.figures(self.id);
        let in_flight = self.exchanges.record_in_flight(now, figures);
        self.transport.close_all(&mut site.io);
        let end = if in_flight > 0 {
            now
        } else {
            self.course.last_end.max(self.arrivals.used_time(now))
        };
        self.course.finished = Some(Finish { at: now, end });
    }

    /// When it was accounted for, if it was.
    pub(crate) const fn finished(&self) -> Option<Finish> {
        self.course.finished
    }
}

impl Waiting {
    fn clear(&mut self) {
        self.lanes.iter_mut().for_each(VecDeque::clear);
        self.count = 0;
    }
}

/// A transport with a worker's shares on each lane. Their numbers count over all workers, so that
/// all together take turns at a name's addresses.
fn transport_of(prepared: &PreparedPool, extent: &Extent) -> Transport {
    let pool = prepared.pool();
    let settings = Settings::of(
        &pool.http,
        &pool.connections,
        &pool.timeouts,
        extent.first_stream_id,
    );
    let lanes = prepared.routes.iter();
    let lanes = lanes.map(|route| Lane::new(route.clone(), settings));
    let mut transport = Transport::new(Lanes::new(lanes.collect()));
    for lane in transport.lanes.ids() {
        // Where all go to the first address, each starts a round of its own: local addresses take
        // turns by the round.
        let stride = match pool.connections.spread {
            Spread::Turn => 1,
            Spread::First => transport.lanes.get(lane).route.width() as u32,
        };
        if pool.connections.growth == Growth::AsNeeded {
            let lane = transport.lanes.get_mut(lane);
            lane.make_room(extent.connections as usize);
            continue;
        }
        for n in 0..extent.connections {
            let number = extent.shard.number(n);
            transport.add_planned_share(lane, number, number.wrapping_mul(stride));
        }
    }
    transport
}
