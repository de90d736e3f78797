//! The messages of a response whose protocol frames each message.
//!
//! A [`Framing`] finds messages in the bytes of the body. A [`MessageStream`] counts them, times them
//! if the server streams them, shows and checks each, and ends the exchange when it has as many as
//! the plan wants. The exchange's kind interprets the messages and the end of the response.
//!
//! Another framing (the events of an event stream, the frames of a socket) needs only an
//! implementation of the trait.

use super::context::KindContext;
use super::tools::Codecs;
use crate::blame::Failure;
use drumfire_measure::{IsFirst, Outcome};
use drumfire_plan::ReplyCheck;
use drumfire_units::Nanos;

/// How a protocol separates messages in a body.
pub(super) trait Framing {
    /// The mistake of a peer that breaks the framing.
    type Violation;

    /// The number of complete messages received in this attempt.
    fn count(&self) -> u64;

    /// Reads bytes, and passes on each message that they complete. `codecs` has memory for
    /// compressed messages.
    ///
    /// # Errors
    /// If the peer breaks the framing; earlier messages have been passed on.
    fn read(
        &mut self,
        bytes: &[u8],
        codecs: &mut Codecs,
        each: impl FnMut(&[u8]),
    ) -> Result<(), Self::Violation>;
}

/// The messages of a response.
#[derive(Debug)]
pub(super) struct MessageStream<F> {
    pub(super) framing: F,
    /// The time of the last message, or of the attempt's beginning.
    last: Nanos,
}

/// The failure of a response with an invalid message.
pub(super) enum BrokenMessage<V> {
    /// A message cannot be decoded.
    Undecodable(Failure),
    /// A message is too large to be inspected.
    TooLarge(Failure),
    /// The peer breaks the framing.
    Framing(V),
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

    /// Reads bytes of messages, and returns the number of messages that they complete.
    ///
    /// All bytes are read before any failure is returned. If several failures occur, the order of
    /// precedence is: a message that cannot be decoded, a message that is too large to be inspected,
    /// broken framing.
    ///
    /// # Errors
    /// If a message is invalid.
    pub(super) fn read(
        &mut self,
        cx: &mut KindContext<'_>,
        check: Option<&dyn ReplyCheck>,
        bytes: &[u8],
    ) -> Result<u64, BrokenMessage<F::Violation>> {
        let (mut came, mut wrong, mut kept) = (0, None, Ok(()));
        let is_measured = cx.is_measured();
        let looks = cx.rules.looks();
        let mut look = cx.exchange.look.as_deref_mut().filter(|_| looks);
        // Only the first message of a stream is inspected.
        let inspection = cx.request.inspection();
        let inspection = inspection.filter(|_| self.framing.count() == 0);
        let mut first = inspection.and_then(|inspection| inspection.body_max());
        let fed = self.framing.read(bytes, &mut cx.tools.codecs, |message| {
            came += 1;
            if let Some(look) = &mut look {
                if let Some(max) = first.take() {
                    kept = look.keep(message, max.0);
                }
                look.show_message(message);
            }
            if let Some(check) = check.filter(|_| wrong.is_none()) {
                wrong = check.check(message).err();
            }
        });
        if is_measured {
            cx.figures.messages_mut(cx.request.step).received += came;
        }
        if let Some(error) = wrong {
            let failure = Failure::with(Outcome::Decode, error.0);
            return Err(BrokenMessage::Undecodable(failure));
        }
        kept.map_err(BrokenMessage::TooLarge)?;
        fed.map_err(BrokenMessage::Framing)?;
        Ok(came)
    }

    /// Records the times of streamed messages that arrived together: every message except the first
    /// arrived 0 ns after the previous one.
    pub(super) fn note_streamed(&mut self, cx: &mut KindContext<'_>, came: u64) {
        let is_measured = cx.is_measured();
        let first = self.framing.count() == came;
        let (now, sent) = (cx.now, cx.exchange.account.times.sent);
        for n in 0..came {
            let (is_first, before) = if first && n == 0 {
                (IsFirst::Yes, sent.min(now))
            } else {
                (IsFirst::No, self.last)
            };
            if is_measured {
                let messages = cx.figures.messages_mut(cx.request.step);
                messages.record_streamed(is_first, before, now);
            }
            self.last = now;
        }
    }

    /// Whether `wanted` messages have arrived; `None` means that all are wanted.
    pub(super) fn has(&self, wanted: Option<u64>) -> bool {
        wanted.is_some_and(|wanted| self.framing.count() >= wanted)
    }
}
