//! The life of a pool's connections: each is opened for a share, carries exchanges, retires, fails
//! or leaves by the plan, and makes room for the next.
//!
//! They hold what the [`Slots`] (connections) and the [`Seats`] (lanes, shares) own together. They
//! know exchanges only as ids that wait for a share, and put none on a wire: that is the
//! transport's part, to which each call gives a [`Change`] to follow.
//!
//! ```text
//!   closed ─► opened (Attempt) ─► ready ─► retires, when it takes no more ─► closed, a spare
//!     ▲           │                 │
//!     └── rests ◄─┴──── failed ◄────┘
//! ```

use super::change::{Change, Lost};
use super::connection::{Connection, discard_input};
use super::context::Context;
use super::lane::{Lane, Seat};
use super::names::Names;
use super::opening::{Attempt, Way};
use super::seats::Seats;
use super::slots::Slots;
use crate::blame::Failure;
use crate::freed::Freed;
use crate::id::{LaneId, Shard, ShareId};
use crate::limits::{DOUBT_MAX, LOOK_UP, LOOK_UP_AGAIN, REDIALS_AT_START};
use crate::prepare::Lookup;
use crate::timers::{Timers, Wake};
use crate::wire::{Handler, Input, Patience, Port, WireProtocol};
use drumfire_measure::{Closing, Outcome};
use drumfire_net::{Io, Slot};
use drumfire_plan::KeepAlive;
use drumfire_units::Nanos;

/// A worker's connections of a pool.
#[derive(Debug)]
pub(super) struct Connections {
    pub(super) slots: Slots,
    pub(super) seats: Seats,
    /// Where the ages of connections come from.
    seed: u64,
    names: Names,
    /// How often servers refused our pings as too frequent (ENHANCE_YOUR_CALM): each halves their
    /// rate.
    pings_halved: u32,
}

/// Whether exchanges will be submitted that are not under way. Where none will, a connection that
/// ends has no successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Further {
    Expected,
    None,
}

impl Connections {
    /// No connections, along these lanes.
    pub(super) fn new(lanes: Vec<Lane>, shard: Shard, seed: u64) -> Self {
        Self {
            slots: Slots::default(),
            seats: Seats::new(lanes, shard),
            seed,
            names: Names::default(),
            pings_halved: 0,
        }
    }

    /// Adds one of the plan's shares to a lane.
    pub(super) fn add_planned_share(&mut self, lane: LaneId) -> ShareId {
        let number = self.seats.next_number(lane);
        let choice = number.wrapping_mul(self.seats.lane(lane).stride());
        let share = self.add_share(lane, number, choice);
        self.seats.lane_mut(lane).add_share(share);
        share
    }

    /// Adds a share that leads along a lane; `number` counts over all workers, and `choice` is the
    /// index of the lane's address that its connection tries first.
    fn add_share(&mut self, lane: LaneId, number: u32, choice: u32) -> ShareId {
        let share = self.seats.next_share();
        let slot = self.slots.add(Connection::new(lane, share, choice));
        self.seats.add(lane, number, slot)
    }

    /// The connection that serves a share.
    pub(super) fn of_share(&self, share: ShareId) -> &Connection {
        self.slots.at(self.seats.share(share).slot())
    }

    /// The connection in a slot and its lane.
    #[inline]
    pub(super) fn with_lane(&mut self, slot: Slot) -> (&mut Connection, &mut Lane) {
        let connection = self.slots.at_mut(slot);
        let lane = self.seats.lane_mut(connection.lane());
        (connection, lane)
    }

    /// How a connection's silence is borne.
    pub(super) fn patience(&self, slot: Slot) -> Patience {
        let lane = self.seats.lane(self.slots.at(slot).lane());
        lane.settings().patience(lane.ping(self.pings_halved))
    }

    /// A server has refused our pings as too frequent.
    pub(super) const fn halve_pings(&mut self) {
        self.pings_halved += 1;
    }

    /// Lists the free seats, in turn over the connections; of connections that carry one exchange,
    /// the open ones first.
    pub(super) fn list_seats(&mut self) {
        for id in self.seats.lanes().ids() {
            let shares = self.seats.lane(id).shares().to_vec();
            let settings = self.seats.lane(id).settings();
            let (streams, exclusive) =
                (settings.streams as usize, settings.protocol.is_exclusive());
            let listed = match exclusive {
                true => self.open_first(shares.clone()),
                false => shares
                    .iter()
                    .copied()
                    .cycle()
                    .take(shares.len() * streams)
                    .collect(),
            };
            let lane = self.seats.lane_mut(id);
            lane.clear_seats(shares.len() * streams + 1);
            let since = Freed::default();
            for share in listed {
                lane.give(Seat { share, since });
            }
        }
    }

    /// The shares whose seats are given out now, those with open connections first. The others
    /// withhold theirs: those that failed are dialed one after the other, but for the first.
    fn open_first(&mut self, shares: Vec<ShareId>) -> Vec<ShareId> {
        let (mut open, mut closed) = (Vec::new(), Vec::new());
        for share in shares {
            let connection = self.slots.at_mut(self.seats.share(share).slot());
            let has_failed = connection.failures > 0 && closed.len() >= REDIALS_AT_START;
            if connection.is_ready() {
                open.push(share);
            } else if connection.is_closed() && !has_failed {
                closed.push(share);
            } else {
                connection.withholds_seat = true;
            }
        }
        open.append(&mut closed);
        open
    }

    /// Gives out the seat of a connection that was opened in advance and not in time.
    fn give_withheld_seat(&mut self, slot: Slot, since: Nanos) {
        let (connection, lane) = self.with_lane(slot);
        if std::mem::take(&mut connection.withholds_seat) {
            let (share, since) = (connection.share(), Freed::at(since));
            lane.give(Seat { share, since });
        }
    }

    /// Until when a share's seat rests, where its only connection does.
    pub(super) fn rest_of(&self, share: ShareId) -> Nanos {
        let lane = self.seats.lane(self.seats.lane_of(share));
        if lane.settings().protocol.is_exclusive() {
            self.of_share(share).rest_until
        } else {
            Nanos::ZERO
        }
    }

    /// Lets a connection rest that has failed.
    fn rest(&mut self, slot: Slot, timers: &mut Timers, now: Nanos) {
        let lane = self.seats.lane_mut(self.slots.at(slot).lane());
        self.slots.rest(slot, lane, timers, now);
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
    fn open<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        act: impl FnOnce(Attempt<'_, '_, I, H>) -> Way,
    ) -> Change {
        let (connection, lane) = self.with_lane(slot);
        let way = act(Attempt {
            connection,
            lane,
            slot,
            cx,
        });
        let connection = self.slots.at(slot);
        let (share, since) = (connection.share(), connection.phase_start);
        if matches!(way, Way::Open | Way::Greets) {
            self.begin_life(slot, since);
        }
        self.slots.arm(slot, cx.timers);
        match way {
            Way::Pending => Change::None,
            Way::Open => {
                self.give_withheld_seat(slot, since);
                Change::Open { share, since }
            }
            Way::Greets => Change::Greets(slot),
            Way::Failed { failure, at } => self.opening_failed(cx, slot, failure, at),
        }
    }

    fn opening_failed<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        failure: Failure,
        at: Nanos,
    ) -> Change {
        let connection = self.slots.at_mut(slot);
        let share = connection.share();
        connection.close(cx, slot, Closing::Failed);
        self.rest(slot, cx.timers, at);
        if self.seats.share(share).slot() == slot {
            Change::Failed { share, failure, at }
        } else {
            Change::None
        }
    }

    /// A share's exchange has gone that was waiting. A connection that is being opened for it alone
    /// is given up: with this outcome.
    pub(super) fn give_up_opening<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
        now: Nanos,
    ) -> Option<Outcome> {
        let slot = self.seats.share(share).slot();
        let (connection, lane) = self.with_lane(slot);
        if !lane.settings().protocol.is_exclusive() || !connection.is_opening() {
            return None;
        }
        let outcome = connection.opening_timeout();
        connection.try_another(lane, now);
        connection.close(cx, slot, Closing::Failed);
        self.rest(slot, cx.timers, now);
        Some(outcome)
    }

    /// Dials for the exchanges that wait for a share's connection, unless it is open, on its way
    /// there, or rests.
    pub(super) fn dial_if_needed<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
        now: Nanos,
    ) -> Change {
        let share = self.seats.share(share);
        let connection = self.slots.at(share.slot());
        let rests = connection.rest_until > now;
        if share.is_clear() || rests || !connection.is_closed() {
            return Change::None;
        }
        self.dial(cx, share.slot(), now)
    }

    /// A slot has rested: dials again, where it still serves a share with need of it.
    pub(super) fn end_rest<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
    ) -> Change {
        let connection = self.slots.at(slot);
        let (share, rested) = (connection.share(), connection.rest_until);
        if connection.is_closed() {
            self.give_withheld_seat(slot, rested);
        }
        if self.seats.share(share).slot() == slot {
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
        let connection = self.slots.at_mut(slot);
        let wire = connection.wire().filter(|wire| wire.is_spent());
        let Some((unwilling, fruitless)) = wire.map(|it| (it.unwilling(), it.is_fruitless()))
        else {
            return Change::None;
        };
        if std::mem::replace(&mut connection.is_retiring, true) {
            return Change::None;
        }
        if !fruitless {
            connection.failures = 0;
        }
        let new = self.replace(slot);
        let share = self.slots.at(new).share();
        let Some(unwilling) = unwilling else {
            // An idle one has a successor when it is needed.
            let is_idle = self.slots.at(slot).leaving == Some(Closing::Idle);
            let is_needed = further == Further::Expected && !is_idle;
            return if !is_needed && self.seats.share(share).is_clear() {
                Change::None
            } else {
                self.dial(cx, new, now)
            };
        };
        self.rest(new, cx.timers, now);
        // Once may be a server on its way out. One that greets each connection so refuses us.
        if unwilling.took_none && self.slots.at(new).failures > 1 {
            Change::Failed {
                share,
                failure: unwilling.failure,
                at: now,
            }
        } else {
            Change::None
        }
    }

    /// Lets a connection carry no further exchange, by the plan.
    #[cold]
    pub(super) fn leave<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        departure: Departure,
    ) -> Change {
        let Departure { why, further, now } = departure;
        self.slots.at_mut(slot).leave(cx, slot, why);
        let change = self.retire_if_spent(cx, slot, further, now);
        self.close_if_done(cx, slot);
        change
    }

    /// Looks up again where a lane leads.
    #[cold]
    pub(super) fn look_up(&mut self, id: LaneId, lookup: &Lookup, timers: &mut Timers, now: Nanos) {
        if let Some(named) = &self.seats.lane(id).route().named {
            let origin = named.origin.clone();
            self.names.look_up(id, origin, lookup, timers, now);
        }
    }

    /// Takes the answers to look-ups of lanes that have come. Gives the slots whose connections lead
    /// elsewhere than their shares by now; where there was no answer, all stays.
    #[cold]
    pub(super) fn take_names(&mut self, timers: &mut Timers, now: Nanos) -> Vec<Slot> {
        let mut moved = Vec::new();
        while let Some((id, place)) = self.names.take_answer() {
            let is_known = place.is_some();
            let lane = self.seats.lane_mut(id);
            if place.is_some_and(|place| lane.lead_to(place)) {
                self.move_shares(id, &mut moved);
            }
            let again = self.seats.lane(id).looked_up_at(now);
            let soon = now + LOOK_UP_AGAIN;
            let again = again.map(|at| if is_known { at } else { at.min(soon) });
            if let Some(at) = again {
                timers.at(at, Wake::Names(id));
            }
        }
        if self.names.seek() {
            timers.at(now + LOOK_UP, Wake::LookUps);
        }
        moved
    }

    /// Finds the connections of a lane that lead elsewhere than their shares by now.
    fn move_shares(&mut self, id: LaneId, moved: &mut Vec<Slot>) {
        let lane = self.seats.lane(id);
        for share in lane.shares() {
            let share = self.seats.share(*share);
            let slot = share.slot();
            let choice = share.number().wrapping_mul(lane.stride());
            let assigned = lane.address_of(choice);
            let connection = self.slots.at_mut(slot);
            let stays = connection.address.is_none_or(|address| match assigned {
                Some(assigned) => address == assigned,
                None => lane.has_address(address),
            });
            connection.choice = choice;
            if !stays && !connection.is_opening() {
                moved.push(slot);
            }
        }
    }

    /// Puts a new slot in the place of one whose connection retires, for the same share.
    fn replace(&mut self, old: Slot) -> Slot {
        let retired = self.slots.at(old);
        let share = retired.share();
        let new = self.slots.put(retired.successor());
        self.seats.share_mut(share).move_to(new);
        new
    }

    /// Closes a connection that has given its place to another and has nothing more to carry. Only
    /// then does it end the protocol: some servers drop streams in flight when they receive a GOAWAY.
    #[cold]
    pub(super) fn close_if_done<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
    ) {
        let connection = self.slots.at_mut(slot);
        let is_retiring = connection.is_retiring;
        let leaving = connection.leaving;
        if let Some(wire) = connection.wire_mut()
            && is_retiring
            && wire.is_idle()
        {
            wire.drain(&mut Port { io: cx.io, slot });
            let why = match wire.is_refused() {
                true => Closing::GoAway,
                false => leaving.unwrap_or(Closing::Spent),
            };
            connection.close(cx, slot, why);
            self.slots.release(slot);
        }
    }

    /// Closes a connection that has failed. Backs off if it never produced a response.
    pub(super) fn lose<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        failure: &Failure,
        now: Nanos,
    ) -> Lost {
        let connection = self.slots.at_mut(slot);
        let is_retiring = connection.is_retiring;
        let Some(wire) = connection.lose(cx, slot, failure) else {
            return Lost::Opening(Change::None);
        };
        if !wire.is_ready() {
            let failure = failure.clone().while_opening();
            return Lost::Opening(self.opening_failed(cx, slot, failure, now));
        }
        if !wire.is_fruitless() {
            connection.failures = 0;
        }
        if is_retiring {
            self.slots.release(slot);
        } else if wire.is_fruitless() {
            self.rest(slot, cx.timers, now);
        }
        Lost::Carried(wire.outstanding())
    }

    /// Whether connections are kept, so that it helps to open them before the run.
    pub(super) fn are_kept(&self) -> bool {
        self.seats
            .lanes()
            .iter()
            .any(|(_, lane)| lane.settings().keep_alive != KeepAlive::No)
    }

    /// A connection is open: sets when it leaves by the plan.
    fn begin_life(&mut self, slot: Slot, now: Nanos) {
        let connection = self.slots.at_mut(slot);
        let lane = self.seats.lane(connection.lane());
        let life = lane.settings().life;
        if life.ends() && !lane.is_transient() {
            let share = self.seats.share_mut(connection.share());
            let age = life.age_of(self.seed, share.number(), share.begin_life());
            connection.alarm.set_leaving(now + age);
        }
    }

    /// A connection carries exchanges from now on: sets when its silence is looked at first.
    pub(super) fn watch(&mut self, slot: Slot, timers: &mut Timers, now: Nanos) {
        let patience = self.patience(slot);
        let connection = self.slots.at_mut(slot);
        if let Some(wire) = connection.wire_mut() {
            let first_look = wire.first_look(patience, now);
            connection.alarm.set_deadline(first_look);
            self.slots.arm(slot, timers);
        }
    }

    /// An exchange that was sent then was given up: where nothing has come since, the connection has
    /// to give a sign of life, or is replaced.
    pub(super) fn doubt(&mut self, slot: Slot, timers: &mut Timers, sent: Nanos, now: Nanos) {
        let refused = self.pings_halved > 0;
        let (connection, lane) = self.with_lane(slot);
        let ping = lane.ping(0);
        if refused || !connection.wire_mut().is_some_and(|it| it.doubt(sent, now)) {
            return;
        }
        let limit = ping.map_or(DOUBT_MAX, |ping| ping.timeout);
        connection.alarm.set_deadline(now + limit);
        self.slots.arm(slot, timers);
    }

    /// All times count from the run's start from now on.
    pub(super) fn begin_run(&mut self, timers: &mut Timers) {
        for id in self.seats.lanes().ids() {
            let lane = self.seats.lane_mut(id);
            lane.begin_run();
            if let Some(at) = lane.looked_up_at(Nanos::ZERO) {
                timers.at(at, Wake::Names(id));
            }
        }
        for slot in self.slots.all() {
            self.begin_run_of(slot, timers);
        }
    }

    fn begin_run_of(&mut self, slot: Slot, timers: &mut Timers) {
        let (connection, lane) = self.with_lane(slot);
        connection.rest_until = Nanos::ZERO;
        connection.phase_start = Nanos::ZERO;
        connection.alarm.forget_entry();
        if connection.withholds_seat && connection.is_closed() {
            connection.rest_until = lane.next_redial();
            timers.at(connection.rest_until, Wake::Dial(slot));
        }
        if connection.is_ready() {
            self.watch(slot, timers, Nanos::ZERO);
            self.begin_life(slot, Nanos::ZERO);
        } else if connection.alarm.has_deadline() {
            let limit = lane.settings().connect_limit;
            connection.alarm.set_deadline(limit);
        }
        self.slots.arm(slot, timers);
    }

    /// Ends all connections, each as its protocol has it.
    pub(super) fn close_all<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        input: &mut Input,
    ) {
        for slot in self.slots.all() {
            let connection = self.slots.at_mut(slot);
            if let Some(wire) = connection.wire_mut()
                && wire.has_farewell()
            {
                wire.drain(&mut Port { io: cx.io, slot });
                discard_input(cx.io, slot, input);
            }
            connection.close(cx, slot, Closing::Ended);
        }
    }

    /// Where a share's exchange goes elsewhere: the share that serves it there. A connection that
    /// carried the exchange alone is closed, for nothing else uses it meanwhile.
    pub(super) fn redirect_share<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        home: ShareId,
        lane: LaneId,
    ) -> ShareId {
        if lane == self.seats.lane_of(home) {
            return home;
        }
        let exclusive = self.seats.lane(lane).settings().protocol.is_exclusive();
        if exclusive {
            let slot = self.seats.share(home).slot();
            self.slots.at_mut(slot).close(cx, slot, Closing::Redirected);
        }
        let known = self.seats.share(home).redirect_shares().iter().copied();
        let fits = |share: &ShareId| exclusive || self.seats.lane_of(*share) == lane;
        if let Some(share) = known.into_iter().find(fits) {
            self.lead(cx, share, lane);
            return share;
        }
        let number = self.seats.share(home).number();
        let share = self.add_share(lane, number, home.0);
        self.seats.share_mut(home).add_redirect_share(share);
        share
    }

    /// Leads a share along a lane; a connection along another is closed.
    fn lead<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
        lane: LaneId,
    ) {
        let slot = self.seats.share(share).slot();
        let connection = self.slots.at_mut(slot);
        if connection.lane() != lane {
            connection.close(cx, slot, Closing::Redirected);
            connection.lead(lane);
        }
        self.seats.share_mut(share).lead(lane);
    }
}

/// The reason for which a connection leaves, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    pub(super) why: Closing,
    pub(super) further: Further,
    pub(super) now: Nanos,
}
