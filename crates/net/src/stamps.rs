//! The kernel's stamps of segments, on the run's clock: of those that are received here, of those
//! that leave in `departures`.
//!
//! A thread that wakes late, or has a hundred sockets to read, gets to a response after it has
//! come. The kernel has noted when (`SO_TIMESTAMPING`, software receive stamps): a socket that asks
//! for it gets the stamp with its bytes, as a control message of the same call.
//!
//! **What a stamp is of.** `tcp_recvmsg` gives the stamp of the last segment of which it has copied
//! bytes, and segments that the kernel has merged in its queue have that of the newest. So a stamp
//! is right for the last byte of a read, and no earlier than any byte of it: of bytes that came in
//! several segments and are read at once, the first came earlier than the stamp says. It may be
//! later than the last byte of a read that was cut off by a full buffer. It is never later than the
//! read.
//!
//! **Whose time it is.** Stamps are of the real-time clock, the run's times of the monotonic one.
//! Slewing moves both alike; a step (a clock that is set, a leap second) moves the real one alone.
//! Their distance is read again with each anchor of the thread's clock, at most half a millisecond
//! of work old, and at once where a stamp lies beyond the present. One that still does is refused:
//! it was taken on the other side of a step. A step backwards makes stamps too early; the engine
//! finds those that lie before their request.

mod departures;
mod system;

pub(crate) use departures::Sends;

use self::departures::Asking;
use crate::clock::{monotonic, real_time};
use crate::thread_clock::ThreadClock;
use crate::tsc::look;
use crate::{DepartureCounts, IoError, Received, StampCounts};
use drumfire_units::Nanos;
use rustix::fd::OwnedFd;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::RecvFlags;
use std::ops::Range;

/// By how much a stamp may lie beyond the present: the error of the two clocks' distance, and of
/// the counter between its anchors.
const TOLERANCE: Nanos = Nanos::from_micros(1);

/// A thread's way from stamps to the run's time.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    /// The real-time clock's reading less the monotonic one's, modulo 2^64.
    distance: u64,
    counts: StampCounts,
    /// The departures that are asked for, where any are.
    asking: Option<Asking>,
    departures: DepartureCounts,
}

/// The segments that the kernel is asked to stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stamped {
    /// Those that are received.
    Received,
    /// The first ones of requests too.
    Both,
}

impl Stamps {
    /// With the clocks' present distance.
    pub(crate) fn new(stamped: Stamped) -> Self {
        let mut stamps = Self {
            asking: (stamped == Stamped::Both).then(Asking::default),
            ..Self::default()
        };
        stamps.follow();
        stamps
    }

    /// Reads the clocks' distance again.
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

    /// The time of a stamp, counted as what it is.
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

    /// The time of a stamp that was taken between `from` and the present; `None` where it lies
    /// elsewhere, also by the clocks' distance of now.
    fn time_of(&mut self, stamp: u64, from: Nanos, clock: &ThreadClock) -> Option<Nanos> {
        let span = from..clock.now();
        let at = place(stamp, self.distance.wrapping_add(clock.epoch()), &span);
        at.or_else(|| {
            self.follow();
            place(stamp, self.distance.wrapping_add(clock.epoch()), &span)
        })
    }
}

/// The time of a stamp since an epoch, whose real time this is; `None` for what lies outside of the
/// span. What lies before the epoch, as a server's greeting may, is at the epoch.
fn place(stamp: u64, epoch: u64, span: &Range<Nanos>) -> Option<Nanos> {
    let since = stamp.wrapping_sub(epoch).cast_signed();
    let at = Nanos(since.max(0).cast_unsigned());
    let is_within = at + TOLERANCE >= span.start && at <= span.end + TOLERANCE;
    is_within.then(|| at.max(span.start).min(span.end))
}

/// Asks for stamps of what a socket receives; whether the system has them.
pub(crate) fn enable(fd: &OwnedFd) -> bool {
    system::enable(fd, Stamped::Received)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some real time of an epoch.
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
            // The clock was set forward: by that much the stamp lies beyond the present.
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
            // The clock was set back between the hand-over and the departure.
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
        // A thread that is put aside between the readings makes the bounds wider, never wrong; a
        // clock that is set within this test is no matter of it.
        let slack = 2_000;
        let at = real.wrapping_sub(stamps.distance);
        assert!(
            early.saturating_sub(slack) <= at && at <= late + slack,
            "{early} {at} {late}"
        );
    }
}
