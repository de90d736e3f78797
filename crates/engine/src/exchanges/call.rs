//! The gRPC part of an exchange: messages made as the call goes, replies read as they come, and a
//! status that is always there.

use super::messages::Outbox;
use super::own::KeptContext;
use super::{Due, Exchanges, Todo};
use crate::blame::{Failure, call_verdict, grpc_code};
use crate::id::ExchangeId;
use crate::prepare::{CallRequest, Parts, check_metadata, message_count, too_large};
use crate::wire::{Extra, Pump};
use drumfire_grpc::{Code, Compressor, Decompressor, Encoding, Reply, ReplySettings, Status};
use drumfire_measure::{GRPC_STATUS, IsFirst, Messages, Outcome};
use drumfire_plan::{CallStatuses, DataError, RenderedFields, RequestContext};
use drumfire_units::Nanos;

/// Messages are made until this many bytes of a call wait to be sent.
const AHEAD_BYTES: usize = 64 * 1024;

/// State that a worker's calls share.
#[derive(Default)]
pub(crate) struct Tools {
    pub(super) decompressor: Decompressor,
    compressors: [Option<Compressor>; 3],
    message: Vec<u8>,
    /// The varying parts of a request over HTTP/1.1, on their way into its bytes.
    pub(super) parts: Parts,
}

impl std::fmt::Debug for Tools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tools").finish_non_exhaustive()
    }
}

impl Tools {
    fn compressor(&mut self, encoding: Encoding) -> &mut Compressor {
        let index = match encoding {
            Encoding::Identity => 0,
            Encoding::Gzip => 1,
            Encoding::Zstd => 2,
        };
        self.compressors[index].get_or_insert_with(|| Compressor::new(encoding))
    }
}

/// A call's state beside its exchange's. Kept by the exchange's id for the next call.
#[derive(Debug)]
pub(super) struct CallState {
    pub(super) reply: Reply,
    pub(super) outbox: Outbox,
    /// The varying metadata.
    metadata: RenderedFields,
    context: KeptContext,
    /// When the last message came; when the call began before any did.
    last_reply: Nanos,
    /// When the call has sent and received enough; [`Nanos::MAX`] when its messages decide that.
    until: Nanos,
}

impl Default for CallState {
    fn default() -> Self {
        let mut outbox = Outbox::default();
        outbox.begin_exchange();
        Self {
            reply: Reply::new(&ReplySettings::default()),
            outbox,
            metadata: RenderedFields::default(),
            context: KeptContext::default(),
            last_reply: Nanos::ZERO,
            until: Nanos::MAX,
        }
    }
}

impl CallState {
    /// A new exchange uses it.
    #[inline]
    pub(super) const fn begin_exchange(&mut self) {
        self.outbox.begin_exchange();
    }

    /// Drops its context; the exchange is over.
    pub(super) fn drop_context(&mut self) {
        self.context = KeptContext::default();
    }

    /// The context of its data.
    pub(super) const fn context(&self) -> &RequestContext {
        self.context.get()
    }

    /// The fields of its own that its stream is opened with.
    #[inline]
    pub(super) const fn extra(&self) -> Extra<'_> {
        Extra {
            path: None,
            authority: None,
            fields: &self.metadata,
        }
    }

    /// Makes the metadata that varies, and the first messages.
    fn render(&mut self, call: &CallRequest, tools: &mut Tools) -> Result<(), DataError> {
        let total = message_count(&call.plan, self.context.get());
        self.outbox.begin(total, 0);
        self.metadata.clear();
        call.plan
            .data
            .fields(self.context.get(), &mut self.metadata)?;
        for (name, value) in self.metadata.iter() {
            check_metadata(name, value.as_bytes())?;
        }
        self.make_messages(call, tools)
    }

    /// Makes as many messages as may go out now.
    fn make_messages(&mut self, call: &CallRequest, tools: &mut Tools) -> Result<(), DataError> {
        let one_by_one = call.plan.streaming.interval > Nanos::ZERO;
        let outbox = &mut self.outbox;
        while outbox.made < outbox.total && outbox.made_bytes.len() < AHEAD_BYTES {
            let mut message = std::mem::take(&mut tools.message);
            message.clear();
            let made = call
                .plan
                .data
                .message(self.context.get(), outbox.made, &mut message);
            let made = made.and_then(|()| {
                if message.len() as u64 > call.plan.send_limit {
                    return Err(too_large(message.len(), call.plan.send_limit).into());
                }
                let compressor = tools.compressor(call.encoding);
                compressor
                    .write_message(&mut outbox.made_bytes, &message)
                    .map_err(|_| too_large(message.len(), u64::from(u32::MAX)).into())
            });
            tools.message = message;
            made?;
            outbox.made += 1;
            if one_by_one {
                break;
            }
        }
        Ok(())
    }

    /// Records the times of a stream's messages that have come together.
    pub(super) fn note_streamed(
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
}

impl Exchanges {
    /// Prepares the first bytes of a call. Only data that vary are made here.
    ///
    /// # Errors
    /// In words, when its data can't be rendered.
    pub(super) fn begin_call(
        &mut self,
        id: ExchangeId,
        connection: u32,
        now: Nanos,
        unix_time: impl FnOnce() -> u64,
    ) -> Result<(), DataError> {
        let seed = self.prepared.seed();
        let exchange = &mut self.list[id.index()];
        let request = &self.prepared.requests[exchange.task.request as usize];
        let Some(call) = request.call() else {
            return Ok(());
        };
        let generation = exchange.generation;
        let known = matches!(&exchange.call, Some(state) if state.context.is_of(generation));
        if call.fixed.is_none() && !known {
            let context = exchange.context(connection, unix_time(), seed);
            let state = exchange.call.get_or_insert_default();
            state.context.keep(context, generation);
        }
        let state = exchange.call.get_or_insert_default();
        state.reply.begin(&call.reply);
        match call.fixed {
            Some(messages) => state.outbox.begin(messages, messages),
            None => state.render(call, &mut self.tools)?,
        }
        state.last_reply = now;
        state.until = Nanos::MAX;
        if let Some(duration) = call.plan.streaming.duration {
            state.until = now + duration;
            let at = state.until;
            self.todo.push_back(Todo::Message { id, at });
        }
        Ok(())
    }

    /// A call's stream has taken bytes of its messages.
    pub(super) fn messages_taken(
        &mut self,
        id: ExchangeId,
        taken: usize,
        messages: &mut Messages,
        now: Nanos,
    ) -> Pump {
        let exchange = &mut self.list[id.index()];
        let request = &self.prepared.requests[exchange.task.request as usize];
        let (Some(call), Some(state)) = (request.call(), &mut exchange.call) else {
            return Pump::Wait;
        };
        let fixed = call.fixed.and_then(|_| request.stream_body());
        let outbox = &mut state.outbox;
        let went = outbox.take(taken, fixed);
        if went > 0 && exchange.times.intended >= self.measure_from {
            messages.sent += went;
        }
        let length = fixed.map_or(outbox.made_bytes.len(), <[u8]>::len);
        if outbox.taken < length {
            return Pump::Wait;
        }
        outbox.ended = outbox.made >= outbox.total;
        if outbox.ended {
            return Pump::Wait;
        }
        outbox.next_portion();
        let interval = call.plan.streaming.interval;
        if interval > Nanos::ZERO {
            let at = now + interval;
            self.todo.push_back(Todo::Message { id, at });
            return Pump::Wait;
        }
        match state.make_messages(call, &mut self.tools) {
            Ok(()) => Pump::Again,
            Err(error) => {
                self.end(id, error.into(), now);
                Pump::GiveUp
            }
        }
    }

    /// A call's own time has come: it sends its next message, or no more.
    pub(super) fn message_due(&mut self, id: ExchangeId, now: Nanos) -> Due {
        let exchange = &mut self.list[id.index()];
        let request = &self.prepared.requests[exchange.task.request as usize];
        let (Some(call), Some(state)) = (request.call(), &mut exchange.call) else {
            return Due::Nothing;
        };
        let over = now >= state.until;
        if over && !call.plan.kind.client_streams() {
            // The call has received all that it asked for, which is no failure.
            return Due::Over(Failure::of(Outcome::Ok));
        }
        if over {
            state.outbox.total = state.outbox.made;
            return Due::Send;
        }
        if state.outbox.ended || !state.outbox.made_bytes.is_empty() {
            return Due::Nothing;
        }
        match state.make_messages(call, &mut self.tools) {
            Ok(()) => Due::Send,
            Err(error) => Due::Over(error.into()),
        }
    }

    /// The outcome of a call that has ended with a status.
    #[inline]
    pub(super) fn call_failure(&mut self, id: ExchangeId, status: Status, now: Nanos) -> Failure {
        self.list[id.index()].status = GRPC_STATUS + u16::from(status.code.number());
        if status.code == Code::DEADLINE_EXCEEDED && self.is_late(id, now) {
            return Failure::of(Outcome::TimeoutTotal);
        }
        let call = self.request_of(id).call();
        let expect = call.map_or(CallStatuses::OK, |call| call.plan.expect);
        // What breaks the protocol has a status that is not the server's.
        let is_own = status.violation.is_none();
        match (expect.accepts(status.code.number()), status.is_ok()) {
            (true, true) => return Failure::of(Outcome::Ok),
            (true, false) if is_own => return Failure::of(Outcome::Ok),
            (false, true) => return Failure::of(Outcome::GrpcOk),
            _ => {}
        }
        call_verdict(status)
    }

    /// Whether a call's deadline has passed. A server that keeps it too is often the first to act
    /// on it; which of the two was first is chance, and the outcome is one.
    #[cold]
    pub(super) fn is_late(&self, id: ExchangeId, now: Nanos) -> bool {
        let call = self.request_of(id).call();
        let limit = call.and_then(|call| call.plan.deadline);
        limit.is_some_and(|limit| now >= self.get(id).times.sent.min(now) + limit)
    }

    /// The status of a call whose reply is no message of its type.
    #[cold]
    pub(super) fn undecodable(&mut self, id: ExchangeId, reason: String) -> Failure {
        self.list[id.index()].status = GRPC_STATUS + grpc_code(Outcome::Decode);
        Failure::with(Outcome::Decode, reason)
    }
}
