//! Merges the workers' intervals in order.
//!
//! Each worker sends its intervals in order, as it closes them. The collector holds early intervals
//! until the interval with the same number has come from every active worker, merges them into the
//! first, and passes the result on: to the [`Reading`] of the whole run, which judges the
//! thresholds, and to the observers. So an interval is published once, complete, and only as late
//! as the slowest worker.
//!
//! Memory circulates: a merged interval is emptied here, not on the workers' threads, and returned;
//! a published interval is freed when its last observer drops it. While one worker is late, the
//! others' intervals wait here, 3 MiB each; a worker that was stopped sends several intervals in a
//! row.
//!
//! The load's end is not a message of one worker but is computed from all of them (`stop`), so that
//! the reported reason does not depend on the order in which threads run.

use super::shard_of;
use crate::channel::{Channel, CollectorNote, Message, Reporter, Stopped};
use crate::id::Shard;
use crate::prepare::Prepared;
use drumfire_measure::{Changed, Interval, Kept, Reading, RunEvent, RunInfo, Summary};
use drumfire_net::{StealTimes, resident_memory, steal_times};
use drumfire_plan::{Plan, StopReason, Threshold};
use drumfire_units::Nanos;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};

/// Used intervals that are kept for a worker, in addition to the one that it records. If the
/// collector was slow for a while, there are more; these are freed, because each is 3 MiB.
const SPARES: usize = 1;

/// Merges intervals with the same number, and passes them on when every worker has sent its own.
pub(crate) struct Collector {
    notes: Receiver<CollectorNote>,
    /// The sending end, for new workers and controls.
    sender: Sender<CollectorNote>,
    workers: Vec<Peer>,
    /// Whether the load has begun and the observers know.
    is_begun: bool,
    /// The reasons for the end of the load that came before its beginning, in order.
    early: Vec<StopReason>,
    /// The reported reason for the end of the load.
    stopped: Option<StopReason>,
    reading: Reading,
    /// Whether a threshold ends the run now.
    ends: bool,
    /// The end of the run: the latest end of a worker.
    end: Nanos,
    /// The time at which the last worker stopped its load, if any did.
    load_end: Option<Nanos>,
    /// The machine's load at the start; `None` if it is not read.
    pub(crate) machine: Option<Machine>,
}

/// The machine's load at the start of a run.
pub(crate) struct Machine {
    /// The stolen CPU time, if it is known.
    steal: Option<StealTimes>,
}

/// One worker, as the collector sees it.
struct Peer {
    /// Intervals that wait for the other workers' intervals with the same number.
    closed: VecDeque<ClosedInterval>,
    /// Every sample of the interval that closes next, if the plan keeps samples.
    kept: Vec<Kept>,
    /// Returns used intervals to the worker.
    spare: SyncSender<Box<Interval>>,
    /// The worker's part of each pool.
    parts: Vec<Part>,
    is_gone: bool,
}

/// Whether a worker's part of a pool starts further requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The worker has no part of the pool.
    None,
    /// The worker starts further requests.
    Runs,
    /// The worker starts no further requests, for this reason.
    Stopped(Stopped),
}

/// An interval that one worker has closed, with its samples if the plan keeps them.
struct ClosedInterval {
    interval: Box<Interval>,
    kept: Vec<Kept>,
}

/// The end of a pool of which no worker here has a part.
const NOTHING_HERE: Stopped = Stopped {
    at: Nanos::ZERO,
    reason: StopReason::Counted,
};

/// The weight of a reason. If several reasons apply at one time, the one with the largest weight is
/// reported.
const fn weight(reason: StopReason) -> u8 {
    match reason {
        StopReason::Counted => 0,
        StopReason::Duration => 1,
        StopReason::Threshold => 2,
        StopReason::Command => 3,
        StopReason::AgentLost => 4,
        StopReason::Signal => 5,
        // Occurs only in runs of several processes, which do not end here.
        StopReason::Lost => 6,
    }
}

impl Collector {
    pub(crate) fn new(info: &Arc<RunInfo>, thresholds: &[Threshold]) -> Self {
        let (sender, notes) = mpsc::channel();
        Self {
            notes,
            sender,
            workers: Vec::new(),
            is_begun: false,
            early: Vec::new(),
            stopped: None,
            reading: Reading::new(Arc::clone(info), thresholds),
            ends: false,
            end: Nanos::ZERO,
            load_end: None,
            machine: Some(Machine {
                steal: steal_times(),
            }),
        }
    }

    /// The sender for messages to the collector.
    pub(crate) fn notes(&self) -> Sender<CollectorNote> {
        self.sender.clone()
    }

    /// Adds the worker with this index, which must be the next one, and its share of the run. The
    /// returned channel also delivers used intervals.
    pub(crate) fn add_worker(&mut self, index: u32, prepared: &Prepared, shard: Shard) -> Channel {
        let (spare, back) = mpsc::sync_channel(SPARES);
        let placement = &prepared.placement;
        let pools = prepared.pools.iter();
        let parts = pools.map(|pool| match shard_of(placement, pool.id, shard) {
            Some(_) => Part::Runs,
            None => Part::None,
        });
        self.workers.push(Peer {
            closed: VecDeque::new(),
            kept: Vec::new(),
            spare,
            parts: parts.collect(),
            is_gone: false,
        });
        let notes = self.notes();
        Channel::new(Reporter::new(index, notes), back)
    }

    /// Receives the workers' messages until all workers have ended. Calls `stop` if a threshold
    /// ends the run. A worker that panics counts as ended too, because its reporter sends
    /// [`Message::Gone`] when it is dropped.
    pub(crate) fn collect(&mut self, stop: &dyn Fn(), observer: &mut dyn FnMut(RunEvent)) {
        while self.workers.iter().any(|worker| !worker.is_gone) {
            // This struct has a sender too, so that the channel stays open.
            let Ok(note) = self.notes.recv() else {
                return;
            };
            match note {
                CollectorNote::Worker { index, message } => {
                    self.hear(index as usize, message, observer);
                    if std::mem::take(&mut self.ends) {
                        stop();
                    }
                }
                CollectorNote::Stop(reason) if self.is_begun => {
                    self.report_stopping(reason, observer)
                }
                CollectorNote::Stop(reason) => self.early.push(reason),
            }
        }
    }

    /// Handles a worker's message, and closes the intervals that it completes.
    fn hear(&mut self, index: usize, message: Message, observer: &mut dyn FnMut(RunEvent)) {
        let worker = &mut self.workers[index];
        match message {
            Message::Begun { unix_ns } => return self.report_start(unix_ns, observer),
            Message::Interval(interval) => {
                let kept = std::mem::take(&mut worker.kept);
                worker.closed.push_back(ClosedInterval { interval, kept });
            }
            Message::Kept(samples) => return worker.kept = samples,
            Message::Written(written) => {
                for body in written.failed_bodies {
                    self.reading.add_failed_body(body.clone());
                    observer(RunEvent::Failed(Arc::new(body)));
                }
                for slow in written.slow {
                    self.reading.add_slow(slow);
                }
                self.reading.note_lost_transcripts(written.lost_transcripts);
                if !written.transcripts.is_empty() {
                    observer(RunEvent::Transcripts(written.transcripts));
                }
                return;
            }
            Message::Changed(command) => {
                // The session makes the notes.
                self.reading.note_change(&Changed::by(&command));
                return observer(RunEvent::Changed(command));
            }
            Message::Stopping { pool, stop } => {
                worker.parts[pool.index()] = Part::Stopped(stop);
                if let Some(stop) = self.stop() {
                    self.report_stopping(stop.reason, observer);
                }
                return;
            }
            Message::Done { end, load_end } => {
                self.load_end = self.load_end.max(load_end);
                return self.end = self.end.max(end);
            }
            Message::Gone => worker.is_gone = true,
        }
        while self.is_interval_complete() {
            self.close_interval(observer);
        }
    }

    /// Reports the beginning of the load, which is the run's start. Connections that are opened in
    /// advance are open, and every time of the run counts from there.
    fn report_start(&mut self, unix_ns: Option<u64>, observer: &mut dyn FnMut(RunEvent)) {
        if std::mem::replace(&mut self.is_begun, true) {
            return;
        }
        if let Some(unix_ns) = unix_ns {
            self.reading.start_at(unix_ns);
        }
        let info = Arc::clone(&self.reading.so_far().info);
        observer(RunEvent::Started(info));
        for reason in std::mem::take(&mut self.early) {
            self.report_stopping(reason, observer);
        }
    }

    /// The end of the run's load, which is the end of the pool that ends last; `None` while any
    /// pool is running. The result does not depend on the order of the workers' reports.
    fn stop(&self) -> Option<Stopped> {
        let pools = self.workers.first()?.parts.len();
        let stops = (0..pools).map(|pool| self.stop_of(pool));
        let stops: Option<Vec<Stopped>> = stops.collect();
        let last = |stop: &Stopped| (stop.at, weight(stop.reason));
        stops?.into_iter().max_by_key(last)
    }

    /// The end of a pool's load. A worker whose share of a count is used up does not stop the
    /// others; any other reason applies to all.
    fn stop_of(&self, pool: usize) -> Option<Stopped> {
        let parts = || self.workers.iter().map(|worker| worker.parts[pool]);
        let stops = parts().filter_map(|part| match part {
            Part::Stopped(stop) => Some(stop),
            Part::None | Part::Runs => None,
        });
        let last = stops.max_by_key(|stop| (weight(stop.reason), stop.at));
        let last = last.unwrap_or(NOTHING_HERE);
        let goes_on = last.reason == StopReason::Counted && parts().any(|part| part == Part::Runs);
        (!goes_on).then_some(last)
    }

    /// Reports the reason for the load's end once, and again if a signal comes later.
    fn report_stopping(&mut self, reason: StopReason, observer: &mut dyn FnMut(RunEvent)) {
        let is_news = self.stopped.is_none() || reason == StopReason::Signal;
        if is_news && self.stopped != Some(reason) {
            self.stopped = Some(reason);
            self.reading.note_stop(reason);
            observer(RunEvent::Stopping { reason });
        }
    }

    /// Whether the next interval has come from every worker that will send one.
    fn is_interval_complete(&self) -> bool {
        let waits = |worker: &Peer| worker.closed.is_empty();
        let mut workers = self.workers.iter();
        !workers.clone().all(waits) && workers.all(|worker| !waits(worker) || worker.is_gone)
    }

    /// Merges the next interval of each worker, and passes it on.
    fn close_interval(&mut self, observer: &mut dyn FnMut(RunEvent)) {
        let mut merged: Option<(usize, Box<Interval>)> = None;
        let mut samples = Vec::new();
        for index in 0..self.workers.len() {
            let Some(ClosedInterval { interval, mut kept }) =
                self.workers[index].closed.pop_front()
            else {
                continue;
            };
            samples.append(&mut kept);
            match &mut merged {
                None => merged = Some((index, interval)),
                Some((_, merged)) => {
                    merged.merge(&interval);
                    self.give_back(index, interval);
                }
            }
        }
        let Some((index, mut interval)) = merged else {
            return;
        };
        if !samples.is_empty() {
            observer(RunEvent::Kept(Arc::new(samples)));
        }
        interval.sum_up();
        if self.machine.is_some() {
            interval.health.memory = resident_memory().unwrap_or(0);
        }
        // The readers receive a clone, which needs a fraction of the memory for recording: it is
        // read a dozen times, and shares a core with a worker.
        let closed = Arc::new(Interval::clone(&interval));
        self.give_back(index, interval);
        self.reading.absorb(&closed);
        self.ends |= self.reading.ends_run(closed.end);
        observer(RunEvent::IntervalClosed(closed));
    }

    /// Empties an interval, here instead of on the worker's thread, and returns it for reuse; drops
    /// it if the worker has a spare one.
    fn give_back(&self, index: usize, mut interval: Box<Interval>) {
        interval.reset(0, Nanos::ZERO);
        // A worker that has a spare one, or has ended, needs none.
        let _unneeded = self.workers[index].spare.try_send(interval);
    }

    /// The run's summary.
    pub(crate) fn finish(mut self, plan: &Plan) -> Summary {
        if let Some(at) = self.load_end {
            self.reading.end_load(at);
        }
        let machine = self.machine.as_ref();
        let steal_share = machine.map_or(0.0, Machine::steal_share);
        let duration = self.end - plan.generator().warmup.span();
        self.reading.close(duration, steal_share)
    }
}

impl Machine {
    /// The share of CPU time that the hypervisor took since the start; 0 if it is unknown.
    fn steal_share(&self) -> f64 {
        let Some(before) = self.steal else {
            return 0.0;
        };
        let Some(after) = steal_times() else {
            return 0.0;
        };
        let total = after.total.saturating_sub(before.total).max(1);
        after.steal.saturating_sub(before.steal) as f64 / total as f64
    }
}
