//! The offset of one clock from another, measured by round trips.
//!
//! A message is sent at `sent` by the own clock, answered `at` by the other clock, and received at
//! `now` by the own clock. The other clock was read somewhere in between, so half the round trip
//! bounds the error:
//! ```text
//!   ahead = at − (sent + now) / 2,   uncertainty = (now − sent) / 2
//! ```
//!
//! The shortest of the latest round trips has the smallest uncertainty, and is the estimate.

use drumfire_measure::form;
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// The age of an agent's clock when it starts. An agent that takes over a share of a run that
/// started before the agent needs a time for that start.
pub(crate) const CLOCK_AGE: Nanos = Nanos::from_secs(366 * 86_400);
/// The number of latest round trips of which the shortest counts.
const ROUND_TRIPS: usize = 256;

/// The offset of another clock, with its bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offset {
    /// The other clock's reading minus the own clock's, in nanoseconds.
    pub ahead: i64,
    /// The maximum difference between the true offset and `ahead`.
    pub uncertainty: Nanos,
}

form! { struct Offset { ahead, uncertainty } }

impl Offset {
    /// The estimate from one round trip.
    const fn from_round_trip(sent: Nanos, at: Nanos, now: Nanos) -> Self {
        let middle = sent.0.midpoint(now.0);
        Self {
            ahead: at.0.wrapping_sub(middle).cast_signed(),
            uncertainty: Nanos(now.0.saturating_sub(sent.0).div_ceil(2)),
        }
    }

    /// The offset of the wall clocks. `other` and `own` are the wall clocks' readings at the epochs
    /// of the other and the own clock, in nanoseconds.
    pub(crate) const fn of_walls(self, other: u64, own: u64) -> Self {
        let epochs = other.wrapping_sub(own).cast_signed();
        Self {
            ahead: epochs.wrapping_add(self.ahead),
            uncertainty: self.uncertainty,
        }
    }

    /// The own clock's reading at a time of the other clock; `None` if it is before the own clock's
    /// epoch.
    #[must_use]
    pub fn to_own(self, other: Nanos) -> Option<Nanos> {
        let own = other.0.checked_add_signed(self.ahead.saturating_neg());
        own.map(Nanos)
    }
}

/// The latest round trips to one other clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundTrips(VecDeque<Offset>);

impl RoundTrips {
    pub(crate) fn add(&mut self, sent: Nanos, at: Nanos, now: Nanos) {
        if self.0.len() == ROUND_TRIPS {
            self.0.pop_front();
        }
        self.0.push_back(Offset::from_round_trip(sent, at, now));
    }

    /// The estimate of the shortest round trip.
    pub(crate) fn best(&self) -> Option<Offset> {
        self.0.iter().min_by_key(|trip| trip.uncertainty).copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_true_offset_lies_within_the_uncertainty() {
        for (there, back, ahead) in [(10, 10, 500), (90, 10, 500), (1, 700, -200_i64)] {
            let sent = Nanos(10_000);
            let at = Nanos((sent.0 + there).saturating_add_signed(ahead));
            let now = Nanos(sent.0 + there + back);
            let offset = Offset::from_round_trip(sent, at, now);
            let error = offset.ahead.abs_diff(ahead);
            assert!(error <= offset.uncertainty.0, "{offset:?} {ahead}");
        }
    }

    #[test]
    fn the_shortest_round_trip_counts() {
        let mut trips = RoundTrips::default();
        trips.add(Nanos(0), Nanos(1_000), Nanos(200));
        trips.add(Nanos(300), Nanos(1_210), Nanos(320));
        trips.add(Nanos(400), Nanos(1_400), Nanos(600));
        let best = trips.best().unwrap();
        assert_eq!((best.ahead, best.uncertainty), (900, Nanos(10)));
        assert_eq!(best.to_own(Nanos(1_000)), Some(Nanos(100)));
        assert_eq!(best.to_own(Nanos(899)), None, "before its epoch");
    }

    #[test]
    fn wall_clocks_differ_whenever_their_processes_began() {
        // The own process started 6 s before the other, and its wall clock is 2 s behind.
        let ahead = -6_000_000_000;
        let offset = Offset {
            ahead,
            uncertainty: Nanos(7),
        };
        let (other, own) = (1_700_000_006_000_000_000, 1_699_999_998_000_000_000);
        let walls = offset.of_walls(other, own);
        assert_eq!(walls.ahead, 2_000_000_000);
        assert_eq!(walls.uncertainty, Nanos(7));
        assert_eq!(offset.of_walls(own, own).ahead, ahead);
    }
}
