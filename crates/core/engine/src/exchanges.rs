//! Exchanges: one request and its response each, from the arrival to the sample, for all protocols.
//!
//! An exchange contains its request, the times of its events, and the rules for its response. It
//! uses no sockets. Wires report through [`ExchangeHandler`], which changes only the exchange: any
//! consequence is an [`End`] or a [`Todo`], which the worker handles after the transport has
//! returned. So the end of an exchange never starts another one.
//!
//! ```text
//!   start ─► (transport: submit) ─► ExchangeHandler ─┬─► End ─► finish: the sample, the seat
//!                ▲                                   ├─► Todo::Resend ─┐
//!                └───────────────────────────────────┴─► Todo::Follow ─┴─ submit again
//! ```
//!
//! A handler calls none of these methods. From `start` to `finish` an id belongs to one exchange.
//! The data that outlive the exchange (cookies, detail, values taken from the response) must be
//! fetched after `finish` and before the next `start`, which may reuse the id. Call `time_out` and
//! `timer_step` only after the transport has released the exchange, or if it may send.
//!
//! The parts of an exchange: [`exchange`] has its task and account, [`state`] its request and
//! response, [`rules`] the rules of the pool's plan, [`records`] the records in addition to the
//! figures.

mod account;
mod answer;
mod body_use;
mod call;
mod context;
mod cookies;
mod entry;
mod event_stream;
mod events;
mod exchange;
mod handler;
mod lists;
mod look;
mod message_stream;
mod messages;
mod outbox;
mod outgoing;
mod own;
mod records;
mod redirect;
mod response;
mod rules;
mod side;
mod socket;
mod state;
mod tools;
mod transcript;

pub(crate) use account::Leaving;
pub(crate) use exchange::{Held, Task};
pub(crate) use handler::ExchangeHandler;
pub(crate) use lists::{End, Lists, Todo};

use self::account::Times;
use self::context::{KindContext, TimerStep};
use self::entry::Entry;
use self::exchange::Exchange;
use self::records::Records;
use self::rules::Rules;
use self::state::ExchangeState;
use self::tools::Tools;
use crate::blame::Failure;
use crate::id::{ExchangeId, Generation, ShareId};
use crate::limits::SCAN_MIN;
use crate::prepare::{PreparedPool, TargetForm};
use crate::protocol::Protocol;
use crate::users::UserState;
use crate::wire::{Cancelled, Phase};
use drumfire_cookies::Jar;
use drumfire_measure::{Detail, Figures, KeptAnswer, Outcome, Particulars, Sample, Written};
use drumfire_plan::{Origin, Taken};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The action on an exchange whose timer has fired.
#[derive(Debug)]
pub(crate) enum DueAction {
    /// No action: the exchange is over, or has nothing to send.
    Nothing,
    /// Submit the exchange, which waited to be sent again.
    Submit,
    /// Send the exchange's next message.
    Send,
    /// End the exchange.
    Over(Failure),
}

/// A worker's exchanges.
///
/// Entries are reused and never moved or shrunk. An id is an index, and an entry keeps the buffers
/// of its earlier exchanges, so that the steady state allocates nothing. The generation of an
/// exchange shows whether a timer belongs to an earlier exchange with the same id.
#[derive(Debug)]
pub(crate) struct Exchanges {
    rules: Rules,
    /// One entry for each id ever used: the maximum number of simultaneous exchanges.
    entries: Vec<Entry>,
    free: Vec<ExchangeId>,
    /// The number of running exchanges.
    open: u32,
    /// A lower bound of all deadlines. It may be too early after an exchange has ended in time; the
    /// next scan then finds nothing and raises it.
    next_scan: Nanos,
    /// The exchanges that are over, and the exchanges that need an action by the worker.
    pub(crate) lists: Lists,
    tools: Tools,
    records: Records,
    /// The answer of the exchange that ended last, if the plan keeps its samples.
    kept_answer: Option<Box<KeptAnswer>>,
}

impl Exchanges {
    /// The exchanges of a pool, all free, with room for `room` exchanges.
    pub(crate) fn new(prepared: Arc<PreparedPool>, room: usize) -> Self {
        Self {
            records: Records::new(&prepared),
            rules: Rules::new(prepared),
            entries: Vec::with_capacity(room),
            free: Vec::with_capacity(room),
            open: 0,
            next_scan: Nanos::MAX,
            lists: Lists::new(),
            tools: Tools::default(),
            kept_answer: None,
        }
    }

    /// The number of running exchanges.
    #[inline]
    pub(crate) const fn open(&self) -> u32 {
        self.open
    }

    /// The ids of the running exchanges.
    pub(crate) fn ids(&self) -> Vec<ExchangeId> {
        let ids = (0..).map(ExchangeId).zip(&self.entries);
        ids.filter(|(_, entry)| entry.exchange.is_open)
            .map(|(id, _)| id)
            .collect()
    }

    #[inline]
    fn entry(&self, id: ExchangeId) -> &Entry {
        &self.entries[id.index()]
    }

    #[inline]
    fn entry_mut(&mut self, id: ExchangeId) -> &mut Entry {
        &mut self.entries[id.index()]
    }

    /// Calls a method of an exchange's state with the parts that it uses.
    #[inline(always)]
    fn with<T>(
        &mut self,
        id: ExchangeId,
        figures: &mut Figures,
        now: Nanos,
        verb: impl FnOnce(&mut ExchangeState, &mut KindContext<'_>) -> T,
    ) -> T {
        let Entry { exchange, state } = &mut self.entries[id.index()];
        let request = self.rules.request(exchange);
        let mut cx = KindContext {
            exchange,
            request,
            rules: &self.rules,
            tools: &mut self.tools,
            figures,
            now,
        };
        verb(state, &mut cx)
    }

    /// Begins an exchange that is due at `due` and takes its seat now. The timeout counts from now.
    /// The state of the request begins here only if requests are rendered late; otherwise the
    /// wire's `render_request` begins it, when there is a connection.
    #[inline(always)]
    pub(crate) fn start(
        &mut self,
        task: Task,
        intended: Nanos,
        due: Nanos,
        now: Nanos,
    ) -> ExchangeId {
        let ends_by = now + self.rules.limit(task.request);
        let times = Times::new(intended, due, now, ends_by);
        self.note_deadline(ends_by);
        self.open += 1;
        let id = match self.free.pop() {
            Some(id) => id,
            None => self.add_entry(),
        };
        self.entries[id.index()].exchange.begin_task(task, times);
        if self.rules.renders_late {
            self.entries[id.index()].state.begin_exchange();
        }
        id
    }

    /// Adds an entry and returns its id. The task is not a parameter: a reference would force every
    /// exchange to write the task to memory and copy it from there.
    #[cold]
    fn add_entry(&mut self) -> ExchangeId {
        self.entries.push(Entry {
            exchange: Exchange::new(),
            state: ExchangeState::default(),
        });
        ExchangeId((self.entries.len() - 1) as u32)
    }

    /// Lends an exchange the state of its user.
    pub(crate) fn lend(&mut self, id: ExchangeId, user_state: UserState) {
        self.entry_mut(id).exchange.lend(user_state);
    }

    /// Returns the cookies that the last exchange with this id was lent, and the values taken from
    /// its response.
    pub(crate) fn user_state(&mut self, id: ExchangeId) -> (Option<Box<Jar>>, Option<&Taken>) {
        let exchange = &mut self.entries[id.index()].exchange;
        (
            exchange.user_state.jar.take(),
            exchange.look.as_deref().map(|look| &look.taken),
        )
    }

    /// The share on which an exchange has its seat.
    pub(crate) fn share(&self, id: ExchangeId) -> ShareId {
        self.entry(id).exchange.task.share
    }

    /// The generation of the exchange that currently has this id.
    pub(crate) fn generation(&self, id: ExchangeId) -> Generation {
        self.entry(id).exchange.generation
    }
}

/// Checks the times of a response by the kernel's clock: no response can arrive before the first
/// write of its request. If one of the times is earlier, the whole response counts as received at
/// `now`. Returns the corrected end, or `None` if the times are valid. A time before the run is
/// stored as the run's start.
pub(crate) fn correct(exchanges: &mut Exchanges, end: End, now: Nanos) -> Option<End> {
    let account = &mut exchanges.entry_mut(end.id).exchange.account;
    let (sent, first_byte) = (account.times.sent, account.times.first_byte);
    let earliest = first_byte.min(end.now);
    let is_before_run = earliest == Nanos::ZERO && now > Nanos::ZERO;
    if sent == Nanos::MAX || sent <= earliest && !is_before_run {
        return None;
    }
    if first_byte != Nanos::MAX {
        account.forget_first_byte();
        account.note_received(0, now);
    }
    Some(end.at(now))
}

/// Sets the sent time of a request to its departure, if the kernel reported one. A departure after
/// the beginning of the response is refused.
pub(crate) fn depart(exchanges: &mut Exchanges, end: End) -> Leaving {
    let account = &mut exchanges.entry_mut(end.id).exchange.account;
    let earliest = account.times.first_byte.min(end.now);
    account.times.depart(earliest)
}

/// The lists, and the ends of exchanges.
impl Exchanges {
    /// Ends an exchange.
    #[inline]
    pub(crate) fn end_exchange(&mut self, id: ExchangeId, failure: Failure, now: Nanos) {
        let outcome = self.entry_mut(id).exchange.note_failure(failure);
        self.lists.push_end(End::new(id, outcome, now));
    }

    /// Ends an exchange that no connection could take. If it waited to be sent again, it ends with
    /// its first failure.
    #[cold]
    pub(crate) fn end_unsent(&mut self, id: ExchangeId, failure: Failure, now: Nanos) {
        let failure = self.entry_mut(id).exchange.end_with(failure);
        self.end_exchange(id, failure, now);
    }

    /// Ends an exchange that could not be made; its seat then rests.
    #[cold]
    fn end_and_rest(&mut self, id: ExchangeId, failure: Failure, now: Nanos) {
        let failure = self.entry_mut(id).exchange.end_with(failure);
        let outcome = self.entry_mut(id).exchange.note_failure(failure);
        self.lists.push_end(End::new(id, outcome, now).with_rest());
    }

    /// Makes the record of an exchange that is over, and counts the messages that its call has not
    /// sent. Call [`Self::release`] afterwards, with this record.
    #[inline(always)]
    pub(crate) fn sample(&mut self, end: End, interval: &mut Figures) -> Sample {
        let (id, now, outcome) = (end.id, end.now, end.outcome);
        let called = match self.rules.request(&self.entry(id).exchange).is_call() {
            true => Some(self.with(id, interval, now, |state, cx| {
                state.account_call(cx, outcome)
            })),
            false => None,
        };
        let entry = &self.entries[id.index()];
        let account = &entry.exchange.account;
        let status = match called {
            Some(status) => status,
            None => account::final_status(account.status(), outcome),
        };
        interval.interim += u64::from(account.interim);
        let sample = entry.sample(&self.rules, now, outcome, status);
        if self.rules.answers.is_some() {
            self.record_answer(id, &sample, interval);
        }
        sample
    }

    /// Records the answer of an exchange that is over, if its response is read as one.
    #[cold]
    fn record_answer(&mut self, id: ExchangeId, sample: &Sample, interval: &mut Figures) {
        self.kept_answer = None;
        let Entry { exchange, state } = &self.entries[id.index()];
        let request = self.rules.request(exchange);
        if let Some(rules) = &self.rules.answers
            && self.rules.measures(exchange.account.times.intended)
            && let Some(answer) = state.answer_sample(request)
        {
            if self.rules.keeps_samples() {
                self.kept_answer = Some(Box::new(KeptAnswer {
                    answer,
                    gaps: state.answer_gaps().to_vec(),
                }));
            }
            let figures = interval.llm_mut(request.step);
            figures.record(&answer, sample, rules.model, &rules.slos);
        }
    }

    /// Frees the id of an exchange that is over and has this record. Returns the resources that the
    /// exchange held.
    #[inline(always)]
    pub(crate) fn release(&mut self, id: ExchangeId, sample: &Sample) -> Held {
        let entry = &mut self.entries[id.index()];
        let held = entry.exchange.task.held();
        if self.records.attends(sample) {
            self.records.attend(&self.rules, entry, sample);
        }
        entry.exchange.close();
        entry.state.end_exchange();
        if entry.exchange.return_variables() {
            entry.state.drop_context();
        }
        self.open -= 1;
        self.free.push(id);
        held
    }

    /// Keeps the body of the last exchange with this id, which failed; returns the detail of the
    /// failure.
    #[cold]
    pub(crate) fn account_failure(
        &mut self,
        id: ExchangeId,
        sample: &Sample,
    ) -> Option<Box<Detail>> {
        let entry = &mut self.entries[id.index()];
        self.records.keep_failed_body(&self.rules, entry, sample);
        // The detail of an exchange cancelled while it waited to be sent again is the first
        // failure's.
        let _first = entry.exchange.take_first();
        entry.exchange.take_detail()
    }

    /// The facts of the last exchange with this id that its sample does not contain. Call it once,
    /// after [`Self::sample`] for that exchange.
    #[cold]
    pub(crate) fn kept(&mut self, id: ExchangeId) -> (Particulars, Option<Box<KeptAnswer>>) {
        let particulars = self.entry(id).exchange.particulars();
        (particulars, self.kept_answer.take())
    }

    /// Takes the records written since the last call.
    pub(crate) fn take_written(&mut self) -> Written {
        self.records.take_written()
    }

    /// Records the exchanges that are still in flight at the end of the drain, and returns the
    /// number of measured ones.
    pub(crate) fn record_in_flight(&self, now: Nanos, interval: &mut Figures) -> u64 {
        let open = self.entries.iter().filter(|entry| {
            let exchange = &entry.exchange;
            exchange.is_open && self.rules.measures(exchange.account.times.intended)
        });
        let mut count = 0;
        for entry in open {
            let sample = entry.sample(&self.rules, now, Outcome::LocalCancelled, 0);
            interval.record_in_flight(&sample);
            let request = self.rules.request(&entry.exchange);
            if let Some(answer) = entry.state.answer_sample(request) {
                let figures = interval.llm_mut(request.step);
                figures.record_in_flight(&answer, &sample);
            }
            count += 1;
        }
        count
    }
}

/// Deadlines, timers and further attempts.
impl Exchanges {
    /// Notes a deadline, so that the next scan is not too late for it.
    #[inline(always)]
    fn note_deadline(&mut self, deadline: Nanos) {
        self.next_scan = self.next_scan.min(deadline);
    }

    /// The time at which to call [`Self::overdue`].
    #[inline]
    pub(crate) const fn next_timeout(&self) -> Nanos {
        self.next_scan
    }

    /// Returns the exchanges whose deadline has passed, and updates the bound for the next scan. A
    /// scan passes over all entries, at most once in [`SCAN_MIN`], so a deadline may be noticed up
    /// to that much late. Each exchange is returned once: its deadline is cleared.
    pub(crate) fn overdue(&mut self, now: Nanos) -> Vec<ExchangeId> {
        let mut next = Nanos::MAX;
        let mut overdue = Vec::new();
        for (index, entry) in (0..).zip(&mut self.entries) {
            let account = &mut entry.exchange.account;
            if account.times.deadline <= now {
                account.clear_deadline();
                overdue.push(ExchangeId(index));
            }
            next = next.min(account.times.deadline);
        }
        self.next_scan = next.max(now + SCAN_MIN);
        overdue
    }

    /// Ends an exchange whose time is up, after the transport has released it. The outcome shows
    /// the part that was late: resolving, opening a connection, or the response.
    pub(crate) fn time_out(&mut self, id: ExchangeId, cancelled: Cancelled, now: Nanos) {
        let Entry { exchange, state } = &mut self.entries[id.index()];
        exchange.account.note_seen(cancelled.seen);
        let now = exchange.account.ended_at(now);
        let before = cancelled.into_lateness();
        let failure = before.unwrap_or_else(|| state.lateness(&self.rules, exchange, now));
        let failure = exchange.end_with(failure);
        self.end_exchange(id, failure, now);
    }

    /// The action for an exchange whose timer has fired, which depends on its phase.
    pub(crate) fn timer_step(
        &mut self,
        id: ExchangeId,
        generation: Generation,
        phase: Phase,
        interval: &mut Figures,
        now: Nanos,
    ) -> DueAction {
        let exchange = &self.entry(id).exchange;
        if !exchange.is_open || exchange.generation != generation {
            return DueAction::Nothing;
        }
        match phase {
            Phase::Nowhere => DueAction::Submit,
            Phase::Seeking | Phase::Waiting => DueAction::Nothing,
            Phase::Carried(_) => match self.with(id, interval, now, ExchangeState::timer) {
                TimerStep::Nothing => DueAction::Nothing,
                TimerStep::Send => DueAction::Send,
                TimerStep::End(failure) => DueAction::Over(failure),
            },
        }
    }

    /// Replaces an exchange's request by the request that its response redirects to.
    ///
    /// # Errors
    /// If the plan does not follow such a redirect.
    pub(crate) fn follow(&mut self, id: ExchangeId) -> Result<(), Failure> {
        let entry = &mut self.entries[id.index()];
        if entry.state.outgoing.is_followed() {
            self.records.transcribe_hop(&self.rules, entry);
        }
        entry.state.outgoing.advance()
    }

    /// The origin to which an exchange is redirected.
    pub(crate) fn heads_for(&self, id: ExchangeId) -> Option<Origin> {
        self.entry(id).state.outgoing.origin().cloned()
    }

    /// Prepares a redirected exchange for submission, with its target in this form.
    ///
    /// # Errors
    /// If its request cannot be sent in this form.
    pub(crate) fn prepare_hop(&mut self, id: ExchangeId, form: TargetForm) -> Result<(), Failure> {
        let pool = self.rules.pool();
        let Entry { exchange, state } = &mut self.entries[id.index()];
        exchange.account.begin_attempt();
        exchange.account.forget_first_byte();
        if !Protocol::for_pool(pool).is_exclusive() {
            exchange.allow_resend();
        }
        state.begin_hop();
        state.outgoing.prepare_hop(pool, form)
    }
}
