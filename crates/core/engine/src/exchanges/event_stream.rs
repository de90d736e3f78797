//! The events of a stream: its framing, its decoder, and the time of the next event.
//!
//! The bytes are untrusted: a [`Reader`] bounds an event, and a coded stream is decoded in pieces of
//! bounded size.

use super::body_use::{self, decoder};
use super::context::{Continuation, KindContext};
use super::message_stream::{BrokenMessage, Framing, Inspected, MessageStream};
use super::rules::Rules;
use super::tools::Codecs;
use crate::blame::Failure;
use crate::limits::EVENT_BYTES;
use crate::wire::Fields;
use drumfire_coding::Decoder;
use drumfire_measure::{Leniencies, Leniency, Outcome};
use drumfire_plan::Compressed;
use drumfire_sse::{Ending, Reader, TooLong};
use drumfire_units::Nanos;

/// The state of a response that should be an event stream; reused by the next exchange with the same
/// entry.
#[derive(Debug)]
pub(super) struct EventState {
    events: MessageStream<Reader>,
    pub(super) content: Content,
}

/// The response that has come.
#[derive(Debug)]
pub(super) enum Content {
    /// A response that is judged as any other.
    Response,
    /// A response with another type: the failure of the exchange.
    WrongType(Failure),
    /// A stream, with the decoder of its coding.
    Stream(Option<Box<Decoder>>),
}

impl Default for EventState {
    fn default() -> Self {
        Self {
            events: MessageStream::new(Reader::new(EVENT_BYTES)),
            content: Content::Response,
        }
    }
}

/// The framing of event streams. The stamp of a slice is the time of its arrival, and a message is
/// the data of an event.
impl Framing for Reader {
    type Violation = TooLong;

    const INSPECTED: Inspected = Inspected::Joined;

    fn count(&self) -> u64 {
        self.events()
    }

    #[inline]
    fn read(
        &mut self,
        bytes: &[u8],
        now: Nanos,
        _codecs: &mut Codecs,
        mut each: impl FnMut(&[u8], Nanos),
    ) -> Result<(), TooLong> {
        self.push(bytes, now.0, |event| {
            each(event.data.as_bytes(), Nanos(event.stamp));
        })
    }
}

impl EventState {
    /// Forgets the response of the previous attempt.
    #[inline]
    pub(super) fn begin_attempt(&mut self) {
        self.content = Content::Response;
    }

    /// Begins a stream whose head has these fields.
    ///
    /// # Errors
    /// If its coding is unknown.
    pub(super) fn begin_stream(
        &mut self,
        cx: &mut KindContext<'_>,
        fields: &Fields<'_>,
    ) -> Result<(), Failure> {
        self.events.framing.begin(EVENT_BYTES);
        self.events.begin_attempt(cx.now);
        self.content = Content::Stream(decoder(fields, decoded_max(cx.rules))?);
        let events = cx.request.events();
        if let Some(duration) = events.map(|events| events.duration)
            && duration < Nanos::MAX
        {
            cx.exchange.account.limit_stream(duration);
        }
        expect_event(cx);
        Ok(())
    }

    /// Reads bytes of a stream; with `end`, the last ones.
    pub(super) fn read(
        &mut self,
        cx: &mut KindContext<'_>,
        bytes: &[u8],
        end: bool,
    ) -> Continuation {
        match (self.decode(cx, bytes), end) {
            (Err(failure), true) => Continuation::End(failure),
            (Err(failure), false) => Continuation::GiveUp(failure),
            (Ok(()), true) => self.over(cx),
            // The exchange has received everything that the plan wants, which is not a failure.
            (Ok(()), false) if self.has_enough(cx) => Continuation::GiveUp(cx.inspect()),
            (Ok(()), false) => Continuation::GoOn,
        }
    }

    /// Decodes bytes of a stream if it is coded, and reads the events.
    fn decode(&mut self, cx: &mut KindContext<'_>, bytes: &[u8]) -> Result<(), Failure> {
        let Content::Stream(Some(decoder)) = &mut self.content else {
            return read(&mut self.events, cx, bytes);
        };
        let mut wrong = Ok(());
        let pushed = decoder.push(bytes, &mut |part| {
            if wrong.is_ok() {
                wrong = read(&mut self.events, cx, part);
            }
        });
        match (wrong, pushed) {
            (Ok(()), Err(error)) => Err(body_use::failure(&error)),
            (wrong, _) => wrong,
        }
    }

    /// Whether the exchange has the events that the plan wants.
    fn has_enough(&self, cx: &KindContext<'_>) -> bool {
        self.events.has(cx.request.receive())
    }

    /// Ends a complete body. A body that ends within an event was cut, unless the event's data show
    /// that it is whole.
    pub(super) fn over(&mut self, cx: &mut KindContext<'_>) -> Continuation {
        if let Content::Stream(Some(decoder)) = &mut self.content
            && let Err(error) = decoder.finish()
        {
            return Continuation::End(body_use::failure(&error));
        }
        let finished = self.events.finish(cx, |reader, each| {
            reader.finish(|event| each(event.data.as_bytes(), Nanos(event.stamp)))
        });
        let (came, ending) = match finished {
            Ok(finished) => finished,
            Err(failure) => return Continuation::End(failure),
        };
        self.events.note_streamed(cx, came);
        match ending {
            Ending::Whole => {}
            Ending::Forgiven => {
                let mut leniencies = Leniencies::default();
                leniencies.insert(Leniency::UnendedEvent);
                cx.exchange.account.note_leniencies(leniencies);
            }
            Ending::Cut if self.has_enough(cx) => {}
            Ending::Cut => return Continuation::End(Failure::from_outcome(Outcome::EventsCut)),
        }
        Continuation::End(cx.inspect())
    }
}

/// Reads bytes of events, and times each event that they complete.
fn read(
    events: &mut MessageStream<Reader>,
    cx: &mut KindContext<'_>,
    bytes: &[u8],
) -> Result<(), Failure> {
    let came = events
        .read(cx, None, bytes)
        .map_err(|broken| match broken {
            BrokenMessage::Undecodable(failure) | BrokenMessage::Refused(failure) => failure,
            BrokenMessage::Framing(TooLong) => Failure::from_outcome(Outcome::LimitEvent),
        })?;
    if came.count > 0 {
        events.note_streamed(cx, came);
        expect_event(cx);
    }
    Ok(())
}

/// Sets the deadline of the next event.
fn expect_event(cx: &mut KindContext<'_>) {
    let events = cx.request.events();
    let gap = events.map_or(Nanos::MAX, |events| events.gap);
    cx.exchange.account.expect_event(gap, cx.now);
}

/// The maximum decoded size of a coded stream. Nothing of it is kept but an event, so a plan that
/// sets no limit for bodies needs none.
fn decoded_max(rules: &Rules) -> u64 {
    match rules.pool().http.compressed {
        Compressed::AsSent => u64::MAX,
        Compressed::Decode(limit) | Compressed::DecodeGzip(limit) => limit.0,
    }
}
