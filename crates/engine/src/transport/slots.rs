//! Slots: the places of a driver's connections, each with one connection or room for one.
//!
//! The slots own their connections, know which of them no share uses, and which of them rest. They
//! know no lanes and no shares but by id.
//!
//! A slot is never removed, since the driver and the timers know it by its number; one whose
//! connection has retired is spare, and is used for the next successor. There are as many as there
//! were connections at one time.

use super::Lane;
use super::connection::Connection;
use crate::blame::Failure;
use crate::timers::{Timers, Wake};
use drumfire_net::Slot;
use drumfire_units::Nanos;

/// The slots of a worker's part of a pool.
#[derive(Debug, Default)]
pub(super) struct Slots {
    list: Vec<Connection>,
    /// Slots that no share uses.
    spares: Vec<Slot>,
    /// The latest end of any rest, so that one comparison shows that no connection rests.
    last_rest: Nanos,
}

impl Slots {
    /// All slots there are now. The iterator borrows nothing, so that slots may change and be added
    /// meanwhile; it does not come to those.
    pub(super) fn all(&self) -> impl Iterator<Item = Slot> + use<> {
        (0..self.list.len() as u32).map(Slot)
    }

    /// The slot that is added next.
    pub(super) fn next(&self) -> Slot {
        Slot(self.list.len() as u32)
    }

    /// The connection in a slot.
    #[inline]
    pub(super) fn at(&self, slot: Slot) -> &Connection {
        &self.list[slot.0 as usize]
    }

    /// The same, to change it.
    #[inline]
    pub(super) fn at_mut(&mut self, slot: Slot) -> &mut Connection {
        &mut self.list[slot.0 as usize]
    }

    /// Adds a slot.
    pub(super) fn add(&mut self, connection: Connection) -> Slot {
        let slot = self.next();
        self.list.push(connection);
        slot
    }

    /// Puts a connection in a slot that no share uses.
    pub(super) fn put(&mut self, connection: Connection) -> Slot {
        let Some(slot) = self.spares.pop() else {
            return self.add(connection);
        };
        self.at_mut(slot).become_another(connection);
        slot
    }

    /// Takes a slot back whose connection was closed after another had taken its place.
    pub(super) fn release(&mut self, slot: Slot) {
        self.spares.push(slot);
    }

    /// Sets the timer of a connection whose alarm has changed.
    #[inline]
    pub(super) fn arm(&mut self, slot: Slot, timers: &mut Timers) {
        self.at_mut(slot).alarm_mut().arm(slot, timers);
    }

    /// The number of slots before `next` whose connections are being opened.
    pub(super) fn opening(&self, next: usize) -> usize {
        let dialed = self.list[..next].iter();
        dialed.filter(|connection| connection.is_opening()).count()
    }

    /// Whether no connection rests.
    #[inline]
    pub(super) fn is_awake(&self, now: Nanos) -> bool {
        self.last_rest <= now
    }

    /// Lets a connection rest until then, or for longer if it does.
    pub(super) fn rest_until(&mut self, slot: Slot, until: Nanos) {
        self.last_rest = self.last_rest.max(until);
        self.at_mut(slot).redial_mut().rest_until(until);
    }

    /// Lets a connection rest that failed once more; each pause is twice the last.
    pub(super) fn rest(
        &mut self,
        slot: Slot,
        lane: &mut Lane,
        timers: &mut Timers,
        failure: &Failure,
        now: Nanos,
    ) {
        let redial = self.at_mut(slot).redial_mut();
        let until = redial.back_off(lane, failure, now);
        self.last_rest = self.last_rest.max(until);
        timers.at(until, Wake::Dial(slot));
    }
}
