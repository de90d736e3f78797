//! The kernel's stamps of received segments, on the run's clock.
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

use crate::clock::{monotonic, real_time};
use crate::thread_clock::ThreadClock;
use crate::tsc::look;
use crate::{IoError, Received};
use drumfire_units::Nanos;
use rustix::fd::OwnedFd;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::RecvFlags;

/// By how much a stamp may lie beyond the present: the error of the two clocks' distance, and of
/// the counter between its anchors.
const TOLERANCE: Nanos = Nanos::from_micros(1);

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

/// A thread's way from stamps to the run's time.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    /// The real-time clock's reading less the monotonic one's, modulo 2^64.
    distance: u64,
    counts: StampCounts,
}

impl Stamps {
    /// With the clocks' present distance.
    pub(crate) fn new() -> Self {
        let mut stamps = Self::default();
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
        let now = clock.now();
        let mut at = place(stamp, self.distance.wrapping_add(clock.epoch()), now);
        if at.is_none() {
            self.follow();
            at = place(stamp, self.distance.wrapping_add(clock.epoch()), now);
        }
        match at {
            Some(_) => self.counts.taken += 1,
            None => self.counts.refused += 1,
        }
        at
    }
}

/// The time of a stamp since an epoch, whose real time this is; the epoch for what lies before it,
/// as a server's greeting may, and `None` for what lies beyond `now`.
fn place(stamp: u64, epoch: u64, now: Nanos) -> Option<Nanos> {
    let since = stamp.wrapping_sub(epoch).cast_signed();
    let at = Nanos(since.max(0).cast_unsigned());
    (at <= now + TOLERANCE).then_some(at.min(now))
}

/// Asks for stamps of what a socket receives; whether the system has them.
pub(crate) fn enable(fd: &OwnedFd) -> bool {
    system::enable(fd)
}

/// The calls that the crate rustix does not know.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[expect(
    unsafe_code,
    reason = "rustix knows neither option nor control message"
)]
mod system {
    use crate::error::last_errno;
    use rustix::fd::{AsRawFd as _, OwnedFd};
    use rustix::io::Errno;
    use rustix::net::RecvFlags;

    /// Room for one control message of three times, and for its header.
    const CONTROL_BYTES: usize = 128;

    /// A buffer for control messages, aligned as their headers are.
    #[repr(C, align(8))]
    struct Control([u8; CONTROL_BYTES]);

    const _: () = assert!(align_of::<Control>() >= align_of::<libc::cmsghdr>());

    /// The stamps of the kernel's own software, of what is received.
    const WANTED: libc::c_uint =
        libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;

    pub(super) fn enable(fd: &OwnedFd) -> bool {
        let wanted = WANTED;
        // SAFETY: the descriptor is open, and the option's value is one int of the size given.
        let result = unsafe {
            libc::setsockopt(
                fd.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_TIMESTAMPING,
                (&raw const wanted).cast(),
                size_of::<libc::c_uint>() as libc::socklen_t,
            )
        };
        result == 0
    }

    /// Receives bytes, and the stamp of the last segment in nanoseconds of the real-time clock.
    pub(super) fn receive(
        fd: &OwnedFd,
        buffer: &mut [u8],
        flags: RecvFlags,
    ) -> Result<(usize, Option<u64>), Errno> {
        let mut part = libc::iovec {
            iov_base: buffer.as_mut_ptr().cast(),
            iov_len: buffer.len(),
        };
        let mut control = Control([0; CONTROL_BYTES]);
        // SAFETY: a msghdr is numbers and pointers, for which zeros are values.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = (&raw mut control.0).cast();
        message.msg_controllen = fitting(CONTROL_BYTES);
        // SAFETY: the descriptor is open; buffer, part and control outlive the call, which writes
        // to no more of them than the lengths given.
        let length = unsafe {
            libc::recvmsg(
                fd.as_raw_fd(),
                &raw mut message,
                flags.bits() as libc::c_int,
            )
        };
        match usize::try_from(length) {
            Ok(length) => Ok((length, stamp_of(&message))),
            Err(_) => Err(last_errno()),
        }
    }

    /// A length in the type that this system's headers have for it.
    fn fitting<T: TryFrom<usize> + Default>(length: usize) -> T {
        T::try_from(length).unwrap_or_default()
    }

    /// The stamp among the control messages of a received message.
    fn stamp_of(message: &libc::msghdr) -> Option<u64> {
        if message.msg_flags & libc::MSG_CTRUNC != 0 {
            return None;
        }
        // SAFETY: the kernel has filled the control buffer and set its length; the macros stay
        // within it.
        let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
        while !header.is_null() {
            // SAFETY: the macros give aligned headers within the control buffer.
            let found = unsafe { &*header };
            if found.cmsg_level == libc::SOL_SOCKET && found.cmsg_type == libc::SCM_TIMESTAMPING {
                // SAFETY: the data of this message are three times (socket(7)), none of which was
                // cut off. They need not be aligned.
                let time = unsafe {
                    let data = libc::CMSG_DATA(header).cast::<libc::timespec>();
                    data.read_unaligned()
                };
                let stamp = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
                // Zero is the kernel's word for none.
                return (stamp > 0).then_some(stamp);
            }
            // SAFETY: as for the first.
            header = unsafe { libc::CMSG_NXTHDR(message, header) };
        }
        None
    }
}

/// Other systems have no stamps of streams.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
mod system {
    use rustix::fd::OwnedFd;
    use rustix::io::Errno;
    use rustix::net::{RecvFlags, recv};

    pub(super) const fn enable(_: &OwnedFd) -> bool {
        false
    }

    pub(super) fn receive(
        fd: &OwnedFd,
        buffer: &mut [u8],
        flags: RecvFlags,
    ) -> Result<(usize, Option<u64>), Errno> {
        recv(fd, buffer, flags).map(|(_, length)| (length, None))
    }
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
            assert_eq!(place(stamp, EPOCH, now), at.map(Nanos), "{stamp}");
        }
    }

    #[test]
    fn an_epoch_may_lie_before_that_of_the_real_clock() {
        let epoch = 0_u64.wrapping_sub(1_000);
        assert_eq!(place(500, epoch, Nanos(2_000)), Some(Nanos(1_500)));
    }

    #[test]
    fn the_distance_is_that_of_the_clocks() {
        let stamps = Stamps::new();
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
