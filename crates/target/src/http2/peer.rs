//! What a connection's task and those of its requests tell each other.

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
    /// Whether the client was told so.
    announced: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

/// What a request wants of its connection.
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

    /// Notes an answer, and says that it was the last if `limit` makes it so.
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

    /// What is wished, once; `waker` learns of what is wished later.
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

    /// The last stream that is served, as long as the client has not been told.
    pub(crate) fn unannounced(&self) -> Option<u32> {
        self.last.get().filter(|_| !self.announced.get())
    }

    /// The client has been told.
    pub(crate) fn set_announced(&self) {
        self.announced.set(true);
    }

    /// Whether the client was told, and has everything that it will get.
    pub(crate) fn is_over(&self) -> bool {
        self.announced.get() && self.open.get() == 0
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.borrow().as_ref() {
            waker.wake_by_ref();
        }
    }
}
