//! The intervals of all shares, merged by the time that they cover.
//!
//! Shares close their intervals at the same times, unless one was late in its own process and merged
//! some, or has come to its end. So the next merged interval is the least span that no share's
//! interval crosses, and it is complete when every share has come to the end of it or has ended. No
//! sample is in two of them, and none is in none: every interval that is added comes out in one.

use drumfire_measure::Interval;
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// The intervals of shares that wait for those of others.
#[derive(Debug)]
pub struct Merge {
    queues: Vec<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    intervals: VecDeque<Interval>,
    is_closed: bool,
}

impl Merge {
    /// Of this many shares.
    #[must_use]
    pub fn of(shares: usize) -> Self {
        Self {
            queues: (0..shares).map(|_| Queue::default()).collect(),
        }
    }

    /// Adds a share's next interval.
    pub fn add(&mut self, share: usize, interval: Interval) {
        if let Some(queue) = self.queues.get_mut(share) {
            queue.intervals.push_back(interval);
        }
    }

    /// Waits no longer for a share, which has ended or is lost.
    pub fn close(&mut self, share: usize) {
        if let Some(queue) = self.queues.get_mut(share) {
            queue.is_closed = true;
        }
    }

    /// The next merged interval, summed up, if it is complete.
    pub fn take(&mut self) -> Option<Interval> {
        let end = self.end()?;
        let waits = |queue: &Queue| {
            let last = queue.intervals.back().map(|last| last.end);
            !queue.is_closed && last.is_none_or(|last| last < end)
        };
        if self.queues.iter().any(waits) {
            return None;
        }
        let mut merged: Option<Interval> = None;
        for queue in &mut self.queues {
            while let Some(interval) = queue.intervals.pop_front_if(|first| first.start < end) {
                match &mut merged {
                    None => merged = Some(interval),
                    Some(merged) => merged.merge(&interval),
                }
            }
        }
        if let Some(merged) = &mut merged {
            merged.sum_up();
        }
        merged
    }

    /// The end of the least span, from the first interval on, that no interval here crosses.
    fn end(&self) -> Option<Nanos> {
        let fronts = self.queues.iter().filter_map(|it| it.intervals.front());
        let first = fronts.min_by_key(|front| front.start)?;
        // One without a length has a place too.
        let mut end = first.end.max(first.start + Nanos(1));
        loop {
            let queues = self.queues.iter();
            let all = queues.flat_map(|queue| queue.intervals.iter());
            let within = all.filter(|interval| interval.start < end);
            let grown = within.map(|interval| interval.end).max().unwrap_or(end);
            if grown <= end {
                return Some(end);
            }
            end = grown;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn interval(start: u64, end: u64) -> Interval {
        let mut interval = Interval::new(&[Arc::from("a")]);
        interval.index = start;
        (interval.start, interval.end) = (Nanos(start), Nanos(end));
        interval
    }

    fn spans(merge: &mut Merge) -> Vec<(u64, u64)> {
        let next = std::iter::from_fn(|| merge.take());
        next.map(|it| (it.start.0, it.end.0)).collect()
    }

    #[test]
    fn spans_are_complete_and_crossed_by_none() {
        let mut merge = Merge::of(2);
        merge.add(0, interval(0, 10));
        assert_eq!(spans(&mut merge), []);
        merge.add(1, interval(0, 10));
        assert_eq!(spans(&mut merge), [(0, 10)]);
        // One share was late and has merged two of its own.
        merge.add(0, interval(10, 30));
        merge.add(1, interval(10, 20));
        assert_eq!(spans(&mut merge), []);
        merge.add(1, interval(20, 30));
        assert_eq!(spans(&mut merge), [(10, 30)]);
        // They end at different times.
        merge.add(0, interval(30, 34));
        merge.close(0);
        merge.add(1, interval(30, 40));
        merge.add(1, interval(40, 40));
        merge.close(1);
        assert_eq!(spans(&mut merge), [(30, 40), (40, 40)]);
    }
}
