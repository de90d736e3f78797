//! The socket of a slot as a carrier of bytes.

use crate::poller::Event;
use crate::stamps::{Sends, Stamps};
use crate::thread_clock::ThreadClock;
use crate::tls::Carrier;
use crate::{IoError, Received, socket};
use drumfire_units::Nanos;
use rustix::fd::OwnedFd;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{RecvFlags, recv, send};

/// A slot's socket.
#[derive(Default)]
pub(super) struct Line {
    pub(super) fd: Option<OwnedFd>,
    /// Whether an event reported the peer's end or an error, which follows the last bytes.
    pub(super) ending: bool,
    /// Whether the kernel stamps received bytes.
    pub(super) is_stamped: bool,
    /// The socket's sends, if the kernel stamps departures.
    pub(super) sends: Option<Box<Sends>>,
}

impl Line {
    /// The open socket as a carrier without time stamps.
    #[inline]
    pub(super) fn plain(&self) -> Option<PlainSocket<'_>> {
        let ending = self.ending;
        self.fd.as_ref().map(|fd| PlainSocket {
            fd,
            ending,
            stamping: None,
        })
    }

    /// The open socket as a carrier with the time stamps that are enabled on it.
    pub(super) fn stamped<'a>(
        &'a mut self,
        stamps: Option<&'a mut Stamps>,
        clock: &'a ThreadClock,
    ) -> Option<PlainSocket<'a>> {
        let (is_stamped, sends) = (self.is_stamped, self.sends.as_deref_mut());
        let stamps = stamps.filter(|_| is_stamped);
        Some(PlainSocket {
            fd: self.fd.as_ref()?,
            ending: self.ending,
            stamping: stamps.map(|stamps| LineStamps {
                stamps,
                sends,
                clock,
            }),
        })
    }

    /// Checks an event that reports an error, which may be just a message in the socket's error
    /// queue.
    #[cold]
    pub(super) fn look_into(
        &mut self,
        event: Event,
        stamps: &mut Option<Box<Stamps>>,
        clock: &ThreadClock,
    ) -> Event {
        match (&self.fd, &mut self.sends, stamps) {
            (Some(fd), Some(sends), Some(stamps)) if !event.broken && !event.peer_closed => {
                stamps.empty(fd, sends, clock);
                event
            }
            _ => event.failed(),
        }
    }
}

/// A socket as a carrier of bytes.
pub(super) struct PlainSocket<'a> {
    fd: &'a OwnedFd,
    ending: bool,
    stamping: Option<LineStamps<'a>>,
}

/// The time stamps of a socket.
struct LineStamps<'a> {
    stamps: &'a mut Stamps,
    /// The socket's sends, if departures are stamped.
    sends: Option<&'a mut Sends>,
    /// The clock to which time stamps are converted.
    clock: &'a ThreadClock,
}

impl Carrier for PlainSocket<'_> {
    #[inline(always)]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, IoError> {
        if let Some(stamping) = &mut self.stamping
            && let Some(sends) = &mut stamping.sends
        {
            return stamping.stamps.send(self.fd, sends, bytes, stamping.clock);
        }
        match retry_on_intr(|| send(self.fd, bytes, socket::SEND)) {
            Ok(sent) => Ok(sent),
            Err(Errno::AGAIN) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    #[inline(always)]
    fn receive(&mut self, buffer: &mut [u8]) -> Result<Received, IoError> {
        if let Some(stamping) = &mut self.stamping {
            let (stamps, clock) = (&mut *stamping.stamps, stamping.clock);
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

impl PlainSocket<'_> {
    /// Receives bytes to discard.
    pub(super) fn discard(self, scratch: &mut [u8]) -> Result<Received, IoError> {
        if let Some(LineStamps { stamps, clock, .. }) = self.stamping {
            return stamps.receive(self.fd, scratch, socket::DISCARD, clock);
        }
        let room = scratch.len();
        let result = retry_on_intr(|| recv(self.fd, &mut *scratch, socket::DISCARD));
        received(result.map(|(_, length)| length), room)
    }

    /// The departure of the last request that was begun.
    pub(super) fn departure(self) -> Option<Nanos> {
        let LineStamps {
            stamps,
            sends,
            clock,
        } = self.stamping?;
        stamps.departure(self.fd, sends?, clock)
    }
}

/// The result of a receive into `room` bytes. A short receive has drained the socket for now
/// (epoll(7), question 9; kqueue reports later bytes in the same way). It has not drained an end or
/// an error that an event has already reported, because no further event reports it.
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
