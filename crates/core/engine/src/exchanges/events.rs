//! An event stream: server-sent events are read as they arrive, and a stream that is cut fails.
//!
//! A response is a stream if its status is as expected, no redirect follows, and its type is
//! `text/event-stream`. Every other response is handed to [`ResponseState`]. If only the type is
//! wrong, the exchange fails with [`Outcome::EventsType`]; the beginning of the body is kept, because
//! it is often an error message.
//!
//! The verbs are those of any response. A stream is over when the server ends it, or when it has the
//! events that the plan wants; the latter is not a failure. The bytes are untrusted: a [`Reader`]
//! bounds an event, and a coded stream is decoded in pieces of bounded size.

use super::body_use::{self, decoder};
use super::context::{Continuation, KindContext};
use super::exchange::Exchange;
use super::message_stream::{BrokenMessage, Framing, Inspected, MessageStream};
use super::outgoing::OutgoingRequest;
use super::response::{self, ResponseState};
use super::rules::Rules;
use super::tools::Codecs;
use crate::blame::Failure;
use crate::limits::EVENT_BYTES;
use crate::wire::{Ahead, Fields};
use drumfire_coding::Decoder;
use drumfire_measure::{FAILED_BODY_BYTES, Leniencies, Leniency, Outcome};
use drumfire_plan::Compressed;
use drumfire_sse::{Ending, Reader, TooLong};
use drumfire_units::Nanos;

/// The media type of event streams.
const MEDIA_TYPE: &[u8] = b"text/event-stream";
/// Bytes quoted of another media type.
const QUOTED_BYTES: usize = 100;

/// The state of a response that should be an event stream; reused by the next exchange with the same
/// entry.
#[derive(Debug)]
pub(super) struct EventState {
    events: MessageStream<Reader>,
    content: Content,
}

/// The response that has come.
#[derive(Debug)]
enum Content {
    /// A response that is judged as any other.
    Response,
    /// A response with another type: the failure of the exchange.
    WrongType(Failure),
    /// A stream, with the decoder of its coding.
    Stream(Option<Box<Decoder>>),
}

/// The parts of an exchange with which a response is read that is not a stream.
pub(super) struct ResponseParts<'a> {
    pub(super) response: &'a mut ResponseState,
    pub(super) outgoing: &'a mut OutgoingRequest,
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

/// The response, whose verbs are called with the parts of an HTTP response.
impl EventState {
    /// Forgets the response of the previous attempt.
    #[inline]
    pub(super) fn begin_attempt(&mut self) {
        self.content = Content::Response;
    }

    /// Whether the bytes of the body are needed.
    pub(super) const fn reads_body(&self, response: &ResponseState) -> bool {
        match self.content {
            Content::Response => response.reads_body(),
            Content::WrongType(_) | Content::Stream(_) => true,
        }
    }

    /// Receives the response's head.
    pub(super) fn head(
        &mut self,
        parts: ResponseParts<'_>,
        cx: &mut KindContext<'_>,
        status: u16,
        fields: Fields<'_>,
        ahead: Ahead,
    ) -> Continuation {
        let ResponseParts { response, outgoing } = parts;
        response::note_head(outgoing, cx, status, fields);
        let is_ok = cx.rules.judge_request(cx.request, status) == Outcome::Ok;
        if outgoing.leads_on() || !is_ok {
            self.content = Content::Response;
            return response.expect_body(outgoing, cx, status, fields, ahead);
        }
        if let Err(failure) = check_type(&fields) {
            if ahead == Ahead::Nothing {
                return Continuation::End(failure);
            }
            response.sample_body(cx.exchange, &fields);
            self.content = Content::WrongType(failure);
            return Continuation::GoOn;
        }
        self.events.framing.begin(EVENT_BYTES);
        self.events.begin_attempt(cx.now);
        self.content = match decoder(&fields, decoded_max(cx.rules)) {
            Ok(decoder) => Content::Stream(decoder),
            Err(failure) => return Continuation::GiveUp(failure),
        };
        expect_event(cx);
        match ahead {
            Ahead::Nothing => self.over(cx),
            Ahead::Body | Ahead::NoBody => Continuation::GoOn,
        }
    }

    /// Receives bytes of the body; with `end`, the last ones.
    pub(super) fn data(
        &mut self,
        parts: ResponseParts<'_>,
        cx: &mut KindContext<'_>,
        bytes: &[u8],
        end: bool,
    ) -> Continuation {
        let read = match &mut self.content {
            Content::Response => return parts.response.data(parts.outgoing, cx, bytes, end),
            Content::WrongType(failure) => {
                parts.response.add_sample(cx.exchange, bytes);
                let look = cx.exchange.look.as_deref();
                let has_enough = look.is_some_and(|look| look.length() >= FAILED_BODY_BYTES as u64);
                return match (end, has_enough) {
                    (true, _) => Continuation::End(failure.clone()),
                    (false, true) => Continuation::GiveUp(failure.clone()),
                    (false, false) => Continuation::GoOn,
                };
            }
            Content::Stream(None) => read(&mut self.events, cx, bytes),
            Content::Stream(Some(decoder)) => {
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
        };
        match (read, end) {
            (Err(failure), true) => Continuation::End(failure),
            (Err(failure), false) => Continuation::GiveUp(failure),
            (Ok(()), true) => self.over(cx),
            // The exchange has received everything that the plan wants, which is not a failure.
            (Ok(()), false) if self.has_enough(cx) => Continuation::GiveUp(cx.inspect()),
            (Ok(()), false) => Continuation::GoOn,
        }
    }

    /// Receives the trailers, which end the body.
    pub(super) fn trailers(
        &mut self,
        parts: ResponseParts<'_>,
        cx: &mut KindContext<'_>,
    ) -> Continuation {
        match &self.content {
            Content::Response => parts.response.trailers(parts.outgoing, cx),
            Content::WrongType(failure) => Continuation::End(failure.clone()),
            Content::Stream(_) => self.over(cx),
        }
    }

    /// Receives the end of an HTTP/1.1 response, with the violations that were accepted.
    pub(super) fn end_message(
        &mut self,
        parts: ResponseParts<'_>,
        cx: &mut KindContext<'_>,
        leniencies: Leniencies,
    ) -> Continuation {
        if matches!(self.content, Content::Response) {
            return parts.response.end_message(parts.outgoing, cx, leniencies);
        }
        cx.exchange.account.note_leniencies(leniencies);
        match &self.content {
            Content::WrongType(failure) => Continuation::End(failure.clone()),
            Content::Response | Content::Stream(_) => self.over(cx),
        }
    }

    /// Whether the exchange has the events that the plan wants.
    fn has_enough(&self, cx: &KindContext<'_>) -> bool {
        let events = cx.request.events();
        self.events.has(events.and_then(|events| events.receive))
    }

    /// Ends a complete body. A body that ends within an event was cut, unless the event's data show
    /// that it is whole.
    fn over(&mut self, cx: &mut KindContext<'_>) -> Continuation {
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

/// The end of an exchange that failed on the wire.
impl EventState {
    /// The failure of an exchange whose connection or stream has failed.
    pub(super) fn failure(
        &self,
        outgoing: &OutgoingRequest,
        cx: &KindContext<'_>,
        failure: Failure,
    ) -> Failure {
        match &self.content {
            Content::WrongType(wrong) => wrong.clone(),
            Content::Response | Content::Stream(_) => {
                let failure = cx.exchange.account.cut_off(failure);
                response::incomplete(outgoing, cx.rules, cx.exchange, failure)
            }
        }
    }

    /// The failure of an exchange whose time is up. A stream may be as slow as it likes, within the
    /// limits of the exchange and of the time between two events.
    pub(super) fn lateness(
        &self,
        outgoing: &OutgoingRequest,
        rules: &Rules,
        exchange: &Exchange,
        now: Nanos,
    ) -> Failure {
        let account = &exchange.account;
        match &self.content {
            Content::WrongType(wrong) => wrong.clone(),
            Content::Stream(_) if account.is_spent(now) => {
                Failure::from_outcome(Outcome::TimeoutTotal)
            }
            Content::Stream(_) => Failure::from_outcome(Outcome::TimeoutGap),
            Content::Response => {
                let failure = Failure::from_outcome(account.lateness(now));
                response::incomplete(outgoing, rules, exchange, failure)
            }
        }
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
            BrokenMessage::Undecodable(failure) | BrokenMessage::TooLarge(failure) => failure,
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

/// Checks that a response is an event stream, with any parameters (RFC 9110 section 8.3.1).
///
/// # Errors
/// With the type in the message, if it has another type.
fn check_type(fields: &Fields<'_>) -> Result<(), Failure> {
    let text = match fields.find("content-type") {
        None => "the response has no content-type".to_owned(),
        Some(field) => {
            let end = field.iter().position(|byte| *byte == b';');
            let name = &field[..end.unwrap_or(field.len())];
            if name.trim_ascii().eq_ignore_ascii_case(MEDIA_TYPE) {
                return Ok(());
            }
            let quoted = &field[..field.len().min(QUOTED_BYTES)];
            format!("the content-type is {}", quoted.escape_ascii())
        }
    };
    Err(Failure::with(Outcome::EventsType, text))
}
