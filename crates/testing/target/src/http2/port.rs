//! The stream that h2 reads and writes.

use crate::flushes::Flushes;
use crate::wire::Wire;
use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The stream that h2 uses, shared with the task that serves the connection, because h2 does not
/// return it.
#[derive(Clone)]
pub(super) struct Port(Rc<RefCell<State>>);

struct State {
    wire: Wire,
    /// Additional frames to send before h2's next one.
    inserted: Vec<u8>,
    /// Whether all bytes are sent, up to the end of a frame.
    is_whole: bool,
    flushes: Rc<Flushes>,
}

impl Port {
    pub(super) fn new(wire: Wire, flushes: Rc<Flushes>) -> Self {
        Self(Rc::new(RefCell::new(State {
            wire,
            inserted: Vec::new(),
            is_whole: true,
            flushes,
        })))
    }

    /// Inserts a frame between h2's frames, to be sent with h2's next flush. Returns whether this
    /// was possible.
    pub(super) fn insert(&self, frame: &[u8]) -> bool {
        let state = &mut *self.0.borrow_mut();
        let is_whole = state.is_whole;
        if is_whole {
            state.inserted.extend_from_slice(frame);
        }
        is_whole
    }

    /// Whether all bytes are sent.
    pub(super) fn is_whole(&self) -> bool {
        self.0.borrow().is_whole
    }

    /// The wire, after h2 is dropped.
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

    /// h2 flushes after it has written all its bytes.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let state = &mut *self.0.borrow_mut();
        ready!(state.poll_inserted(cx))?;
        ready!(Pin::new(&mut state.wire).poll_flush(cx))?;
        state.is_whole = true;
        state.flushes.flushed();
        Poll::Ready(Ok(()))
    }

    /// The connection is closed elsewhere.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}
