//! The starts of requests: a schedule's arrivals, or users that have become free.
//!
//! A worker queries [`Arrivals`], and never the plan, for the next due time, the end of the load
//! and the part of the load's time that is used. It lends the [`Population`], whose users come and
//! go with the arrivals. Knows nothing of requests, connections and the outcomes of exchanges.
//!
//! In each turn the worker first calls [`Arrivals::look`], since everything else keeps within the
//! horizon that it sets; then [`Arrivals::take_due`] while there is room, and [`Arrivals::ended`] for
//! each user whose iteration has ended. [`Arrivals::tally`] counts arrivals as they become due,
//! whether or not they are taken, and is called before an interval is closed. [`Arrivals::stop`] is
//! called once, before the drain and after the last `take_due`. Afterwards [`Arrivals::pending`]
//! hands over all arrivals that became due and were neither taken nor dropped, so that intended =
//! sent + dropped + pending holds for the run.
//!
//! [`Arrivals::apply`] changes the load from a given time on. An order arrives before its time if
//! the worker takes nothing that is due more than [`ORDERS_WITHIN`] after it last looked for
//! orders. `look` sets this limit, and every other method keeps within it.
//!
//! The n-th start is computed from n by `schedule`. No code here adds intervals up, and no code
//! moves a late arrival: only the late policy decides whether it is still sent.

mod closed;
mod numbers;
mod open;
mod order;
mod own_rates;
mod resting;
mod whole;

pub(crate) use numbers::{Numbers, dealt_to};
pub(crate) use order::Order;
pub(crate) use whole::WholeLoad;

use crate::id::{Shard, UserId};
use crate::limits::ORDERS_WITHIN;
use crate::population::Population;
use closed::Closed;
use drumfire_measure::Figures;
use drumfire_plan::{Change, Command, Pool, StopReason};
use drumfire_schedule::CourseChange;
use drumfire_units::Nanos;
use open::Open;
use std::collections::VecDeque;
use std::sync::Arc;

/// The ends of a pool's load, over all workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// The time from which on no request starts.
    end: Nanos,
    /// The first number of a request that is outside the run; `u64::MAX` if the number of requests
    /// is unlimited.
    limit: u64,
    /// The end of the warm-up: intended starts before it are not measured.
    measure_from: Nanos,
}

impl Bounds {
    fn for_pool(pool: &Pool, measure_from: Nanos) -> Self {
        Self {
            end: pool.stop.duration.unwrap_or(Nanos::MAX),
            limit: pool.starts_most().unwrap_or(u64::MAX),
            measure_from,
        }
    }
}

/// One request that is due to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// The number of the request in the whole run, which selects the request of the list.
    pub(crate) index: u64,
    /// The start by the schedule, or the moment at which the user became free.
    pub(crate) intended: Nanos,
    /// The moment since which only the worker has delayed the start. Later than `intended` if each
    /// user has its own rate and the arrival became due while the user was busy.
    pub(crate) ready: Nanos,
    /// The user that takes the request; `None` in the open model, in which any idle user can take
    /// it.
    pub(crate) user: Option<UserId>,
}

/// Arrivals that became due, and arrivals that were dropped, since the last tally.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Arrivals that became due and are measured.
    intended: u64,
    /// Arrivals of the warm-up that became due, which are not measured.
    early: u64,
    /// Measured arrivals that the late policy has dropped.
    dropped: u64,
}

impl Tally {
    /// Counts the iterations that begin with these arrivals.
    pub(crate) fn record_iterations(self, figures: &mut Figures) {
        figures.record_warmup_due(self.early);
        figures.record_iterations_intended(self.intended);
        figures.record_iterations_dropped(self.dropped);
    }

    /// Counts one request per arrival, for loads in which an iteration begins with a request.
    pub(crate) fn record_requests(self, figures: &mut Figures) {
        figures.record_intended(self.intended);
        figures.record_dropped(self.dropped);
    }
}

/// One worker's share of the run's load.
#[derive(Debug)]
pub(crate) struct Arrivals {
    model: ArrivalModel,
    shard: Shard,
    /// The time at which the plan's duration ends.
    end: Nanos,
    /// The reason for a stop at `end`.
    end_reason: StopReason,
    /// The time at which starting ended, if the duration was over or the run was stopped.
    stopped_at: Option<Nanos>,
    /// The time up to which arrivals may be taken. Every order that takes effect at or before this
    /// time is known.
    horizon: Nanos,
    /// Commands that have not taken effect yet, in ascending order of time; only one worker keeps
    /// them.
    coming: VecDeque<Arc<Command>>,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "each worker has one")]
enum ArrivalModel {
    Open(Open),
    Closed(Closed),
}

impl Arrivals {
    fn new(model: ArrivalModel, shard: Shard, end: Nanos) -> Self {
        Self {
            model,
            shard,
            end,
            end_reason: StopReason::Duration,
            stopped_at: None,
            horizon: ORDERS_WITHIN,
            coming: VecDeque::new(),
        }
    }

    /// Begins this share at time `from` of the run, and leaves out everything that is due earlier.
    /// Call it before anything is taken and after all orders that take effect by then have been
    /// applied.
    ///
    /// In a closed load, all users that exist at `from` begin then. Users with their own rates
    /// cannot begin late ([`drumfire_placement::late_begin`]).
    pub(crate) fn begin_from(&mut self, from: Nanos, population: &mut Population) {
        match &mut self.model {
            ArrivalModel::Open(open) => open.begin_from(from),
            ArrivalModel::Closed(closed) => closed.begin_from(from, population),
        }
    }

    /// Notes that all orders given before `now` have been applied.
    #[inline]
    pub(crate) fn look(&mut self, now: Nanos) {
        self.horizon = now + ORDERS_WITHIN;
    }

    /// The latest due time that may be taken before the next [`Self::look`].
    #[inline]
    pub(crate) const fn horizon(&self) -> Nanos {
        self.horizon
    }

    /// Changes the load by an order, whose time is later than the current horizon. With `reports`,
    /// [`Self::next_change`] returns the command when it takes effect. Only the pool's first worker
    /// sets it, so that observers receive the command once.
    pub(crate) fn apply(&mut self, order: &Order, reports: bool) {
        let at = order.command.at;
        match (&order.command.change, &order.schedule, &mut self.model) {
            (_, Some(schedule), ArrivalModel::Open(open)) => {
                open.change(at, &CourseChange::Follow(schedule.clone()));
            }
            (Change::Pause, _, ArrivalModel::Open(open)) => open.change(at, &CourseChange::Pause),
            (Change::Resume, _, ArrivalModel::Open(open)) => open.change(at, &CourseChange::Resume),
            (
                Change::Users { .. } | Change::Pause | Change::Resume,
                _,
                ArrivalModel::Closed(closed),
            ) => closed.change(at, &order.command.change),
            (Change::Stop { reason }, _, model) if at < self.end => {
                (self.end, self.end_reason) = (at, *reason);
                match model {
                    ArrivalModel::Open(open) => open.end_at(at),
                    ArrivalModel::Closed(closed) => closed.end_at(at),
                }
            }
            _ => {}
        }
        if reports && self.shard.index == 0 && !order.is_stop() {
            let place = self.coming.partition_point(|command| command.at <= at);
            self.coming.insert(place, Arc::clone(&order.command));
        }
    }

    /// Returns the next command that has taken effect, once; for the worker that reports commands.
    pub(crate) fn next_change(&mut self, now: Nanos) -> Option<Arc<Command>> {
        self.coming.pop_front_if(|command| command.at <= now)
    }

    /// Whether a command has taken effect, or starting may have ended. Called in each turn; most
    /// answers are "no".
    #[inline]
    pub(crate) fn has_news(&self, now: Nanos, population: &Population) -> bool {
        !self.coming.is_empty() || self.is_timed_out(now) || self.is_exhausted(population)
    }

    /// The reason why no further request starts, if the load has ended by itself or by an order.
    pub(crate) fn stop_reason(&self, now: Nanos, population: &Population) -> Option<StopReason> {
        if self.is_counted_out(population) && self.stopped_at.is_none() {
            Some(StopReason::Counted)
        } else if self.is_timed_out(now) || self.is_over(now, population) {
            Some(self.end_reason)
        } else {
            None
        }
    }

    /// The time at which the load ended. For a count that is used up, this is the time at which the
    /// worker noticed it.
    pub(crate) fn stop_time(&self, now: Nanos, population: &Population) -> Nanos {
        if self.is_counted_out(population) && self.stopped_at.is_none() {
            now
        } else {
            now.min(self.end).min(self.schedule_end(population))
        }
    }

    /// Takes the next request that may start now.
    #[inline(always)]
    pub(crate) fn take_due(&mut self, now: Nanos, population: &mut Population) -> Option<Arrival> {
        let now = now.min(self.horizon);
        match &mut self.model {
            ArrivalModel::Open(open) => open.take_due(now),
            ArrivalModel::Closed(closed) => closed.take_due(now, population),
        }
    }

    /// Whether a request that has waited for a connection since `arrival` should still be sent. If
    /// not, it is counted as dropped, so call this once per waiting request.
    pub(crate) fn still_wanted(&mut self, arrival: Arrival, now: Nanos) -> bool {
        match &mut self.model {
            ArrivalModel::Open(open) => open.still_wanted(arrival, now),
            ArrivalModel::Closed(_) => true,
        }
    }

    /// Drops the arrivals that are too late by now, so that [`Self::next_due`] is the due time of
    /// an arrival that will be sent.
    pub(crate) fn drop_late(&mut self, now: Nanos) {
        let now = now.min(self.horizon);
        if let ArrivalModel::Open(open) = &mut self.model {
            open.drop_all_late(now);
        }
    }

    /// Whether late arrivals may be dropped.
    pub(crate) const fn drops(&self) -> bool {
        matches!(&self.model, ArrivalModel::Open(open) if open.drops())
    }

    /// Returns a user whose iteration has ended at `ready`; its next iteration begins at `next`.
    /// Does nothing in the open model.
    #[inline]
    pub(crate) fn ended(
        &mut self,
        user: UserId,
        ready: Nanos,
        next: Nanos,
        population: &mut Population,
    ) {
        if let ArrivalModel::Closed(closed) = &mut self.model {
            closed.ended(user, ready, next, population);
        }
    }

    /// Ends the own law of a user that has left for good.
    #[cold]
    pub(crate) fn forget(&mut self, user: UserId) {
        if let ArrivalModel::Closed(closed) = &mut self.model {
            closed.forget(user);
        }
    }

    /// Whether arrivals do not depend on users.
    #[inline]
    pub(crate) const fn is_open(&self) -> bool {
        matches!(self.model, ArrivalModel::Open(_))
    }

    /// The due time of the next request; [`Nanos::MAX`] if no request becomes due without an event.
    #[inline]
    pub(crate) fn next_due(&self) -> Nanos {
        match &self.model {
            ArrivalModel::Open(open) => open.next_due(),
            ArrivalModel::Closed(closed) => closed.next_due(),
        }
    }

    /// The time at which the load ends by itself, as far as it is known now. [`Self::is_timed_out`]
    /// or [`Self::is_over`] can become true then.
    pub(crate) fn next_end(&self, now: Nanos, population: &Population) -> Nanos {
        let schedule_end = self.schedule_end(population);
        if self.is_exhausted(population) && now < schedule_end {
            self.end.min(schedule_end)
        } else {
            self.end
        }
    }

    /// Whether no further request will come, as far as is known now; an order may change that.
    #[inline]
    pub(crate) fn is_exhausted(&self, population: &Population) -> bool {
        match &self.model {
            ArrivalModel::Open(open) => open.is_exhausted(),
            ArrivalModel::Closed(closed) => closed.is_exhausted(population),
        }
    }

    /// Whether the plan's duration is over, so that the caller must call [`Self::stop`].
    #[inline]
    pub(crate) fn is_timed_out(&self, now: Nanos) -> bool {
        now >= self.end
    }

    /// Whether no further request will come and the load's time is used.
    pub(crate) fn is_over(&self, now: Nanos, population: &Population) -> bool {
        self.is_exhausted(population)
            && (self.is_counted_out(population) || now >= self.schedule_end(population))
    }

    /// The part of the load's time that has been used: up to the stop, to the end of a count, or to
    /// now.
    pub(crate) fn used_time(&self, now: Nanos, population: &Population) -> Nanos {
        match (self.stopped_at, &self.model) {
            (Some(stopped_at), _) => stopped_at,
            (None, ArrivalModel::Open(open)) if open.is_counted_out() => open.counted_end(),
            (None, ArrivalModel::Closed(closed)) if closed.is_counted_out(population) => {
                Nanos::ZERO
            }
            (None, _) => now.min(self.schedule_end(population)),
        }
    }

    /// Starts no further request. Before it, call `take_due` for everything that is due by now.
    pub(crate) fn stop(&mut self, now: Nanos) {
        self.stopped_at = Some(now.min(self.end));
        match &mut self.model {
            // An arrival that is due exactly now may already have started.
            ArrivalModel::Open(open) => open.stop(now + Nanos(1)),
            ArrivalModel::Closed(closed) => closed.stop(now + Nanos(1)),
        }
    }

    /// Hands over the requests that were due before the stop and neither taken nor dropped, in
    /// portions. A portion has its last arrival, which has waited least, and a count. The request
    /// that an arrival selects recurs every `round` arrivals.
    pub(crate) fn pending(&self, round: u64, hand_over: impl FnMut(Arrival, u64)) {
        match &self.model {
            ArrivalModel::Open(open) => open.pending(round, hand_over),
            ArrivalModel::Closed(closed) => closed.pending(hand_over),
        }
    }

    /// The arrivals that became due before `end`, and the arrivals that were dropped, since the
    /// last call. Arrivals of the warm-up are left out.
    pub(crate) fn tally(&mut self, end: Nanos) -> Tally {
        let end = end.min(self.horizon);
        match &mut self.model {
            ArrivalModel::Open(open) => open.tally(end),
            ArrivalModel::Closed(closed) => closed.tally(end),
        }
    }

    /// Whether the run's count of requests is used up, so that the load ends at once.
    fn is_counted_out(&self, population: &Population) -> bool {
        match &self.model {
            ArrivalModel::Open(open) => open.is_counted_out(),
            ArrivalModel::Closed(closed) => closed.is_counted_out(population),
        }
    }

    /// The end of the schedule itself; its last requests may still wait then. [`Nanos::MAX`] if
    /// users start as soon as they are free.
    fn schedule_end(&self, population: &Population) -> Nanos {
        match &self.model {
            ArrivalModel::Open(open) => open.schedule_end(),
            ArrivalModel::Closed(closed) => closed.schedule_end(population),
        }
    }
}
