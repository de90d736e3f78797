//! The lists with which exchanges request actions of their worker.
//!
//! A handler may not start an exchange or put one on a wire; it adds to a list instead. The worker
//! reads both lists after the transport has returned, ends first, until both are empty. An end
//! whose time is in the next interval stays on its list until the current interval is closed.
//!
//! Ends are copied out, and the list is cleared when the last one is taken, instead of removing
//! each from the front: under load, dozens of exchanges end per turn, and each costs one push and
//! one read. An id is on the list of ends at most once, because an exchange reports nothing after
//! its end.

use crate::id::ExchangeId;
use drumfire_measure::Outcome;
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// An action for the worker on an exchange that is not over.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Todo {
    /// Submit the exchange again, `pause` after `now`.
    Resend {
        id: ExchangeId,
        pause: Nanos,
        now: Nanos,
    },
    /// Follow the redirect of the exchange's response.
    Follow { id: ExchangeId, now: Nanos },
    /// Send the exchange's next message at that time.
    Message { id: ExchangeId, at: Nanos },
}

/// The end of an exchange; its detail stays in the exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) id: ExchangeId,
    /// The time of the end.
    pub(crate) now: Nanos,
    pub(crate) outcome: Outcome,
    /// Whether the exchange's seat rests afterwards.
    pub(crate) rests: bool,
}

impl End {
    /// The end of an exchange now.
    #[inline]
    pub(super) const fn new(id: ExchangeId, outcome: Outcome, now: Nanos) -> Self {
        Self {
            id,
            now,
            outcome,
            rests: false,
        }
    }

    /// This end with a rest of the seat, because a plan whose requests cannot be made would
    /// otherwise keep a core busy.
    pub(super) const fn with_rest(self) -> Self {
        Self {
            rests: true,
            ..self
        }
    }

    /// This end at another time.
    pub(super) const fn at(self, now: Nanos) -> Self {
        Self { now, ..self }
    }
}

const _: () = assert!(size_of::<End>() <= 16, "an end is copied in two registers");

/// The lists by which exchanges request an action of their worker.
#[derive(Debug)]
pub(crate) struct Lists {
    /// Exchanges that are over, in the order in which they ended.
    ended: Vec<End>,
    /// The number of entries of `ended` that the worker has taken.
    settled: usize,
    todo: VecDeque<Todo>,
}

impl Lists {
    pub(super) fn new() -> Self {
        Self {
            ended: Vec::with_capacity(64),
            settled: 0,
            todo: VecDeque::new(),
        }
    }

    #[inline]
    pub(super) fn push_end(&mut self, end: End) {
        self.ended.push(end);
    }

    pub(super) fn push_todo(&mut self, todo: Todo) {
        self.todo.push_back(todo);
    }

    /// Whether no exchange is over or requests an action.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ended.is_empty() && self.todo.is_empty()
    }

    /// The next exchange that is over; [`Self::pass_ended`] removes it.
    #[inline]
    pub(crate) fn next_ended(&self) -> Option<End> {
        self.ended.get(self.settled).copied()
    }

    /// Removes the next exchange that is over from the list, which must not be empty.
    #[inline]
    pub(crate) fn pass_ended(&mut self) {
        self.settled += 1;
        if self.settled == self.ended.len() {
            self.ended.clear();
            self.settled = 0;
        }
    }

    /// Takes the next requested action.
    #[inline]
    pub(crate) fn next_todo(&mut self) -> Option<Todo> {
        self.todo.pop_front()
    }
}
