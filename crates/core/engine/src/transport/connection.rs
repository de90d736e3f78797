//! One slot's connection: its states from closed to open, its wire, and the reasons why it ends.
//!
//! Its parts own their state. The [`Link`] has the step of opening and, after the last one, the
//! wire; an [`Attempt`] advances it. [`Redial`] has the addresses and the rests between attempts,
//! the [`Alarm`] the times at which the connection must be checked. Everything that ends the
//! connection is here: `close` if it works and `lose` if it has failed return the link to closed
//! from any state, report the connection's life and the reason to the handler, and close the
//! socket. A slot has one connection after another; the alarm and the place in the lists of pending
//! work belong to the slot and stay.
//!
//! `leave` and `retire` are the two steps of an orderly end: the connection carries no further
//! exchange, then another slot serves its share. `close_if_done` closes the connection after its
//! last exchange.

mod link;
mod opening;
mod redial;

pub(crate) use link::LinkState;
pub(super) use link::{Link, OpeningStep};
pub(super) use opening::{Attempt, Way};

use self::redial::Redial;
use super::alarm::Alarm;
use super::context::Context;
use super::lane::Lane;
use super::pending::Listed;
use crate::blame::Failure;
use crate::id::{LaneId, ShareId};
use crate::timers::{Timers, Wake};
use crate::wire::{
    ConnectionNote, Handler, Life, Port, Settings, Terms, Unwilling, Wire, WireProtocol,
};
use drumfire_measure::{Closing, Outcome};
use drumfire_net::{Io, Readiness, Slot};
use drumfire_units::Nanos;
use std::net::SocketAddr;

/// Whether a connection that takes no further exchanges needs a successor.
#[derive(Debug)]
pub(super) enum SuccessorNeed {
    /// Waiting and expected exchanges need a successor.
    Needed,
    /// The connection was idle: only waiting exchanges need a successor.
    WhereAwaited,
    /// Exchanges need a successor, but its server should not be dialed again at once.
    Later(Unwilling),
}

/// A slot: a connection or room for one.
#[derive(Debug)]
pub(super) struct Connection {
    /// The step of opening. Only an [`Attempt`] and the methods that end the connection change it.
    pub(super) link: Link,
    pub(super) lane: LaneId,
    /// The share whose exchanges the connection carries.
    pub(super) share: ShareId,
    pub(super) redial: Redial,
    /// Whether the peer has finished sending. Its bytes must be read to the end, because no further
    /// event comes.
    peer_closed: bool,
    /// Whether another connection has replaced this one, which still carries its exchanges to their
    /// ends.
    pub(super) is_retiring: bool,
    /// Whether the seat of its share is given out only after the connection is open or has failed
    /// to open.
    withholds_seat: bool,
    /// The slot's place in the lists of pending work.
    pub(super) listed: Listed,
    /// The peer's address, unless it is a path.
    address: Option<SocketAddr>,
    /// The beginning of the current phase: a step of opening, or being open.
    phase_start: Nanos,
    /// The times at which the connection must be checked.
    pub(super) alarm: Alarm,
    /// The number of requests that the connection had carried at the end of the warm-up.
    carried_before: u64,
    /// The time to connect, without proxy and TLS.
    connect_time: Nanos,
    /// The reason why the connection carries no further exchange, if so.
    leaving: Option<Closing>,
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
            redial: Redial::from(choice),
            peer_closed: false,
            is_retiring: false,
            withholds_seat: false,
            listed: Listed::NOWHERE,
            address: None,
            phase_start: Nanos::ZERO,
            alarm: Alarm::new(),
            carried_before: 0,
            connect_time: Nanos::ZERO,
            leaving: None,
        }
    }

    /// Room for the connection that replaces this one.
    pub(super) fn successor(&self) -> Self {
        Self {
            redial: self.redial.successor(),
            ..Self::new(self.lane, self.share, 0)
        }
    }

    /// Gives the slot to another connection. The slot stays in its lists of pending work.
    pub(super) fn become_another(&mut self, other: Self) {
        let (alarm, listed) = (self.alarm.renewed(), self.listed);
        *self = Self {
            alarm,
            listed,
            ..other
        };
    }

    /// Moves the slot to another lane; an open connection is closed.
    pub(super) fn lead<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        lane: LaneId,
    ) {
        if self.lane != lane {
            self.close(cx, slot, Closing::Redirected);
            self.lane = lane;
        }
    }

    /// The wire of an open connection.
    #[inline]
    pub(super) const fn wire(&self) -> Option<&Wire> {
        match &self.link {
            Link::Open(wire) => Some(wire),
            _ => None,
        }
    }

    /// The wire of an open connection, mutable.
    #[inline]
    pub(super) const fn wire_mut(&mut self) -> Option<&mut Wire> {
        match &mut self.link {
            Link::Open(wire) => Some(wire),
            _ => None,
        }
    }

    /// The wire of an open connection, with its slot's place in the lists of pending work.
    #[inline(always)]
    pub(super) const fn wire_and_listed(&mut self) -> Option<(&mut Wire, &mut Listed)> {
        match &mut self.link {
            Link::Open(wire) => Some((wire, &mut self.listed)),
            _ => None,
        }
    }

    /// Whether the slot is empty.
    pub(super) const fn is_closed(&self) -> bool {
        matches!(self.link, Link::Closed)
    }

    /// Whether the connection can carry exchanges.
    pub(super) fn is_ready(&self) -> bool {
        match self.wire() {
            Some(wire) => wire.is_ready(),
            None => false,
        }
    }

    /// Whether the connection is being opened.
    pub(super) fn is_opening(&self) -> bool {
        !self.is_closed() && !self.is_ready()
    }

    /// The terms for a read of the connection after its socket's readiness.
    #[inline(always)]
    pub(super) const fn read_terms<'a>(
        &mut self,
        readiness: Readiness,
        settings: &'a Settings,
    ) -> Terms<'a> {
        self.peer_closed |= readiness.peer_closed;
        Terms::new(settings, self.peer_closed, self.leaving)
    }

    /// The address that was dialed last; `None` for a path, and before the first dial.
    pub(super) const fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Sets the lane's address that is dialed first from now on. Returns whether the connection is
    /// open to another address.
    pub(super) fn assign(&mut self, choice: u32, lane: &Lane) -> bool {
        self.redial.begin_at(choice);
        let stays = self
            .address
            .is_none_or(|address| match lane.address_of(choice) {
                Some(assigned) => address == assigned,
                None => lane.route.has_peer(address),
            });
        !stays && !self.is_opening()
    }

    /// Withholds the seat of the share until the connection is open or has failed to open.
    pub(super) const fn withhold_seat(&mut self) {
        self.withholds_seat = true;
    }

    /// Releases the seat; `true` if it was withheld and must be given out.
    pub(super) const fn release_seat(&mut self) -> bool {
        std::mem::replace(&mut self.withholds_seat, false)
    }

    /// Begins the run: the rest is over, all times count from 0, and an opening in progress gets
    /// its whole time again. A closed connection with a withheld seat is dialed in turn.
    pub(super) fn begin_run(&mut self, lane: &mut Lane, slot: Slot, timers: &mut Timers) {
        self.phase_start = Nanos::ZERO;
        self.alarm.forget_entry();
        let mut rest_until = Nanos::ZERO;
        if self.withholds_seat && self.is_closed() {
            rest_until = lane.next_redial();
            timers.insert(rest_until, Wake::Dial(slot));
        }
        self.redial.begin_run(rest_until);
        if !self.is_ready() && self.alarm.has_deadline() {
            let limit = lane.settings.connect_by(Nanos::ZERO);
            self.alarm.set_deadline(limit);
        }
    }

    /// Stops the connection from carrying further exchanges, for this reason. It is closed at once
    /// if its protocol has nothing to finish.
    pub(super) fn leave<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        why: Closing,
    ) {
        self.alarm.set_leaving(Nanos::MAX);
        let is_done = self.wire_mut().is_some_and(Wire::take_no_more);
        if is_done {
            self.hang_up(cx, slot, why);
        } else {
            self.leaving = Some(why);
        }
    }

    /// Closes the slot's connection, if there is one, after the final message of its protocol.
    pub(super) fn hang_up<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        why: Closing,
    ) {
        if let Some(wire) = self.wire_mut()
            && wire.has_farewell()
        {
            wire.drain(&mut Port::new(cx.io, slot));
        }
        self.close(cx, slot, why);
    }

    /// Marks the connection as replaced, once, if its wire takes no further exchanges. Returns the
    /// need for a successor; `None` if there is nothing to do.
    pub(super) fn retire(&mut self) -> Option<SuccessorNeed> {
        let wire = self.wire().filter(|wire| wire.is_spent())?;
        let (unwilling, is_fruitless) = (wire.unwilling(), wire.is_fruitless());
        if std::mem::replace(&mut self.is_retiring, true) {
            return None;
        }
        // A connection that takes no more because of the plan's own limit counts as opened, with or
        // without a response.
        if !is_fruitless || unwilling.is_none() {
            self.redial.succeed();
        }
        Some(match unwilling {
            Some(unwilling) => SuccessorNeed::Later(unwilling),
            None if self.leaving == Some(Closing::Idle) => SuccessorNeed::WhereAwaited,
            None => SuccessorNeed::Needed,
        })
    }

    /// Closes the connection if another has replaced it and it carries no exchanges; returns
    /// whether it did. The protocol is ended only then, because some servers drop streams in flight
    /// when they receive a GOAWAY.
    pub(super) fn close_if_done<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
    ) -> bool {
        let (is_retiring, leaving) = (self.is_retiring, self.leaving);
        let Some(wire) = self.wire_mut().filter(|wire| is_retiring && wire.is_idle()) else {
            return false;
        };
        wire.drain(&mut Port::new(cx.io, slot));
        let why = match wire.is_refused() {
            true => Closing::GoAway,
            false => leaving.unwrap_or(Closing::Spent),
        };
        self.close(cx, slot, why);
        true
    }

    /// Closes the slot's connection, if there is one, for this reason.
    pub(super) fn close<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        why: Closing,
    ) {
        if !self.is_closed() {
            self.empty_slot(cx, slot, |_| why);
        }
    }

    /// Closes a connection that has failed. Returns its wire with the exchanges that it carried,
    /// which the caller must end.
    pub(super) fn lose<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        failure: &Failure,
    ) -> Option<Wire> {
        match self.empty_slot(cx, slot, |wire| closing_of(wire, failure)) {
            Link::Open(wire) => Some(wire),
            _ => None,
        }
    }

    /// Empties the slot and closes the socket. A connection whose dial did not finish has no life
    /// to report.
    fn empty_slot<I: Io, H: Handler>(
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
            let carried = wire.map_or(0, |wire| wire.carried() - carried_before);
            let time = cx.io.now() - self.phase_start;
            let life = Life::new(why(wire), time, carried, self.address);
            cx.handler.note(ConnectionNote::Closed(life));
        }
        cx.io.close(slot);
        link
    }

    /// Ends the warm-up: the requests carried so far are not measured.
    pub(super) fn begin_measuring(&mut self) {
        if let Link::Open(wire) = &self.link {
            self.carried_before = wire.carried();
        }
    }
}

/// The reason why a connection that failed was closed.
fn closing_of(wire: Option<&Wire>, failure: &Failure) -> Closing {
    match failure.outcome {
        Outcome::TimeoutPing => Closing::Silent,
        Outcome::Reset => Closing::Reset,
        _ if wire.is_some_and(Wire::is_refused) => Closing::GoAway,
        Outcome::Closed => Closing::Peer,
        _ => Closing::Failed,
    }
}
