//! The body of an answer, piece by piece.

use super::port::Link;
use crate::answer::{Afterwards, Answer, Body, Content, Counting};
use crate::clock;
use crate::fault::Drip;
use crate::sleeps::{Sleep, Sleeps};
use bytes::Bytes;
use drumfire_units::Nanos;
use hyper::body::{Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

/// The largest piece of a body without chunks.
const PIECE_MAX: u64 = 256 * 1024;

/// A body as hyper takes it.
pub(super) struct AnswerBody {
    body: Body,
    /// The largest piece.
    piece_max: u64,
    framing: Framing,
    /// Whether the answer is counted once it is whole.
    counting: Counting,
    pace: Option<Pace>,
    link: Rc<Link>,
}

/// How the client finds the end of the body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length,
    Chunks,
    /// Never: the connection ends in the middle.
    Cut,
}

/// A body that drips.
struct Pace {
    drip: Drip,
    /// Bytes that may go now.
    allowed: u64,
    /// When more may go: counted from the first piece, so that it never drifts.
    due: Nanos,
    sleep: Option<Sleep>,
    sleeps: Rc<Sleeps>,
}

impl AnswerBody {
    /// The body of an answer, taken out of it by rendering.
    pub(super) fn new(
        mut body: Body,
        answer: &Answer,
        counting: Counting,
        sleeps: &Rc<Sleeps>,
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
            pace: answer.drip.map(|drip| Pace::new(drip, sleeps)),
            link,
        };
        body.conclude();
        body
    }

    /// A short text, sent whole.
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

    /// Notes the end of the body when nothing of it is left.
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
                // The end of the connection is on its way.
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

    /// Chunks have an end of their own.
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

impl Pace {
    fn new(drip: Drip, sleeps: &Rc<Sleeps>) -> Self {
        Self {
            drip,
            allowed: drip.size,
            due: clock::now(),
            sleep: None,
            sleeps: Rc::clone(sleeps),
        }
    }

    /// Waits until at least one byte may go.
    fn poll_allowed(&mut self, cx: &mut Context<'_>) -> Poll<u64> {
        if self.allowed == 0 {
            let sleep = self.sleep.get_or_insert_with(|| {
                self.due += self.drip.interval;
                self.sleeps.until(self.due)
            });
            ready!(Pin::new(sleep).poll(cx));
            self.sleep = None;
            self.allowed = self.drip.size;
        }
        Poll::Ready(self.allowed)
    }
}
