//! Snapshots on their way to a receiver: one for each second of the run, oldest first.
//!
//! [`Backlog::give`] takes the run's snapshots; [`Backlog::end`] says that no more will come.
//! [`Backlog::batch`] has those that are sent next; they stay until they are settled, or halved
//! where they are too large for one request. It never fills: each snapshot contains those before
//! it, so that one that is left out costs resolution and no count.
//!
//! The last snapshot ends the series at the receiver ([`Series::End`]), and is therefore sent in
//! the last request even where it was settled before: a run that fails has no last snapshot, and
//! the newest that there was is sent once more as the end.

use drumfire_metrics::{Series, Snapshot};
use std::collections::VecDeque;
use std::sync::Arc;

/// The least distance between snapshots that are sent, in nanoseconds of the run.
const EVERY: u64 = 1_000_000_000;
/// An interval that ends this much before its second counts for it.
const EARLY: u64 = 5_000_000;
/// The largest number of snapshots that wait. Beyond it every other one is left out, again and
/// again.
const WAITING_MAX: usize = 300;
/// The largest number that is sent at a time.
const BATCH_MAX: usize = 30;

/// Snapshots that wait for a receiver.
#[derive(Debug)]
pub(super) struct Backlog {
    waiting: VecDeque<Arc<Snapshot>>,
    /// The second of the run from which on the next snapshot is kept.
    next: u64,
    /// The number that goes into one request.
    batch_max: usize,
    /// The newest one that was settled while others could follow.
    settled: Option<Arc<Snapshot>>,
    is_over: bool,
}

/// Snapshots that go into one request.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub(super) snapshots: Vec<Arc<Snapshot>>,
    /// Whether the newest is the run's last.
    pub(super) series: Series,
}

impl Default for Backlog {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            next: 0,
            batch_max: BATCH_MAX,
            settled: None,
            is_over: false,
        }
    }
}

impl Backlog {
    /// Takes a snapshot, if it is the first of its second. The seconds are the run's: the clock's are
    /// those of the thread that looked, a little more or less than one apart.
    pub(super) fn give(&mut self, snapshot: &Arc<Snapshot>) {
        let second = snapshot.elapsed.0.saturating_add(EARLY) / EVERY;
        if second >= self.next {
            self.next = second + 1;
            self.keep(snapshot);
        }
    }

    /// Takes the run's last snapshot.
    pub(super) fn give_last(&mut self, snapshot: &Arc<Snapshot>) {
        self.keep(snapshot);
        self.is_over = true;
    }

    fn keep(&mut self, snapshot: &Arc<Snapshot>) {
        self.waiting.push_back(Arc::clone(snapshot));
        if self.waiting.len() > WAITING_MAX {
            self.thin();
        }
    }

    /// Leaves out every other snapshot, but not the newest one.
    fn thin(&mut self) {
        let newest = self.waiting.len().saturating_sub(1);
        let mut at = 0..;
        self.waiting
            .retain(|_| at.next().is_some_and(|at| (newest - at).is_multiple_of(2)));
    }

    /// Notes that no more will come: a run that fails has no last snapshot, and its series end with
    /// the newest that there was.
    pub(super) fn end(&mut self) {
        if !self.is_over && self.waiting.is_empty() {
            self.waiting.extend(self.settled.take());
        }
        self.is_over = true;
    }

    /// Whether no more will come.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// The number that waits.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether more wait than go into one request.
    pub(super) fn is_more_than_a_batch(&self) -> bool {
        self.waiting.len() >= self.batch_max
    }

    /// The snapshots that are sent next; `None` where none wait.
    pub(super) fn batch(&self) -> Option<Batch> {
        let snapshots = self.waiting.iter().take(self.batch_max);
        let snapshots: Vec<_> = snapshots.cloned().collect();
        let is_end = self.is_over && snapshots.len() == self.waiting.len();
        (!snapshots.is_empty()).then_some(Batch {
            snapshots,
            series: match is_end {
                true => Series::End,
                false => Series::GoOn,
            },
        })
    }

    /// Forgets those of a batch that need not be sent again. Some may have been left out meanwhile.
    pub(super) fn settle(&mut self, batch: &Batch) {
        let Some(newest) = batch.snapshots.last() else {
            return;
        };
        let settled = newest.at_unix_ns;
        self.waiting.retain(|waiting| waiting.at_unix_ns > settled);
        self.settled = match batch.series {
            Series::GoOn => Some(Arc::clone(newest)),
            Series::End => None,
        };
        if self.is_over && self.waiting.is_empty() {
            // The run has failed meanwhile.
            self.waiting.extend(self.settled.take());
        }
    }

    /// Sends half as many at a time from now on as this batch has; whether that can be less.
    pub(super) fn halve(&mut self, batch: &Batch) -> bool {
        let half = batch.snapshots.len() / 2;
        if half > 0 {
            self.batch_max = half;
        }
        half > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_units::Nanos;

    /// A snapshot at this time of the run, in milliseconds, seen this many nanoseconds late.
    fn snapshot(ms: u64, late: u64) -> Arc<Snapshot> {
        Arc::new(Snapshot {
            at_unix_ns: 1_000_000_000_000 + ms * 1_000_000 + late,
            elapsed: Nanos(ms * 1_000_000),
            ..Snapshot::default()
        })
    }

    fn times(batch: &Batch) -> Vec<u64> {
        let snapshots = batch.snapshots.iter();
        snapshots.map(|one| one.elapsed.0 / 1_000_000).collect()
    }

    fn waiting(backlog: &Backlog) -> Vec<u64> {
        let waiting = backlog.waiting.iter();
        waiting.map(|one| one.elapsed.0 / 1_000_000).collect()
    }

    #[test]
    fn each_second_of_the_run_has_a_snapshot() {
        for (interval, expected) in [
            (100, vec![0, 1_000, 2_000, 3_000, 4_000]),
            (250, vec![0, 1_000, 2_000, 3_000, 4_000]),
            (700, vec![0, 1_400, 2_100, 3_500, 4_200]),
            (1_000, vec![0, 1_000, 2_000, 3_000, 4_000]),
            (2_000, vec![0, 2_000, 4_000]),
        ] {
            let mut backlog = Backlog::default();
            for (n, ms) in (0..=4_400).step_by(interval).enumerate() {
                // The thread that looks at the clock is late by more and by less in turn.
                backlog.give(&snapshot(ms, [900_000, 100_000][n % 2]));
            }
            assert_eq!(waiting(&backlog), expected, "{interval}");
        }
    }

    #[test]
    fn a_backlog_that_is_full_becomes_coarser_and_keeps_the_newest() {
        let mut backlog = Backlog::default();
        for second in 0..=300 {
            backlog.give(&snapshot(second * 1_000, 0));
        }
        assert_eq!(backlog.len(), 151);
        let seen = waiting(&backlog);
        assert_eq!(seen.last(), Some(&300_000));
        assert!(seen.windows(2).all(|two| two[1] - two[0] == 2_000));
    }

    #[test]
    fn a_batch_that_is_too_large_is_halved_down_to_one() {
        let mut backlog = Backlog::default();
        for second in 0..8 {
            backlog.give(&snapshot(second * 1_000, 0));
        }
        backlog.give_last(&snapshot(8_000, 0));
        let mut sizes = Vec::new();
        loop {
            let batch = backlog.batch().unwrap();
            sizes.push(batch.snapshots.len());
            if !backlog.halve(&batch) {
                break;
            }
        }
        assert_eq!(sizes, [9, 4, 2, 1]);
        // The last one alone is the summary.
        while let Some(batch) = backlog.batch() {
            assert_eq!(batch.series == Series::End, times(&batch) == [8_000]);
            backlog.settle(&batch);
        }
    }

    #[test]
    fn series_end_with_the_last_snapshot_or_the_newest() {
        let mut backlog = Backlog::default();
        backlog.give(&snapshot(0, 0));
        let first = backlog.batch().unwrap();
        assert_eq!(first.series, Series::GoOn);
        backlog.settle(&first);
        assert!(backlog.batch().is_none());
        // The run fails: no last one comes.
        backlog.end();
        let end = backlog.batch().unwrap();
        assert_eq!((end.series, times(&end)), (Series::End, vec![0]));
        backlog.settle(&end);
        backlog.end();
        assert!(backlog.batch().is_none());
    }
}
