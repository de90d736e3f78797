//! A sequence of constant rates that counts its arrivals from 1 over all steps.
//!
//! All values are integers: areas are measured in parts of an arrival, with `per` parts each.

use crate::ScheduleError;
use drumfire_units::{Nanos, Rate};

/// The steps of one piece.
#[derive(Clone, Debug)]
pub(crate) struct Stairs {
    /// The number of parts of an arrival; also the common time span of the rates in nanoseconds.
    per: u128,
    /// Ascending by start; never empty.
    steps: Vec<Tread>,
    /// The end of the last step; `None` without an end.
    end: Option<u64>,
}

/// One step.
#[derive(Clone, Copy, Debug)]
struct Tread {
    /// The start, from the start of the piece.
    start: u64,
    /// Parts of an arrival in each nanosecond.
    rate: u128,
    /// The number of parts before this step.
    before: u128,
}

impl Stairs {
    /// Compiles the steps of [`drumfire_plan::Law::Stairs`].
    pub(crate) fn new(steps: &[(Rate, Nanos)], place: usize) -> Result<Self, ScheduleError> {
        let Some((first, _)) = steps.first() else {
            return Err(ScheduleError::Empty);
        };
        if steps.len() as u64 > ScheduleError::STEPS_MAX {
            return Err(ScheduleError::TooManySteps { piece: place });
        }
        let mut stairs = Self {
            per: u128::from(first.per.0),
            steps: Vec::with_capacity(steps.len()),
            end: Some(0),
        };
        let mut before = 0;
        for (rate, duration) in steps {
            let start = stairs
                .end
                .ok_or(ScheduleError::NeverEnds { piece: place })?;
            if rate.per != first.per || rate.per == Nanos::ZERO {
                return Err(ScheduleError::TooFine { piece: place });
            }
            let rate = u128::from(rate.events);
            stairs.steps.push(Tread {
                start,
                rate,
                before,
            });
            stairs.end = match *duration {
                Nanos::MAX => None,
                Nanos(span) => {
                    // The sum of at most 2^17 steps, each below 2^128 / 2^17 with rates of 2^47.
                    before = rate
                        .checked_mul(u128::from(span))
                        .and_then(|area| area.checked_add(before))
                        .ok_or(ScheduleError::TooManyArrivals { piece: place })?;
                    let end = start.checked_add(span);
                    Some(end.ok_or(ScheduleError::TooLong { piece: place })?)
                }
            };
        }
        Ok(stairs)
    }

    /// The end of the last step; `None` without an end.
    pub(crate) const fn end(&self) -> Option<u64> {
        self.end
    }

    /// The number of arrivals.
    pub(crate) fn count(&self) -> u64 {
        let whole = self.parts_before(self.end.unwrap_or(u64::MAX)) / self.per;
        u64::try_from(whole).unwrap_or(u64::MAX)
    }

    /// The time when arrival `n`, from 0, is due; the largest time if it is never due.
    #[inline]
    pub(crate) fn arrival(&self, n: u64) -> u64 {
        let parts = (u128::from(n) + 1) * self.per;
        // The step in which the parts are reached. Parts reached at a seam belong to the step
        // before it, because the step after it may have a rate of 0.
        let after = self.steps.partition_point(|step| step.before < parts);
        let Some(step) = after.checked_sub(1).map(|at| &self.steps[at]) else {
            return 0;
        };
        match (parts - step.before).checked_div(step.rate) {
            Some(within) => u64::try_from(within)
                .unwrap_or(u64::MAX)
                .saturating_add(step.start),
            None => u64::MAX,
        }
    }

    /// The number of arrivals due before `t`.
    pub(crate) fn count_before(&self, t: u64) -> u64 {
        let parts = self.parts_before(t.min(self.end.unwrap_or(u64::MAX)));
        // After the end, arrivals due at the end count too.
        let whole = match self.end {
            Some(end) if t > end => parts / self.per,
            _ => parts.saturating_sub(1) / self.per,
        };
        u64::try_from(whole).unwrap_or(u64::MAX)
    }

    /// The rate at `t` in arrivals per nanosecond.
    pub(crate) fn rate_at(&self, t: u64) -> f64 {
        self.steps[self.step_at(t)].rate as f64 / self.per as f64
    }

    /// Parts of arrivals from the start to `t`.
    fn parts_before(&self, t: u64) -> u128 {
        let step = &self.steps[self.step_at(t)];
        step.before + step.rate * u128::from(t - step.start)
    }

    /// The step that is active at `t`.
    fn step_at(&self, t: u64) -> usize {
        let after = self.steps.partition_point(|step| step.start <= t);
        after.saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stairs(steps: &[(u64, u64)]) -> Stairs {
        let steps: Vec<(Rate, Nanos)> = steps
            .iter()
            .map(|(rate, span)| (Rate::per_second(*rate), Nanos(*span)))
            .collect();
        Stairs::new(&steps, 0).unwrap()
    }

    const S: u64 = 1_000_000_000;

    #[test]
    fn the_first_arrival_comes_at_one_over_the_rate() {
        let law = stairs(&[(200, u64::MAX)]);
        assert_eq!(law.arrival(0), S / 200);
        assert_eq!(law.arrival(9_999), 50 * S);
        assert_eq!(law.count_before(50 * S), 9_999);
        assert_eq!(law.count_before(50 * S + 1), 10_000);
    }

    #[test]
    fn a_part_of_an_arrival_is_carried_over_a_seam() {
        // One and a half arrivals, then half an arrival in a tenth of a second.
        let law = stairs(&[(1, 3 * S / 2), (5, S)]);
        assert_eq!(law.arrival(0), S);
        assert_eq!(law.arrival(1), 3 * S / 2 + S / 10);
        assert_eq!(law.count(), 6);
    }

    #[test]
    fn silence_in_between_holds_nothing_back() {
        let law = stairs(&[(2, S), (0, S), (2, S)]);
        let due: Vec<u64> = (0..4).map(|n| law.arrival(n) * 2 / S).collect();
        assert_eq!(due, [1, 2, 5, 6]);
        assert_eq!(law.count(), 4);
    }

    proptest! {
        #[test]
        fn an_arrival_is_due_when_the_area_reaches_its_number(
            steps in prop::collection::vec((0u64..5_000, 1u64..5 * S), 1..20),
            n in 0u64..5_000,
        ) {
            let law = stairs(&steps);
            prop_assume!(n < law.count());
            let due = law.arrival(n);
            // The area, computed independently by iteration.
            let area = |t: u64| {
                let (mut at, mut sum) = (0u64, 0u128);
                for (rate, span) in &steps {
                    let part = t.saturating_sub(at).min(*span);
                    sum += u128::from(*rate) * u128::from(part);
                    at += span;
                }
                sum
            };
            let parts = u128::from(n + 1) * u128::from(S);
            let at_due = area(due);
            prop_assert!(at_due <= parts);
            prop_assert!(area(due + 1) > parts || at_due == parts);
            prop_assert!(law.count_before(due) <= n);
            prop_assert!(law.count_before(due + 1) > n);
            prop_assert!(n == 0 || law.arrival(n - 1) <= due);
        }
    }
}
