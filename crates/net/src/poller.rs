//! Which sockets are ready, from the kernel: one queue for each worker thread.
//!
//! A socket is added once, for everything, and events come when something changes (edges). What
//! differs between systems lies in the two files below; they have the same functions.

#[cfg(target_os = "linux")]
mod epoll;
#[cfg(not(target_os = "linux"))]
mod kqueue;

#[cfg(target_os = "linux")]
pub(crate) use epoll::Poller;
#[cfg(not(target_os = "linux"))]
pub(crate) use kqueue::Poller;

use crate::Fault;
use drumfire_units::Nanos;
use rustix::io::Errno;
use rustix::time::Timespec;

/// How many ready sockets one wait reports: enough to share its cost, few enough that the last of
/// them is not kept waiting.
const BATCH: usize = 128;

/// What one wait says of one socket; no socket occurs twice.
#[expect(clippy::struct_excessive_bools, reason = "four independent facts")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// What the socket was added with.
    pub(crate) token: u64,
    /// There are bytes, an end, or an error.
    pub(crate) readable: bool,
    /// There is room, or an error.
    pub(crate) writable: bool,
    /// The peer sends no more.
    pub(crate) peer_closed: bool,
    /// The socket has an error, or both directions are closed.
    pub(crate) broken: bool,
}

/// A span as the kernel takes it.
fn timespec(span: Nanos) -> Timespec {
    Timespec {
        tv_sec: (span.0 / 1_000_000_000) as i64,
        tv_nsec: (span.0 % 1_000_000_000) as i64,
    }
}

/// What a failure of the queue's own calls is.
fn fault(call: &'static str) -> impl FnOnce(Errno) -> Fault {
    move |errno| Fault {
        call,
        reason: errno.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fd::OwnedFd;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    const TOKEN: u64 = 7 << 32 | 5;

    fn watched() -> (Poller, OwnedFd, OwnedFd) {
        let kind = (AddressFamily::UNIX, SocketType::STREAM);
        let (near, far) = socketpair(kind.0, kind.1, SocketFlags::empty(), None).unwrap();
        let poller = Poller::new().unwrap();
        poller.add(&near, TOKEN).unwrap();
        (poller, near, far)
    }

    /// The next wait's events.
    fn next(poller: &mut Poller) -> Vec<Event> {
        poller.wait(Some(Nanos::ZERO)).unwrap().collect()
    }

    fn only(poller: &mut Poller) -> Event {
        let events = next(poller);
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(events[0].token, TOKEN);
        events[0]
    }

    #[test]
    fn room_is_told_once_and_bytes_when_they_come() {
        let (mut poller, _near, far) = watched();
        let room = only(&mut poller);
        assert!(room.writable && !room.readable && !room.peer_closed && !room.broken);
        assert_eq!(next(&mut poller), []);
        rustix::io::write(&far, b"one").unwrap();
        assert!(only(&mut poller).readable);
        assert_eq!(next(&mut poller), [], "an edge, not a level");
        rustix::io::write(&far, b"two").unwrap();
        let bytes = only(&mut poller);
        assert!(bytes.readable && !bytes.peer_closed && !bytes.broken);
    }

    #[test]
    fn the_end_of_a_peer_is_one_event() {
        let (mut poller, _near, far) = watched();
        drop(far);
        let end = only(&mut poller);
        assert!(end.readable && end.peer_closed, "{end:?}");
    }

    #[test]
    fn a_closed_socket_is_forgotten_and_a_wait_ends_in_time() {
        let (mut poller, near, far) = watched();
        drop(near);
        drop(far);
        assert_eq!(poller.wait(Some(Nanos::from_millis(1))).unwrap().count(), 0);
    }
}
