//! The floor on drumfire's driver: the engine's loop without the engine. Supports TLS.

use super::{Encryption, Errand, FloorCounts, RECEIVE_BYTES, response_length};
use drumfire_net::{
    Clock, Endpoint, Io, Native, NativeOptions, Progress, Readiness, Received, Slot, Stamping,
    TlsConfig, TlsIdentity, TlsMaterial, TlsOptions, TlsVerify, Waiting,
};
use drumfire_units::Nanos;
use std::fmt;
use std::io::{Error, Result};

/// The maximum length of a turn without events.
const WAIT: Nanos = Nanos::from_millis(50);

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Dialing,
    Securing,
    /// The number of missing bytes of the response.
    Receiving(usize),
}

/// The driver and the states of its slots.
struct Floor<'a> {
    errand: &'a Errand,
    io: Native,
    states: Vec<State>,
    buffer: Vec<u8>,
    ready: Vec<Readiness>,
    response_bytes: usize,
    requests: u64,
}

/// Runs the errand.
///
/// # Errors
/// If the server refuses or closes a connection, or its first response has no `Content-Length`.
pub fn run(errand: &Errand) -> Result<FloorCounts> {
    let tls = match errand.scheme {
        Encryption::Plain => Vec::new(),
        Encryption::Tls => vec![trusting(errand)?],
    };
    let options = NativeOptions {
        clock: Clock::start(),
        waiting: Waiting::Sleep,
        stamping: Stamping::Off,
        tls,
    };
    let mut floor = Floor {
        errand,
        io: Native::new(&options).map_err(other)?,
        states: Vec::new(),
        buffer: vec![0; RECEIVE_BYTES],
        ready: Vec::with_capacity(256),
        response_bytes: usize::MAX,
        requests: 0,
    };
    floor.response_bytes = floor.learn()?;
    for _ in 0..errand.connections {
        floor.open()?;
    }
    floor.turns()?;
    Ok(FloorCounts {
        requests: floor.requests,
        response_bytes: floor.response_bytes,
    })
}

impl Floor<'_> {
    /// Dials a new slot.
    fn open(&mut self) -> Result<()> {
        let slot = Slot(self.states.len() as u32);
        let address = Endpoint::Tcp {
            peer: self.errand.peer,
            source: None,
        };
        self.states.push(State::Dialing);
        match self.io.dial(slot, &address).map_err(other)? {
            Progress::Done => self.dialed(slot),
            Progress::Pending => Ok(()),
        }
    }

    /// Waits and receives until the time is up. The driver reads the clock in each turn.
    fn turns(&mut self) -> Result<()> {
        let end = self.io.now() + self.errand.span;
        loop {
            let now = self.io.now();
            if now >= end {
                return Ok(());
            }
            self.io.wait(now + WAIT, &mut self.ready).map_err(other)?;
            for index in 0..self.ready.len() {
                self.on_ready(self.ready[index])?;
            }
        }
    }

    #[inline]
    fn on_ready(&mut self, readiness: Readiness) -> Result<()> {
        let slot = readiness.slot;
        match self.states[slot.0 as usize] {
            State::Receiving(missing) if readiness.readable => self.receive(slot, missing),
            State::Dialing if readiness.writable => self.dialed(slot),
            State::Securing => {
                let progress = self.io.handshake(slot).map_err(other)?;
                self.secured(slot, progress)
            }
            State::Dialing | State::Receiving(_) => Ok(()),
        }
    }

    fn dialed(&mut self, slot: Slot) -> Result<()> {
        self.io.finish_dial(slot).map_err(other)?;
        if self.errand.scheme == Encryption::Plain {
            return self.secured(slot, Progress::Done);
        }
        self.states[slot.0 as usize] = State::Securing;
        let progress = self.io.start_tls(slot, 0).map_err(other)?;
        self.secured(slot, progress)
    }

    fn secured(&mut self, slot: Slot, progress: Progress) -> Result<()> {
        if progress == Progress::Pending {
            return Ok(());
        }
        self.states[slot.0 as usize] = State::Receiving(self.response_bytes);
        self.io.send(slot, &self.errand.request).map_err(other)?;
        Ok(())
    }

    /// Receives available bytes; sends the next request after the response is complete.
    #[inline]
    fn receive(&mut self, slot: Slot, mut missing: usize) -> Result<()> {
        loop {
            let drained = match self.io.receive(slot, &mut self.buffer).map_err(other)? {
                Received::End => return Err(Error::other("the server closed a connection")),
                Received::Nothing => true,
                Received::Bytes {
                    length, drained, ..
                } => {
                    missing = missing
                        .checked_sub(length)
                        .ok_or_else(|| Error::other("a response is longer than the first"))?;
                    drained
                }
            };
            if missing == 0 {
                missing = self.response_bytes;
                self.requests += 1;
                self.io.send(slot, &self.errand.request).map_err(other)?;
            }
            if drained {
                self.states[slot.0 as usize] = State::Receiving(missing);
                return Ok(());
            }
        }
    }

    /// The length of a response, from one exchange on a separate connection.
    fn learn(&mut self) -> Result<usize> {
        self.open()?;
        let mut bytes = Vec::new();
        let length = loop {
            if let Some(length) = response_length(&bytes) {
                break length?;
            }
            let until = self.io.now() + WAIT;
            self.io.wait(until, &mut self.ready).map_err(other)?;
            for index in 0..self.ready.len() {
                let readiness = self.ready[index];
                match self.states[0] {
                    State::Receiving(_) => self.collect(readiness.slot, &mut bytes)?,
                    State::Dialing | State::Securing => self.on_ready(readiness)?,
                }
            }
        };
        self.io.close(Slot(0));
        self.states.clear();
        Ok(length)
    }

    fn collect(&mut self, slot: Slot, bytes: &mut Vec<u8>) -> Result<()> {
        loop {
            match self.io.receive(slot, &mut self.buffer).map_err(other)? {
                Received::Bytes { length, .. } => bytes.extend_from_slice(&self.buffer[..length]),
                Received::Nothing => return Ok(()),
                Received::End => {
                    return Err(Error::other(
                        "the server closed the connection before a response",
                    ));
                }
            }
        }
    }
}

/// TLS without verification.
fn trusting(errand: &Errand) -> Result<TlsConfig> {
    let name = errand.peer.ip().to_string();
    let options = TlsOptions {
        name: &name,
        material: &TlsMaterial::default(),
        identity: TlsIdentity::Withheld,
        verify: TlsVerify::No,
        alpn: &[],
        resumed_per_million: 1_000_000,
    };
    TlsConfig::new(&options).map_err(|error| Error::other(error.to_string()))
}

fn other(error: impl fmt::Debug) -> Error {
    Error::other(format!("{error:?}"))
}
