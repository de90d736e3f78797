//! The parts of a plan's load that machines take, by their cores.
//!
//! Every machine fits the plan to the sum of all machines in the same way, so that all agree on the
//! number of shares and on the connections of each pool. The shares are divided in one row, with
//! the shares of each machine next to each other, so that their union is the whole.

use crate::MachineFacts;
use crate::fitting::divide_placement;
use crate::room::Room;
use crate::succession::evenly;
use drumfire_engine::Shares;
use drumfire_placement::{DESCRIPTORS_SPARE, Unfit};
use drumfire_plan::Plan;
use std::fmt;

/// Why machines cannot share a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DivisionError {
    /// All machines together cannot run the plan.
    Unfit(Vec<Unfit>),
    /// The load has fewer shares than there are machines.
    TooFew {
        /// The number of shares.
        shares: u32,
        /// The number of machines.
        machines: usize,
    },
}

impl fmt::Display for DivisionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfit(reasons) => {
                let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
                f.write_str(&reasons.join("; "))
            }
            Self::TooFew { shares, machines } => write!(
                f,
                "the load divides into at most {shares} threads, but there are {machines} agents; \
                 use more connections, users or threads, or fewer agents"
            ),
        }
    }
}

impl std::error::Error for DivisionError {}

/// The sum of machines. Its descriptors are the connection descriptors of the machine with the
/// fewest, times the number of machines, plus the program's own descriptors once; each machine
/// needs these in addition. All shares have about the same number of connections.
pub(crate) fn sum(machines: &[MachineFacts]) -> MachineFacts {
    let least = machines.iter().filter_map(|it| it.descriptors).min();
    let cores = machines.iter().map(|it| it.cores.max(1));
    MachineFacts {
        cores: cores.fold(0, u32::saturating_add),
        descriptors: least.map(|least| {
            let each = least.saturating_sub(DESCRIPTORS_SPARE);
            let all = each.saturating_mul(machines.len() as u64);
            all.saturating_add(DESCRIPTORS_SPARE)
        }),
    }
}

/// The shares of each machine.
///
/// # Errors
/// If there are fewer shares than machines, or the machines cannot run the plan.
pub fn divide(plan: &Plan, machines: &[MachineFacts]) -> Result<Vec<Shares>, DivisionError> {
    let placement = divide_placement(plan, sum(machines), |_| true);
    let placement = placement.map_err(DivisionError::Unfit)?;
    let of = placement.threads();
    let count = machines.len();
    if u64::from(of) < count as u64 {
        return Err(DivisionError::TooFew {
            shares: of,
            machines: count,
        });
    }
    // One share for each machine. The rest is divided in proportion to the cores, and the remainder
    // goes to the first machines.
    let cores = u64::from(sum(machines).cores);
    let rest = u64::from(of) - count as u64;
    let mut counts: Vec<u64> = machines
        .iter()
        .map(|machine| 1 + rest * u64::from(machine.cores.max(1)) / cores)
        .collect();
    let dealt: u64 = counts.iter().sum();
    let left = usize::try_from(u64::from(of) - dealt).unwrap_or(usize::MAX);
    for count in counts.iter_mut().take(left) {
        *count += 1;
    }
    let mut counts: Vec<u32> = counts.into_iter().map(|count| count as u32).collect();
    within_room(plan, machines, &mut counts);
    let mut first = 0;
    let shares = counts.iter().map(|count| {
        let count = *count;
        let shares = Shares { first, count, of };
        first += count;
        shares
    });
    Ok(shares.collect())
}

/// Moves shares from machines with many cores, whose descriptors do not suffice for the connections
/// of all their shares, to other machines. If no machine has room, each keeps its own and opens
/// what it can.
fn within_room(plan: &Plan, machines: &[MachineFacts], counts: &mut [u32]) {
    let room = Room::for_plan(plan, sum(machines));
    let most: Vec<u32> = machines.iter().map(|it| room.most(*it, &[])).collect();
    let over = counts.iter_mut().zip(&most).map(|(count, most)| {
        let over = count.saturating_sub((*most).max(1));
        *count -= over;
        over
    });
    let over: Vec<u32> = over.collect();
    let left = counts.iter().zip(&most);
    let left: Vec<u32> = left
        .map(|(count, most)| most.saturating_sub(*count))
        .collect();
    let given = evenly(over.iter().sum(), &left);
    let mut rest = over.iter().sum::<u32>() - given.iter().sum::<u32>();
    for ((count, given), over) in counts.iter_mut().zip(given).zip(over) {
        let kept = over.min(rest);
        rest -= kept;
        *count += given + kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_union_of_the_shares_is_the_whole() {
        let plan = drumfire_testkit::open("const(100/s,2s)");
        let plan = plan.plan().unwrap();
        for cores in [&[1][..], &[2, 2], &[1, 3, 8], &[16, 1, 1, 1, 5]] {
            let machines: Vec<MachineFacts> = cores
                .iter()
                .map(|cores| MachineFacts {
                    cores: *cores,
                    descriptors: None,
                })
                .collect();
            let Ok(shares) = divide(&plan, &machines) else {
                continue;
            };
            let mut next = 0;
            for share in &shares {
                assert_eq!(share.first, next, "{cores:?}");
                assert!(share.count > 0, "{cores:?}");
                next += share.count;
            }
            assert_eq!(next, shares[0].of, "{cores:?}");
        }
    }

    #[test]
    fn a_machine_with_many_cores_and_few_descriptors_has_fewer_shares() {
        let plan = drumfire_testkit::open("const(100/s,2s)").connections(120);
        let plan = plan.threads(12).plan().unwrap();
        for (machines, expected) in [
            // Ten connections per share, and 64 further descriptors.
            ([(10, 124), (1, 124)], [6, 6]),
            ([(10, 124), (1, 1_000)], [6, 6]),
            ([(10, 1_000), (1, 1_000)], [11, 1]),
        ] {
            let machines = machines.map(|(cores, descriptors)| MachineFacts {
                cores,
                descriptors: Some(descriptors),
            });
            let shares = divide(&plan, &machines).unwrap();
            let counts: Vec<u32> = shares.iter().map(|share| share.count).collect();
            assert_eq!(counts, expected, "{machines:?}");
        }
    }

    #[test]
    fn each_machine_has_descriptors_to_spare() {
        let facts = |descriptors| MachineFacts {
            cores: 1,
            descriptors: Some(descriptors),
        };
        assert_eq!(sum(&[facts(164), facts(200)]).descriptors, Some(264));
        assert_eq!(sum(&[facts(10), facts(200)]).descriptors, Some(64));
    }
}
