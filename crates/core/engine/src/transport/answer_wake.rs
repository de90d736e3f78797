//! The timer at which the transport polls for the answers to look-ups.
//!
//! Look-ups run on their own threads and wake nothing: while any is running, the transport polls
//! for answers at [`Wake::LookUps`], every [`LOOK_UP`]. Each kind of look-up calls
//! [`AnswerWake::set`] when a look-up begins, and at each wake after which one is still running.

use crate::limits::LOOK_UP;
use crate::timers::{Timers, Wake};
use drumfire_units::Nanos;

/// The time of the last wake that was set; a past time means that none is set.
#[derive(Debug, Default)]
pub(super) struct AnswerWake(Nanos);

impl AnswerWake {
    /// Sets the wake, unless it is set already. If each kind of look-up set its own at each wake,
    /// their number would double every [`LOOK_UP`] while two kinds are running.
    pub(super) fn set(&mut self, timers: &mut Timers, now: Nanos) {
        if self.0 <= now {
            self.0 = now + LOOK_UP;
            timers.insert(self.0, Wake::LookUps);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_ups_of_two_kinds_are_asked_for_by_one_wake() {
        let (mut timers, mut wake) = (Timers::default(), AnswerWake::default());
        let mut set = |timers: &mut Timers, now| {
            wake.set(timers, now);
            wake.set(timers, now);
        };
        set(&mut timers, Nanos(1));
        for n in 1..=20 {
            let now = timers.next();
            assert_eq!(now, Nanos(1 + n * LOOK_UP.0));
            assert_eq!(timers.due(now), Some(Wake::LookUps));
            set(&mut timers, now);
            assert_eq!(timers.due(now), None, "a second wake at one time");
        }
    }
}
