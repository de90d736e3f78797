//! The moment at which a run begins on several machines.
//!
//! The holder creates the appointment with the clock for its moment, and passes a clone to
//! [`super::Run::start_at`]. When the workers have opened their connections, the last of them keeps
//! the appointment: it is ready from then on, waits until the moment is [set](Appointment::name),
//! and then for the moment itself. If the appointment is called off, the wait ends at once; its
//! holder must end the run first, so that nothing is sent.
//!
//! Shares that another process has run until now begin within the run. The moment is then the run's
//! start, which is past, together with the time of the run from which this process runs the shares
//! ([`Appointment::name_from`]). Requests that are due before that time are left out.

use drumfire_net::Clock;
use drumfire_units::Nanos;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A start that is agreed between processes; the module documentation has its protocol.
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
    beginning: Option<AgreedStart>,
    /// The time of the run at which the shares here begin.
    from: Nanos,
    /// How late the wait ended after the moment.
    late: Option<Nanos>,
}

/// The agreed beginning.
#[derive(Clone, Copy, Debug)]
enum AgreedStart {
    /// The moment of the run's start.
    At(Nanos),
    /// The appointment was called off: the wait ends at once.
    Now,
}

impl Appointment {
    /// An appointment without a moment.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            shared: Arc::default(),
        }
    }

    /// The clock for the moment.
    #[must_use]
    pub const fn clock(&self) -> Clock {
        self.clock
    }

    /// Whether all connections that are opened in advance are open, so that the run waits for its
    /// moment.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.lock().is_ready
    }

    /// How late the wait ended after the moment; `None` before its end.
    #[must_use]
    pub fn lateness(&self) -> Option<Nanos> {
        self.lock().late
    }

    /// Sets the moment; later calls have no effect.
    pub fn name(&self, at: Nanos) {
        self.name_from(at, Nanos::ZERO);
    }

    /// Sets the moment of the run's start, which may be past, and the time of the run at which the
    /// shares here begin; later calls have no effect.
    pub fn name_from(&self, at: Nanos, from: Nanos) {
        self.settle(AgreedStart::At(at), from);
    }

    fn settle(&self, beginning: AgreedStart, from: Nanos) {
        let mut state = self.lock();
        if state.beginning.is_none() {
            (state.beginning, state.from) = (Some(beginning), from);
        }
        drop(state);
        self.shared.changed.notify_all();
    }

    /// The time of the run at which the shares here begin; 0 until it is set.
    pub(crate) fn from(&self) -> Nanos {
        self.lock().from
    }

    /// Calls the appointment off: the run begins now.
    pub fn call_off(&self) {
        self.settle(AgreedStart::Now, Nanos::ZERO);
    }

    /// Waits for the beginning of the shares here, and returns the moment of the run's start; the
    /// present moment if the appointment was called off.
    pub(crate) fn keep(&self) -> Nanos {
        let mut state = self.lock();
        state.is_ready = true;
        loop {
            let now = self.clock.now();
            let changed = &self.shared.changed;
            state = match state.beginning {
                Some(AgreedStart::Now) => return now,
                Some(AgreedStart::At(at)) if at + state.from <= now => {
                    state.late = Some(now - at - state.from);
                    return at;
                }
                Some(AgreedStart::At(at)) => {
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
        // Nothing under the lock can panic.
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
