//! slow_cooker's counts of a span.

use drumfire_measure::{Histogram, Interval, Outcome};

/// The statuses of good responses.
const GOOD: std::ops::RangeInclusive<u16> = 200..=499;

/// Responses and times of a span.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// The number of intended requests.
    pub(super) intended: u64,
    pub(super) good: u64,
    pub(super) bad: u64,
    pub(super) failed: u64,
    pub(super) hash_failures: u64,
    /// The times from sending a request to the first byte of its response.
    pub(super) times: Histogram,
}

impl Tally {
    /// Adds an interval of the run.
    pub(super) fn add(&mut self, interval: &Interval) {
        let figures = &interval.total;
        self.intended += figures.counts.intended;
        let hash_failures = figures.outcomes().get(Outcome::AssertBody);
        // Bad responses include a status beyond 599, and 101.
        let [odd, switched] = [Outcome::InvalidStatus, Outcome::ProtoUnexpected101]
            .map(|outcome| figures.outcomes().get(outcome));
        let responses = figures.counts.ok + hash_failures + odd;
        let is_bad = |(status, _): &(u16, u64)| *status >= 200 && !GOOD.contains(status);
        let bad: u64 = figures
            .status()
            .filter(is_bad)
            .map(|(_, count)| count)
            .sum();
        // A truncated response has a status, but counts as failed.
        let bad = bad.min(responses);
        self.bad += bad + switched;
        self.good += responses - bad;
        self.failed += figures
            .counts
            .failed
            .saturating_sub(hash_failures + odd + switched);
        self.hash_failures += hash_failures;
        self.times.merge(&figures.latency.first_byte);
        self.times.merge(&figures.latency.first_byte_bad);
    }

    /// Whether nothing was counted.
    pub(super) const fn is_empty(&self) -> bool {
        self.good + self.bad + self.failed == 0
    }
}
