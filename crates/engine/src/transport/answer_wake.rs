//! The wake at which the transport asks for the answers to look-ups.
//!
//! Look-ups run on threads of their own and wake nothing: while any is under way the transport asks
//! for answers at [`Wake::LookUps`], every [`LOOK_UP`]. [`AnswerWake::set`] may be called whenever
//! a look-up begins, and at each wake after which one is still under way, by each kind of look-up.

use crate::limits::LOOK_UP;
use crate::timers::{Timers, Wake};
use drumfire_units::Nanos;

/// The time of the wake that was set last: one that is passed is set no longer.
#[derive(Debug, Default)]
pub(super) struct AnswerWake(Nanos);

impl AnswerWake {
    /// Sets the wake, unless it is set. If each kind of look-up set one of its own at each wake,
    /// their number would double every [`LOOK_UP`] while two kinds are under way.
    pub(super) fn set(&mut self, timers: &mut Timers, now: Nanos) {
        if self.0 <= now {
            self.0 = now + LOOK_UP;
            timers.at(self.0, Wake::LookUps);
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
