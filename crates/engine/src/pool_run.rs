//! One pool of a worker under way: its share of the pool's load, and all parts that carry it.
//!
//! ```text
//!   arrivals ──► users ──► exchanges ◄──► transport ◄──► io
//!      ▲                       │
//!      └──────── ended ────────┴──► recorder
//! ```
//!
//! Arrivals and users are its [`Demand`], which other workers may serve while this one sleeps. Each
//! part owns its state; the pool moves what one gives to the next. The driver and the recorder are
//! the worker's, which lends them as a [`Site`].
//!
//! The worker calls, before the run, the methods of [`opening`]; then in each turn of its loop:
//!
//! ```text
//!   carry_out, has_to_stop ─► stop     orders first: they move the horizon of arrivals
//!   start_next*                        until it starts nothing, or the portion of a turn is used
//!   is_done ─► finish                  once; afterwards the pool is left alone
//!   next_wake, rest … resume           around the wait; in between the demand is others' to take
//!   begin_turn, transmit*              for each socket that is ready
//!   overdue ─► time_out, due ─► wake, take_back
//!                                      for everything whose time has come
//! ```
//!
//! It calls [`PoolRun::settle`] after each of these that may have ended an exchange. There alone an
//! exchange ends, and the next one starts at once on its seat; so no method finds an exchange half
//! ended. Where an exchange has ended beyond the edge of an interval, `settle` stops before it and
//! the worker closes the interval first.

use crate::blame::Failure;
use crate::channel::Channel;
use crate::control::Orders;
use crate::course::{Course, Finish};
use crate::demand::Demand;
use crate::exchanges::{Due, ExchangeHandler, Exchanges, Todo};
use crate::freed::Freed;
use crate::handover::Member;
use crate::id::{ExchangeId, LaneId, PoolId};
use crate::limits::{STARTS_PER_TURN, STREAMS_PER_TURN};
use crate::pool_io::{PoolIo, Site};
use crate::prepare::{Lookup, PreparedPool};
use crate::protocol::Protocol;
use crate::recorder::Recorder;
use crate::timers::{Timers, Wake};
use crate::transport::{Context, Found, Seat, Transport};
use drumfire_measure::Outcome;
use drumfire_net::Io;
use drumfire_plan::{Affinity, Drain};
use drumfire_units::Nanos;
use std::sync::Arc;

/// A worker's part of one pool.
pub(crate) struct PoolRun {
    prepared: Arc<PreparedPool>,
    id: PoolId,
    orders: Orders,
    demand: Demand,
    exchanges: Exchanges,
    transport: Transport,
    timers: Timers,
    lookup: Lookup,
    course: Course,
    affinity: Affinity,
    /// Whether connections carry many exchanges, and one may end for want of more.
    multiplexes: bool,
    /// The way to the pool's other workers, where there are any.
    member: Option<Member>,
}

/// Lends the transport the parts that it needs for a call.
macro_rules! context {
    ($pool:ident, $site:ident) => {
        &mut Context {
            io: &mut $site.io,
            handler: &mut ExchangeHandler::new(
                &mut $pool.exchanges,
                $site.recorder.figures($pool.id),
            ),
            timers: &mut $pool.timers,
        }
    };
}

mod ending;
mod helping;
mod opening;
mod starting;

impl PoolRun {
    /// A worker's part of a pool with these connections and this demand; `member` where the pool
    /// has other workers.
    pub(crate) fn new(
        prepared: &Arc<PreparedPool>,
        transport: Transport,
        demand: Demand,
        orders: Orders,
        member: Option<Member>,
    ) -> Self {
        let pool = prepared.pool();
        let room = transport.seats().share_count() * pool.connections.streams as usize;
        Self {
            id: prepared.id(),
            exchanges: Exchanges::new(Arc::clone(prepared), room),
            lookup: Lookup::new(prepared),
            timers: Timers::default(),
            course: Course::new(prepared.generator().warmup.span()),
            affinity: pool.connections.affinity,
            multiplexes: !Protocol::from(pool.http.version).is_exclusive(),
            prepared: Arc::clone(prepared),
            orders,
            demand,
            member,
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
        act: impl FnOnce(&mut Transport, &mut Context<'_, PoolIo<'_, I>, ExchangeHandler<'_>>) -> T,
    ) -> T {
        act(&mut self.transport, context!(self, site))
    }

    /// Applies the orders that are due.
    #[inline]
    pub(crate) fn carry_out(&mut self, now: Nanos) {
        self.orders
            .carry_out(&mut self.demand.arrivals, &self.demand.population, now);
    }

    /// Whether the load ends now.
    #[inline]
    pub(crate) fn has_to_stop(&self, now: Nanos) -> bool {
        let stops = self.demand.arrivals.is_timed_out(now)
            || self.orders.is_stopping()
            || self.demand.population.are_gone() && self.is_deserted();
        stops && !self.course.is_stopped()
    }

    /// The largest number of exchanges that start in a turn.
    pub(crate) const fn portion(&self) -> u32 {
        if self.multiplexes {
            STREAMS_PER_TURN
        } else {
            STARTS_PER_TURN
        }
    }

    /// Begins a turn: slots that were left unread before are read after those that are ready.
    #[inline]
    pub(crate) fn begin_turn(&mut self) {
        self.transport.begin_turn();
    }

    /// Whether the turn has more to do than what is ready: input that was left, or something whose
    /// time has come.
    #[inline]
    pub(crate) fn has_more(&self, now: Nanos) -> bool {
        let timeout = self.exchanges.next_timeout();
        self.transport.has_input() || now >= timeout.min(self.timers.next())
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

    /// Ends the exchanges that are over and continues those that ask for it, until both lists are
    /// empty.
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
        self.exchanges.has_listed()
    }

    fn settle_all<I: Io>(&mut self, site: &mut Site<'_, I>) -> Result<(), Nanos> {
        let edge = site.recorder.edge();
        loop {
            while let Some(end) = self.exchanges.lists().next_ended(edge)? {
                self.end(site, end);
            }
            match self.exchanges.lists().next_todo() {
                Some(todo) => self.go_on(site, todo),
                None if self.exchanges.lists().has_ended() => {}
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
        let share = self.exchanges.share(id);
        let further = self.further();
        let Some(origin) = self.exchanges.heads_for(id) else {
            return self
                .transport
                .submit(context!(self, site), id, share, further, now);
        };
        let found = self
            .transport
            .reach(context!(self, site), id, share, &origin, &self.lookup);
        let reached = found.and_then(|found| match found {
            Found::Sought => Ok(None),
            Found::Share(share, form) => {
                self.exchanges.prepare_hop(id, form)?;
                Ok(Some(share))
            }
        });
        match reached {
            Ok(None) => {}
            Ok(Some(share)) => {
                self.transport
                    .submit(context!(self, site), id, share, further, now);
            }
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
        match wake {
            Wake::Seat(share) => {
                let since = self.transport.rest_of(share);
                let seats = self.transport.seats_mut();
                if seats.keeps_one(share) {
                    let since = Freed::at(since);
                    seats.give(Seat { share, since });
                }
            }
            Wake::Dial(_) | Wake::Connection(..) => {
                self.transport.wake(context!(self, site), wake, now);
            }
            Wake::LookUps => self.take_look_ups(site, now),
            Wake::Names(lane) => {
                let (lookup, timers) = (&self.lookup, &mut self.timers);
                self.transport.look_up(lane, lookup, timers, now);
            }
            Wake::User(user, generation) => {
                let unix_time = || site.io.unix_time();
                if let Some(next) = self.demand.users.wake(user, generation, unix_time) {
                    self.carry_on(site, next, now);
                }
            }
            Wake::Exchange(id, generation) => {
                let phase = self.transport.phase_of(id);
                let figures = site.recorder.figures(self.id);
                match self
                    .exchanges
                    .timer_step(id, generation, phase, figures, now)
                {
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

    /// Whether no arrival can begin here, however long it has been due.
    #[inline]
    fn is_blocked(&self) -> bool {
        let takes_seat = self.demand.waiting.has_one_lane() && self.demand.needs_seat();
        takes_seat && self.transport.seats().is_full(LaneId(0)) || self.demand.population.is_full()
    }

    /// The time by which the loop must turn again by itself, as of `now`.
    pub(crate) fn next_wake(&self, now: Nanos) -> Nanos {
        if self.transport.is_pressing() {
            return Nanos::ZERO;
        }
        // An arrival that is due and has no room is started when there is some, here or elsewhere.
        let due = self.demand.arrivals.next_due();
        let due = if self.is_blocked() && (self.member.is_none() || due <= now) {
            Nanos::MAX
        } else {
            due
        };
        let drained = self.course.drained_by();
        let end =
            drained.unwrap_or_else(|| self.demand.arrivals.next_end(now, &self.demand.population));
        due.min(end)
            .min(self.demand.population.next_change())
            .min(self.timers.next())
            .min(self.exchanges.next_timeout())
    }

    /// Takes over from the arrivals what became due and what was dropped before a time.
    pub(crate) fn tally(&mut self, recorder: &mut Recorder<Channel>, end: Nanos) {
        let figures = recorder.figures(self.id);
        self.demand.tally(end, figures);
        figures.under_way += self.course.note_under_way(self.exchanges.open());
        recorder.hand_over(self.exchanges.take_written());
    }

    /// Ends the load: records what was due and has no seat, and cancels where the plan says so.
    pub(crate) fn stop<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) {
        // What came too late for a seat is dropped, whether or not one was asked for since.
        self.demand.arrivals.drop_late(now);
        self.tally(site.recorder, now + Nanos(1));
        let figures = site.recorder.figures(self.id);
        let (requests, measure_from) = (self.prepared.requests(), self.course.measure_from());
        self.demand.stop(now, requests, measure_from, figures);
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
    pub(crate) fn is_done(&mut self, now: Nanos) -> bool {
        if self.orders.is_ending() {
            return true;
        }
        if self.exchanges.open() > 0 || self.demand.is_under_way() {
            return self.course.drained_by().is_some_and(|until| now >= until);
        }
        if self.course.is_stopped() {
            return true;
        }
        self.demand.is_over(now)
            && self.member.as_mut().is_none_or(|member| {
                member.note_over();
                member.is_over()
            })
    }

    /// Accounts for everything and closes all connections; called once.
    pub(crate) fn finish<I: Io>(&mut self, site: &mut Site<'_, I>, now: Nanos) {
        self.tally(site.recorder, now + Nanos(1));
        let figures = site.recorder.figures(self.id);
        let in_flight = self.exchanges.record_in_flight(now, figures);
        let (requests, measure_from) = (self.prepared.requests(), self.course.measure_from());
        self.demand.finish(now, requests, measure_from, figures);
        self.transport.close_all(context!(self, site));
        let used_until = self.demand.arrivals.used_time(now, &self.demand.population);
        self.course.finish(now, used_until, in_flight);
    }

    /// The end of it, once it is accounted for.
    pub(crate) const fn finished(&self) -> Option<Finish> {
        self.course.finished()
    }
}
