//! Readiness of sockets: epoll on Linux, where the target is measured, and mio elsewhere.

#[cfg(target_os = "linux")]
mod epoll;
#[cfg(not(target_os = "linux"))]
mod portable;

#[cfg(target_os = "linux")]
pub(crate) use epoll::{Events, Poller, Waker, sharpen_timers};
#[cfg(not(target_os = "linux"))]
pub(crate) use portable::{Events, Poller, Waker, sharpen_timers};

/// The events of a connection that are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Bytes to read, and the peer's end.
    Read,
    /// The same, and room to write.
    ReadWrite,
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    /// The connection.
    pub(crate) token: u64,
    /// Bytes can be read, or an end or an error seen by reading.
    pub(crate) readable: bool,
    /// The peer is done: read until the end, a short read is not the last one.
    pub(crate) ending: bool,
    /// Bytes can be written.
    pub(crate) writable: bool,
}
