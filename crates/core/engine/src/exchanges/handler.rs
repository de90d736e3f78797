//! The exchanges' handling of wire events: the only implementation of [`Handler`] in a run.
//!
//! The handler finds the exchange, notes the event in its account, and calls a verb of its
//! [`ExchangeState`]. The [`Continuation`] becomes an [`End`](super::End) or a [`Todo`] on the
//! lists of [`Exchanges`], and the wire's [`Then`]. The handler itself decides only one case: a
//! response in one piece that is judged by its status alone, which is nearly every response under
//! load.
//!
//! The wire keeps the order of [`ExchangeState`]'s verbs. After [`Then::Over`] or [`Then::GiveUp`]
//! it reports no further events of the exchange; after a failure that leads to another attempt, it
//! reports none until the exchange is submitted again. An exchange may end within
//! [`Handler::render_request`], before a byte of it was sent; its seat then rests, because the next
//! request of such a plan would fail as fast.
//!
//! The methods on the path of each response are forced inline into the wire. Together with the
//! verbs they form one loop from the kernel's bytes to the sample.

use super::Exchanges;
use super::context::{BodyStep, Continuation, KindContext};
use super::entry::Entry;
use super::lists::{self, Todo};
use super::response::ResponseState;
use super::state::ExchangeState;
use crate::blame::Failure;
use crate::id::ExchangeId;
use crate::prepare::{Rendered, Request};
use crate::wire::{
    Ahead, Chunk, ConnectionNote, End, FIELDS_TOO_LARGE, Fields, GivenUp, Handler, Opening, Pump,
    Resend, Seen, SocketTask, Then, Whole, WireEvent,
};
use drumfire_measure::{AddressCounts, Figures, IsFirst, Outcome};
use drumfire_units::Nanos;

/// A worker's exchanges, and the interval for counts that belong to no exchange. Each call of the
/// transport gets a new handler, made of two borrows.
///
/// Each event looks the exchange up by its id, which is an index and therefore cheap. The id is
/// valid because the transport reports no events of an exchange before its `start` or after its
/// `finish`.
pub(crate) struct ExchangeHandler<'a> {
    exchanges: &'a mut Exchanges,
    interval: &'a mut Figures,
}

impl Handler for ExchangeHandler<'_> {
    fn sent_at(&self, id: ExchangeId) -> Nanos {
        self.exchanges.entry(id).exchange.account.times.sent
    }

    #[inline(always)]
    fn render_request(
        &mut self,
        id: ExchangeId,
        connection: u32,
        now: Nanos,
        unix_time: impl FnOnce() -> u64,
    ) -> Result<(), GivenUp> {
        if !self.exchanges.rules.renders_late {
            return Ok(());
        }
        match self.with(id, now, |state, cx| {
            state.render_request(cx, connection, unix_time)
        }) {
            Ok(None) => Ok(()),
            Ok(Some(at)) => {
                self.exchanges.lists.push_todo(Todo::Message { id, at });
                Ok(())
            }
            Err(error) => {
                self.exchanges.end_and_rest(id, error.into(), now);
                Err(GivenUp)
            }
        }
    }

    #[inline(always)]
    fn message(&self, id: ExchangeId) -> Option<&Rendered> {
        let (state, request) = self.state_of(id);
        state.outgoing.rendered(request)
    }

    fn socket(&self, id: ExchangeId) -> Option<SocketTask<'_>> {
        let (state, request) = self.state_of(id);
        Some(SocketTask {
            request: request.socket()?,
            message: state.outgoing.prepared_body(request),
            step: request.step,
        })
    }

    fn unasked(&mut self, step: u16, before: Nanos, now: Nanos) {
        if self.exchanges.rules.measures(now) {
            let messages = self.interval.messages_mut(step);
            messages.received += 1;
            messages.record_streamed(IsFirst::No, before, now);
        }
    }

    #[inline]
    fn opening(&self, id: ExchangeId) -> Option<Opening<'_>> {
        let (state, request) = self.state_of(id);
        state.opening(request)
    }

    #[inline]
    fn body(&self, id: ExchangeId) -> Option<Chunk<'_>> {
        if self.exchanges.entry(id).exchange.account.is_written() {
            return None;
        }
        let (state, request) = self.state_of(id);
        state.next_bytes(request)
    }

    #[inline]
    fn body_taken(&mut self, id: ExchangeId, taken: usize, now: Nanos) -> Pump {
        match self.with(id, now, |state, cx| state.taken(cx, taken)) {
            BodyStep::Again => Pump::Again,
            BodyStep::Wait => Pump::Wait,
            BodyStep::WaitUntil(at) => {
                self.exchanges.lists.push_todo(Todo::Message { id, at });
                Pump::Wait
            }
            BodyStep::Fail(error) => {
                self.exchanges.end_exchange(id, error.into(), now);
                Pump::GiveUp
            }
        }
    }

    #[cold]
    fn body_refused(&mut self, id: ExchangeId) {
        let Entry { exchange, state } = self.exchanges.entry_mut(id);
        exchange.account.stop_writing();
        state.refuse_body();
    }

    #[inline(always)]
    fn written(&mut self, id: ExchangeId, bytes: usize, whole: bool, now: Nanos) {
        let account = &mut self.exchanges.entry_mut(id).exchange.account;
        account.note_written(bytes, whole, now);
        if let Some(limit) = self.exchanges.rules.head_limit
            && whole
        {
            self.expect_head(id, limit, now);
        }
    }

    #[inline(always)]
    fn sent(&mut self, id: ExchangeId, now: Nanos) {
        let account = &mut self.exchanges.entry_mut(id).exchange.account;
        if account.note_sent(now) {
            self.sent_again(id);
        }
        if let Some(limit) = self.exchanges.rules.head_limit {
            self.expect_head(id, limit, now);
        }
    }

    #[cold]
    fn left(&mut self, id: ExchangeId, at: Nanos) {
        self.exchanges
            .entry_mut(id)
            .exchange
            .account
            .times
            .note_left(at);
    }

    #[inline(always)]
    fn received(&mut self, id: ExchangeId, bytes: usize, now: Nanos) {
        let account = &mut self.exchanges.entry_mut(id).exchange.account;
        account.note_received(bytes, now);
    }

    #[inline]
    fn reads_body(&self, id: ExchangeId) -> bool {
        let (state, request) = self.state_of(id);
        state.reads_body(request)
    }

    #[inline(always)]
    fn on_event(&mut self, id: ExchangeId, event: WireEvent<'_>, now: Nanos) -> Then {
        let continuation = match event {
            WireEvent::Head {
                status,
                fields,
                ahead,
            } => self.with(id, now, |state, cx| head(state, cx, status, fields, ahead)),
            WireEvent::Data { bytes, end } => {
                self.with(id, now, |state, cx| state.data(cx, bytes, end))
            }
            WireEvent::End { leniencies } => {
                self.with(id, now, |state, cx| state.end_message(cx, leniencies))
            }
            WireEvent::Message(message) => {
                self.with(id, now, |state, cx| state.message(cx, &message))
            }
            WireEvent::Trailers { fields } => {
                self.with(id, now, |state, cx| state.trailers(cx, fields))
            }
            WireEvent::Interim => {
                let account = &mut self.exchanges.entry_mut(id).exchange.account;
                account.note_interim();
                return Then::GoOn;
            }
            WireEvent::Failed {
                failure,
                seen,
                resend,
            } => return self.failed(id, failure, seen, resend, now),
        };
        self.go_on(id, continuation, now)
    }

    #[cold]
    fn head_refused(&mut self, id: ExchangeId, sizes: String) {
        let Exchanges { rules, entries, .. } = &mut *self.exchanges;
        let exchange = &mut entries[id.index()].exchange;
        // Otherwise the next exchange with this state would find a detail without a failure.
        if rules.never_accepts(rules.request(exchange), FIELDS_TOO_LARGE) {
            exchange.explain(sizes);
        }
    }

    #[inline(always)]
    fn whole(&mut self, id: ExchangeId, whole: &Whole<'_>, now: Nanos) -> Then {
        if !self.exchanges.rules.is_plain || matches!(whole.status, 300..=399) {
            return self.in_pieces(id, whole, now);
        }
        // The path of every plain response: the entry is looked up once.
        let outcome = self.exchanges.rules.judge(whole.status);
        let exchange = &mut self.exchanges.entry_mut(id).exchange;
        if outcome != Outcome::Ok {
            ResponseState::sample_whole(exchange, &whole.fields, whole.body);
        }
        exchange.account.set_status(whole.status);
        if let End::Message(leniencies) = whole.end {
            exchange.account.note_leniencies(leniencies);
        }
        let cut = !exchange.account.is_written();
        let end = lists::End::new(id, outcome, now);
        self.exchanges.lists.push_end(end);
        Then::Over { cut }
    }

    #[inline]
    fn seated(&mut self, id: ExchangeId, now: Nanos) {
        self.exchanges
            .entry_mut(id)
            .exchange
            .account
            .note_seated(now);
    }

    fn note(&mut self, note: ConnectionNote) {
        let connections = &mut self.interval.connections;
        match note {
            ConnectionNote::Connected { time, address } => {
                connections.record_opened(time);
                if let Some(address) = address {
                    connections.addresses.add(address, AddressCounts::new(1, 0));
                }
            }
            ConnectionNote::Secured { time, is_resumed } => {
                connections.tls_handshake.record(time);
                connections.tls_resumed += u64::from(is_resumed);
            }
            ConnectionNote::Paused => connections.pauses += 1,
            ConnectionNote::HeldBack(allowed) => self.interval.held_back.record(allowed),
            ConnectionNote::Closed(life) => life.record_in(connections),
        }
    }
}

/// Receives the response's head; from now on only the limit of the whole exchange applies.
#[inline(always)]
fn head(
    state: &mut ExchangeState,
    cx: &mut KindContext<'_>,
    status: u16,
    fields: Fields<'_>,
    ahead: Ahead,
) -> Continuation {
    cx.exchange.account.note_head();
    state.head(cx, status, fields, ahead)
}

/// Passes a response that came in one piece on as parts, one after the other, until one ends the
/// exchange.
///
/// So both ways in which a response arrives have one path, and the result does not depend on how
/// the peer's bytes were split into reads. The last part ends the response: the head if nothing
/// follows, then the body, then the end or the trailers.
#[inline]
fn pieces(state: &mut ExchangeState, cx: &mut KindContext<'_>, whole: &Whole<'_>) -> Continuation {
    let mut continuation = head(state, cx, whole.status, whole.fields, whole.ahead);
    if matches!(continuation, Continuation::GoOn) && !whole.body.is_empty() {
        let end = matches!(whole.end, End::Body);
        continuation = state.data(cx, whole.body, end);
    }
    match (continuation, whole.end) {
        (Continuation::GoOn, End::Message(leniencies)) => state.end_message(cx, leniencies),
        (Continuation::GoOn, End::Trailers(fields)) => state.trailers(cx, fields),
        (continuation, _) => continuation,
    }
}

impl<'a> ExchangeHandler<'a> {
    /// The handler of a worker's exchanges, with the current interval.
    #[inline(always)]
    pub(crate) const fn new(exchanges: &'a mut Exchanges, interval: &'a mut Figures) -> Self {
        Self {
            exchanges,
            interval,
        }
    }

    /// Counts an exchange that a connection has taken again after a failure. An exchange that
    /// follows a redirect has not failed.
    #[cold]
    fn sent_again(&mut self, id: ExchangeId) {
        let exchange = &mut self.exchanges.entry_mut(id).exchange;
        self.interval.retried += u64::from(exchange.take_first().is_some());
    }

    /// Sets the deadline of a response head that has its own limit.
    #[inline(never)]
    fn expect_head(&mut self, id: ExchangeId, limit: Nanos, now: Nanos) {
        let account = &mut self.exchanges.entry_mut(id).exchange.account;
        let deadline = account.expect_head(limit, now);
        self.exchanges.note_deadline(deadline);
    }

    /// The state of an exchange, and its request.
    #[inline(always)]
    fn state_of(&self, id: ExchangeId) -> (&ExchangeState, &Request) {
        let Entry { exchange, state } = self.exchanges.entry(id);
        (state, self.exchanges.rules.request(exchange))
    }

    /// Calls a verb of an exchange's state.
    ///
    /// The context for the verb contains the parts of [`Exchanges`] other than the entry, so that
    /// the verb can render, decode and count while it borrows the state.
    #[inline(always)]
    fn with<T>(
        &mut self,
        id: ExchangeId,
        now: Nanos,
        verb: impl FnOnce(&mut ExchangeState, &mut KindContext<'_>) -> T,
    ) -> T {
        self.exchanges.with(id, self.interval, now, verb)
    }

    /// Receives a response that came in one piece, and continues as with any other.
    #[inline]
    fn in_pieces(&mut self, id: ExchangeId, whole: &Whole<'_>, now: Nanos) -> Then {
        let continuation = self.with(id, now, |state, cx| pieces(state, cx, whole));
        self.go_on(id, continuation, now)
    }

    /// Lists a continuation, and returns the wire's part of it.
    ///
    /// For the wire, a redirect ends the exchange: the connection is free, and the next request may
    /// need another. `cut` means that the request was not written completely, so the wire must end
    /// it. The rest of a response that is given up is not read: an HTTP/2 stream is reset, and an
    /// HTTP/1.1 connection is closed.
    #[inline(always)]
    fn go_on(&mut self, id: ExchangeId, continuation: Continuation, now: Nanos) -> Then {
        match continuation {
            Continuation::GoOn => {
                if self.exchanges.rules.part_limit_min.is_some() {
                    let deadline = self.exchanges.entry(id).exchange.account.times.deadline;
                    self.exchanges.note_deadline(deadline);
                }
                Then::GoOn
            }
            Continuation::Redirect => {
                let cut = !self.exchanges.entry(id).exchange.account.is_written();
                self.exchanges.lists.push_todo(Todo::Follow { id, now });
                Then::Over { cut }
            }
            Continuation::End(failure) => self.over(id, failure, now),
            Continuation::GiveUp(failure) => {
                self.exchanges.end_exchange(id, failure, now);
                Then::GiveUp
            }
        }
    }

    /// Ends an exchange whose response was read completely. If its request was not written
    /// completely, the wire ends it.
    #[inline(always)]
    fn over(&mut self, id: ExchangeId, failure: Failure, now: Nanos) -> Then {
        let cut = !self.exchanges.entry(id).exchange.account.is_written();
        self.exchanges.end_exchange(id, failure, now);
        Then::Over { cut }
    }

    /// Ends an exchange that failed on the wire, or lists it to be sent again if that is safe and
    /// wanted. An idempotent request that is repeated keeps the time of the first byte of the
    /// failed response.
    ///
    /// The request first decides whether it may be sent twice; only then the exchange's single
    /// further attempt is used. A repeated request is not a second exchange: it keeps its id and
    /// its due time. The request counts as retried when a connection has taken it again; if none
    /// does, the exchange ends with its first failure.
    #[cold]
    fn failed(
        &mut self,
        id: ExchangeId,
        failure: Failure,
        seen: Seen,
        resend: Resend,
        now: Nanos,
    ) -> Then {
        let pause = self.with(id, now, |state, cx| {
            let pause = state.pause_before_resend(cx, resend)?;
            if !cx.exchange.resend() {
                return None;
            }
            cx.exchange.account.begin_attempt();
            state.begin_again();
            Some(pause)
        });
        if let Some(pause) = pause {
            if resend != Resend::Idempotent {
                let account = &mut self.exchanges.entry_mut(id).exchange.account;
                account.forget_first_byte();
            }
            self.exchanges.entry_mut(id).exchange.await_resend(failure);
            self.exchanges
                .lists
                .push_todo(Todo::Resend { id, pause, now });
            return Then::GoOn;
        }
        let now = self.exchanges.entry(id).exchange.account.ended_at(now);
        let failure = self.with(id, now, |state, cx| {
            cx.exchange.account.note_seen(seen);
            let failure = state.failure(cx, failure);
            cx.exchange.end_with(failure)
        });
        self.over(id, failure, now)
    }
}
