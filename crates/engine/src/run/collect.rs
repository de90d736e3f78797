//! The workers' intervals, merged in order.
//!
//! Each worker sends its intervals in order, as it closes them. The collector holds those that come
//! early until the same number has come from every worker that is not gone, then merges them into
//! the first, sums that up and hands it on: to the [`Reading`] of the whole run, which judges the
//! thresholds, and to the observers. So an interval is published once, complete, and late by the
//! slowest worker alone.
//!
//! Memory goes in a circle: a merged interval is emptied here, off the workers' threads, and given
//! back; the published one when its last observer has dropped it. A worker that is behind makes the
//! others' intervals wait here, 3 MiB for each; one that has stood still sends its own in a row.
//!
//! The load's end is not a message of any one worker but follows from all of them (`stop`), so that
//! the reason that is reported does not depend on the order in which threads run.

use super::shard_of;
use crate::channel::{Channel, Message, Note, Reporter, Stopped};
use crate::id::Shard;
use crate::prepare::Prepared;
use drumfire_measure::{Changed, Interval, Kept, Reading, RunEvent, RunInfo, Summary};
use drumfire_net::{StealTimes, resident_memory, steal_times};
use drumfire_plan::{Plan, StopReason, Threshold};
use drumfire_units::Nanos;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};

/// Used intervals that wait for a worker, beside the one that it records. More come about when this
/// side was slow for a while, and go back to the system: each is 3 MiB.
const SPARES: usize = 1;

/// Merges intervals of the same number, and hands them on when every worker has reported.
pub(crate) struct Collector {
    notes: Receiver<Note>,
    /// The other end, for workers and controls to come.
    sender: Sender<Note>,
    workers: Vec<Peer>,
    /// The load has begun, of which the observers know.
    is_begun: bool,
    /// The reasons for the end of the load that were given before its beginning, in their order.
    early: Vec<StopReason>,
    /// The reason for the end of the load, as it was reported.
    stopped: Option<StopReason>,
    reading: Reading,
    /// Whether a threshold ends the run now.
    ends: bool,
    /// The end of the run: the latest of the workers'.
    end: Nanos,
    /// The time at which the last worker stopped its load, where any did.
    load_end: Option<Nanos>,
    /// The machine's account of its own load; `None` where that is not read.
    pub(crate) machine: Option<Machine>,
}

/// The machine's account of its load at the start of a run.
pub(crate) struct Machine {
    /// Its stolen time, where it is known.
    steal: Option<StealTimes>,
}

/// One worker on the collector's side.
struct Peer {
    /// Intervals that wait for the other workers' of the same number.
    closed: VecDeque<Closed>,
    /// Every sample of the interval that closes next, where the plan asks for them.
    kept: Vec<Kept>,
    /// The way back for used intervals.
    spare: SyncSender<Box<Interval>>,
    /// Its part of each pool.
    parts: Vec<Part>,
    is_gone: bool,
}

/// Whether a worker's part of a pool starts further requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// It has none.
    None,
    /// It does.
    Runs,
    /// It does not, for this reason.
    Stopped(Stopped),
}

/// An interval that one worker has closed, with its samples where the plan asks for them.
struct Closed {
    interval: Box<Interval>,
    kept: Vec<Kept>,
}

/// The end of a pool that no worker has a part of here.
const NOTHING_HERE: Stopped = Stopped {
    at: Nanos::ZERO,
    reason: StopReason::Counted,
};

/// The weight of a reason: of those that hold at one time, the one with the largest weight is
/// reported.
const fn weight(reason: StopReason) -> u8 {
    match reason {
        StopReason::Counted => 0,
        StopReason::Duration => 1,
        StopReason::Threshold => 2,
        StopReason::Command => 3,
        StopReason::AgentLost => 4,
        StopReason::Signal => 5,
        // Of several processes, none of which is here.
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
    pub(crate) fn notes(&self) -> Sender<Note> {
        self.sender.clone()
    }

    /// Adds the worker with this index, which is the next, and a share of the run. Used intervals
    /// come back to it on the channel.
    pub(crate) fn add(&mut self, index: u32, prepared: &Prepared, shard: Shard) -> Channel {
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

    /// Receives the workers' messages until all workers are gone. Calls `stop` where a threshold
    /// ends the run. A worker that ends by a panic counts as gone, too, since its reporter says so
    /// when it is dropped.
    pub(crate) fn collect(&mut self, stop: &dyn Fn(), observer: &mut dyn FnMut(RunEvent)) {
        while self.workers.iter().any(|worker| !worker.is_gone) {
            // One end is our own, so that the channel stays open.
            let Ok(note) = self.notes.recv() else {
                return;
            };
            match note {
                Note::Worker { index, message } => {
                    self.hear(index as usize, message, observer);
                    if std::mem::take(&mut self.ends) {
                        stop();
                    }
                }
                Note::Stop(reason) if self.is_begun => self.report_stopping(reason, observer),
                Note::Stop(reason) => self.early.push(reason),
            }
        }
    }

    /// Carries out a worker's message, and closes the intervals that are complete by it.
    fn hear(&mut self, index: usize, message: Message, observer: &mut dyn FnMut(RunEvent)) {
        let worker = &mut self.workers[index];
        match message {
            Message::Begun { unix_ns } => return self.begin(unix_ns, observer),
            Message::Interval(interval) => {
                let kept = std::mem::take(&mut worker.kept);
                worker.closed.push_back(Closed { interval, kept });
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
                // The notes are made where the run is observed.
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

    /// Reports the beginning of the load, which is the run's: connections that are opened ahead are
    /// open by then, and every time of the run counts from there.
    fn begin(&mut self, unix_ns: Option<u64>, observer: &mut dyn FnMut(RunEvent)) {
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

    /// The end of the run's load, which is that of the pool that ends last; `None` while any pool
    /// goes on. It does not depend on the order in which workers report.
    fn stop(&self) -> Option<Stopped> {
        let pools = self.workers.first()?.parts.len();
        let stops = (0..pools).map(|pool| self.stop_of(pool));
        let stops: Option<Vec<Stopped>> = stops.collect();
        let last = |stop: &Stopped| (stop.at, weight(stop.reason));
        stops?.into_iter().max_by_key(last)
    }

    /// The end of a pool's load. A worker whose share of the count is used up does not stop the
    /// others; any other reason is that of all.
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

    /// Reports the reason for the load's end once, and once more when a signal comes after it.
    fn report_stopping(&mut self, reason: StopReason, observer: &mut dyn FnMut(RunEvent)) {
        let is_news = self.stopped.is_none() || reason == StopReason::Signal;
        if is_news && self.stopped != Some(reason) {
            self.stopped = Some(reason);
            self.reading.note_stop(reason);
            observer(RunEvent::Stopping { reason });
        }
    }

    /// Whether the next interval has come from every worker that has one to come.
    fn is_interval_complete(&self) -> bool {
        let waits = |worker: &Peer| worker.closed.is_empty();
        let mut workers = self.workers.iter();
        !workers.clone().all(waits) && workers.all(|worker| !waits(worker) || worker.is_gone)
    }

    /// Merges the next interval of each worker, and hands it on.
    fn close_interval(&mut self, observer: &mut dyn FnMut(RunEvent)) {
        let mut merged: Option<(usize, Box<Interval>)> = None;
        let mut samples = Vec::new();
        for index in 0..self.workers.len() {
            let Some(Closed { interval, mut kept }) = self.workers[index].closed.pop_front() else {
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
        // The readers get a clone, which is a fraction of the memory that recording needs: it is read
        // a dozen times, and shares a core with a worker.
        let closed = Arc::new(Interval::clone(&interval));
        self.give_back(index, interval);
        self.reading.absorb(&closed);
        self.ends |= self.reading.ends_run(closed.end);
        observer(RunEvent::IntervalClosed(closed));
    }

    /// Empties an interval, here and not on the worker's time, and returns it for another use;
    /// drops it where the worker has one.
    fn give_back(&self, index: usize, mut interval: Box<Interval>) {
        interval.reset(0, Nanos::ZERO);
        // A worker that has one, or has ended, needs none.
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
    /// The share of CPU time that the hypervisor took since the start; 0 where it is not known.
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
