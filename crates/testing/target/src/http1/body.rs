//! The body of an answer, piece by piece.

use super::port::Link;
use crate::answer::{Afterwards, Answer, Body, Content, Counting, Pace};
use crate::clock;
use crate::hub::Hub;
use crate::sleeps::Sleep;
use bytes::Bytes;
use drumfire_units::Nanos;
use hyper::body::{Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

/// The maximum size of a piece of a body without chunks.
const PIECE_MAX: u64 = 256 * 1024;

/// A body in hyper's form.
pub(super) struct AnswerBody {
    body: Body,
    /// The maximum size of a piece.
    piece_max: u64,
    framing: Framing,
    /// Whether the answer is counted after it is complete.
    counting: Counting,
    pace: Option<PacedBody>,
    link: Rc<Link>,
}

/// How the end of the body is marked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length,
    Chunks,
    /// Not at all: the connection ends in the middle.
    Cut,
}

/// A body that is sent in pieces.
struct PacedBody {
    pace: Pace,
    /// The number of bytes that may be sent now.
    allowed: u64,
    is_first: bool,
    /// The time at which more bytes may be sent, computed from the beginning of the body, so that
    /// it never drifts.
    due: Nanos,
    next: Option<NextPiece>,
    hub: Rc<Hub>,
}

/// The piece for whose time a body waits.
struct NextPiece {
    sleep: Option<Sleep>,
    size: u64,
}

impl AnswerBody {
    /// The body of an answer, which rendering removes from the answer.
    pub(super) fn new(
        mut body: Body,
        answer: &Answer,
        counting: Counting,
        hub: &Rc<Hub>,
        link: Rc<Link>,
    ) -> Self {
        let chunk = answer.chunked.filter(|_| answer.content == Content::Sent);
        let framing = match (answer.afterwards, chunk) {
            (Afterwards::Cut, _) => Framing::Cut,
            (_, Some(_)) => Framing::Chunks,
            (_, None) => Framing::Length,
        };
        if framing == Framing::Cut {
            body.halve();
        }
        let body = Self {
            body,
            piece_max: chunk.map_or(PIECE_MAX, |size| size.get().into()),
            framing,
            counting,
            pace: answer.pace.clone().map(|pace| PacedBody::new(pace, hub)),
            link,
        };
        body.conclude();
        body
    }

    /// A short text, sent at once.
    pub(super) fn text(text: String, link: Rc<Link>) -> Self {
        Self {
            body: Body::bytes(text),
            piece_max: PIECE_MAX,
            framing: Framing::Length,
            counting: Counting::Uncounted,
            pace: None,
            link,
        }
    }

    /// Records the end of the body after its last byte.
    fn conclude(&self) {
        match (self.framing, self.counting) {
            _ if !self.body.is_empty() => {}
            (Framing::Cut, _) => self.link.cut(),
            (_, Counting::Counted) => self.link.answer_ended(),
            (_, Counting::Uncounted) => {}
        }
    }
}

impl hyper::body::Body for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        if this.body.is_empty() {
            return match this.framing {
                // The connection is about to end.
                Framing::Cut => Poll::Pending,
                Framing::Length | Framing::Chunks => Poll::Ready(None),
            };
        }
        let allowed = match &mut this.pace {
            Some(pace) => ready!(pace.poll_allowed(cx)),
            None => u64::MAX,
        };
        let piece = this.body.next_bytes(allowed.min(this.piece_max));
        if let Some(pace) = &mut this.pace {
            pace.allowed -= piece.len() as u64;
        }
        this.conclude();
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    /// Chunks have an explicit end.
    fn is_end_stream(&self) -> bool {
        self.body.is_empty() && self.framing == Framing::Length
    }

    fn size_hint(&self) -> SizeHint {
        match self.framing {
            Framing::Length => SizeHint::with_exact(self.body.len()),
            Framing::Chunks | Framing::Cut => SizeHint::default(),
        }
    }
}

impl PacedBody {
    fn new(pace: Pace, hub: &Rc<Hub>) -> Self {
        Self {
            pace,
            allowed: 0,
            is_first: true,
            due: clock::now(),
            next: None,
            hub: Rc::clone(hub),
        }
    }

    /// Waits until at least one byte may be sent.
    fn poll_allowed(&mut self, cx: &mut Context<'_>) -> Poll<u64> {
        if self.allowed == 0 {
            if self.next.is_none() {
                let piece = self.pace.next_piece(self.is_first);
                self.is_first = false;
                self.due += piece.wait;
                let waits = piece.wait > Nanos::ZERO;
                self.next = Some(NextPiece {
                    sleep: waits.then(|| self.hub.sleeps.until(self.due)),
                    size: piece.size,
                });
            }
            if let Some(NextPiece { sleep, size }) = &mut self.next {
                if let Some(sleep) = sleep {
                    ready!(Pin::new(sleep).poll(cx));
                }
                self.allowed = *size;
            }
            self.next = None;
            if self.pace.is_logged() {
                self.hub.desk.wrote_events();
            }
        }
        Poll::Ready(self.allowed)
    }
}
