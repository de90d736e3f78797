//! The open model: arrivals by a schedule, whatever the target does.

use super::{Arrival, Tally};
use drumfire_plan::LatePolicy;
use drumfire_schedule::{Due, Next, Segment};
use drumfire_units::Nanos;

/// One worker's share of a schedule.
#[derive(Debug)]
pub(crate) struct Open {
    /// The next arrival that is neither sent nor dropped.
    segment: Segment,
    /// Runs ahead of `segment` over what is due and waits, only to count it.
    ahead: Segment,
    late: LatePolicy,
    end: Nanos,
    measure_from: Nanos,
    intended: u64,
    dropped: u64,
    /// Requests taken from an unlimited piece, which has no arrivals of its own.
    unlimited: u64,
    worker: u64,
    of: u64,
    limit: u64,
    /// Whether nothing more is started.
    stopped: bool,
    /// The number after the last arrival that was taken, counting only ours.
    following: u64,
}

impl Open {
    /// A worker's share, ended before `end` and after `limit` arrivals of the whole.
    pub(crate) fn new(
        segment: Segment,
        late: LatePolicy,
        (worker, of): (u32, u32),
        (end, limit): (Nanos, u64),
        measure_from: Nanos,
    ) -> Self {
        let segment = segment.limit(limit).until(end);
        Self {
            ahead: segment.clone(),
            segment,
            late,
            end,
            measure_from,
            intended: 0,
            dropped: 0,
            unlimited: 0,
            worker: u64::from(worker),
            of: u64::from(of),
            limit,
            stopped: false,
            following: u64::from(worker),
        }
    }

    #[inline]
    pub(crate) fn take(&mut self, now: Nanos) -> Option<Arrival> {
        while !self.stopped {
            let due = match self.segment.peek() {
                Next::At(due) if due.at <= now && due.at < self.end => due,
                Next::Unlimited { from, until } if from <= now => {
                    if now < until.min(self.end) {
                        return self.take_unlimited(now);
                    }
                    self.segment.advance();
                    continue;
                }
                _ => return None,
            };
            self.segment.advance();
            self.following = due.index + self.of;
            let arrival = Arrival {
                index: due.index,
                intended: due.at,
            };
            if self.late == LatePolicy::Queue || self.still_wanted(arrival, now) {
                return Some(arrival);
            }
        }
        None
    }

    /// Counts a request that came too late as dropped.
    pub(crate) fn still_wanted(&mut self, arrival: Arrival, now: Nanos) -> bool {
        let wanted = match self.late {
            LatePolicy::Queue => true,
            LatePolicy::Drop(after) => now - arrival.intended <= after,
            // A tick stands until the next one is due.
            LatePolicy::Skip => !matches!(self.segment.peek(), Next::At(next) if next.at <= now),
        };
        self.dropped += u64::from(!wanted && arrival.intended >= self.measure_from);
        wanted
    }

    pub(crate) fn next_due(&self) -> Nanos {
        match self.segment.peek() {
            _ if self.stopped => Nanos::MAX,
            Next::At(Due { at, .. }) if at < self.end => at,
            Next::Unlimited { from, .. } if from < self.end => from,
            _ => Nanos::MAX,
        }
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.next_due() == Nanos::MAX
    }

    /// Whether the run's count of requests is used up, as far as it is ours.
    pub(crate) fn is_counted_out(&self) -> bool {
        self.following >= self.limit || self.worker + self.unlimited * self.of >= self.limit
    }

    pub(crate) fn stop(&mut self, end: Nanos) {
        self.end = self.end.min(end);
        self.stopped = true;
    }

    pub(crate) fn tally(&mut self, end: Nanos) -> Tally {
        let end = end.min(self.end);
        while let Next::At(due) = self.ahead.peek()
            && due.at < end
        {
            self.intended += u64::from(due.at >= self.measure_from);
            self.ahead.advance();
        }
        if let Next::Unlimited { until, .. } = self.ahead.peek()
            && until <= end
        {
            self.ahead.advance();
        }
        Tally {
            intended: std::mem::take(&mut self.intended),
            dropped: std::mem::take(&mut self.dropped),
        }
    }

    /// As fast as connections allow: intended is when one became free, which is now.
    fn take_unlimited(&mut self, now: Nanos) -> Option<Arrival> {
        let index = self.worker + self.unlimited * self.of;
        if index >= self.limit {
            return None;
        }
        self.unlimited += 1;
        self.intended += u64::from(now >= self.measure_from);
        Some(Arrival {
            index,
            intended: now,
        })
    }
}
