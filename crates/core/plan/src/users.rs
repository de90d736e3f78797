//! The maximum number of concurrent exchanges over the run.

use crate::{Law, Sequence};
use drumfire_units::{Nanos, Rate};

/// A number of users that changes at given times and is constant in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserSteps(Vec<(Nanos, u32)>);

impl UserSteps {
    /// The maximum number of users of a pool, because each needs memory.
    pub const MOST: u32 = 10_000_000;

    /// A constant number of users.
    #[must_use]
    pub fn constant(count: u32) -> Self {
        Self(vec![(Nanos::ZERO, count)])
    }

    /// The given number of users from each time on; the times ascend, and the first is the run's
    /// start.
    #[must_use]
    pub fn changing(changes: Vec<(Nanos, u32)>) -> Option<Self> {
        let starts = changes.first().is_some_and(|(at, _)| *at == Nanos::ZERO);
        let ascends = changes.windows(2).all(|pair| pair[0].0 < pair[1].0);
        (starts && ascends).then_some(Self(changes))
    }

    /// The changes: the number of users from each time on.
    #[must_use]
    pub fn changes(&self) -> &[(Nanos, u32)] {
        &self.0
    }

    /// The maximum number.
    #[must_use]
    pub fn most(&self) -> u32 {
        self.0.iter().map(|(_, count)| *count).max().unwrap_or(0)
    }

    /// The share of one of `of` workers; the shares of all workers add up to the whole at any time.
    #[must_use]
    pub fn share(&self, worker: u32, of: u32) -> Self {
        let of = of.max(1);
        let part = |count: u32| count / of + u32::from(worker < count % of);
        Self(self.0.iter().map(|(at, n)| (*at, part(*n))).collect())
    }

    /// Interprets a law's numbers as users: consecutive `const`, `step` and `line` pieces; a line
    /// adds or removes one user at a time.
    ///
    /// # Errors
    /// For laws that are not a number over time, or that have fractions of users; as text.
    pub fn of_law(sequence: &Sequence) -> Result<(Self, Nanos), String> {
        let mut changes: Vec<(Nanos, u32)> = Vec::new();
        let mut start = Nanos::ZERO;
        for law in &sequence.0 {
            start = piece(law, start, &mut changes)?;
        }
        changes.dedup_by_key(|(_, count)| *count);
        match Self::changing(changes) {
            Some(users) => Ok((users, start)),
            None => Err("the number of users is missing; write one such as 50".to_owned()),
        }
    }
}

/// Appends one piece's changes. Returns the end of the piece.
fn piece(law: &Law, start: Nanos, changes: &mut Vec<(Nanos, u32)>) -> Result<Nanos, String> {
    match law {
        Law::Const { rate, duration } => {
            set(changes, start, whole(*rate)?);
            Ok(start + *duration)
        }
        Law::Step {
            from,
            to,
            by,
            duration,
        } => {
            let (from, to, by) = (whole(*from)?, whole(*to)?, whole(*by)?.max(1));
            let mut at = start;
            let mut count = from;
            loop {
                set(changes, at, count);
                at += *duration;
                if count == to {
                    return Ok(at);
                }
                count = if to > from {
                    count.saturating_add(by).min(to)
                } else {
                    count.saturating_sub(by).max(to)
                };
            }
        }
        Law::Line { from, to, duration } => {
            let (from, to) = (whole(*from)?, whole(*to)?);
            let span = u128::from(from.abs_diff(to)).max(1);
            for step in 0..=from.abs_diff(to) {
                let at = start + Nanos((u128::from(duration.0) * u128::from(step) / span) as u64);
                set(
                    changes,
                    at,
                    if to > from { from + step } else { from - step },
                );
            }
            Ok(start + *duration)
        }
        _ => Err("users can't follow this law; use `const`, `step` or `line`".to_owned()),
    }
}

/// The message for more than [`UserSteps::MOST`].
pub(crate) const TOO_MANY: &str = "a pool has at most 10,000,000 users; write fewer";

/// Sets the number to `count` from `at` on; the later of two changes at one time applies.
fn set(changes: &mut Vec<(Nanos, u32)>, at: Nanos, count: u32) {
    match changes.last_mut() {
        Some(last) if last.0 == at => last.1 = count,
        _ => changes.push((at, count)),
    }
}

/// A rate's number, as users.
fn whole(rate: Rate) -> Result<u32, String> {
    let per_second = rate.events.checked_mul(1_000_000_000);
    match per_second.map(|events| (events / rate.per.0, events % rate.per.0)) {
        // Check this before a law is expanded, which takes memory for each change of the number.
        Some((count, 0)) if count > u64::from(UserSteps::MOST) => Err(TOO_MANY.to_owned()),
        Some((count, 0)) => Ok(count as u32),
        _ => Err("the number of users must be a whole number, such as 50".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(text: &str) -> Result<(UserSteps, Nanos), String> {
        UserSteps::of_law(&text.parse().expect("a law"))
    }

    #[test]
    fn more_users_than_memory_is_taken_for_are_refused_before_they_are_laid_out() {
        for text in [
            "line(1,4294967295,1s)",
            "step(1,1000000000,1,1ns)",
            "const(10000001,1s)",
        ] {
            assert_eq!(law(text), Err(TOO_MANY.to_owned()), "{text}");
        }
        assert_eq!(
            law("const(10000000,1s)").map(|(users, _)| users.most()),
            Ok(UserSteps::MOST)
        );
    }

    fn changes(text: &str) -> Vec<(u64, u32)> {
        let (users, _) = law(text).expect("users");
        users
            .changes()
            .iter()
            .map(|(at, n)| (at.0 / 1_000_000_000, *n))
            .collect()
    }

    #[test]
    fn laws_are_numbers_over_time() {
        assert_eq!(changes("const(5,10s)"), [(0, 5)]);
        assert_eq!(changes("step(2,7,2,1s)"), [(0, 2), (1, 4), (2, 6), (3, 7)]);
        assert_eq!(changes("step(8,1,3,1s)"), [(0, 8), (1, 5), (2, 2), (3, 1)]);
        assert_eq!(
            changes("line(0,4,8s)"),
            [(0, 0), (2, 1), (4, 2), (6, 3), (8, 4)]
        );
        assert_eq!(
            changes("line(3,1,4s) const(6,1s)"),
            [(0, 3), (2, 2), (4, 6)]
        );
        assert_eq!(
            law("const(5,10s) const(9,2s)").map(|(_, end)| end),
            Ok(Nanos::from_secs(12))
        );
    }

    #[test]
    fn what_is_no_number_of_users_is_refused() {
        for text in ["once(5)", "const(1/m,10s)", "sine(10,5,1s,10s)"] {
            assert!(law(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shares_add_up() {
        let (users, _) = law("line(0,23,60s)").expect("users");
        for of in 1..7 {
            let shares: Vec<UserSteps> = (0..of).map(|worker| users.share(worker, of)).collect();
            for (k, (_, whole)) in users.changes().iter().enumerate() {
                let sum: u32 = shares.iter().map(|share| share.changes()[k].1).sum();
                assert_eq!(sum, *whole);
            }
        }
    }
}
