//! The stream that hyper reads and writes, and the state that a connection shares with its answers.

use super::stage::Stage;
use super::tokens::TokenAnswer;
use crate::answer::RawBytes;
use crate::hub::Hub;
use crate::reaction::AnswerPlan;
use crate::upgrade::SocketPlan;
use crate::wire::Wire;
use drumfire_units::Nanos;
use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The maximum capacity of a buffer that is kept.
const KEPT_CAPACITY: usize = 1_024;

/// The state of one connection, in addition to hyper's.
#[derive(Default)]
pub(super) struct Link {
    /// The number of answers so far.
    answered: Cell<u32>,
    /// The number of answers that hyper has received completely, but the kernel may not have.
    unsent: Cell<u32>,
    /// Whether the last request gets a constant answer.
    is_constant: Cell<bool>,
    /// Whether hyper has exactly one complete head, so that the request can be repeated.
    is_repeatable: Cell<bool>,
    /// The plan of a waiting request, and its due time.
    held: RefCell<Option<(AnswerPlan, Nanos)>>,
    /// Whether hyper is dropped after it becomes idle.
    rests: Cell<bool>,
    /// Whether the connection ends after hyper's bytes are sent.
    is_cut: Cell<bool>,
    /// The bytes to send instead of an answer.
    raw: RefCell<Option<RawBytes>>,
    /// The WebSocket that the last request opens.
    socket: RefCell<Option<Box<SocketPlan>>>,
    /// The tokens to send instead of an answer of hyper's.
    tokens: RefCell<Option<TokenAnswer>>,
}

impl Link {
    /// Counts an answer, and returns the number of answers including this one.
    pub(super) fn count_answer(&self) -> u32 {
        self.answered.set(self.answered.get() + 1);
        self.answered.get()
    }

    /// Records that hyper has received the last byte of an answer.
    pub(super) fn answer_ended(&self) {
        self.unsent.set(self.unsent.get() + 1);
    }

    /// Ends the connection after all earlier bytes are sent.
    pub(super) fn cut(&self) {
        self.is_cut.set(true);
    }

    /// Stores the bytes to send instead of an answer.
    pub(super) fn put_raw(&self, raw: RawBytes) {
        *self.raw.borrow_mut() = Some(raw);
    }

    pub(super) fn take_raw(&self) -> Option<RawBytes> {
        self.raw.borrow_mut().take()
    }

    /// Stores the WebSocket that begins instead of an answer.
    pub(super) fn put_socket(&self, plan: Box<SocketPlan>) {
        *self.socket.borrow_mut() = Some(plan);
    }

    pub(super) fn take_socket(&self) -> Option<Box<SocketPlan>> {
        self.socket.borrow_mut().take()
    }

    /// Stores the tokens to send instead of an answer of hyper's.
    pub(super) fn put_tokens(&self, answer: TokenAnswer) {
        *self.tokens.borrow_mut() = Some(answer);
    }

    pub(super) fn take_tokens(&self) -> Option<TokenAnswer> {
        self.tokens.borrow_mut().take()
    }

    /// Takes a plan that is due much later, so that hyper need not wait. Returns the plan if that
    /// is impossible.
    pub(super) fn hold(&self, plan: AnswerPlan, due: Nanos) -> Result<(), AnswerPlan> {
        if !self.is_repeatable.get() {
            return Err(plan);
        }
        *self.held.borrow_mut() = Some((plan, due));
        Ok(())
    }

    /// The due time of the held plan.
    pub(super) fn held_until(&self) -> Option<Nanos> {
        self.held.borrow().as_ref().map(|(_, due)| *due)
    }

    /// Returns the held plan when its request is repeated. hyper is dropped after the answer, too,
    /// because all connections of a load with long delays may be idle.
    pub(super) fn take_held(&self) -> Option<AnswerPlan> {
        let (plan, _) = self.held.take()?;
        self.rests.set(true);
        Some(plan)
    }

    /// Records whether the answer that hyper is about to write is constant.
    pub(super) fn set_constant(&self, is_constant: bool) {
        self.is_constant.set(is_constant);
    }
}

/// The stream that hyper uses.
pub(super) struct Port {
    hub: Rc<Hub>,
    wire: Wire,
    link: Rc<Link>,
    stage: Stage,
    /// Cached answers to send before hyper's.
    out: Vec<u8>,
    /// The number of these answers.
    out_count: u64,
    is_resting: bool,
}

impl Port {
    pub(super) fn new(hub: Rc<Hub>, wire: Wire, link: Rc<Link>) -> Self {
        Self {
            hub,
            wire,
            link,
            stage: Stage::default(),
            out: Vec::new(),
            out_count: 0,
            is_resting: false,
        }
    }

    /// Whether hyper was given the end of a stream that has not ended.
    pub(super) fn is_resting(&self) -> bool {
        self.is_resting
    }

    /// The wire after hyper is dropped, and the unanswered request, if it can be repeated.
    pub(super) fn into_parts(self) -> (Wire, Vec<u8>) {
        (self.wire, self.stage.into_request())
    }

    /// Answers the known requests among the bytes just read; hyper receives the others.
    fn answer_known(&mut self, buffer: &mut ReadBuf<'_>, before: usize) {
        let mut rest = &buffer.filled()[before..];
        let shortcuts = self.hub.shortcuts.borrow();
        let count = self.stage.answer(&shortcuts, &mut rest, &mut self.out);
        let is_repeatable = matches!(self.stage, Stage::One { .. });
        self.link.is_repeatable.set(is_repeatable);
        if count == 0 {
            return;
        }
        let rest = rest.to_vec();
        buffer.set_filled(before);
        buffer.put_slice(&rest);
        for _ in 0..count {
            self.hub.desk.arrived();
        }
        self.out_count += count;
    }

    /// Sends the cached answers.
    fn poll_out(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut sent = 0;
        while sent < self.out.len() {
            match Pin::new(&mut self.wire).poll_write(cx, &self.out[sent..]) {
                Poll::Ready(Ok(n)) => sent += n,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    self.out.drain(..sent);
                    return Poll::Pending;
                }
            }
        }
        if self.out_count > 0 {
            self.out.clear();
            if self.out.capacity() > KEPT_CAPACITY {
                self.out = Vec::new();
            }
            ready!(Pin::new(&mut self.wire).poll_flush(cx))?;
            let count = std::mem::take(&mut self.out_count);
            self.hub.desk.own().tallies.responses.add(count);
        }
        Poll::Ready(Ok(()))
    }

    /// Records bytes that hyper wrote, possibly only some of `parts`.
    fn wrote(&mut self, mut count: usize, parts: &[io::IoSlice<'_>]) {
        if !self.link.is_constant.get() {
            return;
        }
        for part in parts {
            let written = part.len().min(count);
            self.stage.wrote(&part[..written]);
            count -= written;
        }
    }

    /// Records that all of hyper's bytes are sent.
    fn flushed(&mut self) -> io::Result<()> {
        let sent = self.link.unsent.take();
        if sent > 0 {
            self.hub.desk.own().tallies.responses.add(u64::from(sent));
            self.stage.answered(&mut self.hub.shortcuts.borrow_mut());
        }
        match self.link.is_cut.get() {
            true => Err(io::ErrorKind::ConnectionReset.into()),
            false => Ok(()),
        }
    }
}

impl AsyncRead for Port {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            ready!(this.poll_out(cx))?;
            let before = buffer.filled().len();
            let result = Pin::new(&mut this.wire).poll_read(cx, buffer);
            if result.is_pending() && matches!(this.stage, Stage::Idle) && this.link.rests.take() {
                this.is_resting = true;
                return Poll::Ready(Ok(()));
            }
            ready!(result)?;
            let read = buffer.filled().len();
            this.answer_known(buffer, before);
            if buffer.filled().len() > before || read == before {
                return Poll::Ready(Ok(()));
            }
        }
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
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_out(cx))?;
        let written = Pin::new(&mut self.wire).poll_write_vectored(cx, parts);
        if let Poll::Ready(Ok(written)) = written {
            self.wrote(written, parts);
        }
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.wire.is_write_vectored()
    }

    /// hyper flushes after it has written all its bytes.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_out(cx))?;
        ready!(Pin::new(&mut self.wire).poll_flush(cx))?;
        Poll::Ready(self.flushed())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_shutdown(cx)
    }
}
