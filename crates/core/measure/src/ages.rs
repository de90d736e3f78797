//! The ages of requests without an answer.
//!
//! An interval contains the number of requests that became due and the response times of those that
//! ended; the ages of the others follow from both. A request that ended in an interval after a
//! response time r was due r before an unknown moment of the interval. So the number of requests
//! that were due by the end of an earlier interval and have ended since is an expectation with a
//! variance. [`Ages::overdue`] is a lower bound.

use crate::Histogram;
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// The number of standard errors subtracted from the number of old requests.
const ERRORS: f64 = 3.0;

/// The requests without an answer, by the interval in which they became due.
#[derive(Clone, Debug)]
pub struct Ages {
    /// Intervals older than this are combined.
    longest: Nanos,
    spans: VecDeque<Span>,
    outstanding: i64,
}

/// An interval, and the requests without an answer that were due by its end.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: Nanos,
    end: Nanos,
    due: u64,
    left: f64,
    variance: f64,
}

/// The requests of one interval.
#[derive(Clone, Copy, Debug)]
pub struct Flow<'a> {
    /// The beginning, from the run's start.
    pub start: Nanos,
    /// The end, after `start`.
    pub end: Nanos,
    /// Requests that became due.
    pub due: u64,
    /// Requests that ended or were dropped.
    pub gone: u64,
    /// The response times of requests that succeeded or were cut off, and of requests that failed.
    /// A request that was cut off is in both.
    pub times: [&'a Histogram; 2],
}

impl Ages {
    /// No requests. `longest` is the maximum age for [`Self::overdue`].
    #[must_use]
    pub const fn new(longest: Nanos) -> Self {
        Self {
            longest,
            spans: VecDeque::new(),
            outstanding: 0,
        }
    }

    /// Adds an interval, which follows the previous one.
    pub fn observe(&mut self, flow: &Flow<'_>) {
        let Flow {
            start,
            end,
            due,
            gone,
            times: [answered, failed],
        } = *flow;
        self.outstanding += due.cast_signed() - gone.cast_signed();
        let both = answered.count() + failed.count();
        let twice = both.saturating_sub(gone) as f64;
        for span in &mut self.spans {
            let [(old, variance), (failed, more)] =
                [answered, failed].map(|times| older(times, span.end, start, end));
            // Requests in both histograms are the oldest.
            span.left -= old + failed - twice.min(failed);
            span.variance += variance + more;
        }
        self.spans.push_back(Span {
            start,
            end,
            due,
            left: self.outstanding as f64,
            variance: 0.0,
        });
        let oldest = end.0.saturating_sub(self.longest.0);
        while self.spans.get(1).is_some_and(|next| next.end.0 <= oldest) {
            self.spans.pop_front();
        }
    }

    /// The number of requests that have not ended.
    #[must_use]
    pub fn outstanding(&self) -> u64 {
        self.outstanding.max(0).cast_unsigned()
    }

    /// A lower bound of the number of requests that were due at least `age` ago and have not ended.
    #[must_use]
    pub fn overdue(&self, age: Nanos) -> u64 {
        let now = self.spans.back().map_or(0, |newest| newest.end.0);
        let by = now.saturating_sub(age.0);
        // At most the requests that became due since then are younger.
        let younger = self.spans.iter().map(|span| {
            let part = span.end.0.saturating_sub(span.start.0.max(by)) as f64;
            span.due as f64 * part / (span.end.0 - span.start.0).max(1) as f64
        });
        let in_order = self.outstanding as f64 - younger.sum::<f64>();
        let old = self.spans.iter().rev().find(|span| span.end.0 <= by);
        let old = old.map_or(0.0, |span| span.left - ERRORS * span.variance.sqrt());
        let most = self.outstanding() as f64;
        in_order.max(old).clamp(0.0, most) as u64
    }
}

/// The expected number of requests that were due by an earlier time, among the requests that ended
/// from `start` to `end`; and the variance of that number.
fn older(times: &Histogram, by: Nanos, start: Nanos, end: Nanos) -> (f64, f64) {
    let (from, length) = ((start.0 - by.0) as f64, (end.0 - start.0).max(1) as f64);
    let each = times.buckets().map(|(low, high, count)| {
        let time = f64::midpoint(low as f64, high as f64);
        let part = ((time - from) / length).clamp(0.0, 1.0);
        (count as f64 * part, count as f64 * part * (1.0 - part))
    });
    each.fold((0.0, 0.0), |sum, (old, variance)| {
        (sum.0 + old, sum.1 + variance)
    })
}

#[cfg(test)]
mod tests {
    use super::{Ages, Flow};
    use crate::Histogram;
    use drumfire_units::Nanos;

    /// The ages after some seconds. Each second has the number of requests that became due, and the
    /// requests that ended, with their times.
    fn ages(seconds: &[(u64, &[(u64, Nanos)])]) -> Ages {
        let mut ages = Ages::new(Nanos::from_secs(20));
        for (second, (due, ended)) in (0..).zip(seconds) {
            let (mut times, failed) = (Histogram::small(), Histogram::small());
            for (count, time) in *ended {
                (0..*count).for_each(|_| times.record(*time));
            }
            ages.observe(&Flow {
                start: Nanos::from_secs(second),
                end: Nanos::from_secs(second + 1),
                due: *due,
                gone: times.count(),
                times: [&times, &failed],
            });
        }
        ages
    }

    const MS: fn(u64) -> Nanos = Nanos::from_millis;

    /// A rate that doubles each second, and a target that ends two requests a second: nearly all
    /// requests are young, and the rate hides none.
    #[test]
    fn a_queue_is_as_old_as_its_requests() {
        let two = [(2, MS(1_000))];
        let waits = [(2, MS(2_000))];
        let seconds: Vec<(u64, &[(u64, Nanos)])> =
            vec![(4, &[]), (8, &two[..]), (16, &waits[..]), (32, &waits[..])];
        let ages = ages(&seconds);
        assert_eq!(ages.outstanding(), 54);
        // 28 were due in the first three seconds, and 6 have ended.
        assert_eq!(ages.overdue(MS(1_000)), 22);
        assert_eq!(ages.overdue(MS(2_000)), 6);
        assert_eq!(ages.overdue(MS(3_000)), 0);
        assert_eq!(ages.overdue(Nanos::ZERO), 54);
    }

    /// Ten requests a second hang, and ninety are answered at once. If answers were in order, each
    /// would belong to the oldest request.
    #[test]
    fn requests_that_hang_among_others_that_are_answered_grow_old() {
        let quick = [(90, MS(2))];
        let ages = ages(&[(100, &quick[..]); 10]);
        assert_eq!(ages.outstanding(), 100);
        assert!(ages.overdue(MS(2_000)) >= 75, "{}", ages.overdue(MS(2_000)));
        assert!(ages.overdue(MS(5_000)) >= 40, "{}", ages.overdue(MS(5_000)));
        assert!(ages.overdue(MS(5_000)) <= 50, "never more than there are");
    }

    #[test]
    fn requests_of_a_target_that_keeps_up_are_young() {
        let quick = [(100, MS(30))];
        let ages = ages(&[(100, &quick[..]); 10]);
        assert_eq!(ages.overdue(MS(50)), 0);
        let steady = [(97, MS(300)), (3, MS(900))];
        let first = [(70, MS(300))];
        let mut seconds = vec![(100, &first[..])];
        seconds.extend([(100, &steady[..]); 9]);
        let ages = self::ages(&seconds);
        assert_eq!(ages.overdue(MS(1_000)), 0);
    }
}
