//! The side of the wire that hyper reads and writes, and what a connection shares with its answers.

use super::stage::Stage;
use crate::answer::{Plan, Raw};
use crate::hub::Hub;
use crate::wire::Wire;
use drumfire_units::Nanos;
use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A buffer that is larger than this is not kept.
const KEPT_CAPACITY: usize = 1_024;

/// The state of one connection beside hyper's.
#[derive(Default)]
pub(super) struct Link {
    /// Answers so far.
    answered: Cell<u32>,
    /// Answers that hyper has whole, and the kernel perhaps not.
    unsent: Cell<u32>,
    /// Whether equal requests get an equal answer, of the last request.
    is_constant: Cell<bool>,
    /// Whether hyper has one whole head and nothing else, so that it can be asked again.
    is_repeatable: Cell<bool>,
    /// The plan of a request that waits, and the time when it is due.
    held: RefCell<Option<(Plan, Nanos)>>,
    /// Whether hyper is given up once it is idle.
    rests: Cell<bool>,
    /// Whether the connection ends once hyper's bytes are sent.
    is_cut: Cell<bool>,
    /// What is to be sent instead of an answer.
    raw: RefCell<Option<Raw>>,
}

impl Link {
    /// Counts an answer, and returns how many there were, this one included.
    pub(super) fn count_answer(&self) -> u32 {
        self.answered.set(self.answered.get() + 1);
        self.answered.get()
    }

    /// The last byte of an answer is with hyper.
    pub(super) fn answer_ended(&self) {
        self.unsent.set(self.unsent.get() + 1);
    }

    /// Ends the connection once everything before is sent.
    pub(super) fn cut(&self) {
        self.is_cut.set(true);
    }

    /// Stores what is to be sent instead of an answer.
    pub(super) fn put_raw(&self, raw: Raw) {
        *self.raw.borrow_mut() = Some(raw);
    }

    pub(super) fn take_raw(&self) -> Option<Raw> {
        self.raw.borrow_mut().take()
    }

    /// Takes a plan whose time is far away, so that hyper need not wait. If that is impossible, the plan
    /// comes back.
    pub(super) fn hold(&self, plan: Plan, due: Nanos) -> Result<(), Plan> {
        if !self.is_repeatable.get() {
            return Err(plan);
        }
        *self.held.borrow_mut() = Some((plan, due));
        Ok(())
    }

    /// When the plan that is held is due.
    pub(super) fn held_until(&self) -> Option<Nanos> {
        self.held.borrow().as_ref().map(|(_, due)| *due)
    }

    /// The plan that was held, when its request comes again. hyper is given up after its answer, too:
    /// all connections of a load with long delays may be idle.
    pub(super) fn take_held(&self) -> Option<Plan> {
        let (plan, _) = self.held.take()?;
        self.rests.set(true);
        Some(plan)
    }

    /// The answer that hyper is about to write never varies, or does.
    pub(super) fn set_constant(&self, is_constant: bool) {
        self.is_constant.set(is_constant);
    }
}

/// hyper's side of a connection.
pub(super) struct Port {
    hub: Rc<Hub>,
    wire: Wire,
    link: Rc<Link>,
    stage: Stage,
    /// Answers of ours that go before hyper's.
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

    /// Whether hyper saw the end of a stream that has not ended.
    pub(super) fn is_resting(&self) -> bool {
        self.is_resting
    }

    /// The wire once hyper is gone, and the request that hyper had not answered, if it can be repeated.
    pub(super) fn into_parts(self) -> (Wire, Vec<u8>) {
        (self.wire, self.stage.into_request())
    }

    /// Answers the known requests among the bytes that were just read; hyper gets the others.
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

    /// Sends the answers of ours.
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

    /// hyper wrote bytes, perhaps not all of them.
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

    /// hyper has nothing left that is not sent.
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

    /// hyper flushes when it has written all that it has.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_out(cx))?;
        ready!(Pin::new(&mut self.wire).poll_flush(cx))?;
        Poll::Ready(self.flushed())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_shutdown(cx)
    }
}
