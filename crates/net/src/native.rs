//! The real driver, one for each worker thread, on the kernel's edge-triggered readiness.
//!
//! A socket is registered once, for everything, and never again: a request costs one send and one
//! receive, and a wait that it shares with all that became ready at the same time.

use crate::error::local;
use crate::poller::Poller;
use crate::tls::{TlsIo, TlsStream};
use crate::tsc::TscClock;
use crate::{
    Address, Clock, Fault, Io, IoError, Progress, Readiness, Received, Slot, ThreadTimes,
    TlsConfig, socket,
};
use drumfire_units::Nanos;
use rustix::fd::OwnedFd;
use rustix::io::{Errno, pread, retry_on_intr};
use rustix::net::{RecvFlags, recv, send, sockopt};
use std::fs::File;

/// With [`Waiting::Spin`], how long before the due time sleeping ends: longer than waking takes.
const SPIN: Nanos = Nanos::from_micros(80);

/// How a worker waits for the next point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// It sleeps, and wakes some ten microseconds late.
    Sleep,
    /// It sleeps, and spins the last stretch.
    Spin,
}

/// The options of a driver.
#[derive(Clone, Debug)]
pub struct NativeOptions {
    /// The clock that all workers of a run share.
    pub clock: Clock,
    /// How to wait.
    pub waiting: Waiting,
    /// TLS settings; [`Io::start_tls`] names one by its index.
    pub tls: Vec<TlsConfig>,
}

/// The real driver for one worker thread. Make it on the thread that uses it.
pub struct Native {
    clock: Clock,
    /// The cheap way to the same time; `None` where there is none.
    tsc: Option<TscClock>,
    waiting: Waiting,
    poller: Poller,
    sockets: Vec<Socket>,
    tls: Vec<TlsConfig>,
    tls_io: Option<Box<TlsIo>>,
    schedstat: Option<File>,
}

/// One slot's connection.
#[derive(Default)]
struct Socket {
    fd: Option<OwnedFd>,
    /// Counts the slot's connections, so that a late event of an earlier one is recognised.
    generation: u32,
    /// Whether an event reported that opening the connection failed.
    troubled: bool,
    tls: Option<Box<TlsStream>>,
}

/// Whether one system call waits for a point in time to the nanosecond. Where none does, waits end
/// as punctually, and short ones cost a second call.
///
/// # Errors
/// When this system has no readiness queue for this process.
pub fn waits_in_one_call() -> Result<bool, Fault> {
    Ok(Poller::new()?.is_precise())
}

impl Native {
    /// A driver for the calling thread, whose timers it makes precise.
    ///
    /// # Errors
    /// When the kernel has no descriptor left for its readiness queue, or no way to wait for it.
    pub fn new(options: &NativeOptions) -> Result<Self, Fault> {
        let tls: Vec<TlsConfig> = options.tls.iter().map(TlsConfig::for_worker).collect();
        // The library's first use on a thread collects entropy for some 50 ms, which the first
        // handshake would be charged with. Whatever is wrong with it shows itself there.
        let _warmed = tls.first().map(TlsStream::new);
        Ok(Self {
            clock: options.clock,
            tsc: TscClock::new(|| options.clock.now().0),
            waiting: options.waiting,
            poller: Poller::new()?,
            sockets: Vec::new(),
            tls,
            tls_io: (!options.tls.is_empty()).then(|| Box::new(TlsIo::new())),
            schedstat: File::open("/proc/thread-self/schedstat").ok(),
        })
    }

    /// The system's own clock.
    fn real_time(&self) -> Nanos {
        let now = self.clock.now();
        match &self.tsc {
            Some(tsc) => Nanos(tsc.hold(now.0)),
            None => now,
        }
    }

    /// Polls for readiness once; `None` waits forever.
    fn look(&mut self, timeout: Option<Nanos>, ready: &mut Vec<Readiness>) -> Result<(), Fault> {
        for event in self.poller.wait(timeout)? {
            let (slot, generation) = (event.token as u32, (event.token >> 32) as u32);
            let socket = &mut self.sockets[slot as usize];
            if socket.generation != generation || socket.fd.is_none() {
                continue;
            }
            socket.troubled |= event.broken;
            ready.push(Readiness {
                slot: Slot(slot),
                readable: event.readable,
                writable: event.writable,
                peer_closed: event.peer_closed,
            });
        }
        Ok(())
    }

    /// Sleeps until shortly before `until`, then looks without sleeping until it has come.
    fn spin(&mut self, until: Nanos, ready: &mut Vec<Readiness>) -> Result<(), Fault> {
        loop {
            let left = until - self.now();
            let timeout = if left > SPIN {
                left - SPIN
            } else {
                Nanos::ZERO
            };
            self.look(Some(timeout), ready)?;
            if !ready.is_empty() || self.now() >= until {
                return Ok(());
            }
        }
    }
}

/// The resources of a TLS connection beside its own state: its socket and the shared buffers.
macro_rules! tls_parts {
    ($self:ident, $slot:ident) => {{
        let socket = &mut $self.sockets[$slot.0 as usize];
        match (&socket.fd, &mut socket.tls, &mut $self.tls_io) {
            (Some(fd), Some(tls), Some(io)) => Some((fd, tls, io)),
            _ => None,
        }
    }};
}

impl Io for Native {
    #[inline]
    fn now(&self) -> Nanos {
        match self.tsc.as_ref().and_then(TscClock::read) {
            Some(now) => Nanos(now),
            None => self.real_time(),
        }
    }

    fn unix_time(&self) -> u64 {
        Clock::unix_time()
    }

    fn set_epoch(&mut self, at: Nanos) {
        self.clock.set_epoch(at);
        self.tsc = TscClock::new(|| self.clock.now().0);
    }

    fn dial(&mut self, slot: Slot, address: &Address) -> Result<Progress, IoError> {
        let index = slot.0 as usize;
        if index >= self.sockets.len() {
            self.sockets.resize_with(index + 1, Socket::default);
        }
        let (fd, progress) = socket::dial(address)?;
        let socket = &mut self.sockets[index];
        debug_assert!(socket.fd.is_none(), "the slot holds a connection");
        socket.generation = socket.generation.wrapping_add(1);
        socket.troubled = false;
        let token = u64::from(socket.generation) << 32 | u64::from(slot.0);
        self.poller.add(&fd, token)?;
        socket.fd = Some(fd);
        Ok(progress)
    }

    fn finish_dial(&mut self, slot: Slot) -> Result<Progress, IoError> {
        let socket = &mut self.sockets[slot.0 as usize];
        let Some(fd) = &socket.fd else {
            return Err(IoError::BrokenPipe);
        };
        // Writable and untroubled is connected; only trouble is worth a system call.
        if socket.troubled {
            sockopt::socket_error(fd).map_err(local("getsockopt"))??;
            socket.troubled = false;
        }
        Ok(Progress::Done)
    }

    fn start_tls(&mut self, slot: Slot, config: usize) -> Result<Progress, IoError> {
        let stream = TlsStream::new(&self.tls[config])?;
        self.sockets[slot.0 as usize].tls = Some(Box::new(stream));
        self.handshake(slot)
    }

    fn add_tls(&mut self, config: TlsConfig) -> usize {
        self.tls_io.get_or_insert_with(|| Box::new(TlsIo::new()));
        self.tls.push(config.for_worker());
        self.tls.len() - 1
    }

    fn handshake(&mut self, slot: Slot) -> Result<Progress, IoError> {
        let Some((fd, tls, io)) = tls_parts!(self, slot) else {
            return Err(IoError::BrokenPipe);
        };
        tls.handshake(fd, io)
    }

    fn agreed(&self, slot: Slot, protocol: &[u8]) -> bool {
        let socket = self.sockets.get(slot.0 as usize);
        let tls = socket.and_then(|socket| socket.tls.as_deref());
        tls.is_some_and(|tls| tls.agreed(protocol))
    }

    #[inline]
    fn send(&mut self, slot: Slot, bytes: &[u8]) -> Result<usize, IoError> {
        if let Some((fd, tls, io)) = tls_parts!(self, slot) {
            return tls.send(fd, io, bytes);
        }
        let Some(fd) = &self.sockets[slot.0 as usize].fd else {
            return Err(IoError::BrokenPipe);
        };
        match retry_on_intr(|| send(fd, bytes, socket::SEND)) {
            Ok(sent) => Ok(sent),
            Err(Errno::AGAIN) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    #[inline]
    fn receive(&mut self, slot: Slot, buffer: &mut [u8]) -> Result<Received, IoError> {
        if let Some((fd, tls, io)) = tls_parts!(self, slot) {
            return tls.receive(fd, io, buffer);
        }
        let Some(fd) = &self.sockets[slot.0 as usize].fd else {
            return Err(IoError::BrokenPipe);
        };
        let room = buffer.len();
        received(
            retry_on_intr(|| recv(fd, &mut *buffer, RecvFlags::empty())).map(|(_, length)| length),
            room,
        )
    }

    fn discard(&mut self, slot: Slot, limit: u64, scratch: &mut [u8]) -> Result<Received, IoError> {
        let room = usize::try_from(limit)
            .unwrap_or(usize::MAX)
            .min(scratch.len());
        if let Some((fd, tls, io)) = tls_parts!(self, slot) {
            return tls.discard(fd, io, room);
        }
        let Some(fd) = &self.sockets[slot.0 as usize].fd else {
            return Err(IoError::BrokenPipe);
        };
        received(
            retry_on_intr(|| recv(fd, &mut scratch[..room], socket::DISCARD))
                .map(|(_, length)| length),
            room,
        )
    }

    fn close(&mut self, slot: Slot) {
        if let Some((fd, tls, io)) = tls_parts!(self, slot) {
            tls.send_close_notify(fd, io);
        }
        if let Some(socket) = self.sockets.get_mut(slot.0 as usize) {
            socket.tls = None;
            socket.fd = None;
        }
    }

    fn wait(&mut self, until: Nanos, ready: &mut Vec<Readiness>) -> Result<(), Fault> {
        ready.clear();
        match (until, self.waiting) {
            (Nanos::MAX, _) => self.look(None, ready)?,
            (Nanos::ZERO, _) | (_, Waiting::Sleep) => {
                let left = if until == Nanos::ZERO {
                    until
                } else {
                    until - self.now()
                };
                self.look(Some(left), ready)?;
            }
            (_, Waiting::Spin) => self.spin(until, ready)?,
        }
        if let Some(tsc) = &self.tsc
            && tsc.is_due()
        {
            tsc.anchor(|| self.clock.now().0);
        }
        if self.tls_io.is_some() {
            self.flush_ready(ready);
        }
        Ok(())
    }

    fn thread_times(&mut self) -> ThreadTimes {
        let run_queue_delay = self.schedstat.as_ref().and_then(|file| {
            let mut text = [0; 96];
            let length = pread(file, &mut text, 0).ok()?;
            let text = std::str::from_utf8(&text[..length]).ok()?;
            text.split_whitespace().nth(1)?.parse().ok()
        });
        ThreadTimes {
            cpu: Clock::thread_cpu(),
            run_queue_delay: Nanos(run_queue_delay.unwrap_or(0)),
        }
    }
}

impl Native {
    /// Sends encrypted bytes that waited for room; the engine does not know of them.
    fn flush_ready(&mut self, ready: &[Readiness]) {
        for readiness in ready.iter().filter(|readiness| readiness.writable) {
            let slot = readiness.slot;
            if let Some((fd, tls, _)) = tls_parts!(self, slot)
                && tls.has_unsent()
            {
                // A broken connection shows itself to the receive that follows.
                let _broken = tls.flush(fd);
            }
        }
    }
}

/// The result of a receive into `room` bytes. A short one has drained the socket for now (epoll(7),
/// question 9; kqueue reports later bytes in the same way).
#[inline]
fn received(result: Result<usize, Errno>, room: usize) -> Result<Received, IoError> {
    match result {
        Ok(0) => Ok(Received::End),
        Ok(length) => Ok(Received::Bytes {
            length,
            drained: length < room,
        }),
        Err(Errno::AGAIN) => Ok(Received::Nothing),
        Err(error) => Err(error.into()),
    }
}
