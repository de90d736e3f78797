//! The exchanges that the transport has taken: the position and the phase of each.
//!
//! The transport enters an exchange when it is submitted. The wire that carries it, or else the
//! transport, clears the entry with the exchange's last event; the id may then be reused.
//!
//! ```text
//!   Nowhere ─► Seeking ─► Nowhere            its origin is known, and it is submitted again
//!      └─────► Waiting ─► Carried ─► Nowhere
//! ```
//!
//! An entry is found by the exchange's id in a list, so it costs one load; share and slot of an
//! entry are valid only in the phases that have them.

use super::handler::{Handler, Seen, WireEvent};
use crate::blame::Failure;
use crate::id::{ExchangeId, ShareId};
use drumfire_http2::StreamRef;
use drumfire_measure::Outcome;
use drumfire_net::Slot;
use drumfire_units::Nanos;

/// A wire's handle for an exchange that it carries. Only that wire reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handle {
    /// The exchange has the connection to itself.
    Connection,
    /// The exchange has a stream.
    Stream(StreamRef),
}

/// The progress of an exchange on its way to the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The transport does not have the exchange.
    Nowhere,
    /// The origin of a redirect is being looked up.
    Seeking,
    /// The exchange waits for a connection, or for room on one.
    Waiting,
    /// A wire carries the exchange.
    Carried(Handle),
}

/// The position of one exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotOfExchange {
    /// The share to which the exchange was submitted.
    share: ShareId,
    /// The slot that carries the exchange.
    slot: Slot,
    /// The progress of the exchange.
    pub(crate) phase: Phase,
}

impl SlotOfExchange {
    const NONE: Self = Self {
        share: ShareId(0),
        slot: Slot(0),
        phase: Phase::Nowhere,
    };

    /// The slot whose wire carries the exchange, and the wire's handle; `None` if no wire does.
    #[inline]
    pub(crate) const fn carrier(&self) -> Option<(Slot, Handle)> {
        match self.phase {
            Phase::Carried(handle) => Some((self.slot, handle)),
            Phase::Nowhere | Phase::Seeking | Phase::Waiting => None,
        }
    }

    /// The share for whose connection the exchange waits; `None` if it does not wait.
    pub(crate) const fn awaited(&self) -> Option<ShareId> {
        match self.phase {
            Phase::Waiting => Some(self.share),
            Phase::Nowhere | Phase::Seeking | Phase::Carried(_) => None,
        }
    }
}

/// The assignments of a pool's exchanges, by their ids.
#[derive(Debug, Default)]
pub(crate) struct Underway(Vec<SlotOfExchange>);

impl Underway {
    /// Makes room for an exchange's assignment.
    #[inline]
    pub(crate) fn admit(&mut self, id: ExchangeId) {
        if self.0.len() <= id.index() {
            self.0.resize(id.index() + 1, SlotOfExchange::NONE);
        }
    }

    /// Notes that the exchange waits for the address of an origin.
    pub(crate) fn seek(&mut self, id: ExchangeId, share: ShareId) {
        self.set(id, share, Slot(0), Phase::Seeking);
    }

    /// Notes that the exchange waits for a share's connection.
    pub(crate) fn wait(&mut self, id: ExchangeId, share: ShareId) {
        self.set(id, share, Slot(0), Phase::Waiting);
    }

    /// Notes that the wire in a slot carries the exchange.
    #[inline]
    pub(crate) fn carry(&mut self, id: ExchangeId, share: ShareId, slot: Slot, handle: Handle) {
        self.set(id, share, slot, Phase::Carried(handle));
    }

    #[inline]
    fn set(&mut self, id: ExchangeId, share: ShareId, slot: Slot, phase: Phase) {
        self.0[id.index()] = SlotOfExchange { share, slot, phase };
    }

    /// An exchange's assignment.
    #[inline]
    pub(crate) fn get(&self, id: ExchangeId) -> SlotOfExchange {
        self.0[id.index()]
    }

    /// Clears the exchange's assignment, and returns it.
    pub(crate) fn take_assignment(&mut self, id: ExchangeId) -> SlotOfExchange {
        let assignment = self.get(id);
        self.clear(id);
        assignment
    }

    /// Notes that the exchange has left the transport.
    #[inline]
    pub(crate) fn clear(&mut self, id: ExchangeId) {
        self.0[id.index()].phase = Phase::Nowhere;
    }

    /// Fails an exchange that no wire has taken, or whose wire has ended.
    pub(crate) fn fail<H: Handler>(
        &mut self,
        handler: &mut H,
        id: ExchangeId,
        failure: Failure,
        now: Nanos,
    ) {
        self.clear(id);
        handler.on_event(id, WireEvent::failed(failure), now);
    }
}

/// The phase of an exchange when it was cancelled.
#[derive(Debug)]
pub(crate) struct Cancelled {
    phase: Phase,
    /// What the wire knows of the response.
    pub(crate) seen: Seen,
    waiting: Option<Failure>,
}

impl Cancelled {
    /// The phase of an exchange, and what its wire knows of the response. `waiting` is the failure
    /// if the exchange waited for a connection, or for room on one.
    pub(crate) const fn new(phase: Phase, seen: Seen, waiting: Option<Failure>) -> Self {
        Self {
            phase,
            seen,
            waiting,
        }
    }

    /// Whether its origin was being looked up.
    pub(crate) fn was_sought(&self) -> bool {
        self.phase == Phase::Seeking
    }

    /// The failure of an exchange whose time was up before it had a wire; `None` if a wire carried
    /// it, whose events show the late part.
    pub(crate) fn into_lateness(self) -> Option<Failure> {
        let total = || Failure::from_outcome(Outcome::TimeoutTotal);
        match self.phase {
            Phase::Seeking => Some(Failure::from_outcome(Outcome::DnsTimeout)),
            Phase::Waiting | Phase::Nowhere => Some(self.waiting.unwrap_or_else(total)),
            Phase::Carried(_) => None,
        }
    }
}
