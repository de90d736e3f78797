//! One thread and its readiness loop.

use crate::clock;
use crate::connection::{Connection, Fate};
use crate::desk::Desk;
use crate::drive::Driver;
use crate::grpc::Grpc;
use crate::http2::{self, Handover, Http2, Progress};
use crate::listener::Listener;
use crate::options::Options;
use crate::poller::{self, Events, Poller, Ready, Waker};
use crate::shared::Shared;
use crate::slots::Slots;
use crate::socket;
use crate::tls::Session;
use drumfire_units::Nanos;
use rustix::fd::OwnedFd;
use rustix::io::{self, Errno};
use rustix::net::sockopt;
use rustls::ServerConfig;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The token of the stop signal. No connection has it: their generation is below 2³¹.
const WAKE: u64 = u64::MAX;
/// The timer that looks for new connections again after descriptors ran out.
const ACCEPT_AGAIN: u64 = u64::MAX - 1;
/// The token of the n-th listener is this minus n.
const LISTENER: u64 = u64::MAX - 2;
/// Connections accepted in one go before the others get their turn.
#[cfg(target_os = "linux")]
const ACCEPT_BATCH: usize = 64;
/// Where the queue reports only that connections came, none may be left waiting.
#[cfg(not(target_os = "linux"))]
const ACCEPT_BATCH: usize = usize::MAX;
/// How long to wait for descriptors.
const ACCEPT_PAUSE: Nanos = Nanos::from_millis(50);
/// Events handled between two looks at the timers.
const TIMER_STRIDE: usize = 8;

/// The parts from which every worker of a server is made.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) shared: Arc<Shared>,
    pub(crate) listeners: Arc<Vec<Listener>>,
    pub(crate) tls: Option<Arc<ServerConfig>>,
    pub(crate) grpc: Option<Arc<Grpc>>,
    pub(crate) started: Nanos,
    pub(crate) options: Arc<Options>,
}

/// A readiness queue for the worker with this index, which watches its listeners and its waker.
pub(crate) fn poller(setup: &Setup, index: usize, waker: &Waker) -> io::Result<Poller> {
    let poller = Poller::new()?;
    poller.add_own(waker, WAKE)?;
    watch_listeners(&poller, &setup.listeners, index)?;
    Ok(poller)
}

fn watch_listeners(poller: &Poller, listeners: &[Listener], index: usize) -> io::Result<()> {
    for (n, listener) in listeners.iter().enumerate() {
        poller.add_shared(listener.socket(index), LISTENER - n as u64)?;
    }
    Ok(())
}

/// One thread's whole world.
pub(crate) struct Worker {
    index: usize,
    options: Arc<Options>,
    started: Nanos,
    shared: Arc<Shared>,
    listeners: Arc<Vec<Listener>>,
    tls: Option<Arc<ServerConfig>>,
    waker: Arc<Waker>,
    slots: Slots<Connection>,
    driver: Driver,
    http2: Http2,
}

impl Worker {
    /// Makes a worker in its own thread, around a queue that [`poller()`] made.
    pub(crate) fn new(setup: &Setup, index: usize, waker: Arc<Waker>, poller: Poller) -> Self {
        let options = Arc::clone(&setup.options);
        let desk = Rc::new(Desk::new(&options, Arc::clone(&setup.shared), index));
        Self {
            index,
            started: setup.started,
            shared: Arc::clone(&setup.shared),
            listeners: Arc::clone(&setup.listeners),
            tls: setup.tls.clone(),
            waker,
            slots: Slots::default(),
            http2: Http2::new(&options, Rc::clone(&desk), setup.grpc.clone()),
            driver: Driver::new(desk, poller, options.behaviour.close_after),
            options,
        }
    }

    /// Serves until the server is stopped.
    pub(crate) fn run(mut self) {
        poller::sharpen_timers();
        let mut events = Events::new();
        let mut progress = Progress::Idle;
        while !self.is_stopping() {
            let limit = self.patience(progress);
            // Waiting fails only for reasons that the next turn would meet again.
            if self.driver.poller.wait(&mut events, limit).is_err() {
                return;
            }
            if self.wait_out_stall() {
                self.turn(&events);
                progress = self.http2.run();
            }
        }
    }

    /// How long nothing is to be done unless there is an event; for ever, if nothing is due.
    fn patience(&self, progress: Progress) -> Option<Nanos> {
        if progress == Progress::Unfinished {
            return Some(Nanos::ZERO);
        }
        let due = [self.driver.timers.next(), self.http2.next()];
        let due = due.into_iter().flatten().min()?;
        Some(due - clock::now())
    }

    fn is_stopping(&self) -> bool {
        self.shared.stopping.load(Ordering::Acquire)
    }

    /// Handles connections that are ready and requests that are due.
    fn turn(&mut self, events: &Events) {
        for index in 0..events.len() {
            let ready = events.ready(index);
            self.handle(ready);
            if index % TIMER_STRIDE == TIMER_STRIDE - 1 {
                self.fire_due();
            }
        }
        self.fire_due();
    }

    #[inline]
    fn handle(&mut self, ready: Ready) {
        match ready.token {
            WAKE => {}
            token if token > LISTENER - self.listeners.len() as u64 => {
                self.accept((LISTENER - token) as usize);
            }
            token if token & http2::TOKEN != 0 => self.http2.ready(ready),
            token => {
                let Some(connection) = self.slots.find(token) else {
                    return;
                };
                let mut fate = Fate::Open;
                if ready.writable {
                    fate = self.driver.writable(connection);
                }
                if ready.readable && fate == Fate::Open {
                    fate = self.driver.readable(connection, ready.ending);
                }
                self.settle(token, fate);
            }
        }
    }

    fn fire_due(&mut self) {
        self.http2.fire_due();
        if self.driver.timers.next().is_none() {
            return;
        }
        let now = clock::now();
        while let Some((at, token)) = self.driver.timers.pop(now) {
            if token == ACCEPT_AGAIN {
                // If it fails, this listener is lost, and the counters show it.
                let _ = watch_listeners(&self.driver.poller, &self.listeners, self.index);
            } else if let Some(connection) = self.slots.find(token) {
                let fate = self.driver.due(connection, at);
                self.settle(token, fate);
            }
        }
    }

    fn settle(&mut self, token: u64, fate: Fate) {
        if fate == Fate::Open {
            return;
        }
        let Some(connection) = self.slots.remove(token) else {
            return;
        };
        if fate == Fate::Http2 {
            let handover = Handover {
                fd: connection.fd,
                tls: connection.tls,
                input: connection.work.map(|work| work.input).unwrap_or_default(),
                ended: connection.ended,
            };
            return self.http2.adopt(handover, &self.driver.poller);
        }
        if fate == Fate::Reset {
            // With nothing to linger for, closing sends a reset.
            let _ = sockopt::set_socket_linger(&connection.fd, Some(Duration::ZERO));
        }
        self.driver.ended(connection);
    }

    fn accept(&mut self, listener: usize) {
        let listeners = Arc::clone(&self.listeners);
        let listener = &listeners[listener];
        for _ in 0..ACCEPT_BATCH {
            match socket::accept(listener.socket(self.index)) {
                Ok(fd) => self.accepted(fd),
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(_) => return self.pause_accepting(),
            }
        }
    }

    fn accepted(&mut self, fd: OwnedFd) {
        let tallies = &self.shared.worker(self.index).tallies;
        tallies.connections.add(1);
        let tls = match &self.tls {
            None => None,
            Some(config) => match Session::new(config) {
                Some(session) => Some(Box::new(session)),
                None => return tallies.connections_ended.add(1),
            },
        };
        let token = self.slots.insert(|token| Connection {
            fd,
            token,
            answered: 0,
            unread: false,
            ended: false,
            watches_room: false,
            tls,
            work: None,
        });
        let added = self
            .slots
            .find(token)
            .map(|connection| self.driver.poller.add(&connection.fd, token));
        if !matches!(added, Some(Ok(()))) {
            tallies.accept_failed.add(1);
            self.settle(token, Fate::Closed);
        }
    }

    /// Descriptors or memory ran out. The waiting connections stay in the kernel's queue, which
    /// would report them without end.
    fn pause_accepting(&mut self) {
        self.driver.own().tallies.accept_failed.add(1);
        for listener in self.listeners.iter() {
            // One that is not watched now need not be removed.
            let _ = self.driver.poller.remove(listener.socket(self.index));
        }
        self.driver
            .timers
            .set(clock::now() + ACCEPT_PAUSE, ACCEPT_AGAIN);
    }

    /// Sits a stall out; whether the server goes on afterwards.
    fn wait_out_stall(&self) -> bool {
        let Some(stall) = self.options.stall else {
            return true;
        };
        while let Some(end) = stall.end(clock::now() - self.started) {
            // Nothing but the end of the server ends a stall early.
            let Ok(waited) = self.wait_for_signal(self.started + end) else {
                return true;
            };
            if waited == Waited::Signalled {
                return false;
            }
        }
        true
    }

    fn wait_for_signal(&self, until: Nanos) -> io::Result<Waited> {
        let signal = Poller::new()?;
        signal.add_own(&self.waker, WAKE)?;
        let mut events = Events::new();
        signal.wait(&mut events, Some(until - clock::now()))?;
        Ok(match events.len() {
            0 => Waited::Through,
            _ => Waited::Signalled,
        })
    }
}

/// How a wait for the stop signal ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waited {
    Through,
    Signalled,
}

impl Drop for Worker {
    fn drop(&mut self) {
        for connection in self.slots.drain() {
            self.driver.ended(connection);
        }
    }
}
