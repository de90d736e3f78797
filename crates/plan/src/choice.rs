//! Which one of a pool's requests, or of its scenarios, an arrival takes.

use crate::Random;
use std::fmt;
use std::sync::Arc;

/// Draws of choices are apart from all that programs draw, which count users from 0.
const DRAWS: u64 = u64::MAX;

/// Which one of a list an arrival takes: a function of the seed and the arrival's number, so that
/// any worker of any machine comes to the same result.
#[derive(Clone, Debug, Default)]
pub enum Choice {
    /// Each in turn.
    #[default]
    InTurn,
    /// In the order of a cycle, which is never empty: the places in the list, from 0.
    Cycle(Arc<[u32]>),
    /// At random, each by its share.
    Drawn(Shares),
    /// What the data of the requests says.
    By(Arc<dyn Pick>),
}

/// Says which one of a list each arrival takes, because its data is made for that one: a line of a
/// file of requests goes with a method and a name.
pub trait Pick: Send + Sync + fmt::Debug {
    /// The place in the list, from 0. What lies behind the list's end is its last.
    fn pick(&self, arrival: u64) -> u32;

    /// For how many arrivals there is data; a round of it.
    fn count(&self) -> u64;
}

/// The shares of a list, by which one is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    /// The sum of the weights up to and with each; the last is the sum of all.
    ends: Arc<[u64]>,
}

impl Shares {
    /// Shares in proportion to these weights; `None` where their sum is 0 or no 64-bit number.
    #[must_use]
    pub fn new(weights: &[u64]) -> Option<Self> {
        let mut sum = 0_u64;
        let mut ends = Vec::with_capacity(weights.len());
        for weight in weights {
            sum = sum.checked_add(*weight)?;
            ends.push(sum);
        }
        (sum > 0).then(|| Self { ends: ends.into() })
    }

    fn of(&self, drawn: u64) -> usize {
        self.ends.partition_point(|end| *end <= drawn)
    }
}

impl Choice {
    /// A cycle in which each of a list comes as often as its weight says, spread as evenly as they
    /// go: with weights 3 and 1 it is A, A, B, A. Weights lose their common divisor. `None` where
    /// all are 0, or the cycle would have more than `most`.
    #[must_use]
    pub fn spread(weights: &[u64], most: u64) -> Option<Self> {
        let divisor = weights.iter().copied().fold(0, greatest_common_divisor);
        let weights: Vec<u64> = weights
            .iter()
            .map(|w| w.checked_div(divisor))
            .collect::<Option<_>>()?;
        let sum = weights
            .iter()
            .try_fold(0_u64, |sum, w| sum.checked_add(*w))?;
        if sum == 0 || sum > most {
            return None;
        }
        // The one that lags most behind its share comes next (smooth weighted round robin).
        let mut ahead = vec![0_i128; weights.len()];
        let mut cycle = Vec::with_capacity(sum as usize);
        for _ in 0..sum {
            let mut next = 0;
            for (k, weight) in weights.iter().enumerate() {
                ahead[k] += i128::from(*weight);
                if ahead[k] > ahead[next] {
                    next = k;
                }
            }
            ahead[next] -= i128::from(sum);
            cycle.push(next as u32);
        }
        Some(Self::Cycle(cycle.into()))
    }

    /// A cycle in which each of a list comes as often as its weight says, all turns of one behind
    /// each other: with weights 3 and 1 it is A, A, A, B. `None` as [`Self::spread`].
    #[must_use]
    pub fn blocks(weights: &[u64], most: u64) -> Option<Self> {
        let Self::Cycle(cycle) = Self::spread(weights, most)? else {
            return None;
        };
        let mut cycle = cycle.to_vec();
        cycle.sort_unstable();
        Some(Self::Cycle(cycle.into()))
    }

    /// The place in a list of `length`, at least 1, that an arrival takes.
    #[inline]
    #[must_use]
    pub fn of(&self, arrival: u64, length: u64, seed: u64) -> u32 {
        match self {
            Self::InTurn if length == 1 => 0,
            Self::InTurn => (arrival % length) as u32,
            Self::Cycle(cycle) => cycle[(arrival % cycle.len() as u64) as usize],
            Self::Drawn(shares) => {
                let sum = shares.ends.last().copied().unwrap_or(1);
                shares.of(Random::new(seed, DRAWS, arrival, 0).below(sum)) as u32
            }
            Self::By(pick) => u64::from(pick.pick(arrival)).min(length - 1) as u32,
        }
    }

    /// After how many arrivals a list of `length` has been gone through once.
    #[must_use]
    pub fn round(&self, length: u64) -> u64 {
        match self {
            Self::InTurn | Self::Drawn(_) => length,
            Self::Cycle(cycle) => cycle.len() as u64,
            Self::By(pick) => pick.count(),
        }
    }
}

const fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::{Choice, Shares};
    use proptest::prelude::*;

    fn taken(choice: &Choice, arrivals: u64, length: u64) -> Vec<u32> {
        (0..arrivals).map(|n| choice.of(n, length, 7)).collect()
    }

    #[test]
    fn lists_are_gone_through_in_turn_or_by_weights() {
        assert_eq!(taken(&Choice::InTurn, 5, 2), [0, 1, 0, 1, 0]);
        let spread = Choice::spread(&[6, 2], 100).expect("a cycle");
        assert_eq!(taken(&spread, 8, 2), [0, 0, 1, 0, 0, 0, 1, 0]);
        let blocks = Choice::blocks(&[6, 2], 100).expect("a cycle");
        assert_eq!(taken(&blocks, 5, 2), [0, 0, 0, 1, 0]);
        assert_eq!((spread.round(2), Choice::InTurn.round(2)), (4, 2));
        assert!(Choice::spread(&[0, 0], 100).is_none());
        assert!(Choice::spread(&[], 100).is_none());
        assert!(Choice::spread(&[100, 1], 100).is_none());
        assert!(Choice::spread(&[u64::MAX, 1], u64::MAX).is_none());
    }

    #[test]
    fn draws_follow_their_shares_and_can_be_repeated() {
        let choice = Choice::Drawn(Shares::new(&[0, 3, 1]).expect("shares"));
        let one = taken(&choice, 40_000, 3);
        assert_eq!(one, taken(&choice, 40_000, 3));
        let count = |which| one.iter().filter(|taken| **taken == which).count();
        assert_eq!(count(0), 0);
        assert!((29_500..30_500).contains(&count(1)), "{}", count(1));
        assert!(Shares::new(&[0]).is_none() && Shares::new(&[u64::MAX, 1]).is_none());
    }

    proptest! {
        #[test]
        fn a_cycle_keeps_its_shares_at_every_point(weights in prop::collection::vec(0_u64..9, 1..6)) {
            prop_assume!(weights.iter().any(|weight| *weight > 0));
            let choice = Choice::spread(&weights, 100).expect("a cycle");
            let length = weights.len() as u64;
            let sum: u64 = weights.iter().sum();
            let mut counts = vec![0_u64; weights.len()];
            for n in 0..choice.round(length) {
                counts[choice.of(n, length, 0) as usize] += 1;
                for (count, weight) in counts.iter().zip(&weights) {
                    let due = (n + 1) as f64 * *weight as f64 / sum as f64;
                    prop_assert!((*count as f64 - due).abs() < length as f64, "{counts:?}");
                }
            }
            for (count, weight) in counts.iter().zip(&weights) {
                prop_assert_eq!(count * sum, weight * choice.round(length));
            }
        }
    }
}
