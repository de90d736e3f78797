//! The state of an exchange: its request on the way out, and its response.
//!
//! The handler calls a verb for each event of the wire, in the wire's order. The verb returns how
//! the exchange continues:
//!
//! ```text
//!   render_request ─► rendered or opening ─► (next_bytes ─► taken)*   the request, each attempt
//!         ─► head ─► data* ─► end_message or trailers                 the response: ─► Continuation
//!   timer         when a time has come that `render_request` or `taken` has set
//!   failure, lateness, pause_before_resend                      the exchange has failed on the wire
//!   end_exchange  once, after the sample
//! ```
//!
//! The request's [`Form`](crate::prepare::Form) selects the verbs of the request, and its
//! [`ExchangeKind`] the verbs of the response. Each is matched once per verb, and the state for it
//! exists in every exchange. Another kind needs a variant of [`ExchangeKind`], an arm here, and a file with its state; the handler, the transport and the
//! wires stay unchanged.

use super::account;
use super::answer::AnswerState;
use super::call::{self, CallState, MessageState};
use super::context::{BodyStep, Continuation, KindContext, TimerStep};
use super::event_stream::EventState;
use super::events::{self, EventResponse};
use super::exchange::Exchange;
use super::messages::OutgoingMessages;
use super::outgoing::OutgoingRequest;
use super::response::{self, ResponseState};
use super::rules::Rules;
use super::socket::{self, SocketState};
use crate::blame::Failure;
use crate::prepare::{ExchangeKind, Form, Request};
use crate::wire::{Ahead, Chunk, Fields, Opening, Resend, SocketMessage};
use drumfire_measure::{AnswerSample, Leniencies, Outcome, Side};
use drumfire_plan::DataError;
use drumfire_units::Nanos;

/// The state of an exchange's request and response, reused by the next exchange of its entry.
#[derive(Debug, Default)]
pub(super) struct ExchangeState {
    /// The request on its way out.
    pub(super) outgoing: OutgoingRequest,
    /// An HTTP response.
    response: ResponseState,
    /// Messages of both directions; `None` until the entry has had an exchange with messages.
    messages: Option<Box<MessageState>>,
}

impl ExchangeState {
    /// Begins an exchange.
    #[inline]
    pub(super) fn begin_exchange(&mut self) {
        if let Some(out) = self.out() {
            out.begin_exchange();
        }
    }

    /// Drops the context of the data, which holds values of its user.
    #[cold]
    pub(super) fn drop_context(&mut self) {
        self.outgoing.drop_context();
        if let Some(out) = self.out() {
            out.drop_context();
        }
    }

    /// The outgoing messages of a call, if the entry has had one.
    #[inline]
    fn out(&mut self) -> Option<&mut OutgoingMessages> {
        let messages = self.messages.as_deref_mut()?;
        Some(&mut messages.call.as_deref_mut()?.out)
    }

    /// The replies of a call.
    #[inline]
    fn replies(&mut self) -> &mut CallState {
        let messages = self.messages.get_or_insert_default();
        &mut messages.call.get_or_insert_default().replies
    }

    /// The messages of a WebSocket.
    #[inline]
    fn socket(&mut self) -> &mut SocketState {
        &mut self.messages.get_or_insert_default().socket
    }

    /// The event stream, with the parts that it is read with.
    #[inline]
    fn event_response(&mut self) -> EventResponse<'_> {
        let messages = self.messages.get_or_insert_default();
        EventResponse {
            state: messages.events.get_or_insert_default(),
            response: &mut self.response,
            outgoing: &mut self.outgoing,
        }
    }

    /// The event stream, if its head has come.
    fn events(&self) -> Option<&EventState> {
        self.messages
            .as_deref()
            .and_then(|messages| messages.events.as_deref())
    }

    /// Forgets the response of the previous attempt.
    #[inline]
    fn begin_response(&mut self) {
        self.response.begin_attempt();
        if let Some(messages) = &mut self.messages
            && let Some(events) = &mut messages.events
        {
            events.begin_attempt();
        }
    }

    /// Discards the response of a failed attempt, before the next attempt.
    #[cold]
    pub(super) fn begin_again(&mut self) {
        self.begin_response();
        self.outgoing.begin_again();
    }

    /// Discards the redirect response, before the attempt of the redirected request.
    pub(super) fn begin_hop(&mut self) {
        self.begin_response();
    }

    /// Drops everything that the exchange needed; the memory is kept for the next exchange.
    #[inline]
    pub(super) fn end_exchange(&mut self) {
        self.begin_response();
        self.outgoing.end_exchange();
    }
}

/// The request.
impl ExchangeState {
    /// Begins an attempt on a connection: renders the varying parts of the request. Returns the
    /// time at which [`timer`](Self::timer) must be called, if any.
    ///
    /// # Errors
    /// A text, if the data cannot be rendered.
    pub(super) fn render_request(
        &mut self,
        cx: &mut KindContext<'_>,
        connection: u32,
        unix_time: impl FnOnce() -> u64,
    ) -> Result<Option<Nanos>, DataError> {
        let request = cx.request;
        let until = match &request.kind {
            ExchangeKind::Call(call) => {
                self.replies().begin_attempt(call, cx.now);
                None
            }
            ExchangeKind::Socket(socket) => self.socket().begin_attempt(socket, cx),
            ExchangeKind::Response | ExchangeKind::Events(_) => None,
        };
        let rendered = self
            .outgoing
            .render(&mut self.messages, cx, connection, unix_time)?;
        Ok(rendered.or(until))
    }

    /// The opening of the request's stream; `None` if the request has another form.
    #[inline]
    pub(super) fn opening<'a>(&'a self, request: &'a Request) -> Option<Opening<'a>> {
        self.outgoing.opening(self.messages.as_deref(), request)
    }

    /// The next bytes of the body for the stream; `None` if no bytes are ready.
    #[inline]
    pub(super) fn next_bytes<'a>(&'a self, request: &'a Request) -> Option<Chunk<'a>> {
        self.outgoing.next_bytes(self.messages.as_deref(), request)
    }

    /// Notes that the stream has taken this many bytes.
    #[inline]
    pub(super) fn taken(&mut self, cx: &mut KindContext<'_>, taken: usize) -> BodyStep {
        let request = cx.request;
        if let ExchangeKind::Socket(socket) = &request.kind {
            return SocketState::sent(socket, cx);
        }
        if let Form::Messages(request) = &request.form
            && let Some(out) = self.out()
        {
            return out.taken(request, cx, taken);
        }
        self.outgoing.note_taken(taken);
        BodyStep::Wait
    }

    /// Stops the messages, because the server takes no more of them.
    #[cold]
    pub(super) fn refuse_body(&mut self) {
        if let Some(out) = self.out() {
            out.refuse();
        }
    }

    /// Handles a timer that the exchange has set and that has fired.
    pub(super) fn timer(&mut self, cx: &mut KindContext<'_>) -> TimerStep {
        let request = cx.request;
        if let ExchangeKind::Socket(request) = &request.kind {
            return socket::timer(request, cx);
        }
        match (&request.form, self.out()) {
            (Form::Messages(request), Some(out)) => out.timer(request, cx),
            _ => TimerStep::Nothing,
        }
    }
}

/// The response.
impl ExchangeState {
    /// Whether the bytes of the response's body are needed.
    #[inline]
    pub(super) fn reads_body(&self, request: &Request) -> bool {
        match &request.kind {
            ExchangeKind::Response => self.response.reads_body(),
            ExchangeKind::Events(_) => {
                let events = self.events();
                events.is_none_or(|events| events::reads_body(events, &self.response))
            }
            ExchangeKind::Call(_) | ExchangeKind::Socket(_) => true,
        }
    }

    /// Receives the response's head.
    #[inline(always)]
    pub(super) fn head(
        &mut self,
        cx: &mut KindContext<'_>,
        status: u16,
        fields: Fields<'_>,
        ahead: Ahead,
    ) -> Continuation {
        let request = cx.request;
        match &request.kind {
            ExchangeKind::Response => {
                let outgoing = &mut self.outgoing;
                self.response.head(outgoing, cx, status, fields, ahead)
            }
            ExchangeKind::Events(_) => self.event_response().head(cx, status, fields, ahead),
            ExchangeKind::Call(call) => self.replies().head(call, cx, status, fields, ahead),
            ExchangeKind::Socket(_) => socket::head(cx, status, &fields),
        }
    }

    /// Receives bytes of the response's body; with `end`, the last ones.
    #[inline(always)]
    pub(super) fn data(
        &mut self,
        cx: &mut KindContext<'_>,
        bytes: &[u8],
        end: bool,
    ) -> Continuation {
        let request = cx.request;
        match &request.kind {
            ExchangeKind::Response => self.response.data(&self.outgoing, cx, bytes, end),
            ExchangeKind::Events(_) => self.event_response().data(cx, bytes, end),
            ExchangeKind::Call(call) => self.replies().data(call, cx, bytes, end),
            // A socket has messages instead.
            ExchangeKind::Socket(_) => Continuation::GoOn,
        }
    }

    /// Receives the trailers, which end the response.
    #[inline]
    pub(super) fn trailers(
        &mut self,
        cx: &mut KindContext<'_>,
        fields: Fields<'_>,
    ) -> Continuation {
        cx.look_at_trailers(&fields);
        let request = cx.request;
        match &request.kind {
            ExchangeKind::Response => self.response.trailers(&self.outgoing, cx),
            ExchangeKind::Events(_) => self.event_response().trailers(cx),
            ExchangeKind::Call(call) => self.replies().trailers(call, cx, fields),
            ExchangeKind::Socket(_) => Continuation::End(Failure::from_outcome(Outcome::Ok)),
        }
    }

    /// Receives a complete message of a WebSocket.
    pub(super) fn message(
        &mut self,
        cx: &mut KindContext<'_>,
        message: &SocketMessage<'_>,
    ) -> Continuation {
        let request = cx.request;
        match &request.kind {
            ExchangeKind::Socket(socket) => self.socket().message(socket, cx, message),
            // Only WebSockets have such messages.
            ExchangeKind::Response | ExchangeKind::Events(_) | ExchangeKind::Call(_) => {
                Continuation::GoOn
            }
        }
    }

    /// Receives the end of an HTTP/1.1 response, with the violations that were accepted, or the end
    /// of the closing handshake of a WebSocket. Never
    /// called for a gRPC call, because HTTP/1.1 carries none.
    #[inline(always)]
    pub(super) fn end_message(
        &mut self,
        cx: &mut KindContext<'_>,
        leniencies: Leniencies,
    ) -> Continuation {
        match &cx.request.kind {
            ExchangeKind::Events(_) => self.event_response().end_message(cx, leniencies),
            ExchangeKind::Socket(_) => Continuation::End(Failure::from_outcome(Outcome::Ok)),
            ExchangeKind::Response | ExchangeKind::Call(_) => {
                self.response.end_message(&self.outgoing, cx, leniencies)
            }
        }
    }
}

/// The end of an exchange.
impl ExchangeState {
    /// The pause before the exchange is sent again, if it failed and the wire allows it; `None` if
    /// it is not sent again.
    pub(super) fn pause_before_resend(
        &self,
        cx: &KindContext<'_>,
        resend: Resend,
    ) -> Option<Nanos> {
        match &cx.request.kind {
            ExchangeKind::Response | ExchangeKind::Events(_) => {
                response::pause_before_resend(&self.outgoing, cx, resend)
            }
            ExchangeKind::Call(_) => call::pause_before_resend(resend),
            ExchangeKind::Socket(_) => None,
        }
    }

    /// The failure of an exchange whose connection or stream has failed.
    pub(super) fn failure(&self, cx: &KindContext<'_>, failure: Failure) -> Failure {
        match (&cx.request.kind, self.events()) {
            (ExchangeKind::Events(_), Some(events)) => {
                events::failure(events, &self.outgoing, cx, failure)
            }
            (ExchangeKind::Response | ExchangeKind::Events(_), _) => {
                let failure = cx.exchange.account.cut_off(failure);
                response::incomplete(&self.outgoing, cx.rules, cx.exchange, failure)
            }
            (ExchangeKind::Call(call), _) => call::failure(call, cx, failure),
            (ExchangeKind::Socket(_), _) => failure,
        }
    }

    /// The end of an exchange whose time is up after a connection has taken it: a failure, unless its
    /// stream should last so long.
    pub(super) fn lateness(&self, rules: &Rules, exchange: &mut Exchange, now: Nanos) -> Failure {
        match (&rules.request(exchange).kind, self.events()) {
            (ExchangeKind::Events(_), Some(events)) => {
                events::lateness(events, &self.outgoing, rules, exchange, now)
            }
            (ExchangeKind::Response | ExchangeKind::Events(_), _) => {
                let failure = Failure::from_outcome(exchange.account.lateness(now));
                response::incomplete(&self.outgoing, rules, exchange, failure)
            }
            (ExchangeKind::Call(_), _) => Failure::from_outcome(call::lateness(exchange, now)),
            (ExchangeKind::Socket(request), _) => {
                Failure::from_outcome(socket::lateness(request, exchange, now))
            }
        }
    }

    /// Accounts for a call with this outcome: counts the messages that were not sent, and returns
    /// the status of its sample.
    #[inline]
    pub(super) fn account_call(&self, cx: &mut KindContext<'_>, outcome: Outcome) -> u16 {
        let status = account::final_status(cx.exchange.account.status(), outcome);
        if let Form::Messages(request) = &cx.request.form
            && cx.is_measured()
        {
            let messages = self.messages.as_deref();
            let unsent = match messages.and_then(MessageState::out) {
                Some(out) => out.unsent(request, cx),
                None => OutgoingMessages::default().unsent(request, cx),
            };
            if unsent > 0 {
                cx.figures
                    .messages_mut(cx.request.step)
                    .record_unsent(unsent);
            }
        }
        call::final_status(status, outcome)
    }

    /// The numbers of an answer so far, if the response is read as one.
    pub(super) fn answer_sample(&self, request: &Request) -> Option<AnswerSample> {
        let api = request.answer()?;
        let asked = drumfire_llm::asked_tokens(self.outgoing.prepared_body(request));
        Some(match self.events().and_then(EventState::answer) {
            Some(answer) => answer.sample(api, asked),
            None => AnswerSample {
                generates: api.streams(),
                asked,
                ..AnswerSample::default()
            },
        })
    }

    /// The gaps between the events of the answer so far, if the plan keeps its samples.
    pub(super) fn answer_gaps(&self) -> &[Nanos] {
        let answer = self.events().and_then(EventState::answer);
        answer.map_or(&[], AnswerState::gaps)
    }

    /// The sent request as it is shown.
    pub(super) fn sent(&self, request: &Request) -> Side {
        self.outgoing.sent(self.messages.as_deref(), request)
    }

    /// Adds the parts to a shown response that depend on the request's kind.
    pub(super) fn explain(request: &Request, response: &mut Side) {
        if let ExchangeKind::Call(call) = &request.kind {
            call::show_texts(call, response);
        }
    }
}
