//! Which of a pool's requests, or of its scenarios, an arrival takes.

use crate::{Random, RequestContext};
use std::fmt;
use std::sync::Arc;

/// The stream of random numbers for choices; users are numbered from 0, so other draws do not use
/// it.
const DRAWS: u64 = u64::MAX;

/// Which item of a list an arrival takes: a function of the seed and the arrival's number, so that
/// any worker on any machine computes the same result.
#[derive(Clone, Debug, Default)]
pub enum Choice {
    /// All items in turn.
    #[default]
    InTurn,
    /// In the order of a cycle, which is not empty: indices into the list, from 0.
    Cycle(Arc<[u32]>),
    /// At random, in proportion to the shares.
    Drawn(Shares),
    /// As the data of the requests requires.
    By(Arc<dyn Pick>),
}

/// Selects the item for each arrival, because its data belongs to that item: a line in a file of
/// requests has a method and a name.
pub trait Pick: Send + Sync + fmt::Debug {
    /// The index in the list, from 0. An index beyond the list's end means its last item.
    fn pick(&self, arrival: u64) -> u32;

    /// The number of arrivals for which there is data: one round of it.
    fn count(&self) -> u64;
}

/// The weights for a random choice from a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    /// The sum of the weights up to and including each; the last is the total.
    ends: Arc<[u64]>,
}

impl Shares {
    /// Shares in proportion to these weights; `None` if their sum is 0 or exceeds 64 bits.
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

    fn pick(&self, drawn: u64) -> usize {
        self.ends.partition_point(|end| *end <= drawn)
    }
}

/// Numbers the arrivals that take some members of a list, so that these members use their own data
/// in order: the first arrival that takes one of them has turn 0, the next one turn 1, regardless
/// of the arrivals in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns {
    /// The number of arrivals after which the choice repeats; at least 1.
    round: u64,
    /// The positions within a round at which one of the members is taken, ascending.
    places: Arc<[u32]>,
}

impl Turns {
    /// The turn of a request: a number that is unique among the requests of its members. Turns are
    /// computed from the arrival's number, so that no worker needs to know what others have sent.
    /// If arrivals use the list in several parts, so do turns.
    #[must_use]
    pub fn turn(&self, request: &RequestContext) -> u64 {
        let parts = u64::from(request.parts.max(1));
        let (nth, part) = (request.arrival / parts, request.arrival % parts);
        let turn = self.before(nth.saturating_add(part)) - self.before(part);
        turn.saturating_mul(parts).saturating_add(part)
    }

    /// The number of arrivals in one part before the arrival with this turn; [`u64::MAX`] if no
    /// arrival has it.
    #[must_use]
    pub fn arrivals_before(&self, turn: u64) -> u64 {
        let Some(rounds) = turn.checked_div(self.places.len() as u64) else {
            return u64::MAX;
        };
        let place = self.places[(turn % self.places.len() as u64) as usize];
        rounds
            .saturating_mul(self.round)
            .saturating_add(place.into())
    }

    /// How many times a member is taken before this position in the turns of the whole list.
    fn before(&self, place: u64) -> u64 {
        let within = place % self.round;
        let begun = self.places.partition_point(|at| u64::from(*at) < within);
        (place / self.round)
            .saturating_mul(self.places.len() as u64)
            .saturating_add(begun as u64)
    }
}

impl Choice {
    /// The turns of the members of a list of `length` for which `is_member` holds. `None` if they
    /// cannot be computed from an arrival's number, because the choice is random or depends on a
    /// file.
    #[must_use]
    pub fn turns(&self, length: u64, is_member: impl Fn(u32) -> bool) -> Option<Turns> {
        let (round, places): (u64, Vec<u32>) = match self {
            Self::InTurn => {
                let length = u32::try_from(length).unwrap_or(u32::MAX);
                let places = (0..length).filter(|place| is_member(*place));
                (length.into(), places.collect())
            }
            Self::Cycle(cycle) => {
                let taken = (0..).zip(cycle.iter());
                let places = taken.filter(|(_, member)| is_member(**member));
                (cycle.len() as u64, places.map(|(at, _)| at).collect())
            }
            Self::Drawn(_) | Self::By(_) => return None,
        };
        Some(Turns {
            round: round.max(1),
            places: places.into(),
        })
    }

    /// A cycle in which each item occurs as often as its weight, spread as evenly as possible: for
    /// weights 3 and 1, the cycle is A, A, B, A. Weights are divided by their greatest common
    /// divisor. `None` if all weights are 0, or the cycle would have more than `most` items.
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
        // The item with the largest deficit against its share comes next (smooth weighted round
        // robin).
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

    /// A cycle in which each item occurs as often as its weight, in one block per item: for weights
    /// 3 and 1, the cycle is A, A, A, B. `None` as for [`Self::spread`].
    #[must_use]
    pub fn blocks(weights: &[u64], most: u64) -> Option<Self> {
        let Self::Cycle(cycle) = Self::spread(weights, most)? else {
            return None;
        };
        let mut cycle = cycle.to_vec();
        cycle.sort_unstable();
        Some(Self::Cycle(cycle.into()))
    }

    /// The index in a list of `length`, at least 1, that an arrival takes.
    #[inline]
    #[must_use]
    pub fn pick(&self, arrival: u64, length: u64, seed: u64) -> u32 {
        match self {
            Self::InTurn if length == 1 => 0,
            Self::InTurn => (arrival % length) as u32,
            Self::Cycle(cycle) => cycle[(arrival % cycle.len() as u64) as usize],
            Self::Drawn(shares) => {
                let sum = shares.ends.last().copied().unwrap_or(1);
                shares.pick(Random::new(seed, DRAWS, arrival, 0).below(sum)) as u32
            }
            Self::By(pick) => u64::from(pick.pick(arrival)).min(length - 1) as u32,
        }
    }

    /// The number of arrivals in one pass through a list of `length`.
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
    use crate::RequestContext;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn taken(choice: &Choice, arrivals: u64, length: u64) -> Vec<u32> {
        (0..arrivals).map(|n| choice.pick(n, length, 7)).collect()
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

    #[test]
    fn some_of_a_list_have_turns_among_each_other() {
        let turns = |choice: &Choice, member| choice.turns(2, |at| at == member).expect("turns");
        let of = |choice: &Choice, member, arrivals: &[u64]| -> Vec<u64> {
            let turn = |arrival: &u64| {
                let request = RequestContext {
                    arrival: *arrival,
                    ..RequestContext::default()
                };
                turns(choice, member).turn(&request)
            };
            arrivals.iter().map(turn).collect()
        };
        assert_eq!(of(&Choice::InTurn, 0, &[0, 2, 4, 6]), [0, 1, 2, 3]);
        assert_eq!(of(&Choice::InTurn, 1, &[1, 3, 5, 7]), [0, 1, 2, 3]);
        let blocks = Choice::blocks(&[3, 1], 100).expect("a cycle");
        assert_eq!(of(&blocks, 0, &[0, 1, 2, 4, 5]), [0, 1, 2, 3, 4]);
        assert_eq!(of(&blocks, 1, &[3, 7, 11]), [0, 1, 2]);
        assert_eq!(turns(&blocks, 0).arrivals_before(4), 5);
        assert_eq!(turns(&Choice::InTurn, 1).arrivals_before(3), 7);
        let never = Choice::spread(&[1, 0], 100).expect("a cycle");
        assert_eq!(turns(&never, 1).arrivals_before(0), u64::MAX);
        let drawn = Choice::Drawn(Shares::new(&[1, 1]).expect("shares"));
        assert!(drawn.turns(2, |_| true).is_none());
    }

    proptest! {
        /// Each part of the arrivals uses the list separately, as workers do, and has its own
        /// turns: all turns together are all numbers, each once.
        #[test]
        fn parts_have_each_turn_once(
            weights in prop::collection::vec(1_u64..5, 1..5),
            parts in 1_u32..5,
            member in 0_u32..5,
            each in 1_u64..40,
        ) {
            let choice = Choice::spread(&weights, 100).expect("a cycle");
            let length = weights.len() as u64;
            let member = member % weights.len() as u32;
            let turns = choice.turns(length, |at| at == member).expect("turns");
            let mut seen = HashSet::new();
            for part in 0..parts {
                let mut next = u64::from(part);
                for nth in 0..each {
                    if choice.pick(nth + u64::from(part), length, 0) == member {
                        let request = RequestContext {
                            arrival: nth * u64::from(parts) + u64::from(part),
                            parts,
                            ..RequestContext::default()
                        };
                        prop_assert_eq!(turns.turn(&request), next);
                        prop_assert!(seen.insert(next));
                        next += u64::from(parts);
                    }
                }
            }
        }

        #[test]
        fn a_cycle_keeps_its_shares_at_every_point(weights in prop::collection::vec(0_u64..9, 1..6)) {
            prop_assume!(weights.iter().any(|weight| *weight > 0));
            let choice = Choice::spread(&weights, 100).expect("a cycle");
            let length = weights.len() as u64;
            let sum: u64 = weights.iter().sum();
            let mut counts = vec![0_u64; weights.len()];
            for n in 0..choice.round(length) {
                counts[choice.pick(n, length, 0) as usize] += 1;
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
