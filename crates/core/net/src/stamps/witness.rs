//! A socket that waits until the kernel stamps segments.

use super::{Stamped, system};
use rustix::fd::OwnedFd;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{RecvFlags, SendFlags, send};
use std::net::{Ipv4Addr, UdpSocket};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long the kernel has for its first stamp: it needs less than a millisecond on an idle machine,
/// and a core for its work queue on a busy one. A run on a system that takes the option and stamps
/// nothing starts this much later.
pub(super) const PATIENCE: Duration = Duration::from_millis(500);

/// The pause between two looks.
const PAUSE: Duration = Duration::from_micros(200);

/// A datagram socket on the loopback device that is connected to itself and asks for stamps.
#[derive(Debug)]
pub(super) struct Witness(OwnedFd);

impl Witness {
    /// Asks for stamps, and waits until one has come or [`PATIENCE`] is over; `None` if the system
    /// provides none, or has no loopback address.
    pub(super) fn new() -> Option<Self> {
        let witness = Self::connected().ok()?;
        let is_stamped = system::enable(&witness.0, Stamped::Received) && witness.waits();
        is_stamped.then_some(witness)
    }

    /// A socket that receives what it sends.
    fn connected() -> std::io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(socket.local_addr()?)?;
        socket.set_nonblocking(true)?;
        Ok(Self(socket.into()))
    }

    /// Sends itself datagrams until one has a stamp; returns whether one had.
    fn waits(&self) -> bool {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            match self.is_stamped() {
                Ok(true) => return true,
                Ok(false) | Err(Errno::AGAIN) => sleep(PAUSE),
                Err(_) => return false,
            }
        }
        false
    }

    /// Sends a datagram, and receives one with or without a stamp.
    fn is_stamped(&self) -> Result<bool, Errno> {
        retry_on_intr(|| send(&self.0, &[0], SendFlags::empty()))?;
        let mut byte = [0];
        let receive = || system::receive(&self.0, &mut byte, RecvFlags::empty());
        retry_on_intr(receive).map(|(_, stamp)| stamp.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_follows_is_stamped() {
        // A system without stamps has no witness.
        let witness = Witness::new();
        for _ in 0..100 {
            let stamped = witness.as_ref().map(Witness::is_stamped);
            assert_eq!(stamped.unwrap_or(Ok(true)), Ok(true));
        }
    }
}
