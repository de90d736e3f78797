//! The workers' intervals, merged in order.

use crate::Control;
use crate::worker::Message;
use drumfire_measure::{
    GeneratorHealth, Interval, Kept, RunEvent, RunInfo, Summary, WindowedThresholds,
};
use drumfire_net::{StealTimes, steal_times};
use drumfire_plan::{Plan, Spin};
use drumfire_units::Nanos;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};

/// Used intervals that wait for a worker, beside the one that it records. More come about when this
/// side was slow for a while, and go back to the system: each is 3 MiB.
const SPARES: usize = 1;

/// Merges intervals of the same number, and hands them on when every worker has reported.
pub(crate) struct Collector {
    workers: Vec<Peer>,
    summary: Summary,
    windows: WindowedThresholds,
    /// Every sample of the interval that closes next, where the plan asks for them.
    kept: Vec<Kept>,
    end: Nanos,
    /// The machine's stolen time at the start; `None` where nobody asks.
    pub(crate) steal: Option<StealTimes>,
}

/// One worker as the collector sees it.
struct Peer {
    messages: Receiver<Message>,
    spare: SyncSender<Box<Interval>>,
    done: bool,
}

impl Collector {
    pub(crate) fn new(plan: &Plan, info: &Arc<RunInfo>, of: u32) -> Self {
        Self {
            workers: Vec::with_capacity(of as usize),
            summary: Summary::new(Arc::clone(info)),
            windows: WindowedThresholds::new(&plan.thresholds, info),
            kept: Vec::new(),
            end: Nanos::ZERO,
            steal: steal_times(),
        }
    }

    /// Adds a worker by what it says; used intervals come back to it on the channel.
    pub(crate) fn add(&mut self, messages: Receiver<Message>) -> Receiver<Box<Interval>> {
        let (spare, back) = mpsc::sync_channel(SPARES);
        self.workers.push(Peer {
            messages,
            spare,
            done: false,
        });
        back
    }

    /// Takes what the workers say until all have ended.
    pub(crate) fn collect(&mut self, control: &Control, observer: &mut dyn FnMut(&RunEvent)) {
        let mut draining = false;
        while let Some(interval) = self.next_interval() {
            if control.is_stopping() && !draining {
                draining = true;
                observer(&RunEvent::Draining);
            }
            if !self.kept.is_empty() {
                observer(&RunEvent::Kept(std::mem::take(&mut self.kept)));
            }
            let mut interval = interval;
            interval.sum_up();
            let interval = Arc::new(*interval);
            self.summary.absorb(&interval);
            self.windows.absorb(&interval);
            observer(&RunEvent::IntervalClosed(Arc::clone(&interval)));
            if let Ok(interval) = Arc::try_unwrap(interval) {
                self.give_back(0, Box::new(interval));
            }
        }
    }

    /// The next interval of the run, merged from every worker that still has one; `None` when all
    /// have ended. Blocks.
    fn next_interval(&mut self) -> Option<Box<Interval>> {
        let mut merged: Option<Box<Interval>> = None;
        for index in 0..self.workers.len() {
            let Some(interval) = self.next_of(index) else {
                continue;
            };
            match &mut merged {
                None => merged = Some(interval),
                Some(merged) => {
                    merged.merge(&interval);
                    self.give_back(index, interval);
                }
            }
        }
        merged
    }

    /// One worker's next interval; `None` when it has ended.
    fn next_of(&mut self, index: usize) -> Option<Box<Interval>> {
        let worker = &mut self.workers[index];
        while !worker.done {
            match worker.messages.recv() {
                Ok(Message::Interval(interval)) => return Some(interval),
                Ok(Message::Kept(mut samples)) => self.kept.append(&mut samples),
                Ok(Message::Done { end }) => {
                    worker.done = true;
                    self.end = self.end.max(end);
                }
                // A worker that could not start has no last word.
                Err(_) => worker.done = true,
            }
        }
        None
    }

    /// Empties an interval, here and not on the worker's time, and returns it for another use.
    fn give_back(&self, index: usize, mut interval: Box<Interval>) {
        interval.reset(0, Nanos::ZERO);
        // A worker that has one, or has ended, needs none.
        let _unneeded = self.workers[index].spare.try_send(interval);
    }

    /// The run's summary.
    pub(crate) fn finish(self, plan: &Plan) -> Summary {
        let mut health = GeneratorHealth::of(
            &self.summary.total,
            &self.summary.health,
            u32::try_from(self.workers.len()).unwrap_or(u32::MAX),
        );
        health.spin = plan.connections.spin == Spin::Yes;
        if let (Some(before), Some(after)) = (self.steal, steal_times()) {
            let total = after.total.saturating_sub(before.total).max(1);
            health.steal_share = after.steal.saturating_sub(before.steal) as f64 / total as f64;
        }
        self.summary.finish(
            self.end - plan.warmup,
            health,
            &plan.thresholds,
            &self.windows,
        )
    }
}
