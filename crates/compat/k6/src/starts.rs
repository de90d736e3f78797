//! When iterations start and users come and go: the formulas of the executors.

use drumfire_units::Nanos;

use crate::executor::{Executor, Stage};

/// The due times of the iterations of an executor that starts them by a rate, from the start of the
/// scenario. Each time is computed from the start, so that rounding does not add up. No time is at or after
/// the end of the regular duration.
#[derive(Clone, Debug)]
pub struct Arrivals {
    pieces: Vec<Piece>,
    end: Nanos,
    /// The number of the next iteration, from 0.
    next: u64,
    /// Whether the first iteration is due when the area under the rate is 0 and not 1.
    from_zero: bool,
    at: usize,
}

/// A part of a rate that changes evenly, with the area under the parts before it.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: f64,
    duration: f64,
    /// Iterations for each nanosecond at the start and at the end.
    from: f64,
    to: f64,
    before: f64,
}

impl Piece {
    fn area(&self) -> f64 {
        self.duration * (self.from + self.to) / 2.0
    }

    /// The time at which the area under the rate reaches `wanted`, from the start of the part: the solution
    /// of `from·x + (to − from)·x²/(2·duration) = wanted`.
    fn reach(&self, wanted: f64) -> f64 {
        if self.from == self.to {
            return wanted / self.from;
        }
        let slope = (self.to - self.from) / self.duration;
        let root = (self.from * self.from + 2.0 * slope * wanted)
            .max(0.0)
            .sqrt();
        // The form without cancellation.
        2.0 * wanted / (self.from + root)
    }
}

impl Arrivals {
    /// The arrivals of an executor; `None` if it starts iterations by users.
    #[must_use]
    pub fn of(executor: &Executor) -> Option<Self> {
        match executor {
            Executor::ConstantArrivals {
                rate,
                unit,
                duration,
                ..
            } => {
                let rate = *rate as f64 / unit.0 as f64;
                let stage = Stage {
                    duration: *duration,
                    target: 0,
                };
                let mut arrivals = Self::new(&[(stage, rate)], rate);
                arrivals.from_zero = true;
                Some(arrivals)
            }
            Executor::RampingArrivals {
                start,
                unit,
                stages,
                ..
            } => {
                let rate = |count: u64| count as f64 / unit.0 as f64;
                let stages: Vec<(Stage, f64)> = stages
                    .iter()
                    .map(|stage| (*stage, rate(stage.target)))
                    .collect();
                Some(Self::new(&stages, rate(*start)))
            }
            _ => None,
        }
    }

    fn new(stages: &[(Stage, f64)], start: f64) -> Self {
        let (mut pieces, mut from) = (Vec::new(), start);
        let (mut time, mut before) = (0_u64, 0.0);
        for (stage, to) in stages {
            let piece = Piece {
                start: time as f64,
                duration: stage.duration.0 as f64,
                from,
                to: *to,
                before,
            };
            if stage.duration > Nanos::ZERO {
                before += piece.area();
                pieces.push(piece);
            }
            time = time.saturating_add(stage.duration.0);
            from = *to;
        }
        Self {
            pieces,
            end: Nanos(time),
            next: 0,
            from_zero: false,
            at: 0,
        }
    }

    /// The due time of the next iteration, without taking it.
    #[must_use]
    pub fn peek(&mut self) -> Option<Nanos> {
        let wanted = self.next as f64 + if self.from_zero { 0.0 } else { 1.0 };
        while let Some(piece) = self.pieces.get(self.at) {
            let left = wanted - piece.before;
            if left <= piece.area() && (piece.from > 0.0 || piece.to > 0.0) {
                let due = Nanos((piece.start + piece.reach(left)) as u64);
                return (due < self.end).then_some(due);
            }
            self.at += 1;
        }
        None
    }

    /// Take the next iteration.
    pub fn advance(&mut self) {
        self.next += 1;
    }
}

/// A change to the number of users that iterate: from `at` on there are `users`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The time, from the start of the scenario.
    pub at: Nanos,
    /// The number of users.
    pub users: u64,
}

/// The changes to the number of users of stages, one user at a time unless a stage is a jump.
///
/// Up from `a` to `b` over a time `D`, user `k` comes `⌊D·(b − k)/(b − a)⌋` before the end of the stage, so
/// that the last one comes at its end. Down, user after user leaves every `D/(a − b)`.
#[must_use]
pub fn changes(start: u64, stages: &[Stage]) -> Vec<Change> {
    let mut changes = vec![Change {
        at: Nanos::ZERO,
        users: start,
    }];
    let (mut begin, mut from) = (0_u64, start);
    for stage in stages {
        let (length, to) = (stage.duration.0, stage.target);
        let share = |part: u64, of: u64| {
            u64::try_from(u128::from(length) * u128::from(part) / u128::from(of)).unwrap_or(length)
        };
        if length == 0 {
            changes.push(Change {
                at: Nanos(begin),
                users: to,
            });
        } else if to > from {
            changes.extend((from + 1..=to).map(|user| Change {
                at: Nanos(begin + length - share(to - user, to - from)),
                users: user,
            }));
        } else {
            changes.extend((1..=from - to).map(|left| Change {
                at: Nanos(begin + share(left, from - to)),
                users: from - left,
            }));
        }
        begin = begin.saturating_add(length);
        from = to;
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::Users;

    const SECOND: u64 = 1_000_000_000;
    const USERS: Users = Users {
        allocated: 1,
        max: 1,
    };

    fn stage(seconds: u64, target: u64) -> Stage {
        Stage {
            duration: Nanos(seconds * SECOND),
            target,
        }
    }

    fn millis(executor: &Executor) -> Vec<u64> {
        let mut arrivals = Arrivals::of(executor).expect("a rate");
        let times = std::iter::from_fn(|| {
            let due = arrivals.peek()?;
            arrivals.advance();
            Some(due.0 / 1_000_000)
        });
        times.collect()
    }

    #[test]
    fn a_constant_rate_starts_at_once_and_ends_before_its_end() {
        let executor = Executor::ConstantArrivals {
            rate: 10,
            unit: Nanos(SECOND),
            duration: Nanos(SECOND),
            users: USERS,
        };
        assert_eq!(
            millis(&executor),
            [0, 100, 200, 300, 400, 500, 600, 700, 800, 900]
        );
    }

    /// Ten a second for a second, then to twenty over two: the area is 40, and the last one is due at the
    /// end, which is left out.
    #[test]
    fn a_ramp_starts_where_the_area_is_whole() {
        let executor = Executor::RampingArrivals {
            start: 10,
            unit: Nanos(SECOND),
            stages: vec![stage(1, 10), stage(2, 20)],
            users: USERS,
        };
        let times = millis(&executor);
        assert_eq!(times.len(), 39);
        assert_eq!(times[..3], [100, 200, 300]);
        assert_eq!(times[9..12], [1000, 1097, 1190]);
        assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn a_ramp_to_nothing_and_a_pause() {
        let executor = Executor::RampingArrivals {
            start: 4,
            unit: Nanos(SECOND),
            stages: vec![stage(2, 0), stage(3, 0), stage(0, 2), stage(1, 2)],
            users: USERS,
        };
        let times = millis(&executor);
        assert_eq!(times.len(), 5, "{times:?}");
        assert!(times[3] <= 2000 && times[4] == 5500, "{times:?}");
    }

    /// As seen of k6: users begin at 0, 1334, 2667 and 4000 ms, and leave at 5, 6, 7 and 8 s.
    #[test]
    fn users_come_and_go() {
        let seen: Vec<(u64, u64)> = changes(1, &[stage(4, 4), stage(4, 0)])
            .iter()
            .map(|change| (change.at.0 / 1_000_000, change.users))
            .collect();
        assert_eq!(
            seen,
            [
                (0, 1),
                (1333, 2),
                (2666, 3),
                (4000, 4),
                (5000, 3),
                (6000, 2),
                (7000, 1),
                (8000, 0)
            ]
        );
        let jumps: Vec<u64> = changes(0, &[stage(0, 3), stage(1, 3), stage(0, 1)])
            .iter()
            .map(|change| change.users)
            .collect();
        assert_eq!(jumps, [0, 3, 1]);
    }
}
