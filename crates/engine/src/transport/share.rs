//! Shares: one connection's worth of a lane, and the replacement of the connection that serves it.

use super::ending::{closing_of, note_closed};
use super::{Connection, Context, Seat, Transport};
use crate::blame::Failure;
use crate::id::{ExchangeId, LaneId, ShareId};
use crate::timers::Wake;
use crate::wire::{Handler, Port, Wire};
use drumfire_measure::{Closing, Outcome};
use drumfire_net::{Io, Slot};
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// One of the plan's connections, whichever slot serves it at the moment.
#[derive(Debug)]
pub(crate) struct Share {
    pub(crate) lane: LaneId,
    /// The slot that takes its exchanges now.
    pub(crate) slot: Slot,
    /// Which of the run's connections it is, counted over all workers.
    pub(crate) number: u32,
    /// Exchanges that wait for the connection, or for room on it.
    pub(crate) waiting: VecDeque<ExchangeId>,
    /// The shares that serve its redirected exchanges.
    pub(crate) redirect_shares: Vec<ShareId>,
    /// Its seats, where its lane grows; elsewhere none is counted.
    pub(crate) seats: Seats,
}

/// How many exchanges a share of a growing lane takes before another share is added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seats {
    /// Those that its connection has room for.
    count: u32,
    /// Those beyond them, which are withdrawn when their exchanges give them back.
    surplus: u32,
}

impl Seats {
    /// The seats of a connection with this many streams.
    pub(crate) const fn of(streams: u32) -> Self {
        Self {
            count: streams,
            surplus: 0,
        }
    }
}

impl Share {
    pub(crate) const fn new(lane: LaneId, slot: Slot, number: u32) -> Self {
        Self {
            lane,
            slot,
            number,
            waiting: VecDeque::new(),
            redirect_shares: Vec::new(),
            seats: Seats::of(0),
        }
    }

    /// Whether no exchange waits.
    #[inline]
    pub(crate) fn is_clear(&self) -> bool {
        self.waiting.is_empty()
    }
}

impl Transport {
    /// Lets a connection that takes no further exchanges give its place to a new one; it is closed
    /// when its exchanges have ended.
    #[cold]
    pub(super) fn retire_if_spent<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
    ) {
        if let Wire::Http2(http2) = &mut self.connections[slot.0 as usize].wire
            && http2.is_spent()
            && !std::mem::replace(&mut http2.retiring, true)
        {
            let unwilling = http2.unwilling();
            self.succeed(cx, slot, unwilling, now);
        }
    }

    /// Puts a new slot in the place of a connection that retires. A server that has enough of us,
    /// or that goes before it has done anything, is not dialed again at once.
    #[cold]
    fn succeed<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        old: Slot,
        unwilling: Option<(Failure, bool)>,
        now: Nanos,
    ) {
        let retired = self.connection(old);
        let share = retired.share;
        let mut fresh = Connection::new(retired.lane, share, retired.choice);
        fresh.failures = retired.failures;
        let new = self.place(fresh);
        self.shares[share.index()].slot = new;
        let Some((failure, took_none)) = unwilling else {
            // The last of all has no successor.
            if !(self.is_last && self.shares[share.index()].is_clear()) {
                self.dial(cx, new, now);
            }
            return;
        };
        self.rest(cx, new, now);
        // Once may be a server on its way out. One that greets each connection so refuses us.
        if took_none && self.connection(new).failures > 1 {
            self.fail_waiting(cx, share, &failure, now);
        }
    }

    /// Puts a connection into a slot that no share uses.
    fn place(&mut self, connection: Connection) -> Slot {
        match self.spares.pop() {
            Some(spare) => {
                *self.connection(spare) = connection;
                spare
            }
            None => {
                self.connections.push(connection);
                Slot((self.connections.len() - 1) as u32)
            }
        }
    }

    /// Closes a connection that has given its place to another and has nothing more to carry. Only
    /// then does it send GOAWAY: some servers drop streams in flight when they receive one.
    #[cold]
    pub(super) fn close_if_done<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
    ) {
        if let Wire::Http2(http2) = &mut self.connection(slot).wire
            && http2.is_done()
        {
            http2.go_away_first();
            http2.flush(&mut Port { io: cx.io, slot }, cx.handler);
            let why = match http2.is_going() {
                true => Closing::GoAway,
                false => Closing::Spent,
            };
            self.close(cx, slot, why);
            self.spares.push(slot);
        }
    }

    /// A stream of a connection has ended otherwise than by reading: there is room for another, or
    /// the connection may be closed.
    pub(super) fn after_stream<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
    ) {
        let share = self.connection(slot).share;
        self.fill(cx, share, now);
        self.close_if_done(cx, slot);
    }

    /// Closes a connection that has failed, and fails every exchange on it. Backs off if it never
    /// produced a response.
    pub(super) fn close_failed<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
        failure: Failure,
    ) {
        let connection = self.connection(slot);
        let share = connection.share;
        let wire = std::mem::replace(&mut connection.wire, Wire::Empty);
        connection.deadline = Nanos::MAX;
        let why = closing_of(&wire, &failure);
        note_closed(cx, &wire, connection.phase_start, why);
        cx.io.close(slot);
        let Wire::Http2(http2) = wire else {
            return;
        };
        if !http2.is_ready() {
            let failure = match failure {
                Failure {
                    outcome: Outcome::Closed | Outcome::Reset,
                    detail: None,
                } => Failure::of(Outcome::ConnectReset),
                other => other,
            };
            return self.opening_failed(cx, slot, now, failure);
        }
        if http2.retiring {
            self.spares.push(slot);
        } else if http2.is_fruitless() {
            self.rest(cx, slot, now);
        }
        for id in http2.outstanding() {
            self.fail(cx.handler, id, failure.clone(), now);
        }
        if !self.shares[share.index()].is_clear() {
            self.call_for_connection(cx, share, now);
        }
    }

    /// Fails the exchanges that wait for a share's connection.
    pub(super) fn fail_waiting<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
        failure: &Failure,
        now: Nanos,
    ) {
        for id in std::mem::take(&mut self.shares[share.index()].waiting) {
            self.fail(cx.handler, id, failure.clone(), now);
        }
    }

    /// Lets a slot rest that failed once more; each pause is twice the last.
    pub(super) fn rest<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
    ) {
        let connection = &mut self.connections[slot.0 as usize];
        let lane = self.lanes.get_mut(connection.lane);
        let backoff_max = lane.settings.backoff_max;
        connection.failures = connection.failures.saturating_add(1);
        let doubled = crate::limits::BACKOFF_MIN.0 << (connection.failures - 1).min(20);
        let own = now + Nanos(doubled).min(backoff_max);
        connection.rest_until = own.max(lane.pace_redial(now));
        self.last_rest = self.last_rest.max(connection.rest_until);
        cx.timers.at(connection.rest_until, Wake::Dial(slot));
    }

    /// A slot has rested: dials again, where it still serves a share with need of it.
    pub(crate) fn wake<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
    ) {
        let connection = self.connection(slot);
        let (share, rested) = (connection.share, connection.rest_until);
        if matches!(connection.wire, Wire::Empty) {
            self.give_withheld_seat(slot, rested);
        }
        let serving = &self.shares[share.index()];
        if serving.slot == slot && !serving.is_clear() {
            self.call_for_connection(cx, share, now);
        }
    }

    /// The server of a growing lane's connection has said how many exchanges it takes at a time:
    /// seats for more would keep exchanges waiting where another connection could carry them.
    pub(super) fn fit_seats(&mut self, slot: Slot) {
        let connection = &self.connections[slot.0 as usize];
        let Wire::Http2(http2) = &connection.wire else {
            return;
        };
        let (share, allowed) = (connection.share, http2.allowed());
        let lane = self.lanes.get_mut(connection.lane);
        let seats = &mut self.shares[share.index()].seats;
        if seats.count == 0 {
            return;
        }
        let streams = lane.settings.streams;
        let count = allowed.map_or(streams, |allowed| allowed.clamp(1, streams));
        let fewer = seats.count.saturating_sub(count);
        let more = count.saturating_sub(seats.count);
        seats.count = count;
        let kept = more.min(seats.surplus);
        seats.surplus = seats.surplus - kept + fewer - lane.withdraw(share, fewer);
        let since = Nanos::ZERO;
        (kept..more).for_each(|_| lane.give(Seat { share, since }));
    }

    /// Takes a seat back that an exchange has left; `false` when it is withdrawn.
    #[inline]
    pub(crate) fn keeps_seat(&mut self, share: ShareId) -> bool {
        let seats = &mut self.shares[share.index()].seats;
        let is_kept = seats.surplus == 0;
        seats.surplus -= u32::from(!is_kept);
        is_kept
    }

    /// Lets a share's seat rest, whose last exchange could not be made.
    pub(crate) fn rest_seat(&mut self, share: ShareId, until: Nanos) {
        let slot = self.shares[share.index()].slot;
        self.last_rest = self.last_rest.max(until);
        let connection = self.connection(slot);
        connection.rest_until = connection.rest_until.max(until);
    }

    /// When a share's seat may be used again: now, unless its only connection rests.
    #[inline]
    pub(crate) fn usable_from(&self, share: ShareId, now: Nanos) -> Nanos {
        if self.last_rest <= now {
            now
        } else {
            self.rest_of(share).max(now)
        }
    }

    /// Until when a share's seat rests, where its only connection does.
    pub(crate) fn rest_of(&self, share: ShareId) -> Nanos {
        let share = &self.shares[share.index()];
        let connection = &self.connections[share.slot.0 as usize];
        if self.lanes.get(share.lane).settings.is_exclusive() {
            connection.rest_until
        } else {
            Nanos::ZERO
        }
    }
}
