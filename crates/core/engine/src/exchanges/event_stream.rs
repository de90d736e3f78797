//! The events of a stream: its framing, its decoder, and the time of the next event.
//!
//! The bytes are untrusted: a [`Reader`] bounds an event, and a coded stream is decoded in pieces of
//! bounded size.

use super::answer::AnswerState;
use super::body_use::{self, decoder};
use super::context::{Continuation, KindContext};
use super::message_stream::{BrokenMessage, Came, Framing, Inspected, MessageStream};
use super::rules::Rules;
use super::tools::Codecs;
use crate::blame::Failure;
use crate::limits::EVENT_BYTES;
use crate::prepare::Request;
use crate::wire::Fields;
use drumfire_coding::Decoder;
use drumfire_measure::{Leniencies, Leniency, Outcome};
use drumfire_plan::{Compressed, LlmApi};
use drumfire_sse::{Ending, Reader, TooLong};
use drumfire_units::Nanos;

/// The state of a response that should be an event stream; reused by the next exchange with the same
/// entry.
#[derive(Debug)]
pub(super) struct EventState {
    events: MessageStream<EventReader>,
    pub(super) content: Content,
}

/// The reader of a stream, and of the answer that its events are.
#[derive(Debug)]
pub(super) struct EventReader {
    reader: Reader,
    /// `None` until the entry has had an answer.
    answer: Option<Box<AnswerState>>,
    /// Whether the events are an answer.
    is_answer: bool,
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
    /// An answer that is not streamed, with the decoder of its coding.
    Whole(Option<Box<Decoder>>),
}

impl Default for EventState {
    fn default() -> Self {
        Self {
            events: MessageStream::new(EventReader {
                reader: Reader::new(EVENT_BYTES),
                answer: None,
                is_answer: false,
            }),
            content: Content::Response,
        }
    }
}

/// The framing of event streams. The stamp of a slice is the time of its arrival, and a message is
/// the data of an event.
impl Framing for EventReader {
    type Violation = TooLong;

    const INSPECTED: Inspected = Inspected::Joined;

    fn count(&self) -> u64 {
        self.reader.events()
    }

    #[inline]
    fn read(
        &mut self,
        bytes: &[u8],
        now: Nanos,
        _codecs: &mut Codecs,
        mut each: impl FnMut(&[u8], Nanos),
    ) -> Result<(), TooLong> {
        let answer = self.answer.as_deref_mut();
        let mut answer = answer.filter(|_| self.is_answer);
        self.reader.push(bytes, now.0, |event| {
            if let Some(answer) = &mut answer {
                answer.receive(event.kind, event.data, Nanos(event.stamp));
            }
            each(event.data.as_bytes(), Nanos(event.stamp));
        })
    }
}

impl EventReader {
    /// The answer, if the events are one.
    fn answer_mut(&mut self) -> Option<&mut AnswerState> {
        let answer = self.answer.as_deref_mut();
        answer.filter(|_| self.is_answer)
    }

    /// Ends the stream, and passes on the event that only the end completes.
    fn finish(&mut self, each: &mut dyn FnMut(&[u8], Nanos)) -> Ending {
        let answer = self.answer.as_deref_mut();
        let mut answer = answer.filter(|_| self.is_answer);
        self.reader.finish(|event| {
            if let Some(answer) = &mut answer {
                answer.receive(event.kind, event.data, Nanos(event.stamp));
            }
            each(event.data.as_bytes(), Nanos(event.stamp));
        })
    }
}

impl EventState {
    /// Forgets the response of the previous attempt.
    #[inline]
    pub(super) fn begin_attempt(&mut self) {
        self.content = Content::Response;
        if let Some(answer) = self.events.framing.answer_mut() {
            answer.forget();
        }
        self.events.framing.is_answer = false;
    }

    /// The answer, if the response is one.
    pub(super) fn answer(&self) -> Option<&AnswerState> {
        let reader = &self.events.framing;
        reader.answer.as_deref().filter(|_| reader.is_answer)
    }

    /// Begins an answer of this interface to a request.
    fn begin_answer(&mut self, api: LlmApi, request: &Request) {
        let reader = &mut self.events.framing;
        reader.answer.get_or_insert_default().begin(api, request);
        reader.is_answer = true;
    }

    /// Begins an answer that is not streamed, whose head has these fields.
    ///
    /// # Errors
    /// If its coding is unknown.
    pub(super) fn begin_whole(
        &mut self,
        cx: &KindContext<'_>,
        api: LlmApi,
        fields: &Fields<'_>,
    ) -> Result<(), Failure> {
        self.begin_answer(api, cx.request);
        self.content = Content::Whole(decoder(fields, decoded_max(cx.rules))?);
        Ok(())
    }

    /// Reads bytes of an answer that is not streamed; with `end`, the last ones.
    pub(super) fn read_whole(
        &mut self,
        cx: &mut KindContext<'_>,
        bytes: &[u8],
        end: bool,
    ) -> Continuation {
        match (self.keep(bytes), end) {
            (Err(failure), true) => Continuation::End(failure),
            (Err(failure), false) => Continuation::GiveUp(failure),
            (Ok(()), true) => self.over_whole(cx),
            (Ok(()), false) => Continuation::GoOn,
        }
    }

    /// Decodes bytes of an answer if it is coded, and keeps them.
    fn keep(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let Some(answer) = self.events.framing.answer_mut() else {
            return Ok(());
        };
        let Content::Whole(Some(decoder)) = &mut self.content else {
            return answer.keep(bytes);
        };
        let mut kept = Ok(());
        let pushed = decoder.push(bytes, &mut |part| {
            if kept.is_ok() {
                kept = answer.keep(part);
            }
        });
        kept?;
        pushed.map_err(|error| body_use::failure(&error))
    }

    /// Ends an answer that is not streamed.
    pub(super) fn over_whole(&mut self, cx: &mut KindContext<'_>) -> Continuation {
        if let Content::Whole(Some(decoder)) = &mut self.content
            && let Err(error) = decoder.finish()
        {
            return Continuation::End(body_use::failure(&error));
        }
        match self.events.framing.answer_mut() {
            Some(answer) => Continuation::End(answer.end_whole(cx)),
            None => Continuation::End(cx.inspect()),
        }
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
        self.events.framing.reader.begin(EVENT_BYTES);
        if let Some(api) = cx.request.answer() {
            self.begin_answer(api, cx.request);
        }
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
        let finished = self.events.finish(cx, EventReader::finish);
        let (came, ending) = match finished {
            Ok(finished) => finished,
            Err(failure) => return Continuation::End(failure),
        };
        note(&mut self.events, cx, came);
        let has_enough = self.has_enough(cx);
        let answered = match self.events.framing.answer_mut() {
            Some(answer) if !has_enough => answer.end(cx),
            _ => Ok(()),
        };
        if let Err(failure) = answered {
            return Continuation::End(failure);
        }
        match ending {
            Ending::Whole => {}
            Ending::Forgiven => {
                let mut leniencies = Leniencies::default();
                leniencies.insert(Leniency::UnendedEvent);
                cx.exchange.account.note_leniencies(leniencies);
            }
            Ending::Cut if has_enough => {}
            Ending::Cut => return Continuation::End(Failure::from_outcome(Outcome::EventsCut)),
        }
        Continuation::End(cx.inspect())
    }
}

/// Notes the events that came together: the times of messages, or of the answer that they are.
fn note(events: &mut MessageStream<EventReader>, cx: &mut KindContext<'_>, came: Came) {
    match events.framing.answer_mut() {
        Some(answer) => answer.record(cx),
        None => events.note_streamed(cx, came),
    }
}

/// Reads bytes of events, and times each event that they complete.
fn read(
    events: &mut MessageStream<EventReader>,
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
        note(events, cx, came);
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
