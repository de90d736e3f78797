//! Departures: the times at which the first bytes of requests leave, by the kernel's stamps.
//!
//! A send requests the stamp of its last byte, and the kernel puts it into the socket's error queue
//! when the device gets the segment. A device that takes segments at once, such as the loopback
//! one, does so before the send returns: the queue is read after each such send. Later stamps wake
//! the poller, or are read after the response has arrived.
//!
//! The kernel identifies a stamp by the number of its last byte, counted on the connection from the
//! moment at which departures were enabled. So [`Sends`] counts every byte that is sent from then
//! on, whether or not it belongs to a request, and a stamp is used only for exactly the send that
//! waits for it: if the kernel has merged two sends into one segment, the later one gets the stamp.
//!
//! **Which byte it belongs to.** The stamp belongs to the segment with the last byte of the send. A
//! request longer than [`FIRST_BYTES`] is sent in two parts, so that the stamp belongs to its
//! beginning and not to bytes that had to wait for acknowledgements.
//!
//! **Not for every request.** A stamp costs a system call and an allocation in the kernel. If a
//! thread sends more than [`ASKED_PER_S`] requests a second, it requests one in N, based on the
//! rate of the last [`WINDOW`].

use super::{Stamps, system};
use crate::socket::SEND;
use crate::thread_clock::ThreadClock;
use crate::{DepartureCounts, IoError};
use drumfire_units::Nanos;
use rustix::fd::OwnedFd;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::send;

/// The part of a request that has the same departure as its first byte: it leaves at once even if
/// the connection may have only ten segments of a usual size in flight (RFC 6928).
const FIRST_BYTES: usize = 4_096;

/// The departures that a thread requests per second.
const ASKED_PER_S: u64 = 20_000;

/// The time span whose rate of requests determines how many of the next ones are requested.
const WINDOW: Nanos = Nanos::from_millis(100);

/// How many messages are read from an error queue at a time: it contains one for each send.
const LOOKS: usize = 64;

/// Chooses the requests whose departures are requested: one in N.
#[derive(Debug)]
pub(super) struct Asking {
    /// The current N.
    one_in: u64,
    /// Requests since the last one that was chosen.
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
    /// Whether a request that is sent now is chosen.
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
    /// The number of the next byte, modulo 2^32, as the kernel counts.
    next: u32,
    /// Whether the next send begins a request.
    begins: bool,
    /// The send that waits for its stamp.
    awaited: Option<AwaitedStamp>,
    /// The departure of the last request that was begun.
    left: Option<Nanos>,
    /// Whether the socket has not accepted all bytes that it was given.
    is_full: bool,
}

/// A send that waits for its stamp.
#[derive(Clone, Copy, Debug)]
struct AwaitedStamp {
    last: u32,
    /// The time just before the send.
    handed_over: Nanos,
}

impl Sends {
    /// Marks the next send as the beginning of a request.
    pub(crate) const fn start_request(&mut self) {
        self.begins = true;
    }

    /// Whether a send found too little room since the last call.
    pub(crate) const fn take_full(&mut self) -> bool {
        std::mem::replace(&mut self.is_full, false)
    }

    /// Counts the bytes that a send of `wanted` bytes has delivered to the socket.
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

    /// Enables departures on a connection that has sent nothing; `None` if they are not requested,
    /// or the system does not have them.
    pub(crate) fn enable_departures(&self, fd: &OwnedFd) -> Option<Box<Sends>> {
        let is_enabled = self.asking.is_some() && system::enable(fd, super::Stamped::Both);
        is_enabled.then(Box::default)
    }

    /// Sends as much as there is room for.
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

    /// Whether to request the departure of a request that is sent now.
    fn asks(&mut self, sends: &mut Sends, now: Nanos) -> bool {
        sends.left = None;
        self.give_up(sends);
        let asks = self.asking.as_mut().is_some_and(|asking| asking.takes(now));
        self.departures.passed += u64::from(!asks);
        asks
    }

    /// Sends the first bytes of a request with a request for their departure; then sends the
    /// others.
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
            // A later send begins the request, and requests no stamp.
            self.departures.missing += 1;
            return Ok(0);
        }
        let last = sends.next.wrapping_sub(1);
        sends.awaited = Some(AwaitedStamp { last, handed_over });
        self.look(fd, sends, clock);
        if sent < first.len() || rest.is_empty() {
            return Ok(sent);
        }
        let further = retry_on_intr(|| send(fd, rest, SEND));
        Ok(sent + sends.count(further, rest.len())?)
    }

    /// Reads stamps from a socket's error queue until the awaited one is found.
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

    /// The departure of the last request that was begun on a socket, returned once; `None` if it is
    /// unknown, and will stay so.
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

    /// Stops waiting for a stamp.
    fn give_up(&mut self, sends: &mut Sends) {
        if sends.awaited.take().is_some() {
            self.departures.missing += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many departures are requested in a second at a rate.
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
            // The windows before and during the change see another rate.
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
