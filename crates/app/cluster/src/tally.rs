//! The sums of an agent's own reports, which distinguish slow agents from the others.

use drumfire_measure::{Counts, Interval};
use drumfire_units::Nanos;
use std::borrow::Cow;

/// The lag above which an interval counts as late, as for a whole run.
const LAG_LATE: Nanos = Nanos::from_millis(10);
/// The minimum number of sent requests for which an interval's quantiles are meaningful.
const SENT_MIN: u64 = 20;

/// The upper limit of a count in an interval: no machine comes close, and no sum of counts
/// overflows.
const COUNT_MAX: u64 = 1 << 48;

/// Why the counts of an agent contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BooksError(pub(crate) String);

/// The sums of an agent's intervals.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    /// The number of requests that the agent sent.
    pub(crate) sent: u64,
    /// The number of due requests that were not sent because of the late policy.
    pub(crate) dropped: u64,
    /// The maximum lag.
    pub(crate) lag_max: Nanos,
    /// The counts of requests and of iterations.
    counts: [Counts; 2],
    lag_sum: u128,
    lag_count: u64,
    /// The number of intervals.
    pub(crate) intervals: u32,
    /// The number of intervals in which more than 1 % of the requests were late.
    pub(crate) late: u32,
}

impl Tally {
    /// Adds an interval, summing up the counts of its pools.
    ///
    /// # Errors
    /// If a count exceeds what a machine can reach; nothing is added.
    pub(crate) fn add(&mut self, interval: &Interval) -> Result<(), BooksError> {
        let of_pools = interval.pools().iter().map(|pool| &pool.counts);
        let iterations = interval.pools().iter().filter_map(|pool| {
            pool.iterations
                .as_ref()
                .map(|iterations| &iterations.counts)
        });
        let all = of_pools.clone().chain(iterations.clone());
        let most = all.flat_map(Counts::all).max().unwrap_or(0);
        if most > COUNT_MAX {
            return Err(BooksError(format!("{most} requests in an interval")));
        }
        of_pools.for_each(|counts| self.counts[0].merge(counts));
        iterations.for_each(|counts| self.counts[1].merge(counts));
        let mut lag = Cow::Borrowed(&interval.pools()[0].latency.lag);
        for pool in &interval.pools()[1..] {
            lag.to_mut().merge(&pool.latency.lag);
        }
        for pool in interval.pools() {
            self.sent = self.sent.saturating_add(pool.counts.sent);
            self.dropped = self.dropped.saturating_add(pool.counts.dropped);
        }
        self.lag_max = self.lag_max.max(lag.max());
        self.lag_sum = self.lag_sum.saturating_add(lag.sum());
        self.lag_count = self.lag_count.saturating_add(lag.count());
        self.intervals = self.intervals.saturating_add(1);
        let is_late = lag.count() >= SENT_MIN && lag.quantile_unchecked(0.99) > LAG_LATE;
        self.late = self.late.saturating_add(is_late.into());
        Ok(())
    }

    /// Checks that every request and iteration of an ended share is accounted for.
    ///
    /// # Errors
    /// The counts that contradict each other.
    pub(crate) fn check(&self) -> Result<(), BooksError> {
        let [requests, iterations] = &self.counts;
        requests.conservation().map_err(BooksError)?;
        let of_iterations = |why| BooksError(format!("of its iterations {why}"));
        iterations.conservation().map_err(of_iterations)
    }

    /// The mean lag.
    pub(crate) fn lag_mean(&self) -> Nanos {
        match u128::from(self.lag_count) {
            0 => Nanos::ZERO,
            count => Nanos(u64::try_from(self.lag_sum / count).unwrap_or(u64::MAX)),
        }
    }
}
