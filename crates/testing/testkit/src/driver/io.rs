//! The engine's calls to the driver.

use super::SimIo;
use crate::link::{Link, Phase};
use crate::queue::{Ending, Event};
use crate::server::Accepts;
use drumfire_net::{
    Endpoint, Fault, Io, IoError, Progress, Readiness, Received, Slot, ThreadTimes, TlsConfig,
    Waker,
};
use drumfire_units::Nanos;

/// The maximum number of consecutive waits without events at one time; a larger number means that
/// the engine spins.
const SPINS_MAX: u32 = 100_000;

impl Io for SimIo {
    fn now(&self) -> Nanos {
        self.now - self.epoch
    }

    fn unix_time(&self) -> u64 {
        // Some day in 2026, so that a run is the same on every day.
        1_770_000_000_000_000_000 + self.now.0
    }

    fn set_epoch(&mut self, at: Nanos) {
        assert!(!self.begun, "the run starts once");
        self.begun = true;
        self.epoch += at;
        for (index, host) in self.hosts.iter().enumerate() {
            for outage in &host.server.outages {
                self.queue
                    .add(self.epoch + outage.from, Event::Death(index));
                self.queue
                    .add(self.epoch + outage.until, Event::Birth(index));
            }
        }
        for (index, hook) in self.hooks.iter().enumerate() {
            self.queue.add(self.epoch + hook.at, Event::Hook(index));
        }
        self.runner.enter();
    }

    fn dial(&mut self, slot: Slot, address: &Endpoint) -> Result<Progress, IoError> {
        self.spend();
        self.log.dials += 1;
        if let Some(lack) = self.lack() {
            return Err(lack);
        }
        let index = slot.0 as usize;
        if index >= self.links.len() {
            self.links.resize_with(index + 1, Link::new);
        }
        let host = self.host(address);
        let link = &mut self.links[index];
        assert_eq!(link.phase, Phase::None, "the slot holds a connection");
        link.start_connection(host);
        self.sockets.open += 1;
        self.log.connections_most = self.log.connections_most.max(self.sockets.open as u64);
        if self.hosts[host].server.accepts != Accepts::Swallows {
            let way =
                self.network.up.draw(&mut self.random) + self.network.down.draw(&mut self.random);
            let wire = self.links[index].wire(slot.0);
            self.queue.add(self.now + way, Event::Dialed(wire));
        }
        Ok(Progress::Pending)
    }

    fn finish_dial(&mut self, slot: Slot) -> Result<Progress, IoError> {
        match &self.links[slot.0 as usize].phase {
            Phase::Open => Ok(Progress::Done),
            Phase::Dialing => Ok(Progress::Pending),
            Phase::Failed(error) => Err(error.clone()),
            Phase::None => panic!("no connection is being opened"),
        }
    }

    fn start_tls(&mut self, slot: Slot, _: usize) -> Result<Progress, IoError> {
        let host = self.links[slot.0 as usize].host;
        match self.hosts[host].server.tls {
            Some(_) => Ok(Progress::Done),
            None => Err(IoError::TlsProtocol(
                "the simulated server speaks no TLS".to_owned(),
            )),
        }
    }

    fn add_tls(&mut self, _: TlsConfig) -> usize {
        0
    }

    fn handshake(&mut self, slot: Slot) -> Result<Progress, IoError> {
        self.start_tls(slot, 0)
    }

    fn agreed(&self, slot: Slot, protocol: &[u8]) -> bool {
        let host = self.links[slot.0 as usize].host;
        self.hosts[host].server.tls == Some(protocol)
    }

    fn is_resumed(&self, _: Slot) -> bool {
        false
    }

    fn lacks_certificate(&self, slot: Slot) -> bool {
        let host = self.links[slot.0 as usize].host;
        self.hosts[host].server.asks_certificate
    }

    fn send(&mut self, slot: Slot, bytes: &[u8]) -> Result<usize, IoError> {
        self.spend();
        // Bytes that arrived while the client was busy are in the socket, reported or not.
        self.happen();
        let link = &mut self.links[slot.0 as usize];
        assert_eq!(
            link.phase,
            Phase::Open,
            "a send on a connection that is not open"
        );
        if link.ended == Some(Ending::Reset) {
            return Err(IoError::BrokenPipe);
        }
        if self.begun {
            let count = link.count_send(self.log.waits);
            self.log.sends.most = self.log.sends.most.max(count);
        }
        let window = self.hosts[link.host].server.window;
        let count = bytes.len().min(window - link.held.min(window));
        if count < bytes.len() {
            link.blocked = true;
            self.log.sends.partial += 1;
        }
        if count > 0 {
            link.held += count;
            link.up.extend(&bytes[..count]);
            let way = self.network.up.draw(&mut self.random);
            link.up_last = link.up_last.max(self.now + way);
            let (at, wire) = (link.up_last, link.wire(slot.0));
            self.queue.add(at, Event::Up(wire, count));
        }
        Ok(count)
    }

    fn send_request(&mut self, slot: Slot, bytes: &[u8]) -> Result<usize, IoError> {
        let sent = self.send(slot, bytes)?;
        let left = if sent > 0 { self.departs() } else { None };
        self.links[slot.0 as usize].left = left;
        Ok(sent)
    }

    fn departure(&mut self, slot: Slot) -> Option<Nanos> {
        self.links[slot.0 as usize].left.take()
    }

    fn receive(&mut self, slot: Slot, buffer: &mut [u8]) -> Result<Received, IoError> {
        self.receive_into(slot, buffer.len(), Some(buffer))
    }

    fn discard(&mut self, slot: Slot, limit: u64, scratch: &mut [u8]) -> Result<Received, IoError> {
        let room = usize::try_from(limit)
            .unwrap_or(usize::MAX)
            .min(scratch.len());
        self.receive_into(slot, room, None)
    }

    fn close(&mut self, slot: Slot) {
        let Some(link) = self.links.get_mut(slot.0 as usize) else {
            return;
        };
        if link.phase == Phase::None {
            return;
        }
        let was_open = link.phase == Phase::Open;
        link.phase = Phase::None;
        self.sockets.open -= 1;
        if was_open && self.client.port_rest > Nanos::ZERO {
            self.sockets
                .resting
                .push_back(self.now + self.client.port_rest);
        }
    }

    fn wait(&mut self, until: Nanos, ready: &mut Vec<Readiness>) -> Result<(), Fault> {
        ready.clear();
        if self.log.waits == self.client.waits {
            return Err(Fault {
                call: "wait",
                reason: "simulated".to_owned(),
            });
        }
        self.log.waits += 1;
        self.spend();
        self.happen();
        if self.deliver(ready) {
            self.spins = 0;
            return Ok(());
        }
        let (limit, before) = (self.epoch + until, self.now);
        while self.now < limit {
            let next = self.queue.next();
            assert!(next.min(limit) < Nanos::MAX, "nothing would ever happen");
            // A timer fires late, but the network does not.
            let late = if limit < next {
                self.client.late
            } else {
                Nanos::ZERO
            };
            let is_woken = self.sleep(next.min(limit) + late);
            self.happen();
            if is_woken {
                self.deliver(ready);
                break;
            }
            if std::mem::take(&mut self.interrupted) || self.deliver(ready) {
                break;
            }
        }
        self.spins = if self.now > before { 0 } else { self.spins + 1 };
        assert!(
            self.spins < SPINS_MAX,
            "the engine spins at {:?}",
            self.now()
        );
        Ok(())
    }

    fn waker(&mut self) -> Result<Waker, Fault> {
        let (runner, way) = (self.runner.clone(), self.client.wake);
        Ok(Waker::new(move || runner.wake(way)))
    }

    fn thread_times(&mut self) -> ThreadTimes {
        self.times
    }
}

impl SimIo {
    /// The result of a receive.
    fn receive_into(
        &mut self,
        slot: Slot,
        room: usize,
        buffer: Option<&mut [u8]>,
    ) -> Result<Received, IoError> {
        let before = self.now;
        self.spend();
        if self.now > before {
            // See `send`: bytes that arrived meanwhile are in the socket.
            self.happen();
        }
        let link = &mut self.links[slot.0 as usize];
        assert_eq!(
            link.phase,
            Phase::Open,
            "a receive on a connection that is not open"
        );
        let (length, last) = link.receive(room, buffer);
        match length {
            0 => match link.ended {
                None => Ok(Received::Nothing),
                Some(Ending::Finished) => Ok(Received::End),
                Some(Ending::Reset) => Err(IoError::Reset),
            },
            length => Ok(Received::Bytes {
                length,
                drained: length < room,
                arrived: self.stamp(last),
            }),
        }
    }
}
