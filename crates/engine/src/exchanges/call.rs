//! A gRPC call: replies read as they come, and a status that is always there.
//!
//! The verbs are those of any response. The last of them gives the call's status instead of the
//! response's. A stream of replies is over when the server ends it, when the call has the messages
//! that the plan wants, or when its time is up; the latter two are not failures.
//!
//! The status in a sample is [`GRPC_STATUS`] and the call's code, so that it never equals a status
//! of HTTP. If the server gave none (its reply breaks the protocol, the stream was reset, the time
//! ran out), the status is the code that gRPC's clients derive (doc/statuscodes.md and
//! doc/http-grpc-status-mapping.md of gRPC). Bytes of a reply are the peer's: [`Reply`] checks the
//! length of a message, its compression and its contents before they come here.

use super::context::{Continuation, KindContext};
use super::exchange::Exchange;
use super::message_stream::{Broken, Framing, MessageStream};
use super::messages::OutgoingMessages;
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

/// The state of a call's replies; kept for the next call with that state.
#[derive(Debug)]
pub(super) struct CallState {
    replies: MessageStream<Reply>,
}

/// The messages of an exchange, in both directions. One box for both keeps an entry within its four
/// cache lines.
#[derive(Debug, Default)]
pub(super) struct MessageState {
    /// The messages of a request on their way out.
    pub(super) out: OutgoingMessages,
    /// The replies of a call.
    pub(super) replies: CallState,
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

    fn count(&self) -> u64 {
        self.messages()
    }

    #[inline]
    fn read(
        &mut self,
        bytes: &[u8],
        codecs: &mut Codecs,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), Violation> {
        let decompressor = &mut codecs.decompressor;
        self.data(bytes, decompressor, |message| each(message.payload))
    }
}

/// Adds their texts to the messages of a reply that is shown.
pub(super) fn show_texts(call: &CallRequest, reply: &mut Side) {
    if let Some(check) = &call.plan.reply_check {
        for message in &mut reply.bodies {
            message.text = check.text(Direction::Reply, &message.bytes);
        }
    }
}

/// The reply as it comes.
impl CallState {
    /// Begins an attempt.
    pub(super) fn begin_attempt(&mut self, call: &CallRequest, now: Nanos) {
        self.replies.framing.begin(&call.reply);
        self.replies.begin_attempt(now);
    }

    /// Takes the reply's head. One with nothing behind it is the whole reply ("Trailers-Only" in
    /// gRPC's terms), with the status in it.
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

    /// Takes bytes of messages. Of a stream, each message that they complete is timed; the call
    /// gives up the rest of the stream when it has as many as the plan wants. A stream that ends
    /// with them has no trailers, and with these no status.
    #[inline]
    pub(super) fn data(
        &mut self,
        call: &CallRequest,
        cx: &mut KindContext<'_>,
        bytes: &[u8],
        end: bool,
    ) -> Continuation {
        let check = call.plan.reply_check.as_deref();
        let messages = match self.replies.read(cx, check, bytes) {
            Ok(messages) => messages,
            Err(broken) => return broken_off(cx, broken),
        };
        if messages > 0 && call.plan.kind.server_streams() {
            self.replies.note_streamed(cx, messages);
            // The call has received everything that the plan wants, which is not a failure.
            if self.replies.has(call.plan.streaming.receive) {
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

    /// Takes the trailers, which have the status.
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

/// The pause before a failed call is made once more; `None` where it is not. The wire says what the
/// server has seen; a call that it may have processed is never repeated.
pub(super) const fn pause_before_resend(resend: Resend) -> Option<Nanos> {
    match resend {
        Resend::Never | Resend::Idempotent | Resend::Reused => None,
        // gRPC's clients do so unasked (proposal A6, transparent retries).
        Resend::Refused => Some(BACKOFF_MIN),
        Resend::After(pause) => Some(pause),
    }
}

/// The failure of a call whose stream has failed. A server that keeps the call's deadline resets
/// the stream when that has passed: that is the timeout, not a reset.
pub(super) fn failure(call: &CallRequest, cx: &KindContext<'_>, failure: Failure) -> Failure {
    let is_cancelled = failure.outcome == Outcome::h2_stream(ErrorCode::CANCEL.0);
    match is_cancelled && is_late(call, cx.exchange, cx.now) {
        true => Failure::of(Outcome::TimeoutTotal),
        false => failure,
    }
}

/// The outcome of a call whose time is up on its stream.
pub(super) fn lateness(exchange: &Exchange, now: Nanos) -> Outcome {
    match exchange.account.is_spent(now) {
        true => Outcome::TimeoutTotal,
        false => exchange.account.lateness(now),
    }
}

/// The status of a call that has ended, in its sample: one whose server gave none has that of its
/// outcome.
pub(super) fn final_status(status: u16, outcome: Outcome) -> u16 {
    match (status, outcome) {
        (0, Outcome::Ok) => 0,
        (0, outcome) => GRPC_STATUS + grpc_code(outcome),
        (status, _) => status,
    }
}

/// Ends a call that has a status; one that is ok is inspected before.
#[inline]
fn over(call: &CallRequest, cx: &mut KindContext<'_>, status: Status) -> Continuation {
    let failure = judge(call, cx, status);
    Continuation::End(match failure.outcome {
        Outcome::Ok if cx.rules.looks() => cx.inspect(),
        _ => failure,
    })
}

/// Ends a call whose messages are not as they must be.
#[cold]
fn broken_off(cx: &mut KindContext<'_>, broken: Broken<Violation>) -> Continuation {
    match broken {
        Broken::Undecodable(failure) => {
            let status = GRPC_STATUS + grpc_code(Outcome::Decode);
            cx.exchange.account.set_status(status);
            Continuation::GiveUp(failure)
        }
        Broken::TooLarge(failure) => Continuation::GiveUp(failure),
        Broken::Framing(violation) => given_up(cx, violation.into()),
    }
}

/// Ends a call that can't be finished: its stream is reset.
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
        return Failure::of(Outcome::TimeoutTotal);
    }
    let is_accepted = call.plan.expect.accepts(status.code.number());
    // What breaks the protocol has a status that is not the server's.
    let is_own = status.violation.is_none();
    match (is_accepted, status.is_ok()) {
        (true, true) => Failure::of(Outcome::Ok),
        (true, false) if is_own => Failure::of(Outcome::Ok),
        (false, true) => Failure::of(Outcome::GrpcOk),
        _ => call_verdict(status),
    }
}

/// Whether a call's deadline has passed. A server that keeps it too is often the first to act on
/// it; which of the two was first is chance, and the outcome is one.
///
/// The limit counts from the sending, as it does for the server.
#[cold]
fn is_late(call: &CallRequest, exchange: &Exchange, now: Nanos) -> bool {
    let sent = exchange.account.times.sent.min(now);
    call.plan.deadline.is_some_and(|limit| now >= sent + limit)
}
