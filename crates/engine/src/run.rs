//! A whole run: workers on threads, and the one place where their intervals become events.

mod collect;
mod gate;
mod single;

pub use single::run_over;

use crate::Control;
use crate::arrivals::{Arrivals, Shard, schedule_of};
use crate::prepare::Prepared;
use crate::users::Users as WorkerUsers;
use crate::worker::{Channel, Extent, Message, Worker};
use collect::Collector;
use drumfire_measure::{RunEvent, RunInfo, Summary};
use drumfire_net::{Clock, Fault, Io, Native, NativeOptions, Waiting};
use drumfire_plan::{Affinity, Load, Plan, Spin, Users};
use drumfire_schedule::ScheduleError;
use gate::Gate;
use std::fmt;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Why a prepared run could not take place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The schedule can't be computed.
    Schedule(ScheduleError),
    /// A driver could not be made, or could not go on.
    Driver(Fault),
    /// A thread could not be started.
    Thread(String),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schedule(error) => error.fmt(f),
            Self::Driver(error) => write!(f, "the event loop can't go on: {error}"),
            Self::Thread(text) => write!(f, "a worker thread can't be started: {text}"),
        }
    }
}

impl std::error::Error for RunError {}

/// How many worker threads a plan's run has: never more than connections or users to give them.
#[must_use]
pub fn thread_count(plan: &Plan) -> u32 {
    let users = match plan.load {
        Load::Closed { users, .. } => users,
        Load::Open { .. } => u32::MAX,
    };
    plan.connections
        .threads
        .min(plan.connections.count)
        .min(users)
        .max(1)
}

/// One worker's part of `count` things dealt out in turn.
fn part(count: u32, shard: Shard) -> u32 {
    count / shard.of + u32::from(shard.index < count % shard.of)
}

impl<I: Io> Worker<I> {
    /// A worker for a share of a run over a driver, and what it says. The second channel takes
    /// used intervals back.
    ///
    /// # Errors
    /// When the plan's schedule can't be computed.
    pub fn new(
        io: I,
        prepared: &Arc<Prepared>,
        control: &Control,
        shard: Shard,
        out: Sender<Message>,
        back: Receiver<Box<drumfire_measure::Interval>>,
    ) -> Result<Self, RunError> {
        let plan = &prepared.plan;
        let arrivals = Arrivals::new(plan, shard).map_err(RunError::Schedule)?;
        let law = match plan.load {
            Load::Open { .. } => plan.users.as_ref(),
            Load::Closed { .. } => None,
        };
        let law = law.map(|users| users.share(shard.index, shard.of));
        // A user that keeps to a connection takes no seat, so that users are what bounds them.
        let seats = part(plan.connections.count, shard) * plan.connections.streams;
        let law = match (plan.connections.affinity, &plan.load) {
            (Affinity::User, Load::Open { .. }) => {
                Some(law.unwrap_or_else(|| Users::constant(seats)))
            }
            _ => law,
        };
        let extent = Extent {
            connections: part(plan.connections.count, shard),
            shard,
            users: WorkerUsers::new(law, shard),
        };
        let channel = Channel { out, back };
        Ok(Self::assemble(
            io,
            Arc::clone(prepared),
            control.clone(),
            arrivals,
            channel,
            extent,
        ))
    }
}

/// What the workers agree on before the start.
struct Line {
    gate: Gate,
    failure: FirstFailure,
}

/// The first failure of a worker, which is the run's.
#[derive(Default)]
struct FirstFailure(Mutex<Option<RunError>>);

impl FirstFailure {
    fn put(&self, error: RunError) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
    }

    fn take(self) -> Result<(), RunError> {
        let first = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        first.map_or(Ok(()), Err)
    }
}

/// Runs a plan on threads of its own and merges what they measure. Blocks until the drain is over;
/// `observer` is called on the calling thread.
///
/// # Errors
/// When no worker could be started, or a driver failed. A target that does not answer is no error
/// but a result.
pub fn run(
    prepared: &Arc<Prepared>,
    info: &Arc<RunInfo>,
    control: &Control,
    observer: &mut dyn FnMut(&RunEvent),
) -> Result<Arc<Summary>, RunError> {
    let plan = &prepared.plan;
    let of = thread_count(plan);
    schedule_of(plan).map_err(RunError::Schedule)?;
    let clock = Clock::start();
    let options = NativeOptions {
        clock,
        waiting: if plan.connections.spin == Spin::Yes {
            Waiting::Spin
        } else {
            Waiting::Sleep
        },
        tls: prepared.tls.clone(),
    };
    let line = Line {
        gate: Gate::new(of),
        failure: FirstFailure::default(),
    };
    let mut collector = Collector::new(plan, info, of);
    observer(&RunEvent::Started(Arc::clone(info)));
    thread::scope(|scope| {
        for worker in 0..of {
            let (out, messages) = mpsc::channel();
            let back = collector.add(messages);
            let shard = Shard { index: worker, of };
            let (options, line) = (&options, &line);
            let body = move || run_worker(options, prepared, control, shard, (out, back), line);
            let started = thread::Builder::new()
                .name(format!("worker-{worker}"))
                .spawn_scoped(scope, body);
            if let Err(error) = started {
                // There is no run without it; those who wait for it are let go, to stop at once.
                control.stop();
                line.gate.excuse(of - worker, || clock.now());
                return Err(RunError::Thread(error.to_string()));
            }
        }
        collector.collect(control, observer);
        Ok(())
    })?;
    line.failure.take()?;
    let summary = Arc::new(collector.finish(plan));
    observer(&RunEvent::Finished(Arc::clone(&summary)));
    Ok(summary)
}

/// One worker's thread.
fn run_worker(
    options: &NativeOptions,
    prepared: &Arc<Prepared>,
    control: &Control,
    shard: Shard,
    (out, back): (Sender<Message>, Receiver<Box<drumfire_measure::Interval>>),
    line: &Line,
) {
    let made = Native::new(options)
        .map_err(RunError::Driver)
        .and_then(|io| Worker::new(io, prepared, control, shard, out, back));
    let worker = made.and_then(|mut worker| {
        worker.open_connections().map_err(RunError::Driver)?;
        Ok(worker)
    });
    if worker.is_err() {
        control.stop();
    }
    // All start at the same moment, which the last of them names.
    let start = line.gate.pass(|| options.clock.now());
    let ended = worker.and_then(|mut worker| {
        worker.begin_at(start);
        worker.run().map_err(RunError::Driver)
    });
    if let Err(error) = ended {
        line.failure.put(error);
        control.stop();
    }
}
