//! The BSDs and macOS: kqueue(2), edge-triggered (`EV_CLEAR`), with waits in nanoseconds.
//!
//! Reading and writing are two filters with an event each, so a wait may bring two events of one
//! socket; they are made one here, for the second could otherwise reach a connection that the
//! first one's handling has put in the place of the old.

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

/// A token travels as a pointer.
const _: () = assert!(usize::BITS == 64, "a token needs 64 bits");

/// The longest wait: macOS refuses spans of some years, and every caller waits in a loop.
const WAIT_MAX: Nanos = Nanos::from_secs(86_400);

/// One thread's queue.
pub(crate) struct Poller {
    kqueue: OwnedFd,
    events: Vec<kqueue::Event>,
}

impl Poller {
    /// A queue for the calling thread.
    pub(crate) fn new() -> Result<Self, Fault> {
        let kqueue = kqueue::kqueue().map_err(fault("kqueue"))?;
        fcntl_setfd(&kqueue, FdFlags::CLOEXEC).map_err(fault("fcntl"))?;
        Ok(Self {
            kqueue,
            events: Vec::with_capacity(2 * BATCH),
        })
    }

    /// A queue of each kind: there is one.
    #[cfg(test)]
    pub(crate) fn each() -> Vec<Self> {
        vec![Self::new().unwrap()]
    }

    /// Whether one call waits for nanoseconds.
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

    /// The same of every socket here: room is always watched.
    pub(crate) const fn watch_room(&self, _: &OwnedFd, _: u64, _: Room) -> Result<(), IoError> {
        Ok(())
    }

    /// A way for other threads to end this queue's waits, by an event whose token is [`WAKE`].
    pub(crate) fn waker(&self) -> Result<Waker, Fault> {
        let kqueue = fcntl_dupfd_cloexec(&self.kqueue, 0).map_err(fault("fcntl"))?;
        trigger(
            &kqueue,
            EventFlags::ADD | EventFlags::CLEAR,
            UserFlags::empty(),
        )
        .map_err(fault("kevent"))?;
        Ok(Waker::new(move || {
            // The filter was added above, and stays as long as the queue.
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
            // A signal may end a wait early, which the caller's loop copes with.
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

/// One filter's event. EOF on the read filter is the peer's end; EOF on the write filter is the
/// connection's, and also the sign of one that failed to open.
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

/// Two events of one socket as one.
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
