//! The part of an exchange that does not depend on its kind: its task, its account, the look at its
//! response, and the state lent by its user.
//!
//! The state is reused by one exchange after another. [`Exchange::begin_task`] begins an exchange,
//! and [`Exchange::close`] ends it and advances the generation, so that stale timers are
//! recognized. In between, the handler notes the wire's events in the [`Account`], and the
//! exchange's kind handles them. The jar, the detail and the values that the look has taken must be
//! fetched after `close`, before the state is used again.

use super::account::{Account, Times};
use super::look::Look;
use crate::blame::Failure;
use crate::id::{Generation, ShareId, UserId};
use crate::users::{DueRequest, Turn, UserState};
use drumfire_measure::{Detail, Outcome, Particulars};
use drumfire_plan::RequestContext;
use drumfire_units::Nanos;

/// The request of an exchange, with its user and its seat.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Task {
    /// The request's place in the pool's list.
    pub(super) request: u32,
    /// The number of the request within the run.
    number: u64,
    /// The user that makes the request, in one of the user's iterations.
    turn: Turn,
    /// The share on which the exchange has a seat until it is over.
    pub(super) share: ShareId,
    /// The index, within the pool, of the worker to which the user belongs.
    home: u32,
    /// The time by which the next exchange on this seat is late, if this one does not wait any
    /// longer.
    owed: Nanos,
}

impl Task {
    /// The task to send a due request of a user of the worker `home`, on a seat of `share`. `owed`
    /// is the time by which the next exchange on the seat is late, if this one does not wait any
    /// longer.
    #[inline(always)]
    pub(crate) const fn new(due: &DueRequest, share: ShareId, home: u32, owed: Nanos) -> Self {
        Self {
            request: due.request,
            number: due.number,
            turn: due.turn,
            share,
            home,
            owed,
        }
    }

    /// The resources that the exchange holds.
    #[inline(always)]
    pub(super) const fn held(&self) -> Held {
        Held {
            share: self.share,
            user: self.turn.user,
            home: self.home,
            owed: self.owed,
        }
    }
}

/// The resources that an exchange held until its end, for the caller to release: its seat and its
/// user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// The share on which the exchange had its seat.
    pub(crate) share: ShareId,
    /// The user that made the request.
    pub(crate) user: UserId,
    /// The index, within the pool, of the worker to which the user belongs.
    pub(crate) home: u32,
    /// The part of the seat's time that the worker's own stops took.
    pub(crate) owed: Nanos,
}

/// The state of an exchange that does not depend on its kind.
#[derive(Debug)]
pub(super) struct Exchange {
    /// The generation of the exchange that currently has this state.
    pub(super) generation: Generation,
    /// Whether the exchange is running.
    pub(super) is_open: bool,
    /// The number of times the request was sent again; at most 1, and 0 again after a redirect.
    resends: u8,
    pub(super) task: Task,
    pub(super) account: Account,
    /// The part of the response that is looked at; reused by the next exchange with this state.
    /// `None` if no exchange with this state has had a look.
    pub(super) look: Option<Box<Look>>,
    /// The state of the user, lent until the exchange is over.
    pub(super) user_state: UserState,
    /// The facts of the exchange's failures; `None` if this state has had none.
    failed: Option<Box<FailedBefore>>,
}

/// The facts of an exchange's failures; reused by the next exchange with the state.
#[derive(Debug, Default)]
struct FailedBefore {
    /// The detail of the end, or, if `first` is set, the detail of the first failure.
    detail: Option<Box<Detail>>,
    /// The outcome of the failure after which the request is to be sent again, until a connection
    /// takes it.
    first: Option<Outcome>,
}

impl Exchange {
    /// A state without a running exchange.
    pub(super) fn new() -> Self {
        Self {
            generation: Generation::default(),
            is_open: false,
            resends: 0,
            task: Task::default(),
            account: Account::new(Times::default()),
            look: None,
            user_state: UserState::default(),
            failed: None,
        }
    }

    /// Begins an exchange with this state. Take the detail of the last exchange before this call,
    /// and lend the user's state after it.
    #[inline(always)]
    pub(super) fn begin_task(&mut self, task: Task, times: Times) {
        self.is_open = true;
        self.resends = 0;
        self.task = task;
        self.account = Account::new(times);
        if let Some(look) = &mut self.look {
            look.clear();
        }
    }

    /// Begins the single further attempt of a failed exchange; `false` if it was already used.
    pub(super) const fn resend(&mut self) -> bool {
        let is_first = self.resends == 0;
        self.resends = 1;
        is_first
    }

    /// Keeps the failure after which the request is to be sent again. If nothing was sent yet, the
    /// next attempt does not count as a second one, and the failure is not kept.
    pub(super) fn await_resend(&mut self, failure: Failure) {
        if self.account.times.sent != Nanos::MAX {
            let outcome = self.note_failure(failure);
            self.failed.get_or_insert_default().first = Some(outcome);
        }
    }

    /// Takes the failure after which the request is to be sent again, because a connection has
    /// taken the request or none will.
    #[cold]
    pub(super) fn take_first(&mut self) -> Option<Failure> {
        let failed = self.failed.as_mut()?;
        let outcome = failed.first.take()?;
        let detail = failed.detail.take().map(|detail| *detail);
        Some(Failure { outcome, detail })
    }

    /// The final failure of an exchange: if it waited to be sent again, its first failure.
    #[cold]
    pub(super) fn end_with(&mut self, failure: Failure) -> Failure {
        match self.take_first() {
            Some(first) => first.not_resent(&failure),
            None => failure,
        }
    }

    /// Allows a redirected exchange a further attempt again.
    pub(super) const fn allow_resend(&mut self) {
        self.resends = 0;
    }

    /// Ends the exchange. Its look and its cookies stay until the state is used again.
    #[inline]
    pub(super) const fn close(&mut self) {
        self.is_open = false;
        self.generation = self.generation.next();
        self.account.clear_deadline();
    }

    /// The detail of the exchange's end.
    pub(super) fn detail(&self) -> Option<&Detail> {
        self.failed.as_ref()?.detail.as_deref()
    }

    /// Takes the detail of the exchange's end.
    #[cold]
    pub(super) fn take_detail(&mut self) -> Option<Box<Detail>> {
        self.failed.as_mut()?.detail.take()
    }

    /// Keeps an explanation for a failure that is certain to follow.
    pub(super) fn explain(&mut self, words: String) {
        self.failed.get_or_insert_default().detail = Some(Box::new(words.into()));
    }

    /// Keeps the detail of the failure that ends the exchange, appended to an earlier explanation;
    /// returns the outcome.
    #[inline]
    pub(super) fn note_failure(&mut self, failure: Failure) -> Outcome {
        if let Some(detail) = failure.detail {
            let kept = &mut self.failed.get_or_insert_default().detail;
            let detail = match kept.take() {
                Some(known) => {
                    let text = format!("{}; {}", known.text, detail.text);
                    Detail::new(text, detail.cause)
                }
                None => detail,
            };
            *kept = Some(Box::new(detail));
        }
        failure.outcome
    }

    /// The facts that the sample does not contain, for plans that keep every sample.
    pub(super) fn particulars(&self) -> Particulars {
        Particulars {
            arrival: self.task.turn.arrival,
            began: self.account.began(),
            written: self.account.times.written,
        }
    }

    /// Stores the state of the user, lent until the exchange is over.
    pub(super) fn lend(&mut self, user_state: UserState) {
        self.user_state = user_state;
    }

    /// Drops the values of the user, so that only the user holds them; `false` if there were none.
    #[inline]
    pub(super) fn return_variables(&mut self) -> bool {
        self.user_state.variables.is_some() && self.user_state.variables.take().is_some()
    }

    /// The context for rendering the request on a connection, at `now` since the Unix epoch. The
    /// variables are shared with the user during the exchange, not copied.
    pub(super) fn context(&self, connection: u32, now: u64, seed: u64) -> RequestContext {
        let variables = self.user_state.variables.clone();
        let Task { number, turn, .. } = self.task;
        turn.context(number, connection, now, seed, variables)
    }
}
