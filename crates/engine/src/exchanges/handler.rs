//! The exchanges' side of wires' reports: the one implementation of [`Handler`] in a run.

use super::response::judge;
use super::{Exchanges, Todo};
use crate::blame::{Failure, call_verdict};
use crate::id::ExchangeId;
use crate::limits::BACKOFF_MIN;
use crate::prepare::{Message, Rendered};
use crate::wire::{
    Ahead, Chunk, End, Fields, GivenUp, Handler, Note, Opening, Pump, Resend, WireEvent,
};
use crate::wire::{Seen, Then, Whole};
use drumfire_grpc::Status;
use drumfire_measure::{AddressCounts, Figures, GRPC_STATUS, Leniencies, Outcome};
use drumfire_plan::ReusedClosed;
use drumfire_units::Nanos;

/// A worker's exchanges, and the interval for counts that belong to no exchange.
pub(crate) struct ExchangeHandler<'a> {
    pub(crate) exchanges: &'a mut Exchanges,
    pub(crate) interval: &'a mut Figures,
}

impl Handler for ExchangeHandler<'_> {
    fn sent_at(&self, id: ExchangeId) -> Nanos {
        self.exchanges.get(id).times.sent
    }

    #[inline(always)]
    fn begin(
        &mut self,
        id: ExchangeId,
        connection: u32,
        now: Nanos,
        unix_time: impl FnOnce() -> u64,
    ) -> Result<(), GivenUp> {
        if !self.exchanges.varies {
            return Ok(());
        }
        self.exchanges
            .begin(id, connection, now, unix_time)
            .map_err(|error| {
                let failure = Failure::from(error);
                self.exchanges.end_and_rest(id, failure, now, BACKOFF_MIN);
                GivenUp
            })
    }

    #[inline]
    fn message(&self, id: ExchangeId) -> Option<&Rendered> {
        let request = self.exchanges.request_of(id);
        let exchange = self.exchanges.get(id);
        match exchange.message(request) {
            Message::Http1(rendered) => Some(rendered),
            Message::Varying(_) => exchange.own.as_ref().map(|own| own.rendered()),
            Message::Http2(_) => None,
        }
    }

    #[inline]
    fn opening(&self, id: ExchangeId) -> Option<Opening<'_>> {
        let request = self.exchanges.request_of(id);
        let exchange = self.exchanges.get(id);
        let stream = match exchange.message(request) {
            Message::Http2(stream) => stream,
            Message::Varying(varying) => return exchange.own.as_ref()?.opening(varying),
            Message::Http1(_) => return None,
        };
        let varies = stream
            .call
            .as_ref()
            .is_some_and(|call| call.fixed.is_none());
        let extra = match &exchange.call {
            Some(call) if varies => Some(call.extra()),
            _ => None,
        };
        Some(Opening {
            head: &stream.head,
            extra,
            has_body: stream.has_body,
        })
    }

    #[inline]
    fn body(&self, id: ExchangeId) -> Option<Chunk<'_>> {
        let request = self.exchanges.request_of(id);
        let exchange = self.exchanges.get(id);
        let stream = match exchange.message(request) {
            Message::Http2(stream) => stream,
            Message::Varying(_) if exchange.is_sent => return None,
            Message::Varying(varying) => {
                let own = exchange.own.as_ref()?;
                return own.body_after(varying, exchange.body_sent);
            }
            Message::Http1(_) => return None,
        };
        if exchange.is_sent || !stream.has_body {
            return None;
        }
        let (Some(call), Some(state)) = (&stream.call, &exchange.call) else {
            return Some(Chunk {
                bytes: &stream.body[exchange.body_sent..],
                end: true,
            });
        };
        let outbox = &state.outbox;
        if outbox.ended {
            return None;
        }
        let body = match call.fixed {
            Some(_) => &stream.body[..],
            None => &outbox.made_bytes,
        };
        Some(Chunk {
            bytes: &body[outbox.taken..],
            end: outbox.made >= outbox.total,
        })
    }

    #[inline]
    fn body_taken(&mut self, id: ExchangeId, taken: usize, now: Nanos) -> Pump {
        if self.exchanges.request_of(id).call().is_some() {
            let messages = &mut self.interval.messages;
            return self.exchanges.messages_taken(id, taken, messages, now);
        }
        self.exchanges.get_mut(id).body_sent += taken;
        Pump::Wait
    }

    #[cold]
    fn body_refused(&mut self, id: ExchangeId) {
        let exchange = self.exchanges.get_mut(id);
        exchange.is_sent = true;
        if let Some(call) = &mut exchange.call {
            call.outbox.ended = true;
        }
    }

    #[inline(always)]
    fn written(&mut self, id: ExchangeId, bytes: usize, whole: bool, now: Nanos) {
        let limit = self.exchanges.timeouts.head;
        let exchange = self.exchanges.get_mut(id);
        exchange.bytes_sent = exchange.bytes_sent.saturating_add(bytes as u32);
        if whole {
            exchange.is_sent = true;
            exchange.times.written = now;
            let deadline = exchange.expect_head(limit, now);
            self.exchanges.next_scan = self.exchanges.next_scan.min(deadline);
        }
    }

    #[inline(always)]
    fn sent(&mut self, id: ExchangeId, now: Nanos) {
        let limit = self.exchanges.timeouts.head;
        let exchange = self.exchanges.get_mut(id);
        exchange.times.sent = exchange.times.sent.min(now);
        let deadline = exchange.expect_head(limit, now);
        self.exchanges.next_scan = self.exchanges.next_scan.min(deadline);
    }

    #[inline(always)]
    fn received(&mut self, id: ExchangeId, bytes: usize, now: Nanos) {
        let exchange = self.exchanges.get_mut(id);
        exchange.times.first_byte = exchange.times.first_byte.min(now);
        exchange.bytes_received += bytes as u64;
    }

    #[inline]
    fn reads_body(&self, id: ExchangeId) -> bool {
        !self.exchanges.get(id).body.is_discard()
    }

    #[inline(always)]
    fn on_event(&mut self, id: ExchangeId, event: WireEvent<'_>, now: Nanos) -> Then {
        match event {
            WireEvent::Head {
                status,
                fields,
                ahead,
            } => self.head(id, status, fields, ahead, now),
            WireEvent::Data { bytes, end } => self.data(id, bytes, end, now),
            WireEvent::End { leniencies } => self.end_of_response(id, leniencies, now),
            WireEvent::Trailers { fields } => self.trailers(id, fields, now),
            WireEvent::Interim => {
                let exchange = self.exchanges.get_mut(id);
                exchange.interim = exchange.interim.saturating_add(1);
                Then::GoOn
            }
            WireEvent::Failed {
                failure,
                seen,
                resend,
            } => self.failed(id, failure, seen, resend, now),
        }
    }

    #[inline(always)]
    fn whole(&mut self, id: ExchangeId, whole: &Whole<'_>, now: Nanos) -> Then {
        if self.exchanges.reads || matches!(whole.status, 300..=399) {
            return self.in_pieces(id, whole, now);
        }
        if self.exchanges.varies && self.exchanges.request_of(id).call().is_some() {
            return self.call_whole(id, whole, now);
        }
        let outcome = judge(self.exchanges.expect, whole.status);
        if outcome != Outcome::Ok {
            self.exchanges.sample_whole(id, whole);
        }
        let exchange = self.exchanges.get_mut(id);
        exchange.status = whole.status;
        if let End::Message(leniencies) = whole.end {
            exchange.leniencies.0 |= leniencies.0;
        }
        self.over(id, Failure::of(outcome), now)
    }

    #[inline]
    fn seated(&mut self, id: ExchangeId, now: Nanos) {
        let times = &mut self.exchanges.get_mut(id).times;
        // It waited for a connection, or for room on one; that is no lag of ours.
        if times.sent == Nanos::MAX {
            times.due += now - times.started;
        }
    }

    fn note(&mut self, note: Note) {
        match note {
            Note::Connected { time, address } => {
                let connections = &mut self.interval.connections;
                connections.record_opened(time);
                if let Some(address) = address {
                    connections.addresses.add(address, AddressCounts::of(1, 0));
                }
            }
            Note::Secured { time, is_resumed } => {
                let connections = &mut self.interval.connections;
                connections.tls_handshake.record(time);
                connections.tls_resumed += u64::from(is_resumed);
            }
            Note::HeldBack(allowed) => self.interval.held_back.record(allowed),
            Note::Closed(life) => {
                let connections = &mut self.interval.connections;
                connections.record_closed(life.why, life.time, life.carried);
                if let Some(address) = life.address {
                    let counts = AddressCounts::of(0, life.carried);
                    connections.addresses.add(address, counts);
                }
            }
        }
    }
}

impl ExchangeHandler<'_> {
    /// A response in one piece that is more than a status, and bytes to be counted.
    #[cold]
    fn in_pieces(&mut self, id: ExchangeId, whole: &Whole<'_>, now: Nanos) -> Then {
        let mut then = self.head(id, whole.status, whole.fields, whole.ahead, now);
        if then == Then::GoOn && !whole.body.is_empty() {
            let end = matches!(whole.end, End::Body);
            then = self.data(id, whole.body, end, now);
        }
        match (then, whole.end) {
            (Then::GoOn, End::Message(leniencies)) => self.end_of_response(id, leniencies, now),
            (Then::GoOn, End::Trailers(fields)) => self.trailers(id, fields, now),
            (then, _) => then,
        }
    }

    /// A call's reply that came in one piece.
    #[inline]
    fn call_whole(&mut self, id: ExchangeId, whole: &Whole<'_>, now: Nanos) -> Then {
        let End::Trailers(trailers) = whole.end else {
            return self.in_pieces(id, whole, now);
        };
        let state = self.exchanges.get_mut(id).call.get_or_insert_default();
        if let Err(violation) = state.reply.head(whole.status, whole.fields.bytes()) {
            return self.call_given_up(id, violation.into(), now);
        }
        match self.messages(id, whole.body, false, now) {
            Then::GoOn => self.call_trailers(id, trailers, now),
            then => then,
        }
    }

    /// A response's head.
    #[inline(always)]
    fn head(
        &mut self,
        id: ExchangeId,
        status: u16,
        fields: Fields<'_>,
        ahead: Ahead,
        now: Nanos,
    ) -> Then {
        let total = self.exchanges.timeouts.total;
        let request =
            &self.exchanges.prepared.requests[self.exchanges.get(id).task.request as usize];
        let (limit, is_call) = (request.limit(total), request.call().is_some());
        let exchange = self.exchanges.get_mut(id);
        // The head is there: what remains is the time of the whole.
        exchange.times.deadline = exchange.times.started + limit;
        exchange.has_head = true;
        if is_call {
            return self.call_head(id, status, fields, ahead, now);
        }
        exchange.status = status;
        if self.exchanges.reads {
            self.exchanges.read_head(id, &fields);
        }
        if matches!(status, 300..=399) {
            self.exchanges.note_redirect(id, status, fields);
        }
        match ahead {
            Ahead::Nothing => self.whole(id, now),
            Ahead::NoBody => Then::GoOn,
            Ahead::Body if !self.exchanges.reads => {
                if judge(self.exchanges.expect, status) != Outcome::Ok {
                    self.exchanges.sample_body(id, &fields);
                }
                Then::GoOn
            }
            Ahead::Body => match self.exchanges.use_of_body(id, status, &fields) {
                Ok(body) => {
                    self.exchanges.get_mut(id).body = body;
                    Then::GoOn
                }
                Err(failure) => self.give_up(id, failure, now),
            },
        }
    }

    /// The head of a call's reply.
    #[inline]
    fn call_head(
        &mut self,
        id: ExchangeId,
        status: u16,
        fields: Fields<'_>,
        ahead: Ahead,
        now: Nanos,
    ) -> Then {
        if ahead == Ahead::Nothing && self.exchanges.reads {
            self.exchanges.read_head(id, &fields);
        }
        let state = self.exchanges.get_mut(id).call.get_or_insert_default();
        if ahead == Ahead::Nothing {
            let status = state.reply.trailers_only(status, fields.bytes());
            return self.call_over(id, status, now);
        }
        if let Err(violation) = state.reply.head(status, fields.bytes()) {
            return self.call_given_up(id, violation.into(), now);
        }
        if self.exchanges.reads {
            self.exchanges.read_head(id, &fields);
        }
        Then::GoOn
    }

    /// Bytes of a body.
    #[inline(always)]
    fn data(&mut self, id: ExchangeId, bytes: &[u8], end: bool, now: Nanos) -> Then {
        if self.exchanges.request_of(id).call().is_some() {
            return self.messages(id, bytes, end, now);
        }
        let exchange = self.exchanges.get_mut(id);
        if !exchange.body.is_discard() {
            let body = &mut exchange.body;
            let read = body.read(bytes, exchange.look.as_deref_mut());
            if let Err(failure) = read.and_then(|()| if end { body.finish() } else { Ok(()) }) {
                return if end {
                    self.over(id, failure, now)
                } else {
                    self.give_up(id, failure, now)
                };
            }
        }
        if end { self.whole(id, now) } else { Then::GoOn }
    }

    /// Bytes of a call's messages.
    #[inline]
    fn messages(&mut self, id: ExchangeId, bytes: &[u8], end: bool, now: Nanos) -> Then {
        let exchanges = &mut *self.exchanges;
        let exchange = &mut exchanges.list[id.index()];
        let request = &exchanges.prepared.requests[exchange.task.request as usize];
        let (Some(call), Some(state)) = (request.call(), &mut exchange.call) else {
            return Then::GoOn;
        };
        let mut came = 0;
        let mut wrong = None;
        let check = call.plan.reply_check.as_deref();
        let decompressor = &mut exchanges.tools.decompressor;
        let looks = exchanges.looks;
        let mut look = exchange.look.as_deref_mut().filter(|_| looks);
        // Of a stream the first message is looked at.
        let inspection = request.inspection.as_ref();
        let inspection = inspection.filter(|_| state.reply.messages() == 0);
        let mut first = inspection.and_then(|inspection| inspection.body_max());
        let mut kept = Ok(());
        let fed = state.reply.data(bytes, decompressor, |message| {
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
        let measured = exchange.times.intended >= exchanges.measure_from;
        let mut into = measured.then_some(&mut self.interval.messages);
        if let Some(messages) = &mut into {
            messages.received += came;
        }
        if let Some(error) = wrong {
            let failure = self.exchanges.undecodable(id, error.0);
            return self.give_up(id, failure, now);
        }
        if let Err(failure) = kept {
            return self.give_up(id, failure, now);
        }
        if let Err(violation) = fed {
            return self.call_given_up(id, violation.into(), now);
        }
        if came > 0 && call.server_streams() {
            state.note_streamed(came, exchange.times.sent, now, into);
            // The call has received all that it asked for, which is no failure.
            return match call.plan.streaming.receive {
                Some(wanted) if state.reply.messages() >= wanted => {
                    let failure = self.exchanges.look_at(id, now);
                    self.give_up(id, failure, now)
                }
                _ => Then::GoOn,
            };
        }
        if end {
            let status = state.reply.handle_end();
            return self.call_over(id, status, now);
        }
        Then::GoOn
    }

    /// A response's trailers.
    #[inline]
    fn trailers(&mut self, id: ExchangeId, fields: Fields<'_>, now: Nanos) -> Then {
        let is_call = self.exchanges.request_of(id).call().is_some();
        if self.exchanges.looks
            && let Some(look) = &mut self.exchanges.get_mut(id).look
        {
            look.show_trailers(&fields);
        }
        if is_call {
            return self.call_trailers(id, fields, now);
        }
        let exchange = self.exchanges.get_mut(id);
        if let Err(failure) = exchange.body.finish() {
            return self.over(id, failure, now);
        }
        self.whole(id, now)
    }

    /// The trailers of a call's reply.
    #[inline]
    fn call_trailers(&mut self, id: ExchangeId, trailers: Fields<'_>, now: Nanos) -> Then {
        let state = self.exchanges.get_mut(id).call.get_or_insert_default();
        let status = state.reply.trailers(trailers.bytes());
        self.call_over(id, status, now)
    }

    /// The end of a response of HTTP/1.1.
    #[inline(always)]
    fn end_of_response(&mut self, id: ExchangeId, leniencies: Leniencies, now: Nanos) -> Then {
        let exchange = self.exchanges.get_mut(id);
        exchange.leniencies.0 |= leniencies.0;
        let leads_on = matches!(&exchange.follow, Some(follow) if follow.next.is_some());
        if !exchange.body.is_discard()
            && !leads_on
            && let Err(failure) = exchange.body.finish()
        {
            return self.over(id, failure, now);
        }
        self.whole(id, now)
    }

    /// A response that is no call's is complete: it is judged, or leads elsewhere.
    #[inline(always)]
    fn whole(&mut self, id: ExchangeId, now: Nanos) -> Then {
        match &self.exchanges.get(id).follow {
            Some(follow) if follow.next.is_some() => {
                let cut = !self.exchanges.get(id).is_sent;
                self.exchanges.todo.push_back(Todo::Follow { id, now });
                Then::Over { cut }
            }
            _ => {
                let failure = self.exchanges.judge(id, now);
                self.over(id, failure, now)
            }
        }
    }

    /// A call has ended with a status.
    #[inline]
    fn call_over(&mut self, id: ExchangeId, status: Status, now: Nanos) -> Then {
        let failure = self.exchanges.call_failure(id, status, now);
        let failure = match failure.outcome {
            Outcome::Ok if self.exchanges.looks => self.exchanges.look_at(id, now),
            _ => failure,
        };
        self.over(id, failure, now)
    }

    /// A call can't be finished.
    #[cold]
    fn call_given_up(&mut self, id: ExchangeId, status: Status, now: Nanos) -> Then {
        self.exchanges.get_mut(id).status = GRPC_STATUS + u16::from(status.code.number());
        self.give_up(id, call_verdict(status), now)
    }

    /// The exchange is over, and its response was read to the end.
    #[inline(always)]
    fn over(&mut self, id: ExchangeId, failure: Failure, now: Nanos) -> Then {
        let cut = !self.exchanges.get(id).is_sent;
        self.exchanges.end(id, failure, now);
        Then::Over { cut }
    }

    /// The exchange is over; the rest of its response is discarded.
    #[cold]
    fn give_up(&mut self, id: ExchangeId, failure: Failure, now: Nanos) -> Then {
        self.exchanges.end(id, failure, now);
        Then::GiveUp
    }

    /// The exchange failed on the wire; it is sent once more where that is safe and wanted.
    #[cold]
    fn failed(
        &mut self,
        id: ExchangeId,
        failure: Failure,
        seen: Seen,
        resend: Resend,
        now: Nanos,
    ) -> Then {
        let request = self.exchanges.request_of(id);
        let is_call = request.call().is_some();
        let idempotent = match self.exchanges.get(id).message(request) {
            Message::Http1(rendered) => rendered.idempotent,
            Message::Varying(varying) => varying.is_idempotent(),
            Message::Http2(_) => false,
        };
        let retries =
            self.exchanges.prepared.pool().connections.reused_closed == ReusedClosed::Retry;
        let pause = match resend {
            Resend::Never => None,
            Resend::Idempotent => (idempotent && retries).then_some(Nanos::ZERO),
            // gRPC's clients do so unasked (proposal A6, transparent retries).
            Resend::Refused => is_call.then_some(BACKOFF_MIN),
            Resend::After(pause) => Some(pause),
        };
        let cancelled = failure.outcome == Outcome::h2_stream(drumfire_http2::ErrorCode::CANCEL.0);
        let late = is_call && cancelled && self.exchanges.is_late(id, now);
        let exchange = self.exchanges.get_mut(id);
        if let Some(pause) = pause.filter(|_| exchange.resends == 0) {
            exchange.resends = 1;
            if resend != Resend::Idempotent {
                exchange.times.first_byte = Nanos::MAX;
            }
            self.interval.retried += 1;
            self.exchanges.begin_again(id);
            self.exchanges
                .todo
                .push_back(Todo::Resend { id, pause, now });
            return Then::GoOn;
        }
        exchange.note_seen(seen);
        let failure = match is_call {
            true => failure,
            false => exchange.cut_off(failure),
        };
        if late {
            return self.over(id, Failure::of(Outcome::TimeoutTotal), now);
        }
        self.over(id, failure, now)
    }
}
