//! HTTP/2, over TLS by ALPN and in the clear by prior knowledge.
//!
//! A worker hands a connection over as soon as its first bytes are the preface of RFC 9113 §3.4.
//! Frames are the `h2` crate's business, which shares nothing with the generator. Its futures run
//! on the worker's own thread, woken by the worker's readiness queue and by timers of nanosecond
//! resolution, so that a stall, a delay and a counter mean the same as over HTTP/1.1.
//!
//! `wire` is a connection's bytes, `serve` its requests, `exchange` one request and `respond` its
//! answer; the crate's `tasks` and `sleeps` let futures run and wait.

mod exchange;
mod known;
mod preface;
mod respond;
mod serve;
mod wire;

pub(crate) use preface::{Opening, opening};

use crate::desk::Desk;
use crate::grpc::Grpc;
use crate::options::Options;
use crate::poller::{Interest, Poller, Ready};
use crate::sleeps::Sleeps;
use crate::slots::Slots;
use crate::tasks::Tasks;
use crate::tls::Session;
use drumfire_units::Nanos;
use known::Known;
use rustix::fd::OwnedFd;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use wire::{Scratch, Wire};

/// The tokens of connections over HTTP/2 have this bit, those of all others lack it.
pub(crate) const TOKEN: u64 = 1 << 63;
/// Rounds of tasks before sockets get their turn again.
const ROUNDS_MAX: usize = 16;

/// One worker's connections over HTTP/2.
pub(crate) struct Http2 {
    hub: Rc<Hub>,
    wires: Slots<Rc<Wire>>,
    scratch: Rc<Scratch>,
}

/// State that all tasks of a worker share.
struct Hub {
    desk: Rc<Desk>,
    sleeps: Rc<Sleeps>,
    tasks: Tasks,
    /// The services, if there are any.
    grpc: Option<Arc<Grpc>>,
    known: RefCell<Known>,
    limits: Limits,
    /// Connections that are over, by token.
    ended: RefCell<Vec<u64>>,
}

/// The limits of a connection.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Streams open at a time.
    max_streams: u32,
    /// Requests that are taken before the others are turned away.
    goaway_after: Option<u32>,
    /// Answers after which the connection is ended.
    close_after: Option<u32>,
}

/// The parts of a connection before it turned out to be HTTP/2.
pub(crate) struct Handover {
    pub(crate) fd: OwnedFd,
    pub(crate) tls: Option<Box<Session>>,
    /// The bytes that were read already, decrypted if there is TLS.
    pub(crate) input: Vec<u8>,
    /// The peer will send nothing more.
    pub(crate) ended: bool,
}

impl Http2 {
    pub(crate) fn new(options: &Options, desk: Rc<Desk>, grpc: Option<Arc<Grpc>>) -> Self {
        let limits = Limits {
            max_streams: options.max_streams,
            goaway_after: options.goaway_after,
            close_after: options.behaviour.close_after,
        };
        Self {
            hub: Rc::new(Hub {
                desk,
                tasks: Tasks::default(),
                sleeps: Rc::default(),
                grpc,
                known: RefCell::default(),
                limits,
                ended: RefCell::default(),
            }),
            wires: Slots::default(),
            scratch: Rc::default(),
        }
    }

    /// Takes a connection over.
    pub(crate) fn adopt(&mut self, connection: Handover, poller: &Poller) {
        let (desk, scratch) = (Rc::clone(&self.hub.desk), Rc::clone(&self.scratch));
        let wire = Rc::new(Wire::new(connection, desk, scratch));
        let token = TOKEN | self.wires.insert(|_| Rc::clone(&wire));
        if poller.change(wire.fd(), token, Interest::ReadWrite).is_ok() {
            let task = serve::serve(Rc::clone(&self.hub), wire, token);
            self.hub.tasks.spawn(task);
        } else {
            self.end(token);
        }
    }

    /// Something happened to a connection's socket.
    #[inline]
    pub(crate) fn ready(&mut self, ready: Ready) {
        if let Some(wire) = self.wires.find(ready.token & !TOKEN) {
            wire.ready(ready);
        }
    }

    /// Wakes the sleeps that are due.
    pub(crate) fn fire_due(&self) {
        self.hub.sleeps.fire_due();
    }

    /// When the first is due.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.hub.sleeps.next()
    }

    /// Runs the tasks that were woken; returns whether some are ready to go on.
    pub(crate) fn run(&mut self) -> Progress {
        let mut rounds = 0;
        while rounds < ROUNDS_MAX && self.hub.tasks.round() {
            rounds += 1;
        }
        for token in self.hub.ended.take() {
            self.end(token);
        }
        if rounds == ROUNDS_MAX {
            Progress::Unfinished
        } else {
            Progress::Idle
        }
    }

    fn end(&mut self, token: u64) {
        if self.wires.remove(token & !TOKEN).is_some() {
            self.hub.desk.own().tallies.connections_ended.add(1);
        }
    }
}

/// Whether tasks wait for their turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Idle,
    Unfinished,
}

impl Drop for Http2 {
    fn drop(&mut self) {
        // The tasks hold what holds them.
        self.hub.tasks.clear();
        let left = self.wires.drain().count() as u64;
        self.hub.desk.own().tallies.connections_ended.add(left);
    }
}
