//! A connection's bytes, between the socket, TLS and the frames.

use crate::clock;
use crate::desk::Desk;
use crate::http2::Handover;
use crate::poller::Ready;
use crate::sleeps::Sleeps;
use crate::socket;
use crate::tls::Session;
use drumfire_units::Nanos;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, Shutdown, recv, send, shutdown};
use std::cell::RefCell;
use std::future::{Future as _, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes read at once.
const READ_SIZE: usize = 64 * 1024;
/// Bytes that one connection may bring before the others get their turn.
const TURN_MAX: usize = 256 * 1024;
/// Bytes that may wait for room in the socket.
const OUT_MAX: usize = 1 << 20;
/// Buffers above this are given back once empty.
const KEPT_CAPACITY: usize = 128 * 1024;
/// How long a closed connection may linger.
const LINGER: Nanos = Nanos::from_secs(1);

/// A socket with its TLS and its buffers.
pub(crate) struct Wire {
    fd: OwnedFd,
    desk: Rc<Desk>,
    /// The buffer of reads; one for all connections of a worker.
    scratch: Rc<Scratch>,
    state: RefCell<State>,
}

/// Room for one read.
pub(crate) struct Scratch(RefCell<Vec<u8>>);

impl Default for Scratch {
    fn default() -> Self {
        Self(RefCell::new(vec![0; READ_SIZE]))
    }
}

#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a socket's edges are independent of each other"
)]
struct State {
    tls: Option<Box<Session>>,
    /// Opened, and not yet read by the frames' side.
    inbox: Vec<u8>,
    inbox_at: usize,
    /// Written by the frames' side, and not yet on its way.
    out: Vec<u8>,
    /// Whether `out` ends with a whole frame.
    whole: bool,
    /// Being handed to the kernel, sealed if there is TLS.
    wire: Vec<u8>,
    wire_at: usize,
    /// Whether there may be bytes to read.
    readable: bool,
    /// The peer is done: a short read is not the last one.
    ending: bool,
    ended: bool,
    writable: bool,
    broken: bool,
    /// Bytes read in this turn.
    turn: usize,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Wire {
    pub(crate) fn new(connection: Handover, desk: Rc<Desk>, scratch: Rc<Scratch>) -> Self {
        let state = State {
            tls: connection.tls,
            inbox: connection.input,
            whole: true,
            readable: true,
            ended: connection.ended,
            writable: true,
            ..State::default()
        };
        Self {
            fd: connection.fd,
            desk,
            scratch,
            state: RefCell::new(state),
        }
    }

    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// The readiness queue has news.
    pub(crate) fn ready(&self, ready: Ready) {
        let mut state = self.state.borrow_mut();
        if ready.readable {
            state.readable = true;
            state.ending |= ready.ending;
            state.reader.take().into_iter().for_each(Waker::wake);
        }
        if ready.writable {
            state.writable = true;
            state.writer.take().into_iter().for_each(Waker::wake);
        }
    }

    /// Adds a frame of ours between those of the frames' side; whether it could be done now.
    pub(crate) fn interject(&self, frame: &[u8]) -> bool {
        let mut state = self.state.borrow_mut();
        if state.whole {
            state.out.extend_from_slice(frame);
        }
        state.whole
    }

    /// Whether the frames' side has nothing left that found no room.
    pub(crate) fn is_whole(&self) -> bool {
        self.state.borrow().whole
    }

    /// Hands over to the kernel what there is. When it takes no more, the task is woken later.
    pub(crate) fn flush(&self, cx: &Context<'_>) {
        let mut state = self.state.borrow_mut();
        self.send(&mut state);
        if state.has_output() && !state.broken {
            state.writer = Some(cx.waker().clone());
        }
    }

    fn send(&self, state: &mut State) {
        while state.writable && !state.broken {
            state.refill();
            let left = &state.wire[state.wire_at..];
            if left.is_empty() {
                return;
            }
            match send(&self.fd, left, socket::SEND) {
                Ok(n) => {
                    self.desk.own().tallies.bytes_sent.add(n as u64);
                    state.wire_at += n;
                }
                Err(Errno::AGAIN) => state.writable = false,
                Err(Errno::INTR) => {}
                Err(_) => state.broken = true,
            }
        }
    }

    /// Reads from the socket into the inbox, once.
    fn receive(&self, state: &mut State) -> io::Result<()> {
        state.inbox.clear();
        state.inbox_at = 0;
        let bytes = &mut *self.scratch.0.borrow_mut();
        match recv(&self.fd, &mut bytes[..], RecvFlags::empty()) {
            Ok((0, _)) => state.ended = true,
            Ok((length, _)) => {
                self.desk.own().tallies.bytes_received.add(length as u64);
                state.turn += length;
                // A short read took everything: the next bytes bring an event of their own.
                state.readable = length == READ_SIZE || state.ending;
                let State { tls, inbox, .. } = state;
                match tls {
                    None => inbox.extend_from_slice(&bytes[..length]),
                    Some(session) => {
                        let opened = session.open(&bytes[..length], inbox);
                        opened.map_err(|_| io::ErrorKind::InvalidData)?;
                    }
                }
            }
            Err(Errno::AGAIN) => state.readable = false,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        Ok(())
    }

    fn poll_inbox(&self, state: &mut State, cx: &Context<'_>) -> Poll<io::Result<()>> {
        while state.inbox_at == state.inbox.len() && !state.ended {
            if !state.readable {
                state.turn = 0;
                state.reader = Some(cx.waker().clone());
                return Poll::Pending;
            }
            if state.turn >= TURN_MAX {
                state.turn = 0;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            self.receive(state)?;
        }
        Poll::Ready(Ok(()))
    }

    /// Sends the rest, ends our side, and waits a moment for the peer to end its own: a close with
    /// unread input would reset the connection, and the last bytes could be lost.
    pub(crate) async fn finish(&self, sleeps: &Rc<Sleeps>) {
        let mut patience = pin!(sleeps.until(clock::now() + LINGER));
        let mut said = false;
        poll_fn(|cx| {
            let state = &mut *self.state.borrow_mut();
            self.send(state);
            if state.has_output() && !state.broken {
                state.writer = Some(cx.waker().clone());
                return patience.as_mut().poll(cx);
            }
            if !std::mem::replace(&mut said, true) {
                if let Some(session) = &mut state.tls {
                    session.close(&mut state.wire);
                }
                self.send(state);
                state.broken |= shutdown(&self.fd, Shutdown::Write).is_err();
            }
            while !state.broken && !state.ended {
                match self.poll_inbox(state, cx) {
                    Poll::Ready(Ok(())) => state.inbox.clear(),
                    Poll::Ready(Err(_)) => return Poll::Ready(()),
                    Poll::Pending => return patience.as_mut().poll(cx),
                }
                state.inbox_at = 0;
            }
            Poll::Ready(())
        })
        .await;
    }
}

impl State {
    /// Once everything on the wire is sent, moves written bytes there, encrypted if need be.
    fn refill(&mut self) {
        if self.wire_at < self.wire.len() {
            return;
        }
        self.wire_at = 0;
        self.wire.clear();
        match &mut self.tls {
            None => std::mem::swap(&mut self.wire, &mut self.out),
            Some(session) => {
                if !self.out.is_empty() {
                    session.seal(&self.out, &mut self.wire);
                    self.out.clear();
                }
                session.drain(&mut self.wire);
            }
        }
        if self.out.capacity() > KEPT_CAPACITY {
            self.out = Vec::new();
        }
    }

    fn has_output(&self) -> bool {
        let sealed = self.tls.as_ref().is_some_and(|tls| tls.wants_write());
        !self.out.is_empty() || self.wire_at < self.wire.len() || sealed
    }
}

/// The plain side of the wire, which the frames' side reads and writes.
pub(crate) struct Port(pub(crate) Rc<Wire>);

impl AsyncRead for Port {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let state = &mut *self.0.state.borrow_mut();
        std::task::ready!(self.0.poll_inbox(state, cx))?;
        let waiting = &state.inbox[state.inbox_at..];
        let length = waiting.len().min(buffer.remaining());
        buffer.put_slice(&waiting[..length]);
        state.inbox_at += length;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Port {
    /// Takes what there is room for in memory; the socket is written once a turn.
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[io::IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let state = &mut *self.0.state.borrow_mut();
        if state.out.len() >= OUT_MAX {
            self.0.send(state);
        }
        if state.broken {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        state.whole = false;
        if state.out.len() >= OUT_MAX {
            state.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let before = state.out.len();
        parts
            .iter()
            .for_each(|part| state.out.extend_from_slice(part));
        Poll::Ready(Ok(state.out.len() - before))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Everything written is in memory; only now it certainly ends with a whole frame.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.state.borrow_mut().whole = true;
        Poll::Ready(Ok(()))
    }

    /// The connection is ended elsewhere, when everything is sent.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
