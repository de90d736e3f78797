//! The state that a connection's task shares with those of its requests.

use h2::StreamId;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

/// The state of one connection beyond its frames.
#[derive(Default)]
pub(crate) struct Peer {
    /// Requests accepted.
    accepted: Cell<u32>,
    /// Answers given.
    answered: Cell<u32>,
    /// Requests that are being worked on.
    open: Cell<u32>,
    wish: Cell<Option<Wish>>,
    /// The last stream that is served; those after it are not.
    last: Cell<Option<u32>>,
    /// Whether the client has received it by GOAWAY.
    announced: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

/// A request's demand on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// No further requests: GOAWAY, and the end once all are answered.
    Wane,
    /// The end, now.
    Hangup,
}

/// A request that is being worked on.
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
    /// Accepts a request or, after the `n`-th, does not.
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

    /// Counts an answer; it was the last if `limit` makes it so.
    pub(crate) fn answered(&self, limit: Option<u32>) {
        self.answered.set(self.answered.get() + 1);
        if limit.is_some_and(|limit| self.answered.get() >= limit) {
            self.wish(Wish::Wane);
        }
    }

    /// Asks something of the connection.
    pub(crate) fn wish(&self, wish: Wish) {
        if self.wish.get() != Some(Wish::Hangup) {
            self.wish.set(Some(wish));
        }
        self.wake();
    }

    /// Takes the present demand; `waker` is woken by a later one.
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

    /// The last stream that is served, until it is announced to the client.
    pub(crate) fn unannounced(&self) -> Option<u32> {
        self.last.get().filter(|_| !self.announced.get())
    }

    /// Notes that the last stream was announced.
    pub(crate) fn set_announced(&self) {
        self.announced.set(true);
    }

    /// Whether the last stream was announced, and everything was sent.
    pub(crate) fn is_over(&self) -> bool {
        self.announced.get() && self.open.get() == 0
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.borrow().as_ref() {
            waker.wake_by_ref();
        }
    }
}
