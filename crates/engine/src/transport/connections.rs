//! A worker's connections of a pool: the slots they are in, the shares that they serve, and the
//! lanes along which they lead.
//!
//! They hand out seats, open connections, let slots rest that failed, bound how long each may take,
//! and put one connection in the place of another. They know exchanges only as ids that wait for a
//! share, and put none on a wire: that is the transport's part, which each call gives a [`Change`]
//! to follow.
//!
//! ```text
//!   Empty ─► opened (Attempt) ─► carries ─► retires, when it takes no more ─► closed, a spare
//!     ▲           │                 │
//!     └── rests ◄─┴──── failed ◄────┘
//! ```

use super::change::{Change, Lost};
use super::connection::{Connection, discard_input};
use super::names::Names;
use super::opening::{Attempt, Way};
use super::share::{Seats, Share};
use super::{Context, Lane, Lanes, Seat};
use crate::blame::Failure;
use crate::freed::Freed;
use crate::id::{LaneId, Shard, ShareId};
use crate::limits::{BACKOFF_MIN, DOUBT_MAX, LOOK_UP, LOOK_UP_AGAIN, REDIALS_AT_START, SCAN_MIN};
use crate::prepare::Lookup;
use crate::timers::{Timers, Wake};
use crate::wire::{Handler, Input, Port, Wire};
use drumfire_measure::{Closing, Outcome};
use drumfire_net::{Io, Slot};
use drumfire_plan::KeepAlive;
use drumfire_units::Nanos;

/// A worker's connections of a pool.
#[derive(Debug)]
pub(crate) struct Connections {
    shard: Shard,
    /// Where the ages of connections come from.
    seed: u64,
    slots: Vec<Connection>,
    shares: Vec<Share>,
    pub(crate) lanes: Lanes,
    /// Slots that no share uses.
    spares: Vec<Slot>,
    /// Whether nothing more will be submitted that is not under way: a connection that ends has no
    /// successor.
    pub(crate) is_last: bool,
    /// No connection's deadline lies before this.
    next_scan: Nanos,
    /// No connection rests after this.
    last_rest: Nanos,
    names: Names,
    /// How often servers refused our pings as too frequent (ENHANCE_YOUR_CALM): each halves their
    /// rate.
    pub(super) pings_halved: u32,
}

impl Connections {
    /// No connections, along these lanes.
    pub(crate) fn new(lanes: Lanes, shard: Shard, seed: u64) -> Self {
        Self {
            shard,
            seed,
            slots: Vec::new(),
            shares: Vec::new(),
            lanes,
            spares: Vec::new(),
            is_last: false,
            next_scan: Nanos::MAX,
            last_rest: Nanos::ZERO,
            names: Names::default(),
            pings_halved: 0,
        }
    }

    /// Adds one of the plan's shares to a lane.
    pub(crate) fn add_planned_share(&mut self, lane: LaneId) -> ShareId {
        let ahead = self.lanes.get(lane);
        let number = self.shard.number(ahead.shares().len() as u32);
        let choice = number.wrapping_mul(ahead.stride());
        let share = self.add_share(lane, number, choice);
        self.lanes.get_mut(lane).add_share(share);
        share
    }

    /// Adds a share that leads along a lane; `number` counts over all workers, and `choice` is the
    /// index of the lane's address that its connection tries first.
    fn add_share(&mut self, lane: LaneId, number: u32, choice: u32) -> ShareId {
        let share = ShareId(self.shares.len() as u32);
        let slot = Slot(self.slots.len() as u32);
        self.slots.push(Connection::new(lane, share, choice));
        self.shares.push(Share::new(lane, slot, number));
        share
    }

    /// How many shares there are.
    pub(crate) fn share_count(&self) -> usize {
        self.shares.len()
    }

    /// All slots of now.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> + use<> {
        (0..self.slots.len() as u32).map(Slot)
    }

    /// The connection in a slot.
    #[inline]
    pub(super) fn at(&self, slot: Slot) -> &Connection {
        &self.slots[slot.0 as usize]
    }

    /// The same, to change it.
    #[inline]
    pub(super) fn at_mut(&mut self, slot: Slot) -> &mut Connection {
        &mut self.slots[slot.0 as usize]
    }

    /// The connection in a slot and its lane.
    #[inline]
    pub(super) fn with_lane(&mut self, slot: Slot) -> (&mut Connection, &mut Lane) {
        let connection = &mut self.slots[slot.0 as usize];
        let lane = self.lanes.get_mut(connection.lane);
        (connection, lane)
    }

    /// A share.
    #[inline]
    pub(super) fn share(&self, share: ShareId) -> &Share {
        &self.shares[share.index()]
    }

    /// The same, to change it.
    #[inline]
    pub(super) fn share_mut(&mut self, share: ShareId) -> &mut Share {
        &mut self.shares[share.index()]
    }

    /// The lane that a share is on.
    #[inline]
    pub(crate) fn lane_of(&self, share: ShareId) -> LaneId {
        self.shares[share.index()].lane
    }

    /// Takes a seat of a lane, and adds a share for it where that is needed and may be.
    #[inline]
    pub(crate) fn take_seat(&mut self, lane: LaneId) -> Option<Seat> {
        let seat = self.lanes.get_mut(lane).take();
        if seat.is_none() && self.lanes.get(lane).can_grow() {
            return Some(self.grow(lane));
        }
        seat
    }

    #[cold]
    fn grow(&mut self, lane: LaneId) -> Seat {
        let share = self.add_planned_share(lane);
        let lane = self.lanes.get_mut(lane);
        let (streams, since) = (lane.settings.streams, Freed::default());
        for _ in 1..streams {
            lane.give(Seat { share, since });
        }
        self.shares[share.index()].seats = Seats::of(streams);
        Seat { share, since }
    }

    /// Gives a free seat back.
    #[inline]
    pub(crate) fn give_seat(&mut self, seat: Seat) {
        let lane = self.lane_of(seat.share);
        self.lanes.get_mut(lane).give(seat);
    }

    /// Whether every seat of a lane has an exchange and there will be no others.
    #[inline]
    pub(crate) fn is_full(&self, lane: LaneId) -> bool {
        self.lanes.get(lane).is_full()
    }

    /// Takes a seat back that an exchange has left; `false` when it is withdrawn.
    #[inline]
    pub(crate) fn keeps_seat(&mut self, share: ShareId) -> bool {
        self.shares[share.index()].seats.keeps_one()
    }

    /// The server of a growing lane's connection has said how many exchanges it takes at a time:
    /// seats for more would keep exchanges waiting where another connection could carry them.
    pub(super) fn fit_seats(&mut self, slot: Slot) {
        let connection = &self.slots[slot.0 as usize];
        let Wire::Http2(http2) = &connection.wire else {
            return;
        };
        let (share, allowed) = (connection.share, http2.allowed());
        let lane = self.lanes.get_mut(connection.lane);
        self.shares[share.index()].seats.fit(share, allowed, lane);
    }

    /// Gives out the seat of a connection that was opened in advance and not in time.
    pub(super) fn give_withheld_seat(&mut self, slot: Slot, since: Nanos) {
        let (connection, lane) = self.with_lane(slot);
        if std::mem::take(&mut connection.withholds_seat) {
            let (share, since) = (connection.share, Freed::at(since));
            lane.give(Seat { share, since });
        }
    }

    /// Lists the free seats, in turn over the connections; of connections that carry one exchange,
    /// the open ones first.
    pub(crate) fn list_seats(&mut self) {
        for id in self.lanes.ids() {
            let shares = self.lanes.get(id).shares().to_vec();
            let lane = self.lanes.get_mut(id);
            let streams = lane.settings.streams as usize;
            lane.clear_seats(shares.len() * streams + 1);
            let since = Freed::default();
            if !lane.settings.is_exclusive() {
                for _ in 0..streams {
                    for share in &shares {
                        let share = *share;
                        lane.give(Seat { share, since });
                    }
                }
                continue;
            }
            let (mut open, mut empty) = (Vec::new(), Vec::new());
            for share in shares {
                let slot = self.shares[share.index()].slot;
                let connection = &mut self.slots[slot.0 as usize];
                match connection.wire {
                    Wire::Http1(_) => open.push(share),
                    // Those that failed are dialed one after the other, but for the first.
                    Wire::Empty if connection.failures > 0 && empty.len() >= REDIALS_AT_START => {
                        connection.withholds_seat = true;
                    }
                    Wire::Empty => empty.push(share),
                    _ => connection.withholds_seat = true,
                }
            }
            for share in open.into_iter().chain(empty) {
                lane.give(Seat { share, since });
            }
        }
    }

    /// Lets a share's seat rest, whose last exchange could not be made.
    pub(crate) fn rest_seat(&mut self, share: ShareId, until: Nanos) {
        let slot = self.shares[share.index()].slot;
        self.last_rest = self.last_rest.max(until);
        let connection = self.at_mut(slot);
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
        if self.lanes.get(share.lane).settings.is_exclusive() {
            self.at(share.slot).rest_until
        } else {
            Nanos::ZERO
        }
    }

    /// Lets a slot rest that failed once more; each pause is twice the last.
    pub(super) fn rest(&mut self, timers: &mut Timers, slot: Slot, now: Nanos) {
        let (connection, lane) = self.with_lane(slot);
        let backoff_max = lane.settings.backoff_max;
        connection.failures = connection.failures.saturating_add(1);
        let doubled = BACKOFF_MIN.0 << (connection.failures - 1).min(20);
        let own = now + Nanos(doubled).min(backoff_max);
        connection.rest_until = own.max(lane.pace_redial(now));
        let until = connection.rest_until;
        self.last_rest = self.last_rest.max(until);
        timers.at(until, Wake::Dial(slot));
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
        let connection = self.at(slot);
        let (share, since) = (connection.share, connection.phase_start);
        self.set_deadline(slot, connection.deadline);
        if matches!(way, Way::Open | Way::Greets) {
            self.begin_life(slot, since);
        }
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
        let connection = self.at_mut(slot);
        let share = connection.share;
        connection.close(cx, slot, Closing::Failed);
        self.rest(cx.timers, slot, at);
        if self.share(share).slot == slot {
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
        let slot = self.share(share).slot;
        let (connection, lane) = self.with_lane(slot);
        if !lane.settings.is_exclusive() || !connection.is_opening() {
            return None;
        }
        let outcome = connection.opening_timeout();
        connection.try_another(lane, now);
        connection.close(cx, slot, Closing::Failed);
        self.rest(cx.timers, slot, now);
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
        let share = self.share(share);
        let connection = self.at(share.slot);
        let rests = connection.rest_until > now;
        if share.is_clear() || rests || !matches!(connection.wire, Wire::Empty) {
            return Change::None;
        }
        self.dial(cx, share.slot, now)
    }

    /// A slot has rested: dials again, where it still serves a share with need of it.
    pub(super) fn wake<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
        now: Nanos,
    ) -> Change {
        let connection = self.at(slot);
        let (share, rested) = (connection.share, connection.rest_until);
        if matches!(connection.wire, Wire::Empty) {
            self.give_withheld_seat(slot, rested);
        }
        if self.share(share).slot == slot {
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
        now: Nanos,
    ) -> Change {
        let Wire::Http2(http2) = &mut self.at_mut(slot).wire else {
            return Change::None;
        };
        if !http2.is_spent() || std::mem::replace(&mut http2.retiring, true) {
            return Change::None;
        }
        let unwilling = http2.unwilling();
        let new = self.replace(slot);
        let share = self.at(new).share;
        let Some((failure, took_none)) = unwilling else {
            // An idle one has a successor when it is needed.
            let is_needed = !self.is_last && self.at(slot).leaving != Some(Closing::Idle);
            return if !is_needed && self.share(share).is_clear() {
                Change::None
            } else {
                self.dial(cx, new, now)
            };
        };
        self.rest(cx.timers, new, now);
        // Once may be a server on its way out. One that greets each connection so refuses us.
        if took_none && self.at(new).failures > 1 {
            let at = now;
            Change::Failed { share, failure, at }
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
        now: Nanos,
        why: Closing,
    ) -> Change {
        self.at_mut(slot).leave(cx, slot, why);
        let change = self.retire_if_spent(cx, slot, now);
        self.close_if_done(cx, slot);
        change
    }

    /// Looks up again where a lane leads.
    #[cold]
    pub(crate) fn look_up(&mut self, id: LaneId, lookup: &Lookup, timers: &mut Timers, now: Nanos) {
        if let Some(named) = &self.lanes.get(id).route.named {
            let origin = named.origin.clone();
            self.names.look_up(id, origin, lookup, timers, now);
        }
    }

    /// Takes the answers to look-ups of lanes that have come. Connections of one that leads elsewhere
    /// by now leave, each whose share has another address; where there was no answer, all stays.
    #[cold]
    pub(super) fn take_names<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        now: Nanos,
    ) -> Vec<Change> {
        let mut changes = Vec::new();
        while let Some((id, place)) = self.names.take_answer() {
            let is_known = place.is_some();
            let lane = self.lanes.get_mut(id);
            if place.is_some_and(|place| lane.lead_to(place)) {
                self.move_shares(cx, id, now, &mut changes);
            }
            let again = self.lanes.get(id).looked_up_at(now);
            let soon = now + LOOK_UP_AGAIN;
            let again = again.map(|at| if is_known { at } else { at.min(soon) });
            if let Some(at) = again {
                cx.timers.at(at, Wake::Names(id));
            }
        }
        if self.names.seek() {
            cx.timers.at(now + LOOK_UP, Wake::LookUps);
        }
        changes
    }

    /// Lets the connections of a lane leave that lead elsewhere than their shares by now.
    fn move_shares<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: LaneId,
        now: Nanos,
        changes: &mut Vec<Change>,
    ) {
        for share in self.lanes.get(id).shares().to_vec() {
            let share = self.share(share);
            let (slot, lane) = (share.slot, self.lanes.get(id));
            let choice = share.number.wrapping_mul(lane.stride());
            let assigned = lane.address_of(choice);
            let connection = &self.slots[slot.0 as usize];
            let stays = connection.address.is_none_or(|address| match assigned {
                Some(assigned) => address == assigned,
                None => lane.has_address(address),
            });
            self.at_mut(slot).choice = choice;
            if !stays && !self.at(slot).is_opening() {
                changes.push(self.leave(cx, slot, now, Closing::Moved));
            }
        }
    }

    /// Puts a new slot in the place of one whose connection retires, for the same share.
    fn replace(&mut self, old: Slot) -> Slot {
        let retired = self.at(old);
        let share = retired.share;
        let mut fresh = Connection::new(retired.lane, share, retired.choice);
        fresh.failures = retired.failures;
        let new = match self.spares.pop() {
            Some(spare) => {
                *self.at_mut(spare) = fresh;
                spare
            }
            None => {
                self.slots.push(fresh);
                Slot((self.slots.len() - 1) as u32)
            }
        };
        self.shares[share.index()].slot = new;
        new
    }

    /// Closes a connection that has given its place to another and has nothing more to carry. Only
    /// then does it send GOAWAY: some servers drop streams in flight when they receive one.
    #[cold]
    pub(super) fn close_if_done<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        slot: Slot,
    ) {
        let connection = self.at_mut(slot);
        if let Wire::Http2(http2) = &mut connection.wire
            && http2.is_done()
        {
            http2.go_away_first();
            http2.flush(&mut Port { io: cx.io, slot }, cx.handler);
            let why = match (http2.is_going(), connection.leaving) {
                (true, _) => Closing::GoAway,
                (false, why) => why.unwrap_or(Closing::Spent),
            };
            connection.close(cx, slot, why);
            self.spares.push(slot);
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
        let Wire::Http2(http2) = self.at_mut(slot).lose(cx, slot, failure) else {
            return Lost::Opening(Change::None);
        };
        if !http2.is_ready() {
            let failure = failure.clone().while_opening();
            return Lost::Opening(self.opening_failed(cx, slot, failure, now));
        }
        if http2.retiring {
            self.spares.push(slot);
        } else if http2.is_fruitless() {
            self.rest(cx.timers, slot, now);
        }
        Lost::Carried(http2.outstanding())
    }

    /// How many of the slots before `next` are being opened.
    pub(super) fn opening(&self, next: usize) -> usize {
        let dialed = self.slots[..next].iter();
        dialed.filter(|slot| slot.is_opening()).count()
    }

    /// Whether connections are kept, so that it helps to open them before the run.
    pub(super) fn are_kept(&self) -> bool {
        self.lanes
            .iter()
            .any(|(_, lane)| lane.settings.keep_alive != KeepAlive::No)
    }

    /// Whether a slot's connection is being opened and its handshake is not over.
    pub(crate) fn is_unsecured(&self, slot: Slot) -> bool {
        let wire = &self.at(slot).wire;
        wire.is_on_its_way()
    }

    /// Whether a slot's connection has come to speak HTTP/2.
    pub(crate) fn speaks_http2(&self, slot: Slot) -> bool {
        matches!(self.at(slot).wire, Wire::Http2(_))
    }

    /// Whether a slot's connection is open and nothing has come of what a server of HTTP/2 sends
    /// first.
    pub(crate) fn is_silent(&self, slot: Slot) -> bool {
        match &self.at(slot).wire {
            Wire::Http2(http2) => !http2.is_ready(),
            _ => false,
        }
    }

    /// No connection's deadline lies before this.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Nanos {
        self.next_scan
    }

    /// A connection is open: sets when it leaves by the plan.
    fn begin_life(&mut self, slot: Slot, now: Nanos) {
        let (seed, connection) = (self.seed, &mut self.slots[slot.0 as usize]);
        let lane = self.lanes.get(connection.lane);
        let life = lane.settings.life;
        if life.ends() && !lane.is_transient {
            let share = &mut self.shares[connection.share.index()];
            let age = life.age_of(seed, share.number, share.lives);
            share.lives += 1;
            connection.leaves_at = now + age;
            self.next_scan = self.next_scan.min(connection.leaves_at);
        }
    }

    /// A connection of HTTP/1.1 has become free: it may be idle from now on.
    #[cold]
    pub(super) fn note_free(&mut self, slot: Slot, now: Nanos) {
        let (connection, lane) = self.with_lane(slot);
        connection.freed = now;
        if let Some(idle) = lane.settings.life.idle {
            self.set_deadline(slot, now + idle);
        }
    }

    /// When a connection must have got on; see docs/design/0004.
    pub(super) fn set_deadline(&mut self, slot: Slot, at: Nanos) {
        self.at_mut(slot).deadline = at;
        self.next_scan = self.next_scan.min(at);
    }

    /// All deadlines have been looked at: finds the next bound.
    pub(super) fn end_scan(&mut self, now: Nanos) {
        let deadlines = self.slots.iter().map(Connection::next_look);
        let next = deadlines.min().unwrap_or(Nanos::MAX);
        self.next_scan = next.max(now + SCAN_MIN);
    }

    /// A connection carries exchanges from now on: sets when its silence is looked at first.
    pub(super) fn watch(&mut self, slot: Slot, now: Nanos) {
        let halved = self.pings_halved;
        let (connection, lane) = self.with_lane(slot);
        let after = lane.ping(halved).map(|ping| ping.after);
        let first = after.into_iter().chain(lane.settings.life.idle).min();
        if let Wire::Http2(http2) = &mut connection.wire {
            http2.watch(now);
        }
        self.set_deadline(slot, first.map_or(Nanos::MAX, |after| now + after));
    }

    /// A stream that was sent then was given up: where nothing has come since, the connection has to
    /// give a sign of life, or is replaced.
    pub(super) fn doubt(&mut self, slot: Slot, sent: Nanos, now: Nanos) {
        let refused = self.pings_halved > 0;
        let (connection, lane) = self.with_lane(slot);
        let Wire::Http2(http2) = &mut connection.wire else {
            return;
        };
        if refused || !http2.is_ready() || !http2.doubt(sent, now) {
            return;
        }
        let ping = lane.ping(0);
        self.set_deadline(slot, now + ping.map_or(DOUBT_MAX, |ping| ping.timeout));
    }

    /// All times count from the run's start from now on.
    pub(crate) fn begin_run(&mut self, timers: &mut Timers) {
        self.next_scan = Nanos::MAX;
        for id in self.lanes.ids() {
            let lane = self.lanes.get_mut(id);
            lane.begin_run();
            if let Some(at) = lane.looked_up_at(Nanos::ZERO) {
                timers.at(at, Wake::Names(id));
            }
        }
        for slot in self.slots() {
            let (connection, lane) = self.with_lane(slot);
            connection.freed = Nanos::ZERO;
            connection.rest_until = Nanos::ZERO;
            connection.phase_start = Nanos::ZERO;
            if connection.withholds_seat && matches!(connection.wire, Wire::Empty) {
                connection.rest_until = lane.next_redial();
                timers.at(connection.rest_until, Wake::Dial(slot));
            }
            let is_open = matches!(connection.wire, Wire::Http1(_));
            let carries = matches!(&connection.wire, Wire::Http2(http2) if http2.is_ready());
            if is_open {
                self.note_free(slot, Nanos::ZERO);
            } else if carries {
                self.watch(slot, Nanos::ZERO);
            } else if connection.deadline != Nanos::MAX {
                let limit = lane.settings.connect_limit;
                self.set_deadline(slot, limit);
            }
            if is_open || carries {
                self.begin_life(slot, Nanos::ZERO);
            }
        }
    }

    /// Ends all connections, those of HTTP/2 with a GOAWAY.
    pub(super) fn close_all<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        input: &mut Input,
    ) {
        for slot in self.slots() {
            let connection = self.at_mut(slot);
            if let Wire::Http2(http2) = &mut connection.wire {
                http2.go_away();
                http2.send_queued(&mut Port { io: cx.io, slot });
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
        if lane == self.lane_of(home) {
            return home;
        }
        let exclusive = self.lanes.get(lane).settings.is_exclusive();
        if exclusive {
            let slot = self.share(home).slot;
            self.at_mut(slot).close(cx, slot, Closing::Redirected);
        }
        let known = self.share(home).redirect_shares.iter().copied();
        let fits = |share: &ShareId| exclusive || self.lane_of(*share) == lane;
        if let Some(share) = known.into_iter().find(fits) {
            self.lead(cx, share, lane);
            return share;
        }
        let number = self.share(home).number;
        let share = self.add_share(lane, number, home.0);
        self.share_mut(home).redirect_shares.push(share);
        share
    }

    /// Leads a share along a lane; a connection along another is closed.
    fn lead<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
        lane: LaneId,
    ) {
        let slot = self.share(share).slot;
        let connection = self.at_mut(slot);
        if connection.lane != lane {
            connection.close(cx, slot, Closing::Redirected);
            connection.lane = lane;
        }
        self.share_mut(share).lane = lane;
    }
}
