//! One slot's connection: its way from closed to open, its wire, and the reasons for which it ends.
//!
//! ```text
//!   Closed ─► Dialing ─► (SecuringProxy) ─► (Tunneling) ─► (Securing) ─► Open: silent, then ready
//! ```
//!
//! The steps in brackets are those of its route. Any state goes back to `Closed`, by `close` where
//! the connection works and by `lose` where it has failed; both tell the handler of its life, with
//! the reason, and end the socket. A slot has one connection after the other; the alarm and the
//! place in the lists of pending work belong to the slot and stay.
//!
//! `leaving` and `is_retiring` are the two steps of an orderly end: it carries no further exchange,
//! then another slot serves its share, and it is closed when its last exchange has ended.

use super::alarm::Alarm;
use super::context::Context;
use super::lane::Lane;
use super::pending::Listed;
use crate::blame::Failure;
use crate::id::{LaneId, ShareId};
use crate::limits::RECEIVES_PER_TURN;
use crate::wire::{Handler, Input, Life, Note, Wire, WireProtocol};
use drumfire_http1::Machine;
use drumfire_measure::{Closing, Outcome};
use drumfire_net::{Io, Readiness, Received, Slot};
use drumfire_units::Nanos;
use std::net::SocketAddr;

/// The state of a slot's connection.
#[derive(Debug)]
pub(super) enum Link {
    /// The slot has no connection.
    Closed,
    /// It is being dialed.
    Dialing,
    /// The TLS handshake with a proxy is under way.
    SecuringProxy,
    /// A proxy has been asked to connect through; this reads its answer.
    Tunneling(Box<Machine>),
    /// The TLS handshake is under way.
    Securing,
    /// It is open, and the wire speaks on it.
    Open(Wire),
}

/// The state of a connection, for the owner of the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkState {
    /// The share has no connection.
    Closed,
    /// It is being dialed, or in a handshake.
    Opening,
    /// It is open, both sides have agreed on its protocol, and nothing has come of the server's
    /// greeting.
    Silent,
    /// It carries exchanges.
    Ready,
}

/// The step of opening a connection whose socket has become ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpeningStep {
    /// The attempt goes on.
    GoOn,
    /// The same, and the connection is read afterwards.
    GoOnAndRead,
}

/// A slot: a connection or the room for one.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) link: Link,
    lane: LaneId,
    /// The share whose exchanges it carries.
    share: ShareId,
    /// Failed attempts to open it, in a row.
    pub(super) failures: u8,
    /// Whether the peer has finished sending: its bytes are read to the end, for which no further
    /// event comes.
    pub(super) peer_closed: bool,
    /// Whether another connection has taken its place: it carries its exchanges to their ends.
    pub(super) is_retiring: bool,
    /// Whether its share's seat is given out when it is open, or when it has failed to open.
    pub(super) withholds_seat: bool,
    pub(super) listed: Listed,
    /// Addresses tried in the current attempt to open it.
    pub(super) tried: u16,
    /// The index of the lane's address that is dialed next.
    pub(super) choice: u32,
    /// The address that it leads to, unless that is a path.
    pub(super) address: Option<SocketAddr>,
    /// It is not dialed again before this.
    pub(super) rest_until: Nanos,
    /// The beginning of its current phase: of a step of opening, or of being open.
    pub(super) phase_start: Nanos,
    pub(super) alarm: Alarm,
    /// The requests that it had carried when the warm-up ended.
    carried_before: u64,
    /// It carries no further exchange, for this reason.
    pub(super) leaving: Option<Closing>,
}

const _: () = assert!(
    size_of::<Connection>() <= 272,
    "a slot is small: there may be a million"
);

impl Connection {
    /// Room for a connection of a share.
    pub(super) const fn new(lane: LaneId, share: ShareId, choice: u32) -> Self {
        Self {
            link: Link::Closed,
            lane,
            share,
            failures: 0,
            peer_closed: false,
            is_retiring: false,
            withholds_seat: false,
            listed: Listed::NOWHERE,
            tried: 0,
            choice,
            address: None,
            rest_until: Nanos::ZERO,
            phase_start: Nanos::ZERO,
            alarm: Alarm::new(),
            carried_before: 0,
            leaving: None,
        }
    }

    /// Room for the connection that takes this one's place.
    pub(super) fn successor(&self) -> Self {
        Self {
            failures: self.failures,
            ..Self::new(self.lane, self.share, self.choice)
        }
    }

    /// Gives the slot to another connection. The slot stays in the lists in which it stands.
    pub(super) fn become_another(&mut self, other: Self) {
        let (alarm, listed) = (self.alarm.renewed(), self.listed);
        *self = Self {
            alarm,
            listed,
            ..other
        };
    }

    #[inline]
    pub(super) const fn lane(&self) -> LaneId {
        self.lane
    }

    /// Leads along another lane the next time that it is opened.
    pub(super) const fn lead(&mut self, lane: LaneId) {
        self.lane = lane;
    }

    #[inline]
    pub(super) const fn share(&self) -> ShareId {
        self.share
    }

    /// The wire of an open connection.
    #[inline]
    pub(super) const fn wire(&self) -> Option<&Wire> {
        match &self.link {
            Link::Open(wire) => Some(wire),
            _ => None,
        }
    }

    /// The same, to call it.
    #[inline]
    pub(super) const fn wire_mut(&mut self) -> Option<&mut Wire> {
        match &mut self.link {
            Link::Open(wire) => Some(wire),
            _ => None,
        }
    }

    /// Its state, for the owner of the transport.
    pub(super) fn state(&self) -> LinkState {
        match self.wire() {
            Some(wire) if wire.is_ready() => LinkState::Ready,
            Some(_) => LinkState::Silent,
            None if self.is_closed() => LinkState::Closed,
            None => LinkState::Opening,
        }
    }

    /// The step of opening it that a socket's readiness allows, if any. Bytes that came with the
    /// connection, or with the end of a handshake, have no event of their own, and neither has the
    /// peer's end.
    pub(super) const fn opening_step(
        &self,
        readiness: Readiness,
        server_speaks_first: bool,
    ) -> Option<OpeningStep> {
        let (goes_on, reads) = match self.link {
            Link::Dialing => (readiness.writable, readiness.readable),
            Link::SecuringProxy | Link::Securing => {
                (true, server_speaks_first || readiness.peer_closed)
            }
            Link::Tunneling(_) => (readiness.readable, readiness.peer_closed),
            Link::Closed | Link::Open(_) => (false, false),
        };
        match (goes_on, reads) {
            (false, _) => None,
            (true, false) => Some(OpeningStep::GoOn),
            (true, true) => Some(OpeningStep::GoOnAndRead),
        }
    }

    pub(super) const fn is_closed(&self) -> bool {
        matches!(self.link, Link::Closed)
    }

    /// Whether it carries exchanges.
    pub(super) fn is_ready(&self) -> bool {
        match self.wire() {
            Some(wire) => wire.is_ready(),
            None => false,
        }
    }

    /// Whether it is on its way to carrying exchanges.
    pub(super) fn is_opening(&self) -> bool {
        !self.is_closed() && !self.is_ready()
    }

    /// The outcome of a timeout while it is being opened.
    pub(super) const fn opening_timeout(&self) -> Outcome {
        match self.link {
            Link::Securing => Outcome::TimeoutTls,
            _ => Outcome::TimeoutConnect,
        }
    }

    /// Notes that the lane's address failed; `true` when there is another to try.
    pub(super) fn try_another(&mut self, lane: &mut Lane, now: Nanos) -> bool {
        let choice = lane.choose(self.choice, now);
        self.choice = choice as u32 + 1;
        self.tried += 1;
        lane.note_down(choice, now);
        usize::from(self.tried) < lane.route().width()
    }

    /// Lets it carry no further exchange, for this reason. It is closed at once where its protocol
    /// has nothing to end first.
    pub(super) fn leave<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        why: Closing,
    ) {
        self.alarm.set_leaving(Nanos::MAX);
        let is_done = self.wire_mut().is_some_and(Wire::take_no_more);
        if is_done {
            self.close(cx, slot, why);
        } else {
            self.leaving = Some(why);
        }
    }

    /// Closes the slot's connection, if it has one, and notes why.
    pub(super) fn close<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        why: Closing,
    ) {
        if !self.is_closed() {
            self.take(cx, slot, |_| why);
        }
    }

    /// Closes a connection that has failed. Gives its wire, with the exchanges that it carried, to
    /// be ended by the caller.
    pub(super) fn lose<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        failure: &Failure,
    ) -> Option<Wire> {
        match self.take(cx, slot, |wire| closing_of(wire, failure)) {
            Link::Open(wire) => Some(wire),
            _ => None,
        }
    }

    /// Empties the slot and closes the socket. A connection that was not even dialed to its end has
    /// no life to note.
    fn take<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        why: impl FnOnce(Option<&Wire>) -> Closing,
    ) -> Link {
        let link = std::mem::replace(&mut self.link, Link::Closed);
        self.alarm.silence();
        self.leaving = None;
        self.is_retiring = false;
        let carried_before = std::mem::take(&mut self.carried_before);
        if !matches!(link, Link::Closed | Link::Dialing) {
            let wire = match &link {
                Link::Open(wire) => Some(wire),
                _ => None,
            };
            cx.handler.note(Note::Closed(Life {
                why: why(wire),
                time: cx.io.now() - self.phase_start,
                carried: wire.map_or(0, |wire| wire.carried() - carried_before),
                address: self.address,
            }));
        }
        cx.io.close(slot);
        link
    }

    /// Ends the warm-up: what was carried so far is not measured.
    pub(super) fn begin_measuring(&mut self) {
        if let Link::Open(wire) = &self.link {
            self.carried_before = wire.carried();
        }
    }
}

/// The reason for which a connection that failed was closed.
fn closing_of(wire: Option<&Wire>, failure: &Failure) -> Closing {
    match failure.outcome {
        Outcome::TimeoutPing => Closing::Silent,
        Outcome::Reset => Closing::Reset,
        _ if wire.is_some_and(Wire::is_refused) => Closing::GoAway,
        Outcome::Closed => Closing::Peer,
        _ => Closing::Failed,
    }
}

/// Discards the input of a connection that is to be closed.
pub(super) fn discard_input<I: Io>(io: &mut I, slot: Slot, input: &mut Input) {
    for _ in 0..RECEIVES_PER_TURN {
        let limit = input.scratch.len() as u64;
        match io.discard(slot, limit, &mut input.scratch) {
            Ok(Received::Bytes { .. }) => {}
            // An error of a connection that is given up changes nothing.
            Ok(Received::Nothing | Received::End) | Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Connection, Link, OpeningStep};
    use crate::id::{LaneId, ShareId};
    use drumfire_net::{Readiness, Slot};

    /// The peer may finish the handshake and close at once: no further event says so.
    #[test]
    fn an_end_behind_a_handshake_is_read() {
        let mut connection = Connection::new(LaneId(0), ShareId(0), 0);
        let readiness = |peer_closed| Readiness {
            slot: Slot(0),
            readable: true,
            writable: true,
            peer_closed,
        };
        connection.link = Link::Securing;
        for (peer_closed, speaks_first, step) in [
            (false, false, OpeningStep::GoOn),
            (false, true, OpeningStep::GoOnAndRead),
            (true, false, OpeningStep::GoOnAndRead),
        ] {
            let found = connection.opening_step(readiness(peer_closed), speaks_first);
            assert_eq!(found, Some(step));
        }
        connection.link = Link::Closed;
        assert_eq!(connection.opening_step(readiness(true), true), None);
    }
}
