//! The effects of a request on its HTTP/2 connection and on the counters.

use crate::answer::{Afterwards, Counting, RawEnd};
use crate::desk::Desk;
use crate::peer::{Open, Peer, Wish};
use crate::sleeps::Sleeps;
use std::rc::Rc;

/// The effects of a request on its connection and on the counters.
pub(crate) struct Visit {
    pub(crate) desk: Rc<Desk>,
    pub(crate) sleeps: Rc<Sleeps>,
    pub(crate) counting: Counting,
    /// The number of answers after which the connection is closed.
    close_after: Option<u32>,
    open: Open,
}

impl Visit {
    /// A request, which counts as part of the load until more is known.
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

    /// Records that the answer was sent.
    pub(crate) fn answered(&self, afterwards: Afterwards) {
        if self.counting == Counting::Counted {
            self.desk.own().tallies.responses.add(1);
        }
        if afterwards == Afterwards::Close {
            self.open.0.wish(Wish::Wane);
        }
        self.open.0.answered(self.close_after);
    }

    /// Records that nothing more can be sent: the answer was cut, or the client has disconnected.
    pub(crate) fn gone(&self, afterwards: Afterwards) {
        if afterwards == Afterwards::Cut {
            self.desk.own().tallies.faults.add(1);
        }
    }

    /// Records a fault instead of an answer.
    pub(crate) fn failed(&self, end: RawEnd) {
        self.desk.own().tallies.faults.add(1);
        if end != RawEnd::Reset {
            self.open.0.wish(Wish::Hangup);
        }
    }
}
