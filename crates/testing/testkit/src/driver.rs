//! The simulated driver: the client's side of the world.

mod far;
mod io;
mod streams;

use crate::Network;
use crate::baton::Runner;
use crate::client::{Cause, Client};
use crate::hook::Hook;
use crate::link::{Edge, Link, Phase};
use crate::log::Log;
use crate::queue::{Ending, Event, Queue, Wire};
use crate::server::{Accepts, Host};
use drumfire_net::{Endpoint, IoError, Readiness, Slot, ThreadTimes};
use drumfire_units::{Nanos, Random};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of reported events, as in the native driver.
const BATCH: usize = 128;

/// One worker's driver in virtual time.
///
/// Times in this type are absolute; the run starts at `epoch`, from which the script counts.
pub struct SimIo {
    pub(crate) now: Nanos,
    pub(crate) epoch: Nanos,
    pub(crate) begun: bool,
    pub(crate) queue: Queue,
    pub(crate) links: Vec<Link>,
    /// Slots with news for the engine, in the order of arrival.
    pub(crate) news: VecDeque<u32>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) addresses: Vec<(SocketAddr, usize)>,
    pub(crate) hooks: Vec<Hook>,
    pub(crate) network: Network,
    pub(crate) client: Client,
    pub(crate) random: Random,
    pub(crate) keeps: bool,
    pub(crate) log: Log,
    pub(crate) handed: Arc<Mutex<Log>>,
    times: ThreadTimes,
    sockets: Sockets,
    spins: u32,
    /// The run's common time, after its start.
    pub(crate) runner: Runner,
    /// Whether a signal has stopped the client since the last wait. The system then ends that wait
    /// without events, even if some are ready.
    interrupted: bool,
}

/// The descriptors and ports in use on the client's machine.
#[derive(Default)]
struct Sockets {
    open: usize,
    /// The times until which the ports of closed connections are unavailable, the earliest first.
    resting: VecDeque<Nanos>,
}

impl Sockets {
    /// The number of ports of closed connections that are unavailable.
    fn resting_ports(&mut self, now: Nanos) -> usize {
        while self.resting.front().is_some_and(|until| *until <= now) {
            self.resting.pop_front();
        }
        self.resting.len()
    }
}

/// The parts of a driver.
pub(crate) struct Parts {
    pub(crate) hosts: Vec<Host>,
    pub(crate) addresses: Vec<(SocketAddr, usize)>,
    pub(crate) hooks: Vec<Hook>,
    pub(crate) network: Network,
    pub(crate) client: Client,
    pub(crate) random: Random,
    pub(crate) keeps: bool,
    pub(crate) handed: Arc<Mutex<Log>>,
    pub(crate) runner: Runner,
}

impl SimIo {
    pub(crate) fn new(parts: Parts) -> Self {
        Self {
            now: Nanos::ZERO,
            epoch: Nanos::ZERO,
            begun: false,
            queue: Queue::default(),
            links: Vec::new(),
            news: VecDeque::new(),
            hosts: parts.hosts,
            addresses: parts.addresses,
            hooks: parts.hooks,
            network: parts.network,
            client: parts.client,
            random: parts.random,
            keeps: parts.keeps,
            log: Log::default(),
            handed: parts.handed,
            times: ThreadTimes::default(),
            sockets: Sockets::default(),
            spins: 0,
            runner: parts.runner,
            interrupted: false,
        }
    }

    /// The timestamp of data received at a time, by the kernel's clock.
    fn stamp(&mut self, at: Nanos) -> Option<Nanos> {
        let kernel = self.client.stamps?;
        let stamps = &mut self.times.stamps;
        if at < self.epoch + kernel.from {
            stamps.missing += 1;
            return None;
        }
        stamps.taken += 1;
        Some(at - self.epoch - kernel.back)
    }

    /// The timestamp of data sent now, by the kernel's clock.
    fn departs(&mut self) -> Option<Nanos> {
        let kernel = self.client.stamps.filter(|kernel| kernel.departures)?;
        let departures = &mut self.times.departures;
        if self.now < self.epoch + kernel.from {
            departures.missing += 1;
            return None;
        }
        // A driver refuses timestamps from before the hand-over.
        if kernel.back > Nanos::ZERO {
            departures.refused += 1;
            return None;
        }
        departures.taken += 1;
        Some(self.now - self.epoch + kernel.ahead)
    }

    /// Lets the time of an engine call pass.
    fn spend(&mut self) {
        let call = self.client.call;
        self.times.cpu += call;
        let then = self.now + call;
        self.advance(then);
    }

    /// Advances the client's time. The client does not run during its pauses.
    fn advance(&mut self, to: Nanos) {
        self.now = self.now.max(to);
        if !self.begun {
            return;
        }
        for pause in &self.client.pauses {
            let (from, until) = (self.epoch + pause.from, self.epoch + pause.until);
            if self.now >= from && self.now < until {
                match pause.cause {
                    Cause::Starved => self.times.run_queue_delay += until - self.now,
                    Cause::Stopped => self.interrupted = true,
                }
                self.now = until;
            }
        }
    }

    /// Advances time in a wait; returns `true` if another thread ended the wait early. If the
    /// client then pauses, the other threads catch up first.
    fn sleep(&mut self, until: Nanos) -> bool {
        if !self.begun {
            self.advance(until);
            return false;
        }
        let mut until = until;
        let mut is_woken = false;
        loop {
            let then = self.epoch + self.runner.sleep(until - self.epoch);
            is_woken |= then < until;
            let before = self.now.max(then);
            self.advance(then);
            if self.now == before {
                return is_woken;
            }
            until = self.now;
        }
    }

    /// The host at an address, or the first host.
    fn host(&self, address: &Endpoint) -> usize {
        let Endpoint::Tcp { peer, .. } = address else {
            return 0;
        };
        let known = self.addresses.iter().find(|(known, _)| known == peer);
        known.map_or(0, |(_, host)| *host)
    }

    /// The resource that the machine lacks for another connection.
    fn lack(&mut self) -> Option<IoError> {
        if self.sockets.open >= self.client.descriptors {
            return Some(IoError::NoDescriptors);
        }
        let ports = self.sockets.open + self.sockets.resting_ports(self.now);
        (ports >= self.client.ports).then_some(IoError::NoPorts)
    }

    /// Processes all due events, in order.
    fn happen(&mut self) {
        while let Some((at, event)) = self.queue.pop_until(self.now) {
            self.handle(at, event);
        }
    }

    /// Calls a hook, and schedules its next call.
    fn call(&mut self, hook: usize, at: Nanos) {
        (self.hooks[hook].action)();
        if let Some(every) = self.hooks[hook].every {
            self.queue.add(at + every, Event::Hook(hook));
        }
    }

    fn handle(&mut self, at: Nanos, event: Event) {
        match event {
            Event::Death(host) => self.die(host, at),
            Event::Birth(host) => self.hosts[host].alive = true,
            Event::Hook(hook) => self.call(hook, at),
            Event::Dialed(wire) if self.is_current(wire) => self.dialed(wire, at),
            Event::Up(wire, count) if self.is_current(wire) => self.reach(wire, count, at),
            Event::Room(wire, count) if self.is_current(wire) => self.room(wire.slot, count),
            Event::Down(wire, count) if self.is_current(wire) => {
                self.links[wire.slot as usize].arrive(count, at);
                self.tell(wire.slot, |edge| edge.readable = true);
            }
            Event::Ended(wire, ending) if self.is_current(wire) => self.ended(wire.slot, ending),
            Event::Continue(wire) if self.is_current(wire) => self.ask_for_body(wire, at),
            Event::Send(wire, answer, from) if self.is_current(wire) => {
                self.answer(wire, answer, from, at);
            }
            Event::Step(wire, stream, from) if self.is_current(wire) => {
                self.step(wire, stream, from, at);
            }
            Event::Announce(wire, index) if self.is_current(wire) => {
                self.announce(wire, index, at);
            }
            Event::End(wire, ending) if self.is_current(wire) => {
                self.end_connection(wire.slot, ending, at)
            }
            Event::Idle(wire, taken) if self.is_current(wire) => self.idle(wire.slot, taken, at),
            // The event belongs to a connection that the client has closed.
            _ => {}
        }
    }

    /// Whether the client still has this connection open.
    fn is_current(&self, wire: Wire) -> bool {
        let link = &self.links[wire.slot as usize];
        link.generation == wire.generation && link.phase != Phase::None
    }

    /// Records news of a slot for the engine.
    fn tell(&mut self, slot: u32, note: impl FnOnce(&mut Edge)) {
        let edge = &mut self.links[slot as usize].edge;
        if *edge == Edge::default() {
            self.news.push_back(slot);
        }
        note(edge);
    }

    /// Processes the answer to an attempt to connect.
    fn dialed(&mut self, wire: Wire, at: Nanos) {
        let link = &mut self.links[wire.slot as usize];
        let host = &self.hosts[link.host];
        link.phase = match host.server.accepts {
            Accepts::Unreachable => Phase::Failed(IoError::Unreachable),
            Accepts::Yes if host.alive => Phase::Open,
            _ => Phase::Failed(IoError::Refused),
        };
        if link.phase == Phase::Open {
            link.far.number = self.log.connections;
            self.log.connections += 1;
            if let Some(greeting) = host.server.greeting.clone() {
                self.queue.add(at, Event::Send(wire, greeting, 0));
            }
        }
        self.tell(wire.slot, |edge| edge.writable = true);
    }

    fn room(&mut self, slot: u32, count: usize) {
        let link = &mut self.links[slot as usize];
        link.held -= count;
        if std::mem::take(&mut link.blocked) {
            self.tell(slot, |edge| edge.writable = true);
        }
    }

    fn ended(&mut self, slot: u32, ending: Ending) {
        self.links[slot as usize].ended = Some(ending);
        self.tell(slot, |edge| {
            edge.readable = true;
            edge.closed = true;
        });
    }

    /// Delivers the news to the engine; returns whether there was any.
    fn deliver(&mut self, ready: &mut Vec<Readiness>) -> bool {
        while ready.len() < BATCH {
            let Some(slot) = self.news.pop_front() else {
                break;
            };
            let link = &mut self.links[slot as usize];
            let edge = std::mem::take(&mut link.edge);
            if link.phase == Phase::None || edge == Edge::default() {
                continue;
            }
            ready.push(Readiness {
                slot: Slot(slot),
                readable: edge.readable,
                // An edge of one kind reports the current state of the other (epoll(7)).
                writable: edge.writable || !link.blocked,
                peer_closed: edge.closed,
            });
        }
        !ready.is_empty()
    }
}

impl Drop for SimIo {
    /// Returns the log when the engine drops the driver.
    fn drop(&mut self) {
        let log = std::mem::take(&mut self.log);
        *self.handed.lock().unwrap_or_else(PoisonError::into_inner) = log;
        self.runner.leave();
    }
}
