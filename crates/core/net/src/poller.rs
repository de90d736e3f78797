//! Which sockets are ready, according to the kernel: one queue for each worker thread.
//!
//! A socket is added once, for all events, and events are reported when something changes (edges).
//! Two files with the same functions contain the differences between systems.

#[cfg(target_os = "linux")]
mod epoll;
#[cfg(not(target_os = "linux"))]
mod kqueue;

#[cfg(target_os = "linux")]
pub(crate) use epoll::Poller;
#[cfg(not(target_os = "linux"))]
pub(crate) use kqueue::Poller;

use drumfire_units::Nanos;
use rustix::time::Timespec;

/// The token of the event by which another thread ends a wait; no socket has it.
const WAKE: u64 = u64::MAX;

/// How many ready sockets one wait reports: enough to share its cost, few enough that the last one
/// does not have to wait.
const BATCH: usize = 128;

/// The readiness of one socket after one wait; no socket occurs twice.
#[expect(clippy::struct_excessive_bools, reason = "five independent facts")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// The token that the socket was added with.
    pub(crate) token: u64,
    /// The socket has bytes, an end, or an error.
    pub(crate) readable: bool,
    /// The socket has room, or an error.
    pub(crate) writable: bool,
    /// The peer sends no more.
    pub(crate) peer_closed: bool,
    /// Both directions are closed.
    pub(crate) broken: bool,
    /// The socket has an error, or a message in its error queue.
    pub(crate) error: bool,
}

impl Event {
    /// The event of a socket that has an error: all of its operations report it.
    pub(crate) const fn failed(self) -> Self {
        Self {
            readable: true,
            writable: true,
            peer_closed: true,
            broken: true,
            ..self
        }
    }
}

/// Whether a socket is watched for room to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// The socket is watched.
    Watched,
    /// The socket is not watched: a send that finds too little room has to request it.
    Unwatched,
}

/// Converts a duration to the kernel's type.
fn timespec(span: Nanos) -> Timespec {
    Timespec {
        tv_sec: (span.0 / 1_000_000_000) as i64,
        tv_nsec: (span.0 % 1_000_000_000) as i64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Clock;
    use rustix::fd::OwnedFd;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    const TOKEN: u64 = 7 << 32 | 5;

    /// A queue of each kind that this system has, and a pair of sockets of which it watches one.
    fn watched() -> Vec<(Poller, OwnedFd, OwnedFd)> {
        Poller::each().into_iter().map(watching).collect()
    }

    fn watching(poller: Poller) -> (Poller, OwnedFd, OwnedFd) {
        let kind = (AddressFamily::UNIX, SocketType::STREAM);
        let (near, far) = socketpair(kind.0, kind.1, SocketFlags::empty(), None).unwrap();
        poller.add(&near, TOKEN).unwrap();
        (poller, near, far)
    }

    /// The events of the next wait.
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
        for (mut poller, _near, far) in watched() {
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
    }

    #[test]
    fn the_end_of_a_peer_is_one_event() {
        for (mut poller, _near, far) in watched() {
            drop(far);
            let end = only(&mut poller);
            assert!(end.readable && end.peer_closed, "{end:?}");
        }
    }

    /// For waits of any length: they use different system calls.
    #[test]
    fn what_is_ready_ends_a_wait() {
        let spans = [Nanos::from_micros(500), Nanos::from_secs(60), Nanos::MAX];
        for (mut poller, _near, far) in watched() {
            only(&mut poller);
            for span in spans.map(Some).into_iter().chain([None]) {
                rustix::io::write(&far, b"one").unwrap();
                assert_eq!(poller.wait(span).unwrap().count(), 1, "{span:?}");
            }
        }
    }

    #[test]
    fn a_waker_ends_a_wait_of_another_thread_as_often_as_it_is_used() {
        for (mut poller, _near, _far) in watched() {
            only(&mut poller);
            let waker = poller.waker().unwrap();
            for _ in 0..3 {
                let other = waker.clone();
                let thread = std::thread::spawn(move || other.wake());
                let tokens: Vec<u64> = poller
                    .wait(Some(Nanos::from_secs(60)))
                    .unwrap()
                    .map(|event| event.token)
                    .collect();
                assert_eq!(tokens, [WAKE]);
                thread.join().unwrap();
                assert_eq!(next(&mut poller), [], "one wake ends one wait");
            }
        }
    }

    #[test]
    fn a_closed_socket_is_forgotten_and_a_wait_ends_in_time() {
        for (mut poller, near, far) in watched() {
            drop(near);
            drop(far);
            assert_eq!(poller.wait(Some(Nanos::from_millis(1))).unwrap().count(), 0);
        }
    }

    /// Waits that are not whole milliseconds end on time: a busy machine may delay most of them,
    /// but a call that counts in milliseconds would delay all.
    #[test]
    fn waits_end_within_a_fraction_of_a_millisecond() {
        let clock = Clock::start();
        for (mut poller, near, far) in watched() {
            drop((near, far));
            let patience = clock.now() + Nanos::from_secs(60);
            let mut late = Nanos::MAX;
            while late >= Nanos::from_micros(500) {
                let until = clock.now() + Nanos::from_micros(1_300);
                assert!(until < patience, "{late}");
                while clock.now() < until {
                    let left = until - clock.now();
                    assert_eq!(poller.wait(Some(left)).unwrap().count(), 0);
                }
                late = clock.now() - until;
            }
        }
    }
}
