//! Linux: epoll(7), edge-triggered for connections, with waits of nanosecond resolution.
//!
//! `epoll_pwait` waits for whole milliseconds, and ppoll(2) for less than one: every kernel and
//! every sandbox has them. One call for both exists since Linux 5.11; a target that delays nothing
//! would win nothing by it.

use super::{Interest, Ready};
use drumfire_units::Nanos;
use rustix::buffer::spare_capacity;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, epoll, eventfd, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::{self, Errno};
use std::num::NonZeroU64;

/// Events taken from the kernel in one turn.
const BATCH: usize = 512;

/// The unit of `epoll_pwait`.
const MILLISECOND: Nanos = Nanos::from_millis(1);

/// No wait in whole milliseconds is longer: their number is an `int`.
const WHOLE_MAX: Nanos = Nanos::from_secs(86_400);

/// One thread's readiness queue.
pub(crate) struct Poller {
    epoll: OwnedFd,
}

/// The events of one wait. Made by the thread that waits.
pub(crate) struct Events(Vec<epoll::Event>);

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
        })
    }

    /// Watches a connection, edge-triggered.
    pub(crate) fn add(&self, fd: impl AsFd, token: u64) -> io::Result<()> {
        let flags = connection_flags(Interest::Read);
        epoll::add(&self.epoll, fd, epoll::EventData::new_u64(token), flags)
    }

    /// Changes the events of a connection that are reported.
    pub(crate) fn change(&self, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        let flags = connection_flags(interest);
        epoll::modify(&self.epoll, fd, epoll::EventData::new_u64(token), flags)
    }

    /// Watches a descriptor that several threads may share: level-triggered, one is woken.
    pub(crate) fn add_shared(&self, fd: impl AsFd, token: u64) -> io::Result<()> {
        let flags = epoll::EventFlags::IN | epoll::EventFlags::EXCLUSIVE;
        epoll::add(&self.epoll, fd, epoll::EventData::new_u64(token), flags)
    }

    /// Watches a descriptor for this thread alone, level-triggered.
    pub(crate) fn add_own(&self, fd: impl AsFd, token: u64) -> io::Result<()> {
        let data = epoll::EventData::new_u64(token);
        epoll::add(&self.epoll, fd, data, epoll::EventFlags::IN)
    }

    /// No longer watches a descriptor.
    pub(crate) fn remove(&self, fd: impl AsFd) -> io::Result<()> {
        epoll::delete(&self.epoll, fd)
    }

    /// Waits for events up to `limit`; `None` waits forever. May end early without any.
    pub(crate) fn wait(&self, events: &mut Events, limit: Option<Nanos>) -> io::Result<()> {
        events.0.clear();
        match self.wait_whole_or_less(events, limit) {
            Err(Errno::INTR) => Ok(()),
            waited => waited,
        }
    }

    fn wait_whole_or_less(&self, events: &mut Events, limit: Option<Nanos>) -> io::Result<()> {
        let whole = match limit {
            Some(limit) if limit > Nanos::ZERO && limit < MILLISECOND => {
                let mut queue = [PollFd::new(&self.epoll, PollFlags::IN)];
                if poll(&mut queue, Some(&timespec(limit)))? == 0 {
                    return Ok(());
                }
                Some(Nanos::ZERO)
            }
            Some(limit) => Some(Nanos(limit.0 - limit.0 % MILLISECOND.0).min(WHOLE_MAX)),
            None => None,
        };
        let whole = whole.map(timespec);
        epoll::wait(&self.epoll, spare_capacity(&mut events.0), whole.as_ref())?;
        Ok(())
    }
}

/// A span as the kernel takes it.
fn timespec(span: Nanos) -> Timespec {
    Timespec {
        tv_sec: (span.0 / 1_000_000_000).cast_signed(),
        tv_nsec: (span.0 % 1_000_000_000).cast_signed(),
    }
}

impl Events {
    pub(crate) fn new() -> Self {
        Self(Vec::with_capacity(BATCH))
    }

    /// How many events the last wait brought.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The event at `index` of the last wait.
    #[inline]
    pub(crate) fn ready(&self, index: usize) -> Ready {
        use epoll::EventFlags as F;
        let event = self.0[index];
        let flags = event.flags;
        let data = event.data;
        Ready {
            token: data.u64(),
            readable: flags.intersects(F::IN | F::RDHUP | F::HUP | F::ERR),
            ending: flags.intersects(F::RDHUP | F::HUP | F::ERR),
            writable: flags.contains(F::OUT),
        }
    }
}

fn connection_flags(interest: Interest) -> epoll::EventFlags {
    use epoll::EventFlags as F;
    let flags = F::IN | F::RDHUP | F::ET;
    match interest {
        Interest::Read => flags,
        Interest::ReadWrite => flags | F::OUT,
    }
}

/// An eventfd that one thread writes to wake another.
#[derive(Debug)]
pub(crate) struct Waker(OwnedFd);

impl Waker {
    pub(crate) fn new() -> io::Result<Self> {
        eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map(Self)
    }

    /// Wakes every thread that watches it, from here on.
    pub(crate) fn wake(&self) {
        // An eventfd takes eight bytes unless it is full, and then it wakes as well.
        let _ = io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Lets this thread's waits end on time: the kernel's default slack is 50 µs.
pub(crate) fn sharpen_timers() {
    // Failing leaves delays up to 50 µs late, which is no reason not to serve.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}
