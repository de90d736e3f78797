//! A whole run over drivers that the caller made: under virtual time, for one.

use super::collect::Collector;
use super::{FirstFailure, RunError};
use crate::Control;
use crate::arrivals::{Shard, schedule_of};
use crate::prepare::Prepared;
use crate::worker::{Message, Worker};
use drumfire_measure::{Interval, RunEvent, RunInfo, Summary};
use drumfire_net::Io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

/// Runs a plan with one worker over each driver, and merges what they measure as [`super::run`]
/// does. Each worker opens its connections and starts at its own driver's time, for the drivers
/// need not share a clock; each is stopped by its own control. Nothing is asked of the machine.
///
/// # Errors
/// When the plan's schedule can't be computed, a thread can't be started, or a driver failed.
pub fn run_over<I: Io + Send>(
    prepared: &Arc<Prepared>,
    info: &Arc<RunInfo>,
    drivers: Vec<(I, Control)>,
    observer: &mut dyn FnMut(&RunEvent),
) -> Result<Arc<Summary>, RunError> {
    let plan = &prepared.plan;
    schedule_of(plan).map_err(RunError::Schedule)?;
    let of = u32::try_from(drivers.len()).unwrap_or(u32::MAX);
    let mut collector = Collector::new(plan, info, of);
    collector.steal = None;
    observer(&RunEvent::Started(Arc::clone(info)));
    let failure = FirstFailure::default();
    thread::scope(|scope| {
        for ((io, control), worker) in drivers.into_iter().zip(0..) {
            let (out, messages) = mpsc::channel();
            let back = collector.add(messages);
            let shard = Shard { index: worker, of };
            let failure = &failure;
            thread::Builder::new()
                .name(format!("worker-{worker}"))
                .spawn_scoped(scope, move || {
                    let ended = run_worker(io, prepared, &control, shard, (out, back));
                    ended.unwrap_or_else(|error| failure.put(error));
                })
                .map_err(|error| RunError::Thread(error.to_string()))?;
        }
        collector.collect(&Control::new(), observer);
        Ok(())
    })?;
    failure.take()?;
    let summary = Arc::new(collector.finish(plan));
    observer(&RunEvent::Finished(Arc::clone(&summary)));
    Ok(summary)
}

/// One worker from its first connection to the end of its drain.
fn run_worker<I: Io>(
    io: I,
    prepared: &Arc<Prepared>,
    control: &Control,
    shard: Shard,
    (out, back): (Sender<Message>, Receiver<Box<Interval>>),
) -> Result<(), RunError> {
    let mut worker = Worker::new(io, prepared, control, shard, out, back)?;
    worker.open_connections().map_err(RunError::Driver)?;
    worker.begin();
    worker.run().map_err(RunError::Driver)
}
