//! A worker's way to the collector, and the used intervals' way back.

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
    /// The worker has ended.
    Done {
        /// When the last exchange ended, from the run's start.
        end: Nanos,
    },
    /// The worker is gone, whether or not it has ever begun.
    Gone,
}

/// The end of a worker's part of a pool's load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stopped {
    /// When no further request is started.
    pub(crate) at: Nanos,
    pub(crate) reason: StopReason,
}

/// A message to the collector.
#[derive(Debug)]
pub(crate) enum Note {
    /// From a worker.
    Worker {
        /// Which one.
        index: u32,
        message: Message,
    },
    /// From outside: no request is to start any more.
    Stop(StopReason),
}

/// One worker's voice.
#[derive(Clone, Debug)]
pub(crate) struct Reporter {
    pub(crate) index: u32,
    pub(crate) notes: Sender<Note>,
}

/// The channel as a sink. When it goes, so has its worker.
pub(crate) struct Channel {
    pub(crate) reporter: Reporter,
    pub(crate) back: Receiver<Box<Interval>>,
}

impl Reporter {
    pub(crate) fn tell(&self, message: Message) {
        let index = self.index;
        // The send fails only if the collector is gone.
        let _given_up = self.notes.send(Note::Worker { index, message });
    }
}

impl Sink for Channel {
    fn closed(&mut self, interval: Box<Interval>) {
        self.reporter.tell(Message::Interval(interval));
    }

    fn kept(&mut self, samples: Vec<Kept>) {
        self.reporter.tell(Message::Kept(samples));
    }

    fn written(&mut self, written: Written) {
        self.reporter.tell(Message::Written(written));
    }

    fn spare(&mut self) -> Option<Box<Interval>> {
        self.back.try_recv().ok()
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.reporter.tell(Message::Gone);
    }
}
