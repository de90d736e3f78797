//! The sums over all results, and the figures that ghz computes from them.

use super::result::CallResult;
use drumfire_measure::Histogram;
use drumfire_units::Nanos;
use std::collections::BTreeMap;

/// Up to this number, all times are stored, so that percentiles are exact; beyond it, percentiles
/// have three significant digits.
const EXACT_MAX: usize = 1 << 20;

/// The number of error texts that are counted separately.
const ERRORS_MAX: usize = 10_000;

/// The text under which further error texts are counted.
const OTHER_ERRORS: &str = "other errors";

/// The percentiles of ghz's reports.
pub(super) const PERCENTAGES: [u32; 7] = [10, 25, 50, 75, 90, 95, 99];

/// The number of buckets of the histogram between the fastest and the slowest time.
const SPANS: u64 = 10;

/// Which results count as times. The average includes all results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimedCalls {
    /// Successes.
    Successes,
    /// All results (`--count-errors`).
    All,
}

/// The sums during the run.
#[derive(Debug)]
pub(super) struct Tally {
    timed: TimedCalls,
    /// The number of results that are still to be skipped.
    skip: u64,
    pub(super) count: u64,
    pub(super) ok: u64,
    sum: u128,
    /// The sum of the times in the histogram, in nanoseconds.
    pub(super) sum_timed: u128,
    pub(super) statuses: BTreeMap<&'static str, u64>,
    pub(super) errors: BTreeMap<String, u64>,
    /// All times, up to [`EXACT_MAX`].
    exact: Vec<u64>,
    times: Histogram,
    fastest: u64,
    slowest: u64,
}

/// One row of the histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HistogramBucket {
    /// The upper bound, in nanoseconds.
    pub(super) mark: f64,
    /// The number of times above the previous bound and at most at this one.
    pub(super) count: u64,
}

impl Tally {
    pub(super) fn new(timed: TimedCalls, skip: u64) -> Self {
        Self {
            timed,
            skip,
            count: 0,
            ok: 0,
            sum: 0,
            sum_timed: 0,
            statuses: BTreeMap::new(),
            errors: BTreeMap::new(),
            exact: Vec::new(),
            times: Histogram::new(),
            fastest: u64::MAX,
            slowest: 0,
        }
    }

    /// Counts a result; returns false if the result is skipped.
    pub(super) fn record(&mut self, result: &CallResult) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.count += 1;
        self.ok += u64::from(result.is_ok());
        self.sum += u128::from(result.latency.0);
        *self.statuses.entry(result.status()).or_default() += 1;
        if !result.is_ok() {
            self.record_error(&result.error);
        }
        if result.is_ok() || self.timed == TimedCalls::All {
            self.record_time(result.latency);
        }
        true
    }

    fn record_error(&mut self, text: &str) {
        if let Some(count) = self.errors.get_mut(text) {
            *count += 1;
        } else if self.errors.len() < ERRORS_MAX {
            self.errors.insert(text.to_owned(), 1);
        } else {
            *self.errors.entry(OTHER_ERRORS.to_owned()).or_default() += 1;
        }
    }

    fn record_time(&mut self, time: Nanos) {
        self.times.record(time);
        self.sum_timed += u128::from(time.0);
        self.fastest = self.fastest.min(time.0);
        self.slowest = self.slowest.max(time.0);
        if self.exact.len() < EXACT_MAX {
            self.exact.push(time.0);
        }
    }

    /// Sorts the times after the last result.
    pub(super) fn close(&mut self) {
        if self.times.count() > self.exact.len() as u64 {
            self.exact = Vec::new();
        }
        self.exact.sort_unstable();
    }

    /// The number of times.
    pub(super) fn samples(&self) -> u64 {
        self.times.count()
    }

    /// The shortest time; 0 without any.
    pub(super) const fn fastest(&self) -> u64 {
        if self.fastest == u64::MAX {
            0
        } else {
            self.fastest
        }
    }

    /// The longest time; 0 without any.
    pub(super) const fn slowest(&self) -> u64 {
        self.slowest
    }

    /// The mean over all results, including errors.
    pub(super) fn average(&self) -> u64 {
        let mean = self.sum.checked_div(u128::from(self.count));
        mean.and_then(|mean| u64::try_from(mean).ok()).unwrap_or(0)
    }

    /// A percentile by nearest rank; `None` without any time.
    pub(super) fn percentile(&self, percentage: u32) -> Option<u64> {
        if self.times.is_empty() {
            return None;
        }
        if self.exact.is_empty() {
            let time = self.times.quantile_unchecked(f64::from(percentage) / 100.0);
            return Some(time.0.clamp(self.fastest, self.slowest));
        }
        let rank = (self.exact.len() * percentage as usize).div_ceil(100);
        self.exact.get(rank.max(1) - 1).copied()
    }

    /// The histogram; empty without any time.
    pub(super) fn histogram(&self) -> Vec<HistogramBucket> {
        if self.times.is_empty() {
            return Vec::new();
        }
        let (fastest, slowest) = (self.fastest as f64, self.slowest as f64);
        let mark = |n: u64| match n {
            SPANS => slowest,
            n => fastest + (slowest - fastest) * n as f64 / SPANS as f64,
        };
        let mut rows: Vec<HistogramBucket> = (0..=SPANS)
            .map(|n| HistogramBucket {
                mark: mark(n),
                count: 0,
            })
            .collect();
        let mut place = |time: u64, count: u64| {
            let row = rows.partition_point(|row| row.mark < time as f64);
            let last = rows.len() - 1;
            rows[row.min(last)].count += count;
        };
        if self.exact.is_empty() {
            for (low, high, count) in self.times.buckets() {
                let middle = low + (high - low) / 2;
                place(middle.clamp(self.fastest, self.slowest), count);
            }
        } else {
            self.exact.iter().for_each(|time| place(*time, 1));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(times: &[u64]) -> Tally {
        let mut tally = Tally::new(TimedCalls::Successes, 0);
        for time in times {
            tally.record(&result(*time, 0));
        }
        tally.close();
        tally
    }

    fn result(time: u64, code: u8) -> CallResult {
        CallResult {
            end: Nanos(time),
            latency: Nanos(time),
            code,
            error: if code == 0 {
                String::new()
            } else {
                "e".to_owned()
            },
        }
    }

    #[test]
    fn percentiles_are_those_of_the_nearest_rank() {
        let hundred: Vec<u64> = (1..=100).collect();
        let all = |tally: &Tally| PERCENTAGES.map(|p| tally.percentile(p).unwrap());
        assert_eq!(all(&tally(&hundred)), [10, 25, 50, 75, 90, 95, 99]);
        assert_eq!(all(&tally(&[5])), [5; 7]);
        assert_eq!(all(&tally(&[1, 2, 3])), [1, 1, 2, 3, 3, 3, 3]);
        assert_eq!(tally(&[]).percentile(50), None);
    }

    #[test]
    fn a_time_falls_under_the_first_mark_that_it_does_not_exceed() {
        let rows = tally(&[10, 10, 11, 20, 25, 110]).histogram();
        let counts: Vec<u64> = rows.iter().map(|row| row.count).collect();
        assert_eq!(counts, [2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(rows[0].mark.to_string(), "10");
        assert_eq!(rows[10].mark.to_string(), "110");
        assert_eq!(tally(&[7, 7]).histogram()[0].count, 2);
    }

    #[test]
    fn the_first_are_left_out_and_errors_count_in_the_average() {
        let mut tally = Tally::new(TimedCalls::Successes, 2);
        for (time, code) in [(1, 0), (2, 0), (30, 0), (10, 13)] {
            tally.record(&result(time, code));
        }
        tally.close();
        assert_eq!((tally.count, tally.ok, tally.average()), (2, 1, 20));
        assert_eq!(tally.sum_timed, 30);
        assert_eq!(
            (tally.fastest(), tally.slowest(), tally.samples()),
            (30, 30, 1)
        );
        assert_eq!(tally.errors, BTreeMap::from([("e".to_owned(), 1)]));
    }

    #[test]
    fn more_results_than_are_kept_all_count() {
        let mut tally = Tally::new(TimedCalls::Successes, 0);
        let many = EXACT_MAX as u64 + 1_000;
        for time in 0..many {
            tally.record(&result(1_000_000 + time, 0));
        }
        tally.close();
        let median = tally.percentile(50).unwrap();
        assert!(median.abs_diff(1_000_000 + many / 2) < 3_000, "{median}");
        let rows = tally.histogram();
        assert_eq!(rows.iter().map(|row| row.count).sum::<u64>(), many);
    }
}
