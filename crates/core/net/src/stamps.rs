//! The kernel's time stamps of segments, converted to the run's clock: of received segments here,
//! of sent ones in `departures`.
//!
//! A thread that wakes late, or has a hundred sockets to read, reads a response some time after it
//! has arrived. The kernel has noted the arrival (`SO_TIMESTAMPING`, software receive stamps): a
//! socket with that option gets the time stamp with its bytes, as a control message of the same
//! call.
//!
//! **Which byte a stamp belongs to.** `tcp_recvmsg` returns the stamp of the last segment from
//! which it has copied bytes, and segments that the kernel has merged in its queue have the stamp
//! of the newest. So a stamp is right for the last byte of a read, and no earlier than any byte of
//! it: if the bytes came in several segments and are read at once, the first arrived earlier than
//! the stamp says. If a full buffer cut the read off, the stamp may be later than its last byte. It
//! is never later than the read.
//!
//! **Which clock it uses.** Stamps use the real-time clock, the run's times the monotonic one.
//! Slewing changes both alike; a step (setting the clock, a leap second) changes the real-time
//! clock alone. The difference between the two is read again with each anchor of the thread's
//! clock, at most half a millisecond of work old, and at once if a stamp is in the future. A stamp
//! that is still in the future then is refused: it was taken before or after a step. A step
//! backwards makes stamps too early; the engine detects stamps that are earlier than their request.
//!
//! **When the kernel begins.** It stamps segments only while some socket of the machine asks for it,
//! and begins a while after the first has asked: it rewrites its own code for that, in a work queue.
//! So a thread waits for the first stamp before the run starts ([`Witness`]), and asks until it ends.

mod departures;
mod system;
mod witness;

pub(crate) use departures::Sends;

use self::departures::Asking;
use self::witness::Witness;
use crate::clock::{monotonic, real_time};
use crate::thread_clock::ThreadClock;
use crate::tsc::look;
use crate::{DepartureCounts, IoError, Received, StampCounts};
use drumfire_units::Nanos;
use rustix::fd::OwnedFd;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::RecvFlags;
use std::ops::Range;

/// How far a stamp may be in the future: the error of the difference between the two clocks, and of
/// the counter between its anchors.
const TOLERANCE: Nanos = Nanos::from_micros(1);

/// Converts stamps to the run's time for one thread.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    /// The real-time clock's reading minus the monotonic clock's, modulo 2^64.
    distance: u64,
    counts: StampCounts,
    /// Which departures to request, if any.
    asking: Option<Asking>,
    departures: DepartureCounts,
    /// Keeps the kernel stamping between the run's connections.
    _witness: Option<Witness>,
}

/// The segments that the kernel is asked to stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stamped {
    /// Received segments.
    Received,
    /// The first segments of requests, too.
    Both,
}

impl Stamps {
    /// Creates the conversion with the clocks' current difference, once the kernel stamps segments
    /// or has had [`witness::PATIENCE`] for its first stamp.
    pub(crate) fn new(stamped: Stamped) -> Self {
        let mut stamps = Self {
            asking: (stamped == Stamped::Both).then(Asking::default),
            _witness: Witness::new(),
            ..Self::default()
        };
        stamps.follow();
        stamps
    }

    /// Reads the clocks' difference again.
    pub(crate) fn follow(&mut self) {
        if let Some((real, monotonic)) = look(real_time, || Some(monotonic())) {
            self.distance = real.wrapping_sub(monotonic);
        }
    }

    /// The receives so far.
    pub(crate) const fn counts(&self) -> StampCounts {
        self.counts
    }

    /// Receives with the stamp of the last segment.
    pub(crate) fn receive(
        &mut self,
        fd: &OwnedFd,
        buffer: &mut [u8],
        flags: RecvFlags,
        clock: &ThreadClock,
    ) -> Result<Received, IoError> {
        let room = buffer.len();
        match retry_on_intr(|| system::receive(fd, buffer, flags)) {
            Ok((0, _)) => Ok(Received::End),
            Ok((length, stamp)) => Ok(Received::Bytes {
                length,
                drained: length < room,
                arrived: self.arrival(stamp, clock),
            }),
            Err(Errno::AGAIN) => Ok(Received::Nothing),
            Err(error) => Err(error.into()),
        }
    }

    /// Converts a stamp of a receive to a time, and counts the stamp.
    fn arrival(&mut self, stamp: Option<u64>, clock: &ThreadClock) -> Option<Nanos> {
        let Some(stamp) = stamp else {
            self.counts.missing += 1;
            return None;
        };
        let at = self.time_of(stamp, Nanos::ZERO, clock);
        match at {
            Some(_) => self.counts.taken += 1,
            None => self.counts.refused += 1,
        }
        at
    }

    /// The time of a stamp that was taken between `from` and now; `None` if it is outside of that
    /// span even by the clocks' current difference.
    fn time_of(&mut self, stamp: u64, from: Nanos, clock: &ThreadClock) -> Option<Nanos> {
        let span = from..clock.now();
        let at = place(stamp, self.distance.wrapping_add(clock.epoch()), &span);
        at.or_else(|| {
            self.follow();
            place(stamp, self.distance.wrapping_add(clock.epoch()), &span)
        })
    }
}

/// The time of a stamp since an epoch, given the real time of the epoch; `None` if it is outside of
/// the span. A stamp before the epoch, as of a server's greeting, is placed at the epoch.
fn place(stamp: u64, epoch: u64, span: &Range<Nanos>) -> Option<Nanos> {
    let since = stamp.wrapping_sub(epoch).cast_signed();
    let at = Nanos(since.max(0).cast_unsigned());
    let is_within = at + TOLERANCE >= span.start && at <= span.end + TOLERANCE;
    is_within.then(|| at.max(span.start).min(span.end))
}

/// Enables stamps of received segments on a socket; returns whether the system has them.
pub(crate) fn enable(fd: &OwnedFd) -> bool {
    system::enable(fd, Stamped::Received)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The real time of some epoch.
    const EPOCH: u64 = 1_770_000_000_000_000_000;

    #[test]
    fn a_stamp_lies_between_the_epoch_and_the_present() {
        let now = Nanos(5_000_000);
        for (stamp, at) in [
            (EPOCH + 3_000_000, Some(3_000_000)),
            (EPOCH, Some(0)),
            (EPOCH - 20_000, Some(0)),
            // Two clocks are never read at the same moment.
            (EPOCH + now.0 + 900, Some(now.0)),
            // The clock was set forward: the stamp is that far in the future.
            (EPOCH + now.0 + 1_001, None),
            (EPOCH + 3_600_000_000_000, None),
        ] {
            let placed = place(stamp, EPOCH, &(Nanos::ZERO..now));
            assert_eq!(placed, at.map(Nanos), "{stamp}");
        }
    }

    #[test]
    fn an_epoch_may_lie_before_that_of_the_real_clock() {
        let epoch = 0_u64.wrapping_sub(1_000);
        let span = Nanos::ZERO..Nanos(2_000);
        assert_eq!(place(500, epoch, &span), Some(Nanos(1_500)));
    }

    #[test]
    fn bytes_leave_after_they_were_handed_over() {
        let span = Nanos(3_000_000)..Nanos(3_004_000);
        for (stamp, at) in [
            (EPOCH + 3_002_000, Some(3_002_000)),
            (EPOCH + 2_999_100, Some(3_000_000)),
            // The clock was set back between the send and the departure.
            (EPOCH + 2_998_999, None),
            (EPOCH - 5_000, None),
            (EPOCH + 3_005_001, None),
        ] {
            assert_eq!(place(stamp, EPOCH, &span), at.map(Nanos), "{stamp}");
        }
    }

    #[test]
    fn the_distance_is_that_of_the_clocks() {
        let stamps = Stamps::new(Stamped::Received);
        let (early, real, late) = (monotonic(), real_time(), monotonic());
        // If the thread is descheduled between the readings, the bounds get wider but never wrong.
        // This test does not cover a change of the clock while it runs.
        let slack = 2_000;
        let at = real.wrapping_sub(stamps.distance);
        assert!(
            early.saturating_sub(slack) <= at && at <= late + slack,
            "{early} {at} {late}"
        );
    }
}
