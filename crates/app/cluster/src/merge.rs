//! Merges the intervals of all shares by the time that they cover.
//!
//! Shares close their intervals at the same times, unless one was late in its process and merged
//! some, or has ended. So the next merged interval is the smallest span that no share's interval
//! crosses. The span is complete when every share has reached its end or has ended. Every interval
//! that is added belongs to exactly one merged interval, so no sample is lost or counted twice.
//!
//! An interval is merged when it is added: each waiting span has one interval, however large the
//! number of shares. If an interval crosses two spans, they become one.
//!
//! Observers get a clone that is only as large as its values. The memory into which intervals are
//! merged is used again for the next span.

use drumfire_measure::{Interval, PoolInfo};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The spans that wait for intervals of shares.
#[derive(Debug)]
pub struct Merge {
    shares: Vec<Share>,
    /// The spans, ordered by time and without overlaps.
    spans: Vec<Span>,
    /// An empty interval in memory that was used before.
    spare: Option<Interval>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Share {
    /// The end of the newest interval.
    reached: Option<Nanos>,
    is_closed: bool,
}

/// A span that no interval so far crosses.
#[derive(Debug)]
struct Span {
    start: Nanos,
    end: Nanos,
    merged: Interval,
}

impl Merge {
    /// The merge of this number of shares.
    #[must_use]
    pub fn new(shares: usize) -> Self {
        Self {
            shares: vec![Share::default(); shares],
            spans: Vec::new(),
            spare: None,
        }
    }

    /// Adds a share, for which nothing waits until it begins.
    pub fn join(&mut self) {
        self.shares.push(Share {
            reached: None,
            is_closed: true,
        });
    }

    /// Sets the time at which an added share begins. Spans that end later wait for it.
    pub fn set_share_start(&mut self, share: usize, from: Nanos) {
        if let Some(share) = self.shares.get_mut(share) {
            *share = Share {
                reached: Some(from),
                is_closed: false,
            };
        }
    }

    /// Adds a share's next interval, of a run with these pools.
    pub fn add(&mut self, share: usize, interval: &Interval, pools: &[PoolInfo]) {
        let Some(share) = self.shares.get_mut(share) else {
            return;
        };
        share.reached = share.reached.max(Some(interval.end));
        // An interval of length zero needs a place too.
        let start = interval.start;
        let end = interval.end.max(start + Nanos(1));
        let from = self.spans.partition_point(|span| span.end <= start);
        let until = self.spans.partition_point(|span| span.start < end);
        if from == until {
            let spare = self.spare.take();
            let mut merged = spare.unwrap_or_else(|| Interval::of_pools(pools));
            // An empty interval covers the run's start, so move it to this span first.
            (merged.index, merged.start, merged.end) = (interval.index, start, interval.end);
            merged.merge(interval);
            let span = Span { start, end, merged };
            return self.spans.insert(from, span);
        }
        let crossed: Vec<Span> = self.spans.drain(from + 1..until).collect();
        let span = &mut self.spans[from];
        span.merged.merge(interval);
        (span.start, span.end) = (span.start.min(start), span.end.max(end));
        for other in crossed {
            span.merged.merge(&other.merged);
            span.end = span.end.max(other.end);
        }
    }

    /// Stops waiting for a share, which has ended or is lost.
    pub fn close(&mut self, share: usize) {
        if let Some(share) = self.shares.get_mut(share) {
            share.is_closed = true;
        }
    }

    /// The next merged interval, summed up, if it is complete.
    pub fn next_merged(&mut self) -> Option<Arc<Interval>> {
        let end = self.spans.first()?.end;
        let has_come = |share: &Share| share.is_closed || share.reached >= Some(end);
        if !self.shares.iter().all(has_come) {
            return None;
        }
        let mut merged = self.spans.remove(0).merged;
        merged.sum_up();
        let taken = Arc::new(Interval::clone(&merged));
        merged.reset(0, Nanos::ZERO);
        self.spare = Some(merged);
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_measure::Model;

    fn pools() -> Vec<PoolInfo> {
        vec![PoolInfo::new("p", Model::Open, ["a"])]
    }

    fn interval(start: u64, end: u64) -> Interval {
        let mut interval = Interval::of_pools(&pools());
        interval.index = start;
        (interval.start, interval.end) = (Nanos(start), Nanos(end));
        // Each interval has a value by which it is recognised.
        interval.health.cpu = Nanos(1);
        interval
    }

    fn add(merge: &mut Merge, share: usize, start: u64, end: u64) {
        merge.add(share, &interval(start, end), &pools());
    }

    fn spans(merge: &mut Merge) -> Vec<(u64, u64, u64)> {
        let next = std::iter::from_fn(|| merge.next_merged());
        next.map(|it| (it.start.0, it.end.0, it.health.cpu.0))
            .collect()
    }

    #[test]
    fn spans_are_complete_and_crossed_by_none() {
        let mut merge = Merge::new(2);
        add(&mut merge, 0, 0, 10);
        assert_eq!(spans(&mut merge), []);
        add(&mut merge, 1, 0, 10);
        assert_eq!(spans(&mut merge), [(0, 10, 2)]);
        // One share was late and has merged two of its intervals.
        add(&mut merge, 0, 10, 30);
        add(&mut merge, 1, 10, 20);
        assert_eq!(spans(&mut merge), []);
        add(&mut merge, 1, 20, 30);
        assert_eq!(spans(&mut merge), [(10, 30, 3)]);
        // The shares end at different times.
        add(&mut merge, 0, 30, 34);
        merge.close(0);
        add(&mut merge, 1, 30, 40);
        add(&mut merge, 1, 40, 40);
        merge.close(1);
        assert_eq!(spans(&mut merge), [(30, 40, 2), (40, 40, 1)]);
    }

    #[test]
    fn an_interval_makes_one_span_of_those_that_it_crosses() {
        let mut merge = Merge::new(2);
        for start in [0, 10, 20, 30] {
            add(&mut merge, 0, start, start + 10);
        }
        add(&mut merge, 1, 5, 25);
        assert_eq!(spans(&mut merge), []);
        merge.close(1);
        assert_eq!(spans(&mut merge), [(0, 30, 4), (30, 40, 1)]);
    }

    #[test]
    fn an_interval_that_comes_late_has_a_span_of_its_own() {
        let mut merge = Merge::new(2);
        merge.close(1);
        add(&mut merge, 0, 0, 10);
        add(&mut merge, 0, 10, 20);
        assert_eq!(spans(&mut merge), [(0, 10, 1), (10, 20, 1)]);
        add(&mut merge, 1, 0, 10);
        assert_eq!(spans(&mut merge), [(0, 10, 1)]);
    }

    #[test]
    fn a_share_that_joins_is_waited_for_from_its_beginning_on() {
        let mut merge = Merge::new(1);
        merge.join();
        add(&mut merge, 0, 0, 10);
        assert_eq!(spans(&mut merge), [(0, 10, 1)]);
        merge.set_share_start(1, Nanos(20));
        add(&mut merge, 0, 10, 20);
        add(&mut merge, 0, 20, 30);
        assert_eq!(spans(&mut merge), [(10, 20, 1)]);
        add(&mut merge, 1, 20, 30);
        assert_eq!(spans(&mut merge), [(20, 30, 2)]);
    }

    #[test]
    fn memory_is_used_again_and_nothing_is_left_in_it() {
        let mut merge = Merge::new(1);
        for start in [0, 10, 20] {
            add(&mut merge, 0, start, start + 10);
            assert_eq!(spans(&mut merge), [(start, start + 10, 1)]);
            assert!(merge.spare.is_some());
        }
    }
}
