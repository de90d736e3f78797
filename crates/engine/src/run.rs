//! A whole run: workers on threads, and the one place where their intervals become events.
//!
//! [`Run::start`] gives a handle: commands go in through [`Control`], events come out through
//! [`Events`], and [`Run::join`] waits for the end. The workers and the collector have threads of
//! their own, so that the holder of the handle may block.
//!
//! ```text
//!   Run::start ─► collector's thread ─► conduct ─┬─► worker 0: driver, connections ─► gate ─► loop
//!                      │                         ├─► worker 1: …                      gate ─► loop
//!                      ▼                         └─► …
//!                   events ◄── intervals, merged ◄── notes
//! ```
//!
//! The workers open their connections first, each at its own pace, and meet at a gate; the last to
//! arrive names the run's start, which is the same instant for all. From then on they share nothing
//! but the hand-over within a pool, the control and the channel to the collector. When a worker
//! fails, the others are ended, and the run has an error in place of an account.
//!
//! A run that is kept on several machines is divided into [`Shares`]; each machine runs those from
//! `first` on and knows the number of all. The gate there opens at an [`Appointment`], which may name
//! a later time of the run at which these shares begin. Where all of
//! it comes together, [`Run::relayed`] has the same handle on a run that other processes carry out.

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
use crate::prepare::Prepared;
use collect::Collector;
use crew::{PoolCrew, Post, Work, conduct, worker};
use drumfire_measure::{RunInfo, Summary};
use drumfire_net::{Clock, Fault, Native, NativeOptions, Stamping, Waiting};
use drumfire_placement::Placement;
use drumfire_plan::{ClockChoice, Plan, Spin};
use drumfire_schedule::ScheduleError;
use drumfire_units::Nanos;
use events::Hub;
use gate::Gate;
use std::fmt;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// The reason for which a prepared run could not take place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The schedule can't be computed.
    Schedule(ScheduleError),
    /// A driver could not be made, or could not go on.
    Driver(Fault),
    /// A thread could not be started.
    Thread(String),
    /// The processes that carry the run out could not go on, for this reason.
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
/// connections or users is divided into fewer. Its shares are dealt out from where those of the
/// pool before it end, so that small pools do not all run on the first threads.
fn shard_of(placement: &Placement, pool: PoolId, shard: Shard) -> Option<Shard> {
    let divided = |pool: usize| placement.shares(pool).min(shard.of);
    let first = (0..pool.index())
        .map(divided)
        .fold(0, |sum, n| (sum + n) % shard.of);
    let of = divided(pool.index());
    let index = (shard.index + shard.of - first) % shard.of;
    (index < of).then_some(Shard { index, of })
}

/// The shares of a run's load that are kept here: those from `first` on, `count` of all `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// The first one, from 0.
    pub first: u32,
    /// Their number; each has a worker of its own.
    pub count: u32,
    /// The number of all shares, here and elsewhere.
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

    /// Whether the whole load is kept here.
    const fn is_whole(self) -> bool {
        self.count == self.of
    }

    fn shards(self) -> impl Iterator<Item = Shard> {
        let indices = self.first..self.first + self.count;
        indices.map(move |index| Shard { index, of: self.of })
    }
}

/// A run under way.
#[derive(Debug)]
pub struct Run {
    control: Control,
    hub: Arc<Hub>,
    thread: JoinHandle<Result<Arc<Summary>, RunError>>,
}

impl Run {
    /// Starts a plan's run on threads of its own. It goes on until the plan's end or a command's,
    /// with or without observers; to drop the handle does not end it.
    pub fn start(
        prepared: Arc<Prepared>,
        info: Arc<RunInfo>,
        shares: Shares,
    ) -> Result<Self, RunError> {
        Self::start_at(prepared, info, shares, None)
    }

    /// Starts a plan's run, with an appointment for the moment at which the load begins.
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

    /// A run of a plan that other processes carry out, as `body` learns of it on a thread of its
    /// own. What `body` publishes are the run's events, and what it returns ends them.
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

    /// A run that a thread conducts.
    fn spawn(
        control: Control,
        conduct: impl FnOnce(&Control, &Hub) -> Result<Arc<Summary>, RunError> + Send + 'static,
    ) -> Result<Self, RunError> {
        let hub = Arc::new(Hub::new());
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

    /// The way to change the run and to stop it.
    #[must_use]
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// The events from now on, for one observer. Events before the first call are not lost: they
    /// come first.
    #[must_use]
    pub fn events(&self) -> Events {
        self.hub.subscribe()
    }

    /// Waits for the run's end.
    ///
    /// # Errors
    /// When a driver or a thread could not be made or failed: there is no account of such a run.
    /// A target that does not answer is no error but a result.
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

/// Runs workers over sockets and one clock, and merges their measurements on this thread.
fn run_natively(
    prepared: &Arc<Prepared>,
    info: &Arc<RunInfo>,
    shares: Shares,
    appointment: Option<&Appointment>,
    control: &Control,
    hub: &Hub,
) -> Result<Arc<Summary>, RunError> {
    let plan = &prepared.plan;
    let clock = appointment.map_or_else(Clock::start, Appointment::clock);
    let options = NativeOptions {
        clock,
        waiting: if plan.generator().spin == Spin::Yes {
            Waiting::Spin
        } else {
            Waiting::Sleep
        },
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
            // All start at the same moment, which the last of them names.
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
        (control.clone(), Box::new(work) as Work<'_>)
    };
    let crew = shares.shards().map(|shard| (shard, work())).collect();
    // Of a part of the run nothing is judged.
    let thresholds = match shares.is_whole() {
        true => plan.thresholds(),
        false => &[],
    };
    let collector = Collector::new(info, thresholds);
    conduct(collector, crew, prepared, &mut |event| hub.publish(event))
}
