//! Control of a run from outside: commands that change it while it is active, and its end.
//!
//! A command takes effect at a stated time of the run, so that all workers apply it at the same
//! instant and their shares stay a partition of the whole. [`Control::send`] announces an order
//! *before* it reads the clock, and accepts no time earlier than [`COMMAND_LEAD`] after that. A
//! command without a time gets the earliest possible time; a command with an earlier time is
//! refused. A caller that gives the same command to several runs therefore knows that it holds at
//! one time in all of them, or which runs refused it. A worker reads its clock *before* it checks
//! for announcements, and takes nothing that is due later than [`crate::limits::ORDERS_WITHIN`]
//! after that. So a worker that has not read an order yet has taken nothing that the order
//! concerns, even if its thread was descheduled in between. Without announcements, the check is one
//! load.
//!
//! The announcement and the worker's check are sequentially consistent, since the argument needs
//! one order of four events: announce, read the sender's clock, read the worker's clock, check. A
//! withdrawn announcement (the command was refused) costs a worker one turn with the lock, in which
//! it finds nothing.
//!
//! [`Control::stop`] and [`Control::stop_now`] work differently: they take effect at once in every
//! worker, because workers need not agree on their time. Neither can be undone; the first reason is
//! kept. A lease ([`Control::allow_until`]) ends the run as [`Control::stop_now`] does, at a time
//! that the workers compare with their own clock, so that it works even if the whole process was
//! stopped meanwhile. All three are one number, which a worker loads once for each check. The run
//! calls `report_to` and `started` once, before its workers start, and `over` at its end, after
//! which each command is refused. Before `started`, and under virtual time, no time is too soon.
//!
//! The list of orders only grows, up to [`COMMANDS_MAX`] and a reserve, so a worker only needs the
//! number of orders that it has read.

use crate::arrivals::{Arrivals, Numbers, Order, WholeLoad};
use crate::channel::{CollectorNote, Message, Reporter, Stopped};
use crate::id::{PoolId, Shard};
use crate::limits::{COMMAND_LEAD, COMMANDS_MAX};
use crate::population::Population;
use drumfire_net::Clock;
use drumfire_plan::{Change, Command, Plan, StopReason, UserSteps};
use drumfire_schedule::{Schedule, ScheduleError};
use drumfire_units::Nanos;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The number of commands beyond [`COMMANDS_MAX`] that may stop, pause or resume the load, so that
/// a run with a full list, for example of marks, can still be stopped.
const COMMANDS_SPARE: usize = 100;

/// The limit of a run that may start requests and has no lease.
const GOES_ON: u64 = !STOPS;
/// The bit for: no further request starts.
const STOPS: u64 = 1;
/// The limit of a run that also does not wait for exchanges in flight.
const ENDS: u64 = STOPS;

/// A handle on a run, for any thread: changes its load and stops it.
#[derive(Clone)]
pub struct Control {
    shared: Arc<Shared>,
}

/// The parts that all handles and all workers of a run share.
struct Shared {
    /// The time of the run at which it ends, in even nanoseconds, combined with [`STOPS`]. Relaxed:
    /// a worker that sees a stop one turn late only runs one turn longer.
    limit: AtomicU64,
    /// The number of orders, including one that is being added. It differs from a worker's own
    /// count only while the worker has orders to read.
    announced: AtomicUsize,
    book: Mutex<Book>,
    /// Notified when [`Book::kept`] grows, and when the run is over.
    kept: Condvar,
}

/// The state protected by the lock. A worker takes the lock only if an order is announced.
struct Book {
    /// The load of each pool.
    loads: Vec<WholeLoad>,
    /// The orders in the order in which they were given, which may differ from the order of their
    /// times.
    orders: Vec<Order>,
    /// The run's time; `None` before the start, and under virtual time.
    clock: Option<RunClock>,
    /// The channel that wakes the collector at a stop.
    notes: Option<Sender<CollectorNote>>,
    /// The reason of the first stop, kept until the collector's channel is known.
    stop_reason: Option<StopReason>,
    is_over: bool,
    /// The minimum time between giving a command and its taking effect.
    lead: Nanos,
    /// The number of orders that are stored outside this process; `None` if the run ends with the
    /// process.
    kept: Option<usize>,
}

/// A clock that counts from the run's start.
#[derive(Clone, Copy, Debug)]
struct RunClock {
    clock: Clock,
    start: Nanos,
}

/// The refusal of a command. The run is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ControlError {
    /// The run is over.
    Over,
    /// The command's time is past, or too close for every worker to read the command in time.
    TooSoon {
        /// The earliest possible time.
        soonest: Nanos,
    },
    /// The load has ended before the command's time.
    TooLate {
        /// The end of the load.
        end: Nanos,
    },
    /// A load of users has no rate.
    NoRate,
    /// Each user follows its own rate.
    OwnRates,
    /// A load with a rate has no number of users to change.
    NoUsers,
    /// There would be more than [`Users::MOST`] users.
    TooManyUsers,
    /// The law can't be scheduled.
    Schedule(ScheduleError),
    /// There were already [`COMMANDS_MAX`] commands.
    TooMany,
    /// The run has no pool with this number.
    NoPool(u16),
    /// The run has several pools, and each has its own law.
    WhichPool,
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Over => f.write_str("the run is over"),
            Self::TooSoon { soonest } => {
                write!(f, "too soon; the earliest possible time is {soonest}")
            }
            Self::TooLate { end } => write!(f, "too late; the load ends at {end}"),
            Self::NoRate => f.write_str("this load has no rate; change the number of users"),
            Self::OwnRates => {
                f.write_str("each user follows its own rate; change the number of users")
            }
            Self::NoUsers => {
                f.write_str("this load has a rate, not a number of users; change the rate")
            }
            Self::TooManyUsers => f.write_str("a pool has at most 10,000,000 users"),
            Self::Schedule(error) => error.fmt(f),
            Self::TooMany => write!(f, "a run accepts at most {COMMANDS_MAX} commands"),
            Self::NoPool(pool) => write!(f, "unknown pool {pool}; pools are numbered from 0"),
            Self::WhichPool => f.write_str("the run has several pools; specify one"),
        }
    }
}

impl std::error::Error for ControlError {}

impl Control {
    /// A handle for a run of a plan.
    ///
    /// # Errors
    /// If the plan's schedule cannot be computed.
    pub fn new(plan: &Plan) -> Result<Self, ScheduleError> {
        let pools = (0..plan.pools().len()).map(|index| PoolId(index as u16));
        let loads = pools.map(|pool| WholeLoad::for_pool(plan, pool));
        let book = Book {
            loads: loads.collect::<Result<_, _>>()?,
            orders: Vec::new(),
            clock: None,
            notes: None,
            stop_reason: None,
            is_over: false,
            lead: COMMAND_LEAD,
            kept: None,
        };
        Ok(Self {
            shared: Arc::new(Shared {
                limit: AtomicU64::new(GOES_ON),
                announced: AtomicUsize::new(0),
                book: Mutex::new(book),
                kept: Condvar::new(),
            }),
        })
    }

    /// Sets the minimum time between giving a command and its taking effect, at least
    /// [`COMMAND_LEAD`]. Commands that must reach workers on other machines need a longer lead.
    pub fn set_lead(&self, lead: Nanos) {
        self.lock().lead = lead.max(COMMAND_LEAD);
    }

    /// Changes the run, and returns the time at which the change takes effect: the command's own
    /// time, or the earliest possible time if the command has `at` 0. Computes a new schedule on
    /// the caller's thread, so that no worker pays for it.
    pub fn send(&self, command: Command) -> Result<Nanos, ControlError> {
        let mut book = self.lock();
        let schedule = book.schedule(&command)?;
        let count = book.orders.len();
        self.shared.announced.store(count + 1, Ordering::SeqCst);
        let soonest = book
            .clock
            .map_or(Nanos::ZERO, |clock| clock.now() + book.lead);
        let at = match command.at {
            Nanos::ZERO => soonest,
            at => at,
        };
        let end = book.end_before(at, command.pool);
        let is_stop = matches!(command.change, Change::Stop { .. });
        let refusal = if at < soonest {
            Some(ControlError::TooSoon { soonest })
        } else if at > end || at == end && is_stop {
            Some(ControlError::TooLate { end })
        } else {
            None
        };
        if let Some(error) = refusal {
            self.shared.announced.store(count, Ordering::SeqCst);
            return Err(error);
        }
        let command = Arc::new(Command { at, ..command });
        book.orders.push(Order::new(command, schedule));
        Ok(at)
    }

    /// Waits until all commands given so far are stored, for a run that continues without this
    /// process; returns at once if the run ends with the process. Returns `false` after `patience`.
    #[must_use]
    pub fn await_kept(&self, patience: Duration) -> bool {
        let book = self.lock();
        let given = book.orders.len();
        let lacks = |book: &mut Book| !book.is_over && book.kept.is_some_and(|kept| kept < given);
        let waited = self.shared.kept.wait_timeout_while(book, patience, lacks);
        let (_book, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        !waited.timed_out()
    }

    /// Treats the commands given so far as stored, and later ones as stored only after
    /// [`Self::keep`].
    pub(crate) fn outlives(&self) {
        let mut book = self.lock();
        book.kept = Some(book.orders.len());
    }

    /// Notes that one more command is stored; commands are stored in the order in which they were
    /// given.
    pub(crate) fn keep(&self) {
        if let Some(kept) = &mut self.lock().kept {
            *kept += 1;
        }
        self.shared.kept.notify_all();
    }

    /// The end of the load, by itself or by a command given so far, from the run's start; `None` if
    /// it has no end yet. With several pools, the latest end.
    #[must_use]
    pub fn load_end(&self) -> Option<Nanos> {
        let end = self.lock().end_before(Nanos::MAX, None);
        (end < Nanos::MAX).then_some(end)
    }

    /// Starts no further request from now on; exchanges in flight may finish. The first reason is
    /// kept.
    pub fn stop(&self, reason: StopReason) {
        let mut book = self.lock();
        self.shared.limit.fetch_or(STOPS, Ordering::Relaxed);
        if book.stop_reason.is_none() {
            book.stop_reason = Some(reason);
            if let Some(notes) = &book.notes {
                // The send fails only after the collector has ended.
                let _over = notes.send(CollectorNote::Stop(reason));
            }
        }
    }

    /// Ends the run at once, with its results so far, without waiting for exchanges in flight.
    pub fn stop_now(&self, reason: StopReason) {
        self.stop(reason);
        self.shared.limit.store(ENDS, Ordering::Relaxed);
    }

    /// Ends the run at time `until`, as [`Self::stop_now`] does. A later call moves the time.
    /// Returns `false` if the previous time has passed, or if the run was ended.
    #[must_use]
    pub fn allow_until(&self, until: Nanos) -> bool {
        let book = self.lock();
        let now = book.clock.map_or(Nanos::ZERO, RunClock::now);
        let moved = |limit: u64| {
            let has_passed = limit & !STOPS <= now.0;
            (!has_passed).then_some(until.0.min(GOES_ON) & !STOPS | limit & STOPS)
        };
        let limit = &self.shared.limit;
        limit
            .try_update(Ordering::Relaxed, Ordering::Relaxed, moved)
            .is_ok()
    }

    /// Ends the run without a reason or a result, because a part of it has failed.
    pub(crate) fn abandon(&self) {
        self.shared.limit.store(ENDS, Ordering::Relaxed);
    }

    /// The given commands from the one with number `from` on, each with the time at which it takes
    /// effect.
    #[must_use]
    pub fn commands(&self, from: usize) -> Vec<Arc<Command>> {
        let book = self.lock();
        let orders = book.orders.iter().skip(from);
        orders.map(|order| Arc::clone(&order.command)).collect()
    }

    /// Adds a command that the run received before this handle existed, with the time at which it
    /// takes effect. A command that the plan cannot carry out, which the run has refused, is left
    /// out.
    pub(crate) fn restore(&self, command: &Command) {
        let mut book = self.lock();
        if let Ok(schedule) = book.schedule(command) {
            let command = Arc::new(command.clone());
            book.orders.push(Order::new(command, schedule));
        }
    }

    /// The reason of a stop from outside, if there was one, and whether the run was also ended.
    pub(crate) fn halt(&self) -> Option<(StopReason, bool)> {
        let reason = self.lock().stop_reason?;
        let limit = self.shared.limit.load(Ordering::Relaxed);
        Some((reason, limit == ENDS))
    }

    /// One worker's share of a pool's load, with the numbers that it shares with others.
    pub(crate) fn arrivals(
        &self,
        pool: PoolId,
        shard: Shard,
        numbers: Option<Arc<Numbers>>,
        population: &mut Population,
    ) -> Arrivals {
        self.lock().loads[pool.index()].share(shard, numbers, population)
    }

    /// One worker's view of a pool's orders, with the worker's reporter. No order is read yet:
    /// orders given before the run's start are read in the first turn.
    pub(crate) fn orders(&self, pool: PoolId, reporter: Reporter) -> Orders {
        Orders {
            control: self.clone(),
            pool,
            read: 0,
            reporter,
            stopped_at: None,
        }
    }

    /// Reports a stop to the collector at once, including one before this call.
    pub(crate) fn report_to(&self, notes: Sender<CollectorNote>) {
        let mut book = self.lock();
        if let Some(reason) = book.stop_reason {
            // The send fails only after the collector has ended.
            let _over = notes.send(CollectorNote::Stop(reason));
        }
        book.notes = Some(notes);
    }

    /// Sets the clock and the time on it at which the run started, so that commands use the run's
    /// time.
    pub(crate) fn started(&self, clock: Clock, start: Nanos) {
        self.lock().clock = Some(RunClock { clock, start });
    }

    /// Refuses every command from now on.
    pub(crate) fn over(&self) {
        let mut book = self.lock();
        book.is_over = true;
        book.notes = None;
        self.shared.kept.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        // Nothing that could panic is done under the lock.
        self.shared
            .book
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.shared.limit.load(Ordering::Relaxed);
        f.debug_struct("Control").field("limit", &limit).finish()
    }
}

impl RunClock {
    /// The time since the run's start.
    fn now(self) -> Nanos {
        self.clock.now() - self.start
    }
}

impl Book {
    /// The schedule for a command that sets a rate, after checking that the command can be carried
    /// out. The schedule's arrivals are seeded with the order's number, so that two commands with
    /// one rate have different arrivals.
    fn schedule(&self, command: &Command) -> Result<Option<Schedule>, ControlError> {
        if self.is_over {
            return Err(ControlError::Over);
        }
        let is_urgent = matches!(
            command.change,
            Change::Stop { .. } | Change::Pause | Change::Resume
        );
        let spare = if is_urgent { COMMANDS_SPARE } else { 0 };
        if self.orders.len() >= COMMANDS_MAX + spare {
            return Err(ControlError::TooMany);
        }
        if let Some(pool) = command.pool
            && usize::from(pool) >= self.loads.len()
        {
            return Err(ControlError::NoPool(pool));
        }
        let has_law = matches!(command.change, Change::Rate { .. } | Change::Users { .. });
        if has_law && command.pool.is_none() && self.loads.len() > 1 {
            return Err(ControlError::WhichPool);
        }
        let load = &self.loads[usize::from(command.pool.unwrap_or(0))];
        match &command.change {
            Change::Users { .. } if load.is_open() => Err(ControlError::NoUsers),
            Change::Users { law } if law.most() > UserSteps::MOST => {
                Err(ControlError::TooManyUsers)
            }
            Change::Rate { .. } if load.has_own_rates() => Err(ControlError::OwnRates),
            Change::Rate { law } => {
                let number = self.orders.len() as u64 + 1;
                let schedule = load.schedule(law, number).ok_or(ControlError::NoRate)?;
                schedule.map(Some).map_err(ControlError::Schedule)
            }
            _ => Ok(None),
        }
    }

    /// The end of a pool's load, or of the load that lasts longest without `pool`. Only orders with
    /// a time of `at` or earlier count.
    fn end_before(&self, at: Nanos, pool: Option<u16>) -> Nanos {
        let loads = (0..).zip(&self.loads);
        let concerned = loads.filter(|(id, _)| pool.is_none_or(|pool| pool == *id));
        let ends = concerned.map(|(id, load)| {
            let orders = self.orders.iter();
            let orders: Vec<&Order> = orders.filter(|order| order.concerns(PoolId(id))).collect();
            load.end_before(at, &orders)
        });
        ends.max().unwrap_or_default()
    }
}

/// A worker's view of [`Control`], for one of its pools. Call [`Self::carry_out`] once per turn,
/// with a time that the worker read before the call.
pub(crate) struct Orders {
    control: Control,
    pool: PoolId,
    /// The number of orders that have been read.
    read: usize,
    reporter: Reporter,
    /// The reported end of starting; `None` until then.
    stopped_at: Option<Nanos>,
}

impl Orders {
    /// The reported end of starting; `None` until it was reported.
    pub(crate) const fn stopped_at(&self) -> Option<Nanos> {
        self.stopped_at
    }

    /// Whether no further request may start, for any due time.
    #[inline]
    pub(crate) fn is_stopping(&self, now: Nanos) -> bool {
        let limit = self.control.shared.limit.load(Ordering::Relaxed);
        limit & STOPS != 0 || limit <= now.0
    }

    /// Whether the drain is cut short: the worker does not wait for exchanges in flight.
    #[inline]
    pub(crate) fn is_ending(&self, now: Nanos) -> bool {
        self.control.shared.limit.load(Ordering::Relaxed) & !STOPS <= now.0
    }

    /// Applies the orders given since the last call, and reports their effects on the load up to
    /// `now`. Read the clock for `now` before the call.
    #[inline]
    pub(crate) fn carry_out(
        &mut self,
        arrivals: &mut Arrivals,
        population: &Population,
        now: Nanos,
    ) {
        if self.control.shared.announced.load(Ordering::SeqCst) != self.read {
            self.read_on(arrivals);
        }
        arrivals.look(now);
        if arrivals.has_news(now, population) {
            self.report(arrivals, population, now);
        }
    }

    /// Applies the orders given so far, then begins the share's load at time `from`. All of these
    /// orders take effect before `from`.
    pub(crate) fn begin_from(
        &mut self,
        from: Nanos,
        arrivals: &mut Arrivals,
        population: &mut Population,
    ) {
        self.read_on(arrivals);
        arrivals.begin_from(from, population);
    }

    /// Reports changes that have taken effect, and, once, that no further request starts.
    #[cold]
    fn report(&mut self, arrivals: &mut Arrivals, population: &Population, now: Nanos) {
        while let Some(command) = arrivals.next_change(now) {
            self.reporter.send(Message::Changed(command));
        }
        if self.stopped_at.is_none()
            && let Some(reason) = arrivals.stop_reason(now, population)
        {
            let (pool, at) = (self.pool, arrivals.stop_time(now, population));
            self.stopped_at = Some(at);
            let stop = Stopped { at, reason };
            self.reporter.send(Message::Stopping { pool, stop });
        }
    }

    /// Applies the orders after the last one read. Holds the lock meanwhile: a concurrent command
    /// waits.
    #[cold]
    fn read_on(&mut self, arrivals: &mut Arrivals) {
        let book = self.control.lock();
        let orders = book.orders.iter().skip(self.read);
        for order in orders.filter(|order| order.concerns(self.pool)) {
            let reports = order.is_reported_by(self.pool);
            arrivals.apply(order, reports);
        }
        self.read = book.orders.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause(at: Nanos) -> Command {
        let (pool, change) = (None, Change::Pause);
        Command { at, pool, change }
    }

    /// A lease can be moved until it has passed; it undoes neither a stop nor an end.
    #[test]
    fn a_lease_that_has_passed_stays_so() {
        let plan = drumfire_testkit::open("const(100/s,2h)").plan().unwrap();
        let control = Control::new(&plan).unwrap();
        let (sender, _notes) = std::sync::mpsc::channel();
        let orders = control.orders(PoolId(0), Reporter::new(0, sender));
        let state = |seconds| {
            let now = Nanos::from_secs(seconds);
            (orders.is_stopping(now), orders.is_ending(now))
        };
        assert_eq!(state(3_600), (false, false));
        assert!(control.allow_until(Nanos::from_secs(5)));
        assert_eq!((state(4), state(6)), ((false, false), (true, true)));
        assert!(control.allow_until(Nanos::from_secs(7)));
        assert_eq!(state(6), (false, false));
        control.stop(StopReason::Signal);
        assert_eq!((state(6), state(8)), ((true, false), (true, true)));
        let clock = Clock::start();
        control.started(clock, Nanos::ZERO);
        assert!(control.allow_until(Nanos(2)));
        assert!(!control.allow_until(Nanos::from_secs(9)), "it has passed");
        control.stop_now(StopReason::Signal);
        assert!(
            !control.allow_until(Nanos::from_secs(9)),
            "the run was ended"
        );
        assert_eq!(state(0), (true, true));
    }

    /// A command takes effect at its own time or is refused; a command without a time takes effect
    /// at the earliest possible time.
    #[test]
    fn a_time_that_is_too_near_is_refused() {
        let plan = drumfire_testkit::open("const(100/s,2h)").plan().unwrap();
        let control = Control::new(&plan).unwrap();
        let early = Nanos::from_millis(1);
        assert_eq!(control.send(pause(early)), Ok(early), "before the start");
        let clock = Clock::start();
        control.started(clock, Nanos::ZERO);
        let before = clock.now();
        let Err(ControlError::TooSoon { soonest }) = control.send(pause(early)) else {
            panic!("the time is past");
        };
        assert!(soonest >= before + COMMAND_LEAD, "{soonest}");
        // The time in the error is possible, unless the second command takes as long as the lead.
        let later = soonest + Nanos::from_secs(3_600);
        assert_eq!(control.send(pause(later)), Ok(later));
        let soon = control.send(Command::soon(Change::Pause)).unwrap();
        assert!(soon >= soonest && soon < later, "{soon}");
    }

    /// A run that ends with its process stores nothing; any other run waits until each command is
    /// stored.
    #[test]
    fn a_command_is_awaited_where_it_outlives_the_process() {
        let plan = drumfire_testkit::open("const(100/s,2h)").plan().unwrap();
        let control = Control::new(&plan).unwrap();
        control.send(pause(Nanos(1))).unwrap();
        assert!(control.await_kept(Duration::ZERO));
        control.outlives();
        assert!(control.await_kept(Duration::ZERO), "it was there before");
        control.send(pause(Nanos(2))).unwrap();
        assert!(!control.await_kept(Duration::from_millis(1)));
        let other = control.clone();
        let keeps = std::thread::spawn(move || other.keep());
        assert!(control.await_kept(Duration::from_secs(60)));
        keeps.join().unwrap();
        control.send(pause(Nanos(3))).unwrap();
        control.over();
        assert!(control.await_kept(Duration::ZERO), "nothing will follow");
    }
}
