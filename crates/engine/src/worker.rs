//! One thread's loop: what is due is started, what is ready is moved on, what ended is recorded.

mod deadline;
mod dial;
mod exchange;
mod follow;
mod hop;
mod link;
mod messages;
mod opening;
mod ping;
mod reply;
mod response;
mod seat;
mod talk;

use self::talk::Tools;
use crate::Control;
use crate::arrivals::{Arrival, Arrivals};
use crate::blame::Failure;
use crate::connection::{Connection, Duty};
use crate::crowd::Crowd;
use crate::limits::{
    DISCARD_BYTES, DRAIN_MAX, LOOK_UP, RECEIVE_BYTES, STARTS_PER_TURN, STREAMS_PER_TURN, WAIT_MAX,
};
use crate::place::{Group, Phase, Place};
use crate::prepare::{Prepared, Route};
use crate::recorder::{Recorder, Sink};
use crate::redirect::{Elsewhere, Resolving};
use drumfire_http1::{Limits, Shared};
use drumfire_measure::{Interval, Outcome, Unfinished};
use drumfire_net::{Fault, Io, Readiness};
use drumfire_plan::Ping;
use drumfire_plan::Spread;
use drumfire_units::Nanos;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

/// What a worker tells whoever merges its intervals.
#[derive(Debug)]
pub enum Message {
    /// An interval has ended.
    Interval(Box<Interval>),
    /// The worker has ended.
    Done {
        /// What was not finished.
        unfinished: Unfinished,
        /// When the last exchange ended, from the run's start.
        end: Nanos,
    },
}

/// How large a worker's part is.
pub(crate) struct Extent {
    /// Connections to each route.
    pub(crate) connections: u32,
    /// How many the workers before it have.
    pub(crate) connections_before: u32,
    /// How many exchanges may be under way at a time.
    pub(crate) crowd: Crowd,
}

/// The channel as a sink, with the used intervals' way back.
pub(crate) struct Channel {
    pub(crate) out: Sender<Message>,
    pub(crate) back: Receiver<Box<Interval>>,
}

impl Sink for Channel {
    fn closed(&mut self, interval: Box<Interval>) {
        // Nobody listens only when the run is already given up.
        let _given_up = self.out.send(Message::Interval(interval));
    }

    fn spare(&mut self) -> Option<Box<Interval>> {
        self.back.try_recv().ok()
    }
}

/// One worker over one driver.
pub struct Worker<I> {
    io: I,
    prepared: Arc<Prepared>,
    control: Control,
    arrivals: Arrivals,
    crowd: Crowd,
    recorder: Recorder<Channel>,
    slots: Vec<Connection>,
    routes: Vec<Lane>,
    shared: Shared,
    /// Received bytes; one buffer for all connections.
    buffer: Vec<u8>,
    /// Room for bytes that nobody looks at; never touched where the driver throws them away.
    scratch: Vec<u8>,
    /// Slots whose sockets may hold more than was received in one turn. Their edge has passed, so
    /// only this list knows of it.
    unread: Vec<u32>,
    /// Slots on which a send failed, and how: they are read once more, then given up.
    broken: Vec<(u32, Failure)>,
    /// Slots that rest after failing to connect: until when, and which.
    resting: Vec<(Nanos, u32)>,
    resolving: Vec<Resolving>,
    /// Origins met by redirects, and those that streams were led to.
    detours: Vec<Route>,
    elsewhere: Vec<Elsewhere>,
    /// Where connections carry many exchanges: room for each, whose index is its stream's token.
    places: Vec<Place>,
    /// The places of each of the plan's connections; none where a connection carries one exchange.
    groups: Vec<Group>,
    /// Slots that no group uses.
    spares: Vec<u32>,
    /// Slots with something to write.
    dirty: Vec<u32>,
    /// The slot whose streams are being read. Until all is heard that has come, nothing new is put
    /// on its connection: a GOAWAY may follow an answer.
    reading: Option<u32>,
    /// Places that rest because their request could not be made.
    resting_places: Vec<(Nanos, u32)>,
    /// When calls have something to say by themselves: when, which place, and when its exchange
    /// started.
    timers: BinaryHeap<Reverse<(Nanos, u32, Nanos)>>,
    tools: Tools,
    /// How connections are asked for signs of life, by now.
    ping: Option<Ping>,
    /// How long a head may take on a stream, where that is less than the whole exchange may.
    head_limit: Option<Nanos>,
    /// No deadline lies before this.
    next_scan: Nanos,
    /// Slots that carry an exchange.
    active: u32,
    /// Exchanges begun whose intended start is measured.
    started: u64,
    intended: u64,
    dropped: u64,
    measure_from: Nanos,
    /// When waiting for what is in flight ends; set when nothing more is started.
    drain_until: Option<Nanos>,
    last_end: Nanos,
}

/// A route's free slots, and the requests that wait for one.
#[derive(Debug)]
pub(crate) struct Lane {
    route: Route,
    free: VecDeque<u32>,
    waiting: VecDeque<Arrival>,
    /// For each address, until when it is tried last.
    down_until: Vec<Nanos>,
}

impl Lane {
    fn new(route: &Route) -> Self {
        Self {
            down_until: vec![Nanos::ZERO; route.width()],
            route: route.clone(),
            free: VecDeque::new(),
            waiting: VecDeque::new(),
        }
    }
}

impl<I: Io> Worker<I> {
    pub(crate) fn assemble(
        io: I,
        prepared: Arc<Prepared>,
        control: Control,
        arrivals: Arrivals,
        channel: Channel,
        extent: Extent,
    ) -> Self {
        let plan = &prepared.plan;
        let steps: Arc<[Arc<str>]> = prepared.steps.clone().into();
        let recorder = Recorder::new(channel, steps, plan);
        let mut routes: Vec<Lane> = prepared.routes.iter().map(Lane::new).collect();
        let before = extent.connections_before;
        let numbers = before..before + extent.connections;
        let slots = slots_of(&mut routes, plan.connections.spread, &numbers);
        let mut worker = Self {
            measure_from: plan.warmup,
            shared: Shared::new(Limits::default()),
            buffer: vec![0; RECEIVE_BYTES],
            scratch: vec![0; DISCARD_BYTES],
            unread: Vec::with_capacity(slots.len()),
            broken: Vec::new(),
            resting: Vec::with_capacity(slots.len()),
            resolving: Vec::new(),
            detours: Vec::new(),
            elsewhere: Vec::new(),
            places: Vec::new(),
            groups: Vec::new(),
            spares: Vec::new(),
            dirty: Vec::new(),
            reading: None,
            resting_places: Vec::new(),
            timers: BinaryHeap::new(),
            tools: Tools::default(),
            ping: plan.connections.ping,
            head_limit: Some(plan.timeouts.head).filter(|head| *head < plan.timeouts.total),
            next_scan: Nanos::MAX,
            active: 0,
            started: 0,
            intended: 0,
            dropped: 0,
            drain_until: None,
            last_end: Nanos::ZERO,
            io,
            prepared,
            control,
            arrivals,
            crowd: extent.crowd,
            recorder,
            slots,
            routes,
        };
        worker.furnish();
        worker
    }

    /// Runs from the start to the end of the drain. The driver's epoch is the run's start.
    ///
    /// # Errors
    /// When the driver can't wait: there is no account of such a run.
    pub fn run(mut self) -> Result<(), Fault> {
        let times = self.io.thread_times();
        self.recorder.begin(times);
        let mut ready: Vec<Readiness> = Vec::with_capacity(256);
        loop {
            let now = self.io.now();
            self.roll(now);
            let is_to_stop = self.arrivals.is_timed_out(now) || self.control.is_stopping();
            if self.drain_until.is_none() && is_to_stop {
                self.stop(now);
            }
            self.dispatch(now);
            self.flush_dirty();
            if self.is_done(now) {
                break;
            }
            let until = self.next_wake();
            let before = self.io.now();
            self.recorder
                .interval()
                .health
                .loop_turn
                .record(before - now);
            self.io.wait(until, &mut ready)?;
            self.turn(until, before, &ready);
        }
        self.finish();
        Ok(())
    }

    /// Moves on what is ready, then what time has come for.
    fn turn(&mut self, until: Nanos, before: Nanos, ready: &[Readiness]) {
        let now = self.io.now();
        // Late is late, whether or not something became ready meanwhile.
        if until > before && now > until {
            self.recorder
                .interval()
                .health
                .wake_lateness
                .record(now - until);
        }
        let unread = self.unread.len();
        for readiness in ready {
            self.on_ready(*readiness);
        }
        if unread > 0 {
            self.read_on(unread);
        }
        if !self.broken.is_empty() {
            self.read_broken();
        }
        if now >= self.next_scan {
            self.scan(now);
        }
        if !self.resting.is_empty() {
            self.wake_resting(now);
        }
        if !self.timers.is_empty() || !self.resting_places.is_empty() {
            self.wake_places(now);
        }
        if !self.resolving.is_empty() {
            self.poll_resolving();
        }
        if self.is_seeking() {
            self.poll_elsewhere(now);
        }
    }

    /// Starts what is due, as far as connections are free, in bounded portions.
    fn dispatch(&mut self, now: Nanos) {
        let portion = if self.is_multiplexed() {
            STREAMS_PER_TURN
        } else {
            STARTS_PER_TURN
        };
        for _ in 0..portion {
            if !self.start_next(now) {
                return;
            }
        }
    }

    /// Starts one request; `false` when none is due or no connection is free for it.
    fn start_next(&mut self, now: Nanos) -> bool {
        if !self.crowd.admits(self.active, now) {
            return false;
        }
        for lane in 0..self.routes.len() {
            if !self.routes[lane].waiting.is_empty() && !self.routes[lane].free.is_empty() {
                return self.start_waiting(lane, now);
            }
        }
        if self.prepared.routes.len() == 1 && self.routes[0].free.is_empty() {
            return false;
        }
        match self.arrivals.take(now) {
            Some(arrival) => {
                self.place(arrival, now);
                true
            }
            None => false,
        }
    }

    /// Gives a request to a free slot of its route, or lets it wait for one.
    fn place(&mut self, arrival: Arrival, now: Nanos) {
        let request = self.request_of(arrival);
        let lane = &mut self.routes[usize::from(self.prepared.requests[request].route)];
        match lane.free.pop_front() {
            Some(slot) => self.start(slot, arrival, now),
            None => lane.waiting.push_back(arrival),
        }
    }

    /// Gives a waiting request to a free slot of its route.
    fn start_waiting(&mut self, lane: usize, now: Nanos) -> bool {
        while let Some(arrival) = self.routes[lane].waiting.pop_front() {
            if self.arrivals.still_wanted(arrival, now)
                && let Some(slot) = self.routes[lane].free.pop_front()
            {
                self.start(slot, arrival, now);
                return true;
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

    /// When the loop must turn again by itself.
    fn next_wake(&self) -> Nanos {
        if !self.unread.is_empty() || !self.broken.is_empty() || !self.dirty.is_empty() {
            return Nanos::ZERO;
        }
        let now = self.io.now();
        // A request that is due and has no connection is started when one becomes free.
        let blocked = self.prepared.routes.len() == 1 && self.routes[0].free.is_empty();
        let due = if blocked || self.crowd.is_full(self.active) {
            Nanos::MAX
        } else {
            self.arrivals.next_due()
        };
        let due = due.min(self.crowd.next_change());
        let end = match self.drain_until {
            Some(until) => until,
            None => self.arrivals.next_end(now).min(now + WAIT_MAX),
        };
        let rest = self
            .resting
            .iter()
            .map(|(until, _)| *until)
            .min()
            .unwrap_or(Nanos::MAX);
        let look_up = if self.resolving.is_empty() && !self.is_seeking() {
            Nanos::MAX
        } else {
            now + LOOK_UP
        };
        due.min(end)
            .min(rest)
            .min(self.places_due())
            .min(look_up)
            .min(self.next_scan)
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

    /// Takes over from the arrivals what became due and what was dropped.
    fn tally(&mut self, end: Nanos) {
        let tally = self.arrivals.tally(end);
        self.intended += tally.intended;
        self.dropped += tally.dropped;
        self.recorder.interval().record_intended(tally.intended);
        self.recorder.interval().record_dropped(tally.dropped);
    }

    /// Starts nothing more, but for what was due before the end and has a free connection: the
    /// loop may wake a little after the end.
    fn stop(&mut self, now: Nanos) {
        while self.start_next(now) {}
        self.tally(now + Nanos(1));
        self.arrivals.stop(now);
        self.record_pending(now);
        for lane in &mut self.routes {
            lane.waiting.clear();
        }
        self.drain_until = Some(now + DRAIN_MAX);
        self.drain(now);
    }

    /// Records the wait of what was due before the stop and is not sent any more.
    fn record_pending(&mut self, now: Nanos) {
        let stopped_at = self.arrivals.used_time(now);
        let requests = &self.prepared.requests;
        let length = requests.len() as u64;
        let interval = self.recorder.interval();
        let mut record = |arrival: Arrival, count| {
            let step = requests[(arrival.index % length) as usize].step;
            interval.record_pending(step, stopped_at - arrival.intended, count);
        };
        let waiting = self.routes.iter().flat_map(|lane| &lane.waiting);
        for arrival in waiting.filter(|arrival| arrival.intended >= self.measure_from) {
            record(*arrival, 1);
        }
        self.arrivals.pending(length, record);
    }

    /// Records what is under way as the drain ends, and counts it.
    fn record_in_flight(&mut self, now: Nanos) -> u64 {
        let slots = self.slots.iter();
        let slots = slots.filter(|slot| slot.duty == Duty::Exchange);
        let places = self.places.iter();
        let places = places.filter(|place| place.phase != Phase::Free);
        let exchanges = slots.map(|slot| &slot.exchange);
        let exchanges = exchanges.chain(places.map(|place| &place.exchange));
        let mut count = 0;
        for exchange in exchanges.filter(|exchange| exchange.intended >= self.measure_from) {
            let step = self.prepared.requests[exchange.request as usize].step;
            let sample = exchange.sample(now, Outcome::LocalCancelled, 0, step);
            self.recorder.interval().record_in_flight(&sample);
            count += 1;
        }
        count
    }

    fn is_done(&self, now: Nanos) -> bool {
        if self.active > 0 {
            return self.drain_until.is_some_and(|until| now >= until);
        }
        self.drain_until.is_some()
            || self.arrivals.is_over(now) && self.routes.iter().all(|lane| lane.waiting.is_empty())
    }

    /// Accounts for everything, once.
    fn finish(mut self) {
        self.hear_out();
        let now = self.io.now();
        self.roll(now);
        self.tally(now + Nanos(1));
        let in_flight = self.record_in_flight(now);
        let pending = self.intended - self.dropped - self.started;
        for slot in 0..self.slots.len() {
            self.say_goodbye(slot as u32);
            self.close_connection(slot as u32);
        }
        let times = self.io.thread_times();
        let end = if in_flight > 0 {
            now
        } else {
            self.last_end.max(self.arrivals.used_time(now))
        };
        let channel = self.recorder.finish(now, times);
        let unfinished = Unfinished { pending, in_flight };
        // Nobody listens only when the run is already given up.
        let _given_up = channel.out.send(Message::Done { unfinished, end });
    }
}

/// Slots for each route's connections, whose numbers count over all workers, so that all together
/// take turns at a name's addresses.
fn slots_of(lanes: &mut [Lane], spread: Spread, numbers: &Range<u32>) -> Vec<Connection> {
    let mut slots = Vec::with_capacity(numbers.len() * lanes.len());
    for (index, lane) in (0..).zip(lanes) {
        lane.free.reserve_exact(numbers.len() + 1);
        // Where all go to the first address, each starts a round of its own: local addresses take
        // turns by the round.
        let stride = match spread {
            Spread::Turn => 1,
            Spread::First => lane.route.width() as u32,
        };
        let slot = |n: u32| Connection::new(index, n.wrapping_mul(stride));
        slots.extend(numbers.clone().map(slot));
    }
    slots
}
