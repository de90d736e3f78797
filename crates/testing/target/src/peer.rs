//! The state that a connection's task shares with the tasks of its requests.

use crate::flushes::Flushes;
use h2::StreamId;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

/// The state of one connection, other than its frames.
#[derive(Default)]
pub(crate) struct Peer {
    /// The number of accepted requests.
    accepted: Cell<u32>,
    /// The number of sent answers.
    answered: Cell<u32>,
    /// The number of requests in progress.
    open: Cell<u32>,
    wish: Cell<Option<Wish>>,
    /// The last stream that is served; later ones are not.
    last: Cell<Option<u32>>,
    /// Whether GOAWAY has announced it to the client.
    announced: Cell<bool>,
    waker: RefCell<Option<Waker>>,
    /// The answers that wait for a flush.
    pub(crate) flushes: Rc<Flushes>,
}

/// An action that a request demands of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Accept no further requests: send GOAWAY, and close after all answers.
    Wane,
    /// Close immediately.
    Hangup,
}

/// A request in progress.
pub(crate) struct Open(pub(crate) Rc<Peer>);

impl Open {
    pub(crate) fn new(peer: &Rc<Peer>) -> Self {
        peer.open.set(peer.open.get() + 1);
        Self(Rc::clone(peer))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.set(self.0.open.get() - 1);
        if self.0.last.get().is_some() && self.0.open.get() == 0 {
            self.0.wake();
        }
    }
}

impl Peer {
    /// Accepts a request, unless the `n`-th was already accepted.
    pub(crate) fn accepts(&self, stream: StreamId, n: Option<u32>) -> bool {
        if self.last.get().is_some() {
            return false;
        }
        self.accepted.set(self.accepted.get() + 1);
        if n.is_some_and(|n| self.accepted.get() >= n) {
            self.last.set(Some(stream.as_u32()));
        }
        true
    }

    /// Counts an answer, and closes the connection after the `limit`-th.
    pub(crate) fn answered(&self, limit: Option<u32>) {
        self.answered.set(self.answered.get() + 1);
        if limit.is_some_and(|limit| self.answered.get() >= limit) {
            self.wish(Wish::Wane);
        }
    }

    /// Demands an action of the connection.
    pub(crate) fn wish(&self, wish: Wish) {
        if self.wish.get() != Some(Wish::Hangup) {
            self.wish.set(Some(wish));
        }
        self.wake();
    }

    /// Takes the current demand; a later demand wakes `waker`.
    pub(crate) fn take_wish(&self, waker: &Waker) -> Option<Wish> {
        let wish = self.wish.take();
        if wish.is_none() {
            let mut kept = self.waker.borrow_mut();
            if !kept.as_ref().is_some_and(|kept| kept.will_wake(waker)) {
                *kept = Some(waker.clone());
            }
        }
        wish
    }

    /// The last stream that is served, before it is announced to the client.
    pub(crate) fn unannounced(&self) -> Option<u32> {
        self.last.get().filter(|_| !self.announced.get())
    }

    /// Records that the last stream was announced.
    pub(crate) fn set_announced(&self) {
        self.announced.set(true);
    }

    /// Whether the last stream was announced, and all requests have ended.
    pub(crate) fn is_over(&self) -> bool {
        self.announced.get() && self.open.get() == 0
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.borrow().as_ref() {
            waker.wake_by_ref();
        }
    }
}
