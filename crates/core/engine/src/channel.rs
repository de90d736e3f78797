//! A worker's channel to the collector, and the channel that returns used intervals.
//!
//! A worker sends and never waits: the channel is unbounded, and the limits of the worker's records
//! bound the data of one interval. A worker sends at the end of an interval and when a pool's load
//! changes, never per request. The messages of one worker arrive in the order of sending, so kept
//! samples arrive before the interval to which they belong.
//!
//! The last message of a worker is [`Message::Gone`]. The channel sends it when it is dropped, even
//! if the thread panics.

use crate::id::PoolId;
use crate::recorder::Sink;
use drumfire_measure::{Interval, Kept, Written};
use drumfire_plan::{Command, StopReason};
use drumfire_units::Nanos;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

/// A message from a worker to the collector.
#[derive(Debug)]
pub(crate) enum Message {
    /// The worker's connections are open, and its load begins. The first message.
    Begun {
        /// The run's start by the wall clock; `None` under a virtual clock.
        unix_ns: Option<u64>,
    },
    /// An interval has ended.
    Interval(Box<Interval>),
    /// A command takes effect.
    Changed(Arc<Command>),
    /// The worker starts no further request of a pool.
    Stopping { pool: PoolId, stop: Stopped },
    /// Every sample of the interval that ends next.
    Kept(Vec<Kept>),
    /// The records of exchanges in addition to their figures.
    Written(Written),
    /// The worker has ended its run.
    Done {
        /// The time at which its last exchange ended, from the run's start.
        end: Nanos,
        /// The time at which its load ended; `None` if it had none.
        load_end: Option<Nanos>,
    },
    /// The worker has ended, whether or not it began.
    Gone,
}

/// The end of a worker's part of a pool's load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stopped {
    /// The time from which no further request is started.
    pub(crate) at: Nanos,
    pub(crate) reason: StopReason,
}

/// A message to the collector.
#[derive(Debug)]
pub(crate) enum CollectorNote {
    /// A worker's report.
    Worker {
        /// The number of the worker.
        index: u32,
        message: Message,
    },
    /// A caller outside the run ends the load: no further request starts.
    Stop(StopReason),
}

/// Sends a worker's messages to the collector.
#[derive(Clone, Debug)]
pub(crate) struct Reporter {
    index: u32,
    notes: Sender<CollectorNote>,
}

/// The channel of a worker to the collector. The collector returns used intervals on it.
pub(crate) struct Channel {
    pub(crate) reporter: Reporter,
    /// Empty intervals, for use by the recorder.
    back: Receiver<Box<Interval>>,
}

impl Channel {
    pub(crate) const fn new(reporter: Reporter, back: Receiver<Box<Interval>>) -> Self {
        Self { reporter, back }
    }
}

impl Reporter {
    /// A reporter of the worker with this number.
    pub(crate) const fn new(index: u32, notes: Sender<CollectorNote>) -> Self {
        Self { index, notes }
    }

    pub(crate) fn send(&self, message: Message) {
        let index = self.index;
        // The send fails only after the collector has ended.
        let _given_up = self.notes.send(CollectorNote::Worker { index, message });
    }
}

impl Sink for Channel {
    fn closed(&mut self, interval: Box<Interval>) {
        self.reporter.send(Message::Interval(interval));
    }

    fn kept(&mut self, samples: Vec<Kept>) {
        self.reporter.send(Message::Kept(samples));
    }

    fn written(&mut self, written: Written) {
        self.reporter.send(Message::Written(written));
    }

    fn spare(&mut self) -> Option<Box<Interval>> {
        self.back.try_recv().ok()
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.reporter.send(Message::Gone);
    }
}
