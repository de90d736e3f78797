//! The system calls for stamps.

use super::Stamped;

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
pub(super) use elsewhere::{departure, enable, receive, send_asking};
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub(super) use linux::{departure, enable, receive, send_asking};

/// A departure: bytes up to this one, counted from 0 modulo 2^32, left at this time of the real-time
/// clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) last: u32,
    pub(crate) at: u64,
}

/// The calls that the crate rustix does not provide.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[expect(
    unsafe_code,
    reason = "rustix knows neither option nor control message"
)]
mod linux {
    use super::{Left, Stamped};
    use crate::error::last_errno;
    use crate::socket::SEND;
    use rustix::fd::{AsRawFd as _, OwnedFd};
    use rustix::io::Errno;
    use rustix::net::RecvFlags;

    /// Room for a control message with three times, for one of an error with an address, and for
    /// their headers.
    const CONTROL_BYTES: usize = 192;

    /// The stamp of the hand-over to the device (linux/errqueue.h).
    const SCM_TSTAMP_SND: u32 = 0;

    /// A buffer for control messages, aligned like their headers.
    #[repr(C, align(8))]
    struct Control([u8; CONTROL_BYTES]);

    const _: () = assert!(align_of::<Control>() >= align_of::<libc::cmsghdr>());

    /// The stamps of received segments, taken by the kernel's own software.
    const RECEIVED: libc::c_uint =
        libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;

    /// Stamps of sent segments come without the bytes, and with the number of the last byte. Each
    /// send requests its stamp separately.
    const DEPARTURES: libc::c_uint =
        RECEIVED | libc::SOF_TIMESTAMPING_OPT_ID | libc::SOF_TIMESTAMPING_OPT_TSONLY;

    pub(crate) fn enable(fd: &OwnedFd, stamped: Stamped) -> bool {
        match stamped {
            Stamped::Received => set(fd, RECEIVED),
            // The kernel counts bytes from the first one that was unacknowledged when the option
            // was set, or from the next one to be sent (since Linux 6.2): these are the same on a
            // connection that has sent nothing.
            Stamped::Both => {
                set(fd, DEPARTURES | libc::SOF_TIMESTAMPING_OPT_ID_TCP) || set(fd, DEPARTURES)
            }
        }
    }

    fn set(fd: &OwnedFd, wanted: libc::c_uint) -> bool {
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

    /// Sends bytes, and requests the stamp of the segment that contains the last of them.
    pub(crate) fn send_asking(fd: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
        let mut part = libc::iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: bytes.len(),
        };
        let wanted = libc::SOF_TIMESTAMPING_TX_SOFTWARE;
        let mut control = Control([0; CONTROL_BYTES]);
        let mut message = message(&mut control);
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        // SAFETY: the macros compute, and stay within the control buffer, which has room for one
        // message of an int.
        unsafe {
            message.msg_controllen = fitting(libc::CMSG_SPACE(4) as usize);
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SO_TIMESTAMPING;
            (*header).cmsg_len = fitting(libc::CMSG_LEN(4) as usize);
            libc::CMSG_DATA(header)
                .cast::<u32>()
                .write_unaligned(wanted);
        }
        // SAFETY: the descriptor is open; bytes, part and control outlive the call, which writes to
        // none of them.
        let sent = unsafe {
            libc::sendmsg(
                fd.as_raw_fd(),
                &raw const message,
                SEND.bits() as libc::c_int,
            )
        };
        usize::try_from(sent).map_err(|_| last_errno())
    }

    /// Reads the next message of a socket's error queue; `None` if it is not a departure.
    pub(crate) fn departure(fd: &OwnedFd) -> Result<Option<Left>, Errno> {
        let mut control = Control([0; CONTROL_BYTES]);
        let mut message = message(&mut control);
        // SAFETY: as of `receive`; the message takes no bytes.
        let length = unsafe {
            libc::recvmsg(
                fd.as_raw_fd(),
                &raw mut message,
                libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT,
            )
        };
        if length < 0 {
            return Err(last_errno());
        }
        let at = stamp_of(&message);
        Ok(number_of(&message)
            .zip(at)
            .map(|(last, at)| Left { last, at }))
    }

    /// A message of no bytes with this room for control messages.
    fn message(control: &mut Control) -> libc::msghdr {
        // SAFETY: a msghdr is numbers and pointers, for which zeros are values.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_control = (&raw mut control.0).cast();
        message.msg_controllen = fitting(CONTROL_BYTES);
        message
    }

    /// Receives bytes, and the stamp of the last segment in nanoseconds of the real-time clock.
    pub(crate) fn receive(
        fd: &OwnedFd,
        buffer: &mut [u8],
        flags: RecvFlags,
    ) -> Result<(usize, Option<u64>), Errno> {
        let mut part = libc::iovec {
            iov_base: buffer.as_mut_ptr().cast(),
            iov_len: buffer.len(),
        };
        let mut control = Control([0; CONTROL_BYTES]);
        let mut message = message(&mut control);
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
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

    /// A length in the type that this system's headers use.
    fn fitting<T: TryFrom<usize> + Default>(length: usize) -> T {
        T::try_from(length).unwrap_or_default()
    }

    /// The stamp among the control messages of a received message.
    fn stamp_of(message: &libc::msghdr) -> Option<u64> {
        let is_stamp = |header: &libc::cmsghdr| {
            header.cmsg_level == libc::SOL_SOCKET && header.cmsg_type == libc::SCM_TIMESTAMPING
        };
        let data = find(message, is_stamp)?;
        // SAFETY: the data of this message are three times (socket(7)), none of which was cut off.
        // They need not be aligned.
        let time = unsafe { data.cast::<libc::timespec>().read_unaligned() };
        let stamp = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
        // The kernel uses zero for "no stamp".
        (stamp > 0).then_some(stamp)
    }

    /// The number of the last byte whose departure a message of the error queue reports.
    fn number_of(message: &libc::msghdr) -> Option<u32> {
        let is_error = |header: &libc::cmsghdr| {
            let kind = (header.cmsg_level, header.cmsg_type);
            kind == (libc::SOL_IP, libc::IP_RECVERR) || kind == (libc::SOL_IPV6, libc::IPV6_RECVERR)
        };
        let data = find(message, is_error)?;
        // SAFETY: the data of this message begin with an extended error (ip(7)), of which nothing
        // was cut off. It need not be aligned.
        let error = unsafe { data.cast::<libc::sock_extended_err>().read_unaligned() };
        let is_departure =
            error.ee_origin == libc::SO_EE_ORIGIN_TIMESTAMPING && error.ee_info == SCM_TSTAMP_SND;
        is_departure.then_some(error.ee_data)
    }

    /// The data of the first control message that `is_wanted`.
    fn find(
        message: &libc::msghdr,
        is_wanted: impl Fn(&libc::cmsghdr) -> bool,
    ) -> Option<*const u8> {
        if message.msg_flags & libc::MSG_CTRUNC != 0 {
            return None;
        }
        // SAFETY: the kernel has filled the control buffer and set its length; the macros stay
        // within it.
        let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
        while !header.is_null() {
            // SAFETY: the macros give aligned headers within the control buffer.
            if is_wanted(unsafe { &*header }) {
                // SAFETY: as for the header.
                return Some(unsafe { libc::CMSG_DATA(header) });
            }
            // SAFETY: as for the first.
            header = unsafe { libc::CMSG_NXTHDR(message, header) };
        }
        None
    }
}

/// Other systems have no stamps for streams.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
mod elsewhere {
    use super::{Left, Stamped};
    use crate::socket::SEND;
    use rustix::fd::OwnedFd;
    use rustix::io::Errno;
    use rustix::net::{RecvFlags, recv, send};

    pub(crate) const fn enable(_: &OwnedFd, _: Stamped) -> bool {
        false
    }

    pub(crate) fn send_asking(fd: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
        send(fd, bytes, SEND)
    }

    pub(crate) const fn departure(_: &OwnedFd) -> Result<Option<Left>, Errno> {
        Err(Errno::AGAIN)
    }

    pub(crate) fn receive(
        fd: &OwnedFd,
        buffer: &mut [u8],
        flags: RecvFlags,
    ) -> Result<(usize, Option<u64>), Errno> {
        recv(fd, buffer, flags).map(|(_, length)| (length, None))
    }
}
