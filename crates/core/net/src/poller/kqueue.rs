//! The BSDs and macOS: kqueue(2), edge-triggered (`EV_CLEAR`), with waits in nanoseconds.
//!
//! Reading and writing are two filters with an event each, so a wait may return two events of one
//! socket. They are merged here: otherwise the second could reach a new connection that replaced
//! the old one while the first was handled.

use super::{BATCH, Event, Room, WAKE, timespec};
use crate::error::{fault, local};
use crate::{Fault, IoError, Waker};
use drumfire_units::Nanos;
use rustix::buffer::spare_capacity;
use rustix::event::kqueue::{
    self, EventFilter, EventFlags, UserDefinedFlags, UserFlags, kevent_timespec,
};
use rustix::fd::{AsRawFd as _, OwnedFd};
use rustix::io::{Errno, FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use std::ptr::without_provenance_mut;

/// The kernel stores a token as a pointer.
const _: () = assert!(usize::BITS == 64, "a token needs 64 bits");

/// The maximum wait: macOS refuses durations of some years, and every caller waits in a loop.
const WAIT_MAX: Nanos = Nanos::from_secs(86_400);

/// One thread's queue.
pub(crate) struct Poller {
    kqueue: OwnedFd,
    events: Vec<kqueue::Event>,
}

impl Poller {
    /// Creates a queue for the calling thread.
    pub(crate) fn new() -> Result<Self, Fault> {
        let kqueue = kqueue::kqueue().map_err(fault("kqueue"))?;
        fcntl_setfd(&kqueue, FdFlags::CLOEXEC).map_err(fault("fcntl"))?;
        Ok(Self {
            kqueue,
            events: Vec::with_capacity(2 * BATCH),
        })
    }

    /// A queue of each kind: only one exists.
    #[cfg(test)]
    pub(crate) fn each() -> Vec<Self> {
        vec![Self::new().unwrap()]
    }

    /// Whether one call waits with nanosecond precision.
    pub(crate) fn is_precise(&self) -> bool {
        true
    }

    /// Watches a socket until it is closed.
    #[expect(unsafe_code, reason = "kevent names a socket by its number")]
    pub(crate) fn add(&self, fd: &OwnedFd, token: u64) -> Result<(), IoError> {
        let (number, flags) = (fd.as_raw_fd(), EventFlags::ADD | EventFlags::CLEAR);
        let changes = [EventFilter::Read(number), EventFilter::Write(number)].map(|filter| {
            kqueue::Event::new(filter, flags, without_provenance_mut(token as usize))
        });
        let none: &mut [kqueue::Event] = &mut [];
        // SAFETY: the descriptor is open now, and the kernel forgets its filters when it is closed.
        let added = unsafe { kevent_timespec(&self.kqueue, &changes, none, None) };
        added.map(|_| ()).map_err(local("kevent"))
    }

    /// Does nothing: on these systems, every socket is always watched for room.
    pub(crate) const fn watch_room(&self, _: &OwnedFd, _: u64, _: Room) -> Result<(), IoError> {
        Ok(())
    }

    /// Creates a handle with which other threads can end this queue's waits, by an event whose
    /// token is [`WAKE`].
    pub(crate) fn waker(&self) -> Result<Waker, Fault> {
        let kqueue = fcntl_dupfd_cloexec(&self.kqueue, 0).map_err(fault("fcntl"))?;
        trigger(
            &kqueue,
            EventFlags::ADD | EventFlags::CLEAR,
            UserFlags::empty(),
        )
        .map_err(fault("kevent"))?;
        Ok(Waker::new(move || {
            // The filter was added above, and exists as long as the queue.
            let _gone = trigger(&kqueue, EventFlags::empty(), UserFlags::TRIGGER);
        }))
    }

    /// Waits for events up to `timeout`; `None` waits forever.
    #[expect(unsafe_code, reason = "kevent names sockets by their numbers")]
    pub(crate) fn wait(
        &mut self,
        timeout: Option<Nanos>,
    ) -> Result<impl Iterator<Item = Event>, Fault> {
        self.events.clear();
        let timeout = timeout.map(|span| timespec(span.min(WAIT_MAX)));
        // SAFETY: there are no changes, so no descriptor is named.
        let waited = unsafe {
            kevent_timespec(
                &self.kqueue,
                &[],
                spare_capacity(&mut self.events),
                timeout.as_ref(),
            )
        };
        match waited {
            // A signal may end a wait early; the caller's loop repeats it.
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(fault("kevent")(error)),
        }
        self.events.sort_unstable_by_key(token);
        let sockets = self
            .events
            .chunk_by(|one, next| token(one) == token(next))
            .map(|of_one| of_one.iter().map(event).fold(event(&of_one[0]), both));
        Ok(sockets)
    }
}

/// Adds or fires the event that ends a wait.
#[expect(unsafe_code, reason = "kevent names sockets by their numbers")]
fn trigger(kqueue: &OwnedFd, flags: EventFlags, user: UserFlags) -> Result<(), Errno> {
    let filter = EventFilter::User {
        ident: 0,
        flags: user,
        user_flags: UserDefinedFlags::new(0),
    };
    let change = [kqueue::Event::new(
        filter,
        flags,
        without_provenance_mut(WAKE as usize),
    )];
    let none: &mut [kqueue::Event] = &mut [];
    // SAFETY: the change names no descriptor.
    unsafe { kevent_timespec(kqueue, &change, none, None) }.map(|_| ())
}

/// The token that the socket was added with.
fn token(event: &kqueue::Event) -> u64 {
    event.udata().addr() as u64
}

/// One filter's event. EOF on the read filter means that the peer has finished sending; EOF on the
/// write filter means that the connection has ended or failed to open.
fn event(event: &kqueue::Event) -> Event {
    let flags = event.flags();
    let writable = matches!(event.filter(), EventFilter::Write(_));
    let ended = flags.contains(EventFlags::EOF);
    let broken = flags.contains(EventFlags::ERROR) || (writable && ended);
    Event {
        token: token(event),
        readable: broken || !writable,
        writable: broken || writable,
        peer_closed: broken || ended,
        broken,
        error: false,
    }
}

/// Merges two events of one socket.
fn both(one: Event, other: Event) -> Event {
    Event {
        token: one.token,
        readable: one.readable || other.readable,
        writable: one.writable || other.writable,
        peer_closed: one.peer_closed || other.peer_closed,
        broken: one.broken || other.broken,
        error: false,
    }
}
