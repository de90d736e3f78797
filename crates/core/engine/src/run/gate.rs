//! The gate at which workers wait for each other before the start.
//!
//! Each expected worker has one [`GateTicket`] and uses it once: it passes, or drops the ticket after a
//! failure or a panic. In both cases the gate opens as soon as all are accounted for, and no worker
//! waits for one that never comes. The last worker reads the clock once: the run's start is the
//! same instant for all, and is after the opening of all connections.

use drumfire_units::Nanos;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Opens when all expected workers have come, and returns the same start to all.
pub(crate) struct Gate {
    state: Mutex<State>,
    opened: Condvar,
}

#[derive(Debug)]
struct State {
    expected: u32,
    arrived: u32,
    start: Option<Nanos>,
}

impl Gate {
    /// A gate for `expected` workers.
    pub(crate) fn new(expected: u32) -> Self {
        let state = State {
            expected,
            arrived: 0,
            start: None,
        };
        Self {
            state: Mutex::new(state),
            opened: Condvar::new(),
        }
    }

    /// One worker's right to pass; dropping it excuses the worker.
    pub(crate) const fn ticket<N: Fn() -> Nanos>(&self, now: N) -> GateTicket<'_, N> {
        GateTicket {
            gate: self,
            now,
            is_used: false,
        }
    }

    /// Waits until all have come; the last one sets the moment.
    fn pass(&self, now: impl FnOnce() -> Nanos) -> Nanos {
        let mut state = self.lock();
        state.arrived += 1;
        self.open_if_complete(&mut state, now);
        loop {
            if let Some(start) = state.start {
                return start;
            }
            state = self
                .opened
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Stops waiting for `count` workers that will not come.
    fn excuse(&self, count: u32, now: impl FnOnce() -> Nanos) {
        let mut state = self.lock();
        state.expected -= count;
        self.open_if_complete(&mut state, now);
    }

    fn open_if_complete(&self, state: &mut State, now: impl FnOnce() -> Nanos) {
        if state.arrived == state.expected && state.start.is_none() {
            state.start = Some(now());
            self.opened.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing under the lock can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A right to pass a gate.
pub(crate) struct GateTicket<'a, N: Fn() -> Nanos> {
    gate: &'a Gate,
    now: N,
    is_used: bool,
}

impl<N: Fn() -> Nanos> GateTicket<'_, N> {
    /// Waits until all have come, and returns the moment at which all start.
    pub(crate) fn pass(mut self) -> Nanos {
        self.is_used = true;
        self.gate.pass(&self.now)
    }
}

impl<N: Fn() -> Nanos> Drop for GateTicket<'_, N> {
    fn drop(&mut self) {
        if !self.is_used {
            self.gate.excuse(1, &self.now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn all_start_from_the_moment_that_the_last_one_names() {
        let gate = Gate::new(3);
        thread::scope(|scope| {
            let two: Vec<_> = (1..3)
                .map(|n| {
                    scope.spawn({
                        let gate = &gate;
                        move || gate.pass(|| Nanos(n))
                    })
                })
                .collect();
            let mine = gate.pass(|| Nanos(7));
            for other in two {
                assert_eq!(other.join().unwrap(), mine);
            }
        });
    }

    #[test]
    fn nobody_waits_for_one_who_is_excused() {
        let gate = Gate::new(2);
        thread::scope(|scope| {
            let one = scope.spawn(|| gate.pass(|| Nanos(1)));
            drop(gate.ticket(|| Nanos(2)));
            assert!(matches!(one.join().unwrap(), Nanos(1 | 2)));
        });
    }
}
