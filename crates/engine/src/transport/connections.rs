//! The life of a pool's connections: each is opened for a share, carries exchanges, retires, fails
//! or leaves by the plan, and makes room for the next.
//!
//! They lead each connection over the [`Bindings`] of its share. They know exchanges only as ids
//! that wait for a share, and put none on a wire: that is the transport's part, to which each call
//! gives a [`Change`] to follow.
//!
//! ```text
//!   closed ─► opened (Attempt) ─► ready ─► retires, when it takes no more ─► closed, a spare
//!     ▲           │                 │
//!     └── rests ◄─┴──── failed ◄────┘
//! ```
//!
//! `dial`, `go_on_opening` and `time_out_opening` move a connection on while it is opened. Once it
//! is ready, `watch` sets when its silence is looked at, and `doubt` after an exchange was given up
//! on it. It ends by `lose` where it has failed; by `leave` or `retire_if_spent`, then
//! `close_if_done`, where it takes no further exchange and may still carry some.

use super::bindings::Bindings;
use super::change::{Change, Lost};
use super::connection::{Attempt, Connection, Succession, Way};
use super::context::Context;
use super::lane::Lane;
use super::share::Share;
use crate::blame::Failure;
use crate::id::{Shard, ShareId};
use crate::timers::{Timers, Wake};
use crate::wire::{Handler, Input, Note, Patience, Port, WireProtocol};
use drumfire_measure::{Closing, Outcome, PAUSED};
use drumfire_net::{Io, Slot};
use drumfire_units::Nanos;

/// A worker's connections of a pool.
///
/// They hold no exchange and no list of work: a connection that has something to write is listed by
/// the transport.
#[derive(Debug)]
pub(super) struct Connections {
    bindings: Bindings,
    /// The seed of the ages of connections.
    seed: u64,
    /// The number of times that servers refused our pings as too frequent (ENHANCE_YOUR_CALM): each
    /// halves their rate.
    pings_halved: u32,
}

/// Whether exchanges will be submitted that are not under way. Where none will, a connection that
/// ends has no successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Further {
    /// Further ones will come.
    Expected,
    /// No exchange will be submitted any more: all that ever will be is under way.
    None,
}

impl Connections {
    /// A worker's connections along these lanes, all closed.
    pub(super) fn new(lanes: Vec<Lane>, shard: Shard, seed: u64) -> Self {
        Self {
            bindings: Bindings::new(lanes, shard),
            seed,
            pings_halved: 0,
        }
    }

    /// The slots and the shares that they serve.
    #[inline]
    pub(super) const fn bindings(&self) -> &Bindings {
        &self.bindings
    }

    /// The same, to change them.
    #[inline]
    pub(super) const fn bindings_mut(&mut self) -> &mut Bindings {
        &mut self.bindings
    }

    /// The connection in a slot.
    #[inline]
    pub(super) fn at(&self, slot: Slot) -> &Connection {
        self.bindings.at(slot)
    }

    /// The same, to change it.
    #[inline]
    pub(super) fn at_mut(&mut self, slot: Slot) -> &mut Connection {
        self.bindings.at_mut(slot)
    }

    /// The connection in a slot and its lane.
    #[inline(always)]
    pub(super) fn with_lane(&mut self, slot: Slot) -> (&mut Connection, &mut Lane) {
        self.bindings.with_lane(slot)
    }

    /// A share.
    #[inline]
    pub(super) fn share(&self, share: ShareId) -> &Share {
        self.bindings.share(share)
    }

    /// The same, to change it.
    #[inline]
    pub(super) fn share_mut(&mut self, share: ShareId) -> &mut Share {
        self.bindings.share_mut(share)
    }

    /// The patience with a connection's silence.
    pub(super) fn patience(&self, slot: Slot) -> Patience {
        let lane = self.bindings.seats().lane(self.bindings.at(slot).lane());
        lane.settings().patience(self.pings_halved)
    }

    /// Halves the rate of pings, which a server has refused as too frequent.
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

    /// Goes on to open a slot's connection, after the slot has become ready.
    pub(super) fn go_on_opening<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        input: &mut Input,
    ) -> Change {
        self.open(cx, slot, |attempt| attempt.go_on(input))
    }

    /// The time for opening a slot's connection is up.
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
    /// A step ends in one of the four ways of [`Way`], and each leaves the connection in a state
    /// from which one call goes on: its readiness or its deadline while it is pending, `watch` when
    /// it is open, `end_rest` after a failure.
    fn open<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        act: impl FnOnce(Attempt<'_, '_, I, H>) -> Way,
    ) -> Change {
        let (connection, lane) = self.bindings.with_lane(slot);
        let way = act(Attempt::new(connection, lane, slot, cx));
        let share = self.bindings.at(slot).share();
        if let Way::Open { since } | Way::Greets { since } = way {
            self.begin_life(slot, since);
        }
        self.bindings.arm(slot, cx.timers);
        match way {
            Way::Pending => Change::None,
            Way::Open { since } => {
                self.bindings.give_withheld_seat(slot, since);
                Change::Open { share, since }
            }
            Way::Greets { .. } => Change::Greets(slot),
            Way::Failed { failure, at } => self.opening_failed(cx, slot, failure, at),
        }
    }

    /// Closes a connection whose opening has failed, and lets its slot rest. The exchanges that
    /// wait fail only where the slot still serves the share: a retired connection's successor may
    /// be open.
    fn opening_failed<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        failure: Failure,
        at: Nanos,
    ) -> Change {
        let connection = self.bindings.at_mut(slot);
        let share = connection.share();
        connection.close(cx, slot, Closing::Failed);
        self.rest(cx, slot, &failure, at);
        if self.bindings.share(share).slot() == slot {
            Change::Failed { share, failure, at }
        } else {
            Change::None
        }
    }

    /// Lets a connection rest that has failed so, before it is dialed again.
    fn rest<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        failure: &Failure,
        now: Nanos,
    ) {
        self.bindings.rest(slot, cx.timers, failure, now);
        cx.handler.note(Note::Paused);
    }

    /// Gives up a connection that is being opened for one exchange alone, which waits for it no
    /// more.
    pub(super) fn give_up_opening<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
        now: Nanos,
    ) {
        let slot = self.bindings.share(share).slot();
        let (connection, lane) = self.bindings.with_lane(slot);
        if !lane.settings().is_exclusive() || !connection.is_opening() {
            return;
        }
        let failure = Failure::of(connection.link().opening_timeout());
        connection.redial_mut().try_another(lane, now);
        connection.close(cx, slot, Closing::Failed);
        self.rest(cx, slot, &failure, now);
    }

    /// The failure of an exchange whose time is up while it waits for a share's connection: it waits
    /// for room on one, for one that is being opened, or for the end of our own pause before the
    /// next dial.
    pub(super) fn lateness(&self, share: ShareId) -> Failure {
        let connection = self.bindings.of_share(share);
        if let Some(wire) = connection.wire().filter(|wire| wire.is_ready()) {
            return match wire.peer_capacity() {
                None => Failure::of(Outcome::TimeoutTotal),
                Some(streams) => Failure::with(
                    Outcome::TimeoutTotal,
                    format!("no stream was free; the server allows {streams} at a time"),
                ),
            };
        }
        let (outcome, state) = match connection.is_closed() {
            true => (Outcome::TimeoutConnect, PAUSED),
            false => (
                connection.link().opening_timeout(),
                "the connection before failed with ",
            ),
        };
        match connection.redial().last_failure() {
            None => Failure::of(outcome),
            Some(last) => {
                let (name, words) = (last.outcome.name(), last.words());
                Failure::with(outcome, format!("{state}{name}: {words}"))
            }
        }
    }

    /// Dials for the exchanges that wait for a share's connection, unless it is open, on its way
    /// there, or rests.
    pub(super) fn dial_if_needed<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
        now: Nanos,
    ) -> Change {
        let share = self.bindings.share(share);
        let connection = self.bindings.at(share.slot());
        let rests = connection.redial().rest_end() > now;
        if share.is_clear() || rests || !connection.is_closed() {
            return Change::None;
        }
        self.dial(cx, share.slot(), now)
    }

    /// Ends the rest of a slot: dials again, where it still serves a share with need of it.
    pub(super) fn end_rest<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
    ) -> Change {
        let connection = self.bindings.at(slot);
        let (share, rested) = (connection.share(), connection.redial().rest_end());
        if connection.is_closed() {
            self.bindings.give_withheld_seat(slot, rested);
        }
        if self.bindings.share(share).slot() == slot {
            self.dial_if_needed(cx, share, now)
        } else {
            Change::None
        }
    }

    /// Lets a connection that takes no further exchanges give its place to a new one; it is closed
    /// when its exchanges have ended. A server that has enough of us, or that goes before it has
    /// done anything, is not dialed again at once. The last connection of all has no successor.
    #[cold]
    pub(super) fn retire_if_spent<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        further: Further,
        now: Nanos,
    ) -> Change {
        let Some(succession) = self.bindings.at_mut(slot).retire() else {
            return Change::None;
        };
        let new = self.bindings.replace(slot);
        let share = self.bindings.at(new).share();
        let is_awaited = !self.bindings.share(share).is_clear();
        match succession {
            Succession::Needed if is_awaited || further == Further::Expected => {
                self.dial(cx, new, now)
            }
            Succession::WhereAwaited if is_awaited => self.dial(cx, new, now),
            Succession::Needed | Succession::WhereAwaited => Change::None,
            Succession::Later(unwilling) => {
                self.rest(cx, new, unwilling.failure(), now);
                // Once may be a server on its way out. One that greets each connection so refuses
                // us.
                let is_repeated = self.bindings.at(new).redial().failures() > 1;
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

    /// Lets a connection carry no further exchange, by the plan.
    #[cold]
    pub(super) fn leave<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        why: Closing,
        further: Further,
        now: Nanos,
    ) -> Change {
        self.bindings.at_mut(slot).leave(cx, slot, why);
        let change = self.retire_if_spent(cx, slot, further, now);
        self.close_if_done(cx, slot);
        change
    }

    /// Closes a connection that has given its place to another and has nothing more to carry.
    #[cold]
    pub(super) fn close_if_done<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
    ) {
        if self.bindings.at_mut(slot).close_if_done(cx, slot) {
            self.bindings.release(slot);
        }
    }

    /// Closes a connection that has failed. Backs off if it never produced a response.
    ///
    /// A connection whose protocol had not begun yet (of HTTP/2, before the server's settings)
    /// counts as one that failed to open. Of any other the exchanges that it carried are given
    /// back, and the transport fails each or sends it once more. Its slot is free at once where a
    /// successor serves the share, rests where it has given no response, and may dial again at once
    /// otherwise.
    pub(super) fn lose<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        failure: &Failure,
        now: Nanos,
    ) -> Lost {
        let connection = self.bindings.at_mut(slot);
        let is_retiring = connection.is_retiring();
        let Some(wire) = connection.lose(cx, slot, failure) else {
            return Lost::Opening(Change::None);
        };
        if !wire.is_ready() {
            let failure = failure.clone().while_opening();
            return Lost::Opening(self.opening_failed(cx, slot, failure, now));
        }
        if !wire.is_fruitless() {
            connection.redial_mut().succeed();
        }
        if is_retiring {
            self.bindings.release(slot);
        } else if wire.is_fruitless() {
            self.rest(cx, slot, failure, now);
        }
        Lost::Carried(wire.outstanding())
    }

    /// Sets the time at which a connection that is open leaves by the plan. It is drawn from the
    /// seed and the numbers of its share and of its life, so that connections opened together do
    /// not all leave together.
    fn begin_life(&mut self, slot: Slot, now: Nanos) {
        let (connection, lane) = self.bindings.with_lane(slot);
        let (share, life) = (connection.share(), lane.settings().life());
        if life.ends() && !lane.is_transient() {
            let share = self.bindings.share_mut(share);
            let age = life.age_of(self.seed, share.number(), share.begin_life());
            let connection = self.bindings.at_mut(slot);
            connection.alarm_mut().set_leaving(now + age);
        }
    }

    /// Sets when the silence of a connection that carries exchanges from now on is looked at first.
    pub(super) fn watch(&mut self, slot: Slot, timers: &mut Timers, now: Nanos) {
        let patience = self.patience(slot);
        let connection = self.bindings.at_mut(slot);
        if let Some(wire) = connection.wire_mut() {
            let first_look = wire.first_look(patience, now);
            connection.alarm_mut().set_deadline(first_look);
            self.bindings.arm(slot, timers);
        }
    }

    /// Doubts a connection on which an exchange was given up that was sent at `sent`. Where nothing
    /// has come since, the connection has to give a sign of life, or is replaced.
    pub(super) fn doubt(&mut self, slot: Slot, timers: &mut Timers, sent: Nanos, now: Nanos) {
        let refused = self.pings_halved > 0;
        let (connection, lane) = self.bindings.with_lane(slot);
        let limit = lane.settings().doubt_limit();
        if refused || !connection.wire_mut().is_some_and(|it| it.doubt(sent, now)) {
            return;
        }
        connection.alarm_mut().set_deadline(now + limit);
        self.bindings.arm(slot, timers);
    }

    /// Begins the run: all times count from its start.
    pub(super) fn begin_run(&mut self, timers: &mut Timers) {
        for id in self.bindings.seats().lanes().ids() {
            let lane = self.bindings.seats_mut().lane_mut(id);
            lane.begin_run();
            if let Some(at) = lane.looked_up_at(Nanos::ZERO) {
                timers.at(at, Wake::Names(id));
            }
        }
        for slot in self.bindings.slots().all() {
            self.begin_run_of(slot, timers);
        }
    }

    /// Begins the run for one slot: its rest is over or goes on from 0, its silence and its age
    /// count from 0, and an opening under way has its whole time again.
    fn begin_run_of(&mut self, slot: Slot, timers: &mut Timers) {
        let (connection, lane) = self.bindings.with_lane(slot);
        connection.begin_run(lane, slot, timers);
        if connection.is_ready() {
            self.watch(slot, timers, Nanos::ZERO);
            self.begin_life(slot, Nanos::ZERO);
        }
        self.bindings.arm(slot, timers);
    }

    /// Ends the warm-up: what a connection has carried so far is not measured.
    pub(super) fn begin_measuring(&mut self) {
        for slot in self.bindings.slots().all() {
            self.bindings.at_mut(slot).begin_measuring();
        }
    }

    /// Ends all connections, each as its protocol has it.
    ///
    /// It says farewell where its protocol has one, and takes the input that has come meanwhile off
    /// the socket: the system resets a connection that is closed with unread bytes, and the peer
    /// might lose the farewell by that.
    pub(super) fn close_all<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        input: &mut Input,
    ) {
        for slot in self.bindings.slots().all() {
            let connection = self.bindings.at_mut(slot);
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
