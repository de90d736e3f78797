//! Before the run's start: connections are opened, so that no request waits for its own.

use super::Worker;
use crate::connection::State;
use crate::limits::{DIALS_AT_ONCE, OPENING_MAX};
use drumfire_net::{Fault, Io, Readiness};
use drumfire_plan::KeepAlive;
use drumfire_units::Nanos;

impl<I: Io> Worker<I> {
    /// Opens every slot's connection, a bounded number at a time. Slots that fail are tried again
    /// when a request needs them; slots that take too long are waited for no more.
    ///
    /// # Errors
    /// When the driver can't wait.
    pub(crate) fn open_connections(&mut self) -> Result<(), Fault> {
        let keeps = self.prepared.plan.connections.keep_alive != KeepAlive::No;
        let started = self.io.now();
        let mut ready: Vec<Readiness> = Vec::with_capacity(256);
        // Those that take the place of a connection which the server gave up at once come later.
        let wanted = self.slots.len();
        let mut next = if keeps { 0 } else { wanted };
        loop {
            let mut under_way = self.slots[..next]
                .iter()
                .filter(|slot| is_opening(slot.state))
                .count();
            let now = self.io.now();
            while next < wanted && under_way < DIALS_AT_ONCE {
                self.dial(next as u32, now);
                next += 1;
                under_way += 1;
            }
            let all = next == wanted && under_way == 0;
            if all || now > started + OPENING_MAX || self.control.is_stopping() {
                break;
            }
            self.io
                .wait(self.next_scan.min(now + Nanos::from_millis(10)), &mut ready)?;
            for readiness in &ready {
                self.on_ready(*readiness);
            }
            self.flush_dirty();
            let now = self.io.now();
            if now >= self.next_scan {
                self.scan(now);
            }
        }
        self.gather_free();
        Ok(())
    }

    /// Makes a point in time the run's start: all times count from there.
    pub(crate) fn begin_at(&mut self, start: Nanos) {
        self.io.set_epoch(start);
        self.next_scan = Nanos::MAX;
        for index in 0..self.slots.len() {
            let slot = &mut self.slots[index];
            slot.freed = Nanos::ZERO;
            slot.phase_start = Nanos::ZERO;
            if slot.state == State::Open {
                self.watch(index as u32, Nanos::ZERO);
            } else if slot.deadline != Nanos::MAX {
                slot.deadline = self.prepared.plan.timeouts.connect;
                self.next_scan = self.next_scan.min(slot.deadline);
            }
        }
    }

    /// Makes this very moment the run's start.
    pub(crate) fn begin(&mut self) {
        let now = self.io.now();
        self.begin_at(now);
    }

    /// Lists the free slots, open ones first.
    fn gather_free(&mut self) {
        self.resting.clear();
        for lane in &mut self.routes {
            lane.free.clear();
        }
        if self.is_multiplexed() {
            return self.gather_places();
        }
        for state in [State::Idle, State::Empty] {
            for (index, slot) in self.slots.iter().enumerate() {
                if slot.state == state {
                    self.routes[usize::from(slot.route)]
                        .free
                        .push_back(index as u32);
                }
            }
        }
    }
}

/// Whether a connection is on its way to being open.
fn is_opening(state: State) -> bool {
    matches!(
        state,
        State::Dialing | State::Tunneling | State::Securing | State::Greeting
    )
}
