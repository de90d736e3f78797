//! The alarm of a connection: the times at which the connection must be checked, and one timer for
//! them.
//!
//! A connection's deadline moves with nearly every exchange, and is hardly ever reached
//! (docs/design/03-exchanges-and-wires.md#deadlines-without-timers). So the alarm's entry in
//! [`Timers`] may be too early, but never too late: moving the deadline away only writes a field,
//! and an entry that fires too early is set again. The [`Generation`] of an entry shows whether a
//! later entry has replaced it.
//!
//! The owner may set a time any number of times, and calls [`Alarm::arm`] once after its changes,
//! from which they take effect. When an entry fires, [`Alarm::ring`] returns which of the times
//! have come, and the owner arms the alarm again, so that there is an entry whenever a time is set.
//! When a slot is given to another connection, the entry and its generation are kept
//! ([`Alarm::renewed`]): an old entry finds the new times, and is harmless.

use crate::id::Generation;
use crate::timers::{Timers, Wake};
use drumfire_net::Slot;
use drumfire_units::Nanos;

/// The times at which a connection must be looked at.
#[derive(Debug)]
pub(super) struct Alarm {
    /// The time by which something must have happened; [`Nanos::MAX`] without a deadline.
    deadline: Nanos,
    /// The time at which the plan closes the connection; [`Nanos::MAX`] if it does not.
    leaves_at: Nanos,
    /// The time of the timer's entry; [`Nanos::MAX`] without one.
    entry: Nanos,
    /// The generation of that entry.
    generation: Generation,
}

/// The reasons why an alarm fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ring {
    /// Whether the deadline has passed.
    pub(super) is_late: bool,
    /// Whether the plan closes the connection now.
    pub(super) leaves: bool,
}

impl Alarm {
    /// An alarm that never fires.
    pub(super) const fn new() -> Self {
        Self {
            deadline: Nanos::MAX,
            leaves_at: Nanos::MAX,
            entry: Nanos::MAX,
            generation: Generation::FIRST,
        }
    }

    /// Whether there is a deadline.
    pub(super) fn has_deadline(&self) -> bool {
        self.deadline != Nanos::MAX
    }

    /// Sets the time by which something must have happened.
    pub(super) const fn set_deadline(&mut self, at: Nanos) {
        self.deadline = at;
    }

    /// Sets the time by which something must have happened, unless an earlier one is set.
    pub(super) fn lower_deadline(&mut self, at: Nanos) {
        self.deadline = self.deadline.min(at);
    }

    /// Sets the time at which the plan closes the connection.
    pub(super) const fn set_leaving(&mut self, at: Nanos) {
        self.leaves_at = at;
    }

    /// Clears both times, because the connection is closed.
    pub(super) const fn silence(&mut self) {
        self.deadline = Nanos::MAX;
        self.leaves_at = Nanos::MAX;
    }

    /// Adds an entry for the slot, unless there is one that is early enough.
    pub(super) fn arm(&mut self, slot: Slot, timers: &mut Timers) {
        let due = self.deadline.min(self.leaves_at);
        if due < self.entry {
            self.entry = due;
            self.generation = self.generation.next();
            timers.insert(due, Wake::Connection(slot, self.generation));
        }
    }

    /// Returns the reasons that apply when an entry fires; `None` if a later entry has replaced it.
    /// A deadline that has passed is cleared. The caller must arm the alarm again.
    pub(super) fn ring(&mut self, generation: Generation, now: Nanos) -> Option<Ring> {
        if generation != self.generation || self.entry == Nanos::MAX {
            return None;
        }
        self.entry = Nanos::MAX;
        let ring = Ring {
            is_late: self.deadline <= now,
            leaves: self.leaves_at <= now,
        };
        if ring.is_late {
            self.deadline = Nanos::MAX;
        }
        Some(ring)
    }

    /// Forgets the entry, because all entries of the timers were dropped.
    pub(super) const fn forget_entry(&mut self) {
        self.entry = Nanos::MAX;
    }

    /// The alarm of another connection in the same slot, with the existing entry.
    pub(super) const fn renewed(&self) -> Self {
        Self {
            deadline: Nanos::MAX,
            leaves_at: Nanos::MAX,
            entry: self.entry,
            generation: self.generation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Slot = Slot(3);

    /// The next entry that fires by then.
    fn fired(timers: &mut Timers, by: u64) -> Option<Generation> {
        match timers.due(Nanos(by)) {
            Some(Wake::Connection(SLOT, generation)) => Some(generation),
            Some(other) => panic!("{other:?}"),
            None => None,
        }
    }

    fn ring(is_late: bool, leaves: bool) -> Option<Ring> {
        Some(Ring { is_late, leaves })
    }

    #[test]
    fn a_deadline_that_moves_away_costs_no_entry() {
        let (mut alarm, mut timers) = (Alarm::new(), Timers::default());
        for at in 10..20 {
            alarm.set_deadline(Nanos(at));
            alarm.arm(SLOT, &mut timers);
        }
        let first = fired(&mut timers, 10).expect("an entry for the first deadline");
        assert_eq!(
            alarm.ring(first, Nanos(10)),
            ring(false, false),
            "too early"
        );
        assert_eq!(timers.next(), Nanos::MAX, "one entry only");
        alarm.arm(SLOT, &mut timers);
        let second = fired(&mut timers, 19).expect("an entry for the last");
        assert_eq!(alarm.ring(second, Nanos(19)), ring(true, false));
        alarm.arm(SLOT, &mut timers);
        assert_eq!(timers.next(), Nanos::MAX, "a deadline rings once");
    }

    #[test]
    fn an_entry_that_was_overtaken_is_stale() {
        let (mut alarm, mut timers) = (Alarm::new(), Timers::default());
        alarm.set_deadline(Nanos(20));
        alarm.arm(SLOT, &mut timers);
        alarm.set_leaving(Nanos(5));
        alarm.arm(SLOT, &mut timers);
        let early = fired(&mut timers, 5).expect("the earlier entry");
        assert_eq!(alarm.ring(early, Nanos(5)), ring(false, true));
        alarm.set_leaving(Nanos::MAX);
        alarm.arm(SLOT, &mut timers);
        let old = fired(&mut timers, 20).expect("the first entry");
        let new = fired(&mut timers, 20).expect("the entry that was set anew");
        assert_eq!(alarm.ring(old, Nanos(20)), None);
        assert_eq!(alarm.ring(new, Nanos(20)), ring(true, false));
    }

    #[test]
    fn another_connection_in_the_slot_takes_the_entry_over() {
        let (mut alarm, mut timers) = (Alarm::new(), Timers::default());
        alarm.set_deadline(Nanos(20));
        alarm.arm(SLOT, &mut timers);
        let mut next = alarm.renewed();
        next.set_deadline(Nanos(30));
        next.arm(SLOT, &mut timers);
        let entry = fired(&mut timers, 20).expect("the entry of the one before");
        assert_eq!(next.ring(entry, Nanos(20)), ring(false, false));
        next.arm(SLOT, &mut timers);
        let entry = fired(&mut timers, 30).expect("its own entry");
        assert_eq!(next.ring(entry, Nanos(30)), ring(true, false));
    }
}
