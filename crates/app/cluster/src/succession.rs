//! Shares that pass from one place to another during a run, and their division.

use crate::message::{AgentKey, MachineFacts, SharesForm};
use drumfire_engine::Shares;
use drumfire_measure::form;
use drumfire_units::Nanos;

/// How a place got its shares during the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Succession {
    /// The lost place that had the shares.
    pub(crate) of: u32,
    /// The place of the agent that has the shares in addition to its own; this place if the agent
    /// had none.
    pub(crate) host: u32,
    /// The time of the run from which the shares are kept, once it is set.
    pub(crate) from: Option<Nanos>,
}

/// An offer of shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShareOffer {
    pub(crate) of: u32,
    /// The place of the agent that will have the shares in addition to its own; the next place for
    /// an agent without a share.
    pub(crate) host: u32,
    /// The name of the place's agent.
    pub(crate) agent: String,
    /// The key of the agent's process.
    pub(crate) key: AgentKey,
    /// The resources of the agent's machine.
    pub(crate) machine: MachineFacts,
    pub(crate) shares: Shares,
}

form! { struct ShareOffer { of, host, shares as SharesForm, agent, key, machine } }

/// The parts of shares that are not in `held`, whose members are parts of `shares`.
pub(crate) fn without(shares: Shares, mut held: Vec<Shares>) -> Vec<Shares> {
    held.sort_by_key(|held| held.first);
    let (mut next, end) = (shares.first, shares.first + shares.count);
    let mut free = Vec::new();
    let last = Shares {
        first: end,
        count: 0,
        of: shares.of,
    };
    for held in held.into_iter().chain([last]) {
        if held.first > next {
            free.push(Shares {
                first: next,
                count: held.first - next,
                of: shares.of,
            });
        }
        next = next.max(held.first + held.count);
    }
    free
}

/// Divides a number of shares in order: each gets its maximum until none are left.
pub(crate) fn in_order(mut shares: u32, most: impl Iterator<Item = u32>) -> Vec<u32> {
    let counts = most.map(|most| {
        let count = most.min(shares);
        shares -= count;
        count
    });
    counts.collect()
}

/// Divides a number of shares in turn, each getting at most its maximum.
pub(crate) fn evenly(mut shares: u32, most: &[u32]) -> Vec<u32> {
    let mut counts = vec![0; most.len()];
    while shares > 0 {
        let before = shares;
        for (count, most) in counts.iter_mut().zip(most) {
            if shares > 0 && *count < *most {
                (*count, shares) = (*count + 1, shares - 1);
            }
        }
        if shares == before {
            break;
        }
    }
    counts
}

/// Splits shares into adjacent parts with these counts. Also returns the rest.
pub(crate) fn parts(shares: Shares, counts: &[u32]) -> (Vec<Shares>, Shares) {
    let mut rest = shares;
    let mut take = |count: &u32| {
        let part = Shares {
            count: (*count).min(rest.count),
            ..rest
        };
        rest.first += part.count;
        rest.count -= part.count;
        part
    };
    let parts = counts.iter().map(&mut take).collect();
    (parts, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(first: u32, count: u32) -> Shares {
        Shares {
            first,
            count,
            of: 12,
        }
    }

    #[test]
    fn what_is_left_and_its_parts_are_a_partition() {
        for (held, free) in [
            (vec![], vec![shares(2, 7)]),
            (vec![shares(2, 7)], vec![]),
            (vec![shares(6, 3), shares(2, 1)], vec![shares(3, 3)]),
            (vec![shares(4, 2)], vec![shares(2, 2), shares(6, 3)]),
        ] {
            assert_eq!(without(shares(2, 7), held.clone()), free, "{held:?}");
        }
        let (dealt, rest) = parts(shares(2, 7), &[3, 0, 2]);
        assert_eq!(dealt, [shares(2, 3), shares(5, 0), shares(5, 2)]);
        assert_eq!(rest, shares(7, 2));
    }

    #[test]
    fn each_takes_as_many_as_it_can() {
        for (most, in_turn, one_by_one) in [
            (&[9, 9, 9][..], &[3, 2, 2][..], &[7, 0, 0][..]),
            (&[1, 9, 2], &[1, 4, 2], &[1, 6, 0]),
            (&[1, 0, 2], &[1, 0, 2], &[1, 0, 2]),
            (&[], &[], &[]),
        ] {
            assert_eq!(evenly(7, most), in_turn);
            assert_eq!(in_order(7, most.iter().copied()), one_by_one);
        }
    }
}
