//! The connections of shares, and the file descriptors that agents have for them.
//!
//! The plan was fitted to all machines together, before the load. An agent that takes over more
//! than its own part needs more descriptors. Every connection that is opened in advance needs one,
//! so an agent only takes as many shares as it has descriptors for. The number of connections that
//! are opened on demand may stay below its maximum. If the maximum exceeds the limit, a note
//! reports this.

use crate::fitting::divide_placement;
use crate::message::MachineFacts;
use drumfire_placement::{DESCRIPTORS_SPARE, Part};
use drumfire_plan::Plan;
use drumfire_units::rounded::count;

/// The connections for each number of shares.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room {
    /// The parts by number of shares, from 0.
    parts: Vec<Part>,
    /// The cores of all machines to which the plan was fitted.
    cores: u32,
}

impl Room {
    /// The room of a plan that was fitted to this sum of machines.
    pub(crate) fn for_plan(plan: &Plan, machine: MachineFacts) -> Self {
        // The plan was fitted before, so this cannot fail.
        let parts = match divide_placement(plan, machine, |_| true) {
            Ok(placement) => {
                let parts =
                    (0..=placement.threads()).map(|it| Part::for_shares(plan, &placement, it));
                parts.collect()
            }
            Err(_) => Vec::new(),
        };
        Self {
            parts,
            cores: machine.cores.max(1),
        }
    }

    /// The number of shares that an agent with these cores would get if the plan were divided
    /// again.
    pub(crate) fn fair(&self, machine: MachineFacts) -> u32 {
        let of = self.parts.len().saturating_sub(1) as u64;
        let fair = (of * u64::from(machine.cores)).div_ceil(u64::from(self.cores));
        u32::try_from(fair).unwrap_or(u32::MAX).max(1)
    }

    /// The maximum number of shares for which an agent has descriptors, in addition to parts with
    /// these numbers of shares.
    pub(crate) fn most(&self, machine: MachineFacts, held: &[u32]) -> u32 {
        let Some(limit) = machine.descriptors else {
            return u32::MAX;
        };
        let left = limit.saturating_sub(self.ahead(held));
        let fits = |part: &Part| part.ahead == 0 || part.ahead <= left;
        let fitting = self.parts.partition_point(fits);
        u32::try_from(fitting.saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// The number of descriptors that an agent lacks for one more share, and a sentence about it.
    pub(crate) fn lack(&self, agent: &str, machine: MachineFacts, held: &[u32]) -> (u64, String) {
        let limit = machine.descriptors.unwrap_or(u64::MAX);
        let needed = self.ahead(&[held, &[1]].concat());
        let (shown, most) = (count(needed), count(limit));
        (
            needed.saturating_sub(limit),
            format!(
                "with one more share, agent {agent} needs {shown} file descriptors, but its limit \
                 is {most} (set ulimit -n {needed})"
            ),
        )
    }

    /// The note about an agent with these numbers of shares whose connections may exceed its
    /// descriptors.
    pub(crate) fn note(&self, agent: &str, machine: MachineFacts, held: &[u32]) -> Option<String> {
        let limit = machine.descriptors?;
        let parts = held.iter().map(|shares| self.part(*shares));
        let most = parts.fold(DESCRIPTORS_SPARE, |sum, part| {
            sum.saturating_add(part.ahead)
                .saturating_add(part.as_needed)
        });
        (most > limit).then(|| {
            format!(
                "agent {agent} may open {} file descriptors, but the shares that it took over may \
                 open up to {} connections on demand; those beyond the limit \
                 fail for lack of descriptors (set ulimit -n {most})",
                count(limit),
                count(most - DESCRIPTORS_SPARE),
            )
        })
    }

    /// The descriptors for the connections of these parts that are opened in advance, and for the
    /// program.
    fn ahead(&self, held: &[u32]) -> u64 {
        let parts = held.iter().map(|shares| self.part(*shares).ahead);
        parts.fold(DESCRIPTORS_SPARE, u64::saturating_add)
    }

    fn part(&self, shares: u32) -> Part {
        let part = self
            .parts
            .get(shares as usize)
            .or_else(|| self.parts.last());
        part.copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight shares with 8 connections each, on machines with 8 cores in total.
    fn room(connections: u32) -> Room {
        let plan = drumfire_testkit::open("const(100/s,3s)").connections(connections);
        let machine = MachineFacts {
            cores: 8,
            descriptors: None,
        };
        Room::for_plan(&plan.threads(8).plan().unwrap(), machine)
    }

    fn machine(cores: u32, descriptors: u64) -> MachineFacts {
        MachineFacts {
            cores,
            descriptors: Some(descriptors),
        }
    }

    #[test]
    fn shares_are_taken_as_far_as_there_are_descriptors() {
        let room = room(64);
        for (descriptors, held, most) in [
            (64 + 64, &[][..], 8),
            (64 + 63, &[], 7),
            (64 + 16 + 15, &[2], 1),
            (64 + 16 + 16, &[2], 2),
            (64 + 16 + 8 + 8, &[2, 1], 1),
            (64 + 16, &[2], 0),
            (10, &[2], 0),
        ] {
            let found = room.most(machine(2, descriptors), held);
            assert_eq!(found, most, "{descriptors} {held:?}");
        }
        let (lacks, text) = room.lack("a", machine(2, 85), &[2]);
        assert_eq!(lacks, 3);
        assert_eq!(
            text,
            "with one more share, agent a needs 88 file descriptors, but its limit is 85 (set \
             ulimit -n 88)"
        );
    }

    #[test]
    fn a_fair_part_is_that_of_the_cores() {
        let room = room(64);
        for (cores, fair) in [(1, 1), (2, 2), (8, 8), (0, 1)] {
            assert_eq!(room.fair(machine(cores, 1)), fair, "{cores}");
        }
    }
}
