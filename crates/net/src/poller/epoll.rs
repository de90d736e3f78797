//! Linux: epoll(7), edge-triggered, with waits in nanoseconds (`epoll_pwait2`, Linux 5.11).

use super::{BATCH, Event, fault, timespec};
use crate::Fault;
use drumfire_units::Nanos;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::num::NonZeroU64;

/// One thread's queue.
pub(crate) struct Poller {
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
}

impl Poller {
    /// A queue for the calling thread, whose timers it makes precise.
    pub(crate) fn new() -> Result<Self, Fault> {
        // Without this the kernel may add 50 µs to each wait (prctl(2), PR_SET_TIMERSLACK). A
        // refusal costs precision, which the run's lag then shows.
        let _refused = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        Ok(Self {
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC).map_err(fault("epoll_create1"))?,
            events: Vec::with_capacity(BATCH),
        })
    }

    /// Watches a socket until it is closed.
    pub(crate) fn add(&self, fd: &OwnedFd, token: u64) -> Result<(), Errno> {
        let all = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, fd, EventData::new_u64(token), all)
    }

    /// Waits for events, at most so long; `None` is for ever.
    #[inline]
    pub(crate) fn wait(
        &mut self,
        timeout: Option<Nanos>,
    ) -> Result<impl Iterator<Item = Event>, Fault> {
        self.events.clear();
        let timeout = timeout.map(timespec);
        let events = spare_capacity(&mut self.events);
        match epoll::wait(&self.epoll, events, timeout.as_ref()) {
            // A signal may end a wait early, which the caller's loop copes with.
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(fault("epoll_pwait2")(error)),
        }
        Ok(self.events.iter().map(|event| {
            let (flags, data) = (event.flags, event.data);
            let broken = flags.intersects(EventFlags::ERR | EventFlags::HUP);
            Event {
                token: data.u64(),
                readable: broken || flags.intersects(EventFlags::IN | EventFlags::RDHUP),
                writable: broken || flags.contains(EventFlags::OUT),
                peer_closed: broken || flags.contains(EventFlags::RDHUP),
                broken,
            }
        }))
    }
}
