//! Exchanges: one request each with its response, from the arrival to the sample, the same for
//! every protocol.
//!
//! It knows the request of an exchange, the times of its events, and the rules for its response. It
//! knows no sockets. Wires report through [`ExchangeHandler`], which changes the exchange and
//! nothing else: any consequence is an [`End`] or a [`Todo`], which the worker takes after the
//! transport has returned. So no end of an exchange starts another.
//!
//! ```text
//!   start ─► (transport: submit) ─► ExchangeHandler ─┬─► End ─► finish: the sample, the seat
//!                ▲                                   ├─► Todo::Resend ─┐
//!                └───────────────────────────────────┴─► Todo::Follow ─┴─ submit again
//! ```

mod call;
mod cookies;
mod handler;
mod look;
mod messages;
mod own;
mod redirect;
mod response;
mod transcript;

pub(crate) use call::Tools;
pub(crate) use handler::ExchangeHandler;

use self::call::CallState;
use self::look::{Look, seen_status};
use self::own::OwnRequest;
use self::redirect::Follow;
use self::response::{BodyUse, judge};
use self::transcript::Records;
use crate::blame::{Failure, grpc_code};
use crate::id::{ExchangeId, Generation, ShareId, UserId};
use crate::limits::{SHOWN_BYTES, TRICKLE};
use crate::prepare::{Message, PreparedPool, Request};
use crate::users::{Belongings, Turn};
use crate::wire::{Cancelled, Fields, Phase, Seen};
use drumfire_cookies::Jar;
use drumfire_measure::{
    FAILED_BODY_BYTES, Figures, GRPC_STATUS, Leniencies, Outcome, STATUS_ZERO, Sample,
};
use drumfire_plan::{Compressed, Cookies, Expect, Taken, Timeouts, Transcripts};
use drumfire_units::Nanos;
use std::collections::VecDeque;
use std::sync::Arc;

/// The request of an exchange, and the parties to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    /// Which request of the list.
    pub(crate) request: u32,
    /// Its number within the run.
    pub(crate) number: u64,
    /// The user that makes it, and at which of its iterations.
    pub(crate) turn: Turn,
    /// The share on which it has a seat until it is over.
    pub(crate) share: ShareId,
    /// The worker, of the pool's, whose user that is.
    pub(crate) home: u32,
    /// What is owed to the next on its seat where this one needs not wait any more.
    pub(crate) owed: Nanos,
}

/// When what happened to an exchange, from the run's start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) intended: Nanos,
    pub(crate) due: Nanos,
    /// When it took its seat; the start of its timeout.
    pub(crate) started: Nanos,
    /// [`Nanos::MAX`] until the first write.
    pub(crate) sent: Nanos,
    /// [`Nanos::MAX`] until the whole request was written.
    pub(crate) written: Nanos,
    /// [`Nanos::MAX`] until the first byte of the response.
    pub(crate) first_byte: Nanos,
    /// When something must have happened; [`Nanos::MAX`] when nothing must.
    deadline: Nanos,
}

/// One exchange.
#[derive(Debug)]
struct Exchange {
    generation: Generation,
    /// Whether it is under way.
    open: bool,
    task: Task,
    times: Times,
    /// Bytes written in all, redirects included.
    bytes_sent: u32,
    bytes_received: u64,
    /// The response's status, of a call the one that the server gave; 0 before there is one.
    status: u16,
    interim: u16,
    leniencies: Leniencies,
    /// Whether the response's head has come.
    has_head: bool,
    /// Whether the whole request is written.
    is_sent: bool,
    /// How often it was sent once more.
    resends: u8,
    /// How much of a prepared body the protocol has taken.
    body_sent: usize,
    /// The use that it makes of its response's body.
    body: BodyUse,
    /// Its response as far as that is looked at; kept for the next exchange with this id.
    look: Option<Box<Look>>,
    follow: Option<Box<Follow>>,
    /// The state of a gRPC call; kept for the next exchange with this id.
    call: Option<Box<CallState>>,
    /// Its request where that varies; kept for the next exchange with this id.
    own: Option<Box<OwnRequest>>,
    /// What its user keeps, lent until it is over.
    belongings: Belongings,
    /// The detail of its end, beyond the outcome.
    detail: Option<String>,
}

/// An action for the worker on an exchange that is not over.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Todo {
    /// It is to be submitted once more, after a pause.
    Resend {
        id: ExchangeId,
        pause: Nanos,
        now: Nanos,
    },
    /// Its response leads elsewhere.
    Follow { id: ExchangeId, now: Nanos },
    /// Its next message is due then.
    Message { id: ExchangeId, at: Nanos },
}

/// How an exchange ended; the detail stays in the exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) id: ExchangeId,
    pub(crate) now: Nanos,
    pub(crate) outcome: Outcome,
    /// How long its seat rests, so that a plan whose requests can't be made spins no core.
    pub(crate) rest: Nanos,
}

/// An exchange that is over: its record, and the resources that it held.
pub(crate) struct Finished {
    pub(crate) sample: Sample,
    pub(crate) held: Held,
}

/// The resources that an exchange held until its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) share: ShareId,
    pub(crate) user: UserId,
    /// The worker, of the pool's, whose user that is.
    pub(crate) home: u32,
    /// The time of its seat that the worker's stops took.
    pub(crate) owed: Nanos,
}

/// The action on an exchange whose timer has fired.
#[derive(Debug)]
pub(crate) enum Due {
    /// None: it is over, or has nothing to send.
    Nothing,
    /// It waited to be sent once more.
    Submit,
    /// It has a message to send.
    Send,
    /// It is over.
    Over(Failure),
}

/// A worker's exchanges.
#[derive(Debug)]
pub(crate) struct Exchanges {
    prepared: Arc<PreparedPool>,
    list: Vec<Exchange>,
    free: Vec<ExchangeId>,
    /// Exchanges that are over; those before `settled` are finished.
    ended: Vec<End>,
    settled: usize,
    /// Actions on other exchanges, for the worker.
    todo: VecDeque<Todo>,
    tools: Tools,
    /// How many are under way.
    open: u32,
    /// No deadline lies before this.
    next_scan: Nanos,
    /// Exchanges whose intended start lies before this are the warm-up's.
    measure_from: Nanos,
    timeouts: Timeouts,
    expect: Expect,
    /// Whether any request is rendered, or is a call, as its exchange begins.
    varies: bool,
    /// Whether more is looked at in any response than its status.
    looks: bool,
    /// Whether anything of a response is read beyond its status: bodies that are decoded, what is
    /// looked at, cookies.
    reads: bool,
    records: Records,
}

impl Exchanges {
    /// None under way, with room for this many.
    pub(crate) fn new(prepared: Arc<PreparedPool>, room: usize) -> Self {
        let shows = prepared.pool().transcripts != Transcripts::None;
        let varies = prepared.requests.iter().any(Request::is_rendered_late);
        let looks = shows || prepared.requests.iter().any(Request::is_looked_at);
        Self {
            measure_from: prepared.generator().warmup.span(),
            timeouts: prepared.pool().timeouts,
            expect: prepared.pool().expect,
            looks,
            reads: looks
                || prepared.pool().http.compressed != Compressed::AsSent
                || prepared.pool().cookies != Cookies::Ignore,
            records: Records::new(&prepared, varies),
            varies,
            prepared,
            list: Vec::with_capacity(room),
            free: Vec::with_capacity(room),
            ended: Vec::with_capacity(64),
            settled: 0,
            todo: VecDeque::new(),
            tools: Tools::default(),
            open: 0,
            next_scan: Nanos::MAX,
        }
    }

    /// How many are under way.
    #[inline]
    pub(crate) fn open(&self) -> u32 {
        self.open
    }

    /// Records the exchanges that are still in flight when the drain ends, and counts those that
    /// are measured.
    pub(crate) fn record_in_flight(&self, now: Nanos, interval: &mut Figures) -> u64 {
        let mut count = 0;
        for exchange in self.list.iter().filter(|exchange| exchange.open) {
            if exchange.times.intended >= self.measure_from {
                let step = self.prepared.requests[exchange.task.request as usize].step;
                let sample = exchange.sample(now, Outcome::LocalCancelled, 0, step);
                interval.record_in_flight(&sample);
                count += 1;
            }
        }
        count
    }

    /// The ids of those that are under way.
    pub(crate) fn ids(&self) -> Vec<ExchangeId> {
        let ids = (0..).map(ExchangeId).zip(&self.list);
        ids.filter(|(_, exchange)| exchange.open)
            .map(|(id, _)| id)
            .collect()
    }

    #[inline]
    fn get(&self, id: ExchangeId) -> &Exchange {
        &self.list[id.index()]
    }

    #[inline]
    fn get_mut(&mut self, id: ExchangeId) -> &mut Exchange {
        &mut self.list[id.index()]
    }

    #[inline]
    fn request_of(&self, id: ExchangeId) -> &Request {
        &self.prepared.requests[self.get(id).task.request as usize]
    }

    /// Begins an exchange that is due at a time and takes its seat now.
    #[inline(always)]
    pub(crate) fn start(
        &mut self,
        task: Task,
        intended: Nanos,
        due: Nanos,
        now: Nanos,
    ) -> ExchangeId {
        let mut limit = self.timeouts.total;
        if self.varies {
            limit = self.prepared.requests[task.request as usize].limit(limit);
        }
        let deadline = now + limit;
        let times = Times {
            intended,
            due,
            started: now,
            sent: Nanos::MAX,
            written: Nanos::MAX,
            first_byte: Nanos::MAX,
            deadline,
        };
        self.next_scan = self.next_scan.min(deadline);
        self.open += 1;
        let id = match self.free.pop() {
            Some(id) => id,
            None => self.add(task, times),
        };
        let exchange = &mut self.list[id.index()];
        exchange.open = true;
        exchange.task = task;
        exchange.times = times;
        exchange.bytes_sent = 0;
        exchange.bytes_received = 0;
        exchange.resends = 0;
        exchange.begin_attempt();
        if let Some(call) = &mut exchange.call {
            call.begin_exchange();
        }
        if let Some(look) = &mut exchange.look {
            look.clear();
        }
        id
    }

    /// Lends an exchange the belongings of its user.
    pub(crate) fn lend(&mut self, id: ExchangeId, belongings: Belongings) {
        self.get_mut(id).belongings = belongings;
    }

    /// Gives back the cookies that the last exchange with this id was lent, with what was taken
    /// from its response.
    pub(crate) fn belongings(&mut self, id: ExchangeId) -> (Option<Box<Jar>>, Option<&Taken>) {
        let exchange = self.get_mut(id);
        let taken = exchange.look.as_ref().map(|look| look.taken());
        (exchange.belongings.jar.take(), taken)
    }

    #[cold]
    fn add(&mut self, task: Task, times: Times) -> ExchangeId {
        self.list.push(Exchange {
            generation: Generation::default(),
            open: true,
            task,
            times,
            bytes_sent: 0,
            bytes_received: 0,
            status: 0,
            interim: 0,
            leniencies: Leniencies(0),
            has_head: false,
            is_sent: false,
            resends: 0,
            body_sent: 0,
            body: BodyUse::Discard,
            look: None,
            follow: None,
            call: None,
            own: None,
            belongings: Belongings::default(),
            detail: None,
        });
        ExchangeId((self.list.len() - 1) as u32)
    }

    /// Whether there is anything to be done about exchanges that are not over.
    #[inline]
    pub(crate) fn has_todo(&self) -> bool {
        !self.todo.is_empty()
    }

    /// The next exchange that is over.
    ///
    /// # Errors
    /// When it ended at this time, at `edge` or later: the interval before is to be closed first,
    /// and the exchange stays the next.
    #[inline]
    pub(crate) fn next_ended(&mut self, edge: Nanos) -> Result<Option<End>, Nanos> {
        let Some(end) = self.ended.get(self.settled).copied() else {
            return Ok(None);
        };
        if end.now >= edge {
            return Err(end.now);
        }
        self.settled += 1;
        if self.settled == self.ended.len() {
            self.ended.clear();
            self.settled = 0;
        }
        Ok(Some(end))
    }

    /// Whether an exchange is over.
    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// The next action on another exchange.
    #[inline]
    pub(crate) fn next_todo(&mut self) -> Option<Todo> {
        self.todo.pop_front()
    }

    /// Ends an exchange.
    #[inline]
    pub(crate) fn end(&mut self, id: ExchangeId, failure: Failure, now: Nanos) {
        self.end_and_rest(id, failure, now, Nanos::ZERO);
    }

    /// Ends an exchange whose seat rests after it.
    #[inline]
    fn end_and_rest(&mut self, id: ExchangeId, failure: Failure, now: Nanos, rest: Nanos) {
        let Failure { outcome, detail } = failure;
        if detail.is_some() {
            self.get_mut(id).detail = detail;
        }
        self.ended.push(End {
            id,
            now,
            outcome,
            rest,
        });
    }

    /// Makes the record of an exchange that is over, and frees its id. Messages that its call had
    /// still meant to send are counted.
    #[inline]
    pub(crate) fn finish(&mut self, end: End, interval: &mut Figures) -> Finished {
        let End {
            id, now, outcome, ..
        } = end;
        let request = &self.prepared.requests[self.list[id.index()].task.request as usize];
        let exchange = &mut self.list[id.index()];
        let mut status = exchange.status;
        // The status was read, or there would be none to be invalid.
        if status == 0 && outcome == Outcome::InvalidStatus {
            status = STATUS_ZERO;
        }
        if self.records.attends
            && let Some(call) = request.call()
        {
            if status == 0 && outcome != Outcome::Ok {
                status = GRPC_STATUS + grpc_code(outcome);
            }
            if exchange.times.intended >= self.measure_from {
                let unsent = exchange.messages_unsent(call, self.prepared.seed());
                if unsent > 0 {
                    interval.messages.record_unsent(unsent);
                }
            }
        }
        interval.interim += u64::from(exchange.interim);
        let sample = exchange.sample(now, outcome, status, request.step);
        if self.records.attends || sample.response_time() > self.records.slow_from {
            self.attend(id, &sample);
        }
        let exchange = &mut self.list[id.index()];
        exchange.open = false;
        exchange.generation = exchange.generation.next();
        exchange.times.deadline = Nanos::MAX;
        exchange.drop_response();
        let Task {
            share,
            turn,
            home,
            owed,
            ..
        } = exchange.task;
        self.open -= 1;
        self.free.push(id);
        let user = turn.user;
        let owed = owed.min(sample.sent - sample.due);
        Finished {
            sample,
            held: Held {
                share,
                user,
                home,
                owed,
            },
        }
    }

    /// The head of a response has come, of which more is read than its status.
    fn read_head(&mut self, id: ExchangeId, fields: &Fields<'_>) {
        if self.get(id).belongings.jar.is_some() && fields.find("set-cookie").is_some() {
            self.store_cookies(id, fields);
        }
        let exchange = &mut self.list[id.index()];
        let request = &self.prepared.requests[exchange.task.request as usize];
        if self.records.shows {
            exchange.look.get_or_insert_default().begin_shown(fields);
        } else if let Some(inspection) = &request.inspection {
            let look = exchange.look.get_or_insert_default();
            look.begin(&**inspection, fields);
        }
    }

    /// The use of the body of a response with these fields.
    ///
    /// # Errors
    /// When the coding is unknown.
    fn use_of_body(
        &mut self,
        id: ExchangeId,
        status: u16,
        fields: &Fields<'_>,
    ) -> Result<BodyUse, Failure> {
        let request = self.request_of(id);
        let expected = request.expect.unwrap_or(self.expect).accepts(status);
        let inspection = request.inspection.as_ref();
        let body_max = inspection.and_then(|inspection| inspection.body_max());
        let compressed = self.prepared.pool().http.compressed;
        if let Some(max) = body_max {
            return BodyUse::keeping(max.0, fields);
        }
        let room = match (self.records.shows, expected) {
            (true, _) => SHOWN_BYTES,
            (false, false) => FAILED_BODY_BYTES,
            (false, true) => return BodyUse::of(compressed, fields),
        };
        self.get_mut(id)
            .look
            .get_or_insert_default()
            .make_room(room);
        Ok(match BodyUse::of(compressed, fields)? {
            BodyUse::Discard => BodyUse::sample(room, fields),
            body => body,
        })
    }

    /// Judges a complete response that is no call's.
    #[inline]
    fn judge(&mut self, id: ExchangeId, now: Nanos) -> Failure {
        let exchange = &mut self.list[id.index()];
        if !self.looks {
            return Failure::of(judge(self.expect, exchange.status));
        }
        let request = &self.prepared.requests[exchange.task.request as usize];
        let outcome = judge(request.expect.unwrap_or(self.expect), exchange.status);
        match outcome {
            Outcome::Ok => self.look_at(id, now),
            _ => Failure::of(outcome),
        }
    }

    /// Looks at a response that is ok by its status.
    fn look_at(&mut self, id: ExchangeId, now: Nanos) -> Failure {
        let exchange = &mut self.list[id.index()];
        let request = &self.prepared.requests[exchange.task.request as usize];
        let (Some(inspection), Some(look)) = (&request.inspection, &mut exchange.look) else {
            return Failure::of(Outcome::Ok);
        };
        let time = now - exchange.times.intended;
        let status = seen_status(exchange.status);
        let looked_at = look.inspect(&**inspection, status, time);
        looked_at.map_or_else(|failure| failure, |()| Failure::of(Outcome::Ok))
    }

    /// Keeps the body of the last exchange with this id, which failed; gives the detail of it.
    #[cold]
    pub(crate) fn account_failure(&mut self, id: ExchangeId, sample: &Sample) -> Option<String> {
        self.keep_failed_body(id, sample);
        self.get_mut(id).detail.take()
    }

    /// Which of the exchanges that had this id it is.
    pub(crate) fn generation(&self, id: ExchangeId) -> Generation {
        self.get(id).generation
    }

    /// When [`Self::overdue`] is to be asked.
    #[inline]
    pub(crate) fn next_timeout(&self) -> Nanos {
        self.next_scan
    }

    /// The exchanges whose time is up; finds the next bound.
    pub(crate) fn overdue(&mut self, now: Nanos) -> Vec<ExchangeId> {
        let mut next = Nanos::MAX;
        let mut overdue = Vec::new();
        for (index, exchange) in (0..).zip(&mut self.list) {
            if exchange.times.deadline <= now {
                exchange.times.deadline = Nanos::MAX;
                overdue.push(ExchangeId(index));
            }
            next = next.min(exchange.times.deadline);
        }
        self.next_scan = next.max(now + crate::limits::SCAN_MIN);
        overdue
    }

    /// Ends an exchange whose time is up, after the transport has let go of it.
    pub(crate) fn time_out(&mut self, id: ExchangeId, cancelled: Cancelled, now: Nanos) {
        let limit = self.request_of(id).limit(self.timeouts.total);
        let is_call = self.request_of(id).call().is_some();
        let exchange = self.get_mut(id);
        exchange.note_seen(cancelled.seen);
        let outcome = match cancelled.phase {
            Phase::Seeking => Outcome::DnsTimeout,
            Phase::Waiting | Phase::Nowhere => cancelled.opening.unwrap_or(Outcome::TimeoutTotal),
            Phase::OnStream(_) if is_call && now >= exchange.times.started + limit => {
                Outcome::TimeoutTotal
            }
            Phase::OnConnection | Phase::OnStream(_) => exchange.lateness(now),
        };
        self.end(id, Failure::of(outcome), now);
    }

    /// The reason for which an exchange has set the timer that fired.
    pub(crate) fn due(
        &mut self,
        id: ExchangeId,
        generation: Generation,
        phase: Phase,
        now: Nanos,
    ) -> Due {
        let exchange = self.get(id);
        if !exchange.open || exchange.generation != generation {
            return Due::Nothing;
        }
        match phase {
            Phase::Nowhere => Due::Submit,
            Phase::OnStream(_) => self.message_due(id, now),
            _ => Due::Nothing,
        }
    }

    /// Prepares an exchange for another attempt; the result of the first is discarded.
    pub(crate) fn begin_again(&mut self, id: ExchangeId) {
        self.get_mut(id).begin_attempt();
    }

    /// The share on which an exchange has its seat.
    pub(crate) fn share(&self, id: ExchangeId) -> ShareId {
        self.get(id).task.share
    }
}

impl Exchange {
    /// Discards the remains of one attempt.
    #[inline]
    fn begin_attempt(&mut self) {
        self.status = 0;
        self.interim = 0;
        self.leniencies = Leniencies(0);
        self.has_head = false;
        self.is_sent = false;
        self.body_sent = 0;
        if !self.body.is_discard() {
            self.body = BodyUse::Discard;
        }
    }

    /// Drops what its response needed; mostly there is nothing.
    #[inline]
    fn drop_response(&mut self) {
        if !self.body.is_discard() {
            self.body = BodyUse::Discard;
        }
        if self.follow.is_some() {
            self.follow = None;
        }
        if self.belongings.variables.is_some() {
            self.return_variables();
        }
    }

    /// Lets go of what its user keeps, so that the user alone has it.
    #[cold]
    fn return_variables(&mut self) {
        self.belongings.variables = None;
        if let Some(own) = &mut self.own {
            own.drop_context();
        }
        if let Some(call) = &mut self.call {
            call.drop_context();
        }
    }

    #[inline]
    fn note_seen(&mut self, seen: Seen) {
        if seen.status != 0 {
            self.status = seen.status;
        }
        self.leniencies.0 |= seen.leniencies.0;
    }

    /// The failure of it where its connection has ended: within the body it is the response that was
    /// cut off (RFC 9113 section 8.1.1, as RFC 9112 section 8 has it).
    fn cut_off(&self, failure: Failure) -> Failure {
        match failure.outcome {
            Outcome::Closed if self.has_head => {
                Failure::with(Outcome::Truncated, "the connection was closed")
            }
            Outcome::Reset if self.has_head => {
                Failure::with(Outcome::Truncated, "the connection was reset")
            }
            _ => failure,
        }
    }

    /// The message that it sends: its request's, or the one that a redirect leads to.
    #[inline]
    fn message<'a>(&'a self, request: &'a Request) -> &'a Message {
        match &self.follow {
            None => &request.message,
            Some(follow) => follow.message().unwrap_or(&request.message),
        }
    }

    /// The record of it when it has ended.
    #[inline]
    fn sample(&self, end: Nanos, outcome: Outcome, status: u16, step: u16) -> Sample {
        let times = &self.times;
        Sample {
            intended: times.intended,
            due: times.due,
            // An attempt that wrote nothing counts from when it began.
            sent: if times.sent == Nanos::MAX {
                times.started.max(times.due)
            } else {
                times.sent
            },
            first_byte: times.first_byte,
            end,
            bytes_sent: self.bytes_sent,
            outcome,
            leniencies: self.leniencies,
            bytes_received: self.bytes_received,
            status,
            step,
        }
    }

    /// The outcome of its timeout, by the phase that it was in.
    fn lateness(&self, now: Nanos) -> Outcome {
        if self.status == 0 {
            return if self.is_sent {
                Outcome::TimeoutHead
            } else {
                Outcome::TimeoutTotal
            };
        }
        // A body that trickles is late by itself; one that flows is only too long.
        let flow = u128::from(self.bytes_received) * 1_000_000_000;
        let span = (now - self.times.first_byte).0;
        if flow < u128::from(TRICKLE) * u128::from(span) {
            Outcome::TimeoutBody
        } else {
            Outcome::TimeoutTotal
        }
    }

    /// Where the whole request is written and its response's head has not come, that has `limit`
    /// from now on. Gives the deadline.
    #[inline]
    fn expect_head(&mut self, limit: Nanos, now: Nanos) -> Nanos {
        if self.is_sent && !self.has_head && self.times.sent != Nanos::MAX {
            self.times.deadline = self.times.deadline.min(now + limit);
        }
        self.times.deadline
    }
}
