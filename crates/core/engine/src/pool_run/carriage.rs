//! The path of a pool's exchanges, from start to end.
//!
//! ```text
//!   begin_exchange ─► (lend) ─► submit_first ─► Transport ─► lists ─┬─ End ──► account
//!                                   ▲                               │
//!                                   └── submit ◄── a wake, or ◄─────┴─ Todo
//! ```
//!
//! A method lends the transport the exchanges and the timers for one call (`context!`). If the
//! exchanges need the transport, they list a [`Todo`], which [`PoolRun::carry_out_todo`] carries
//! out after the call has returned. None of these methods ends an exchange or starts one: ended
//! exchanges are on the lists, and the pool handles them before the next call. The last exchange
//! with an id keeps its user's state until the next `begin_exchange`.

use super::PoolRun;
use crate::blame::Failure;
use crate::exchanges::{
    DueAction, End, ExchangeHandler, Exchanges, Held, Leaving, Task, Todo, correct, depart,
};
use crate::id::{ExchangeId, ShareId, UserId};
use crate::idle_since::IdleSince;
use crate::lifecycle::Milestone;
use crate::pool_io::{PoolContext, PoolIo};
use crate::timers::Wake;
use crate::transport::{Context, Found, Further, Seat, Transport};
use crate::users::DueRequest;
use drumfire_measure::{Detail, Outcome};
use drumfire_net::Io;
use drumfire_units::Nanos;

/// Lends the transport the parts that it needs for one call.
macro_rules! context {
    ($own:ident, $cx:ident) => {
        &mut Context {
            io: &mut $cx.io,
            handler: &mut ExchangeHandler::new(&mut $own.exchanges, $cx.recorder.figures($own.id)),
            timers: &mut $own.timers,
        }
    };
}

/// The calls of the worker's loop.
impl PoolRun {
    /// Runs an action of the connections, with the parts that it needs. Exchanges that the action
    /// ends are on the lists afterwards, and the caller must settle them before any other call.
    #[inline]
    pub(crate) fn transmit<I: Io, T>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        act: impl FnOnce(&mut Transport, &mut Context<'_, PoolIo<'_, I>, ExchangeHandler<'_>>) -> T,
    ) -> T {
        act(&mut self.transport, context!(self, cx))
    }

    /// Dials shares from `next` on, `at_once` at a time; `true` if all are open or have failed, or
    /// if the run is stopped before its start.
    pub(crate) fn open_more<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        next: &mut usize,
        at_once: usize,
    ) -> bool {
        self.transport.open_more(context!(self, cx), next, at_once)
            || self.orders.is_stopping(Nanos::ZERO)
    }

    /// Ends the wait for connections, and lists the seats of the open ones first.
    pub(crate) fn opened(&mut self) {
        self.timers.clear();
        self.transport.connections.list_seats();
    }

    /// Restarts the counts of connections at a milestone.
    pub(crate) fn pass(&mut self, milestone: Milestone) {
        let connections = &mut self.transport.connections;
        match milestone {
            Milestone::Start => connections.begin_run(&mut self.timers),
            Milestone::WarmupEnd => connections.begin_measuring(),
        }
    }

    /// Whether the turn has more to do than handling ready sockets: input that was left, or
    /// something due. Most turns have no more, and skip three loops.
    #[inline]
    pub(crate) fn has_more(&self, now: Nanos) -> bool {
        let timeout = self.exchanges.next_timeout();
        self.transport.pending.has_input() || now >= timeout.min(self.timers.next())
    }

    /// The latest time of the loop's next turn for exchanges and connections: at once if sockets
    /// have work, else the first timer or deadline. The result may be too early, but never too
    /// late.
    pub(crate) fn next_exchange_wake(&self) -> Nanos {
        match self.transport.pending.is_pressing() {
            true => Nanos::ZERO,
            false => self.timers.next().min(self.exchanges.next_timeout()),
        }
    }

    /// The exchanges whose time is up, for [`Self::time_out`]. Nearly all exchanges end in time, so
    /// deadlines are checked together in a scan that the earliest one triggers.
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
}

impl PoolRun {
    /// Whether a further request may follow.
    pub(super) fn further(&self) -> Further {
        let is_last =
            self.demand.is_exhausted() && !self.demand.users.has_steps() && self.peers.are_over();
        match is_last {
            true => Further::None,
            false => Further::Expected,
        }
    }

    /// Handles a timer of a seat, a connection, a name or an exchange.
    pub(super) fn wake_exchange<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        wake: Wake,
        now: Nanos,
    ) {
        match wake {
            Wake::Seat(share) => {
                let connections = &mut self.transport.connections;
                let since = IdleSince::at(connections.rest_of(share));
                if connections.keeps_seat(share) {
                    connections.give_seat(Seat::new(share, since));
                }
            }
            Wake::Dial(_) | Wake::Connection(..) => {
                self.transport.wake(context!(self, cx), wake, now);
            }
            Wake::LookUps => self.take_look_ups(cx, now),
            Wake::Names(lane) => {
                let (lookup, timers) = (&self.lookup, &mut self.timers);
                self.transport.look_up(lane, lookup, timers, now);
            }
            Wake::Exchange(id, generation) => {
                let phase = self.transport.phase_of(id);
                let figures = cx.recorder.figures(self.id);
                let exchanges = &mut self.exchanges;
                match exchanges.timer_step(id, generation, phase, figures, now) {
                    DueAction::Nothing => {}
                    DueAction::Submit => self.submit(cx, id, now),
                    DueAction::Send => self.transport.send_more(context!(self, cx), id, now),
                    DueAction::Over(failure) => {
                        self.transport.cancel(context!(self, cx), id, now);
                        self.exchanges.end_exchange(id, failure, now);
                    }
                }
            }
            // The caller handles timers of users.
            Wake::User(..) => {}
        }
    }

    /// Continues the exchanges whose origins have been looked up.
    fn take_look_ups<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, now: Nanos) {
        while let Some(answered) = self.transport.looked_up(context!(self, cx), now) {
            for id in answered.exchanges {
                match &answered.failure {
                    Some(failure) => self.exchanges.end_unsent(id, failure.clone(), now),
                    None => self.submit(cx, id, now),
                }
            }
        }
    }

    /// Carries out an action on an exchange that is not over.
    #[cold]
    pub(super) fn carry_out_todo<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, todo: Todo) {
        match todo {
            // `now` may be a kernel time stamp, which is in the past.
            Todo::Resend { id, pause, now } if pause == Nanos::ZERO => {
                let present = cx.io.now();
                self.submit(cx, id, now.max(present));
            }
            Todo::Resend { id, pause, now } => {
                let wake = Wake::Exchange(id, self.exchanges.generation(id));
                self.timers.insert(now + pause, wake);
            }
            Todo::Message { id, at } => {
                let wake = Wake::Exchange(id, self.exchanges.generation(id));
                self.timers.insert(at, wake);
            }
            Todo::Follow { id, now } => match self.exchanges.follow(id) {
                Ok(()) => {
                    let present = cx.io.now();
                    self.submit(cx, id, now.max(present));
                }
                Err(failure) => self.exchanges.end_exchange(id, failure, now),
            },
        }
    }

    /// Begins an exchange on a seat, for a user of the worker `home`.
    #[inline(always)]
    pub(super) fn begin_exchange(
        &mut self,
        seat: Seat,
        home: u32,
        due: DueRequest,
        now: Nanos,
    ) -> ExchangeId {
        let (since, intended) = (seat.since, due.intended);
        let delay = match since.is_on_time() && self.delays.are_none() {
            true => Nanos::ZERO,
            false => self.delay_of(due.turn.user, home, since),
        };
        let owed = since.owed(intended, delay, now);
        let task = Task::new(&due, seat.share, home, owed);
        self.exchanges
            .start(task, intended, since.due(intended, delay), now)
    }

    /// The time by which stops have delayed a user of the worker `home`, whose seat is free since
    /// `since`.
    #[cold]
    fn delay_of(&self, user: UserId, home: u32, since: IdleSince) -> Nanos {
        match self.delays.of_user(user) {
            None => Nanos::ZERO,
            Some(delay) if home == self.peers.home => delay,
            // The delays of other workers' users are unknown here.
            Some(_) => since.debt(),
        }
    }

    /// Passes a new exchange to the transport.
    #[inline(always)]
    pub(super) fn submit_first<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        id: ExchangeId,
        share: ShareId,
        now: Nanos,
    ) {
        // Only a multiplexed connection may be closed because no further exchange follows.
        let further = match self.multiplexes {
            true => self.further(),
            false => Further::Expected,
        };
        self.transport
            .submit(context!(self, cx), id, share, further, now);
    }

    /// Submits an exchange to the connection that it needs now: the connection of its seat, or one
    /// for a redirect.
    fn submit<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, id: ExchangeId, now: Nanos) {
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
            Ok(Some(share)) => {
                let further = self.further();
                self.transport
                    .submit(context!(self, cx), id, share, further, now);
            }
            Err(failure) => self.exchanges.end_unsent(id, failure, now),
        }
    }

    /// The end of an exchange and the present time, which differ only if ends have kernel time
    /// stamps.
    #[inline(always)]
    pub(super) fn take_in_hand<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        end: End,
    ) -> (End, Nanos) {
        match self.reads_stamps {
            false => (end, end.now),
            true => check_stamps(&mut self.exchanges, cx, end),
        }
    }

    /// Makes the sample of an exchange that is over, once, with the knowledge at `now`. Returns the
    /// resources that the exchange held. The id may then be reused; the user's state stays until it
    /// is.
    #[inline(always)]
    pub(super) fn account<I: Io>(
        &mut self,
        cx: &mut PoolContext<'_, I>,
        end: End,
        now: Nanos,
    ) -> Held {
        self.lifecycle.note_end(now);
        let id = end.id;
        let figures = cx.recorder.figures(self.id);
        // A record is large: returned together with another value, it would be copied again.
        let sample = &self.exchanges.sample(end, figures);
        let mut held = self.exchanges.release(id, sample);
        if held.owed > Nanos::ZERO || !self.delays.are_none() {
            held.owed = self.note_delay(held, sample.sent - sample.due);
        }
        cx.recorder
            .record(self.id, sample, || self.exchanges.kept(id));
        if sample.outcome != Outcome::Ok
            && let Some(detail) = self.exchanges.account_failure(id, sample)
        {
            let Detail { text, cause } = &*detail;
            cx.recorder.detail(self.id, sample, *cause, text);
        }
        held
    }

    /// Notes by how much stops have delayed the user of an ended exchange with this lag. Returns
    /// the debt to the next exchange on its seat.
    #[cold]
    fn note_delay(&mut self, held: Held, lag: Nanos) -> Nanos {
        let is_own = held.home == self.peers.home;
        let before = self.delays.of_user(held.user).filter(|_| is_own);
        // If the request had to wait for its connection anyway, only its lag was lateness.
        let owed = held.owed.min(before.unwrap_or_default() + lag);
        if is_own {
            self.delays.set_delay(held.user, owed);
        }
        owed
    }

    /// Cancels all running exchanges.
    pub(super) fn cancel_all<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, now: Nanos) {
        for id in self.exchanges.ids() {
            self.transport.cancel(context!(self, cx), id, now);
            self.exchanges
                .end_exchange(id, Failure::from_outcome(Outcome::LocalCancelled), now);
        }
    }

    /// Records the exchanges that never ended, and closes all connections. Returns the number of
    /// those exchanges that are measured.
    pub(super) fn close_all<I: Io>(&mut self, cx: &mut PoolContext<'_, I>, now: Nanos) -> u64 {
        let figures = cx.recorder.figures(self.id);
        let in_flight = self.exchanges.record_in_flight(now, figures);
        self.transport.close_all(context!(self, cx));
        in_flight
    }
}

/// Applies the kernel's time stamps to an exchange that has ended: records how long its end waited
/// to be handled, unless drumfire ended it, and how long its request took to leave. Returns the end
/// with ordered times, and the present.
#[cold]
fn check_stamps<I: Io>(
    exchanges: &mut Exchanges,
    cx: &mut PoolContext<'_, I>,
    end: End,
) -> (End, Nanos) {
    let now = cx.io.now().max(end.now);
    let is_cut_off = end.outcome.is_cut_off();
    let health = cx.recorder.health();
    if !is_cut_off {
        if let Some(corrected) = correct(exchanges, end, now) {
            health.stamps.refused += 1;
            return (corrected, now);
        }
        health.handling.record(now - end.now);
    }
    match depart(exchanges, end) {
        Leaving::Unknown => {}
        Leaving::Took(time) => health.leaving.record(time),
        Leaving::Refused => health.departures.refused += 1,
    }
    (end, now)
}
