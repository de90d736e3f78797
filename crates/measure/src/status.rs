//! How often each response status was seen.

/// A status has three digits.
const STATUSES: usize = 1000;

/// A count for each status from 1 to 999, dense so that counting is one addition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusCounts(Box<[u64; STATUSES]>);

impl Default for StatusCounts {
    fn default() -> Self {
        Self(Box::new([0; STATUSES]))
    }
}

impl StatusCounts {
    /// Counts one. 0 stands for "no status came", which is where anything impossible goes too.
    #[inline]
    pub(crate) fn record(&mut self, status: u16) {
        let slot = usize::from(status);
        self.0[if slot < STATUSES { slot } else { 0 }] += 1;
    }

    /// How many responses had this status; of 0, how many exchanges brought no status.
    #[must_use]
    pub fn get(&self, status: u16) -> u64 {
        self.0.get(usize::from(status)).copied().unwrap_or(0)
    }

    /// Every status that was seen, ascending, with its count; exchanges without one left out.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        (0u16..)
            .zip(self.0.iter())
            .skip(1)
            .filter(|(_, count)| **count > 0)
            .map(|(status, count)| (status, *count))
    }

    /// Adds `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0.iter()) {
            *mine += theirs;
        }
    }

    /// Forgets everything and keeps the memory.
    pub fn reset(&mut self) {
        self.0.fill(0);
    }
}
