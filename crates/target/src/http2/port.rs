//! The side of the wire that h2 reads and writes.

use crate::wire::Wire;
use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// h2's side of a connection, shared with the task that serves it: h2 gives no stream back.
#[derive(Clone)]
pub(super) struct Port(Rc<RefCell<State>>);

struct State {
    wire: Wire,
    /// Frames of ours that go before h2's next one.
    inserted: Vec<u8>,
    /// Whether everything is sent, up to the end of a frame.
    is_whole: bool,
}

impl Port {
    pub(super) fn new(wire: Wire) -> Self {
        Self(Rc::new(RefCell::new(State {
            wire,
            inserted: Vec::new(),
            is_whole: true,
        })))
    }

    /// Adds a frame between those of h2, to be sent with h2's next flush; whether it could be done now.
    pub(super) fn insert(&self, frame: &[u8]) -> bool {
        let state = &mut *self.0.borrow_mut();
        let is_whole = state.is_whole;
        if is_whole {
            state.inserted.extend_from_slice(frame);
        }
        is_whole
    }

    /// Whether everything is sent.
    pub(super) fn is_whole(&self) -> bool {
        self.0.borrow().is_whole
    }

    /// The wire, once h2 is gone.
    pub(super) fn into_wire(self) -> Option<Wire> {
        let state = Rc::into_inner(self.0)?;
        Some(state.into_inner().wire)
    }
}

impl State {
    /// Sends the inserted frames.
    fn poll_inserted(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.inserted.is_empty() {
            let sent = ready!(Pin::new(&mut self.wire).poll_write(cx, &self.inserted))?;
            self.inserted.drain(..sent);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Port {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let state = &mut *self.0.borrow_mut();
        Pin::new(&mut state.wire).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Port {
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
        let state = &mut *self.0.borrow_mut();
        ready!(state.poll_inserted(cx))?;
        state.is_whole = false;
        Pin::new(&mut state.wire).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.borrow().wire.is_write_vectored()
    }

    /// h2 flushes when it has written all that it has.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let state = &mut *self.0.borrow_mut();
        ready!(state.poll_inserted(cx))?;
        ready!(Pin::new(&mut state.wire).poll_flush(cx))?;
        state.is_whole = true;
        Poll::Ready(Ok(()))
    }

    /// The connection is ended elsewhere.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}
