//! A gRPC call: messages made as it goes, replies read as they come, and a status that is always
//! there.
//!
//! An attempt begins with [`CallState::render_request`], which makes what varies in its metadata and its
//! first messages. Its stream then takes bytes: after each portion [`CallState::taken`] makes the
//! next one, or sets a timer for it, which [`CallState::timer`] answers. The reply's verbs are
//! those of any exchange; the last of them gives the call's status, in place of the response's.
//!
//! A stream of replies is over when the server ends it, when the call has the messages that the
//! plan wants, or when its time is up; the latter two are no failures.
//!
//! A call whose messages are the same each time (`fixed`) has them encoded in the plan: it renders
//! nothing, takes no context and copies no byte. Others are rendered into the outbox, as many as
//! lie within its bound, so that a stream of a million messages takes the memory of a few.
//!
//! The status in a sample is [`GRPC_STATUS`] and the call's code, so that it never equals a status
//! of HTTP. Where the server gave none (its reply breaks the protocol, the stream was reset, the
//! time ran out), it is the code that gRPC's clients make of that (doc/statuscodes.md and
//! doc/http-grpc-status-mapping.md of gRPC). Bytes of a reply are the peer's: the length of a
//! message, its compression and its contents are checked by [`Reply`] before they come here.

use super::context::{BodyStep, Continuation, KindContext, TimerStep};
use super::exchange::Exchange;
use super::outbox::Outbox;
use super::own::KeptContext;
use super::side::{excerpt, of_stream};
use super::tools::Codecs;
use crate::blame::{Failure, call_verdict, grpc_code};
use crate::limits::{BACKOFF_MIN, SHOWN_MESSAGES};
use crate::prepare::{CallRequest, check_metadata, message_count, too_large};
use crate::wire::{Ahead, Chunk, Extra, Fields, Opening, Resend};
use drumfire_grpc::{Code, Reply, ReplySettings, Status};
use drumfire_http2::ErrorCode;
use drumfire_measure::{Excerpt, GRPC_STATUS, IsFirst, Messages, Outcome, Side};
use drumfire_plan::{DataError, Direction, RenderedFields};
use drumfire_units::Nanos;

/// The state of a call beside its exchange's; kept for the next call with that state.
#[derive(Debug)]
pub(super) struct CallState {
    reply: Reply,
    outbox: Outbox,
    /// The varying metadata.
    metadata: RenderedFields,
    context: KeptContext,
    /// The moment at which its context was made, on both clocks: later times are computed from it,
    /// so that a message costs no look at the wall clock.
    began: Moment,
    /// The times of its first messages, where each is rendered at its own: these may be shown.
    made_at: Vec<u64>,
    /// The time of the last message; of the call's beginning before any came.
    last_reply: Nanos,
    /// The time at which the call has sent and received enough; [`Nanos::MAX`] when its messages
    /// decide that.
    until: Nanos,
}

/// A moment on both clocks.
#[derive(Clone, Copy, Debug, Default)]
struct Moment {
    at: Nanos,
    /// The time in nanoseconds since the Unix epoch.
    unix: u64,
}

impl Moment {
    /// The time since the Unix epoch at another moment, not before this one.
    fn unix_at(self, now: Nanos) -> u64 {
        self.unix + (now - self.at).0
    }
}

impl Default for CallState {
    fn default() -> Self {
        Self {
            reply: Reply::new(&ReplySettings::default()),
            outbox: Outbox::default(),
            metadata: RenderedFields::default(),
            context: KeptContext::default(),
            began: Moment::default(),
            made_at: Vec::new(),
            last_reply: Nanos::ZERO,
            until: Nanos::MAX,
        }
    }
}

/// The messages on their way out.
impl CallState {
    /// Begins another call with this state.
    #[inline]
    pub(super) const fn begin_exchange(&mut self) {
        self.outbox.begin_exchange();
    }

    /// Begins an attempt. Only data that vary are made here. Gives the time at which the call has
    /// sent and received enough, where the plan has one.
    ///
    /// # Errors
    /// In words, when its data can't be rendered.
    ///
    /// The context of an exchange is made once, in its first attempt, so that a call that is sent
    /// once more has the same data. The reply, the outbox and the times begin anew with each
    /// attempt.
    pub(super) fn render_request(
        &mut self,
        call: &CallRequest,
        cx: &mut KindContext<'_>,
        connection: u32,
        unix_time: impl FnOnce() -> u64,
    ) -> Result<Option<Nanos>, DataError> {
        let generation = cx.exchange.generation;
        if call.fixed.is_none() && !self.context.is_of(generation) {
            let seed = cx.rules.prepared.seed();
            let unix = unix_time();
            let context = cx.exchange.context(connection, unix, seed);
            self.context.keep(context, generation);
            self.began = Moment { at: cx.now, unix };
        }
        self.reply.begin(&call.reply);
        match call.fixed {
            Some(messages) => self.outbox.begin_attempt(messages, messages),
            None => self.render(call, &mut cx.tools.codecs, cx.now)?,
        }
        self.last_reply = cx.now;
        let until = call.plan.streaming.duration.map(|time| cx.now + time);
        self.until = until.unwrap_or(Nanos::MAX);
        Ok(until)
    }

    /// Drops its context, which keeps values of its user.
    #[cold]
    pub(super) fn drop_context(&mut self) {
        self.context.clear();
    }

    /// Makes the metadata that varies, and the first messages.
    fn render(
        &mut self,
        call: &CallRequest,
        codecs: &mut Codecs,
        now: Nanos,
    ) -> Result<(), DataError> {
        self.context.set_time(self.began.unix);
        self.made_at.clear();
        let context = &self.context.context;
        self.outbox
            .begin_attempt(message_count(&call.plan, context), 0);
        self.metadata.clear();
        call.plan.data.fields(context, &mut self.metadata)?;
        for (name, value) in self.metadata.iter() {
            check_metadata(name, value.as_bytes())?;
        }
        self.make_messages(call, codecs, now)
    }

    /// Makes as many messages as may go out now: all that the outbox wants, or one where they go
    /// one by one. Where the plan asks for a message's own time, each portion has that at which it
    /// is made.
    fn make_messages(
        &mut self,
        call: &CallRequest,
        codecs: &mut Codecs,
        now: Nanos,
    ) -> Result<(), DataError> {
        let one_by_one = call.plan.streaming.interval > Nanos::ZERO;
        let renews_time = call.plan.data.renews_time();
        let unix = self.began.unix_at(now);
        if renews_time {
            self.context.set_time(unix);
        }
        while self.outbox.wants() {
            if renews_time && (self.made_at.len() as u64) < SHOWN_MESSAGES {
                self.made_at.push(unix);
            }
            let (compressor, message) = codecs.compressor(call.encoding);
            let (index, out) = self.outbox.next_message();
            call.plan
                .data
                .message(&self.context.context, index, message)?;
            if message.len() as u64 > call.plan.send_limit {
                return Err(too_large(message.len(), call.plan.send_limit).into());
            }
            compressor
                .write_message(out, message)
                .map_err(|_| too_large(message.len(), u64::from(u32::MAX)))?;
            self.outbox.note_made();
            if one_by_one {
                break;
            }
        }
        Ok(())
    }

    /// The opening of its stream.
    #[inline]
    pub(super) fn opening<'a>(&'a self, call: &'a CallRequest) -> Opening<'a> {
        Opening::new(&call.stream.head, self.extra(call), true)
    }

    /// The fields of its own that its stream is opened with: the metadata that varies.
    #[inline]
    pub(super) fn extra(&self, call: &CallRequest) -> Option<Extra<'_>> {
        let own = Extra::new(None, None, &self.metadata);
        call.fixed.is_none().then_some(own)
    }

    /// The next bytes that its stream sends.
    #[inline]
    pub(super) fn next_bytes<'a>(&'a self, call: &'a CallRequest) -> Option<Chunk<'a>> {
        let (bytes, end) = self.outbox.next_bytes(call.fixed_messages())?;
        Some(Chunk::new(bytes, end))
    }

    /// Notes that the stream has taken bytes of its messages, and prepares what follows: nothing
    /// more, another portion at once, or one at a time.
    pub(super) fn taken(
        &mut self,
        call: &CallRequest,
        cx: &mut KindContext<'_>,
        taken: usize,
    ) -> BodyStep {
        let fixed = call.fixed_messages();
        let went = self.outbox.note_taken(taken, fixed);
        if went > 0 && cx.is_measured() {
            cx.figures.messages.sent += went;
        }
        if !self.outbox.is_taken(fixed) || self.outbox.ends_now() {
            return BodyStep::Wait;
        }
        self.outbox.next_portion();
        let interval = call.plan.streaming.interval;
        if interval > Nanos::ZERO {
            return BodyStep::WaitUntil(cx.now + interval);
        }
        match self.make_messages(call, &mut cx.tools.codecs, cx.now) {
            Ok(()) => BodyStep::Again,
            Err(error) => BodyStep::Fail(error),
        }
    }

    /// Ends the request where the server takes no more of it.
    pub(super) const fn refuse_body(&mut self) {
        self.outbox.refuse();
    }

    /// Sends the next message, or no more, when a time that the call has set has come. Two kinds of
    /// time are set, that of its next message and that of its end: which one this is, the clock
    /// says.
    pub(super) fn timer(&mut self, call: &CallRequest, cx: &mut KindContext<'_>) -> TimerStep {
        let is_over = cx.now >= self.until;
        if is_over && !call.plan.kind.client_streams() {
            // The call has received all that it asked for, which is no failure.
            return TimerStep::End(Failure::of(Outcome::Ok));
        }
        if is_over {
            self.outbox.stop();
            return TimerStep::Send;
        }
        if !self.outbox.is_idle() {
            return TimerStep::Nothing;
        }
        match self.make_messages(call, &mut cx.tools.codecs, cx.now) {
            Ok(()) => TimerStep::Send,
            Err(error) => TimerStep::End(error.into()),
        }
    }

    /// The request that it has sent, as it is shown: its first messages are made once more, each
    /// with the time that it had.
    pub(super) fn sent(&self, call: &CallRequest) -> Side {
        let mut context = self.context.context.clone();
        let count = message_count(&call.plan, &context).min(SHOWN_MESSAGES);
        let check = call.plan.reply_check.as_ref();
        let mut times = self.made_at.iter();
        let made = (0..count).map_while(|index| {
            let mut bytes = Vec::new();
            context.now = times.next().copied().unwrap_or(context.now);
            call.plan.data.message(&context, index, &mut bytes).ok()?;
            let text = check.and_then(|check| check.text(Direction::Request, &bytes));
            Some(Excerpt {
                text,
                ..excerpt(&bytes)
            })
        });
        Side {
            bodies: made.collect(),
            ..of_stream(&call.stream.head, self.extra(call), &[])
        }
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
            let status = self.reply.trailers_only(status, fields.bytes());
            return over(call, cx, status);
        }
        if let Err(violation) = self.reply.head(status, fields.bytes()) {
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
        let messages = match self.read_messages(call, cx, bytes) {
            Ok(messages) => messages,
            Err(continuation) => return continuation,
        };
        if messages > 0 && call.server_streams() {
            let is_measured = cx.is_measured();
            let into = is_measured.then_some(&mut cx.figures.messages);
            self.note_streamed(messages, cx.exchange.account.times.sent, cx.now, into);
            // The call has received all that it asked for, which is no failure.
            let wanted = call.plan.streaming.receive;
            if wanted.is_some_and(|wanted| self.reply.messages() >= wanted) {
                return match end {
                    true => Continuation::End(cx.inspect()),
                    false => Continuation::GiveUp(cx.inspect()),
                };
            }
        }
        match end {
            true => {
                let status = self.reply.handle_end();
                over(call, cx, status)
            }
            false => Continuation::GoOn,
        }
    }

    /// Reads bytes of messages, and gives the number of those that are complete by them.
    ///
    /// # Errors
    /// With the continuation of a call whose messages are not as they must be.
    ///
    /// All bytes are read before anything is judged. Of several failures in them one is given: that
    /// of a message that does not decode, else that of one that is too large to be kept, else that
    /// of the protocol.
    fn read_messages(
        &mut self,
        call: &CallRequest,
        cx: &mut KindContext<'_>,
        bytes: &[u8],
    ) -> Result<u64, Continuation> {
        let (mut came, mut wrong, mut kept) = (0, None, Ok(()));
        let check = call.plan.reply_check.as_deref();
        let is_measured = cx.is_measured();
        let looks = cx.rules.looks();
        let mut look = cx.exchange.look.as_deref_mut().filter(|_| looks);
        // Of a stream the first message is looked at.
        let inspection = cx.request.inspection();
        let inspection = inspection.filter(|_| self.reply.messages() == 0);
        let mut first = inspection.and_then(|inspection| inspection.body_max());
        let decompressor = &mut cx.tools.codecs.decompressor;
        let fed = self.reply.data(bytes, decompressor, |message| {
            came += 1;
            if let Some(look) = &mut look {
                if let Some(max) = first.take() {
                    kept = look.keep(message.payload, max.0);
                }
                look.show_message(message.payload);
            }
            if let Some(check) = check.filter(|_| wrong.is_none()) {
                wrong = check.check(message.payload).err();
            }
        });
        if is_measured {
            cx.figures.messages.received += came;
        }
        if let Some(error) = wrong {
            let status = GRPC_STATUS + grpc_code(Outcome::Decode);
            cx.exchange.account.set_status(status);
            let failure = Failure::with(Outcome::Decode, error.0);
            return Err(Continuation::GiveUp(failure));
        }
        kept.map_err(Continuation::GiveUp)?;
        fed.map_err(|violation| given_up(cx, violation.into()))?;
        Ok(came)
    }

    /// Records the times of a stream's messages that have come together: all but the first of them
    /// have come 0 after the one before.
    fn note_streamed(
        &mut self,
        came: u64,
        sent: Nanos,
        now: Nanos,
        mut into: Option<&mut Messages>,
    ) {
        let first = self.reply.messages() == came;
        for n in 0..came {
            let (is_first, before) = if first && n == 0 {
                (IsFirst::Yes, sent.min(now))
            } else {
                (IsFirst::No, self.last_reply)
            };
            if let Some(messages) = &mut into {
                messages.record_streamed(is_first, before, now);
            }
            self.last_reply = now;
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
        let status = self.reply.trailers(fields.bytes());
        over(call, cx, status)
    }

    /// The number of messages that a call which ends has still meant to send; 0 where their number
    /// is unknown until its end.
    #[inline]
    pub(super) fn messages_unsent(&self, call: &CallRequest, cx: &KindContext<'_>) -> u64 {
        match self.outbox.total() {
            Some(total) if self.outbox.counted == total => 0,
            _ => self.messages_left(call, cx),
        }
    }

    /// The messages of a call that ended before it had sent all. Their number may be known only by
    /// rendering: of a call that never began it is computed from the context that it would have
    /// had.
    #[cold]
    fn messages_left(&self, call: &CallRequest, cx: &KindContext<'_>) -> u64 {
        if call.plan.has_open_end() {
            return 0;
        }
        let unknown = || {
            let seed = cx.rules.prepared.seed();
            message_count(&call.plan, &cx.exchange.context(0, 0, seed))
        };
        let total = self.outbox.total().or(call.fixed);
        let total = total.unwrap_or_else(unknown);
        total.saturating_sub(self.outbox.counted)
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
