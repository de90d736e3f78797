//! The real driver, one for each worker thread, based on the kernel's edge-triggered readiness.
//!
//! A socket is registered once, for all events: a request costs one send and one receive, and a
//! wait that it shares with all sockets that become ready at the same time.

mod adaptive;
mod line;

use self::adaptive::Adaptive;
use self::line::{Line, PlainSocket};
use crate::error::local;
use crate::poller::{Poller, Room};
use crate::stamps::{self, Stamped, Stamps};
use crate::thread_clock::ThreadClock;
use crate::tls::{Carrier, TlsIo, TlsStream, Within};
use crate::{
    Clock, DepartureCounts, Endpoint, Fault, Io, IoError, Progress, Readiness, Received, Slot,
    StampCounts, ThreadTimes, TlsConfig, WaitCounts, Waker, socket,
};
use drumfire_units::Nanos;
use rustix::io::pread;
use rustix::net::sockopt;
use std::fs::File;

/// With [`Waiting::Spin`], how long before the due time sleeping ends: longer than waking takes.
const SPIN: Nanos = Nanos::from_micros(80);

/// How a worker waits for the next point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Sleeps, and wakes some ten microseconds late.
    Sleep,
    /// Polls for readiness before it sleeps, for as long as that pays. For loads at full speed.
    Adaptive,
    /// Sleeps, and spins for the last part.
    Spin,
}

/// Which clock provides the times at which bytes arrive and leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stamping {
    /// The program's clock: the time at which it reads the bytes.
    #[default]
    Off,
    /// The kernel's clock, on sockets that support it: the time at which the bytes arrived.
    Receive,
    /// The kernel's clock for both directions: a request left when the device got its first bytes.
    Both,
}

/// The options of a driver.
#[derive(Clone, Debug)]
pub struct NativeOptions {
    /// The clock that all workers of a run share.
    pub clock: Clock,
    /// How to wait.
    pub waiting: Waiting,
    /// Which clock provides the times at which bytes arrive and leave.
    pub stamping: Stamping,
    /// TLS settings; [`Io::start_tls`] selects one by its index.
    pub tls: Vec<TlsConfig>,
}

/// The real driver for one worker thread. It must be created on the thread that uses it.
pub struct Native {
    clock: ThreadClock,
    waiting: Waiting,
    /// The state of adaptive waiting, if it is used.
    adaptive: Option<Box<Adaptive>>,
    poller: Poller,
    sockets: Vec<Socket>,
    tls: Vec<TlsConfig>,
    /// The buffers of TLS connections, and of outer TLS connections.
    tls_io: Option<Box<[TlsIo; 2]>>,
    /// The kernel's time stamps, if requested.
    stamps: Option<Box<Stamps>>,
    /// Whether any socket may need more than a plain receive: TLS or time stamps.
    has_detours: bool,
    /// Whether any socket may need more than a plain send: TLS or time stamps.
    sends_apart: bool,
    schedstat: Option<File>,
}

/// One slot's connection.
#[derive(Default)]
struct Socket {
    line: Line,
    /// Counts the slot's connections, so that a late event of an earlier one is recognised.
    generation: u32,
    /// Whether an event reported that opening the connection failed.
    troubled: bool,
    tls: Option<Box<TlsStream>>,
    /// The TLS connection to a proxy, if `tls` runs within one.
    outer: Option<Box<TlsStream>>,
}

/// Whether a single system call can wait with nanosecond precision. Without one, waits end just as
/// punctually, but short ones cost a second call.
///
/// # Errors
/// If this system provides no readiness queue for this process.
pub fn waits_in_one_call() -> Result<bool, Fault> {
    Ok(Poller::new()?.is_precise())
}

impl Native {
    /// Creates a driver for the calling thread, and makes the thread's timers precise.
    ///
    /// # Errors
    /// If the kernel has no descriptor left for its readiness queue, or can't wait for it.
    pub fn new(options: &NativeOptions) -> Result<Self, Fault> {
        let tls: Vec<TlsConfig> = options.tls.iter().map(TlsConfig::for_worker).collect();
        // The library's first use on a thread collects entropy for some 50 ms, which would count
        // towards the first handshake. Errors are reported there.
        let _warmed = tls
            .first()
            .cloned()
            .map(|mut config| TlsStream::new(&mut config));
        let stamped = match options.stamping {
            Stamping::Off => None,
            Stamping::Receive => Some(Stamped::Received),
            Stamping::Both => Some(Stamped::Both),
        };
        let speaks_tls = !options.tls.is_empty();
        let (clock, mut poller) = (ThreadClock::new(options.clock), Poller::new()?);
        let adaptive = match options.waiting {
            Waiting::Adaptive => Some(Box::new(Adaptive::new(&clock, &mut poller)?)),
            Waiting::Sleep | Waiting::Spin => None,
        };
        Ok(Self {
            clock,
            waiting: options.waiting,
            adaptive,
            poller,
            sockets: Vec::new(),
            tls,
            tls_io: speaks_tls.then(buffers),
            stamps: stamped.map(|stamped| Box::new(Stamps::new(stamped))),
            has_detours: speaks_tls || stamped.is_some(),
            sends_apart: speaks_tls || stamped == Some(Stamped::Both),
            schedstat: File::open("/proc/thread-self/schedstat").ok(),
        })
    }

    /// Polls for readiness once; `None` waits forever. Returns whether there was any event, which
    /// may also be a wake or concern a closed connection.
    fn look(&mut self, timeout: Option<Nanos>, ready: &mut Vec<Readiness>) -> Result<bool, Fault> {
        let mut any = false;
        for event in self.poller.wait(timeout)? {
            any = true;
            let (slot, generation) = (event.token as u32, (event.token >> 32) as u32);
            // A wake uses a slot that no connection has.
            let Some(socket) = self.sockets.get_mut(slot as usize) else {
                continue;
            };
            if socket.generation != generation || socket.line.fd.is_none() {
                continue;
            }
            let event = match event.error {
                false => event,
                true => socket.line.look_into(event, &mut self.stamps, &self.clock),
            };
            if event.peer_closed {
                socket.troubled |= event.broken;
                socket.line.ending = true;
            }
            ready.push(Readiness {
                slot: Slot(slot),
                readable: event.readable,
                writable: event.writable,
                peer_closed: event.peer_closed,
            });
        }
        Ok(any)
    }

    /// Sleeps until shortly before `until`, then polls without sleeping until that time.
    fn spin(&mut self, until: Nanos, ready: &mut Vec<Readiness>) -> Result<(), Fault> {
        loop {
            let left = until - self.now();
            let timeout = if left > SPIN {
                left - SPIN
            } else {
                Nanos::ZERO
            };
            // A wake ends the wait, too.
            let any = self.look(Some(timeout), ready)?;
            if any || self.now() >= until {
                return Ok(());
            }
        }
    }
}

impl Native {
    /// Calls a function on the TLS connection of a slot and its carrier; `None` if the slot has no
    /// TLS connection.
    #[inline]
    fn sealed<T>(
        &mut self,
        slot: Slot,
        act: impl FnOnce(&mut TlsStream, &mut dyn Carrier, &mut TlsIo) -> T,
    ) -> Option<T> {
        let socket = self.sockets.get_mut(slot.0 as usize)?;
        let tls = socket.tls.as_deref_mut()?;
        let stamps = self.stamps.as_deref_mut();
        let mut plain = socket.line.stamped(stamps, &self.clock)?;
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
    /// [`Io::send`] over TLS or with time stamps, separate from the path of plain bytes.
    #[inline(never)]
    fn send_apart(&mut self, slot: Slot, bytes: &[u8]) -> Option<Result<usize, IoError>> {
        let sent = self.sealed(slot, |tls, carrier, io| tls.send(carrier, io, bytes));
        let sent = sent.or_else(|| self.stamped(slot).map(|mut plain| plain.send(bytes)));
        self.heed_room(slot);
        sent
    }

    /// Watches a socket for room after a send has found too little. A socket with departure stamps
    /// is not watched for room otherwise.
    fn heed_room(&mut self, slot: Slot) {
        let socket = &mut self.sockets[slot.0 as usize];
        if let (Some(fd), Some(sends)) = (&socket.line.fd, &mut socket.line.sends)
            && sends.take_full()
        {
            let token = u64::from(socket.generation) << 32 | u64::from(slot.0);
            // A watched socket can be watched for more: if this fails, the socket itself is broken.
            let _ended = self.poller.watch_room(fd, token, Room::Watched);
        }
    }

    /// Enables departure stamps on a connection that is open and has sent nothing.
    #[cold]
    fn enable_departures(&mut self, slot: Slot) -> Result<(), IoError> {
        let socket = &mut self.sockets[slot.0 as usize];
        let is_new = socket.line.is_stamped && socket.line.sends.is_none();
        let Some(fd) = socket.line.fd.as_ref().filter(|_| is_new) else {
            return Ok(());
        };
        let stamps = self.stamps.as_deref();
        socket.line.sends = stamps.and_then(|stamps| stamps.enable_departures(fd));
        if socket.line.sends.is_some() {
            let token = u64::from(socket.generation) << 32 | u64::from(slot.0);
            self.poller.watch_room(fd, token, Room::Unwatched)?;
        }
        Ok(())
    }

    /// [`Io::receive`] over TLS or with time stamps, separate from the path of plain bytes.
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

    /// The socket of a slot as a carrier with time stamps; `None` if it does not use them.
    fn stamped(&mut self, slot: Slot) -> Option<PlainSocket<'_>> {
        let line = &mut self.sockets[slot.0 as usize].line;
        match line.is_stamped {
            false => None,
            true => line.stamped(self.stamps.as_deref_mut(), &self.clock),
        }
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
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.start_anew();
        }
    }

    fn dial(&mut self, slot: Slot, address: &Endpoint) -> Result<Progress, IoError> {
        let index = slot.0 as usize;
        if index >= self.sockets.len() {
            self.sockets.resize_with(index + 1, Socket::default);
        }
        let (fd, progress) = socket::dial(address)?;
        let socket = &mut self.sockets[index];
        debug_assert!(socket.line.fd.is_none(), "the slot holds a connection");
        socket.generation = socket.generation.wrapping_add(1);
        socket.troubled = false;
        let is_tcp = matches!(address, Endpoint::Tcp { .. });
        let token = u64::from(socket.generation) << 32 | u64::from(slot.0);
        self.poller.add(&fd, token)?;
        socket.line = Line {
            ending: false,
            is_stamped: self.stamps.is_some() && is_tcp && stamps::enable(&fd),
            fd: Some(fd),
            sends: None,
        };
        if progress == Progress::Done && self.sends_apart {
            self.enable_departures(slot)?;
        }
        Ok(progress)
    }

    fn finish_dial(&mut self, slot: Slot) -> Result<Progress, IoError> {
        let socket = &mut self.sockets[slot.0 as usize];
        let Some(fd) = &socket.line.fd else {
            return Err(IoError::BrokenPipe);
        };
        // A writable socket without trouble is connected; only trouble is worth a system call.
        if socket.troubled {
            sockopt::socket_error(fd).map_err(local("getsockopt"))??;
            socket.troubled = false;
        }
        if self.sends_apart {
            self.enable_departures(slot)?;
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
        self.sends_apart = true;
        self.tls.push(config.for_worker());
        self.tls.len() - 1
    }

    fn handshake(&mut self, slot: Slot) -> Result<Progress, IoError> {
        let shaken = self.sealed(slot, |tls, carrier, io| tls.handshake(carrier, io));
        self.heed_room(slot);
        shaken.unwrap_or(Err(IoError::BrokenPipe))
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

    fn lacks_certificate(&self, slot: Slot) -> bool {
        let socket = self.sockets.get(slot.0 as usize);
        let tls = socket.and_then(|socket| socket.tls.as_deref());
        tls.is_some_and(TlsStream::lacks_certificate)
    }

    #[inline(always)]
    fn send(&mut self, slot: Slot, bytes: &[u8]) -> Result<usize, IoError> {
        if self.sends_apart
            && let Some(sent) = self.send_apart(slot, bytes)
        {
            return sent;
        }
        match self.sockets[slot.0 as usize].line.plain() {
            Some(mut plain) => plain.send(bytes),
            None => Err(IoError::BrokenPipe),
        }
    }

    #[inline(always)]
    fn send_request(&mut self, slot: Slot, bytes: &[u8]) -> Result<usize, IoError> {
        if self.sends_apart
            && let Some(sends) = &mut self.sockets[slot.0 as usize].line.sends
        {
            sends.start_request();
        }
        self.send(slot, bytes)
    }

    #[inline]
    fn departure(&mut self, slot: Slot) -> Option<Nanos> {
        match self.stamps {
            None => None,
            Some(_) => self.stamped(slot)?.departure(),
        }
    }

    #[inline(always)]
    fn receive(&mut self, slot: Slot, buffer: &mut [u8]) -> Result<Received, IoError> {
        if self.has_detours
            && let Some(received) = self.receive_apart(slot, buffer)
        {
            return received;
        }
        match self.sockets[slot.0 as usize].line.plain() {
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
        let plain = match self.sockets[slot.0 as usize].line.is_stamped {
            true => self.stamped(slot),
            false => self.sockets[slot.0 as usize].line.plain(),
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
            socket.line = Line::default();
        }
    }

    fn wait(&mut self, until: Nanos, ready: &mut Vec<Readiness>) -> Result<(), Fault> {
        ready.clear();
        match (until, self.waiting) {
            (Nanos::MAX, _) => {
                self.look(None, ready)?;
            }
            (Nanos::ZERO, _) | (_, Waiting::Sleep) => {
                let left = if until == Nanos::ZERO {
                    until
                } else {
                    until - self.now()
                };
                self.look(Some(left), ready)?;
            }
            (_, Waiting::Adaptive) => self.wait_adaptively(until, ready)?,
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
        let (stamps, adaptive) = (self.stamps.as_deref(), self.adaptive.as_deref());
        ThreadTimes {
            cpu: Clock::thread_cpu(),
            run_queue_delay: Nanos(run_queue_delay.unwrap_or(0)),
            stamps: stamps.map_or_else(StampCounts::default, Stamps::counts),
            departures: stamps.map_or_else(DepartureCounts::default, Stamps::departures),
            waits: adaptive.map_or_else(WaitCounts::default, Adaptive::counts),
        }
    }
}

impl Native {
    /// Sends encrypted bytes of a slot that waited for room, the outer connection's first.
    fn flush(&mut self, slot: Slot) -> Result<(), IoError> {
        let socket = &mut self.sockets[slot.0 as usize];
        if let Some(outer) = &mut socket.outer
            && let Some(mut plain) = socket.line.stamped(self.stamps.as_deref_mut(), &self.clock)
        {
            outer.flush(&mut plain)?;
        }
        let flushed = self.sealed(slot, |tls, carrier, _| tls.flush(carrier));
        self.heed_room(slot);
        flushed.unwrap_or(Ok(()))
    }

    /// Sends encrypted bytes that waited for room; the engine does not know of them.
    fn flush_ready(&mut self, ready: &[Readiness]) {
        for readiness in ready.iter().filter(|readiness| readiness.writable) {
            // The following receive reports a broken connection.
            let _broken = self.flush(readiness.slot);
        }
    }
}

/// Creates buffers for TLS connections.
fn buffers() -> Box<[TlsIo; 2]> {
    Box::new([TlsIo::new(), TlsIo::new()])
}
