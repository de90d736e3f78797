//! The one seam between the engine and the world.
//!
//! The engine owns slots: small integers, one per connection. A driver gives each slot at most one
//! connection, reports readiness by slot, and moves bytes. [`crate::Native`] is the real driver;
//! the test kit has a simulated one under virtual time.

use crate::{Fault, IoError, Progress, Received, TlsConfig, Waker};
use drumfire_units::Nanos;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// A connection's place in the engine's table and in the driver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

/// Where to dial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// TCP, from the given local address if there is one.
    Tcp {
        /// The peer.
        peer: SocketAddr,
        /// The local address to send from.
        source: Option<IpAddr>,
    },
    /// A Unix socket.
    Unix(PathBuf),
}

impl Address {
    /// The peer's address, unless that is a path.
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
    /// There may be bytes to receive, or the end of the stream, or an error.
    pub readable: bool,
    /// A connection that was being opened has made progress, or there is room to send.
    pub writable: bool,
    /// The peer has finished sending: receive until [`Received::End`].
    pub peer_closed: bool,
}

/// Figures of this thread's own health, cumulative since the driver was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTimes {
    /// CPU time of this thread, user and system.
    pub cpu: Nanos,
    /// Time this thread was ready to run and did not.
    pub run_queue_delay: Nanos,
    /// The kernel's stamps of what was received.
    pub stamps: StampCounts,
    /// The kernel's stamps of requests that left.
    pub departures: DepartureCounts,
}

/// The number of receives that brought bytes to sockets of which stamps were asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StampCounts {
    /// With a stamp that was taken.
    pub taken: u64,
    /// Without one.
    pub missing: u64,
    /// With one that can't be right.
    pub refused: u64,
}

/// The number of writes that began requests and whose departures were asked for, and of those that
/// were passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DepartureCounts {
    /// With a stamp that was taken.
    pub taken: u64,
    /// Without one when the response came, or the connection was used again.
    pub missing: u64,
    /// With one that can't be right.
    pub refused: u64,
    /// Not asked for, since there were too many.
    pub passed: u64,
}

/// A driver: sockets and time for one worker thread.
pub trait Io {
    /// Time since the run's epoch; never decreases, but for [`Io::set_epoch`].
    fn now(&self) -> Nanos;

    /// Nanoseconds since 1970 by the machine's calendar clock, which may jump.
    fn unix_time(&self) -> u64;

    /// Makes the given point in time the epoch, so that it is zero from now on. A point that is
    /// yet to come makes [`Io::now`] stay at zero until then.
    fn set_epoch(&mut self, at: Nanos);

    /// Starts to open a connection. On [`Progress::Pending`], writability follows and
    /// [`Io::finish_dial`] reports the result. The slot must hold none.
    ///
    /// # Errors
    /// When it fails at once; the slot stays empty.
    fn dial(&mut self, slot: Slot, address: &Address) -> Result<Progress, IoError>;

    /// Asks how an attempt to open a connection went.
    ///
    /// # Errors
    /// When it has failed; the caller closes the slot.
    fn finish_dial(&mut self, slot: Slot) -> Result<Progress, IoError>;

    /// Starts TLS on an open connection, by the configuration with this index; on one that speaks
    /// TLS already, within that.
    ///
    /// # Errors
    /// When the handshake failed; the caller closes the slot.
    fn start_tls(&mut self, slot: Slot, config: usize) -> Result<Progress, IoError>;

    /// Adds TLS settings to those that [`Io::start_tls`] names; returns their index.
    fn add_tls(&mut self, config: TlsConfig) -> usize;

    /// Goes on with a TLS handshake after readiness.
    ///
    /// # Errors
    /// As [`Io::start_tls`].
    fn handshake(&mut self, slot: Slot) -> Result<Progress, IoError>;

    /// Whether the peer agreed in the handshake to speak this protocol (ALPN, RFC 7301); never
    /// without TLS.
    fn agreed(&self, slot: Slot, protocol: &[u8]) -> bool;

    /// Whether the handshake resumed an earlier session (RFC 8446 section 2.2); never without TLS.
    fn is_resumed(&self, slot: Slot) -> bool;

    /// Whether the peer asked for a client's certificate in the handshake, and there was none to
    /// show; never without TLS.
    fn lacks_certificate(&self, slot: Slot) -> bool;

    /// Sends what there is room for; fewer bytes than given means that writability follows.
    ///
    /// # Errors
    /// When the connection is broken.
    fn send(&mut self, slot: Slot, bytes: &[u8]) -> Result<usize, IoError>;

    /// Sends as [`Io::send`] does what begins one request, or several: the driver asks the kernel
    /// when the first of these bytes leave, where it is to and can.
    ///
    /// # Errors
    /// When the connection is broken.
    fn send_request(&mut self, slot: Slot, bytes: &[u8]) -> Result<usize, IoError>;

    /// The time at which the bytes of the slot's last [`Io::send_request`] left, by the kernel's
    /// stamp; `None` where it is not known. It is no earlier than the call, and is given once.
    fn departure(&mut self, slot: Slot) -> Option<Nanos>;

    /// Receives into the buffer. Bytes come with the time of their arrival where the driver has
    /// that of the kernel.
    ///
    /// # Errors
    /// When the connection is broken.
    fn receive(&mut self, slot: Slot, buffer: &mut [u8]) -> Result<Received, IoError>;

    /// Receives and throws away at most `limit` bytes without copying them, where the driver can.
    /// `scratch` may be overwritten.
    ///
    /// # Errors
    /// When the connection is broken.
    fn discard(&mut self, slot: Slot, limit: u64, scratch: &mut [u8]) -> Result<Received, IoError>;

    /// Closes the slot's connection, if it holds one, and discards unsent bytes.
    fn close(&mut self, slot: Slot);

    /// Waits for readiness or until a point in time, and replaces the list's contents.
    /// Returns at once when something is ready; may return early with an empty list.
    ///
    /// # Errors
    /// When the system can't wait. Nothing that follows can be on time, so the caller ends the
    /// run.
    fn wait(&mut self, until: Nanos, ready: &mut Vec<Readiness>) -> Result<(), Fault>;

    /// A way for other threads to end this driver's waits.
    ///
    /// # Errors
    /// When the system has no descriptor left for it.
    fn waker(&mut self) -> Result<Waker, Fault>;

    /// This thread's own times, for its health.
    fn thread_times(&mut self) -> ThreadTimes;
}
