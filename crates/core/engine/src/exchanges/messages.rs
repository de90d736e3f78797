//! The messages that an exchange sends on a stream, made while it runs.
//!
//! An attempt begins with [`OutgoingMessages::begin_attempt`], which renders the varying metadata
//! and the first messages. The stream then takes bytes. After each portion
//! [`OutgoingMessages::taken`] makes the next one, or sets a timer for it, which
//! [`OutgoingMessages::timer`] handles.
//!
//! If the messages are always the same (`fixed`), the plan contains them encoded: nothing is
//! rendered, no context is kept and no byte is copied. Other messages are rendered into the outbox,
//! up to its bound, so that a stream of a million messages takes the memory of a few.

use super::context::{BodyStep, KindContext, TimerStep};
use super::outbox::CallOutbox;
use super::own::KeptContext;
use super::side::{excerpt, of_stream};
use super::tools::Codecs;
use crate::blame::Failure;
use crate::limits::SHOWN_MESSAGES;
use crate::prepare::{MessageRequest, check_metadata, message_count, too_large};
use crate::wire::{Chunk, Extra, Opening};
use drumfire_measure::{Excerpt, Outcome, Side};
use drumfire_plan::{DataError, Direction, RenderedFields};
use drumfire_units::Nanos;

/// The messages of an exchange on their way out; reused by the next exchange with the same entry.
#[derive(Debug)]
pub(super) struct OutgoingMessages {
    outbox: CallOutbox,
    /// The varying metadata.
    metadata: RenderedFields,
    context: KeptContext,
    /// The moment at which the context was made, on both clocks. Later times are computed from it,
    /// so that no message reads the wall clock.
    began: ClockMoment,
    /// The times of the first messages, which may be shown, if each message is rendered with its
    /// own time.
    made_at: Vec<u64>,
    /// The time at which the exchange has sent and received enough; [`Nanos::MAX`] if the number of
    /// messages decides.
    until: Nanos,
}

/// A moment on both clocks.
#[derive(Clone, Copy, Debug, Default)]
struct ClockMoment {
    at: Nanos,
    /// The time in nanoseconds since the Unix epoch.
    unix: u64,
}

impl ClockMoment {
    /// The time since the Unix epoch at `now`, which is not before this moment.
    fn unix_at(self, now: Nanos) -> u64 {
        self.unix + (now - self.at).0
    }
}

impl Default for OutgoingMessages {
    fn default() -> Self {
        Self {
            outbox: CallOutbox::default(),
            metadata: RenderedFields::default(),
            context: KeptContext::default(),
            began: ClockMoment::default(),
            made_at: Vec::new(),
            until: Nanos::MAX,
        }
    }
}

impl OutgoingMessages {
    /// Begins another exchange with this state.
    #[inline]
    pub(super) const fn begin_exchange(&mut self) {
        self.outbox.begin_exchange();
    }

    /// Begins an attempt and renders varying data. Returns the time at which the exchange has sent
    /// and received enough, if the plan has one.
    ///
    /// The context of an exchange is made once, in its first attempt, so that a repeated request
    /// has the same data. The outbox and the times begin again with each attempt.
    ///
    /// # Errors
    /// A text, if the data cannot be rendered.
    pub(super) fn begin_attempt(
        &mut self,
        request: &MessageRequest,
        cx: &mut KindContext<'_>,
        connection: u32,
        unix_time: impl FnOnce() -> u64,
    ) -> Result<Option<Nanos>, DataError> {
        let generation = cx.exchange.generation;
        if request.fixed.is_none() && !self.context.is_of(generation) {
            let seed = cx.rules.prepared.seed();
            let unix = unix_time();
            let context = cx.exchange.context(connection, unix, seed);
            self.context.keep(context, generation);
            self.began = ClockMoment { at: cx.now, unix };
        }
        match request.fixed {
            Some(messages) => self.outbox.begin_attempt(messages, messages),
            None => self.render(request, &mut cx.tools.codecs, cx.now)?,
        }
        let until = request.plan.streaming.duration.map(|time| cx.now + time);
        self.until = until.unwrap_or(Nanos::MAX);
        Ok(until)
    }

    /// Drops the context, which holds values of the user.
    #[cold]
    pub(super) fn drop_context(&mut self) {
        self.context.clear();
    }

    /// Renders the varying metadata and the first messages.
    fn render(
        &mut self,
        request: &MessageRequest,
        codecs: &mut Codecs,
        now: Nanos,
    ) -> Result<(), DataError> {
        self.context.set_time(self.began.unix);
        self.made_at.clear();
        let context = &self.context.context;
        self.outbox
            .begin_attempt(message_count(&request.plan, context), 0);
        self.metadata.clear();
        request.plan.data.fields(context, &mut self.metadata)?;
        for (name, value) in self.metadata.iter() {
            check_metadata(name, value.as_bytes())?;
        }
        self.make_messages(request, codecs, now)
    }

    /// Makes as many messages as may be sent now: as many as the outbox accepts, or one if the plan
    /// has an interval between messages. If the plan uses a message's own time, each portion gets
    /// the time at which it is made.
    fn make_messages(
        &mut self,
        request: &MessageRequest,
        codecs: &mut Codecs,
        now: Nanos,
    ) -> Result<(), DataError> {
        let one_by_one = request.plan.streaming.interval > Nanos::ZERO;
        let renews_time = request.plan.data.renews_time();
        let unix = self.began.unix_at(now);
        if renews_time {
            self.context.set_time(unix);
        }
        while self.outbox.wants() {
            if renews_time && (self.made_at.len() as u64) < SHOWN_MESSAGES {
                self.made_at.push(unix);
            }
            let (compressor, message) = codecs.compressor(request.encoding);
            let (index, out) = self.outbox.next_message();
            request
                .plan
                .data
                .message(&self.context.context, index, message)?;
            if message.len() as u64 > request.plan.send_limit {
                return Err(too_large(message.len(), request.plan.send_limit).into());
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

    /// The opening of the exchange's stream.
    #[inline]
    pub(super) fn opening<'a>(&'a self, request: &'a MessageRequest) -> Opening<'a> {
        Opening::new(&request.stream.head, self.extra(request), true)
    }

    /// The exchange's own fields for opening its stream: the varying metadata.
    #[inline]
    pub(super) fn extra(&self, request: &MessageRequest) -> Option<Extra<'_>> {
        let own = Extra::new(None, None, &self.metadata);
        request.fixed.is_none().then_some(own)
    }

    /// The next bytes for the stream.
    #[inline]
    pub(super) fn next_bytes<'a>(&'a self, request: &'a MessageRequest) -> Option<Chunk<'a>> {
        let (bytes, end) = self.outbox.next_bytes(request.fixed_messages())?;
        Some(Chunk::new(bytes, end))
    }

    /// Notes that the stream has taken bytes of the messages, and returns the next step: end or
    /// wait, another portion at once, or one at a given time.
    pub(super) fn taken(
        &mut self,
        request: &MessageRequest,
        cx: &mut KindContext<'_>,
        taken: usize,
    ) -> BodyStep {
        let fixed = request.fixed_messages();
        let went = self.outbox.note_taken(taken, fixed);
        if went > 0 && cx.is_measured() {
            cx.figures.messages_mut(cx.request.step).sent += went;
        }
        if !self.outbox.is_taken(fixed) || self.outbox.ends_now() {
            return BodyStep::Wait;
        }
        self.outbox.next_portion();
        let interval = request.plan.streaming.interval;
        if interval > Nanos::ZERO {
            return BodyStep::WaitUntil(cx.now + interval);
        }
        match self.make_messages(request, &mut cx.tools.codecs, cx.now) {
            Ok(()) => BodyStep::Again,
            Err(error) => BodyStep::Fail(error),
        }
    }

    /// Ends the request, because the server takes no more of it.
    pub(super) const fn refuse(&mut self) {
        self.outbox.refuse();
    }

    /// Sends the next message, or ends the request, when a timer has fired. A timer is set for the
    /// next message or for the end; the clock decides which one this is.
    pub(super) fn timer(
        &mut self,
        request: &MessageRequest,
        cx: &mut KindContext<'_>,
    ) -> TimerStep {
        let is_over = cx.now >= self.until;
        if is_over && !request.plan.kind.client_streams() {
            // The exchange has received everything that the plan wants, which is not a failure.
            return TimerStep::End(Failure::from_outcome(Outcome::Ok));
        }
        if is_over {
            self.outbox.stop();
            return TimerStep::Send;
        }
        if !self.outbox.is_idle() {
            return TimerStep::Nothing;
        }
        match self.make_messages(request, &mut cx.tools.codecs, cx.now) {
            Ok(()) => TimerStep::Send,
            Err(error) => TimerStep::End(error.into()),
        }
    }

    /// The sent request as it is shown: its first messages are rendered again, each with its
    /// original time.
    pub(super) fn shown(&self, request: &MessageRequest) -> Side {
        let mut context = self.context.context.clone();
        let count = message_count(&request.plan, &context).min(SHOWN_MESSAGES);
        let check = request.plan.reply_check.as_ref();
        let mut times = self.made_at.iter();
        let made = (0..count).map_while(|index| {
            let mut bytes = Vec::new();
            context.now = times.next().copied().unwrap_or(context.now);
            request
                .plan
                .data
                .message(&context, index, &mut bytes)
                .ok()?;
            let text = check.and_then(|check| check.text(Direction::Request, &bytes));
            Some(Excerpt {
                text,
                ..excerpt(&bytes)
            })
        });
        Side {
            bodies: made.collect(),
            ..of_stream(&request.stream.head, self.extra(request), &[])
        }
    }

    /// The number of messages that an ending exchange has not sent; 0 if the total is unknown until
    /// the exchange's end.
    #[inline]
    pub(super) fn unsent(&self, request: &MessageRequest, cx: &KindContext<'_>) -> u64 {
        match self.outbox.total() {
            Some(total) if self.outbox.counted == total => 0,
            _ => self.left(request, cx),
        }
    }

    /// The number of messages that an exchange ended before sending. The total may be known only by
    /// rendering: for an exchange that never began, it is computed from the context that it would
    /// have had.
    #[cold]
    fn left(&self, request: &MessageRequest, cx: &KindContext<'_>) -> u64 {
        if request.plan.has_open_end() {
            return 0;
        }
        let unknown = || {
            let seed = cx.rules.prepared.seed();
            message_count(&request.plan, &cx.exchange.context(0, 0, seed))
        };
        let total = self.outbox.total().or(request.fixed);
        let total = total.unwrap_or_else(unknown);
        total.saturating_sub(self.outbox.counted)
    }
}
