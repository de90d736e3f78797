//! A gRPC call: replies are read as they arrive, and every call has a status.
//!
//! The methods are the same as for any response, but the last one returns the call's status instead
//! of the response's. A stream of replies is over when the server ends it, when the call has the
//! messages that the plan wants, or when its time is up; the latter two are not failures.
//!
//! The status in a sample is [`GRPC_STATUS`] plus the call's code, so that it never equals an HTTP
//! status. If the server sent none (its reply breaks the protocol, the stream was reset, the time
//! ran out), the status is the code that gRPC's clients derive (gRPC's doc/statuscodes.md and
//! doc/http-grpc-status-mapping.md). The bytes of a reply are untrusted: [`Reply`] checks the
//! length of a message, its compression and its contents before they arrive here.

use super::context::{Continuation, KindContext};
use super::event_stream::EventState;
use super::exchange::Exchange;
use super::message_stream::{BrokenMessage, Framing, Inspected, MessageStream};
use super::messages::OutgoingMessages;
use super::socket::SocketState;
use super::tools::Codecs;
use crate::blame::{Failure, call_verdict, grpc_code};
use crate::limits::BACKOFF_MIN;
use crate::prepare::CallRequest;
use crate::wire::{Ahead, Fields, Resend};
use drumfire_grpc::{Code, Reply, ReplySettings, Status, Violation};
use drumfire_http2::ErrorCode;
use drumfire_measure::{GRPC_STATUS, Outcome, Side};
use drumfire_plan::Direction;
use drumfire_units::Nanos;

/// The state of a call's replies; reused by the next call with the same entry.
#[derive(Debug)]
pub(super) struct CallState {
    replies: MessageStream<Reply>,
}

/// The messages of an exchange, in both directions. One box contains all, so that an entry fits in
/// four cache lines, and those of a call are apart, so that an idle WebSocket has no room for them.
#[derive(Debug, Default)]
pub(super) struct MessageState {
    /// The messages of a call; `None` until the entry has had one.
    pub(super) call: Option<Box<CallMessages>>,
    /// The messages of a WebSocket.
    pub(super) socket: SocketState,
    /// An event stream; `None` until the entry has had one.
    pub(super) events: Option<Box<EventState>>,
}

/// The messages of a call.
#[derive(Debug, Default)]
pub(super) struct CallMessages {
    /// The messages of the request on their way out.
    pub(super) out: OutgoingMessages,
    /// The replies.
    pub(super) replies: CallState,
}

impl MessageState {
    /// The outgoing messages of a call, if the entry has had one.
    #[inline]
    pub(super) fn out(&self) -> Option<&OutgoingMessages> {
        Some(&self.call.as_ref()?.out)
    }
}

impl Default for CallState {
    fn default() -> Self {
        Self {
            replies: MessageStream::new(Reply::new(&ReplySettings::default())),
        }
    }
}

/// The framing of gRPC: length-prefixed messages, which may be compressed.
impl Framing for Reply {
    type Violation = Violation;

    const INSPECTED: Inspected = Inspected::First;

    fn count(&self) -> u64 {
        self.messages()
    }

    #[inline]
    fn read(
        &mut self,
        bytes: &[u8],
        now: Nanos,
        codecs: &mut Codecs,
        mut each: impl FnMut(&[u8], Nanos),
    ) -> Result<(), Violation> {
        let decompressor = &mut codecs.decompressor;
        self.data(bytes, decompressor, |message| each(message.payload, now))
    }
}

/// Adds texts to the messages of a reply that is shown.
pub(super) fn show_texts(call: &CallRequest, reply: &mut Side) {
    if let Some(check) = &call.plan.reply_check {
        for message in &mut reply.bodies {
            message.text = check.text(Direction::Reply, &message.bytes);
        }
    }
}

/// Reading the reply.
impl CallState {
    /// Begins an attempt.
    pub(super) fn begin_attempt(&mut self, call: &CallRequest, now: Nanos) {
        self.replies.framing.start_call(&call.reply);
        self.replies.begin_attempt(now);
    }

    /// Receives the reply's head. A head without a body is the whole reply ("Trailers-Only" in
    /// gRPC's terms) and contains the status.
    #[inline]
    pub(super) fn head(
        &mut self,
        call: &CallRequest,
        cx: &mut KindContext<'_>,
        status: u16,
        fields: Fields<'_>,
        ahead: Ahead,
    ) -> Continuation {
        let reads = cx.rules.reads();
        if ahead == Ahead::Nothing {
            if reads {
                cx.begin_look(&fields);
            }
            let status = self.replies.framing.trailers_only(status, fields.bytes());
            return over(call, cx, status);
        }
        if let Err(violation) = self.replies.framing.head(status, fields.bytes()) {
            return given_up(cx, violation.into());
        }
        if reads {
            cx.begin_look(&fields);
        }
        Continuation::GoOn
    }

    /// Receives bytes of messages. In a stream, each message that they complete is timed; the call
    /// gives up the rest of the stream when it has as many messages as the plan wants. If the
    /// stream ends with these bytes, it has no trailers and therefore no status.
    #[inline]
    pub(super) fn data(
        &mut self,
        call: &CallRequest,
        cx: &mut KindContext<'_>,
        bytes: &[u8],
        end: bool,
    ) -> Continuation {
        let check = call.plan.reply_check.as_deref();
        let came = match self.replies.read(cx, check, bytes) {
            Ok(came) => came,
            Err(broken) => return broken_off(cx, broken),
        };
        if came.count > 0 && call.plan.kind.server_streams() {
            self.replies.note_streamed(cx, came);
            // The call has received everything that the plan wants, which is not a failure.
            if self.replies.has(cx.request.receive()) {
                return match end {
                    true => Continuation::End(cx.inspect()),
                    false => Continuation::GiveUp(cx.inspect()),
                };
            }
        }
        match end {
            true => {
                let status = self.replies.framing.handle_end();
                over(call, cx, status)
            }
            false => Continuation::GoOn,
        }
    }

    /// Receives the trailers, which contain the status.
    #[inline]
    pub(super) fn trailers(
        &mut self,
        call: &CallRequest,
        cx: &mut KindContext<'_>,
        fields: Fields<'_>,
    ) -> Continuation {
        let status = self.replies.framing.trailers(fields.bytes());
        over(call, cx, status)
    }
}

/// The pause before a failed call is sent again; `None` if it is not. The wire reports what the
/// server has seen; a call that the server may have processed is never repeated.
pub(super) const fn pause_before_resend(resend: Resend) -> Option<Nanos> {
    match resend {
        Resend::Never | Resend::Idempotent | Resend::Reused => None,
        // gRPC's clients repeat such calls automatically (proposal A6, transparent retries).
        Resend::Refused => Some(BACKOFF_MIN),
        Resend::After(pause) => Some(pause),
    }
}

/// The failure of a call whose stream has failed. A server that observes the call's deadline resets
/// the stream when it has passed; that is a timeout, not a reset.
pub(super) fn failure(call: &CallRequest, cx: &KindContext<'_>, failure: Failure) -> Failure {
    let is_cancelled = failure.outcome == Outcome::h2_stream(ErrorCode::CANCEL.0);
    match is_cancelled && is_late(call, cx.exchange, cx.now) {
        true => Failure::from_outcome(Outcome::TimeoutTotal),
        false => failure,
    }
}

/// The outcome of a call whose time is up while its stream is open.
pub(super) fn lateness(exchange: &Exchange, now: Nanos) -> Outcome {
    match exchange.account.is_spent(now) {
        true => Outcome::TimeoutTotal,
        false => exchange.account.lateness(now),
    }
}

/// The status for the sample of a call that has ended. If the server sent none, the status is
/// derived from the outcome.
pub(super) fn final_status(status: u16, outcome: Outcome) -> u16 {
    match (status, outcome) {
        (0, Outcome::Ok) => 0,
        (0, outcome) => GRPC_STATUS + grpc_code(outcome),
        (status, _) => status,
    }
}

/// Ends a call that has a status. If the status is OK, the response is inspected first.
#[inline]
fn over(call: &CallRequest, cx: &mut KindContext<'_>, status: Status) -> Continuation {
    let failure = judge(call, cx, status);
    Continuation::End(match failure.outcome {
        Outcome::Ok if cx.rules.looks() => cx.inspect(),
        _ => failure,
    })
}

/// Ends a call with invalid messages.
#[cold]
fn broken_off(cx: &mut KindContext<'_>, broken: BrokenMessage<Violation>) -> Continuation {
    match broken {
        BrokenMessage::Undecodable(failure) => {
            let status = GRPC_STATUS + grpc_code(Outcome::Decode);
            cx.exchange.account.set_status(status);
            Continuation::GiveUp(failure)
        }
        BrokenMessage::Refused(failure) => Continuation::GiveUp(failure),
        BrokenMessage::Framing(violation) => given_up(cx, violation.into()),
    }
}

/// Ends a call that cannot be finished by resetting its stream.
#[cold]
fn given_up(cx: &mut KindContext<'_>, status: Status) -> Continuation {
    let code = GRPC_STATUS + u16::from(status.code.number());
    cx.exchange.account.set_status(code);
    Continuation::GiveUp(call_verdict(status))
}

/// The outcome of a call that has ended with a status.
#[inline]
fn judge(call: &CallRequest, cx: &mut KindContext<'_>, status: Status) -> Failure {
    let code = GRPC_STATUS + u16::from(status.code.number());
    cx.exchange.account.set_status(code);
    if status.code == Code::DEADLINE_EXCEEDED && is_late(call, cx.exchange, cx.now) {
        return Failure::from_outcome(Outcome::TimeoutTotal);
    }
    let is_accepted = call.plan.expect.accepts(status.code.number());
    // The status of a protocol violation is not the server's.
    let is_own = status.violation.is_none();
    match (is_accepted, status.is_ok()) {
        (true, true) => Failure::from_outcome(Outcome::Ok),
        (true, false) if is_own => Failure::from_outcome(Outcome::Ok),
        (false, true) => Failure::from_outcome(Outcome::GrpcOk),
        _ => call_verdict(status),
    }
}

/// Whether a call's deadline has passed. A server that observes the deadline often acts first; the
/// order is chance, and both orders have the same outcome.
///
/// The limit counts from the sending, as it does for the server.
#[cold]
fn is_late(call: &CallRequest, exchange: &Exchange, now: Nanos) -> bool {
    let sent = exchange.account.times.sent.min(now);
    call.plan.deadline.is_some_and(|limit| now >= sent + limit)
}
