//! Linux: epoll(7), edge-triggered, with waits in nanoseconds.
//!
//! Since Linux 5.11 one call does that (`epoll_pwait2`). Older kernels, and sandboxes that do not
//! know the call, refuse it; a new queue tests whether the call works. If it does not, the queue
//! waits for a millisecond or more in whole milliseconds, rounded down, and for less by ppoll(2),
//! which takes nanoseconds. No wait ends later for that; only a short wait that finds something
//! costs one more call.

use super::{BATCH, Event, Room, WAKE, timespec};
use crate::error::{fault, last_errno, local};
use crate::{Fault, IoError, Waker};
use drumfire_units::Nanos;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fd::{AsRawFd as _, OwnedFd};
use rustix::io::Errno;
use std::num::NonZeroU64;

/// The unit of `epoll_pwait`.
const MILLISECOND: Nanos = Nanos::from_millis(1);

/// The maximum of a wait in whole milliseconds, whose number is an `int`. After an early end the
/// caller's loop waits again.
const WHOLE_MAX: Nanos = Nanos::from_secs(86_400);

/// The system calls that wait for a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calls {
    /// `epoll_pwait2`.
    One,
    /// `epoll_pwait`, after `ppoll` if less than a millisecond is left.
    Two,
}

/// One thread's queue.
pub(crate) struct Poller {
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
    calls: Calls,
}

impl Poller {
    /// Creates a queue for the calling thread, and makes the thread's timers precise.
    pub(crate) fn new() -> Result<Self, Fault> {
        // Without this the kernel may add 50 µs to each wait (prctl(2), PR_SET_TIMERSLACK). If it
        // is refused, waits are less precise, and the run's lag shows it.
        let _refused = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(fault("epoll_create1"))?;
        let mut poller = Self {
            epoll,
            events: Vec::with_capacity(BATCH),
            calls: Calls::One,
        };
        // A sandbox that does not know a call returns ENOSYS or, if it is older, EPERM; the call
        // itself returns neither.
        match poller.wait_once(Some(Nanos::ZERO)) {
            Ok(()) => {}
            Err(Errno::NOSYS | Errno::PERM) => poller.calls = Calls::Two,
            Err(error) => return Err(fault("epoll_pwait2")(error)),
        }
        Ok(poller)
    }

    /// A queue of each kind that works here.
    #[cfg(test)]
    pub(crate) fn each() -> Vec<Self> {
        let own = Self::new().unwrap();
        let older = Self {
            calls: Calls::Two,
            ..Self::new().unwrap()
        };
        vec![own, older]
    }

    /// Whether one call waits with nanosecond precision.
    pub(crate) fn is_precise(&self) -> bool {
        self.calls == Calls::One
    }

    /// Watches a socket until it is closed.
    pub(crate) fn add(&self, fd: &OwnedFd, token: u64) -> Result<(), IoError> {
        let all = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        match epoll::add(&self.epoll, fd, EventData::new_u64(token), all) {
            // epoll(7), /proc/sys/fs/epoll/max_user_watches: all processes of a user share this
            // limit.
            Err(Errno::NOSPC) => Err(IoError::Local(Fault {
                call: "epoll_ctl",
                reason: "this user cannot watch more sockets; raise fs.epoll.max_user_watches"
                    .to_owned(),
            })),
            added => added.map_err(local("epoll_ctl")),
        }
    }

    /// Starts or stops watching a socket for room. A socket that is watched for room is reported
    /// with any other event on it, and therefore for each message in its error queue, whether or
    /// not the message has been read.
    pub(crate) fn watch_room(&self, fd: &OwnedFd, token: u64, room: Room) -> Result<(), IoError> {
        let input = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
        let watched = match room {
            Room::Watched => input | EventFlags::OUT,
            Room::Unwatched => input,
        };
        epoll::modify(&self.epoll, fd, EventData::new_u64(token), watched)
            .map_err(local("epoll_ctl"))
    }

    /// Creates a handle with which other threads can end this queue's waits, by an event whose
    /// token is [`WAKE`].
    pub(crate) fn waker(&self) -> Result<Waker, Fault> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let counter = eventfd(0, flags).map_err(fault("eventfd2"))?;
        let edges = EventFlags::IN | EventFlags::ET;
        epoll::add(&self.epoll, &counter, EventData::new_u64(WAKE), edges)
            .map_err(fault("epoll_ctl"))?;
        Ok(Waker::new(move || {
            // Each write is an edge, so nothing has to read the counter. A write fails only if the
            // counter is full, after 2⁶⁴ - 2 wakes.
            let _full = rustix::io::write(&counter, &1_u64.to_ne_bytes());
        }))
    }

    /// Waits for events up to `timeout`; `None` waits forever. May end early without events.
    #[inline]
    pub(crate) fn wait(
        &mut self,
        timeout: Option<Nanos>,
    ) -> Result<impl Iterator<Item = Event>, Fault> {
        self.events.clear();
        match self.calls {
            Calls::One => {
                let waited = self.wait_once(timeout);
                unless_interrupted("epoll_pwait2", waited)?;
            }
            Calls::Two => self.wait_whole(timeout)?,
        }
        Ok(self.events.iter().map(|event| {
            let (flags, data) = (event.flags, event.data);
            let broken = flags.contains(EventFlags::HUP);
            Event {
                token: data.u64(),
                readable: broken || flags.intersects(EventFlags::IN | EventFlags::RDHUP),
                writable: broken || flags.contains(EventFlags::OUT),
                peer_closed: broken || flags.contains(EventFlags::RDHUP),
                broken,
                error: flags.contains(EventFlags::ERR),
            }
        }))
    }

    /// Waits by `epoll_pwait2`. The list of events must be empty.
    #[inline]
    #[expect(
        unsafe_code,
        reason = "rustix has this call only without the older one"
    )]
    fn wait_once(&mut self, timeout: Option<Nanos>) -> Result<(), Errno> {
        let timeout = timeout.map(timespec);
        let timeout = timeout
            .as_ref()
            .map_or(std::ptr::null(), std::ptr::from_ref);
        let room = self.events.spare_capacity_mut();
        // SAFETY: the kernel writes as many events as it returns, at most as many as there is room
        // for; their layout is its own (rustix tests that). It reads the span, if there is one.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                room.as_mut_ptr(),
                room.len() as libc::c_int,
                timeout,
                std::ptr::null::<libc::sigset_t>(),
                0_usize,
            )
        };
        let count = usize::try_from(count).map_err(|_| last_errno())?;
        // SAFETY: the kernel has written `count` events.
        unsafe { self.events.set_len(count) };
        Ok(())
    }

    /// Waits by the older calls, possibly for less time. The list of events must be empty.
    fn wait_whole(&mut self, timeout: Option<Nanos>) -> Result<(), Fault> {
        let whole = match timeout {
            Some(span) if span > Nanos::ZERO && span < MILLISECOND => {
                let mut queue = [PollFd::new(&self.epoll, PollFlags::IN)];
                let polled = poll(&mut queue, Some(&timespec(span)));
                if unless_interrupted("ppoll", polled)?.unwrap_or(0) == 0 {
                    return Ok(());
                }
                Some(Nanos::ZERO)
            }
            Some(span) => Some(Nanos(span.0 - span.0 % MILLISECOND.0).min(WHOLE_MAX)),
            None => None,
        };
        let whole = whole.map(timespec);
        let room = spare_capacity(&mut self.events);
        let waited = epoll::wait(&self.epoll, room, whole.as_ref());
        unless_interrupted("epoll_pwait", waited)?;
        Ok(())
    }
}

/// The result of a call; `None` if a signal ended it early, in which case the caller's loop repeats
/// it.
#[inline]
fn unless_interrupted<T>(call: &'static str, result: Result<T, Errno>) -> Result<Option<T>, Fault> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Errno::INTR) => Ok(None),
        Err(error) => Err(fault(call)(error)),
    }
}
