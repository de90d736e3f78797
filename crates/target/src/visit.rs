//! A request's part in its connection over HTTP/2 and in the counters.

use crate::answer::{Afterwards, Counting, RawEnd};
use crate::desk::Desk;
use crate::peer::{Open, Peer, Wish};
use crate::sleeps::Sleeps;
use std::rc::Rc;

/// A request's part in its connection and in the counters.
pub(crate) struct Visit {
    pub(crate) desk: Rc<Desk>,
    pub(crate) sleeps: Rc<Sleeps>,
    pub(crate) counting: Counting,
    /// The number of answers after which the connection is ended.
    close_after: Option<u32>,
    open: Open,
}

impl Visit {
    /// A request of the load, until another thing is known of it.
    pub(crate) fn new(
        desk: &Rc<Desk>,
        sleeps: &Rc<Sleeps>,
        peer: &Rc<Peer>,
        close_after: Option<u32>,
    ) -> Self {
        Self {
            desk: Rc::clone(desk),
            sleeps: Rc::clone(sleeps),
            counting: Counting::Counted,
            close_after,
            open: Open::new(peer),
        }
    }

    /// The answer is sent.
    pub(crate) fn answered(&self, afterwards: Afterwards) {
        if self.counting == Counting::Counted {
            self.desk.own().tallies.responses.add(1);
        }
        if afterwards == Afterwards::Close {
            self.open.0.wish(Wish::Wane);
        }
        self.open.0.answered(self.close_after);
    }

    /// Nothing more can be sent: the answer was cut, or the client is gone.
    pub(crate) fn gone(&self, afterwards: Afterwards) {
        if afterwards == Afterwards::Cut {
            self.desk.own().tallies.faults.add(1);
        }
    }

    /// There was something else than an answer.
    pub(crate) fn failed(&self, end: RawEnd) {
        self.desk.own().tallies.faults.add(1);
        if end != RawEnd::Reset {
            self.open.0.wish(Wish::Hangup);
        }
    }
}
