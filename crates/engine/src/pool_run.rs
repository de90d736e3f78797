//! One pool of a worker under way: the worker's share of the pool's load, and the order in which its
//! parts move.
//!
//! ```text
//!   Orders ──► Admission { Demand, Dispatcher { Exchanges ◄─► Transport ◄─► io } } ──► recorder
//!                  ▲                                                    │
//!                  └── Membership ◄──► the pool's other workers         └─► ends, settled here
//! ```
//!
//! The pool keeps the orders that it is given and its [`Lifecycle`], from running to finished.
//! [`Admission`] begins iterations and requests, [`Dispatcher`] carries exchanges to their ends, and
//! [`Membership`] is the way to the pool's other workers. The driver and the recorder are the
//! worker's, which lends them as a [`PoolContext`].
//!
//! Before the run the worker calls `open_more` in each turn, until all connections are open or have
//! failed; then in each turn of its loop:
//!
//! ```text
//!   carry_out, has_to_stop ─► stop     orders first: they move the horizon of arrivals
//!   start_next*                        until it starts nothing, or the portion of a turn is used
//!   is_done ─► finish                  once; afterwards the pool is left alone
//!   next_wake, rest … resume           around the wait; in between the demand is others' to take
//!   take_back                          what others have ended meanwhile
//!   the turn of the dispatcher         for sockets that are ready and all whose time has come
//! ```
//!
//! It calls [`PoolRun::settle`] after each of these that may have ended an exchange. There alone an
//! exchange ends, and the next one starts at once on its seat; so no method finds an exchange half
//! ended. Where an exchange has ended beyond the edge of an interval, `settle` stops before it and
//! the worker closes the interval first.
//!
//! Between two calls of the worker this holds: every exchange that is under way has a seat (its own
//! share's, or one at home while a redirect takes it elsewhere), every user is free, at an
//! iteration, lent or retired, and both lists of the exchanges are empty unless an interval has to
//! be closed first. A method that could break this leaves the rest to `settle`.

mod admission;
mod dispatcher;
mod membership;

use self::admission::Admission;
use self::dispatcher::{Dispatcher, take_in_hand};
use self::membership::Membership;
use crate::channel::Channel;
use crate::control::Orders;
use crate::demand::{Demand, Returned, Room};
use crate::exchanges::{End, Held, Lists};
use crate::handover::Member;
use crate::id::PoolId;
use crate::lifecycle::{Finish, Lifecycle};
use crate::limits::{BACKOFF_MIN, STARTS_PER_TURN, STREAMS_PER_TURN};
use crate::pool_io::PoolContext;
use crate::prepare::PreparedPool;
use crate::protocol::Protocol;
use crate::recorder::Recorder;
use crate::timers::Wake;
use crate::transport::Transport;
use drumfire_net::Io;
use drumfire_plan::{ClockChoice, Drain};
use drumfire_units::Nanos;
use std::sync::Arc;

/// A worker's part of one pool.
pub(crate) struct PoolRun {
    prepared: Arc<PreparedPool>,
    id: PoolId,
    orders: Orders,
    /// Running, draining or finished; nothing begins but while it is running.
    lifecycle: Lifecycle,
    admission: Admission,
    membership: Membership,
    /// Whether times of arrival are the kernel's, and so lie before the present.
    reads_stamps: bool,
    /// The largest number of exchanges that start in a turn.
    pub(crate) portion: u32,
}

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
        let membership = Membership::new(member);
        let dispatcher = Dispatcher::new(prepared, transport);
        let (home, handover) = (membership.number(), membership.handover());
        let is_exclusive = Protocol::of(prepared.pool()).is_exclusive();
        Self {
            id: prepared.id(),
            orders,
            lifecycle: Lifecycle::new(prepared.generator().warmup.span()),
            admission: Admission::new(prepared, demand, dispatcher, home, handover),
            membership,
            reads_stamps: prepared.generator().clock != ClockChoice::Program,
            portion: match is_exclusive {
                true => STARTS_PER_TURN,
                false => STREAMS_PER_TURN,
            },
            prepared: Arc::clone(prepared),
        }
    }

    /// The exchanges on their way, for questions that change nothing.
    #[inline]
    pub(crate) const fn dispatcher(&self) -> &Dispatcher {
        self.admission.dispatcher()
    }

    /// The same, for a turn of the worker's loop.
    #[inline]
    pub(crate) const fn dispatcher_mut(&mut self) -> &mut Dispatcher {
        self.admission.dispatcher_mut()
    }

    /// Dials shares from `next` on, `at_once` at a time; `true` when all are open or have failed,
    /// or when the run stops before it has begun.
    pub(crate) fn open_more<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        next: &mut usize,
        at_once: usize,
    ) -> bool {
        self.dispatcher_mut().open_more(cx, next, at_once) || self.orders.is_stopping(Nanos::ZERO)
    }

    /// Lets the load begin at a time of the run: what is due before is no part of it.
    pub(crate) fn begin_from(&mut self, from: Nanos) {
        let intake = self.admission.demand_mut().intake_mut();
        intake.begin_from(&mut self.orders, from);
    }

    /// Applies the orders that are due.
    #[inline]
    pub(crate) fn carry_out(&mut self, now: Nanos) {
        let intake = self.admission.demand_mut().intake_mut();
        intake.carry_out(&mut self.orders, now);
    }

    /// Whether the load ends now.
    #[inline]
    pub(crate) fn has_to_stop(&self, now: Nanos) -> bool {
        let intake = self.admission.demand().intake();
        let stops = intake.is_timed_out(now)
            || self.orders.is_stopping(now)
            || intake.is_deserted() && self.membership.is_deserted();
        stops && !self.lifecycle.is_stopped()
    }

    /// Whether what is in flight ends with the load: a request that began now would fail by that
    /// alone, or be sent beyond a lease.
    pub(crate) fn is_cut_off(&self, now: Nanos) -> bool {
        self.orders.is_ending(now)
            || self.orders.is_stopping(now) && self.prepared.pool().stop.drain == Drain::Close
    }

    /// Starts one exchange, or an iteration that begins with a pause; `false` when none is due or
    /// no seat is free for it. Of what is due here and what others leave, the older goes first.
    #[inline]
    pub(crate) fn start_next<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, now: Nanos) -> bool {
        if self.membership.sees_offers() {
            return self.start_older(cx, now);
        }
        self.admission.start_next(cx, now)
    }

    /// Starts the arrival or request that has been due for longest, here or with a worker that has
    /// no room for it.
    #[cold]
    fn start_older<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, now: Nanos) -> bool {
        let own = if self.admission.is_blocked() {
            Nanos::MAX
        } else {
            let intake = self.admission.demand_mut().intake_mut();
            intake.drop_late(now);
            intake.next_due()
        };
        let own = own.min(self.admission.demand().waiting().first_request());
        self.help(cx, own, now)
            || self.admission.start_next(cx, now)
            || self.help(cx, Nanos::MAX, now)
    }

    /// Does the first thing that another worker has left and that has been due for longer than
    /// `own`; `false` when there is none for which there is room here.
    fn help<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, own: Nanos, now: Nanos) -> bool {
        let admits = self.admission.demand_mut().intake_mut().admits(now);
        let seats = self.admission.dispatcher().transport().seats();
        let unix_time = || cx.io.unix_time();
        let lent = self.membership.take(own, now, |demand| {
            demand.lend(now, admits, |lane| !seats.is_full(lane), unix_time)
        });
        let Some((home, lent)) = lent else {
            return false;
        };
        self.admission.begin_lent(cx, home, lent, now);
        true
    }

    /// Ends the exchanges that are over and continues those that ask for it, until both lists are
    /// empty.
    ///
    /// # Errors
    /// When the interval must be closed first that lies before this time.
    #[inline]
    pub(crate) fn settle<I: Io>(&mut self, cx: &mut PoolContext<'_, I>) -> Result<(), Nanos> {
        if self.dispatcher_mut().lists().is_empty() {
            Ok(())
        } else {
            self.settle_all(cx)
        }
    }

    fn settle_all<I: Io>(&mut self, cx: &mut PoolContext<'_, I>) -> Result<(), Nanos> {
        let edge = cx.recorder.edge();
        loop {
            while let Some(end) = next_ended(self.dispatcher_mut().lists(), edge)? {
                self.end(cx, end);
            }
            let Some(todo) = self.dispatcher_mut().lists().next_todo() else {
                return Ok(());
            };
            let further = self.admission.further();
            self.dispatcher_mut().go_on(cx, todo, further);
        }
    }

    /// Records an exchange that is over, lets its user go on, and uses its seat again. The seat is
    /// free since the exchange's end; the user goes on now, which is later where the end is the
    /// kernel's stamp.
    #[inline]
    fn end<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, end: End) {
        let (end, now) = in_hand(self.reads_stamps, self.dispatcher_mut(), cx, end);
        let held = self.account(cx, end, now);
        // A turn that takes long looks for orders again, so that what is due may start.
        if now > self.admission.demand().intake().horizon() {
            self.carry_out(now);
        }
        let transport = self.admission.dispatcher().transport();
        let usable_from = transport.bindings().usable_from(held.share(), now);
        let rests_until = match end.rests() {
            false => usable_from,
            true => usable_from.max(now + BACKOFF_MIN),
        };
        let ready = self.admission.ready_from(rests_until, now);
        if held.home() == self.admission.home() {
            self.admission.go_on(cx, end, held, ready, now);
        } else {
            self.give_back(end, held, ready);
        }
        self.admission.reuse_seat(cx, end, held, rests_until, now);
    }

    /// Makes the sample of an exchange that is over, as is known `now`.
    #[inline(always)]
    fn account<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, end: End, now: Nanos) -> Held {
        self.lifecycle.note_end(now);
        self.dispatcher_mut().account(cx, end)
    }

    /// Makes the samples of the exchanges that are over, and starts nothing.
    ///
    /// # Errors
    /// As [`Self::settle`].
    pub(crate) fn account_all<I: Io>(&mut self, cx: &mut PoolContext<'_, I>) -> Result<(), Nanos> {
        let edge = cx.recorder.edge();
        while let Some(end) = next_ended(self.dispatcher_mut().lists(), edge)? {
            let (end, now) = in_hand(self.reads_stamps, self.dispatcher_mut(), cx, end);
            self.account(cx, end, now);
        }
        Ok(())
    }

    /// Gives the end of a request back to the worker whose user made it.
    #[cold]
    fn give_back(&mut self, end: End, held: Held, ready: Nanos) {
        let (jar, taken) = self.admission.dispatcher_mut().belongings(end.id());
        let returned = Returned::new(held.user(), end.outcome(), jar, taken.cloned(), ready);
        self.membership.give_back(held.home(), returned);
    }

    /// Handles a wake.
    #[cold]
    pub(crate) fn wake<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, wake: Wake, now: Nanos) {
        if let Wake::User(user, generation) = wake {
            return self.admission.wake_user(cx, user, generation, now);
        }
        let further = self.admission.further();
        self.dispatcher_mut().wake(cx, wake, further, now);
    }

    /// The time by which the loop must turn again by itself, as of `now`.
    pub(crate) fn next_wake(&self, now: Nanos) -> Nanos {
        // An arrival that is due and has no room is started when there is some, here or elsewhere.
        let intake = self.admission.demand().intake();
        let due = intake.next_due();
        let waits = self.membership.is_alone() || due <= now;
        let due = match waits && self.admission.is_blocked() {
            true => Nanos::MAX,
            false => due,
        };
        let drained = self.lifecycle.drained_by();
        let end = drained.unwrap_or_else(|| intake.next_end(now));
        due.min(end)
            .min(intake.next_change())
            .min(self.dispatcher().next_wake())
    }

    /// Prepares for the worker's sleep. Gives the time by which to wake for the pool's others.
    #[inline]
    pub(crate) fn rest(&mut self, now: Nanos) -> Nanos {
        match self.membership.is_alone() {
            true => Nanos::MAX,
            false => self.rest_beside(now),
        }
    }

    fn rest_beside(&mut self, now: Nanos) -> Nanos {
        let is_blocked = self.admission.is_blocked();
        let room = match self.lifecycle.is_stopped() {
            true => Room::NONE,
            false => self.admission.room(),
        };
        let demand = self.admission.demand_mut();
        let offer = demand.offer(is_blocked);
        self.membership.rest(demand, offer, room, now)
    }

    /// Ends the sleep: the demand is back, with the ends of its users' requests that others carried
    /// out.
    #[inline]
    pub(crate) fn resume(&mut self) -> Vec<Returned> {
        self.membership.resume(self.admission.demand_mut())
    }

    /// Whether a user's step followed while the demand was left to others.
    #[inline]
    pub(crate) const fn has_left_steps(&self) -> bool {
        self.admission.demand().has_left_steps()
    }

    /// Continues the iterations whose requests others have ended while the worker slept.
    #[cold]
    pub(crate) fn take_back<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        returned: Vec<Returned>,
        now: Nanos,
    ) {
        self.admission.take_back(cx, returned, now);
    }

    /// Takes over from the arrivals the counts of those that became due or were dropped before a
    /// time. Called before each interval is closed, so that an arrival counts in the interval in
    /// which it became due.
    pub(crate) fn tally(&mut self, recorder: &mut Recorder<Channel>, end: Nanos) {
        let figures = recorder.figures(self.id);
        self.admission.demand_mut().tally(end, figures);
        let dispatcher = self.admission.dispatcher_mut();
        figures.under_way += self.lifecycle.note_under_way(dispatcher.open());
        recorder.hand_over(dispatcher.take_written());
    }

    /// Ends the load: records all that was due and has no seat, and cancels where the plan says so.
    /// Called once.
    pub(crate) fn stop<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, now: Nanos) {
        // What came too late for a seat is dropped, whether or not one was asked for since.
        self.admission.demand_mut().intake_mut().drop_late(now);
        self.tally(cx.recorder, now + Nanos(1));
        let figures = cx.recorder.figures(self.id);
        let (requests, measure_from) = (self.prepared.requests(), self.lifecycle.measure_from());
        let demand = self.admission.demand_mut();
        demand.stop(now, requests, measure_from, figures);
        let drain = self.prepared.pool().stop.drain;
        self.lifecycle.stop(now, drain);
        if drain == Drain::Close {
            self.dispatcher_mut().cancel_all(cx, now);
        }
    }

    /// Whether nothing is left to be done but to account for it.
    pub(crate) fn is_done(&mut self, now: Nanos) -> bool {
        if self.orders.is_ending(now) {
            return true;
        }
        let demand = self.admission.demand();
        if self.dispatcher().open() > 0 || demand.is_under_way() {
            return self
                .lifecycle
                .drained_by()
                .is_some_and(|until| now >= until);
        }
        self.lifecycle.is_stopped() || demand.is_over(now) && self.membership.is_over()
    }

    /// Accounts for everything and closes all connections; called once.
    pub(crate) fn finish<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, now: Nanos) {
        self.tally(cx.recorder, now + Nanos(1));
        let in_flight = self.dispatcher_mut().finish(cx, now);
        let figures = cx.recorder.figures(self.id);
        let (requests, measure_from) = (self.prepared.requests(), self.lifecycle.measure_from());
        let demand = self.admission.demand();
        demand.finish(now, requests, measure_from, figures);
        let used = demand.intake().used_time(now);
        self.lifecycle.finish(now, used, in_flight);
    }

    /// The time at which its load was stopped; `None` while it goes on, and where it used itself up.
    pub(crate) const fn stopped_at(&self) -> Option<Nanos> {
        self.lifecycle.stopped_at()
    }

    /// The end of it, once it is accounted for.
    pub(crate) const fn finished(&self) -> Option<Finish> {
        self.lifecycle.finished()
    }
}

/// Takes the next exchange that is over.
///
/// # Errors
/// The time at which it ended, when that is not before `edge`; it stays the next.
#[inline(always)]
fn next_ended(lists: &mut Lists, edge: Nanos) -> Result<Option<End>, Nanos> {
    let Some(end) = lists.next_ended() else {
        return Ok(None);
    };
    if end.now() >= edge {
        return Err(end.now());
    }
    lists.pass_ended();
    Ok(Some(end))
}

/// The end of an exchange and the present, which are one but by the kernel's clock.
#[inline(always)]
fn in_hand<I: Io>(
    reads_stamps: bool,
    dispatcher: &mut Dispatcher,
    cx: &mut PoolContext<'_, I>,
    end: End,
) -> (End, Nanos) {
    match reads_stamps {
        false => (end, end.now()),
        true => take_in_hand(dispatcher, cx, end),
    }
}
