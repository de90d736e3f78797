//! Slots: the places of a driver's connections, each with one connection or room for one.
//!
//! The slots own their connections, and list the slots that no share uses and the slots that rest.
//! They refer to lanes and shares only by id.
//!
//! A slot is never removed, because the driver and the timers refer to it by number. After its
//! connection has retired, it is spare and is used for the next successor. The number of slots is
//! the maximum number of simultaneous connections.

use super::Lane;
use super::connection::Connection;
use crate::blame::Failure;
use crate::timers::{Timers, Wake};
use drumfire_net::Slot;
use drumfire_units::Nanos;
use std::ops::{Index, IndexMut};

/// The slots of a worker's part of a pool.
#[derive(Debug, Default)]
pub(super) struct Slots {
    list: Vec<Connection>,
    /// Slots that no share uses.
    spares: Vec<Slot>,
    /// The latest end of any rest, so that one comparison shows whether any connection rests.
    last_rest: Nanos,
}

impl Slots {
    /// All current slots. The iterator borrows nothing, so slots may change and be added meanwhile;
    /// it omits added ones.
    pub(super) fn all(&self) -> impl Iterator<Item = Slot> + use<> {
        (0..self.list.len() as u32).map(Slot)
    }

    /// Adds a slot.
    pub(super) fn add_slot(&mut self, connection: Connection) -> Slot {
        self.list.push(connection);
        Slot((self.list.len() - 1) as u32)
    }

    /// Puts a connection in a slot that no share uses.
    pub(super) fn insert(&mut self, connection: Connection) -> Slot {
        let Some(slot) = self.spares.pop() else {
            return self.add_slot(connection);
        };
        self[slot].become_another(connection);
        slot
    }

    /// Makes a slot spare after its replaced connection was closed.
    pub(super) fn release(&mut self, slot: Slot) {
        self.spares.push(slot);
    }

    /// Sets the timer of a connection whose alarm has changed.
    #[inline]
    pub(super) fn arm(&mut self, slot: Slot, timers: &mut Timers) {
        self[slot].alarm.arm(slot, timers);
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

    /// Rests a connection until `until`, or longer if it already rests longer.
    pub(super) fn rest_until(&mut self, slot: Slot, until: Nanos) {
        self.last_rest = self.last_rest.max(until);
        self[slot].redial.rest_until(until);
    }

    /// Rests a connection that failed again; each rest is twice as long as the last.
    pub(super) fn rest(
        &mut self,
        slot: Slot,
        lane: &mut Lane,
        timers: &mut Timers,
        failure: &Failure,
        now: Nanos,
    ) {
        let until = self[slot].redial.back_off(lane, failure, now);
        self.last_rest = self.last_rest.max(until);
        timers.insert(until, Wake::Dial(slot));
    }
}

impl Index<Slot> for Slots {
    type Output = Connection;

    #[inline]
    fn index(&self, slot: Slot) -> &Connection {
        &self.list[slot.0 as usize]
    }
}

impl IndexMut<Slot> for Slots {
    #[inline]
    fn index_mut(&mut self, slot: Slot) -> &mut Connection {
        &mut self.list[slot.0 as usize]
    }
}
