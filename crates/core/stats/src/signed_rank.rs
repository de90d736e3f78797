//! Pairs of runs: Wilcoxon's signed-rank test, and the shift of Hodges and Lehmann within pairs.
//!
//! Both methods use the differences within pairs, and assume that equal runs differ equally often
//! in either direction, which taking turns ensures. The distribution of the test is enumerated for
//! the actual ties of the differences. A difference of 0 has no direction and is left out of the
//! test, as in Wilcoxon's paper, but not of the shift.

use crate::rank_sum::{RUNS_MAX, Shift};
use crate::tail::beyond;

/// A comparison of pairs by the ranks of their differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRank {
    /// The sum of the ranks of the differences above 0; equal ones share the mean of their ranks.
    pub w: f64,
    /// The probability that equal pairs differ at least as much, in either direction; 0 to 1.
    pub p: f64,
}

impl SignedRank {
    /// Compares pairs by their differences. `None` if the slice is empty, has more than
    /// [`RUNS_MAX`] values, or contains a value that is not a number.
    #[must_use]
    pub fn from_differences(differences: &[f64]) -> Option<Self> {
        if !are_pairs(differences) {
            return None;
        }
        let ranks = Ranks::from_differences(differences);
        let above = |(rank, difference): (&usize, &f64)| match *difference > 0.0 {
            true => *rank,
            false => 0,
        };
        let sum: usize = ranks.doubled.iter().zip(differences).map(above).sum();
        Some(Self {
            w: sum as f64 / 2.0,
            p: ranks.probabilities()[sum],
        })
    }

    /// The smallest probability that this number of pairs can have: with a bound below it nothing
    /// can ever be found.
    #[must_use]
    pub fn least(pairs: usize) -> f64 {
        let pairs = i32::try_from(pairs).unwrap_or(i32::MAX);
        0.5_f64.powi(pairs.saturating_sub(1)).min(1.0)
    }

    /// The shift within pairs, with an interval of this confidence, such as 0.95: the median of the
    /// means of all pairs of differences, including each with itself (Walsh averages). `None` if
    /// [`Self::of`] returns `None`.
    #[must_use]
    pub fn shift(differences: &[f64], confidence: f64) -> Option<Shift> {
        if !are_pairs(differences) {
            return None;
        }
        let each = differences.iter().enumerate();
        let averages = each.flat_map(|(at, one)| {
            let others = differences[at..].iter();
            others.map(move |other| f64::midpoint(*one, *other))
        });
        let mut averages: Vec<f64> = averages.collect();
        averages.sort_by(f64::total_cmp);
        let last = averages.len() - 1;
        let cut = cut(differences.len(), (1.0 - confidence) / 2.0);
        Some(Shift {
            estimate: f64::midpoint(averages[last / 2], averages[last.div_ceil(2)]),
            interval: cut.map(|cut| (averages[cut], averages[last - cut])),
        })
    }
}

fn are_pairs(differences: &[f64]) -> bool {
    let length = 1..=RUNS_MAX;
    length.contains(&differences.len()) && differences.iter().all(|of| of.is_finite())
}

/// The ranks of differences without their signs, and the distribution of their sums.
#[derive(Clone, Debug)]
pub(crate) struct Ranks {
    /// Twice the rank of each difference among the differences that are not 0, which is a whole
    /// number; 0 for a difference of 0.
    pub(crate) doubled: Vec<usize>,
}

impl Ranks {
    pub(crate) fn from_differences(differences: &[f64]) -> Self {
        let sizes: Vec<f64> = differences.iter().map(|of| of.abs()).collect();
        let rank = |size: &f64| {
            let others = sizes.iter().filter(|other| **other > 0.0);
            let below = others.clone().filter(|other| *other < size).count();
            let equal = others.filter(|other| *other == size).count();
            match *size > 0.0 {
                true => 2 * below + equal + 1,
                false => 0,
            }
        };
        Self {
            doubled: sizes.iter().map(rank).collect(),
        }
    }

    /// The probability, by the doubled sum, that the sum of the ranks above 0 is at least as far
    /// from its middle as each sum, in either direction, if both signs are equally likely.
    pub(crate) fn probabilities(&self) -> Vec<f64> {
        let ways = sums(&self.doubled);
        let all: f64 = ways.iter().sum();
        let below = ways.iter().scan(0.0, |sum, ways| {
            *sum += ways / all;
            Some(*sum)
        });
        let below: Vec<f64> = below.collect();
        // Flipping all signs does not change the probability.
        let tail = |sum: usize| below[sum.min(below.len() - 1 - sum)];
        (0..below.len())
            .map(|sum| (2.0 * tail(sum)).min(1.0))
            .collect()
    }
}

/// The number of ways of choosing some of these ranks that have each sum, starting at 0. Beyond
/// 2^53 the numbers are rounded, which hardly affects their shares.
fn sums(ranks: &[usize]) -> Vec<f64> {
    let most: usize = ranks.iter().sum();
    let mut ways = vec![0.0; most + 1];
    ways[0] = 1.0;
    for rank in ranks.iter().filter(|rank| **rank > 0) {
        for sum in (*rank..=most).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    ways
}

/// The number of sorted averages to leave out at each end, so that at most `tail` is beyond. `None`
/// if even the outermost ones are too near.
fn cut(pairs: usize, tail: f64) -> Option<usize> {
    let ranks: Vec<usize> = (1..=pairs).collect();
    beyond(&sums(&ranks), tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }

    type Case = (&'static [f64], f64, f64, f64, Option<(f64, f64)>);

    /// Drawn from normal distributions.
    const SCIPY: [Case; 6] = [
        (&[1.001, 1.299, 0.726], 6.0, 0.25, 1.006_75, None),
        (
            &[-0.491, -0.055, -0.592, 0.46, 1.74, -0.092],
            9.0,
            0.843_75,
            -0.055,
            Some((-0.592, 1.74)),
        ),
        (
            &[-0.62, 0.49, 0.357, 0.105, -0.93, -0.029, 0.695],
            15.0,
            0.9375,
            0.037_75,
            Some((-0.62, 0.526)),
        ),
        (
            &[
                -0.844, 0.042, -1.401, -0.79, -1.342, 0.265, -0.767, 0.771, 0.657, 0.313,
            ],
            16.0,
            0.275_390_625,
            -0.2895,
            Some((-1.0545, 0.3495)),
        ),
        (
            &[
                -3.117, -1.139, -0.649, -0.487, -2.13, -1.078, -1.579, -1.409, 0.461, -1.408,
                -0.633, 0.284,
            ],
            3.0,
            0.002_441_406_25,
            -1.031,
            Some((-1.769, -0.4735)),
        ),
        (
            &[
                -0.284, 0.188, 0.41, 0.364, -0.925, 0.376, 1.659, -1.247, 1.159, 0.419, -0.341,
                2.3, 1.062, -0.899, 0.375, 0.877, 0.111, 0.983, 0.233, 0.967,
            ],
            158.0,
            0.048_440_933_227_539_06,
            0.375_75,
            Some((0.0115, 0.736)),
        ),
    ];

    #[test]
    fn signed_ranks_are_those_of_scipy() {
        // From scipy 1.17.1, `wilcoxon(differences, method="exact")`; the interval ends where that
        // test, on differences minus a shift, begins to find 5 %.
        for (differences, w, p, estimate, interval) in SCIPY {
            let found = SignedRank::from_differences(differences).unwrap();
            close(found.w, w);
            close(found.p, p);
            let shift = SignedRank::shift(differences, 0.95).unwrap();
            close(shift.estimate, estimate);
            assert_eq!(shift.interval.is_some(), interval.is_some());
            if let (Some(found), Some(expected)) = (shift.interval, interval) {
                close(found.0, expected.0);
                close(found.1, expected.1);
            }
        }
    }

    #[test]
    fn ties_and_zeros_are_counted_out() {
        // Ranks 1.5, 1.5, 3: of the eight sums, 0, 1.5, 1.5, 3, 3, 4.5, 4.5, 6, two are as extreme.
        let found = SignedRank::from_differences(&[1.0, 1.0, 2.0, 0.0]).unwrap();
        close(found.w, 6.0);
        close(found.p, 0.25);
        let none = SignedRank::from_differences(&[0.0; 8]).unwrap();
        close(none.p, 1.0);
        let shift = SignedRank::shift(&[0.0; 8], 0.95).unwrap();
        assert_eq!((shift.estimate, shift.interval), (0.0, Some((0.0, 0.0))));
    }

    #[test]
    fn fewer_than_six_pairs_show_nothing() {
        close(SignedRank::least(5), 0.0625);
        close(SignedRank::least(6), 0.031_25);
        close(SignedRank::least(0), 1.0);
        assert_eq!(SignedRank::from_differences(&[]), None);
        assert_eq!(SignedRank::from_differences(&[f64::NAN]), None);
        assert_eq!(SignedRank::from_differences(&[1.0; RUNS_MAX + 1]), None);
        assert!(SignedRank::from_differences(&[1.0; RUNS_MAX]).is_some());
    }

    proptest! {
        #[test]
        fn both_directions_have_one_probability(
            differences in prop::collection::vec(-20_i8..20, 1..14),
        ) {
            let there: Vec<f64> = differences.into_iter().map(f64::from).collect();
            let back: Vec<f64> = there.iter().map(|of| -of).collect();
            let tests = [&there, &back].map(|of| SignedRank::from_differences(of).unwrap());
            prop_assert!((tests[0].p - tests[1].p).abs() < 1e-9);
            prop_assert!(tests[0].p >= SignedRank::least(there.len()) - 1e-9);
            let shifts = [&there, &back].map(|of| SignedRank::shift(of, 0.9).unwrap());
            prop_assert!((shifts[0].estimate + shifts[1].estimate).abs() < 1e-9);
        }
    }
}
