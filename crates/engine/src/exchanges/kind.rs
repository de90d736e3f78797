//! The kind of an exchange, with the state that only exchanges of that kind have.
//!
//! The kind of its request's message decides it when an exchange begins. The handler then calls a
//! verb for each event of the wire, in the wire's order, and the kind answers how the exchange goes
//! on:
//!
//! ```text
//!   render_request ─► rendered or opening ─► (next_bytes ─► taken)*      the request, for each attempt
//!         ─► head ─► data* ─► end or trailers                   the response: ─► Continuation
//!   timer         when a time has come that `render_request` or `taken` has set
//!   failure, lateness, pause_before_resend                      the exchange has failed on the wire
//!   end_exchange  once, after the sample
//! ```
//!
//! Another kind (an event stream, a socket) is a variant here, a variant of [`Message`], and a file
//! with its state; the handler, the transport and the wires stay as they are.

use super::account;
use super::call::{self, CallState};
use super::context::{BodyStep, Continuation, KindContext, TimerStep};
use super::exchange::Exchange;
use super::response::ResponseState;
use super::rules::Rules;
use crate::blame::Failure;
use crate::prepare::{Message, Rendered, Request};
use crate::wire::{Ahead, Chunk, Fields, Opening, Resend};
use drumfire_measure::{Leniencies, Outcome, Side};
use drumfire_plan::DataError;
use drumfire_units::Nanos;

/// The kind of an exchange.
///
/// An enum and not a trait object: each verb is one branch, and the response's is inlined. State
/// and request always agree in kind, since [`Self::suits`] is asked when an exchange begins; the
/// arms where they differ are unreachable and do nothing.
#[derive(Debug)]
pub(super) enum ExchangeKind {
    /// Its request is answered by a response.
    Response(ResponseState),
    /// It is a gRPC call.
    Call(Box<CallState>),
}

impl Default for ExchangeKind {
    fn default() -> Self {
        Self::Response(ResponseState::default())
    }
}

impl ExchangeKind {
    /// Whether an exchange of a request is of this kind.
    #[inline]
    pub(super) const fn suits(&self, request: &Request) -> bool {
        match self {
            Self::Response(_) => !request.is_call(),
            Self::Call(_) => request.is_call(),
        }
    }

    /// The kind of a request's exchanges, with new state.
    #[cold]
    pub(super) fn of(request: &Request) -> Self {
        match &request.message {
            Message::Call(_) => Self::Call(Box::default()),
            Message::Rendered(_) | Message::Stream(_) | Message::Varying(_) => Self::default(),
        }
    }

    /// The state of a response, which may be redirected; `None` of another kind.
    pub(super) const fn response(&self) -> Option<&ResponseState> {
        match self {
            Self::Response(response) => Some(response),
            Self::Call(_) => None,
        }
    }

    /// The response of an exchange, to redirect it.
    pub(super) const fn response_mut(&mut self) -> Option<&mut ResponseState> {
        match self {
            Self::Response(response) => Some(response),
            Self::Call(_) => None,
        }
    }

    /// Begins an exchange with the state.
    #[inline]
    pub(super) const fn begin_exchange(&mut self) {
        match self {
            Self::Response(_) => {}
            Self::Call(call) => call.begin_exchange(),
        }
    }

    /// Discards the response of an attempt that has failed, before the next.
    #[cold]
    pub(super) fn begin_again(&mut self) {
        match self {
            Self::Response(response) => response.begin_again(),
            Self::Call(_) => {}
        }
    }

    /// Drops what the exchange needed; its memory stays for the next.
    #[inline]
    pub(super) fn end_exchange(&mut self) {
        match self {
            Self::Response(response) => response.end_exchange(),
            Self::Call(_) => {}
        }
    }

    /// Drops the context of its data, which keeps values of its user.
    #[cold]
    pub(super) fn drop_context(&mut self) {
        match self {
            Self::Response(response) => response.drop_context(),
            Self::Call(call) => call.drop_context(),
        }
    }
}

/// The request.
impl ExchangeKind {
    /// Begins an attempt on a connection: makes what varies in its request. Gives a time at which
    /// its [`timer`](Self::timer) is to fire.
    ///
    /// # Errors
    /// In words, when its data can't be rendered.
    pub(super) fn render_request(
        &mut self,
        cx: &mut KindContext<'_>,
        connection: u32,
        unix_time: impl FnOnce() -> u64,
    ) -> Result<Option<Nanos>, DataError> {
        let request = cx.request;
        match (self, &request.message) {
            (Self::Call(state), Message::Call(call)) => {
                state.render_request(call, cx, connection, unix_time)
            }
            (Self::Response(response), _) => response
                .render_request(cx, connection, unix_time)
                .map(|()| None),
            (Self::Call(_), _) => Ok(None),
        }
    }

    /// Its request as HTTP/1.1 sends it; `None` where it has none in that form.
    #[inline(always)]
    pub(super) fn rendered<'a>(&'a self, request: &'a Request) -> Option<&'a Rendered> {
        match self {
            Self::Response(response) => response.rendered(request),
            Self::Call(_) => None,
        }
    }

    /// The opening of its stream; `None` where its request has no such form.
    #[inline]
    pub(super) fn opening<'a>(&'a self, request: &'a Request) -> Option<Opening<'a>> {
        match (self, &request.message) {
            (Self::Call(state), Message::Call(call)) => Some(state.opening(call)),
            (Self::Response(response), _) => response.opening(request),
            (Self::Call(_), _) => None,
        }
    }

    /// The next bytes of the body that its stream sends; `None` where there are none for now.
    #[inline]
    pub(super) fn next_bytes<'a>(&'a self, request: &'a Request) -> Option<Chunk<'a>> {
        match (self, &request.message) {
            (Self::Call(state), Message::Call(call)) => state.next_bytes(call),
            (Self::Response(response), _) => response.next_bytes(request),
            (Self::Call(_), _) => None,
        }
    }

    /// Notes that its stream has taken this many of them.
    #[inline]
    pub(super) fn taken(&mut self, cx: &mut KindContext<'_>, taken: usize) -> BodyStep {
        let request = cx.request;
        match (self, &request.message) {
            (Self::Call(state), Message::Call(call)) => state.taken(call, cx, taken),
            (Self::Response(response), _) => {
                response.note_taken(taken);
                BodyStep::Wait
            }
            (Self::Call(_), _) => BodyStep::Wait,
        }
    }

    /// Stops the body where the server takes no more of it.
    #[cold]
    pub(super) fn refuse_body(&mut self) {
        match self {
            Self::Response(_) => {}
            Self::Call(call) => call.refuse_body(),
        }
    }

    /// Acts on a time that it has set and that has come.
    pub(super) fn timer(&mut self, cx: &mut KindContext<'_>) -> TimerStep {
        let request = cx.request;
        match (self, &request.message) {
            (Self::Call(state), Message::Call(call)) => state.timer(call, cx),
            _ => TimerStep::Nothing,
        }
    }
}

/// The response.
impl ExchangeKind {
    /// Whether the bytes of its response's body are looked at.
    #[inline]
    pub(super) const fn reads_body(&self) -> bool {
        match self {
            Self::Response(response) => response.reads_body(),
            Self::Call(_) => true,
        }
    }

    /// Takes the response's head.
    #[inline(always)]
    pub(super) fn head(
        &mut self,
        cx: &mut KindContext<'_>,
        status: u16,
        fields: Fields<'_>,
        ahead: Ahead,
    ) -> Continuation {
        let request = cx.request;
        match (self, &request.message) {
            (Self::Call(state), Message::Call(call)) => state.head(call, cx, status, fields, ahead),
            (Self::Response(response), _) => response.head(cx, status, fields, ahead),
            (Self::Call(_), _) => Continuation::GoOn,
        }
    }

    /// Takes bytes of the response's body, its last ones at the `end`.
    #[inline(always)]
    pub(super) fn data(
        &mut self,
        cx: &mut KindContext<'_>,
        bytes: &[u8],
        end: bool,
    ) -> Continuation {
        let request = cx.request;
        match (self, &request.message) {
            (Self::Call(state), Message::Call(call)) => state.data(call, cx, bytes, end),
            (Self::Response(response), _) => response.data(cx, bytes, end),
            (Self::Call(_), _) => Continuation::GoOn,
        }
    }

    /// Takes the trailers, with which the response is over.
    #[inline]
    pub(super) fn trailers(
        &mut self,
        cx: &mut KindContext<'_>,
        fields: Fields<'_>,
    ) -> Continuation {
        cx.look_at_trailers(&fields);
        let request = cx.request;
        match (self, &request.message) {
            (Self::Call(state), Message::Call(call)) => state.trailers(call, cx, fields),
            (Self::Response(response), _) => response.trailers(cx),
            (Self::Call(_), _) => Continuation::GoOn,
        }
    }

    /// Takes the end of a response of HTTP/1.1, which was forgiven these mistakes.
    #[inline(always)]
    pub(super) fn end_message(
        &mut self,
        cx: &mut KindContext<'_>,
        leniencies: Leniencies,
    ) -> Continuation {
        match self {
            Self::Response(response) => response.end_message(cx, leniencies),
            // A call travels on streams, which end with trailers.
            Self::Call(_) => Continuation::GoOn,
        }
    }
}

/// Its end.
impl ExchangeKind {
    /// The pause before it is sent once more, where it failed and the wire allows that; `None`
    /// where it is not.
    pub(super) fn pause_before_resend(
        &self,
        cx: &KindContext<'_>,
        resend: Resend,
    ) -> Option<Nanos> {
        match self {
            Self::Response(response) => response.pause_before_resend(cx, resend),
            Self::Call(_) => call::pause_before_resend(resend),
        }
    }

    /// The failure of an exchange whose connection or stream has failed so.
    pub(super) fn failure(&self, cx: &KindContext<'_>, failure: Failure) -> Failure {
        match (self, &cx.request.message) {
            (Self::Call(_), Message::Call(call)) => call::failure(call, cx, failure),
            (Self::Response(response), _) => {
                let failure = cx.exchange.account.cut_off(failure);
                response.incomplete(cx.rules, cx.exchange, failure)
            }
            (Self::Call(_), _) => failure,
        }
    }

    /// The failure of an exchange whose time is up on its connection.
    pub(super) fn lateness(&self, rules: &Rules, exchange: &Exchange, now: Nanos) -> Failure {
        match self {
            Self::Response(response) => {
                let failure = Failure::of(exchange.account.lateness(now));
                response.incomplete(rules, exchange, failure)
            }
            Self::Call(_) => Failure::of(call::lateness(exchange, now)),
        }
    }

    /// Accounts for an exchange with this outcome: counts what it has not sent, and gives the
    /// status of its sample.
    #[inline]
    pub(super) fn account(&self, cx: &mut KindContext<'_>, outcome: Outcome) -> u16 {
        let status = account::final_status(cx.exchange.account.status(), outcome);
        match (self, &cx.request.message) {
            (Self::Call(state), Message::Call(call)) => {
                if cx.is_measured() {
                    let unsent = state.messages_unsent(call, cx);
                    if unsent > 0 {
                        cx.figures.messages.record_unsent(unsent);
                    }
                }
                call::final_status(status, outcome)
            }
            _ => status,
        }
    }

    /// The request that it has sent, as it is shown.
    pub(super) fn sent(&self, request: &Request) -> Side {
        match (self, &request.message) {
            (Self::Call(state), Message::Call(call)) => state.sent(call),
            (Self::Response(response), _) => response.sent(request),
            (Self::Call(_), _) => Side::default(),
        }
    }

    /// Adds to a response that is shown the parts that only the kind knows of it.
    pub(super) fn explain(&self, request: &Request, response: &mut Side) {
        if let Message::Call(call) = &request.message {
            call::show_texts(call, response);
        }
    }
}
