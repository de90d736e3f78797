//! Two sets of runs: the rank-sum test of Mann, Whitney and Wilcoxon, and the shift of Hodges and
//! Lehmann between the sets.
//!
//! Both methods assume only that the runs of a set are alike and independent. The distribution of
//! the test is enumerated for the actual ties, and is not an approximation. The interval of the
//! shift is computed as if the values had no ties, and is a little too wide if they have some.

use crate::tail::beyond;

/// The maximum number of values in a set: the distribution of two such sets takes a few
/// milliseconds.
pub const RUNS_MAX: usize = 60;

/// A comparison of two sets of values by their ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankSum {
    /// U of the second set: the number of pairs in which its value is the larger one, plus half the
    /// number of pairs in which both are equal.
    pub u: f64,
    /// The probability that equal sets differ at least as much, in either direction; 0 to 1.
    pub p: f64,
}

/// The shift from one set to another, in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The median of all differences between a value of the second set and one of the first (Hodges
    /// and Lehmann 1963).
    pub estimate: f64,
    /// An interval that contains the true shift with at least the requested confidence. `None` if
    /// there are too few values for one.
    pub interval: Option<(f64, f64)>,
}

impl RankSum {
    /// Compares two sets. `None` if a set is empty, has more than [`RUNS_MAX`] values, or contains
    /// a value that is not a number.
    #[must_use]
    pub fn compare(first: &[f64], second: &[f64]) -> Option<Self> {
        if !is_set(first) || !is_set(second) {
            return None;
        }
        let ranks = doubled_ranks(first, second);
        let sum: usize = ranks[first.len()..].iter().sum();
        let n = second.len();
        let ways = sums(&ranks, n);
        let all: f64 = ways.iter().sum();
        let share = |ways: &[f64]| ways.iter().sum::<f64>() / all;
        let p = 2.0 * share(&ways[..=sum]).min(share(&ways[sum..]));
        Some(Self {
            u: sum as f64 / 2.0 - (n * (n + 1)) as f64 / 2.0,
            p: p.min(1.0),
        })
    }

    /// The smallest probability that sets of these sizes can have: with a bound below it nothing
    /// can ever be found.
    #[must_use]
    pub fn least(first: usize, second: usize) -> f64 {
        let all: f64 = (1..=second)
            .map(|k| (first + k) as f64 / k as f64)
            .product();
        (2.0 / all).min(1.0)
    }
}

impl Shift {
    /// The shift from `first` to `second`, with an interval of this confidence, such as 0.95.
    /// `None` if [`RankSum::compare`] returns `None`.
    #[must_use]
    pub fn estimate(first: &[f64], second: &[f64], confidence: f64) -> Option<Self> {
        if !is_set(first) || !is_set(second) {
            return None;
        }
        let pairs = second.iter().flat_map(|b| first.iter().map(move |a| b - a));
        let mut differences: Vec<f64> = pairs.collect();
        differences.sort_by(f64::total_cmp);
        let last = differences.len() - 1;
        let middle = f64::midpoint(differences[last / 2], differences[last.div_ceil(2)]);
        let cut = cut(first.len(), second.len(), (1.0 - confidence) / 2.0);
        Some(Self {
            estimate: middle,
            interval: cut.map(|cut| (differences[cut], differences[last - cut])),
        })
    }
}

fn is_set(values: &[f64]) -> bool {
    let length = 1..=RUNS_MAX;
    length.contains(&values.len()) && values.iter().all(|value| value.is_finite())
}

/// Twice the rank of each value among all values of both sets, in the given order. Equal values
/// share the mean of their ranks, and twice this mean is a whole number.
fn doubled_ranks(first: &[f64], second: &[f64]) -> Vec<usize> {
    let all: Vec<f64> = first.iter().chain(second).copied().collect();
    let rank = |value: &f64| {
        let below = all.iter().filter(|other| *other < value).count();
        let equal = all.iter().filter(|other| *other == value).count();
        2 * below + equal + 1
    };
    all.iter().map(rank).collect()
}

/// The number of ways in which `count` of these ranks have each sum, starting at 0. Beyond 2^53 the
/// numbers are rounded, which hardly affects their shares.
fn sums(ranks: &[usize], count: usize) -> Vec<f64> {
    let most: usize = ranks.iter().sum();
    let mut ways = vec![vec![0.0; most + 1]; count + 1];
    ways[0][0] = 1.0;
    for (seen, rank) in ranks.iter().enumerate() {
        for of in (0..count.min(seen + 1)).rev() {
            let (fewer, more) = ways.split_at_mut(of + 1);
            let from = &fewer[of][..=most - rank];
            for (sum, ways) in more[0][*rank..].iter_mut().zip(from) {
                *sum += ways;
            }
        }
    }
    ways.pop().unwrap_or_default()
}

/// The number of sorted differences to leave out at each end, so that at most `tail` is beyond.
/// `None` if even the outermost ones are too near.
fn cut(first: usize, second: usize, tail: f64) -> Option<usize> {
    let ranks: Vec<usize> = (1..=first + second).collect();
    let ways = sums(&ranks, second);
    // P(U ≤ u), starting at u = 0.
    let least = second * (second + 1) / 2;
    beyond(&ways[least..], tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }

    type Case = (&'static [f64], &'static [f64], f64, f64);

    /// Drawn from two normal distributions.
    const SCIPY: [Case; 4] = [
        (&[9.198, 8.676, 9.752], &[11.22, 11.936, 10.91], 9.0, 0.1),
        (
            &[9.447, 9.215, 10.749, 11.635, 10.273],
            &[9.567, 9.842, 12.4, 11.003, 9.068, 10.716, 9.637],
            18.0,
            1.0,
        ),
        (
            &[9.371, 9.512, 9.287, 10.553, 9.937, 9.411],
            &[11.21, 11.63, 9.157, 10.543, 9.819, 10.627],
            27.0,
            0.179_653_679_653_679_65,
        ),
        (
            &[
                8.711, 10.021, 9.962, 9.696, 8.952, 9.604, 8.909, 8.645, 10.225, 8.891, 11.17,
                10.717,
            ],
            &[
                8.802, 11.072, 9.698, 10.833, 10.844, 8.812, 10.567, 10.544, 11.762,
            ],
            76.0,
            0.128_534_004_694_995_43,
        ),
    ];

    #[test]
    fn rank_sums_are_those_of_scipy() {
        // From scipy 1.17.1, `mannwhitneyu(second, first, method="exact")`.
        for (first, second, u, p) in SCIPY {
            let found = RankSum::compare(first, second).unwrap();
            close(found.u, u);
            close(found.p, p);
        }
    }

    #[test]
    fn ties_are_counted_out() {
        // All six ways of choosing two of 1, 1, 2, 2: sums of ranks 3, 5 (four times), 7.
        let found = RankSum::compare(&[1.0, 1.0], &[2.0, 2.0]).unwrap();
        close(found.u, 4.0);
        close(found.p, 2.0 / 6.0);
        let equal = RankSum::compare(&[1.0, 1.0], &[1.0, 1.0]).unwrap();
        close(equal.p, 1.0);
    }

    #[test]
    fn a_shift_is_the_median_difference() {
        let base: Vec<f64> = (0..6).map(f64::from).collect();
        let later: Vec<f64> = base.iter().map(|value| value + 10.0).collect();
        let shift = Shift::estimate(&base, &later, 0.95).unwrap();
        close(shift.estimate, 10.0);
        let (low, high) = shift.interval.unwrap();
        assert!(low < 10.0 && 10.0 < high, "{shift:?}");
        // P(U ≤ 5) is 0.0206 and P(U ≤ 6) 0.0325, so five differences are beyond each end.
        assert_eq!((low, high), (7.0, 13.0));
        assert_eq!(
            Shift::estimate(&[1.0, 2.0], &[3.0, 4.0], 0.95)
                .unwrap()
                .interval,
            None
        );
    }

    #[test]
    fn too_few_runs_have_a_least_probability() {
        close(RankSum::least(3, 3), 0.1);
        close(RankSum::least(4, 4), 2.0 / 70.0);
        close(RankSum::least(1, 1), 1.0);
    }

    #[test]
    fn what_is_no_set_has_no_test() {
        assert_eq!(RankSum::compare(&[], &[1.0]), None);
        assert_eq!(RankSum::compare(&[f64::NAN], &[1.0]), None);
        assert_eq!(RankSum::compare(&[1.0; RUNS_MAX + 1], &[1.0]), None);
        assert!(Shift::estimate(&[1.0; RUNS_MAX], &[2.0; RUNS_MAX], 0.95).is_some());
    }

    proptest! {
        #[test]
        fn both_directions_have_one_probability(
            first in prop::collection::vec(0_u8..20, 1..9),
            second in prop::collection::vec(0_u8..20, 1..9),
        ) {
            let [first, second] = [first, second].map(|set| {
                set.into_iter().map(f64::from).collect::<Vec<_>>()
            });
            let there = RankSum::compare(&first, &second).unwrap();
            let back = RankSum::compare(&second, &first).unwrap();
            prop_assert!((there.p - back.p).abs() < 1e-9);
            prop_assert!((there.u + back.u - (first.len() * second.len()) as f64).abs() < 1e-9);
            let shift = Shift::estimate(&first, &second, 0.9).unwrap();
            let back = Shift::estimate(&second, &first, 0.9).unwrap();
            prop_assert!((shift.estimate + back.estimate).abs() < 1e-9);
            prop_assert!(there.p >= RankSum::least(first.len(), second.len()) - 1e-9);
        }
    }
}
