//! The real driver, one for each worker thread, on the kernel's edge-triggered readiness.
//!
//! A socket is registered once, for everything, and never again: a request costs one send and one
//! receive, and a wait that it shares with all that became ready at the same time.

use crate::error::local;
use crate::poller::Poller;
use crate::stamps::{self, StampCounts, Stamps};
use crate::thread_clock::ThreadClock;
use crate::tls::{Carrier, TlsIo, TlsStream, Within};
use crate::{
    Address, Clock, Fault, Io, IoError, Progress, Readiness, Received, Slot, ThreadTimes,
    TlsConfig, Waker, socket,
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

/// Whose clock tells when bytes have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stamping {
    /// The program's: the time at which it has read them.
    #[default]
    Off,
    /// The kernel's, on sockets that give its stamps: the time at which they arrived.
    Receive,
}

/// The options of a driver.
#[derive(Clone, Debug)]
pub struct NativeOptions {
    /// The clock that all workers of a run share.
    pub clock: Clock,
    /// How to wait.
    pub waiting: Waiting,
    /// Whose clock tells when bytes have come.
    pub stamping: Stamping,
    /// TLS settings; [`Io::start_tls`] names one by its index.
    pub tls: Vec<TlsConfig>,
}

/// The real driver for one worker thread. Make it on the thread that uses it.
pub struct Native {
    clock: ThreadClock,
    waiting: Waiting,
    poller: Poller,
    sockets: Vec<Socket>,
    tls: Vec<TlsConfig>,
    /// The buffers of connections, and of those within which they are.
    tls_io: Option<Box<[TlsIo; 2]>>,
    /// The kernel's stamps, where they are asked for.
    stamps: Option<Box<Stamps>>,
    /// Whether any socket may be received from in another way than plainly: over TLS, or with
    /// stamps.
    has_detours: bool,
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
    /// Whether an event reported the peer's end or an error, which comes behind the last bytes.
    ending: bool,
    /// Whether the kernel stamps what arrives.
    is_stamped: bool,
    tls: Option<Box<TlsStream>>,
    /// The TLS connection to a proxy, within which that one is.
    outer: Option<Box<TlsStream>>,
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
        let _warmed = tls
            .first()
            .cloned()
            .map(|mut config| TlsStream::new(&mut config));
        Ok(Self {
            clock: ThreadClock::new(options.clock),
            waiting: options.waiting,
            poller: Poller::new()?,
            sockets: Vec::new(),
            tls,
            tls_io: (!options.tls.is_empty()).then(buffers),
            stamps: (options.stamping == Stamping::Receive).then(|| Box::new(Stamps::new())),
            has_detours: !options.tls.is_empty() || options.stamping == Stamping::Receive,
            schedstat: File::open("/proc/thread-self/schedstat").ok(),
        })
    }

    /// Polls for readiness once; `None` waits forever.
    fn look(&mut self, timeout: Option<Nanos>, ready: &mut Vec<Readiness>) -> Result<(), Fault> {
        for event in self.poller.wait(timeout)? {
            let (slot, generation) = (event.token as u32, (event.token >> 32) as u32);
            // A wake has a slot that no connection has.
            let Some(socket) = self.sockets.get_mut(slot as usize) else {
                continue;
            };
            if socket.generation != generation || socket.fd.is_none() {
                continue;
            }
            if event.peer_closed {
                socket.troubled |= event.broken;
                socket.ending = true;
            }
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

/// The socket as what carries bytes.
struct Plain<'a> {
    fd: &'a OwnedFd,
    ending: bool,
    /// The stamps of what it receives, and the clock on which they are placed.
    stamps: Option<(&'a mut Stamps, &'a ThreadClock)>,
}

impl Carrier for Plain<'_> {
    #[inline(always)]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, IoError> {
        match retry_on_intr(|| send(self.fd, bytes, socket::SEND)) {
            Ok(sent) => Ok(sent),
            Err(Errno::AGAIN) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    #[inline(always)]
    fn receive(&mut self, buffer: &mut [u8]) -> Result<Received, IoError> {
        if let Some((stamps, clock)) = &mut self.stamps {
            return stamps.receive(self.fd, buffer, RecvFlags::empty(), clock);
        }
        let room = buffer.len();
        let result = retry_on_intr(|| recv(self.fd, &mut *buffer, RecvFlags::empty()));
        received(result.map(|(_, length)| length), room)
    }

    #[inline]
    fn is_ending(&self) -> bool {
        self.ending
    }
}

impl Plain<'_> {
    /// Receives bytes to discard.
    fn discard(self, scratch: &mut [u8]) -> Result<Received, IoError> {
        if let Some((stamps, clock)) = self.stamps {
            return stamps.receive(self.fd, scratch, socket::DISCARD, clock);
        }
        let room = scratch.len();
        let result = retry_on_intr(|| recv(self.fd, &mut *scratch, socket::DISCARD));
        received(result.map(|(_, length)| length), room)
    }
}

impl Socket {
    /// The open socket as a carrier.
    #[inline]
    fn plain(&self) -> Option<Plain<'_>> {
        let ending = self.ending;
        self.fd.as_ref().map(|fd| Plain {
            fd,
            ending,
            stamps: None,
        })
    }
}

impl Native {
    /// Does something with the TLS connection of a slot, over what carries it; `None` where there
    /// is none.
    #[inline]
    fn sealed<T>(
        &mut self,
        slot: Slot,
        act: impl FnOnce(&mut TlsStream, &mut dyn Carrier, &mut TlsIo) -> T,
    ) -> Option<T> {
        let socket = self.sockets.get_mut(slot.0 as usize)?;
        let tls = socket.tls.as_deref_mut()?;
        let stamps = self.stamps.as_deref_mut().filter(|_| socket.is_stamped);
        let mut plain = Plain {
            fd: socket.fd.as_ref()?,
            ending: socket.ending,
            stamps: stamps.map(|stamps| (stamps, &self.clock)),
        };
        let [io, outer_io] = self.tls_io.as_deref_mut()?;
        Some(match socket.outer.as_deref_mut() {
            None => act(tls, &mut plain, io),
            Some(stream) => {
                let mut within = Within {
                    stream,
                    carrier: &mut plain,
                    io: outer_io,
                };
                act(tls, &mut within, io)
            }
        })
    }
}

impl Native {
    /// [`Io::send`] over TLS, apart from the way of plain bytes.
    #[inline(never)]
    fn send_sealed(&mut self, slot: Slot, bytes: &[u8]) -> Option<Result<usize, IoError>> {
        self.sealed(slot, |tls, carrier, io| tls.send(carrier, io, bytes))
    }

    /// [`Io::receive`] over TLS or with stamps, apart from the way of plain bytes.
    #[inline(never)]
    fn receive_apart(
        &mut self,
        slot: Slot,
        buffer: &mut [u8],
    ) -> Option<Result<Received, IoError>> {
        if let Some(received) =
            self.sealed(slot, |tls, carrier, io| tls.receive(carrier, io, buffer))
        {
            return Some(received);
        }
        self.stamped(slot).map(|mut plain| plain.receive(buffer))
    }

    /// The socket of a slot as a carrier with stamps; `None` where it has none.
    fn stamped(&mut self, slot: Slot) -> Option<Plain<'_>> {
        let socket = &self.sockets[slot.0 as usize];
        let stamps = self.stamps.as_deref_mut().filter(|_| socket.is_stamped)?;
        Some(Plain {
            stamps: Some((stamps, &self.clock)),
            ..socket.plain()?
        })
    }
}

impl Io for Native {
    #[inline(always)]
    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn unix_time(&self) -> u64 {
        Clock::unix_time()
    }

    fn set_epoch(&mut self, at: Nanos) {
        self.clock.set_epoch(at);
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
        socket.ending = false;
        let is_tcp = matches!(address, Address::Tcp { .. });
        socket.is_stamped = self.stamps.is_some() && is_tcp && stamps::enable(&fd);
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
        let stream = Box::new(TlsStream::new(&mut self.tls[config])?);
        let socket = &mut self.sockets[slot.0 as usize];
        socket.outer = socket.tls.replace(stream);
        self.handshake(slot)
    }

    fn add_tls(&mut self, config: TlsConfig) -> usize {
        self.tls_io.get_or_insert_with(buffers);
        self.has_detours = true;
        self.tls.push(config.for_worker());
        self.tls.len() - 1
    }

    fn handshake(&mut self, slot: Slot) -> Result<Progress, IoError> {
        self.sealed(slot, |tls, carrier, io| tls.handshake(carrier, io))
            .unwrap_or(Err(IoError::BrokenPipe))
    }

    fn agreed(&self, slot: Slot, protocol: &[u8]) -> bool {
        let socket = self.sockets.get(slot.0 as usize);
        let tls = socket.and_then(|socket| socket.tls.as_deref());
        tls.is_some_and(|tls| tls.agreed(protocol))
    }

    fn is_resumed(&self, slot: Slot) -> bool {
        let socket = self.sockets.get(slot.0 as usize);
        let tls = socket.and_then(|socket| socket.tls.as_deref());
        tls.is_some_and(TlsStream::is_resumed)
    }

    #[inline(always)]
    fn send(&mut self, slot: Slot, bytes: &[u8]) -> Result<usize, IoError> {
        if self.tls_io.is_some()
            && let Some(sent) = self.send_sealed(slot, bytes)
        {
            return sent;
        }
        match self.sockets[slot.0 as usize].plain() {
            Some(mut plain) => plain.send(bytes),
            None => Err(IoError::BrokenPipe),
        }
    }

    #[inline(always)]
    fn receive(&mut self, slot: Slot, buffer: &mut [u8]) -> Result<Received, IoError> {
        if self.has_detours
            && let Some(received) = self.receive_apart(slot, buffer)
        {
            return received;
        }
        match self.sockets[slot.0 as usize].plain() {
            Some(mut plain) => plain.receive(buffer),
            None => Err(IoError::BrokenPipe),
        }
    }

    fn discard(&mut self, slot: Slot, limit: u64, scratch: &mut [u8]) -> Result<Received, IoError> {
        let room = usize::try_from(limit)
            .unwrap_or(usize::MAX)
            .min(scratch.len());
        if self.tls_io.is_some()
            && let Some(received) =
                self.sealed(slot, |tls, carrier, io| tls.discard(carrier, io, room))
        {
            return received;
        }
        let plain = match self.sockets[slot.0 as usize].is_stamped {
            true => self.stamped(slot),
            false => self.sockets[slot.0 as usize].plain(),
        };
        match plain {
            Some(plain) => plain.discard(&mut scratch[..room]),
            None => Err(IoError::BrokenPipe),
        }
    }

    fn close(&mut self, slot: Slot) {
        self.sealed(slot, |tls, carrier, io| tls.send_close_notify(carrier, io));
        if let Some(socket) = self.sockets.get_mut(slot.0 as usize) {
            socket.tls = None;
            socket.outer = None;
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
        if self.clock.is_due() {
            self.clock.anchor();
            if let Some(stamps) = &mut self.stamps {
                stamps.follow();
            }
        }
        if self.tls_io.is_some() {
            self.flush_ready(ready);
        }
        Ok(())
    }

    fn waker(&mut self) -> Result<Waker, Fault> {
        self.poller.waker()
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
            stamps: self
                .stamps
                .as_deref()
                .map_or_else(StampCounts::default, Stamps::counts),
        }
    }
}

impl Native {
    /// Sends encrypted bytes of a slot that waited for room: those of the outer connection first.
    fn flush(&mut self, slot: Slot) -> Result<(), IoError> {
        let socket = &mut self.sockets[slot.0 as usize];
        if let (Some(fd), Some(outer)) = (&socket.fd, &mut socket.outer) {
            outer.flush(&mut Plain {
                fd,
                ending: socket.ending,
                stamps: None,
            })?;
        }
        self.sealed(slot, |tls, carrier, _| tls.flush(carrier))
            .unwrap_or(Ok(()))
    }

    /// Sends encrypted bytes that waited for room; the engine does not know of them.
    fn flush_ready(&mut self, ready: &[Readiness]) {
        for readiness in ready.iter().filter(|readiness| readiness.writable) {
            // A broken connection shows itself to the receive that follows.
            let _broken = self.flush(readiness.slot);
        }
    }
}

/// Buffers for TLS connections.
fn buffers() -> Box<[TlsIo; 2]> {
    Box::new([TlsIo::new(), TlsIo::new()])
}

/// The result of a receive into `room` bytes. A short one has drained the socket for now (epoll(7),
/// question 9; kqueue reports later bytes in the same way). An end or an error that an event has
/// reported is not drained by it: no further event reports it.
#[inline]
fn received(result: Result<usize, Errno>, room: usize) -> Result<Received, IoError> {
    match result {
        Ok(0) => Ok(Received::End),
        Ok(length) => Ok(Received::Bytes {
            length,
            drained: length < room,
            arrived: None,
        }),
        Err(Errno::AGAIN) => Ok(Received::Nothing),
        Err(error) => Err(error.into()),
    }
}
