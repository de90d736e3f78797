//! The workers' threads, from start to end.
//!
//! [`PoolCrew::of_pools`] is called once, before any worker: it makes the state that the workers of
//! a pool share. [`worker`] is called on each worker's own thread, since a driver must stay on the
//! thread that made it. [`conduct`] starts the threads, collects on the calling thread, and returns
//! when all workers have ended.
//!
//! Everything that is divided is dealt out by a worker's index among the workers of the pool:
//! connections and users by [`part`], arrivals by their own rule. The parts of all workers, on this
//! machine or others, add up to the whole. A worker with an empty part of a pool does not run the
//! pool at all.
//!
//! A worker that fails, or whose thread cannot be started, ends the run: the first failure is kept,
//! and all controls are abandoned, so that the others leave their loops. A panic of a worker is
//! propagated when its thread is joined.

use super::collect::Collector;
use super::{RunError, Shares, shard_of};
use crate::Control;
use crate::arrivals::{Numbers, WholeLoad};
use crate::channel::Channel;
use crate::demand::Demand;
use crate::handover::{Handover, Member};
use crate::id::{PoolId, Shard};
use crate::pool_run::PoolRun;
use crate::population::Population;
use crate::prepare::{Prepared, PreparedPool};
use crate::recorder::{Recorder, Series};
use crate::transport::{Lane, Transport};
use crate::users::Users;
use crate::waiting::Waiting;
use crate::wire::Settings;
use crate::worker::Worker;
use drumfire_measure::{RunEvent, Summary};
use drumfire_net::{Io, Waker};
use drumfire_plan::{Affinity, Growth, StopReason, UserSteps as UserCount};
use drumfire_schedule::ScheduleError;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A worker's share of the run, with its control and its channel to the collector.
pub(crate) struct Post {
    pub(crate) shard: Shard,
    pub(crate) control: Control,
    pub(crate) channel: Channel,
}

/// The workers of one pool on this machine, and the state that they share.
pub(crate) struct PoolCrew {
    /// The indices of these workers among the pool's workers on all machines, ascending. The
    /// position in this list is the worker's index in the hand-over.
    members: Vec<u32>,
    handover: Arc<Handover>,
    /// The numbers of arrivals that they share, if arrivals are counted over all workers.
    numbers: Option<Arc<Numbers>>,
}

impl PoolCrew {
    /// The crews of all pools, for a run with these shares here.
    ///
    /// # Errors
    /// If a pool's schedule cannot be computed.
    pub(crate) fn of_pools(
        prepared: &Prepared,
        shares: Shares,
    ) -> Result<Vec<Self>, ScheduleError> {
        let pools = prepared.pools.iter();
        pools
            .map(|pool| Self::for_pool(prepared, pool.id, shares))
            .collect()
    }

    fn for_pool(prepared: &Prepared, pool: PoolId, shares: Shares) -> Result<Self, ScheduleError> {
        let shards = shares.shards();
        let shards: Vec<Shard> = shards
            .filter_map(|shard| shard_of(&prepared.placement, pool, shard))
            .collect();
        let of = shards.first().map_or(1, |shard| shard.of);
        let mut members: Vec<u32> = shards.iter().map(|shard| shard.index).collect();
        members.sort_unstable();
        Ok(Self {
            handover: Arc::new(Handover::new(members.len() as u32)),
            numbers: WholeLoad::for_pool(&prepared.plan, pool)?.numbers(&members, of),
            members,
        })
    }

    /// A worker's position in `members`; `None` if it is the only one here, and shares nothing.
    fn place(&self, shard: Shard) -> Option<u32> {
        let place = self.members.binary_search(&shard.index).ok();
        place
            .filter(|_| self.members.len() > 1)
            .map(|place| place as u32)
    }
}

/// A thread's work: makes a driver and a worker, and runs the worker to its end.
pub(crate) type WorkerTask<'a> = Box<dyn FnOnce(Post) -> Result<(), RunError> + Send + 'a>;

/// One worker's part of `count` items dealt out in turn.
fn part(count: u32, shard: Shard) -> u32 {
    count / shard.of + u32::from(shard.index < count % shard.of)
}

/// The worker for a share of a run over a driver, with the pools that have a part in this share.
///
/// # Errors
/// If the driver has no waker for the other workers.
pub(crate) fn worker<I: Io>(
    mut io: I,
    prepared: &Prepared,
    crews: &[PoolCrew],
    post: Post,
) -> Result<Worker<I>, RunError> {
    let Post {
        shard,
        control,
        channel,
    } = post;
    let mut waker = None;
    let mut pools = Vec::with_capacity(prepared.pools.len());
    for pool in &prepared.pools {
        if let Some(shard) = shard_of(&prepared.placement, pool.id, shard) {
            let crew = &crews[pool.id.index()];
            let demand = || demand(pool, shard, &control, crew.numbers.clone());
            let member = match crew.place(shard) {
                None => None,
                Some(place) => {
                    let waker = match &mut waker {
                        Some(waker) => waker,
                        None => waker.insert(io.waker().map_err(RunError::Driver)?),
                    };
                    let waker = Waker::clone(waker);
                    Some(Member::new(&crew.handover, place, waker, demand()))
                }
            };
            let transport = transport(pool, shard, prepared.first_stream_id);
            let orders = control.orders(pool.id, channel.reporter.clone());
            pools.push(PoolRun::new(pool, transport, demand(), orders, member));
        }
    }
    let series = prepared.pools.iter();
    let series = series.map(|pool| Series::for_pool(pool)).collect();
    let recorder = Recorder::new(channel, series, &prepared.plan);
    Ok(Worker::new(io, recorder, pools))
}

/// One worker's part of a pool's demand.
fn demand(
    prepared: &PreparedPool,
    shard: Shard,
    control: &Control,
    numbers: Option<Arc<Numbers>>,
) -> Demand {
    let pool = prepared.pool();
    let mut population = Population::new(limit(prepared, shard), pool);
    Demand::new(
        control.arrivals(prepared.id, shard, numbers, &mut population),
        population,
        Users::new(shard, pool, prepared.seed()),
        Waiting::new(prepared.routes.len()),
        pool.connections.affinity,
    )
}

/// One worker's connections of a pool: to each origin those numbered `index`, `index + of`, ….
/// Numbers count over all workers, so that all connections together take turns at a name's
/// addresses.
fn transport(prepared: &PreparedPool, shard: Shard, first_stream_id: u32) -> Transport {
    let pool = prepared.pool();
    let settings = Settings::for_pool(pool, first_stream_id);
    let lanes = prepared.routes.iter();
    let lanes = lanes.map(|route| Lane::new(route.clone(), settings.carrying(route.protocol)));
    let mut transport = Transport::new(lanes.collect(), shard, prepared.seed());
    let count = part(prepared.connections(), shard);
    match pool.connections.growth {
        Growth::AsNeeded => transport.connections.lanes.grow_up_to(count as usize),
        _ => transport.connections.add_shares(count),
    }
    transport
}

/// The maximum number of one worker's users of a pool that may be busy, if arrivals may take any
/// user.
fn limit(prepared: &PreparedPool, shard: Shard) -> Option<UserCount> {
    let pool = prepared.pool();
    // If the load is defined by users, arrivals belong to certain users.
    let law = pool.users.as_ref().filter(|_| pool.load.users().is_none());
    let law = law.map(|users| users.share(shard.index, shard.of));
    // Users with their own connections take no seats, so the number of connections bounds them.
    let seats = part(prepared.connections(), shard) * pool.connections.streams;
    match (pool.connections.affinity, pool.load.users()) {
        (Affinity::User, None) => Some(law.unwrap_or_else(|| UserCount::constant(seats))),
        _ => law,
    }
}

/// The first failure of a worker, which becomes the run's.
#[derive(Default)]
struct FirstFailure(Mutex<Option<RunError>>);

impl FirstFailure {
    fn record(&self, error: RunError) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
    }

    fn into_result(self) -> Result<(), RunError> {
        let first = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        first.map_or(Ok(()), Err)
    }
}

/// Runs each worker on its own thread and merges their measurements on this one, until all have
/// ended. If one cannot begin or continue, the others stop. Events come in this order: started, the
/// events of the run, finished; the last is missing if the run has failed.
///
/// # Errors
/// The first error of a worker or of its thread.
pub(crate) fn conduct(
    mut collector: Collector,
    crew: Vec<(Shard, (Control, WorkerTask<'_>))>,
    prepared: &Prepared,
    observer: &mut dyn FnMut(RunEvent),
) -> Result<Arc<Summary>, RunError> {
    let controls: Vec<Control> = crew
        .iter()
        .map(|(_, (control, _))| control.clone())
        .collect();
    let abandon = || controls.iter().for_each(Control::abandon);
    let failure = FirstFailure::default();
    thread::scope(|scope| {
        for (index, (shard, (control, work))) in (0..).zip(crew) {
            let channel = collector.add_worker(index, prepared, shard);
            control.report_to(collector.notes());
            let post = Post {
                shard,
                control,
                channel,
            };
            let (failure, abandon) = (&failure, &abandon);
            let body = move || {
                if let Err(error) = work(post) {
                    failure.record(error);
                    abandon();
                }
            };
            let thread = thread::Builder::new().name(format!("worker-{index}"));
            if let Err(error) = thread.spawn_scoped(scope, body) {
                // The run cannot continue without this worker; the gate opens for the others, which
                // stop at once.
                failure.record(RunError::of_thread(error));
                abandon();
                break;
            }
        }
        let stop = || {
            let controls = controls.iter();
            controls.for_each(|control| control.stop(StopReason::Threshold));
        };
        collector.collect(&stop, observer);
    });
    controls.iter().for_each(Control::over);
    failure.into_result()?;
    let summary = Arc::new(collector.finish(&prepared.plan));
    observer(RunEvent::Finished(Arc::clone(&summary)));
    Ok(summary)
}
