//! Transport: exchanges on their way, and the connections that carry them.
//!
//! It knows lanes (the way to one origin), shares (one connection's worth of a lane, whichever
//! connection serves it at the moment), connections with their wires, and exchanges by their ids.
//! It knows no users, no schedules, no steps and no samples, and of protocols only what a [`Wire`]
//! answers.
//!
//! Its owner calls, in each turn of its loop:
//!
//! ```text
//!   submit, cancel, send_more   for an exchange, at any time outside of a handler
//!   begin_turn                  after a wait; then
//!   handle_ready                for each slot that is ready,
//!   read_rest                   while `Pending::has_input`,
//!   wake                        for each entry of `Timers` that is due
//!   flush                       requests after each of them, all output before the next wait
//! ```
//!
//! [`Transport::turn`] is all of that for an owner with nothing to do in between. None of the calls
//! starts an exchange: what one ends is put on the handler's list, which the owner reads after the
//! call. A seat ([`Seat`]) is the right to have one exchange on a share; it is taken from the
//! [`Bindings`], held by an exchange until that is over, and given back to its [`Seats`].
//!
//! Its parts own their state. [`Traffic`] moves exchanges and bytes over the wires of [`Connections`],
//! and has the list of sockets with something to do ([`Pending`]); the connections' lives are led
//! over the [`Bindings`], which have the slots, the shares and the lanes. [`Origins`] are those of
//! redirects, and [`Names`] those of lanes that are looked up again.
//!
//! Peers can do nothing here that the schedule waits for: a socket that is ready is read a limited
//! number of times in a turn ([`crate::limits::RECEIVES_PER_TURN`]) and the rest later; a
//! connection that is refused, reset or silent fails the exchanges on it, rests, and is opened
//! again when an exchange needs it.

mod alarm;
mod answer_wake;
mod bindings;
mod change;
mod connection;
mod connections;
mod context;
mod lane;
mod names;
mod origins;
mod pending;
mod seats;
mod share;
mod slots;
mod traffic;

pub(crate) use bindings::Bindings;
pub(crate) use connection::LinkState;
pub(crate) use connections::Further;
pub(crate) use context::Context;
pub(crate) use lane::{Lane, Seat};
pub(crate) use origins::{Answered, Found};
pub(crate) use pending::{Output, Pending};
pub(crate) use seats::Seats;

use self::answer_wake::AnswerWake;
use self::connections::Connections;
use self::names::Names;
use self::origins::{Origins, Reached};
use self::traffic::Traffic;
use crate::blame::Failure;
use crate::id::{ExchangeId, LaneId, Shard, ShareId};
use crate::prepare::Lookup;
use crate::timers::{Timers, Wake};
use crate::wire::{Cancelled, Handler, Phase, Wire, WireProtocol};
use drumfire_measure::Closing;
use drumfire_net::{Io, Readiness};
use drumfire_plan::Origin;
use drumfire_units::Nanos;

/// A worker's exchanges of a pool on their way, and its connections.
#[derive(Debug)]
pub(crate) struct Transport {
    traffic: Traffic,
    origins: Origins,
    names: Names,
    answer_wake: AnswerWake,
}

impl Transport {
    /// A transport along these lanes, without connections.
    pub(crate) fn new(lanes: Vec<Lane>, shard: Shard, seed: u64) -> Self {
        Self {
            traffic: Traffic::new(Connections::new(lanes, shard, seed)),
            origins: Origins::default(),
            names: Names::default(),
            answer_wake: AnswerWake::default(),
        }
    }

    /// The shares, the slots that serve them, and the seats on them.
    #[inline]
    pub(crate) const fn bindings(&self) -> &Bindings {
        self.traffic.connections().bindings()
    }

    /// The same, to take seats, or to let them rest.
    #[inline]
    pub(crate) const fn bindings_mut(&mut self) -> &mut Bindings {
        self.traffic.connections_mut().bindings_mut()
    }

    /// The seats of its connections.
    #[inline]
    pub(crate) const fn seats(&self) -> &Seats {
        self.bindings().seats()
    }

    /// The same, to give one back.
    #[inline]
    pub(crate) const fn seats_mut(&mut self) -> &mut Seats {
        self.bindings_mut().seats_mut()
    }

    /// The sockets with something to do before the next wait.
    #[inline]
    pub(crate) const fn pending(&self) -> &Pending {
        self.traffic.pending()
    }

    /// Begins the run: all times count from here.
    pub(crate) fn begin_run(&mut self, timers: &mut Timers) {
        self.traffic.connections_mut().begin_run(timers);
    }

    /// Ends the warm-up: connections count from here what they carry.
    pub(crate) fn begin_measuring(&mut self) {
        self.traffic.connections_mut().begin_measuring();
    }

    /// The state of a share's connection.
    pub(crate) fn link_state(&self, share: ShareId) -> LinkState {
        self.bindings().of_share(share).link().state()
    }

    /// Starts to open a share's connection. For an owner that wants it open before it submits
    /// anything, as a conversation does; a submission dials by itself.
    pub(crate) fn dial<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        share: ShareId,
        now: Nanos,
    ) {
        let slot = self.bindings().share(share).slot();
        let change = self.traffic.connections_mut().dial(cx, slot, now);
        self.traffic.follow(cx, change);
    }

    /// Dials slots from `next` on, `at_once` at a time; `true` when all are open or have failed. It
    /// is called in each turn before the run and moves `next` on. Where connections are closed
    /// after each exchange there is nothing to open ahead.
    pub(crate) fn open_more<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        next: &mut usize,
        at_once: usize,
    ) -> bool {
        if !self.bindings().are_kept() {
            return true;
        }
        let slots = self.bindings().slots();
        let mut under_way = slots.opening(*next);
        let now = cx.io.now();
        for slot in slots.all().skip(*next) {
            if under_way >= at_once {
                return false;
            }
            let change = self.traffic.connections_mut().dial(cx, slot, now);
            self.traffic.follow(cx, change);
            *next += 1;
            under_way += 1;
        }
        under_way == 0
    }

    /// The progress of an exchange on its way.
    pub(crate) fn phase_of(&mut self, id: ExchangeId) -> Phase {
        self.traffic.underway_mut().get(id).phase()
    }

    /// Begins a turn of the owner's loop, after its wait.
    #[inline]
    pub(crate) fn begin_turn(&mut self) {
        self.traffic.begin_turn();
    }

    /// One turn of an owner that has nothing to do between its steps.
    pub(crate) fn turn<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        ready: &[Readiness],
    ) {
        self.begin_turn();
        for readiness in ready {
            self.handle_ready(cx, *readiness);
        }
        while self.pending().has_input() {
            self.read_rest(cx);
        }
        let now = cx.io.now();
        while let Some(wake) = cx.timers.due(now) {
            self.wake(cx, wake, now);
        }
        self.flush(cx, Output::All);
    }

    /// Reads one slot that was not read to the end before this turn, or on which a send failed.
    pub(crate) fn read_rest<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        self.traffic.read_rest(cx);
    }

    /// Writes output, that of each slot with one call. [`Output::Requests`] is written after each
    /// event, since a request's time of sending is then near the time at which it was started;
    /// [`Output::All`] before a wait, so that acknowledgements and window updates leave with
    /// whatever else a slot has.
    #[inline]
    pub(crate) fn flush<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>, output: Output) {
        self.traffic.flush(cx, output);
    }

    /// Reads the remaining input of all connections: one closed over unread bytes is reset.
    pub(crate) fn drain_input<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        for slot in self.bindings().slots().all() {
            let wire = self.bindings().at(slot).wire();
            if wire.is_some_and(Wire::has_farewell) {
                self.traffic.read(cx, slot);
            }
        }
        self.flush(cx, Output::Requests);
    }

    /// Ends all connections, each as its protocol has it.
    pub(crate) fn close_all<I: Io, H: Handler>(&mut self, cx: &mut Context<'_, I, H>) {
        self.traffic.close_all(cx);
    }

    /// Handles a wake of its connections; those of others are none of its. A wake of a connection
    /// that has been replaced has an older generation and does nothing.
    pub(crate) fn wake<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        wake: Wake,
        now: Nanos,
    ) {
        match wake {
            Wake::Dial(slot) => {
                let change = self.traffic.connections_mut().end_rest(cx, slot, now);
                self.traffic.follow(cx, change);
            }
            Wake::Connection(slot, generation) => self.traffic.ring(cx, slot, generation, now),
            _ => {}
        }
    }

    /// Finds the way of a share's exchange to an origin, to which a redirect leads it: a lane that
    /// is known, a new one, or a look-up that has to come first. In the last case the exchange
    /// waits without a connection, and [`Self::looked_up`] gives it back.
    pub(crate) fn reach<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        home: ShareId,
        origin: &Origin,
        lookup: &Lookup,
    ) -> Result<Found, Failure> {
        let bindings = self.traffic.connections_mut().bindings_mut();
        let lane = bindings.seats().lane_of(home);
        let lanes = bindings.seats_mut().lanes_mut();
        let reached = self.origins.lane_to(origin, lane, id, lanes, lookup)?;
        if let Reached::Lane(lane) = reached {
            let form = lanes.get(lane).route().form();
            let share = bindings.redirect_share(cx, home, lane);
            return Ok(Found::Share(share, form));
        }
        if reached == Reached::LookUpBegun {
            let now = cx.io.now();
            self.answer_wake.set(cx.timers, now);
        }
        self.traffic.underway_mut().seek(id, home);
        Ok(Found::Sought)
    }

    /// Looks up again where a lane leads.
    pub(crate) fn look_up(
        &mut self,
        lane: LaneId,
        lookup: &Lookup,
        timers: &mut Timers,
        now: Nanos,
    ) {
        let seats = self.traffic.connections().bindings().seats();
        self.names.look_up(lane, seats, lookup, timers, now);
        if self.names.seek() {
            self.answer_wake.set(timers, now);
        }
    }

    /// Takes the answer to one look-up that has come; `None` when no further answer has. It is
    /// called until then, at the wake for look-ups. Answers for lanes are followed here; those for
    /// exchanges are the owner's to go on with.
    pub(crate) fn looked_up<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        now: Nanos,
    ) -> Option<Answered> {
        let bindings = self.traffic.connections_mut().bindings_mut();
        for slot in self.names.take_answers(bindings, cx.timers, now) {
            self.traffic.leave(cx, slot, now, Closing::Moved);
        }
        let lanes = self
            .traffic
            .connections_mut()
            .bindings_mut()
            .seats_mut()
            .lanes_mut();
        let answered = self.origins.take_answer(lanes, cx.io);
        for id in answered.iter().flat_map(|answered| &answered.exchanges) {
            self.traffic.underway_mut().clear(*id);
        }
        if answered.is_none() && (self.names.seek() || self.origins.seeks()) {
            self.answer_wake.set(cx.timers, now);
        }
        answered
    }

    /// Takes an exchange off its connection, or out of those that wait, and gives the phase in
    /// which it was. A connection that carried it alone is closed, since the rest of its response
    /// would be read as the next one. The exchange itself is not ended here.
    pub(crate) fn cancel<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        now: Nanos,
    ) -> Cancelled {
        let cancelled = self.traffic.cancel(cx, id, now);
        if cancelled.was_sought() {
            self.origins.forget(id);
        }
        cancelled
    }

    /// An exchange has more of its body to send.
    pub(crate) fn send_more<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        now: Nanos,
    ) {
        self.traffic.send_more(cx, id, now);
    }

    /// Puts an exchange on a share's connection, or lets it wait for one. It may be sent, or fail,
    /// within this call; either is on the handler's side when it returns.
    #[inline(always)]
    pub(crate) fn submit<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        id: ExchangeId,
        share: ShareId,
        further: Further,
        now: Nanos,
    ) {
        self.traffic.submit(cx, id, share, further, now);
    }

    /// A slot has become ready for something.
    #[inline]
    pub(crate) fn handle_ready<I: Io, H: Handler>(
        &mut self,
        cx: &mut Context<'_, I, H>,
        readiness: Readiness,
    ) {
        self.traffic.handle_ready(cx, readiness);
    }
}
