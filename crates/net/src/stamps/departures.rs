//! Departures: the times at which the first bytes of requests leave, by the kernel's stamps.
//!
//! A send asks for the stamp of its last byte, and the kernel puts that into the socket's error
//! queue when the device gets the segment. On the way through a device that takes segments at once,
//! as the loopback one, that is before the send returns: the queue is read behind each such send.
//! What comes later wakes the poller, or is found when the response is there.
//!
//! The kernel names a stamp by the number of its last byte, counted on the connection from the
//! moment at which departures were enabled. So [`Sends`] counts every byte that is sent from then
//! on, requests or not, and a stamp is taken only for the very send that waits for it: of two sends
//! that the kernel has merged into one segment the later one has the stamp.
//!
//! **Of which byte.** The stamp is that of the segment with the last byte of the send. What is
//! longer than [`FIRST_BYTES`] is sent in two parts, so that the stamp is of its beginning and not of
//! what had to wait for acknowledgements.
//!
//! **Not of all.** A stamp costs a system call and an allocation in the kernel. At more than
//! [`ASKED_PER_S`] requests a second of a thread one in N is asked for, by the rate of the last
//! [`WINDOW`].

use super::{Stamps, system};
use crate::socket::SEND;
use crate::thread_clock::ThreadClock;
use crate::{DepartureCounts, IoError};
use drumfire_units::Nanos;
use rustix::fd::OwnedFd;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::send;

/// The part of a request whose departure is that of its first byte: it leaves at once also where the
/// connection may have ten segments of a usual size under way (RFC 6928).
const FIRST_BYTES: usize = 4_096;

/// The departures that a thread asks for in a second.
const ASKED_PER_S: u64 = 20_000;

/// The span whose rate of requests tells how many of the next ones are asked for.
const WINDOW: Nanos = Nanos::from_millis(100);

/// The messages that are taken from an error queue at a time: it has one for each send.
const LOOKS: usize = 64;

/// The choice of the requests whose departures are asked for: one in N.
#[derive(Debug)]
pub(super) struct Asking {
    /// N of now.
    one_in: u64,
    /// Requests since the last that was asked for.
    passed: u64,
    /// Requests in this window.
    requests: u64,
    /// The beginning of the window.
    since: Nanos,
}

impl Default for Asking {
    fn default() -> Self {
        Self {
            one_in: 1,
            passed: 0,
            requests: 0,
            since: Nanos::ZERO,
        }
    }
}

impl Asking {
    /// Whether a request that is sent now is one of those.
    fn takes(&mut self, now: Nanos) -> bool {
        // The run's start sets the clock back to zero.
        let elapsed = match now >= self.since {
            true => now - self.since,
            false => WINDOW,
        };
        if elapsed >= WINDOW {
            let asked = u128::from(elapsed.0) * u128::from(ASKED_PER_S) / 1_000_000_000;
            self.one_in = self.requests.div_ceil(asked.max(1) as u64).max(1);
            (self.requests, self.since) = (0, now);
        }
        self.requests += 1;
        self.passed += 1;
        let takes = self.passed >= self.one_in;
        if takes {
            self.passed = 0;
        }
        takes
    }
}

/// The sends of one socket.
#[derive(Debug, Default)]
pub(crate) struct Sends {
    /// The number of the next byte, modulo 2^32 as the kernel counts.
    next: u32,
    /// Whether the next send begins a request.
    begins: bool,
    /// The send whose stamp has not come yet.
    awaited: Option<Awaited>,
    /// The departure of the last request that was begun.
    left: Option<Nanos>,
    /// Whether the socket has not taken all that it was given.
    is_full: bool,
}

/// A send whose stamp has not come yet.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    last: u32,
    /// The time just before it.
    handed_over: Nanos,
}

impl Sends {
    /// Makes the next send one that begins a request.
    pub(crate) const fn begin(&mut self) {
        self.begins = true;
    }

    /// Whether a send found less room than it needed since the last call.
    pub(crate) const fn take_full(&mut self) -> bool {
        std::mem::replace(&mut self.is_full, false)
    }

    /// Counts the bytes that a send of `wanted` has brought to the socket.
    fn count(&mut self, sent: Result<usize, Errno>, wanted: usize) -> Result<usize, IoError> {
        let sent = match sent {
            Ok(sent) => sent,
            Err(Errno::AGAIN) => 0,
            Err(error) => return Err(error.into()),
        };
        self.next = self.next.wrapping_add(sent as u32);
        self.is_full |= sent < wanted;
        Ok(sent)
    }
}

impl Stamps {
    /// The requests so far.
    pub(crate) const fn departures(&self) -> DepartureCounts {
        self.departures
    }

    /// Enables departures on a connection that has sent nothing; `None` where they are not asked
    /// for, or the system has none.
    pub(crate) fn enable_departures(&self, fd: &OwnedFd) -> Option<Box<Sends>> {
        let is_enabled = self.asking.is_some() && system::enable(fd, super::Stamped::Both);
        is_enabled.then(Box::default)
    }

    /// Sends what there is room for.
    pub(crate) fn send(
        &mut self,
        fd: &OwnedFd,
        sends: &mut Sends,
        bytes: &[u8],
        clock: &ThreadClock,
    ) -> Result<usize, IoError> {
        if std::mem::take(&mut sends.begins) && self.asks(sends, clock.now()) {
            return self.send_asking(fd, sends, bytes, clock);
        }
        sends.count(retry_on_intr(|| send(fd, bytes, SEND)), bytes.len())
    }

    /// Whether to ask for the departure of a request that is sent now.
    fn asks(&mut self, sends: &mut Sends, now: Nanos) -> bool {
        sends.left = None;
        self.give_up(sends);
        let asks = self.asking.as_mut().is_some_and(|asking| asking.takes(now));
        self.departures.passed += u64::from(!asks);
        asks
    }

    /// Sends the first bytes of a request, and asks for their departure; then the others.
    fn send_asking(
        &mut self,
        fd: &OwnedFd,
        sends: &mut Sends,
        bytes: &[u8],
        clock: &ThreadClock,
    ) -> Result<usize, IoError> {
        let (first, rest) = bytes.split_at(bytes.len().min(FIRST_BYTES));
        let handed_over = clock.now();
        let sent = retry_on_intr(|| system::send_asking(fd, first));
        let sent = sends.count(sent, first.len())?;
        if sent == 0 {
            // The request begins with a later send, which asks for nothing.
            self.departures.missing += 1;
            return Ok(0);
        }
        let last = sends.next.wrapping_sub(1);
        sends.awaited = Some(Awaited { last, handed_over });
        self.look(fd, sends, clock);
        if sent < first.len() || rest.is_empty() {
            return Ok(sent);
        }
        let further = retry_on_intr(|| send(fd, rest, SEND));
        Ok(sent + sends.count(further, rest.len())?)
    }

    /// Takes stamps from a socket's error queue until the awaited one is among them.
    fn look(&mut self, fd: &OwnedFd, sends: &mut Sends, clock: &ThreadClock) {
        for _ in 0..LOOKS {
            let Some(awaited) = sends.awaited else {
                return;
            };
            let left = match retry_on_intr(|| system::departure(fd)) {
                Ok(left) => left.filter(|left| left.last == awaited.last),
                Err(_) => return,
            };
            if let Some(left) = left {
                sends.awaited = None;
                sends.left = self.time_of(left.at, awaited.handed_over, clock);
                match sends.left {
                    Some(_) => self.departures.taken += 1,
                    None => self.departures.refused += 1,
                }
            }
        }
    }

    /// Empties a socket's error queue, which has woken the poller.
    #[cold]
    pub(crate) fn empty(&mut self, fd: &OwnedFd, sends: &mut Sends, clock: &ThreadClock) {
        self.look(fd, sends, clock);
        for _ in 0..LOOKS {
            if system::departure(fd).is_err() {
                return;
            }
        }
    }

    /// The departure of the last request that was begun on a socket, once; `None` where it is not
    /// known, and won't be.
    pub(crate) fn departure(
        &mut self,
        fd: &OwnedFd,
        sends: &mut Sends,
        clock: &ThreadClock,
    ) -> Option<Nanos> {
        self.look(fd, sends, clock);
        self.give_up(sends);
        sends.left.take()
    }

    /// Waits no more for a stamp.
    fn give_up(&mut self, sends: &mut Sends) {
        if sends.awaited.take().is_some() {
            self.departures.missing += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The requests of a second at a rate that are asked for.
    fn asked_at(asking: &mut Asking, from: Nanos, rate: u64) -> u64 {
        let times = (0..rate).map(|n| from + Nanos(n * 1_000_000_000 / rate));
        times.map(|now| u64::from(asking.takes(now))).sum()
    }

    #[test]
    fn all_are_asked_for_while_there_are_few() {
        let mut asking = Asking::default();
        for rate in [1, 3, 1_000, 20_000] {
            let asked = asked_at(&mut asking, Nanos::ZERO, rate);
            assert_eq!(asked, rate);
        }
    }

    #[test]
    fn one_in_n_is_asked_for_where_there_are_many() {
        let mut asking = Asking::default();
        let mut from = Nanos::ZERO;
        for (rate, one_in) in [(130_000, 7), (21_000, 2), (19_000, 1), (60_500, 4)] {
            // The windows of before and of the change know another rate.
            asked_at(&mut asking, from, rate);
            let asked = asked_at(&mut asking, from + Nanos::from_secs(1), rate);
            assert!((rate / one_in).abs_diff(asked) <= 2, "{asked} of {rate}");
            from += Nanos::from_secs(2);
        }
    }

    #[test]
    fn the_start_of_the_run_sets_the_clock_back() {
        let mut asking = Asking::default();
        asked_at(&mut asking, Nanos::from_secs(60), 130_000);
        assert!(asking.one_in > 1);
        asked_at(&mut asking, Nanos::ZERO, 1_000);
        assert_eq!(asking.one_in, 1);
    }
}
