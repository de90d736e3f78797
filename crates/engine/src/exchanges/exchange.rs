//! The state that an exchange of any kind has: its task, its account, the look at its response, and
//! the things that its user has lent it.
//!
//! It is used for one exchange after the other. [`Exchange::begin_task`] makes it an exchange's, and
//! [`Exchange::close`] ends that with the next generation, by which a timer is known to be stale.
//! Between the two the handler notes the wire's events in its [`Account`], and the exchange's kind
//! does what they ask for. The jar, the detail and the values that the look has taken are fetched
//! after `close`, before the state is used again.

use super::account::{Account, Times};
use super::look::Look;
use crate::blame::Failure;
use crate::id::{Generation, ShareId, UserId};
use crate::users::{DueRequest, Turn, UserState};
use drumfire_measure::{Detail, Outcome, Particulars};
use drumfire_plan::RequestContext;
use drumfire_units::Nanos;

/// The request of an exchange, and the parties to it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Task {
    /// The request's place in the pool's list.
    pub(super) request: u32,
    /// Its number within the run.
    number: u64,
    /// The user that makes it, at one of the user's iterations.
    turn: Turn,
    /// The share on which it has a seat until it is over.
    pub(super) share: ShareId,
    /// The worker, of the pool's, to which the user belongs.
    home: u32,
    /// The debt to the next exchange on the seat where this one needs not wait any more.
    owed: Nanos,
}

impl Task {
    /// The task to send a due request of a user of the worker `home`, on a seat of a share. `owed`
    /// is the debt to the next exchange there, where this one needs not wait any more.
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

    /// The resources that an exchange has held, to be given back.
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

/// The resources that an exchange held until its end, for the caller to give back: its seat and its
/// user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// The share on which it had its seat.
    pub(crate) share: ShareId,
    /// The user that has made its request.
    pub(crate) user: UserId,
    /// The worker, of the pool's, to which the user belongs.
    pub(crate) home: u32,
    /// The time of its seat that the worker's stops took.
    pub(crate) owed: Nanos,
}

/// The state of an exchange that does not depend on its kind.
#[derive(Debug)]
pub(super) struct Exchange {
    /// The generation of the exchange that has this state now.
    pub(super) generation: Generation,
    /// Whether it is under way.
    pub(super) is_open: bool,
    /// The number of times that it was sent once more; at most 1, and 0 again after a redirect.
    resends: u8,
    pub(super) task: Task,
    pub(super) account: Account,
    /// The part of its response that is looked at; kept for the next exchange with this state.
    /// `None` as long as no exchange here has had one.
    pub(super) look: Option<Box<Look>>,
    /// The things that its user keeps, lent until it is over.
    pub(super) user_state: UserState,
    /// The facts of its failures; `None` before the state has had one.
    failed: Option<Box<Failed>>,
}

/// The facts of an exchange's failures; kept for the next exchange with the state.
#[derive(Debug, Default)]
struct Failed {
    /// The detail of the end, beyond the outcome; or that of `first`.
    detail: Option<Box<Detail>>,
    /// The outcome of the failure after which it is to be sent once more, until a connection takes
    /// it again.
    first: Option<Outcome>,
}

impl Exchange {
    /// An exchange that is not under way.
    pub(super) fn new() -> Self {
        Self {
            generation: Generation::default(),
            is_open: false,
            resends: 0,
            task: Task::default(),
            account: Account::of(Times::default()),
            look: None,
            user_state: UserState::default(),
            failed: None,
        }
    }

    /// Begins an exchange with this state. The detail of the last one was taken by then, and the
    /// user's state is lent afterwards.
    #[inline(always)]
    pub(super) fn begin_task(&mut self, task: Task, times: Times) {
        self.is_open = true;
        self.resends = 0;
        self.task = task;
        self.account = Account::of(times);
        if let Some(look) = &mut self.look {
            look.clear();
        }
    }

    /// Begins the one further attempt that a failed exchange has; `false` where it was used.
    pub(super) const fn resend(&mut self) -> bool {
        let is_first = self.resends == 0;
        self.resends = 1;
        is_first
    }

    /// Keeps the failure after which it is to be sent once more. One of which nothing was sent yet is
    /// not sent a second time by that.
    pub(super) fn await_resend(&mut self, failure: Failure) {
        if self.account.times.sent != Nanos::MAX {
            let outcome = self.note_failure(failure);
            self.failed.get_or_insert_default().first = Some(outcome);
        }
    }

    /// Takes the failure after which it is to be sent once more: a connection has taken it again, or
    /// none will.
    #[cold]
    pub(super) fn take_first(&mut self) -> Option<Failure> {
        let failed = self.failed.as_mut()?;
        let outcome = failed.first.take()?;
        let detail = failed.detail.take().map(|detail| *detail);
        Some(Failure { outcome, detail })
    }

    /// The failure of an exchange that ends so: where it waited to be sent once more, its first one.
    #[cold]
    pub(super) fn end_with(&mut self, failure: Failure) -> Failure {
        match self.take_first() {
            Some(first) => first.not_resent(&failure),
            None => failure,
        }
    }

    /// Gives an exchange that is redirected a further attempt once more.
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

    /// The detail of its end, beyond the outcome.
    pub(super) fn detail(&self) -> Option<&Detail> {
        self.failed.as_ref()?.detail.as_deref()
    }

    /// Takes the detail of its end, beyond the outcome.
    #[cold]
    pub(super) fn take_detail(&mut self) -> Option<Box<Detail>> {
        self.failed.as_mut()?.detail.take()
    }

    /// Keeps the explanation of a failure that is certain to come.
    pub(super) fn explain(&mut self, words: String) {
        self.failed.get_or_insert_default().detail = Some(Box::new(words.into()));
    }

    /// Keeps the detail of the failure that ends the exchange, after an explanation that was kept
    /// before; returns the outcome.
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

    /// The facts beside its sample, where every sample is kept.
    pub(super) fn particulars(&self) -> Particulars {
        Particulars {
            arrival: self.task.turn.arrival,
            began: self.account.began(),
            written: self.account.times.written,
        }
    }

    /// Takes the state of its user, until it is over.
    pub(super) fn lend(&mut self, user_state: UserState) {
        self.user_state = user_state;
    }

    /// Lets go of the values of its user, so that the user alone has them; `false` where it has
    /// none.
    #[inline]
    pub(super) fn return_variables(&mut self) -> bool {
        self.user_state.variables.is_some() && self.user_state.variables.take().is_some()
    }

    /// The context of its request, on a connection at a time since the Unix epoch. The variables
    /// are shared with the user for the time of the exchange: no copy.
    pub(super) fn context(&self, connection: u32, now: u64, seed: u64) -> RequestContext {
        let variables = self.user_state.variables.clone();
        let Task { number, turn, .. } = self.task;
        turn.context(number, connection, now, seed, variables)
    }
}
