//! The exchanges of a pool on their way, each from its start to its end.
//!
//! ```text
//!   begin ─► (lend) ─► submit_first ─► Transport ─► lists ─┬─ End ──► account ─► belongings
//!                          ▲                               │
//!                          └── submit ◄── go_on, wake ◄────┴─ Todo
//! ```
//!
//! It owns the exchanges, the transport that carries them, the timers of both, and the look-up of
//! the names to which redirects lead. It knows no users and no arrivals: its callers say whether
//! [`Further`] exchanges are expected, for which a spent connection is replaced.
//!
//! Before the run the worker calls `open_more` in each turn, until all connections are open or have
//! failed; then `opened`, and `pass` at the run's start. In each turn of the run it calls
//! `begin_turn`, `transmit` for each socket that is ready, and, where there `has_more` to do,
//! `time_out` for each exchange that is `overdue` and the pool's wake for each timer that is `due`.
//!
//! None of these methods ends an exchange or starts one: whatever ends is on the lists afterwards,
//! and the pool takes it from there before it calls the next. The last exchange with an id keeps
//! its belongings until the next `begin`.

use crate::blame::Failure;
use crate::exchanges::{
    Due, End, ExchangeHandler, Exchanges, Held, Leaving, Lists, Task, Todo, correct, depart,
};
use crate::freed::Freed;
use crate::id::{ExchangeId, Generation, LaneId, PoolId, ShareId, UserId};
use crate::lifecycle::Milestone;
use crate::pool_io::{PoolContext, PoolIo};
use crate::prepare::{Lookup, PreparedPool};
use crate::timers::{Timers, Wake};
use crate::transport::{Context, Found, Further, Seat, Seats, Transport};
use crate::users::{Belongings, DueRequest};
use drumfire_cookies::Jar;
use drumfire_measure::{Outcome, Written};
use drumfire_net::Io;
use drumfire_plan::Taken;
use drumfire_units::Nanos;
use std::sync::Arc;

/// A worker's exchanges of a pool, and all that carries them.
///
/// The parts don't know each other. A method lends the transport the others for one call
/// (`context!`); what the exchanges want of the transport comes back as a [`Todo`], which
/// [`Dispatcher::go_on`] carries out when that call has returned.
pub(crate) struct Dispatcher {
    id: PoolId,
    exchanges: Exchanges,
    transport: Transport,
    timers: Timers,
    lookup: Lookup,
}

/// Lends the transport the parts that it needs for a call.
macro_rules! context {
    ($own:ident, $cx:ident) => {
        &mut Context {
            io: &mut $cx.io,
            handler: &mut ExchangeHandler::new(&mut $own.exchanges, $cx.recorder.figures($own.id)),
            timers: &mut $own.timers,
        }
    };
}

impl Dispatcher {
    /// A dispatcher over these connections, without exchanges. It has room for one exchange on each
    /// stream of each share, so that a run does not allocate for more.
    pub(super) fn new(prepared: &Arc<PreparedPool>, transport: Transport) -> Self {
        let streams = prepared.pool().connections.streams as usize;
        let room = transport.seats().share_count() * streams;
        Self {
            id: prepared.id(),
            exchanges: Exchanges::new(Arc::clone(prepared), room),
            transport,
            timers: Timers::default(),
            lookup: Lookup::new(prepared),
        }
    }

    /// The connections, for questions that change nothing.
    #[inline]
    pub(crate) const fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Lets the connections do something, with the parts that they need for it. Exchanges that end
    /// by it are on the lists afterwards, and the caller settles them before it calls anything
    /// else.
    #[inline]
    pub(crate) fn transmit<I: Io, T>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        act: impl FnOnce(&mut Transport, &mut Context<'_, PoolIo<'_, I>, ExchangeHandler<'_>>) -> T,
    ) -> T {
        act(&mut self.transport, context!(self, cx))
    }

    /// Dials shares from `next` on, `at_once` at a time; `true` when all are open or have failed.
    pub(super) fn open_more<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        next: &mut usize,
        at_once: usize,
    ) -> bool {
        self.transport.open_more(context!(self, cx), next, at_once)
    }

    /// Ends the wait for connections: those that are open give their seats out first.
    pub(crate) fn opened(&mut self) {
        self.timers.clear();
        self.transport.bindings_mut().list_seats();
    }

    /// Has the connections count from this moment on what counts from there.
    pub(crate) fn pass(&mut self, milestone: Milestone) {
        match milestone {
            Milestone::Start => self.transport.begin_run(&mut self.timers),
            Milestone::WarmupEnd => self.transport.begin_measuring(),
        }
    }

    /// Begins a turn: slots that were left unread before are read after those that are ready.
    #[inline]
    pub(crate) fn begin_turn(&mut self) {
        self.transport.begin_turn();
    }

    /// Whether the turn has more to do than what is ready: input that was left, or something whose
    /// time has come. Most turns have not, and skip three loops by it.
    #[inline]
    pub(crate) fn has_more(&self, now: Nanos) -> bool {
        let timeout = self.exchanges.next_timeout();
        self.transport.pending().has_input() || now >= timeout.min(self.timers.next())
    }

    /// The time by which the loop must turn again by itself: at once where sockets have something
    /// to do, else at the first timer or deadline, both of which may be too early and never too
    /// late.
    pub(crate) fn next_wake(&self) -> Nanos {
        match self.transport.pending().is_pressing() {
            true => Nanos::ZERO,
            false => self.timers.next().min(self.exchanges.next_timeout()),
        }
    }

    /// The exchanges whose time is up, each for [`Self::time_out`]. Deadlines are looked at
    /// together, by a scan that the least of them sets off, since nearly all exchanges end in time.
    pub(crate) fn overdue(&mut self, now: Nanos) -> Vec<ExchangeId> {
        if now < self.exchanges.next_timeout() {
            return Vec::new();
        }
        self.exchanges.overdue(now)
    }

    /// Ends an exchange whose time is up.
    pub(crate) fn time_out<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        id: ExchangeId,
        now: Nanos,
    ) {
        let cancelled = self.transport.cancel(context!(self, cx), id, now);
        self.exchanges.time_out(id, cancelled, now);
    }

    /// Takes the next wake that is due.
    #[inline]
    pub(crate) fn due(&mut self, now: Nanos) -> Option<Wake> {
        self.timers.due(now)
    }

    /// Handles a wake of a seat, a connection, a name or an exchange.
    #[cold]
    pub(super) fn wake<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        wake: Wake,
        further: Further,
        now: Nanos,
    ) {
        match wake {
            Wake::Seat(share) => {
                let since = Freed::at(self.transport.bindings().rest_of(share));
                let seats = self.transport.seats_mut();
                if seats.keeps_one(share) {
                    seats.give(Seat::new(share, since));
                }
            }
            Wake::Dial(_) | Wake::Connection(..) => {
                self.transport.wake(context!(self, cx), wake, now);
            }
            Wake::LookUps => self.take_look_ups(cx, further, now),
            Wake::Names(lane) => {
                let (lookup, timers) = (&self.lookup, &mut self.timers);
                self.transport.look_up(lane, lookup, timers, now);
            }
            Wake::Exchange(id, generation) => {
                let phase = self.transport.phase_of(id);
                let figures = cx.recorder.figures(self.id);
                let exchanges = &mut self.exchanges;
                match exchanges.timer_step(id, generation, phase, figures, now) {
                    Due::Nothing => {}
                    Due::Submit => self.submit(cx, id, further, now),
                    Due::Send => self.transport.send_more(context!(self, cx), id, now),
                    Due::Over(failure) => {
                        self.transport.cancel(context!(self, cx), id, now);
                        self.exchanges.end(id, failure, now);
                    }
                }
            }
            // The population's, which lies above.
            Wake::User(..) => {}
        }
    }

    /// Goes on with the exchanges whose origins have been looked up.
    fn take_look_ups<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, further: Further, now: Nanos) {
        while let Some(answered) = self.transport.looked_up(context!(self, cx), now) {
            for id in answered.exchanges {
                match &answered.failure {
                    Some(failure) => self.exchanges.end_unsent(id, failure.clone(), now),
                    None => self.submit(cx, id, further, now),
                }
            }
        }
    }

    /// The lists of exchanges that are over, and of those that ask for an action.
    #[inline]
    pub(super) const fn lists(&mut self) -> &mut Lists {
        self.exchanges.lists()
    }

    /// Carries out an action on an exchange that is not over.
    #[cold]
    pub(super) fn go_on<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        todo: Todo,
        further: Further,
    ) {
        match todo {
            // The time of what has led to a further attempt may be the kernel's.
            Todo::Resend { id, pause, now } if pause == Nanos::ZERO => {
                let present = cx.io.now();
                self.submit(cx, id, further, now.max(present));
            }
            Todo::Resend { id, pause, now } => {
                let wake = Wake::Exchange(id, self.exchanges.generation(id));
                self.timers.at(now + pause, wake);
            }
            Todo::Message { id, at } => {
                let wake = Wake::Exchange(id, self.exchanges.generation(id));
                self.timers.at(at, wake);
            }
            Todo::Follow { id, now } => match self.exchanges.follow(id) {
                Ok(()) => {
                    let present = cx.io.now();
                    self.submit(cx, id, further, now.max(present));
                }
                Err(failure) => self.exchanges.end(id, failure, now),
            },
        }
    }

    /// Begins an exchange on a seat, for a user of the worker `home`.
    #[inline(always)]
    pub(super) fn begin(
        &mut self,
        seat: Seat,
        home: u32,
        due: DueRequest,
        now: Nanos,
    ) -> ExchangeId {
        let (since, intended) = (seat.since(), due.intended());
        let task = Task::new(&due, seat.share(), home, since.owed(intended, now));
        self.exchanges
            .start(task, intended, since.due(intended), now)
    }

    /// Lends an exchange that has begun the belongings of its user.
    #[inline]
    pub(super) fn lend(&mut self, id: ExchangeId, belongings: Belongings) {
        self.exchanges.lend(id, belongings);
    }

    /// Gives an exchange that has begun to the transport.
    #[inline(always)]
    pub(super) fn submit_first<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        id: ExchangeId,
        share: ShareId,
        further: Further,
        now: Nanos,
    ) {
        self.transport
            .submit(context!(self, cx), id, share, further, now);
    }

    /// Submits an exchange to the connection that it wants by now: its seat's, or one that a
    /// redirect leads to.
    fn submit<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        id: ExchangeId,
        further: Further,
        now: Nanos,
    ) {
        let home = self.exchanges.share(id);
        let share = match self.exchanges.heads_for(id) {
            None => Ok(Some(home)),
            Some(origin) => {
                let found =
                    self.transport
                        .reach(context!(self, cx), id, home, &origin, &self.lookup);
                found.and_then(|found| match found {
                    Found::Sought => Ok(None),
                    Found::Share(share, form) => {
                        self.exchanges.prepare_hop(id, form)?;
                        Ok(Some(share))
                    }
                })
            }
        };
        match share {
            Ok(None) => {}
            Ok(Some(share)) => self.submit_first(cx, id, share, further, now),
            Err(failure) => self.exchanges.end_unsent(id, failure, now),
        }
    }

    /// Makes the sample of an exchange that is over, once. Gives what the exchange held; its id may
    /// then be used again, and its belongings are there until it is.
    #[inline(always)]
    pub(super) fn account<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, end: End) -> Held {
        let id = end.id();
        let figures = cx.recorder.figures(self.id);
        // A record is large: given with something else it would be copied once more.
        let sample = &self.exchanges.sample(end, figures);
        let held = self.exchanges.release(id, sample);
        cx.recorder
            .record(self.id, sample, || self.exchanges.particulars(id));
        if sample.outcome != Outcome::Ok
            && let Some(detail) = self.exchanges.account_failure(id, sample)
        {
            cx.recorder.detail(self.id, sample, &detail);
        }
        held
    }

    /// The cookies that the last exchange with this id was lent, and what was taken from its
    /// response.
    pub(super) fn belongings(&mut self, id: ExchangeId) -> (Option<Box<Jar>>, Option<&Taken>) {
        self.exchanges.belongings(id)
    }

    /// The seats of the connections, to give one back.
    #[inline]
    pub(super) const fn seats_mut(&mut self) -> &mut Seats {
        self.transport.seats_mut()
    }

    /// Takes a free seat of a lane.
    #[inline]
    pub(super) fn take_seat(&mut self, lane: LaneId) -> Option<Seat> {
        self.transport.bindings_mut().take_seat(lane)
    }

    /// Lets a share's seat rest, with its connection, until a time.
    pub(super) fn rest_seat(&mut self, share: ShareId, until: Nanos) {
        self.transport.bindings_mut().rest_seat(share, until);
        self.timers.at(until, Wake::Seat(share));
    }

    /// Sets the timer for the end of a user's pause.
    pub(super) fn pause(&mut self, user: UserId, generation: Generation, until: Nanos) {
        self.timers.at(until, Wake::User(user, generation));
    }

    /// The number of exchanges under way.
    #[inline]
    pub(super) const fn open(&self) -> u32 {
        self.exchanges.open()
    }

    /// Takes what was written down of exchanges since the last call.
    pub(super) fn take_written(&mut self) -> Written {
        self.exchanges.take_written()
    }

    /// Ends all that is under way, as cancelled by this side. The ends are on the lists afterwards,
    /// as those of any other exchange.
    pub(super) fn cancel_all<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, now: Nanos) {
        for id in self.exchanges.ids() {
            self.transport.cancel(context!(self, cx), id, now);
            self.exchanges
                .end(id, Failure::of(Outcome::LocalCancelled), now);
        }
    }

    /// Records the exchanges that never ended, and closes all connections. Gives the number of
    /// those exchanges that are measured.
    pub(super) fn finish<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, now: Nanos) -> u64 {
        let figures = cx.recorder.figures(self.id);
        let in_flight = self.exchanges.record_in_flight(now, figures);
        self.transport.close_all(context!(self, cx));
        in_flight
    }
}

/// Takes an exchange in hand that has ended by the kernel's clock: records how long its end has waited
/// for that, unless it was ended from here, and how long its request took to leave. Gives the end with
/// times that are in order, and the present.
#[cold]
pub(super) fn take_in_hand<I: Io>(
    dispatcher: &mut Dispatcher,
    cx: &mut PoolContext<'_, I>,
    end: End,
) -> (End, Nanos) {
    let now = cx.io.now().max(end.now());
    let is_cut_off = end.outcome().is_cut_off();
    let health = cx.recorder.health();
    if !is_cut_off {
        if let Some(corrected) = correct(&mut dispatcher.exchanges, end, now) {
            health.stamps.refused += 1;
            return (corrected, now);
        }
        health.handling.record(now - end.now());
    }
    match depart(&mut dispatcher.exchanges, end) {
        Leaving::Unknown => {}
        Leaving::Took(time) => health.leaving.record(time),
        Leaving::Refused => health.departures.refused += 1,
    }
    (end, now)
}
