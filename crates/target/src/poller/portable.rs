//! Other systems: mio, which has kqueue(2) as safe calls. Every event is edge-triggered.

use super::{Interest, Ready};
use drumfire_units::Nanos;
use mio::unix::SourceFd;
use mio::{Poll, Token};
use rustix::fd::{AsFd, AsRawFd as _, BorrowedFd};
use rustix::io::{self, Errno};
use std::cell::RefCell;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Events taken from the kernel in one turn.
const BATCH: usize = 512;

/// One thread's readiness queue.
pub(crate) struct Poller(RefCell<Poll>);

/// The events of one wait. Made by the thread that waits.
pub(crate) struct Events {
    queue: mio::Events,
    ready: Vec<Ready>,
}

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(RefCell::new(Poll::new().map_err(errno)?)))
    }

    /// Watches a connection.
    pub(crate) fn add(&self, fd: impl AsFd, token: u64) -> io::Result<()> {
        let (fd, poll) = (fd.as_fd().as_raw_fd(), self.0.borrow());
        let registry = poll.registry();
        let added = registry.register(&mut SourceFd(&fd), name(token), events(Interest::Read));
        added.map_err(errno)
    }

    /// Changes the events of a connection that are reported.
    pub(crate) fn change(&self, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        let (fd, poll) = (fd.as_fd().as_raw_fd(), self.0.borrow());
        let registry = poll.registry();
        let changed = registry.reregister(&mut SourceFd(&fd), name(token), events(interest));
        changed.map_err(errno)
    }

    /// Watches a descriptor that several threads may share: all are woken.
    pub(crate) fn add_shared(&self, fd: impl AsFd, token: u64) -> io::Result<()> {
        self.add(fd, token)
    }

    /// Watches a descriptor for this thread alone.
    pub(crate) fn add_own(&self, fd: impl AsFd, token: u64) -> io::Result<()> {
        self.add(fd, token)
    }

    /// No longer watches a descriptor.
    pub(crate) fn remove(&self, fd: impl AsFd) -> io::Result<()> {
        let (fd, poll) = (fd.as_fd().as_raw_fd(), self.0.borrow());
        let removed = poll.registry().deregister(&mut SourceFd(&fd));
        removed.map_err(errno)
    }

    /// Waits for events up to `limit`; `None` waits forever. May end early without any.
    pub(crate) fn wait(&self, events: &mut Events, limit: Option<Nanos>) -> io::Result<()> {
        events.ready.clear();
        let limit = limit.map(|limit| Duration::from_nanos(limit.0));
        match self.0.borrow_mut().poll(&mut events.queue, limit) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Ok(()),
            waited => waited.map_err(errno)?,
        }
        events.ready.extend(events.queue.iter().map(|event| Ready {
            token: event.token().0 as u64,
            readable: event.is_readable() || event.is_read_closed() || event.is_error(),
            ending: event.is_read_closed() || event.is_error(),
            writable: event.is_writable(),
        }));
        Ok(())
    }
}

fn events(interest: Interest) -> mio::Interest {
    match interest {
        Interest::Read => mio::Interest::READABLE,
        Interest::ReadWrite => mio::Interest::READABLE | mio::Interest::WRITABLE,
    }
}

/// A token as mio takes it.
fn name(token: u64) -> Token {
    const _: () = assert!(
        usize::BITS == u64::BITS,
        "tokens of connections have 64 bits"
    );
    Token(token as usize)
}

/// The number of an error, as the rest of the target has them.
fn errno(error: std::io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}

impl Events {
    pub(crate) fn new() -> Self {
        Self {
            queue: mio::Events::with_capacity(BATCH),
            ready: Vec::with_capacity(BATCH),
        }
    }

    /// How many events the last wait brought.
    pub(crate) fn len(&self) -> usize {
        self.ready.len()
    }

    /// The event at `index` of the last wait.
    pub(crate) fn ready(&self, index: usize) -> Ready {
        self.ready[index]
    }
}

/// A pair of sockets through which one thread wakes another.
#[derive(Debug)]
pub(crate) struct Waker {
    watched: UnixStream,
    written: UnixStream,
}

impl Waker {
    pub(crate) fn new() -> io::Result<Self> {
        let (watched, written) = UnixStream::pair().map_err(errno)?;
        Ok(Self { watched, written })
    }

    /// Wakes every thread that watches it. What is written is never read, so that one who watches it
    /// later is woken at once.
    pub(crate) fn wake(&self) {
        let _ = (&self.written).write(&[1]);
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.watched.as_fd()
    }
}

/// Other systems' timers have no slack that a thread could set.
pub(crate) fn sharpen_timers() {}
