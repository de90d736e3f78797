//! One thread's loop over the parts.
//!
//! ```text
//!   arrivals ──► users ──► exchanges ◄──► transport ◄──► io
//!      ▲                       │
//!      └──────── ended ────────┴──► recorder
//! ```
//!
//! Each part owns its state, and none reaches into another: the worker passes the output of one to
//! the next. In each turn it closes the intervals that have ended, starts due requests, writes,
//! waits, lets the transport read, and settles the exchanges that ended. [`Worker::settle`] is the
//! only place where an exchange ends, and after it ended the only place where the next one starts
//! at once.

use crate::arrivals::{Arrival, Arrivals, Shard};
use crate::blame::Failure;
use crate::channel::{Channel, Message};
use crate::control::Orders;
use crate::exchanges::{Due, End, Exchanges, Hearing, Task, Todo};
use crate::id::{ExchangeId, LaneId, ShareId, UserId};
use crate::limits::{
    DIALS_AT_ONCE, DRAIN_MAX, OPENING_MAX, STARTS_PER_TURN, STREAMS_PER_TURN, WAIT_MAX, WAITING_MAX,
};
use crate::prepare::{Lookup, Prepared};
use crate::recorder::Recorder;
use crate::timers::{Timers, Wake};
use crate::transport::{Context, Found, Lane, Lanes, Seat, Transport};
use crate::users::{Turn, Users};
use crate::wire::Settings;
use drumfire_measure::Outcome;
use drumfire_net::{Fault, Io, Readiness, Slot};
use drumfire_plan::{Affinity, Drain, Growth, HttpVersion, Spread};
use drumfire_units::Nanos;
use std::collections::VecDeque;
use std::sync::Arc;

/// How large a worker's part is.
pub(crate) struct Extent {
    /// Connections to each origin: those with the numbers `index`, `index + of`, …
    pub(crate) connections: u32,
    pub(crate) shard: Shard,
    pub(crate) users: Users,
}

/// How far a worker's part of the run is.
#[derive(Debug)]
struct Course {
    /// The end of the drain; set when nothing more is started.
    drain_until: Option<Nanos>,
    last_end: Nanos,
    measure_from: Nanos,
}

/// Arrivals that were taken and found no seat, by lane. Where there is one lane they stay in
/// the schedule.
#[derive(Debug)]
struct Waiting {
    lanes: Vec<VecDeque<Arrival>>,
    count: usize,
}

/// One worker over one driver.
pub(crate) struct Worker<I> {
    io: I,
    prepared: Arc<Prepared>,
    orders: Orders,
    arrivals: Arrivals,
    users: Users,
    exchanges: Exchanges,
    transport: Transport,
    timers: Timers,
    recorder: Recorder<Channel>,
    lookup: Lookup,
    waiting: Waiting,
    course: Course,
    shard: Shard,
    affinity: Affinity,
    /// Whether connections carry many exchanges, and one may end for want of more.
    multiplexes: bool,
}

/// Lends the transport the parts that it needs for a call.
macro_rules! context {
    ($worker:ident) => {
        &mut Context {
            io: &mut $worker.io,
            handler: &mut Hearing {
                exchanges: &mut $worker.exchanges,
                interval: $worker.recorder.interval(),
            },
            timers: &mut $worker.timers,
        }
    };
}

impl<I: Io> Worker<I> {
    pub(crate) fn assemble(
        io: I,
        prepared: Arc<Prepared>,
        orders: Orders,
        arrivals: Arrivals,
        channel: Channel,
        extent: Extent,
    ) -> Self {
        let plan = &prepared.plan;
        let steps: Arc<[Arc<str>]> = prepared.steps.clone().into();
        let transport = transport_of(&prepared, &extent);
        let room = transport.share_count() * plan.first().connections.streams as usize;
        let lanes = transport.lanes.count();
        Self {
            recorder: Recorder::new(channel, steps, plan),
            exchanges: Exchanges::new(Arc::clone(&prepared), room),
            lookup: Lookup::new(&prepared),
            timers: Timers::default(),
            waiting: Waiting {
                lanes: vec![VecDeque::new(); lanes],
                count: 0,
            },
            course: Course {
                drain_until: None,
                last_end: Nanos::ZERO,
                measure_from: plan.generator().warmup,
            },
            shard: extent.shard,
            affinity: plan.first().connections.affinity,
            multiplexes: plan.first().http.version == HttpVersion::Http2,
            io,
            prepared,
            orders,
            arrivals,
            users: extent.users,
            transport,
        }
    }

    /// Opens every share's connection, a bounded number at a time, so that no exchange waits for
    /// its own. Those that fail are dialed again when an exchange needs them; those that take too
    /// long are waited for no more.
    ///
    /// # Errors
    /// When the driver can't wait.
    pub(crate) fn open_connections(&mut self) -> Result<(), Fault> {
        let started = self.io.now();
        let mut ready: Vec<Readiness> = Vec::with_capacity(256);
        let wanted = self.transport.slot_count();
        let mut next = if self.transport.keeps_connections() {
            0
        } else {
            wanted
        };
        loop {
            let mut under_way = self.transport.opening_among(next);
            let now = self.io.now();
            while next < wanted && under_way < DIALS_AT_ONCE {
                self.transport.dial(context!(self), Slot(next as u32), now);
                next += 1;
                under_way += 1;
            }
            let all = next == wanted && under_way == 0;
            if all || now > started + OPENING_MAX || self.orders.is_stopping() {
                break;
            }
            let until = self.transport.next_timeout();
            self.io
                .wait(until.min(now + Nanos::from_millis(10)), &mut ready)?;
            for readiness in &ready {
                self.transport.handle_ready(context!(self), *readiness);
            }
            self.transport.flush(context!(self));
            let now = self.io.now();
            if now >= self.transport.next_timeout() {
                self.transport.handle_timeout(context!(self), now);
            }
        }
        self.timers.clear();
        self.transport.list_seats();
        Ok(())
    }

    /// Makes a point in time the run's start: all times count from there.
    pub(crate) fn begin_at(&mut self, start: Nanos) {
        self.io.set_epoch(start);
        self.transport.begin_run();
    }

    /// Makes this very moment the run's start.
    pub(crate) fn begin(&mut self) {
        let now = self.io.now();
        self.begin_at(now);
    }

    /// Runs from the start to the end of the drain. The driver's epoch is the run's start.
    ///
    /// # Errors
    /// When the driver can't wait: there is no account of such a run.
    pub(crate) fn run(mut self) -> Result<(), Fault> {
        let times = self.io.thread_times();
        self.recorder.begin(times);
        let mut ready: Vec<Readiness> = Vec::with_capacity(256);
        loop {
            let now = self.io.now();
            self.orders.carry_out(&mut self.arrivals, now);
            self.roll(now);
            let stops = self.arrivals.is_timed_out(now) || self.orders.is_stopping();
            if stops && self.course.drain_until.is_none() {
                self.stop(now);
            }
            self.dispatch(now);
            self.transport.flush(context!(self));
            self.settle();
            if self.is_done(now) {
                break;
            }
            let until = self.next_wake();
            let before = self.io.now();
            let health = self.recorder.health();
            health.loop_turn.record(before - now);
            self.io.wait(until, &mut ready)?;
            self.turn(until, before, &ready);
        }
        self.finish();
        Ok(())
    }

    /// Handles ready sockets, then due timers.
    fn turn(&mut self, until: Nanos, before: Nanos, ready: &[Readiness]) {
        let now = self.io.now();
        // Late is late, whether or not something became ready meanwhile.
        if until > before && now > until {
            let health = self.recorder.health();
            health.wake_lateness.record(now - until);
        }
        let unread = self.transport.unread_count();
        for readiness in ready {
            self.transport.handle_ready(context!(self), *readiness);
            self.settle();
        }
        for _ in 0..unread {
            self.transport.read_on(context!(self));
            self.settle();
        }
        while self.transport.read_broken(context!(self)) {
            self.settle();
        }
        if now >= self.exchanges.next_timeout() {
            for id in self.exchanges.overdue(now) {
                let cancelled = self.transport.cancel(context!(self), id, now);
                self.exchanges.time_out(id, cancelled, now);
                self.settle();
            }
        }
        if now >= self.transport.next_timeout() {
            self.transport.handle_timeout(context!(self), now);
            self.settle();
        }
        while let Some(wake) = self.timers.due(now) {
            self.wake(wake, now);
            self.settle();
        }
    }

    /// Handles a wake.
    #[cold]
    fn wake(&mut self, wake: Wake, now: Nanos) {
        match wake {
            Wake::Seat(share) => {
                let lane = self.transport.lane_of(share);
                let since = self.transport.rest_of(share);
                self.transport
                    .lanes
                    .get_mut(lane)
                    .give(Seat { share, since });
            }
            Wake::Dial(slot) => self.transport.wake(context!(self), slot, now),
            Wake::LookUps => self.take_look_ups(now),
            Wake::Exchange(id, generation) => {
                let phase = self.transport.phase_of(id);
                match self.exchanges.due(id, generation, phase, now) {
                    Due::Nothing => {}
                    Due::Submit => self.submit(id, now),
                    Due::Send => self.transport.send_more(context!(self), id, now),
                    Due::Over(failure) => {
                        self.transport.cancel(context!(self), id, now);
                        self.exchanges.end(id, failure, now);
                    }
                }
            }
        }
    }

    /// Starts due requests, as far as seats are free, in bounded portions.
    fn dispatch(&mut self, now: Nanos) {
        let portion = if self.multiplexes {
            STREAMS_PER_TURN
        } else {
            STARTS_PER_TURN
        };
        for _ in 0..portion {
            if !self.start_next(now) {
                return;
            }
            self.settle();
        }
    }

    /// Starts one exchange; `false` when none is due or no seat is free for it.
    fn start_next(&mut self, now: Nanos) -> bool {
        if !self.users.admits(self.exchanges.open(), now) {
            return false;
        }
        if self.affinity == Affinity::User {
            return self.start_own(now);
        }
        if self.waiting.count > 0 && self.start_waiting(now) {
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
            self.start(seat, arrival, now);
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
            Some(seat) => self.start(seat, arrival, now),
            None => {
                self.waiting.lanes[lane.index()].push_back(arrival);
                self.waiting.count += 1;
            }
        }
        true
    }

    /// Starts one exchange on its user's own connection; `false` when none is due.
    fn start_own(&mut self, now: Nanos) -> bool {
        let Some(arrival) = self.arrivals.take(now) else {
            return false;
        };
        let lane = self.prepared.requests[self.request_of(arrival)].lane;
        let turn = self.users.begin(arrival);
        let seat = Seat {
            share: self.transport.lanes.get(lane).share_of(turn.user),
            since: Nanos::ZERO,
        };
        self.start_turn(seat, turn, arrival, now);
        true
    }

    /// Gives an arrival that waits to a free seat of its lane; `false` when there is none.
    fn start_waiting(&mut self, now: Nanos) -> bool {
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
                    self.start(seat, arrival, now);
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
    fn start(&mut self, seat: Seat, arrival: Arrival, now: Nanos) {
        let turn = self.users.begin(arrival);
        self.start_turn(seat, turn, arrival, now);
    }

    /// Begins an exchange for a user, and gives it to the transport.
    #[inline]
    fn start_turn(&mut self, seat: Seat, turn: Turn, arrival: Arrival, now: Nanos) {
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
        self.transport.submit(context!(self), id, seat.share, now);
    }

    /// Does what exchanges have left to be done, until there is nothing more; then writes.
    #[inline]
    fn settle(&mut self) {
        while let Some(end) = self.exchanges.next_ended() {
            self.end(end);
        }
        if self.exchanges.has_todo() || self.transport.has_output() {
            self.settle_all();
        }
    }

    fn settle_all(&mut self) {
        loop {
            if let Some(end) = self.exchanges.next_ended() {
                self.end(end);
            } else if let Some(todo) = self.exchanges.next_todo() {
                self.go_on(todo);
            } else if self.transport.has_output() {
                self.transport.flush(context!(self));
            } else {
                return;
            }
        }
    }

    /// Goes on with an exchange that is not over.
    #[cold]
    fn go_on(&mut self, todo: Todo) {
        match todo {
            Todo::Resend { id, pause, now } if pause == Nanos::ZERO => self.submit(id, now),
            Todo::Resend { id, pause, now } => {
                let wake = Wake::Exchange(id, self.exchanges.generation(id));
                self.timers.at(now + pause, wake);
            }
            Todo::Message { id, at } => {
                let wake = Wake::Exchange(id, self.exchanges.generation(id));
                self.timers.at(at, wake);
            }
            Todo::Follow { id, now } => match self.exchanges.follow(id) {
                Ok(()) => self.submit(id, now),
                Err(failure) => self.exchanges.end(id, failure, now),
            },
        }
    }

    /// Submits an exchange to the connection that it wants by now: its seat's, or one that a
    /// redirect leads to.
    fn submit(&mut self, id: ExchangeId, now: Nanos) {
        let home = self.exchanges.home(id);
        self.transport.is_last = self.arrivals.is_exhausted();
        let Some(origin) = self.exchanges.heads_for(id) else {
            return self.transport.submit(context!(self), id, home, now);
        };
        let found = self
            .transport
            .reach(context!(self), id, home, &origin, &self.lookup);
        let reached = found.and_then(|found| match found {
            Found::Sought => Ok(None),
            Found::Share(share, form) => {
                self.exchanges.prepare_hop(id, form)?;
                Ok(Some(share))
            }
        });
        match reached {
            Ok(None) => {}
            Ok(Some(share)) => self.transport.submit(context!(self), id, share, now),
            Err(failure) => self.exchanges.end(id, failure, now),
        }
    }

    /// Goes on with the exchanges whose origins have been looked up.
    fn take_look_ups(&mut self, now: Nanos) {
        while let Some((exchanges, failure)) = self.transport.looked_up(context!(self), now) {
            for id in exchanges {
                match &failure {
                    Some(failure) => self.exchanges.end(id, failure.clone(), now),
                    None => self.submit(id, now),
                }
            }
        }
    }

    /// Records an exchange that is over, frees its user, and uses its seat again.
    #[inline]
    fn end(&mut self, end: End) {
        let (now, rest) = (end.now, end.rest);
        let (share, user) = self.account(end);
        // A turn that takes long looks for orders again, so that due requests may start.
        if now > self.arrivals.horizon() {
            self.orders.carry_out(&mut self.arrivals, now);
        }
        self.users.end(user, now, self.arrivals.is_open());
        let rests_until = self.transport.usable_from(share, now).max(now + rest);
        if self.affinity == Affinity::User {
            self.arrivals.ended(user, rests_until);
            self.dispatch_next(now);
            return;
        }
        self.arrivals.ended(user, now);
        if rests_until > now {
            if rest > Nanos::ZERO {
                self.transport.rest_seat(share, rests_until);
            }
            return self.timers.at(rests_until, Wake::Seat(share));
        }
        self.free(share, now);
    }

    /// Starts the next exchange that is due, after a user has become free.
    fn dispatch_next(&mut self, now: Nanos) {
        if self.users.admits(self.exchanges.open(), now) {
            self.start_own(now);
        }
    }

    /// Frees a seat, or gives it the next arrival at once. In the open model that is so only where
    /// no other seat is free, so that connections take turns.
    #[inline]
    fn free(&mut self, share: ShareId, now: Nanos) {
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
            Some(arrival) => self.start(seat, arrival, now),
            None => lane.give(seat),
        }
    }

    /// Makes the sample of an exchange that is over. Gives the seat's share and the user.
    #[inline]
    fn account(&mut self, end: End) -> (ShareId, UserId) {
        let now = end.now;
        if now >= self.recorder.edge() {
            self.roll(now);
        }
        let id = end.id;
        let finished = self.exchanges.finish(end, self.recorder.interval());
        let sample = &finished.sample;
        self.course.last_end = sample.end;
        self.recorder.record(sample);
        if sample.outcome != Outcome::Ok
            && let Some(detail) = self.exchanges.take_detail(id)
        {
            self.recorder.detail(sample, &detail);
        }
        (finished.share, finished.user)
    }

    /// When the loop must turn again by itself.
    fn next_wake(&self) -> Nanos {
        if self.transport.is_pressed() {
            return Nanos::ZERO;
        }
        let now = self.io.now();
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
        let end = end.min(now + WAIT_MAX);
        due.min(self.users.next_change())
            .min(end)
            .min(self.timers.next())
            .min(self.exchanges.next_timeout())
            .min(self.transport.next_timeout())
            .min(self.recorder.edge())
    }

    /// Closes the intervals whose end has come.
    #[inline]
    fn roll(&mut self, now: Nanos) {
        while now >= self.recorder.edge() {
            let edge = self.recorder.edge();
            self.tally(edge);
            let times = self.io.thread_times();
            self.recorder.close(edge, times);
        }
    }

    /// Takes over the counts of due and dropped arrivals.
    fn tally(&mut self, end: Nanos) {
        let tally = self.arrivals.tally(end);
        self.recorder.interval().record_intended(tally.intended);
        self.recorder.interval().record_dropped(tally.dropped);
    }

    /// Starts nothing more, except requests that were due before the end and have a free seat: the
    /// loop may wake a little after the end.
    fn stop(&mut self, now: Nanos) {
        while self.start_next(now) {
            self.settle();
        }
        self.tally(now + Nanos(1));
        self.arrivals.stop(now);
        self.record_pending(now);
        self.waiting.clear();
        self.course.drain_until = Some(now + DRAIN_MAX);
        match self.prepared.plan.first().stop.drain {
            Drain::Wait => {}
            Drain::Ignore => self.course.drain_until = Some(now),
            Drain::Close => {
                self.course.drain_until = Some(now);
                self.cancel_all(now);
            }
        }
    }

    /// Records the wait of requests that were due before the stop and are not sent any more.
    fn record_pending(&mut self, now: Nanos) {
        let stopped_at = self.arrivals.used_time(now);
        let requests = &self.prepared.requests;
        let length = requests.len() as u64;
        let measure_from = self.course.measure_from;
        let interval = self.recorder.interval();
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
    fn cancel_all(&mut self, now: Nanos) {
        for id in self.exchanges.ids() {
            self.transport.cancel(context!(self), id, now);
            self.exchanges
                .end(id, Failure::of(Outcome::LocalCancelled), now);
        }
        while let Some(end) = self.exchanges.next_ended() {
            self.account(end);
        }
    }

    fn is_done(&self, now: Nanos) -> bool {
        if self.orders.is_ending() {
            return true;
        }
        if self.exchanges.open() > 0 {
            return self.course.drain_until.is_some_and(|until| now >= until);
        }
        self.course.drain_until.is_some() || self.arrivals.is_over(now) && self.waiting.count == 0
    }

    /// Accounts for everything, once.
    fn finish(mut self) {
        self.transport.drain_input(context!(self));
        while let Some(end) = self.exchanges.next_ended() {
            self.account(end);
        }
        let now = self.io.now();
        self.roll(now);
        self.tally(now + Nanos(1));
        let in_flight = self
            .exchanges
            .record_in_flight(now, self.recorder.interval());
        self.transport.close_all(&mut self.io);
        let times = self.io.thread_times();
        let end = if in_flight > 0 {
            now
        } else {
            self.course.last_end.max(self.arrivals.used_time(now))
        };
        let channel = self.recorder.finish(now, times);
        channel.reporter.tell(Message::Done { end });
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
fn transport_of(prepared: &Prepared, extent: &Extent) -> Transport {
    let plan = &prepared.plan;
    let settings = Settings::of(
        &plan.first().http,
        &plan.first().connections,
        &plan.first().timeouts,
        prepared.first_stream_id,
    );
    let lanes = prepared.routes.iter();
    let lanes = lanes.map(|route| Lane::new(route.clone(), settings));
    let mut transport = Transport::new(Lanes::new(lanes.collect()));
    for lane in transport.lanes.ids() {
        // Where all go to the first address, each starts a round of its own: local addresses take
        // turns by the round.
        let stride = match plan.first().connections.spread {
            Spread::Turn => 1,
            Spread::First => transport.lanes.get(lane).route.width() as u32,
        };
        if plan.first().connections.growth == Growth::AsNeeded {
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
