//! One pool of a running worker: the worker's share of the pool's load, and the order in which its
//! parts move.
//!
//! ```text
//!   Orders ─► Demand ─► Exchanges ◄─► Transport ◄─► io
//!               ▲                └─► ends, settled here ─► recorder
//!               └─ PoolPeers ◄──► the pool's other workers
//! ```
//!
//! The parts are siblings and independent of each other; a method here borrows those that it needs.
//! The [`Demand`] decides what starts, [`Exchanges`] keep each request from its start to its
//! sample, the [`Transport`] carries them, [`Timers`] wake both, and [`PoolPeers`] lead to the
//! pool's other workers. The methods are in three files: `starts` begins iterations and requests,
//! `carriage` carries exchanges to their ends, and this file has the order of the two, the orders,
//! and the [`Lifecycle`] from running to finished. The worker owns the driver and the recorder, and
//! lends them as a [`PoolContext`].
//!
//! Before the run, the worker calls `open_more` in each turn until all connections are open or have
//! failed, then `opened`; at the run's start it calls `pass`. In each turn of its loop it calls:
//!
//! ```text
//!   carry_out, has_to_stop ─► stop     orders first: they move the horizon of arrivals
//!   start_next*                        until it starts nothing, or the portion of a turn is used
//!   is_done ─► finish                  once; afterwards the pool is left alone
//!   next_wake, rest … resume           around the wait; in between others may take the demand
//!   take_back                          the requests that others have ended meanwhile
//!   transmit                           for each socket that is ready, then if there `has_more`,
//!   time_out, wake                     for each exchange that is `overdue`, each timer that is due
//! ```
//!
//! The worker calls [`PoolRun::settle`] after each of these that may have ended an exchange. An
//! exchange is ended only there, and the next one starts at once on its seat, so no method finds an
//! exchange half ended. If an exchange has ended beyond the edge of an interval, `settle` stops
//! before it, and the worker closes the interval first.
//!
//! Between two calls of the worker, these conditions hold: every running exchange has a seat (of
//! its own share, or one at home while a redirect takes it elsewhere); every user is free, in an
//! iteration, lent or retired; both lists of the exchanges are empty unless an interval must be
//! closed first. A method that could break this leaves the rest to `settle`.

mod carriage;
mod peers;
mod starts;

use self::peers::PoolPeers;
use crate::channel::Channel;
use crate::control::Orders;
use crate::demand::{Demand, Returned, Room};
use crate::exchanges::{End, Exchanges, Held, Lists};
use crate::handover::Member;
use crate::id::PoolId;
use crate::idle_since::Delays;
use crate::lifecycle::Lifecycle;
use crate::limits::{BACKOFF_MIN, STARTS_PER_TURN, STREAMS_PER_TURN};
use crate::pool_io::PoolContext;
use crate::prepare::{Lookup, PreparedPool};
use crate::protocol::Protocol;
use crate::recorder::Recorder;
use crate::timers::{Timers, Wake};
use crate::transport::Transport;
use drumfire_net::Io;
use drumfire_plan::{Affinity, ClockChoice, Drain};
use drumfire_units::Nanos;
use std::sync::Arc;

/// A worker's part of one pool.
pub(crate) struct PoolRun {
    prepared: Arc<PreparedPool>,
    id: PoolId,
    orders: Orders,
    /// Running, draining or finished. Exchanges start only while it is running.
    pub(crate) lifecycle: Lifecycle,
    pub(crate) demand: Demand,
    exchanges: Exchanges,
    pub(crate) transport: Transport,
    pub(crate) timers: Timers,
    lookup: Lookup,
    /// The times by which stops have delayed this worker's own users.
    delays: Delays,
    peers: PoolPeers,
    affinity: Affinity,
    /// Whether connections carry many exchanges, so that an idle one may be closed.
    multiplexes: bool,
    /// Whether times of arrival come from the kernel, and are therefore in the past.
    reads_stamps: bool,
    /// The maximum number of exchanges to start in a turn.
    pub(crate) portion: u32,
}

impl PoolRun {
    /// A worker's part of a pool, with these connections and this demand; with a `member` if the
    /// pool has other workers. Allocates room for one exchange per stream of each share, so that
    /// the run does not allocate.
    pub(crate) fn new(
        prepared: &Arc<PreparedPool>,
        transport: Transport,
        demand: Demand,
        orders: Orders,
        member: Option<Member>,
    ) -> Self {
        let pool = prepared.pool();
        let is_exclusive = Protocol::is_exclusive_for(pool);
        let room = transport.connections.share_count() * pool.connections.streams as usize;
        Self {
            id: prepared.id,
            orders,
            lifecycle: Lifecycle::new(prepared.generator().warmup.span()),
            demand,
            exchanges: Exchanges::new(Arc::clone(prepared), room),
            transport,
            timers: Timers::default(),
            lookup: Lookup::new(prepared),
            delays: Delays::new(match pool.load.is_open() {
                true => None,
                false => Some(pool.users_most().unwrap_or(0)),
            }),
            peers: PoolPeers::new(member),
            affinity: pool.connections.affinity,
            multiplexes: !is_exclusive,
            reads_stamps: prepared.generator().clock != ClockChoice::Program,
            portion: match is_exclusive {
                true => STARTS_PER_TURN,
                false => STREAMS_PER_TURN,
            },
            prepared: Arc::clone(prepared),
        }
    }

    /// Begins the load at time `from` of the run; arrivals that are due earlier are left out.
    pub(crate) fn begin_from(&mut self, from: Nanos) {
        let demand = &mut self.demand;
        self.orders
            .begin_from(from, &mut demand.arrivals, &mut demand.population);
    }

    /// Applies the orders that are due.
    #[inline]
    pub(crate) fn carry_out(&mut self, now: Nanos) {
        let demand = &mut self.demand;
        self.orders
            .carry_out(&mut demand.arrivals, &demand.population, now);
    }

    /// Whether the load ends now.
    #[inline]
    pub(crate) fn has_to_stop(&self, now: Nanos) -> bool {
        let stops = self.demand.arrivals.is_timed_out(now)
            || self.orders.is_stopping(now)
            || self.demand.population.are_gone() && self.peers.are_deserted();
        stops && !self.lifecycle.is_stopped()
    }

    /// Whether exchanges in flight end with the load. A request that began now would fail only for
    /// this reason, or be sent after the end of a lease.
    pub(crate) fn is_cut_off(&self, now: Nanos) -> bool {
        self.orders.is_ending(now)
            || self.orders.is_stopping(now) && self.prepared.pool().stop.drain == Drain::Close
    }

    /// Starts one exchange, or an iteration that begins with a pause; `false` if none is due or no
    /// seat is free. Work that is due here and work that other workers have left are started in the
    /// order of their due times.
    #[inline]
    pub(crate) fn start_next<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, now: Nanos) -> bool {
        if self.peers.sees_offers() {
            return self.start_older(cx, now);
        }
        self.start_own(cx, now)
    }

    /// Starts the arrival or request that has been due for longest, of this worker or of one
    /// without room.
    #[cold]
    fn start_older<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, now: Nanos) -> bool {
        let own = if self.is_blocked() {
            Nanos::MAX
        } else {
            self.demand.arrivals.drop_late(now);
            self.demand.arrivals.next_due()
        };
        let own = own.min(self.demand.waiting.first_request());
        self.help(cx, own, now) || self.start_own(cx, now) || self.help(cx, Nanos::MAX, now)
    }

    /// Does the first thing that another worker has left, if it has been due for longer than `own`
    /// and there is room for it here; `false` if nothing qualifies.
    fn help<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, own: Nanos, now: Nanos) -> bool {
        let admits = self.demand.population.admits(now);
        let lanes = &self.transport.connections.lanes;
        let unix_time = || cx.io.unix_time();
        let lent = self.peers.take_lent(own, now, |demand| {
            demand.lend(now, admits, |lane| !lanes[lane].is_full(), unix_time)
        });
        let Some((home, lent)) = lent else {
            return false;
        };
        self.start_lent(cx, home, lent, now);
        true
    }

    /// Ends the exchanges that are over and continues those that need an action, until both lists
    /// are empty.
    ///
    /// # Errors
    /// The end time of the next exchange, if the current interval must be closed before it.
    #[inline]
    pub(crate) fn settle<I: Io>(&mut self, cx: &mut PoolContext<'_, I>) -> Result<(), Nanos> {
        if self.exchanges.lists.is_empty() {
            Ok(())
        } else {
            self.settle_all(cx)
        }
    }

    fn settle_all<I: Io>(&mut self, cx: &mut PoolContext<'_, I>) -> Result<(), Nanos> {
        let edge = cx.recorder.edge();
        loop {
            while let Some(end) = next_ended(&mut self.exchanges.lists, edge)? {
                self.end_exchange(cx, end);
            }
            let Some(todo) = self.exchanges.lists.next_todo() else {
                return Ok(());
            };
            self.carry_out_todo(cx, todo);
        }
    }

    /// Records an exchange that is over, lets its user continue, and reuses its seat. The seat is
    /// free since the exchange's end; the user continues now, which is later if the end is a kernel
    /// time stamp.
    #[inline]
    fn end_exchange<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, end: End) {
        let (end, now) = self.take_in_hand(cx, end);
        let held = self.account(cx, end, now);
        // A long turn looks for orders again, so that due arrivals may start.
        if now > self.demand.arrivals.horizon() {
            self.carry_out(now);
        }
        let usable_from = self.transport.connections.usable_from(held.share, now);
        let rests_until = match end.rests {
            false => usable_from,
            true => usable_from.max(now + BACKOFF_MIN),
        };
        let ready = self.ready_from(rests_until, now);
        if held.home == self.peers.home {
            self.continue_user(cx, end, held, ready, now);
        } else {
            self.give_back(end, held, ready);
        }
        self.reuse_seat(cx, end, held, rests_until, now);
    }

    /// Makes the samples of the exchanges that are over, without starting others.
    ///
    /// # Errors
    /// As for [`Self::settle`].
    pub(crate) fn account_all<I: Io>(&mut self, cx: &mut PoolContext<'_, I>) -> Result<(), Nanos> {
        let edge = cx.recorder.edge();
        while let Some(end) = next_ended(&mut self.exchanges.lists, edge)? {
            let (end, now) = self.take_in_hand(cx, end);
            self.account(cx, end, now);
        }
        Ok(())
    }

    /// Returns the end of a request to the worker whose user made it.
    #[cold]
    fn give_back(&mut self, end: End, held: Held, ready: Nanos) {
        let (jar, taken) = self.exchanges.user_state(end.id);
        let returned = Returned {
            user: held.user,
            outcome: end.outcome,
            jar,
            taken: taken.cloned(),
            ready,
        };
        self.peers.give_back(held.home, returned);
    }

    /// Handles a timer that has fired.
    #[cold]
    pub(crate) fn wake<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, wake: Wake, now: Nanos) {
        match wake {
            Wake::User(user, generation) => self.wake_user(cx, user, generation, now),
            wake => self.wake_exchange(cx, wake, now),
        }
    }

    /// The latest time of the loop's next turn, as of `now`.
    pub(crate) fn next_wake(&self, now: Nanos) -> Nanos {
        // A due arrival without room is started when there is room, here or elsewhere.
        let due = self.demand.arrivals.next_due();
        let waits = self.peers.is_alone() || due <= now;
        let due = match waits && self.is_blocked() {
            true => Nanos::MAX,
            false => due,
        };
        let Demand {
            arrivals,
            population,
            ..
        } = &self.demand;
        let drained = self.lifecycle.drain_until;
        let end = drained.unwrap_or_else(|| arrivals.next_end(now, population));
        due.min(end)
            .min(population.next_change())
            .min(self.next_exchange_wake())
    }

    /// Prepares for the worker's sleep. Returns the time by which to wake for the pool's other
    /// workers.
    #[inline]
    pub(crate) fn rest(&mut self, now: Nanos) -> Nanos {
        match self.peers.is_alone() {
            true => Nanos::MAX,
            false => self.rest_beside(now),
        }
    }

    fn rest_beside(&mut self, now: Nanos) -> Nanos {
        let room = match self.lifecycle.is_stopped() {
            true => Room::NONE,
            false => Room::new(
                self.transport.connections.lanes.with_room(),
                !self.demand.population.is_full(),
            ),
        };
        let offer = self.demand.offer(self.is_blocked());
        self.peers.rest(&mut self.demand, offer, room, now)
    }

    /// Ends the sleep: takes the demand back, with the ends of its users' requests that other
    /// workers carried out.
    #[inline]
    pub(crate) fn resume(&mut self) -> Vec<Returned> {
        self.peers.resume(&mut self.demand)
    }

    /// Records the arrivals that became due or were dropped before `end`. Called before each
    /// interval is closed, so that an arrival counts in the interval in which it became due.
    pub(crate) fn tally(&mut self, recorder: &mut Recorder<Channel>, end: Nanos) {
        let figures = recorder.figures(self.id);
        self.demand.tally(end, figures);
        figures.under_way += self.lifecycle.note_under_way(self.exchanges.open());
        recorder.hand_over(self.exchanges.take_written());
    }

    /// Ends the load: records all arrivals that were due and have no seat, and cancels exchanges if
    /// the plan requires it. Called once.
    pub(crate) fn stop<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, now: Nanos) {
        // An arrival that is too late is dropped, even if no seat was sought for it.
        self.demand.arrivals.drop_late(now);
        self.tally(cx.recorder, now + Nanos(1));
        let figures = cx.recorder.figures(self.id);
        let (requests, measure_from) = (&self.prepared.requests, self.lifecycle.measure_from);
        self.demand.stop(now, requests, measure_from, figures);
        let drain = self.prepared.pool().stop.drain;
        self.lifecycle.stop(now, drain);
        if drain == Drain::Close {
            self.cancel_all(cx, now);
        }
    }

    /// Whether only the final account is left.
    pub(crate) fn is_done(&mut self, now: Nanos) -> bool {
        if self.orders.is_ending(now) {
            return true;
        }
        if self.exchanges.open() > 0 || self.demand.is_under_way() {
            return self.lifecycle.drain_until.is_some_and(|until| now >= until);
        }
        self.lifecycle.is_stopped() || self.demand.is_over(now) && self.peers.note_over()
    }

    /// Makes the final account and closes all connections. Called once.
    pub(crate) fn finish<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, now: Nanos) {
        self.tally(cx.recorder, now + Nanos(1));
        let in_flight = self.close_all(cx, now);
        let figures = cx.recorder.figures(self.id);
        let (requests, measure_from) = (&self.prepared.requests, self.lifecycle.measure_from);
        let demand = &self.demand;
        demand.finish(now, requests, measure_from, figures);
        let used = demand.arrivals.used_time(now, &demand.population);
        let noticed_at = self.orders.stopped_at();
        self.lifecycle.finish(now, used, noticed_at, in_flight);
    }
}

/// Takes the next exchange that is over.
///
/// # Errors
/// The end time of the exchange, if it is not before `edge`; the exchange stays on the list.
#[inline(always)]
fn next_ended(lists: &mut Lists, edge: Nanos) -> Result<Option<End>, Nanos> {
    let Some(end) = lists.next_ended() else {
        return Ok(None);
    };
    if end.now >= edge {
        return Err(end.now);
    }
    lists.pass_ended();
    Ok(Some(end))
}
