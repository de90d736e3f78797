//! The one seam between the engine and the world.
//!
//! The engine owns slots: small integers, one per connection. A driver holds at most one connection
//! per slot, reports readiness by slot, and moves bytes. [`crate::Native`] is the real driver; the
//! test kit has a simulated one that runs in virtual time.

use crate::{Fault, IoError, Progress, Received, TlsConfig, Waker};
use drumfire_units::Nanos;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// A connection's index in the engine's table and in the driver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

/// Where to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// TCP, from the given local address if any.
    Tcp {
        /// The peer.
        peer: SocketAddr,
        /// The local address to connect from.
        source: Option<IpAddr>,
    },
    /// A Unix socket.
    Unix(PathBuf),
}

impl Endpoint {
    /// The peer's address; `None` for a path.
    #[must_use]
    pub const fn peer(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp { peer, .. } => Some(*peer),
            Self::Unix(_) => None,
        }
    }
}

/// A driver's report on a slot after a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readiness {
    /// The slot.
    pub slot: Slot,
    /// Bytes, the end of the stream, or an error can be received.
    pub readable: bool,
    /// An opening connection has made progress, or the socket has room to send.
    pub writable: bool,
    /// The peer has finished sending: receive until [`Received::End`].
    pub peer_closed: bool,
}

/// Measurements of this thread's own health, cumulative since the driver was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTimes {
    /// CPU time of this thread, user and system.
    pub cpu: Nanos,
    /// Time during which this thread was ready to run but did not run.
    pub run_queue_delay: Nanos,
    /// The kernel's time stamps of received bytes.
    pub stamps: StampCounts,
    /// The kernel's time stamps of requests that were sent.
    pub departures: DepartureCounts,
    /// The waits of a thread that polls before it sleeps; all 0 for others.
    pub waits: WaitCounts,
}

/// The waits of a thread that polls before it sleeps. Waits that found something at their first
/// look are not counted: they neither polled nor slept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitCounts {
    /// The time spent on polling.
    pub polled: Nanos,
    /// Waits in which polling found something, so that the thread did not sleep.
    pub found: u64,
    /// Waits that slept, after polling in vain or at once.
    pub slept: u64,
}

/// The number of receives that returned bytes on sockets with time stamps enabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StampCounts {
    /// With a time stamp that was used.
    pub taken: u64,
    /// Without a time stamp.
    pub missing: u64,
    /// With a time stamp that can't be right.
    pub refused: u64,
}

/// The number of sends that began requests and requested a departure stamp, and of sends that did
/// not request one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DepartureCounts {
    /// With a time stamp that was used.
    pub taken: u64,
    /// Without a time stamp when the response came or the connection was reused.
    pub missing: u64,
    /// With a time stamp that can't be right.
    pub refused: u64,
    /// Not requested, because there were too many requests.
    pub passed: u64,
}

/// A driver: sockets and time for one worker thread.
pub trait Io {
    /// Time since the run's epoch; never decreases, except by [`Io::set_epoch`].
    fn now(&self) -> Nanos;

    /// Nanoseconds since 1970 by the machine's wall clock, which may jump.
    fn unix_time(&self) -> u64;

    /// Makes the given point in time the epoch, so that it becomes zero. If that point is in the
    /// future, [`Io::now`] stays at zero until then.
    fn set_epoch(&mut self, at: Nanos);

    /// Starts to open a connection. After [`Progress::Pending`], the slot becomes writable and
    /// [`Io::finish_dial`] reports the result. The slot must be empty.
    ///
    /// # Errors
    /// If it fails at once; the slot stays empty.
    fn dial(&mut self, slot: Slot, address: &Endpoint) -> Result<Progress, IoError>;

    /// Asks for the result of an attempt to open a connection.
    ///
    /// # Errors
    /// If the attempt has failed; the caller closes the slot.
    fn finish_dial(&mut self, slot: Slot) -> Result<Progress, IoError>;

    /// Starts TLS on an open connection with the settings of this index. On a connection that
    /// already uses TLS, the new TLS connection runs within the existing one.
    ///
    /// # Errors
    /// If the handshake failed; the caller closes the slot.
    fn start_tls(&mut self, slot: Slot, config: usize) -> Result<Progress, IoError>;

    /// Adds TLS settings for [`Io::start_tls`]; returns their index.
    fn add_tls(&mut self, config: TlsConfig) -> usize;

    /// Continues a TLS handshake after readiness.
    ///
    /// # Errors
    /// The same as [`Io::start_tls`].
    fn handshake(&mut self, slot: Slot) -> Result<Progress, IoError>;

    /// Whether the peer agreed to this protocol in the handshake (ALPN, RFC 7301); always false
    /// without TLS.
    fn agreed(&self, slot: Slot, protocol: &[u8]) -> bool;

    /// Whether the handshake resumed an earlier session (RFC 8446 section 2.2); always false
    /// without TLS.
    fn is_resumed(&self, slot: Slot) -> bool;

    /// Whether the peer asked for a client certificate in the handshake, and none was configured;
    /// always false without TLS.
    fn lacks_certificate(&self, slot: Slot) -> bool;

    /// Sends as many bytes as there is room for. If these are fewer than given, the slot becomes
    /// writable later.
    ///
    /// # Errors
    /// If the connection is broken.
    fn send(&mut self, slot: Slot, bytes: &[u8]) -> Result<usize, IoError>;

    /// Sends like [`Io::send`] the beginning of one or more requests. If departures are enabled and
    /// supported, the driver asks the kernel when the first of these bytes leave.
    ///
    /// If the connection is broken.
    /// When the connection is broken.
    fn send_request(&mut self, slot: Slot, bytes: &[u8]) -> Result<usize, IoError>;

    /// The time at which the bytes of the slot's last [`Io::send_request`] left, by the kernel's
    /// time stamp; `None` if it is unknown. It is never earlier than the call, and is returned only
    /// once.
    fn departure(&mut self, slot: Slot) -> Option<Nanos>;

    /// Receives into the buffer. The result contains the time of arrival if the driver has a kernel
    /// time stamp for it.
    ///
    /// # Errors
    /// If the connection is broken.
    fn receive(&mut self, slot: Slot, buffer: &mut [u8]) -> Result<Received, IoError>;

    /// Receives and discards at most `limit` bytes, without copying them if the driver can. May
    /// overwrite `scratch`.
    ///
    /// # Errors
    /// If the connection is broken.
    fn discard(&mut self, slot: Slot, limit: u64, scratch: &mut [u8]) -> Result<Received, IoError>;

    /// Closes the slot's connection, if any, and discards unsent bytes.
    fn close(&mut self, slot: Slot);

    /// Waits for readiness or until a point in time, and replaces the list's contents. Returns at
    /// once if something is ready; may return early with an empty list.
    ///
    /// # Errors
    /// If the system can't wait. Nothing after that can be on time, so the caller ends the run.
    fn wait(&mut self, until: Nanos, ready: &mut Vec<Readiness>) -> Result<(), Fault>;

    /// Creates a handle with which other threads can end this driver's waits.
    ///
    /// # Errors
    /// If the system has no descriptor left for it.
    fn waker(&mut self) -> Result<Waker, Fault>;

    /// This thread's own times, for its health.
    fn thread_times(&mut self) -> ThreadTimes;
}
