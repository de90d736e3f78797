//! An exchange on a WebSocket: a handshake, a message with its answer, messages, or a close.
//!
//! The wire sends the request's body as a message, and passes on the messages that come while the
//! exchange receives. A message that answers one is measured by the exchange itself, from its
//! intended start. All others are timed like the events of a stream.

use super::context::{BodyStep, Continuation, KindContext, TimerStep};
use super::exchange::Exchange;
use crate::blame::Failure;
use crate::prepare::SocketRequest;
use crate::wire::{Fields, SocketMessage};
use drumfire_measure::{IsFirst, Outcome};
use drumfire_plan::{ReceiveUntil, SocketAct};
use drumfire_units::Nanos;

/// The messages of an exchange on a WebSocket.
#[derive(Debug, Default)]
pub(super) struct SocketState {
    /// The number of messages received.
    received: u64,
    /// The time of the last one.
    last: Nanos,
}

impl SocketState {
    /// Begins an attempt. Returns the time at which the exchange has received enough, if a time
    /// decides.
    pub(super) fn begin_attempt(
        &mut self,
        request: &SocketRequest,
        cx: &mut KindContext<'_>,
    ) -> Option<Nanos> {
        self.received = 0;
        if request.plan.act != SocketAct::Connect {
            // The handshake of the connection has no limit of its own, and messages have no head.
            cx.exchange.account.note_head();
        }
        match request.plan.receive()?.until {
            ReceiveUntil::Time(time) => Some(cx.now + time),
            ReceiveUntil::Count(_) | ReceiveUntil::Match => None,
        }
    }

    /// Notes that the message is sent. An exchange that does not receive is over at its next timer,
    /// so that no exchange ends while another starts.
    pub(super) fn sent(request: &SocketRequest, cx: &mut KindContext<'_>) -> BodyStep {
        if cx.is_measured() {
            cx.figures.messages_mut(cx.request.step).sent += 1;
        }
        match request.plan.receive() {
            Some(_) => {
                expect_message(request, cx);
                BodyStep::Wait
            }
            None => BodyStep::WaitUntil(cx.now),
        }
    }

    /// Receives a message.
    pub(super) fn message(
        &mut self,
        request: &SocketRequest,
        cx: &mut KindContext<'_>,
        message: &SocketMessage<'_>,
    ) -> Continuation {
        self.count(request, cx);
        cx.exchange.account.note_leniencies(message.leniencies);
        let Some(receive) = request.plan.receive() else {
            return Continuation::GoOn;
        };
        if let Err(failure) = self.keep(receive.until, cx, message) {
            return Continuation::End(failure);
        }
        let is_over = match receive.until {
            ReceiveUntil::Count(count) => self.received >= count,
            ReceiveUntil::Match => {
                let inspected = cx.inspect();
                if inspected.outcome == Outcome::Ok {
                    return Continuation::End(inspected);
                }
                false
            }
            ReceiveUntil::Time(_) => false,
        };
        if is_over {
            return Continuation::End(cx.inspect());
        }
        expect_message(request, cx);
        Continuation::GoOn
    }

    /// Counts a message, and times it unless it is the answer to the exchange's own.
    fn count(&mut self, request: &SocketRequest, cx: &mut KindContext<'_>) {
        let is_first = self.received == 0;
        self.received += 1;
        let before = std::mem::replace(&mut self.last, cx.now);
        if !cx.is_measured() {
            return;
        }
        let messages = cx.figures.messages_mut(cx.request.step);
        messages.received += 1;
        match (is_first, request.plan.sends()) {
            (true, Some(_)) => {}
            (true, None) => {
                let begun = cx.exchange.account.times.sent.min(cx.now);
                messages.record_streamed(IsFirst::Yes, begun, cx.now);
            }
            (false, _) => messages.record_streamed(IsFirst::No, before, cx.now),
        }
    }

    /// Keeps the part of a message that is inspected or shown.
    fn keep(
        &self,
        until: ReceiveUntil,
        cx: &mut KindContext<'_>,
        message: &SocketMessage<'_>,
    ) -> Result<(), Failure> {
        if !cx.rules.looks() {
            return Ok(());
        }
        let is_alone = until == ReceiveUntil::Match || self.received == 1;
        if is_alone {
            begin_look(cx);
        }
        let inspection = cx.request.inspection();
        let Some(look) = cx.exchange.look.as_deref_mut() else {
            return Ok(());
        };
        look.show_message(message.payload);
        if let Some(inspection) = inspection.filter(|it| it.inspects_messages()) {
            if message.length > message.payload.len() as u64 {
                return Err(Failure::from_outcome(Outcome::LimitBody));
            }
            look.inspect_message(inspection, message.payload)?;
        }
        let Some(max) = inspection.and_then(|it| it.body_max()) else {
            return Ok(());
        };
        if !is_alone {
            look.keep(b"\n", max.0)?;
        }
        look.keep(message.payload, max.0)
    }
}

/// Begins the look at messages.
fn begin_look(cx: &mut KindContext<'_>) {
    cx.begin_look(&Fields::none());
}

/// Receives the answer to the handshake, which ends its exchange.
pub(super) fn head(cx: &mut KindContext<'_>, status: u16, fields: &Fields<'_>) -> Continuation {
    cx.exchange.account.set_status(status);
    if cx.rules.looks() {
        cx.begin_look(fields);
    }
    Continuation::End(cx.inspect())
}

/// The end of an exchange that is over with its timer.
pub(super) fn timer(request: &SocketRequest, cx: &mut KindContext<'_>) -> TimerStep {
    match request.plan.receive() {
        Some(_) if cx.exchange.look.is_some() => TimerStep::End(cx.inspect()),
        _ => TimerStep::End(Failure::from_outcome(Outcome::Ok)),
    }
}

/// The outcome of an exchange whose time is up.
pub(super) fn lateness(request: &SocketRequest, exchange: &Exchange, now: Nanos) -> Outcome {
    let account = &exchange.account;
    match (&request.plan.act, account.is_spent(now)) {
        (SocketAct::Connect, _) => Outcome::TimeoutHead,
        (_, true) => Outcome::TimeoutTotal,
        (_, false) => Outcome::TimeoutGap,
    }
}

/// Sets the deadline of the next message.
fn expect_message(request: &SocketRequest, cx: &mut KindContext<'_>) {
    if let Some(receive) = request.plan.receive() {
        cx.exchange.account.expect_event(receive.gap, cx.now);
    }
}
