//! A worker's channel to the collector, and the way back of used intervals.
//!
//! A worker sends and never waits: the channel is unbounded, and what is sent in one interval is
//! bounded by the limits of its records. A message is sent at the edge of an interval and when a
//! pool's load changes, never per request. Messages of one worker arrive in the order in which they
//! were sent, so that kept samples come before the interval to which they belong.
//!
//! The last message of a worker is [`Message::Gone`], which its channel sends when it is dropped,
//! also by a thread that fails.

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
    /// The worker's load begins, before any other message: its connections are open.
    Begun {
        /// The run's start by the wall clock; `None` under a virtual clock.
        unix_ns: Option<u64>,
    },
    /// An interval has ended.
    Interval(Box<Interval>),
    /// A command holds from now on.
    Changed(Arc<Command>),
    /// The worker starts no further request of a pool.
    Stopping { pool: PoolId, stop: Stopped },
    /// Every sample of the interval that ends next.
    Kept(Vec<Kept>),
    /// The records of exchanges beyond their figures.
    Written(Written),
    /// The worker has ended its run.
    Done {
        /// The time at which its last exchange ended, from the run's start.
        end: Nanos,
        /// The time at which the load was stopped; `None` where it used itself up.
        load_end: Option<Nanos>,
    },
    /// The worker is gone, whether or not it has ever begun.
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
pub(crate) enum Note {
    /// A worker reports.
    Worker {
        /// The number of the worker.
        index: u32,
        message: Message,
    },
    /// A caller from outside ends the load: no request starts any more.
    Stop(StopReason),
}

/// Sends a worker's messages to the collector.
#[derive(Clone, Debug)]
pub(crate) struct Reporter {
    index: u32,
    notes: Sender<Note>,
}

/// The channel of a worker to the collector, on which used intervals come back.
pub(crate) struct Channel {
    pub(crate) reporter: Reporter,
    /// Empty intervals to be recorded into again.
    back: Receiver<Box<Interval>>,
}

impl Channel {
    pub(crate) const fn new(reporter: Reporter, back: Receiver<Box<Interval>>) -> Self {
        Self { reporter, back }
    }
}

impl Reporter {
    /// A reporter of the worker with this number.
    pub(crate) const fn new(index: u32, notes: Sender<Note>) -> Self {
        Self { index, notes }
    }

    pub(crate) fn send(&self, message: Message) {
        let index = self.index;
        // The send fails only if the collector is gone.
        let _given_up = self.notes.send(Note::Worker { index, message });
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
