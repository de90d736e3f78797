//! The starts of requests: a schedule's arrivals, or users that have become free.
//!
//! A worker asks [`Arrivals`] and never the plan when something is due, when the load ends and how
//! much of the time that was asked for is used. It lends the [`Population`], whose users come and
//! go as arrivals say. Knows nothing of requests, connections and the outcomes of exchanges.
//!
//! In each turn the worker calls [`Arrivals::look`] first, since everything else keeps within the
//! horizon that it sets; then [`Arrivals::take_due`] while there is room, and [`Arrivals::ended`] for
//! each user whose iteration has ended. [`Arrivals::tally`] counts arrivals as they become due,
//! apart from those that are taken, and is called before an interval is closed. [`Arrivals::stop`]
//! is called once, before the drain and after the last `take_due`; afterwards [`Arrivals::pending`]
//! hands over all arrivals that became due and were neither taken nor dropped, so that intended =
//! sent + dropped + pending holds of the run.
//!
//! [`Arrivals::apply`] changes the load from a time on. An order comes long enough before its time,
//! as long as a worker takes nothing that is due later than [`ORDERS_WITHIN`] after it last looked
//! for orders: `look` notes that time, and everything else keeps within it.
//!
//! The n-th start is computed from n by `schedule`. Nothing here adds intervals up, and nothing
//! moves an arrival that is late: only the late policy decides whether it is still sent.

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
    /// The first number of a request that the run does not have; `u64::MAX` where requests are not
    /// counted.
    limit: u64,
    /// The end of the warm-up: intended starts before it are not measured.
    measure_from: Nanos,
}

impl Bounds {
    fn of(pool: &Pool, measure_from: Nanos) -> Self {
        Self {
            end: pool.stop.duration.unwrap_or(Nanos::MAX),
            limit: pool.starts_most().unwrap_or(u64::MAX),
            measure_from,
        }
    }
}

/// One request that is to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// Its number in the whole run, which selects the request of the list.
    pub(crate) index: u64,
    /// Its start by the schedule, or the moment at which its user became free.
    pub(crate) intended: Nanos,
    /// The moment since which only the worker kept it from starting: the arrival of a user with a
    /// rate of its own may become due while that user is busy.
    pub(crate) ready: Nanos,
    /// The user whose turn it is; `None` in the open model, where any idle user will do.
    pub(crate) user: Option<UserId>,
}

/// Arrivals that became due, and those that were dropped, since the tally before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Arrivals that became due and are measured.
    intended: u64,
    /// Arrivals of the warm-up that became due, which are not measured.
    early: u64,
    /// Measured arrivals that are not sent any more, by the late policy.
    dropped: u64,
}

impl Tally {
    /// Counts the iterations that the arrivals are the beginnings of.
    pub(crate) fn record_iterations(self, figures: &mut Figures) {
        figures.record_warmup_due(self.early);
        figures.record_iterations_intended(self.intended);
        figures.record_iterations_dropped(self.dropped);
    }

    /// Counts a request for each, where an iteration begins with one.
    pub(crate) fn record_requests(self, figures: &mut Figures) {
        figures.record_intended(self.intended);
        figures.record_dropped(self.dropped);
    }
}

/// One worker's share of the run's load.
#[derive(Debug)]
pub(crate) struct Arrivals {
    model: Model,
    shard: Shard,
    /// The end of the time that was asked for.
    end: Nanos,
    /// The reason for which the load ends then.
    end_reason: StopReason,
    /// The moment at which starting ended because time was up or the run was stopped.
    stopped_at: Option<Nanos>,
    /// The time up to which arrivals may be taken: no order that is not known yet holds from it or
    /// earlier.
    horizon: Nanos,
    /// Commands whose time has not come, ascending; only one worker keeps them.
    coming: VecDeque<Arc<Command>>,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "each worker has one")]
enum Model {
    Open(Open),
    Closed(Closed),
}

impl Arrivals {
    fn new(model: Model, shard: Shard, end: Nanos) -> Self {
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

    /// Lets this share begin at a time of the run: what is due before is no part of it. The orders
    /// that hold by then have been applied, and nothing has been taken.
    ///
    /// The users of a closed load begin anew then, however many there are at that time; users with
    /// rates of their own can't ([`drumfire_placement::late_begin`]).
    pub(crate) fn begin_from(&mut self, from: Nanos, population: &mut Population) {
        match &mut self.model {
            Model::Open(open) => open.begin_from(from),
            Model::Closed(closed) => closed.begin_from(from, population),
        }
    }

    /// Notes that all orders that were given before `now` have been applied.
    #[inline]
    pub(crate) fn look(&mut self, now: Nanos) {
        self.horizon = now + ORDERS_WITHIN;
    }

    /// Nothing that is due later is taken before the next [`Self::look`].
    #[inline]
    pub(crate) const fn horizon(&self) -> Nanos {
        self.horizon
    }

    /// Changes the load by an order, whose time is later than any that was looked at. With
    /// `reports`, the command is handed out by [`Self::next_change`] when it holds, by the pool's
    /// first worker alone, so that observers learn of it once.
    pub(crate) fn apply(&mut self, order: &Order, reports: bool) {
        let at = order.command.at;
        match (&order.command.change, &order.schedule, &mut self.model) {
            (_, Some(schedule), Model::Open(open)) => {
                open.change(at, &CourseChange::Follow(schedule.clone()));
            }
            (Change::Pause, _, Model::Open(open)) => open.change(at, &CourseChange::Pause),
            (Change::Resume, _, Model::Open(open)) => open.change(at, &CourseChange::Resume),
            (Change::Users { .. } | Change::Pause | Change::Resume, _, Model::Closed(closed)) => {
                closed.change(at, &order.command.change)
            }
            (Change::Stop { reason }, _, model) if at < self.end => {
                (self.end, self.end_reason) = (at, *reason);
                match model {
                    Model::Open(open) => open.end_at(at),
                    Model::Closed(closed) => closed.end_at(at),
                }
            }
            _ => {}
        }
        if reports && self.shard.index == 0 && !order.is_stop() {
            let place = self.coming.partition_point(|command| command.at <= at);
            self.coming.insert(place, Arc::clone(&order.command));
        }
    }

    /// The next command whose time has come, once; for the worker that is to report it.
    pub(crate) fn next_change(&mut self, now: Nanos) -> Option<Arc<Command>> {
        self.coming.pop_front_if(|command| command.at <= now)
    }

    /// Whether a command's time has come, or it may be that no request starts any more. Called in
    /// each turn; most answers are "no".
    #[inline]
    pub(crate) fn has_news(&self, now: Nanos, population: &Population) -> bool {
        !self.coming.is_empty() || self.is_timed_out(now) || self.is_exhausted(population)
    }

    /// The reason for which no request starts any more, as soon as that is so by itself or by an
    /// order.
    pub(crate) fn stop_reason(&self, now: Nanos, population: &Population) -> Option<StopReason> {
        if self.is_counted_out(population) && self.stopped_at.is_none() {
            Some(StopReason::Counted)
        } else if self.is_timed_out(now) || self.is_over(now, population) {
            Some(self.end_reason)
        } else {
            None
        }
    }

    /// The time at which the load ended; of a count that is used up, the time at which that was
    /// noticed.
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
            Model::Open(open) => open.take_due(now),
            Model::Closed(closed) => closed.take_due(now, population),
        }
    }

    /// Whether a request that has waited since `arrival` for a connection is still to be sent. One
    /// that is not is counted as dropped here, so that this is asked once for each that waited.
    pub(crate) fn still_wanted(&mut self, arrival: Arrival, now: Nanos) -> bool {
        match &mut self.model {
            Model::Open(open) => open.still_wanted(arrival, now),
            Model::Closed(_) => true,
        }
    }

    /// Drops the arrivals that are too late by now, so that [`Self::next_due`] is that of an
    /// arrival that is wanted.
    pub(crate) fn drop_late(&mut self, now: Nanos) {
        let now = now.min(self.horizon);
        if let Model::Open(open) = &mut self.model {
            open.drop_all_late(now);
        }
    }

    /// Whether late arrivals may be dropped.
    pub(crate) const fn drops(&self) -> bool {
        matches!(&self.model, Model::Open(open) if open.drops())
    }

    /// Returns a user whose iteration has ended: `ready` is the end, `next` the time at which its
    /// next iteration begins. Does nothing in the open model.
    #[inline]
    pub(crate) fn ended(
        &mut self,
        user: UserId,
        ready: Nanos,
        next: Nanos,
        population: &mut Population,
    ) {
        if let Model::Closed(closed) = &mut self.model {
            closed.ended(user, ready, next, population);
        }
    }

    /// Ends the own law of a user that has left for good.
    #[cold]
    pub(crate) fn forget(&mut self, user: UserId) {
        if let Model::Closed(closed) = &mut self.model {
            closed.forget(user);
        }
    }

    /// Whether arrivals do not depend on users.
    #[inline]
    pub(crate) const fn is_open(&self) -> bool {
        matches!(self.model, Model::Open(_))
    }

    /// The due time of the next request; [`Nanos::MAX`] when none becomes due by itself.
    #[inline]
    pub(crate) fn next_due(&self) -> Nanos {
        match &self.model {
            Model::Open(open) => open.next_due(),
            Model::Closed(closed) => closed.next_due(),
        }
    }

    /// The time at which the load ends by itself, as far as that is known: [`Self::is_timed_out`] or
    /// [`Self::is_over`] may become true then.
    pub(crate) fn next_end(&self, now: Nanos, population: &Population) -> Nanos {
        let schedule_end = self.schedule_end(population);
        if self.is_exhausted(population) && now < schedule_end {
            self.end.min(schedule_end)
        } else {
            self.end
        }
    }

    /// Whether no further request will come, as far as is known now.
    #[inline]
    pub(crate) fn is_exhausted(&self, population: &Population) -> bool {
        match &self.model {
            Model::Open(open) => open.is_exhausted(),
            Model::Closed(closed) => closed.is_exhausted(population),
        }
    }

    /// Whether the plan's duration is over, so that [`Self::stop`] is to be called.
    #[inline]
    pub(crate) fn is_timed_out(&self, now: Nanos) -> bool {
        now >= self.end
    }

    /// Whether no request will come and the time that was asked for is used.
    pub(crate) fn is_over(&self, now: Nanos, population: &Population) -> bool {
        self.is_exhausted(population)
            && (self.is_counted_out(population) || now >= self.schedule_end(population))
    }

    /// The part of the time that was asked for that has been used: up to the stop, to the end of a
    /// count, or to now.
    pub(crate) fn used_time(&self, now: Nanos, population: &Population) -> Nanos {
        match (self.stopped_at, &self.model) {
            (Some(stopped_at), _) => stopped_at,
            (None, Model::Open(open)) if open.is_counted_out() => open.counted_end(),
            (None, Model::Closed(closed)) if closed.is_counted_out(population) => Nanos::ZERO,
            (None, _) => now.min(self.schedule_end(population)),
        }
    }

    /// Lets no further request start. Call `take_due` before it for all that is due until now.
    pub(crate) fn stop(&mut self, now: Nanos) {
        self.stopped_at = Some(now.min(self.end));
        match &mut self.model {
            // An arrival that is due at this very moment may have been started.
            Model::Open(open) => open.stop(now + Nanos(1)),
            Model::Closed(closed) => closed.stop(now + Nanos(1)),
        }
    }

    /// Hands over the requests that were due before the stop and neither taken nor dropped, in
    /// portions: the last arrival of each, which has waited least, and how many it stands for.
    /// Which request each takes recurs after `round` of them.
    pub(crate) fn pending(&self, round: u64, hand_over: impl FnMut(Arrival, u64)) {
        match &self.model {
            Model::Open(open) => open.pending(round, hand_over),
            Model::Closed(closed) => closed.pending(hand_over),
        }
    }

    /// The arrivals that became due before `end` and those that were dropped, since the last call.
    /// Arrivals of the warm-up are left out.
    pub(crate) fn tally(&mut self, end: Nanos) -> Tally {
        let end = end.min(self.horizon);
        match &mut self.model {
            Model::Open(open) => open.tally(end),
            Model::Closed(closed) => closed.tally(end),
        }
    }

    /// Whether the run's count of requests is used up, so that there is no end to wait for.
    fn is_counted_out(&self, population: &Population) -> bool {
        match &self.model {
            Model::Open(open) => open.is_counted_out(),
            Model::Closed(closed) => closed.is_counted_out(population),
        }
    }

    /// The end of the schedule itself; its last requests may still wait then. [`Nanos::MAX`] where
    /// users start when they are free.
    fn schedule_end(&self, population: &Population) -> Nanos {
        match &self.model {
            Model::Open(open) => open.schedule_end(),
            Model::Closed(closed) => closed.schedule_end(population),
        }
    }
}
