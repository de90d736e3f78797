//! Deadlines without timers: each slot has its own, and the worker knows a bound of them all.
//!
//! Timeouts are much longer than exchanges, so that nearly every deadline is gone before it comes.
//! A scan of all slots when the bound passes, some once per timeout, costs less than any timer.

use super::Worker;
use crate::connection::{Duty, State};
use crate::limits::SCAN_MIN;
use drumfire_measure::Outcome;
use drumfire_net::Io;
use drumfire_units::Nanos;

impl<I: Io> Worker<I> {
    /// Sets a slot's deadline: a phase's own, or its exchange's if that is sooner.
    pub(crate) fn set_deadline(&mut self, slot: u32, phase: Nanos) {
        let total = self.prepared.plan.timeouts.total;
        let connection = &mut self.slots[slot as usize];
        let whole = match connection.duty {
            Duty::Exchange => connection.exchange.started + total,
            Duty::None => Nanos::MAX,
        };
        connection.deadline = phase.min(whole);
        self.next_scan = self.next_scan.min(connection.deadline);
    }

    /// Ends what is overdue and finds the next bound.
    pub(crate) fn scan(&mut self, now: Nanos) {
        let mut next = Nanos::MAX;
        for slot in 0..self.slots.len() {
            let deadline = self.slots[slot].deadline;
            if deadline <= now {
                self.expire(slot as u32, now);
            }
            next = next.min(self.slots[slot].deadline);
        }
        for place in 0..self.places.len() {
            if self.places[place].deadline <= now {
                self.expire_place(place as u32, now);
            }
            next = next.min(self.places[place].deadline);
        }
        self.next_scan = next.max(now + SCAN_MIN);
    }

    /// A slot's time is up.
    fn expire(&mut self, slot: u32, now: Nanos) {
        let connection = &mut self.slots[slot as usize];
        connection.deadline = Nanos::MAX;
        match connection.state {
            State::Empty if connection.duty == Duty::Exchange => {
                self.fail(slot, now, (Outcome::DnsTimeout, None));
            }
            State::Empty | State::Idle => {}
            State::Open => self.look_at_silence(slot, now),
            State::Dialing | State::Tunneling | State::Securing | State::Greeting => {
                self.opening_timed_out(slot, now);
            }
            State::Busy if connection.exchange.awaits_continue => {
                connection.exchange.awaits_continue = false;
                self.transmit(slot);
            }
            State::Busy => {
                let status = connection.machine.status();
                let outcome = connection.exchange.lateness(status, now);
                self.fail(slot, now, (outcome, None));
            }
        }
    }
}
