//! A response that should be an event stream: server-sent events are read as they arrive, and a
//! stream that is cut fails.
//!
//! A response is a stream if its status is as expected, no redirect follows, and its type is
//! `text/event-stream`. Every other response is handed to [`ResponseState`]. If only the type is
//! wrong, the exchange fails with [`Outcome::EventsType`]; the beginning of the body is kept, because
//! it is often an error message.
//!
//! The verbs are those of any response. A stream is over when the server ends it, or when it has the
//! events that the plan wants; the latter is not a failure.

use super::answer::AnswerState;
use super::context::{Continuation, KindContext, inspect};
use super::event_stream::{Content, EventState};
use super::exchange::Exchange;
use super::outgoing::OutgoingRequest;
use super::response::{self, ResponseState};
use super::rules::Rules;
use crate::blame::Failure;
use crate::wire::{Ahead, Fields};
use drumfire_measure::{FAILED_BODY_BYTES, Leniencies, Outcome};
use drumfire_plan::LlmApi;
use drumfire_units::Nanos;

/// The media type of event streams.
const MEDIA_TYPE: &[u8] = b"text/event-stream";
/// The media type of answers that are not streamed.
const JSON: &[u8] = b"application/json";
/// Bytes quoted of another media type.
const QUOTED_BYTES: usize = 100;

/// The state of a response that should be an event stream, with the parts that read any other.
pub(super) struct EventResponse<'a> {
    pub(super) state: &'a mut EventState,
    pub(super) response: &'a mut ResponseState,
    pub(super) outgoing: &'a mut OutgoingRequest,
}

impl EventResponse<'_> {
    /// Receives the response's head.
    pub(super) fn head(
        self,
        cx: &mut KindContext<'_>,
        status: u16,
        fields: Fields<'_>,
        ahead: Ahead,
    ) -> Continuation {
        let Self {
            state,
            response,
            outgoing,
        } = self;
        response::note_head(outgoing, cx, status, fields);
        let is_ok = cx.rules.judge_request(cx.request, status) == Outcome::Ok;
        if outgoing.leads_on() || !is_ok {
            state.content = Content::Response;
            return response.expect_body(outgoing, cx, status, fields, ahead);
        }
        let api = cx.request.answer();
        if let Some(api) = api.filter(|_| has_type(&fields, JSON)) {
            return match (state.begin_whole(cx, api, &fields), ahead) {
                (Err(failure), _) => Continuation::GiveUp(failure),
                (Ok(()), Ahead::Nothing) => state.over_whole(cx),
                (Ok(()), Ahead::Body | Ahead::NoBody) => Continuation::GoOn,
            };
        }
        if let Err(failure) = check_type(&fields, api) {
            if ahead == Ahead::Nothing {
                return Continuation::End(failure);
            }
            response.sample_body(cx.exchange, &fields);
            state.content = Content::WrongType(failure);
            return Continuation::GoOn;
        }
        match (state.begin_stream(cx, &fields), ahead) {
            (Err(failure), _) => Continuation::GiveUp(failure),
            (Ok(()), Ahead::Nothing) => state.over(cx),
            (Ok(()), Ahead::Body | Ahead::NoBody) => Continuation::GoOn,
        }
    }

    /// Receives bytes of the body; with `end`, the last ones.
    pub(super) fn data(self, cx: &mut KindContext<'_>, bytes: &[u8], end: bool) -> Continuation {
        match &self.state.content {
            Content::Response => self.response.data(self.outgoing, cx, bytes, end),
            Content::Stream(_) => self.state.read(cx, bytes, end),
            Content::Whole(_) => self.state.read_whole(cx, bytes, end),
            Content::WrongType(failure) => {
                self.response.add_sample(cx.exchange, bytes);
                let look = cx.exchange.look.as_deref();
                let has_enough = look.is_some_and(|look| look.length() >= FAILED_BODY_BYTES as u64);
                match (end, has_enough) {
                    (true, _) => Continuation::End(failure.clone()),
                    (false, true) => Continuation::GiveUp(failure.clone()),
                    (false, false) => Continuation::GoOn,
                }
            }
        }
    }

    /// Receives the trailers, which end the body.
    pub(super) fn trailers(self, cx: &mut KindContext<'_>) -> Continuation {
        match &self.state.content {
            Content::Response => self.response.trailers(self.outgoing, cx),
            Content::WrongType(failure) => Continuation::End(failure.clone()),
            Content::Stream(_) => self.state.over(cx),
            Content::Whole(_) => self.state.over_whole(cx),
        }
    }

    /// Receives the end of an HTTP/1.1 response, with the violations that were accepted.
    pub(super) fn end_message(
        self,
        cx: &mut KindContext<'_>,
        leniencies: Leniencies,
    ) -> Continuation {
        if matches!(self.state.content, Content::Response) {
            return self.response.end_message(self.outgoing, cx, leniencies);
        }
        cx.exchange.account.note_leniencies(leniencies);
        match &self.state.content {
            Content::WrongType(failure) => Continuation::End(failure.clone()),
            Content::Whole(_) => self.state.over_whole(cx),
            Content::Response | Content::Stream(_) => self.state.over(cx),
        }
    }
}

/// Whether the bytes of the body are needed.
pub(super) const fn reads_body(state: &EventState, response: &ResponseState) -> bool {
    match state.content {
        Content::Response => response.reads_body(),
        Content::WrongType(_) | Content::Stream(_) | Content::Whole(_) => true,
    }
}

/// The failure of an exchange whose connection or stream has failed.
pub(super) fn failure(
    state: &EventState,
    outgoing: &OutgoingRequest,
    cx: &KindContext<'_>,
    failure: Failure,
) -> Failure {
    // A server may close the connection after an error.
    if let Some(error) = state.answer().and_then(AnswerState::error) {
        return error;
    }
    match &state.content {
        Content::WrongType(wrong) => wrong.clone(),
        Content::Response | Content::Stream(_) | Content::Whole(_) => {
            let failure = cx.exchange.account.cut_off(failure);
            response::incomplete(outgoing, cx.rules, cx.exchange, failure)
        }
    }
}

/// The end of an exchange whose time is up. A stream may be as slow as it likes, within the limits
/// of the exchange and of the time between two events; the end of its planned duration is not a
/// failure.
pub(super) fn lateness(
    state: &EventState,
    outgoing: &OutgoingRequest,
    rules: &Rules,
    exchange: &mut Exchange,
    now: Nanos,
) -> Failure {
    let account = &exchange.account;
    let request = rules.request(exchange);
    let has_duration = || {
        request
            .events()
            .is_some_and(|events| events.duration < Nanos::MAX)
    };
    match &state.content {
        Content::WrongType(wrong) => wrong.clone(),
        Content::Stream(_) if account.is_spent(now) && has_duration() => {
            inspect(request, exchange, now)
        }
        Content::Stream(_) if account.is_spent(now) => Failure::from_outcome(Outcome::TimeoutTotal),
        Content::Stream(_) => Failure::from_outcome(Outcome::TimeoutGap),
        Content::Response | Content::Whole(_) => {
            let failure = Failure::from_outcome(account.lateness(now));
            response::incomplete(outgoing, rules, exchange, failure)
        }
    }
}

/// Whether a response has this media type, with any parameters (RFC 9110 section 8.3.1).
fn has_type(fields: &Fields<'_>, media_type: &[u8]) -> bool {
    let field = fields.find("content-type");
    let name = field.and_then(|field| field.split(|byte| *byte == b';').next());
    name.is_some_and(|name| name.trim_ascii().eq_ignore_ascii_case(media_type))
}

/// Checks that a response is an event stream, or else an answer of this interface that is streamed.
///
/// # Errors
/// With the type in the message, if it has another type.
fn check_type(fields: &Fields<'_>, api: Option<LlmApi>) -> Result<(), Failure> {
    if has_type(fields, MEDIA_TYPE) {
        return Ok(());
    }
    let text = match fields.find("content-type") {
        None => "the response has no content-type".to_owned(),
        Some(field) => {
            let quoted = &field[..field.len().min(QUOTED_BYTES)];
            format!("the content-type is {}", quoted.escape_ascii())
        }
    };
    let outcome = match api {
        Some(_) => Outcome::LlmType,
        None => Outcome::EventsType,
    };
    Err(Failure::with(outcome, text))
}
