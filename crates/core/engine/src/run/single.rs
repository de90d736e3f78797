//! A whole run over drivers that the caller made, for example under virtual time.
//!
//! The result depends only on the plan, its seed and the drivers: workers run as their threads are
//! scheduled, but share nothing that their order could change. The exception is several drivers
//! with a plan whose workers help each other, since a hand-over depends on real time.

use super::collect::Collector;
use super::crew::{PoolCrew, Post, WorkerTask, conduct, worker};
use super::{RunError, Shares};
use crate::Control;
use crate::channel::Message;
use crate::prepare::Prepared;
use drumfire_measure::{RunEvent, RunInfo, Summary};
use drumfire_net::Io;
use drumfire_units::Nanos;
use std::sync::Arc;

/// Runs a plan with one worker over each driver, and merges their measurements as
/// [`super::Run::start`] does. Each worker opens its connections and starts at its own driver's
/// time, because the drivers need not share a clock. Each has its own control, whose commands must
/// be given before the call. The load begins at `from` of the run, like shares that another process
/// had before. The machine's load is not read, and `observer` is called on this thread.
///
/// # Errors
/// If a thread cannot be started, or a driver failed.
pub fn run_over<I: Io + Send>(
    prepared: &Arc<Prepared>,
    info: &Arc<RunInfo>,
    drivers: Vec<(I, Control)>,
    from: Nanos,
    observer: &mut dyn FnMut(&RunEvent),
) -> Result<Arc<Summary>, RunError> {
    let count = u32::try_from(drivers.len()).unwrap_or(u32::MAX);
    let shares = Shares {
        first: 0,
        count,
        of: count,
    };
    let crews = &PoolCrew::of_pools(prepared, shares).map_err(RunError::Schedule)?;
    let work = |(io, control): (I, Control)| {
        let work = move |post: Post| {
            let reporter = post.channel.reporter.clone();
            let mut worker = worker(io, prepared, crews, post)?;
            worker.open_connections().map_err(RunError::Driver)?;
            worker.start_load(from);
            reporter.send(Message::Begun { unix_ns: None });
            worker.run().map_err(RunError::Driver)
        };
        (control, Box::new(work) as WorkerTask<'_>)
    };
    let crew = shares.shards().zip(drivers.into_iter().map(work)).collect();
    let mut collector = Collector::new(info, prepared.plan.thresholds());
    collector.machine = None;
    conduct(collector, crew, prepared, &mut |event| observer(&event))
}
