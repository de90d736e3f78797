//! The messages of a response whose protocol frames each message.
//!
//! A [`Framing`] finds messages in the bytes of the body. A [`MessageStream`] counts them, times them
//! if the server streams them, shows and checks each, and ends the exchange when it has as many as
//! the plan wants. The exchange's kind interprets the messages and the end of the response.
//!
//! Another framing (the frames of a socket) needs only an implementation of the trait.

use super::context::KindContext;
use super::look::Look;
use super::tools::Codecs;
use crate::blame::Failure;
use crate::prepare::Request;
use drumfire_measure::{IsFirst, Outcome};
use drumfire_plan::{Inspection, ReplyCheck, ReplyError};
use drumfire_units::{ByteSize, Nanos};

/// How a protocol separates messages in a body.
pub(super) trait Framing {
    /// The mistake of a peer that breaks the framing.
    type Violation;

    /// The part of the messages that the request's inspection sees as the body.
    const INSPECTED: Inspected;

    /// The number of complete messages received in this attempt.
    fn count(&self) -> u64;

    /// Reads bytes that arrived at `now`, and passes on each message that they complete, with the
    /// time at which it was complete; only the first one may have an earlier time. `codecs` has
    /// memory for compressed messages.
    ///
    /// # Errors
    /// If the peer breaks the framing; earlier messages have been passed on.
    fn read(
        &mut self,
        bytes: &[u8],
        now: Nanos,
        codecs: &mut Codecs,
        each: impl FnMut(&[u8], Nanos),
    ) -> Result<(), Self::Violation>;
}

/// The part of the messages that an inspection sees as the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inspected {
    /// The first message.
    First,
    /// All messages, joined by LF.
    Joined,
}

/// The messages of a response.
#[derive(Debug)]
pub(super) struct MessageStream<F> {
    pub(super) framing: F,
    /// The time of the last message, or of the attempt's beginning.
    last: Nanos,
}

/// The messages that one read has completed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Came {
    pub(super) count: u64,
    /// The time of the first one. The others were complete when their bytes arrived.
    first: Nanos,
}

/// The failure of a response with an invalid message.
pub(super) enum BrokenMessage<V> {
    /// A message cannot be decoded.
    Undecodable(Failure),
    /// A message is not as the plan expects, or the messages are too large to be inspected.
    Refused(Failure),
    /// The peer breaks the framing.
    Framing(V),
}

/// Receives the messages of one read: shows and checks each, and keeps what is inspected.
struct Intake<'a> {
    look: Option<&'a mut Look>,
    check: Option<&'a dyn ReplyCheck>,
    /// The inspection of the response, if it sees each message.
    inspection: Option<&'a dyn Inspection>,
    /// The maximum size of the inspected body, if it is inspected.
    max: Option<ByteSize>,
    inspected: Inspected,
    /// The number of messages that the exchange wants. Those after them came in the same read.
    wanted: u64,
    /// The number of earlier messages of the attempt.
    before: u64,
    came: Came,
    wrong: Option<ReplyError>,
    /// The failure of the first message that is refused.
    refused: Result<(), Failure>,
}

impl<'a> Intake<'a> {
    /// The intake of a read of messages in this framing, after `before` messages. `look` is the look
    /// at the response, if there is one.
    #[inline]
    fn new<F: Framing>(look: Option<&'a mut Look>, request: &'a Request, before: u64) -> Self {
        let inspection = request.inspection();
        Self {
            look,
            check: None,
            inspection: inspection.filter(|inspection| inspection.inspects_messages()),
            max: inspection.and_then(|inspection| inspection.body_max()),
            inspected: F::INSPECTED,
            wanted: request.receive().unwrap_or(u64::MAX),
            before,
            came: Came::default(),
            wrong: None,
            refused: Ok(()),
        }
    }

    #[inline]
    fn receive(&mut self, message: &[u8], at: Nanos) {
        if self.came.count == 0 {
            self.came.first = at;
        }
        let number = self.before + self.came.count;
        self.came.count += 1;
        if let Some(look) = &mut self.look
            && number < self.wanted
        {
            let is_inspected = number == 0 || self.inspected == Inspected::Joined;
            if let (Some(inspection), Ok(())) = (self.inspection, &self.refused) {
                self.refused = look.inspect_message(inspection, message);
            }
            if let (Some(max), Ok(()), true) = (self.max, &self.refused, is_inspected) {
                self.refused = match number {
                    0 => look.keep(message, max.0),
                    _ => look
                        .keep(b"\n", max.0)
                        .and_then(|()| look.keep(message, max.0)),
                };
            }
            look.show_message(message);
        }
        if let Some(check) = self.check.filter(|_| self.wrong.is_none()) {
            self.wrong = check.check(message).err();
        }
    }
}

impl<F: Framing> MessageStream<F> {
    /// A stream without messages.
    pub(super) const fn new(framing: F) -> Self {
        Self {
            framing,
            last: Nanos::ZERO,
        }
    }

    /// Begins an attempt.
    pub(super) const fn begin_attempt(&mut self, now: Nanos) {
        self.last = now;
    }

    /// Reads bytes of messages, and returns the messages that they complete.
    ///
    /// All bytes are read before any failure is returned. If several failures occur, the order of
    /// precedence is: a message that cannot be decoded, a message that is refused, broken framing.
    ///
    /// # Errors
    /// If a message is invalid.
    pub(super) fn read(
        &mut self,
        cx: &mut KindContext<'_>,
        check: Option<&dyn ReplyCheck>,
        bytes: &[u8],
    ) -> Result<Came, BrokenMessage<F::Violation>> {
        let looks = cx.rules.looks();
        let look = cx.exchange.look.as_deref_mut().filter(|_| looks);
        let mut intake = Intake::new::<F>(look, cx.request, self.framing.count());
        intake.check = check;
        let (now, codecs) = (cx.now, &mut cx.tools.codecs);
        let each = |message: &[u8], at: Nanos| intake.receive(message, at);
        let fed = self.framing.read(bytes, now, codecs, each);
        let Intake {
            came,
            wrong,
            refused,
            ..
        } = intake;
        count(cx, came);
        if let Some(error) = wrong {
            let failure = Failure::with(Outcome::Decode, error.0);
            return Err(BrokenMessage::Undecodable(failure));
        }
        refused.map_err(BrokenMessage::Refused)?;
        fed.map_err(BrokenMessage::Framing)?;
        Ok(came)
    }

    /// Ends the body: `end` passes on the message that only the end completes, if there is one.
    ///
    /// # Errors
    /// If that message is refused.
    pub(super) fn finish<E>(
        &mut self,
        cx: &mut KindContext<'_>,
        end: impl FnOnce(&mut F, &mut dyn FnMut(&[u8], Nanos)) -> E,
    ) -> Result<(Came, E), Failure> {
        let looks = cx.rules.looks();
        let look = cx.exchange.look.as_deref_mut().filter(|_| looks);
        let mut intake = Intake::new::<F>(look, cx.request, self.framing.count());
        let ended = end(&mut self.framing, &mut |message, at| {
            intake.receive(message, at)
        });
        let Intake { came, refused, .. } = intake;
        count(cx, came);
        refused.map(|()| (came, ended))
    }

    /// Records the times of streamed messages that arrived together: every message except the first
    /// arrived 0 ns after the previous one, unless the first was complete earlier.
    pub(super) fn note_streamed(&mut self, cx: &mut KindContext<'_>, came: Came) {
        let is_measured = cx.is_measured();
        let is_first = self.framing.count() == came.count;
        let sent = cx.exchange.account.times.sent;
        let mut now = came.first;
        for n in 0..came.count {
            let (is_first, before) = if is_first && n == 0 {
                (IsFirst::Yes, sent.min(now))
            } else {
                (IsFirst::No, self.last)
            };
            if is_measured {
                let messages = cx.figures.messages_mut(cx.request.step);
                messages.record_streamed(is_first, before, now);
            }
            self.last = now;
            now = cx.now;
        }
    }

    /// Whether `wanted` messages have arrived; `None` means that all are wanted.
    pub(super) fn has(&self, wanted: Option<u64>) -> bool {
        wanted.is_some_and(|wanted| self.framing.count() >= wanted)
    }
}

/// Counts received messages.
#[inline]
fn count(cx: &mut KindContext<'_>, came: Came) {
    // The events of an answer have figures of their own.
    if cx.is_measured() && cx.request.answer().is_none() {
        cx.figures.messages_mut(cx.request.step).received += came.count;
    }
}
