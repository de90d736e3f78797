//! The connections of a pool: the slots that hold them, the shares that they serve, their lanes,
//! and the life of each connection from its dial to its close.
//!
//! A share outlives its connections: one slot at a time serves it. `Connections` change everything
//! that involves a slot, a share and its lane together; [`Slots`], [`Shares`] and [`Lanes`] refer
//! to each other only by ids. Exchanges appear here only as ids that wait for a share. The
//! transport puts them on wires, so a call that affects waiting exchanges returns a [`Change`],
//! which the transport applies.
//!
//! ```text
//!   closed ─► opened (Attempt) ─► ready ─► retires, when it takes no more ─► closed, a spare
//!     ▲           │                 │
//!     └── rests ◄─┴──── failed ◄────┘
//! ```
//!
//! `dial`, `go_on_opening` and `time_out_opening` advance a connection that is being opened. When
//! it is ready, `watch` sets the first time at which its silence is checked; `doubt` is called
//! after an exchange on it was given up. A failed connection ends with `lose`. A connection that
//! takes no further exchanges, and may still carry some, ends with `leave` or `retire_if_spent`,
//! then `close_if_done`.

mod shares;

use super::change::{Change, Lost};
use super::connection::{Attempt, Connection, LinkState, SuccessorNeed, Way};
use super::context::Context;
use super::lane::{Lane, Lanes};
use super::share::Shares;
use super::slots::Slots;
use crate::blame::Failure;
use crate::id::{Shard, ShareId};
use crate::timers::{Timers, Wake};
use crate::wire::{ConnectionNote, Handler, Input, Patience, Port, WireProtocol};
use drumfire_measure::{Cause, Closing, Detail, Outcome};
use drumfire_net::{Io, Slot};
use drumfire_units::Nanos;

/// A worker's connections of a pool, and the seats on them.
#[derive(Debug)]
pub(crate) struct Connections {
    pub(super) slots: Slots,
    pub(super) shares: Shares,
    pub(crate) lanes: Lanes,
    shard: Shard,
    /// The seed for the ages of connections.
    seed: u64,
    /// The number of times that servers refused our pings as too frequent (ENHANCE_YOUR_CALM). Each
    /// refusal halves the rate of pings.
    pings_halved: u32,
}

/// Whether exchanges will be submitted that are not running yet. If not, a connection that ends has
/// no successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Further {
    /// Further exchanges will be submitted.
    Expected,
    /// All exchanges have been submitted.
    None,
}

impl Connections {
    /// A worker's connections along these lanes, without shares.
    pub(super) fn new(lanes: Vec<Lane>, shard: Shard, seed: u64) -> Self {
        Self {
            slots: Slots::default(),
            shares: Shares::default(),
            lanes: Lanes::new(lanes),
            shard,
            seed,
            pings_halved: 0,
        }
    }

    /// The connection in a slot and its lane.
    #[inline(always)]
    pub(super) fn with_lane(&mut self, slot: Slot) -> (&mut Connection, &mut Lane) {
        let connection = &mut self.slots[slot];
        let lane = &mut self.lanes[connection.lane];
        (connection, lane)
    }

    /// The connection that serves a share now.
    fn of_share(&self, share: ShareId) -> &Connection {
        &self.slots[self.shares[share].slot]
    }

    /// The state of the connection that serves a share now.
    pub(crate) fn link_state(&self, share: ShareId) -> LinkState {
        self.of_share(share).link.state()
    }

    /// How long to wait before a connection's silence is checked, and for how long.
    pub(super) fn patience(&self, slot: Slot) -> Patience {
        let lane = &self.lanes[self.slots[slot].lane];
        lane.settings.patience(self.pings_halved)
    }

    /// Halves the rate of pings, because a server refused them as too frequent.
    pub(super) const fn halve_pings(&mut self) {
        self.pings_halved += 1;
    }

    /// Starts to open a slot's connection.
    pub(super) fn dial<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
    ) -> Change {
        self.open(cx, slot, |attempt| attempt.dial(now))
    }

    /// Continues to open a slot's connection, after the slot has become ready.
    pub(super) fn go_on_opening<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        input: &mut Input,
    ) -> Change {
        self.open(cx, slot, |attempt| attempt.go_on(input))
    }

    /// Ends the current step of opening a slot's connection, whose time is up.
    pub(super) fn time_out_opening<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
    ) -> Change {
        self.open(cx, slot, |attempt| attempt.time_out(now))
    }

    /// Takes a step of opening a slot's connection. A slot whose attempt has failed rests before it
    /// dials again.
    ///
    /// A step ends in one of the four ways of [`Way`]. Each leaves the connection in a state from
    /// which one call continues: the handler of its readiness or its deadline while it is pending,
    /// `watch` when it is open, `end_rest` after a failure.
    fn open<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        act: impl FnOnce(Attempt<'_, '_, I, H>) -> Way,
    ) -> Change {
        let (connection, lane) = self.with_lane(slot);
        let way = act(Attempt::new(connection, lane, slot, cx));
        let share = self.slots[slot].share;
        if let Way::Open { since } | Way::Greets { since } = way {
            self.begin_life(slot, since);
        }
        self.slots.arm(slot, cx.timers);
        match way {
            Way::Pending => Change::None,
            Way::Open { since } => {
                self.give_withheld_seat(slot, since);
                Change::Open { share, since }
            }
            Way::Greets { .. } => Change::Greets(slot),
            Way::Failed { failure, at } => self.opening_failed(cx, slot, failure, at),
        }
    }

    /// Closes a connection whose opening has failed, and lets its slot rest. Waiting exchanges fail
    /// only if the slot still serves the share, because the successor of a retired connection may
    /// be open.
    fn opening_failed<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        failure: Failure,
        at: Nanos,
    ) -> Change {
        let (connection, lane) = self.with_lane(slot);
        let failure = failure.of_peer(&lane.route.peer_in_words(connection.address()));
        let share = connection.share;
        connection.close(cx, slot, Closing::Failed);
        self.rest(cx, slot, &failure, at);
        if self.shares[share].slot == slot {
            Change::Failed { share, failure, at }
        } else {
            Change::None
        }
    }

    /// Rests a connection that has failed before it is dialed again.
    fn rest<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        failure: &Failure,
        now: Nanos,
    ) {
        let lane = &mut self.lanes[self.slots[slot].lane];
        self.slots.rest(slot, lane, cx.timers, failure, now);
        cx.handler.note(ConnectionNote::Paused);
    }

    /// Gives up a connection that is being opened for a single exchange, which no longer waits for
    /// it.
    pub(super) fn give_up_opening<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
        now: Nanos,
    ) {
        let slot = self.shares[share].slot;
        let (connection, lane) = self.with_lane(slot);
        if !lane.settings.protocol.is_exclusive() || !connection.is_opening() {
            return;
        }
        let failure = Failure::from_outcome(connection.link.opening_timeout());
        connection.redial.try_another(lane, now);
        connection.close(cx, slot, Closing::Failed);
        self.rest(cx, slot, &failure, now);
    }

    /// The failure of an exchange whose time is up while it waits for a share's connection: for room
    /// on an open one, for one that is being opened, or for the end of our own pause before the next
    /// dial.
    pub(super) fn lateness(&self, share: ShareId) -> Failure {
        let connection = self.of_share(share);
        if let Some(wire) = connection.wire().filter(|wire| wire.is_ready()) {
            return match wire.peer_capacity() {
                None => Failure::from_outcome(Outcome::TimeoutTotal),
                Some(streams) => Failure::with(
                    Outcome::TimeoutTotal,
                    format!("no stream was free; the server allows {streams} at a time"),
                ),
            };
        }
        let (outcome, state, cause) = match connection.is_closed() {
            true => (
                Outcome::TimeoutConnect,
                "redialing was paused after ",
                Some(Cause::Paused),
            ),
            false => (
                connection.link.opening_timeout(),
                "the connection before failed with ",
                None,
            ),
        };
        match connection.redial.last_failure() {
            None if connection.is_closed() => Failure::from_outcome(outcome),
            None => {
                let route = &self.lanes[connection.lane].route;
                Failure::from_outcome(outcome).of_peer(&route.peer_in_words(connection.address()))
            }
            Some(last) => {
                let (name, words) = (last.outcome.name(), last.words());
                let cause = last.inherited_cause().or(cause);
                Failure::with(
                    outcome,
                    Detail::new(format!("{state}{name}: {words}"), cause),
                )
            }
        }
    }

    /// Dials for the exchanges that wait for a share's connection, unless it is open, being opened,
    /// or resting.
    pub(super) fn dial_if_needed<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
        now: Nanos,
    ) -> Change {
        let share = &self.shares[share];
        let connection = &self.slots[share.slot];
        let rests = connection.redial.rest_end() > now;
        if share.is_clear() || rests || !connection.is_closed() {
            return Change::None;
        }
        self.dial(cx, share.slot, now)
    }

    /// Ends the rest of a slot: dials again if the slot still serves a share that needs it.
    pub(super) fn end_rest<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
    ) -> Change {
        let connection = &self.slots[slot];
        let (share, rested) = (connection.share, connection.redial.rest_end());
        if connection.is_closed() {
            self.give_withheld_seat(slot, rested);
        }
        if self.shares[share].slot == slot {
            self.dial_if_needed(cx, share, now)
        } else {
            Change::None
        }
    }

    /// Replaces a connection that takes no further exchanges by a new one. The old one is closed
    /// when its exchanges have ended. A server that refuses us, or that leaves before it has
    /// answered anything, is not dialed again at once. The last connection of all has no successor.
    #[cold]
    pub(super) fn retire_if_spent<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        further: Further,
        now: Nanos,
    ) -> Change {
        let Some(succession) = self.slots[slot].retire() else {
            return Change::None;
        };
        let new = self.replace(slot);
        let share = self.slots[new].share;
        let is_awaited = !self.shares[share].is_clear();
        match succession {
            SuccessorNeed::Needed if is_awaited || further == Further::Expected => {
                self.dial(cx, new, now)
            }
            SuccessorNeed::WhereAwaited if is_awaited => self.dial(cx, new, now),
            SuccessorNeed::Needed | SuccessorNeed::WhereAwaited => Change::None,
            SuccessorNeed::Later(unwilling) => {
                self.rest(cx, new, &unwilling.failure, now);
                // A single refusal may come from a server that is shutting down. A server that
                // repeatedly greets with one refuses us.
                let is_repeated = self.slots[new].redial.failures() > 1;
                match unwilling.refused_all().filter(|_| is_repeated) {
                    None => Change::None,
                    Some(failure) => Change::Failed {
                        share,
                        failure,
                        at: now,
                    },
                }
            }
        }
    }

    /// Replaces a slot whose connection retires by a new slot for the same share.
    fn replace(&mut self, old: Slot) -> Slot {
        let retired = &self.slots[old];
        let share = retired.share;
        let new = self.slots.insert(retired.successor());
        self.shares[share].slot = new;
        new
    }

    /// Stops a connection from carrying further exchanges, as the plan requires.
    #[cold]
    pub(super) fn leave<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        why: Closing,
        further: Further,
        now: Nanos,
    ) -> Change {
        self.slots[slot].leave(cx, slot, why);
        let change = self.retire_if_spent(cx, slot, further, now);
        self.close_if_done(cx, slot);
        change
    }

    /// Closes a connection that has been replaced and carries no exchanges.
    #[cold]
    pub(super) fn close_if_done<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
    ) {
        if self.slots[slot].close_if_done(cx, slot) {
            self.slots.release(slot);
        }
    }

    /// Closes a connection that has failed, and backs off if it never produced a response.
    ///
    /// A connection whose protocol had not begun (HTTP/2 before the server's settings) counts as
    /// one that failed to open. Otherwise the exchanges that it carried are returned, and the
    /// transport fails each or sends it again. The slot is free at once if a successor serves the
    /// share, rests if the connection has given no response, and may otherwise dial again at once.
    pub(super) fn lose<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        failure: &Failure,
        now: Nanos,
    ) -> Lost {
        let connection = &mut self.slots[slot];
        let is_retiring = connection.is_retiring;
        let Some(wire) = connection.lose(cx, slot, failure) else {
            return Lost::Opening(Change::None);
        };
        if !wire.is_ready() {
            let failure = failure.clone().while_opening();
            return Lost::Opening(self.opening_failed(cx, slot, failure, now));
        }
        if !wire.is_fruitless() {
            connection.redial.succeed();
        }
        if is_retiring {
            self.slots.release(slot);
        } else if wire.is_fruitless() {
            self.rest(cx, slot, failure, now);
        }
        Lost::Carried(wire.outstanding())
    }

    /// Sets the time at which the plan closes an open connection. The time is drawn from the seed,
    /// the share's number and the number of its connections, so that connections opened together do
    /// not all end together.
    fn begin_life(&mut self, slot: Slot, now: Nanos) {
        let (connection, lane) = self.with_lane(slot);
        let (share, life) = (connection.share, lane.settings.life);
        if life.ends() && !lane.is_transient {
            let share = &mut self.shares[share];
            let age = life.age_of(self.seed, share.number, share.begin_life());
            self.slots[slot].alarm.set_leaving(now + age);
        }
    }

    /// Sets the first time at which to check the silence of a connection that can carry exchanges
    /// from now on.
    pub(super) fn watch(&mut self, slot: Slot, timers: &mut Timers, now: Nanos) {
        let patience = self.patience(slot);
        let connection = &mut self.slots[slot];
        if let Some(wire) = connection.wire_mut() {
            let first_look = wire.first_look(patience, now);
            connection.alarm.set_deadline(first_look);
            self.slots.arm(slot, timers);
        }
    }

    /// Checks a connection on which an exchange sent at `sent` was given up. If nothing has arrived
    /// since, the connection must show activity, or is replaced.
    pub(super) fn doubt(&mut self, slot: Slot, timers: &mut Timers, sent: Nanos, now: Nanos) {
        let refused = self.pings_halved > 0;
        let (connection, lane) = self.with_lane(slot);
        let limit = lane.settings.doubt_limit();
        if refused || !connection.wire_mut().is_some_and(|it| it.doubt(sent, now)) {
            return;
        }
        connection.alarm.set_deadline(now + limit);
        self.slots.arm(slot, timers);
    }

    /// Begins the run: all times count from its start.
    pub(crate) fn begin_run(&mut self, timers: &mut Timers) {
        for (id, lane) in self.lanes.iter_mut() {
            lane.begin_run();
            if let Some(at) = lane.looked_up_at(Nanos::ZERO) {
                timers.insert(at, Wake::Names(id));
            }
        }
        for slot in self.slots.all() {
            self.begin_run_of(slot, timers);
        }
    }

    /// Begins the run for one slot: its rest is over or counts from 0, its silence and its age count
    /// from 0, and an opening in progress gets its whole time again.
    fn begin_run_of(&mut self, slot: Slot, timers: &mut Timers) {
        let (connection, lane) = self.with_lane(slot);
        connection.begin_run(lane, slot, timers);
        if connection.is_ready() {
            self.watch(slot, timers, Nanos::ZERO);
            self.begin_life(slot, Nanos::ZERO);
        }
        self.slots.arm(slot, timers);
    }

    /// Ends the warm-up: the requests that a connection has carried so far are not measured.
    pub(crate) fn begin_measuring(&mut self) {
        for slot in self.slots.all() {
            self.slots[slot].begin_measuring();
        }
    }

    /// Ends all connections, each as its protocol requires.
    ///
    /// A connection sends its protocol's final message, if there is one, and reads the input that
    /// has arrived: the system resets a connection that is closed with unread bytes, and the peer
    /// might lose the final message.
    pub(super) fn close_all<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        input: &mut Input,
    ) {
        for slot in self.slots.all() {
            let connection = &mut self.slots[slot];
            if let Some(wire) = connection.wire_mut()
                && wire.has_farewell()
            {
                let mut port = Port::new(cx.io, slot);
                wire.drain(&mut port);
                input.discard_all(&mut port);
            }
            let why = match connection.is_opening() {
                true => Closing::Unready,
                false => Closing::Ended,
            };
            connection.close(cx, slot, why);
        }
    }
}
