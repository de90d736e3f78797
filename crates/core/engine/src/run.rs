//! A whole run: workers on threads, and the collector, which turns their intervals into events.
//!
//! [`Run::start`] returns a handle: [`Control`] takes commands, [`Events`] delivers events, and
//! [`Run::join`] waits for the end. The workers and the collector have their own threads, so the
//! holder of the handle may block.
//!
//! ```text
//!   Run::start ─► collector's thread ─► conduct ─┬─► worker 0: driver, connections ─► gate ─► loop
//!                      │                         ├─► worker 1: …                      gate ─► loop
//!                      ▼                         └─► …
//!                   events ◄── intervals, merged ◄── notes
//! ```
//!
//! The workers first open their connections, each at its own pace, and then wait at a gate. The
//! last one to arrive sets the run's start, which is the same instant for all. From then on they
//! share only the hand-over within a pool, the control and the channel to the collector. If a
//! worker fails, the others are ended, and the run returns an error instead of a summary.
//!
//! A run on several machines is divided into [`Shares`]; each machine runs `count` shares from
//! `first` on and knows the number of all. The gate there opens at an [`Appointment`], which may
//! set a later time of the run at which these shares begin. On the machine that coordinates them,
//! [`Run::relayed`] returns the same handle for a run that other processes carry out.

mod appointment;
mod collect;
mod crew;
mod events;
mod gate;
mod relay;
mod single;

pub use appointment::Appointment;
pub use events::Events;
pub use relay::Relay;
pub use single::run_over;

use crate::Control;
use crate::channel::Message;
use crate::id::{PoolId, Shard};
use crate::prepare::{Prepared, PreparedPool};
use collect::Collector;
use crew::{PoolCrew, Post, WorkerTask, conduct, worker};
use drumfire_measure::{RunInfo, Summary};
use drumfire_net::{Clock, Fault, Native, NativeOptions, Stamping, Waiting, has_cores_for};
use drumfire_placement::Placement;
use drumfire_plan::{ClockChoice, Plan, Pool, WaitChoice};
use drumfire_schedule::ScheduleError;
use drumfire_units::Nanos;
use events::EventHub;
use gate::Gate;
use std::fmt;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// The reason why a prepared run could not take place or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The schedule can't be computed.
    Schedule(ScheduleError),
    /// A driver could not be made, or failed.
    Driver(Fault),
    /// A thread could not be started.
    Thread(String),
    /// The processes that carry the run out could not continue, for this reason.
    Elsewhere(String),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schedule(error) => error.fmt(f),
            Self::Driver(error) => write!(f, "the event loop failed: {error}"),
            Self::Thread(text) => write!(f, "could not start a worker thread: {text}"),
            Self::Elsewhere(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for RunError {}

/// The share of a pool that belongs to a share of the run, if there is one: a pool with few
/// connections or users is divided into fewer shares. Each pool's shares begin at the thread after
/// the previous pool's, so that small pools do not all run on the first threads.
fn shard_of(placement: &Placement, pool: PoolId, shard: Shard) -> Option<Shard> {
    let divided = |pool: usize| placement.shares(pool).min(shard.of);
    let first = (0..pool.index())
        .map(divided)
        .fold(0, |sum, n| (sum + n) % shard.of);
    let of = divided(pool.index());
    let index = (shard.index + shard.of - first) % shard.of;
    (index < of).then_some(Shard { index, of })
}

/// The shares of a run's load that this process runs: `count` shares from `first` on, of `of` in
/// all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// The first share, from 0.
    pub first: u32,
    /// The number of shares here; each has its own worker.
    pub count: u32,
    /// The number of all shares, in all processes.
    pub of: u32,
}

impl Shares {
    /// The whole load of a plan, on the threads of its placement.
    #[must_use]
    pub const fn all(placement: &Placement) -> Self {
        let of = placement.threads();
        Self {
            first: 0,
            count: of,
            of,
        }
    }

    /// Whether this process runs the whole load.
    const fn is_whole(self) -> bool {
        self.count == self.of
    }

    fn shards(self) -> impl Iterator<Item = Shard> {
        let indices = self.first..self.first + self.count;
        indices.map(move |index| Shard { index, of: self.of })
    }
}

/// An active run.
#[derive(Debug)]
pub struct Run {
    control: Control,
    hub: Arc<EventHub>,
    thread: JoinHandle<Result<Arc<Summary>, RunError>>,
}

impl Run {
    /// Starts a plan's run on new threads. The run continues until the plan's end or a command,
    /// with or without observers; dropping the handle does not end it.
    pub fn start(
        prepared: Arc<Prepared>,
        info: Arc<RunInfo>,
        shares: Shares,
    ) -> Result<Self, RunError> {
        Self::start_at(prepared, info, shares, None)
    }

    /// Starts a plan's run, with an appointment for the beginning of the load.
    pub fn start_at(
        prepared: Arc<Prepared>,
        info: Arc<RunInfo>,
        shares: Shares,
        appointment: Option<Appointment>,
    ) -> Result<Self, RunError> {
        let control = Control::new(&prepared.plan).map_err(RunError::Schedule)?;
        Self::spawn(control, move |control, hub| {
            let start = appointment.as_ref();
            run_natively(&prepared, &info, shares, start, control, hub)
        })
    }

    /// A run of a plan that other processes carry out. `body` runs on a new thread, publishes the
    /// run's events, and ends them by returning.
    pub fn relayed(
        plan: &Plan,
        body: impl FnOnce(&Relay<'_>) -> Result<Arc<Summary>, RunError> + Send + 'static,
    ) -> Result<Self, RunError> {
        let control = Control::new(plan).map_err(RunError::Schedule)?;
        Self::spawn(control, move |control, hub| {
            let ended = body(&Relay::new(control, hub));
            control.over();
            ended
        })
    }

    /// Starts a thread that conducts a run.
    fn spawn(
        control: Control,
        conduct: impl FnOnce(&Control, &EventHub) -> Result<Arc<Summary>, RunError> + Send + 'static,
    ) -> Result<Self, RunError> {
        let hub = Arc::new(EventHub::new());
        let body = {
            let (control, hub) = (control.clone(), Arc::clone(&hub));
            move || hub.until_end(|hub| conduct(&control, hub))
        };
        let thread = thread::Builder::new().name("collector".to_owned());
        let thread = thread.spawn(body).map_err(RunError::of_thread)?;
        Ok(Self {
            control,
            hub,
            thread,
        })
    }

    /// The handle for changing and stopping the run.
    #[must_use]
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// The events from now on, for one observer. The first call also returns all earlier events.
    #[must_use]
    pub fn events(&self) -> Events {
        self.hub.subscribe()
    }

    /// Waits for the run's end.
    ///
    /// # Errors
    /// If a driver or a thread could not be made or failed: such a run has no summary. A target
    /// that does not answer is a result, not an error.
    pub fn join(self) -> Result<Arc<Summary>, RunError> {
        let ended = self.thread.join();
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl RunError {
    fn of_thread(error: std::io::Error) -> Self {
        Self::Thread(error.to_string())
    }
}

/// How the workers of these shares wait. Polling pays only for a load at full speed, because other
/// loads wait for due times, and only if a thread has several connections: with one, each wait
/// takes as long as the target needs for a response.
fn waiting(prepared: &Prepared, shares: Shares) -> Waiting {
    let plan = &prepared.plan;
    let is_at_full_speed = || plan.pools().iter().all(Pool::is_at_full_speed);
    let connections =
        |pool: &Arc<PreparedPool>| u64::from(pool.connections()) * pool.targets() as u64;
    let has_several = || prepared.pools.iter().map(connections).sum::<u64>() > u64::from(shares.of);
    match plan.generator().wait {
        WaitChoice::Spin => Waiting::Spin,
        WaitChoice::Adaptive
            if is_at_full_speed() && has_several() && has_cores_for(shares.count) =>
        {
            Waiting::Adaptive
        }
        WaitChoice::Sleep | WaitChoice::Adaptive => Waiting::Sleep,
    }
}

/// Runs workers over sockets and one clock, and merges their measurements on this thread.
fn run_natively(
    prepared: &Arc<Prepared>,
    info: &Arc<RunInfo>,
    shares: Shares,
    appointment: Option<&Appointment>,
    control: &Control,
    hub: &EventHub,
) -> Result<Arc<Summary>, RunError> {
    let plan = &prepared.plan;
    let clock = appointment.map_or_else(Clock::start, Appointment::clock);
    let options = NativeOptions {
        clock,
        waiting: waiting(prepared, shares),
        stamping: match plan.generator().clock {
            ClockChoice::Program => Stamping::Off,
            ClockChoice::Receive => Stamping::Receive,
            ClockChoice::Wire => Stamping::Both,
        },
        tls: prepared.tls.clone(),
    };
    let crews = &PoolCrew::of_pools(prepared, shares).map_err(RunError::Schedule)?;
    let gate = Gate::new(shares.count);
    let work = || {
        let ticket = gate.ticket(move || match appointment {
            Some(appointment) => appointment.keep(),
            None => clock.now(),
        });
        let work = |post: Post| {
            let io = Native::new(&options).map_err(RunError::Driver)?;
            let control = post.control.clone();
            let reporter = post.channel.reporter.clone();
            let mut worker = worker(io, prepared, crews, post)?;
            worker.open_connections().map_err(RunError::Driver)?;
            // All workers start at the same moment, which the last one sets.
            let start = ticket.pass();
            let from = appointment.map_or(Nanos::ZERO, Appointment::from);
            control.started(clock, start);
            let since = clock.now() - start;
            reporter.send(Message::Begun {
                unix_ns: Some(Clock::unix_time().saturating_sub(since.0)),
            });
            worker.begin_at(start, from);
            worker.run().map_err(RunError::Driver)
        };
        (control.clone(), Box::new(work) as WorkerTask<'_>)
    };
    let crew = shares.shards().map(|shard| (shard, work())).collect();
    // Thresholds are not judged for a part of the run.
    let thresholds = match shares.is_whole() {
        true => plan.thresholds(),
        false => &[],
    };
    let collector = Collector::new(info, thresholds);
    conduct(collector, crew, prepared, &mut |event| hub.publish(event))
}
