//! The log of arrival times.

use drumfire_units::Nanos;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

/// The number of entries in a block. With blocks, the log grows without copying its entries.
const BLOCK: usize = 1 << 16;

/// One worker's log: the first `capacity` arrivals on the monotonic clock.
#[derive(Debug)]
pub(crate) struct Arrivals {
    capacity: usize,
    /// The worker locks this once per arrival, and readers rarely, so there is practically no
    /// contention.
    blocks: Mutex<Vec<Vec<u64>>>,
}

impl Arrivals {
    /// A log that holds at most `capacity` arrivals.
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            blocks: Mutex::new(Vec::new()),
        }
    }

    /// Whether arrivals are recorded.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.capacity > 0
    }

    /// Records an arrival unless the log is full.
    pub(crate) fn record(&self, at: Nanos) {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let full = blocks.last().is_none_or(|block| block.len() == BLOCK);
        let count = blocks.len() * BLOCK
            - if full {
                0
            } else {
                BLOCK - blocks.last().map_or(0, Vec::len)
            };
        if count >= self.capacity {
            return;
        }
        if full {
            blocks.push(Vec::with_capacity(BLOCK.min(self.capacity - count)));
        }
        if let Some(block) = blocks.last_mut() {
            block.push(at.0);
        }
    }

    /// Appends the recorded arrivals.
    pub(crate) fn copy_to(&self, all: &mut Vec<Nanos>) {
        let blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        for block in blocks.iter() {
            all.extend(block.iter().copied().map(Nanos));
        }
    }
}

/// Arrivals as text: one decimal number of nanoseconds per line.
pub(crate) fn print(arrivals: &[Nanos]) -> String {
    let mut text = String::with_capacity(arrivals.len() * 17);
    for at in arrivals {
        // Writing to a String can't fail.
        let _ = writeln!(text, "{}", at.0);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_first_and_no_more() {
        let log = Arrivals::new(BLOCK + 2);
        for n in 0..(BLOCK as u64 + 10) {
            log.record(Nanos(n));
        }
        let mut all = Vec::new();
        log.copy_to(&mut all);
        assert_eq!(all.len(), BLOCK + 2);
        assert_eq!(all.last(), Some(&Nanos(BLOCK as u64 + 1)));
        assert!(log.is_on() && !Arrivals::new(0).is_on());
        assert_eq!(print(&all[..2]), "0\n1\n");
    }
}
