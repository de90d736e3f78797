//! The moment at which a run begins, where others begin at the same.
//!
//! The holder makes it with the clock in which the moment will be named, and gives a clone to
//! [`super::Run::start_at`]. When the workers have opened their connections, the last of them keeps
//! the appointment: it is ready from then on, waits until the moment is [named](Appointment::name),
//! and then for the moment itself. One that is called off is kept at once; its holder ends the run
//! before, so that nothing is sent.
//!
//! Shares that another process has had until now begin within the run: the moment is then that of
//! the run's start, which is past, and a time of the run from which they are kept here
//! ([`Appointment::name_from`]). What is due before that time is no part of them.

use drumfire_net::Clock;
use drumfire_units::Nanos;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A start that is agreed on with others; the head of this file has its protocol.
#[derive(Clone, Debug)]
pub struct Appointment {
    clock: Clock,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_ready: bool,
    beginning: Option<Beginning>,
    /// The time of the run at which the shares here begin.
    from: Nanos,
    /// The time from the moment to the end of the wait for it.
    late: Option<Nanos>,
}

/// What is known of the beginning.
#[derive(Clone, Copy, Debug)]
enum Beginning {
    /// The moment of the run's start.
    At(Nanos),
    /// The appointment was called off, and is kept at once.
    Now,
}

impl Appointment {
    /// One whose moment is not known yet.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            shared: Arc::default(),
        }
    }

    /// The clock of its moment.
    #[must_use]
    pub const fn clock(&self) -> Clock {
        self.clock
    }

    /// Whether all connections that are opened ahead are open, so that the run waits for its moment.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.lock().is_ready
    }

    /// The time from the moment to the one at which it was kept; `None` before.
    #[must_use]
    pub fn lateness(&self) -> Option<Nanos> {
        self.lock().late
    }

    /// Names the moment; a second call changes nothing.
    pub fn name(&self, at: Nanos) {
        self.name_from(at, Nanos::ZERO);
    }

    /// Names the moment at which the run begins or has begun, and the time of the run at which the
    /// shares here begin; a second call changes nothing.
    pub fn name_from(&self, at: Nanos, from: Nanos) {
        self.settle(Beginning::At(at), from);
    }

    fn settle(&self, beginning: Beginning, from: Nanos) {
        let mut state = self.lock();
        if state.beginning.is_none() {
            (state.beginning, state.from) = (Some(beginning), from);
        }
        drop(state);
        self.shared.changed.notify_all();
    }

    /// The time of the run at which the shares here begin, once it is named.
    pub(crate) fn from(&self) -> Nanos {
        self.lock().from
    }

    /// Lets the run begin now.
    pub fn call_off(&self) {
        self.settle(Beginning::Now, Nanos::ZERO);
    }

    /// Waits for the beginning of the shares here, and gives the moment of the run's; the present one
    /// where it was called off.
    pub(crate) fn keep(&self) -> Nanos {
        let mut state = self.lock();
        state.is_ready = true;
        loop {
            let now = self.clock.now();
            let changed = &self.shared.changed;
            state = match state.beginning {
                Some(Beginning::Now) => return now,
                Some(Beginning::At(at)) if at + state.from <= now => {
                    state.late = Some(now - at - state.from);
                    return at;
                }
                Some(Beginning::At(at)) => {
                    let left = Duration::from_nanos((at + state.from - now).0);
                    let waited = changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let waited = changed.wait(state);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that could panic is done under the lock.
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn the_moment_is_kept_and_not_only_named() {
        let appointment = Appointment::new(Clock::start());
        let kept = thread::spawn({
            let appointment = appointment.clone();
            move || (appointment.keep(), appointment.clock().now())
        });
        let at = appointment.clock().now() + Nanos::from_millis(20);
        appointment.name(at);
        appointment.name(Nanos::from_secs(3_600));
        let (kept, now) = kept.join().unwrap();
        assert_eq!(kept, at);
        assert!(now >= at, "{now} is before {at}");
        assert!(appointment.is_ready());
        assert!(appointment.lateness().unwrap() <= now - at);
    }

    #[test]
    fn shares_begin_at_a_time_of_a_run_that_goes_on() {
        let appointment = Appointment::new(Clock::start());
        let (start, from) = (Nanos(1), Nanos::from_millis(20));
        appointment.name_from(start, from);
        assert_eq!(appointment.keep(), start);
        assert_eq!(appointment.from(), from);
        assert!(appointment.clock().now() >= start + from);
    }
}
