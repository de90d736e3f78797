//! The possible values of the labels of a pool's counters.
//!
//! If a counter appeared only with its first count, its growth would be lost: `rate` and `increase`
//! treat the first sample of a series as its start, so a burst of failures of a new kind would be
//! invisible. So every possible count is present from the start, with 0. Only a status that no
//! server is known to send appears with its first response.

use crate::Label;
use drumfire_measure::{Closing, Figures, Outcome, PoolInfo, Protocols, status_name};

/// The values of the labels of one pool.
#[derive(Clone, Debug)]
pub(crate) struct LabelSets {
    outcomes: Vec<(Outcome, Label)>,
    statuses: Vec<(u16, Label)>,
    closings: Vec<(Closing, Label)>,
}

impl LabelSets {
    /// The values that a pool can have.
    pub(crate) fn for_pool(pool: &PoolInfo) -> Self {
        let protocols = Protocols::for_pool(pool);
        let outcomes = Outcome::ALL.iter().copied();
        let outcomes = outcomes.filter(|outcome| protocols.may_end_by(*outcome));
        let statuses = protocols.statuses();
        let closings = Closing::ALL.iter().copied();
        Self {
            outcomes: outcomes
                .map(|outcome| (outcome, Label::new("outcome", outcome.name())))
                .collect(),
            statuses: statuses.map(|status| (status, of_status(status))).collect(),
            closings: closings
                .map(|why| (why, Label::new("reason", why.name())))
                .collect(),
        }
    }

    /// Each possible outcome of exchanges, and any other that occurred, with its count.
    pub(crate) fn outcomes<'a>(
        &'a self,
        figures: &'a Figures,
    ) -> impl Iterator<Item = (Label, u64)> + 'a {
        let outcomes = figures.outcomes();
        let known = self.outcomes.iter();
        let known = known.map(|(outcome, label)| (label.clone(), outcomes.get(*outcome)));
        let others = outcomes.failures();
        let others = others.filter(|(outcome, _)| !has(&self.outcomes, *outcome));
        let others = others.map(|(outcome, n)| (Label::new("outcome", outcome.name()), n));
        known.chain(others)
    }

    /// Each possible status of responses, and any other that occurred, with its count.
    pub(crate) fn statuses<'a>(
        &'a self,
        figures: &'a Figures,
    ) -> impl Iterator<Item = (Label, u64)> + 'a {
        let counts = figures.status_counts();
        let known = self.statuses.iter();
        let known = known.map(|(status, label)| (label.clone(), counts.get(*status)));
        let others = figures.status();
        let others = others.filter(|(status, _)| !has(&self.statuses, *status));
        let others = others.map(|(status, count)| (of_status(status), count));
        known.chain(others)
    }

    /// Each reason for closing connections, with its count.
    pub(crate) fn closings<'a>(
        &'a self,
        figures: &'a Figures,
    ) -> impl Iterator<Item = (Label, u64)> + 'a {
        let closings = self.closings.iter();
        closings.map(|(why, label)| (label.clone(), figures.connections.closed_by(*why)))
    }
}

fn of_status(status: u16) -> Label {
    Label::new("status", &status_name(status))
}

/// Whether a value is present from the start; `known` is sorted.
fn has<T: Ord + Copy>(known: &[(T, Label)], value: T) -> bool {
    known.binary_search_by_key(&value, |(one, _)| *one).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looked_for_is_in_order() {
        assert!(Outcome::ALL.is_sorted());
        assert!(Closing::ALL.is_sorted());
    }
}
