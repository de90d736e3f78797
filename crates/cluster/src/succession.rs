//! Shares that pass from one place to another during a run, and how they are divided.

use drumfire_engine::Shares;
use drumfire_units::Nanos;

/// How a place came by its shares during the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Succession {
    /// The lost place that had them.
    pub(crate) of: u32,
    /// The place of the agent that has them beside its own.
    pub(crate) host: u32,
    /// The time of the run from which they are kept, once it is named.
    pub(crate) from: Option<Nanos>,
}

/// Shares that are to be offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) of: u32,
    pub(crate) host: u32,
    /// The name of the place's agent.
    pub(crate) agent: String,
    pub(crate) shares: Shares,
}

/// The parts of shares that are not in `held`, whose members are parts of them.
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

/// Shares in as many parts, none of which has two more than another.
pub(crate) fn dealt(shares: Shares, parts: u32) -> impl Iterator<Item = Shares> {
    let mut next = shares.first;
    (0..parts).map(move |part| {
        let first = next;
        let count = shares.count / parts + u32::from(part < shares.count % parts);
        next += count;
        Shares {
            first,
            count,
            of: shares.of,
        }
    })
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
        let parts: Vec<Shares> = dealt(shares(2, 7), 3).collect();
        assert_eq!(parts, [shares(2, 3), shares(5, 2), shares(7, 2)]);
    }
}
