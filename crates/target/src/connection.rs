//! One connection: almost nothing while it is idle.

use crate::answer::{Body, Plan};
use crate::clock;
use crate::fault::Drip;
use crate::http1::{BodyReader, HEAD_MAX, Persistence};
use crate::planner::Intent;
use crate::tls::Session;
use drumfire_units::Nanos;
use rustix::fd::OwnedFd;

/// An accepted connection. State that it needs only during a request is in [`Work`].
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) fd: OwnedFd,
    /// Its name in the readiness queue and among the timers.
    pub(crate) token: u64,
    /// Answers so far.
    pub(crate) answered: u32,
    /// There may be bytes to read that no event will announce.
    pub(crate) unread: bool,
    /// The peer will send nothing more.
    pub(crate) ended: bool,
    /// Room to write is announced too, since a write once fell short.
    pub(crate) watches_room: bool,
    pub(crate) tls: Option<Box<Session>>,
    pub(crate) work: Option<Box<Work>>,
}

/// The fate of a connection after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Fate {
    Open,
    Closed,
    Reset,
    /// To be served over HTTP/2, from the input that waits.
    Http2,
}

/// A connection's part while it is not idle.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) phase: Phase,
    /// Received and not yet understood.
    pub(crate) input: Vec<u8>,
    /// A request whose body is coming.
    pub(crate) receiving: Option<Receiving>,
    /// Rendered, and not yet on its way to the kernel.
    pub(crate) plain: Vec<u8>,
    /// Being handed to the kernel, from `wire_at` on; sealed if there is TLS.
    pub(crate) wire: Vec<u8>,
    pub(crate) wire_at: usize,
    /// The body that follows `plain`.
    pub(crate) body: Body,
    /// How the body trickles.
    pub(crate) pace: Option<Pace>,
    /// Answers that will be complete when nothing is left to send.
    pub(crate) unsent_answers: u32,
    /// The step when nothing is left to send.
    pub(crate) closing: Closing,
}

/// The event that a connection waits for.
#[derive(Debug, Default)]
pub(crate) enum Phase {
    /// A request, or the rest of one.
    #[default]
    Reading,
    /// The time to carry out the plan.
    Held(Box<Held>),
    /// Room to write, or the time for the next piece.
    Sending,
    /// The peer's end, after our own: bytes that it still sends are discarded, so that it reads our
    /// answer before the close reaches it.
    Lingering,
}

/// The step after an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Closing {
    /// The next request.
    #[default]
    No,
    /// The end.
    Yes,
    /// The end, though the peer may be sending still.
    Midway,
    /// A reset.
    Reset,
}

/// A request that is being held.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) plan: Plan,
    pub(crate) manner: Manner,
}

/// How an answer is to be put.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    pub(crate) persistence: Persistence,
    /// Whether the client knows chunks.
    pub(crate) chunks: Chunks,
}

/// Whether a client understands chunked bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chunks {
    Known,
    /// An HTTP/1.0 client.
    Unknown,
}

/// A request whose body is coming.
#[derive(Debug)]
pub(crate) struct Receiving {
    pub(crate) intent: Intent,
    pub(crate) body: BodyReader,
    pub(crate) manner: Manner,
}

/// A body that trickles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) drip: Drip,
    /// Bytes that may go now.
    pub(crate) allowed: u64,
    /// When more may go: counted from the first piece, so that it never drifts.
    pub(crate) next: Nanos,
    /// Whether the timer for that is set.
    pub(crate) armed: bool,
}

impl Pace {
    /// The first piece may go now.
    pub(crate) fn new(drip: Drip) -> Self {
        Self {
            drip,
            allowed: drip.size,
            next: clock::now() + drip.interval,
            armed: false,
        }
    }
}

/// A buffer that keeps more than this gives it back when idle.
const KEPT_CAPACITY: usize = 16 * 1024;

impl Work {
    /// Whether there is something to hand to the kernel, TLS's own messages aside.
    pub(crate) fn has_output(&self) -> bool {
        !self.plain.is_empty() || self.wire_at < self.wire.len() || !self.body.is_empty()
    }

    /// Whether the connection needs none of this any more.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Reading)
            && self.input.is_empty()
            && self.receiving.is_none()
            && !self.has_output()
    }

    /// Whether enough input waits behind the current request, so that no more is read.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self.phase, Phase::Held(_) | Phase::Sending) && self.input.len() > HEAD_MAX
    }

    /// Bytes of the body that may go now.
    pub(crate) fn allowance(&self) -> u64 {
        self.pace.map_or(u64::MAX, |pace| pace.allowed)
    }

    /// Makes it as new, keeping small buffers.
    pub(crate) fn reset(&mut self) {
        let recycle = |buffer: &mut Vec<u8>| {
            let mut buffer = std::mem::take(buffer);
            buffer.clear();
            if buffer.capacity() > KEPT_CAPACITY {
                buffer = Vec::new();
            }
            buffer
        };
        *self = Self {
            input: recycle(&mut self.input),
            plain: recycle(&mut self.plain),
            wire: recycle(&mut self.wire),
            ..Self::default()
        };
    }
}
