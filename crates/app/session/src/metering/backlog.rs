//! Snapshots that wait for a receiver: one for each second of the run, oldest first.
//!
//! [`SnapshotBacklog::push`] takes the run's snapshots, and [`SnapshotBacklog::finish`] is called
//! after the last one. [`SnapshotBacklog::batch`] returns the snapshots to send next. They stay in
//! the backlog until they are settled, or until the batch is halved because it is too large for one
//! request. The backlog never fills up: each snapshot includes the earlier ones, so omitting one
//! costs resolution but no count.
//!
//! The last snapshot ends the series at the receiver ([`Series::End`]), and is therefore in the
//! last request even if it was settled before. A failed run has no last snapshot, so its newest one
//! is sent again as the end.

use drumfire_metrics::{Series, Snapshot};
use std::collections::VecDeque;
use std::sync::Arc;

/// The minimum distance between sent snapshots, in nanoseconds of the run.
const EVERY: u64 = 1_000_000_000;
/// An interval that ends at most this much before a second counts for that second, in nanoseconds.
const EARLY: u64 = 5_000_000;
/// The maximum number of waiting snapshots. Beyond it, every second one is omitted, repeatedly.
const WAITING_MAX: usize = 300;
/// The maximum number of snapshots per request.
const BATCH_MAX: usize = 30;

/// Snapshots that wait for a receiver.
#[derive(Debug)]
pub(super) struct SnapshotBacklog {
    waiting: VecDeque<Arc<Snapshot>>,
    /// The second of the run from which the next snapshot is kept.
    next: u64,
    /// The maximum number of snapshots per request.
    batch_max: usize,
    /// The newest snapshot that was settled while others could follow.
    settled: Option<Arc<Snapshot>>,
    is_over: bool,
}

/// The snapshots of one request.
#[derive(Clone, Debug)]
pub(super) struct SnapshotBatch {
    pub(super) snapshots: Vec<Arc<Snapshot>>,
    /// Whether the newest snapshot is the run's last.
    pub(super) series: Series,
}

impl Default for SnapshotBacklog {
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

impl SnapshotBacklog {
    /// Adds a snapshot, if it is the first of its second. Seconds are counted in the run's time,
    /// because the clock times of the observing thread are slightly more or less than one second
    /// apart.
    pub(super) fn push(&mut self, snapshot: &Arc<Snapshot>) {
        let second = snapshot.elapsed.0.saturating_add(EARLY) / EVERY;
        if second >= self.next {
            self.next = second + 1;
            self.keep(snapshot);
        }
    }

    /// Adds the run's last snapshot.
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

    /// Omits every second snapshot, but not the newest one.
    fn thin(&mut self) {
        let newest = self.waiting.len().saturating_sub(1);
        let mut at = 0..;
        self.waiting
            .retain(|_| at.next().is_some_and(|at| (newest - at).is_multiple_of(2)));
    }

    /// Ends the backlog. A failed run has no last snapshot, and its series end with the newest one.
    pub(super) fn finish(&mut self) {
        if !self.is_over && self.waiting.is_empty() {
            self.waiting.extend(self.settled.take());
        }
        self.is_over = true;
    }

    /// Whether no more snapshots will come.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// The number of waiting snapshots.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether at least one full batch is waiting.
    pub(super) fn is_more_than_a_batch(&self) -> bool {
        self.waiting.len() >= self.batch_max
    }

    /// The snapshots to send next; `None` if none wait.
    pub(super) fn batch(&self) -> Option<SnapshotBatch> {
        let snapshots = self.waiting.iter().take(self.batch_max);
        let snapshots: Vec<_> = snapshots.cloned().collect();
        let is_end = self.is_over && snapshots.len() == self.waiting.len();
        (!snapshots.is_empty()).then_some(SnapshotBatch {
            snapshots,
            series: match is_end {
                true => Series::End,
                false => Series::GoOn,
            },
        })
    }

    /// Removes the snapshots of a batch that need not be sent again. Some may have been omitted
    /// meanwhile.
    pub(super) fn settle(&mut self, batch: &SnapshotBatch) {
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

    /// Limits further batches to half of this batch. Returns whether a smaller batch is possible.
    pub(super) fn halve(&mut self, batch: &SnapshotBatch) -> bool {
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

    /// A snapshot at this time of the run in milliseconds, observed `late` nanoseconds late.
    fn snapshot(ms: u64, late: u64) -> Arc<Snapshot> {
        Arc::new(Snapshot {
            at_unix_ns: 1_000_000_000_000 + ms * 1_000_000 + late,
            elapsed: Nanos(ms * 1_000_000),
            ..Snapshot::default()
        })
    }

    fn times(batch: &SnapshotBatch) -> Vec<u64> {
        let snapshots = batch.snapshots.iter();
        snapshots.map(|one| one.elapsed.0 / 1_000_000).collect()
    }

    fn waiting(backlog: &SnapshotBacklog) -> Vec<u64> {
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
            let mut backlog = SnapshotBacklog::default();
            for (n, ms) in (0..=4_400).step_by(interval).enumerate() {
                // The thread that reads the clock is late by more and by less in turn.
                backlog.push(&snapshot(ms, [900_000, 100_000][n % 2]));
            }
            assert_eq!(waiting(&backlog), expected, "{interval}");
        }
    }

    #[test]
    fn a_backlog_that_is_full_becomes_coarser_and_keeps_the_newest() {
        let mut backlog = SnapshotBacklog::default();
        for second in 0..=300 {
            backlog.push(&snapshot(second * 1_000, 0));
        }
        assert_eq!(backlog.len(), 151);
        let seen = waiting(&backlog);
        assert_eq!(seen.last(), Some(&300_000));
        assert!(seen.windows(2).all(|two| two[1] - two[0] == 2_000));
    }

    #[test]
    fn a_batch_that_is_too_large_is_halved_down_to_one() {
        let mut backlog = SnapshotBacklog::default();
        for second in 0..8 {
            backlog.push(&snapshot(second * 1_000, 0));
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
        // Only the last batch is the summary.
        while let Some(batch) = backlog.batch() {
            assert_eq!(batch.series == Series::End, times(&batch) == [8_000]);
            backlog.settle(&batch);
        }
    }

    #[test]
    fn series_end_with_the_last_snapshot_or_the_newest() {
        let mut backlog = SnapshotBacklog::default();
        backlog.push(&snapshot(0, 0));
        let first = backlog.batch().unwrap();
        assert_eq!(first.series, Series::GoOn);
        backlog.settle(&first);
        assert!(backlog.batch().is_none());
        // The run fails: no last snapshot comes.
        backlog.finish();
        let end = backlog.batch().unwrap();
        assert_eq!((end.series, times(&end)), (Series::End, vec![0]));
        backlog.settle(&end);
        backlog.finish();
        assert!(backlog.batch().is_none());
    }
}
