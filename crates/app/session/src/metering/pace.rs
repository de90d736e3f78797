//! The pauses between requests to a receiver.
//!
//! A working receiver gets the accumulated snapshots every [`SEND_EVERY`], or immediately while
//! more wait than fit into one request. After a failure, the pause doubles each time, and is at
//! least as long as the receiver requests. Separate pauses apply after the end of the run, because
//! the process waits then.

use std::time::Duration;

/// The period at which accumulated snapshots are sent.
const SEND_EVERY: Duration = Duration::from_secs(5);
/// The pause after the first failure.
const PAUSE_FIRST: Duration = Duration::from_secs(1);
/// The longest pause after a failure.
const PAUSE_MOST: Duration = Duration::from_secs(30);
/// The first pause after the end of the run, which waits only for a limited time for its last
/// figures.
const LAST_PAUSE_FIRST: Duration = Duration::from_millis(250);
/// The longest pause after the end of the run.
const LAST_PAUSE_MOST: Duration = Duration::from_secs(2);

/// The state that determines the pause before the next request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PushPace {
    /// The number of failed requests since the last one that was settled.
    failures: u32,
    /// The number of these failures that occurred after the end of the run.
    last_failures: u32,
    /// The pause that the receiver requested.
    retry_after: Option<Duration>,
    /// Whether more snapshots wait than the last request contained.
    is_more: bool,
}

impl PushPace {
    /// Records that a request was accepted, or refused for good. Earlier failures no longer count.
    pub(super) fn settle(&mut self, is_more: bool) {
        *self = Self {
            is_more,
            ..Self::default()
        };
    }

    /// Records that a request failed, before or after the end of the run.
    pub(super) fn fail(&mut self, is_over: bool, retry_after: Option<Duration>) {
        self.failures = self.failures.saturating_add(1);
        if is_over {
            self.last_failures = self.last_failures.saturating_add(1);
        }
        self.retry_after = retry_after;
    }

    /// The pause between the last request and the next one. The pause doubles with each failure,
    /// and is never shorter than the receiver requested.
    pub(super) fn pause(&self, is_over: bool) -> Duration {
        let doubled = |first: Duration, times: u32, most: Duration| {
            first.saturating_mul(2_u32.saturating_pow(times)).min(most)
        };
        let backoff = match (self.failures, is_over) {
            (0, true) => Duration::ZERO,
            (0, false) if self.is_more => Duration::ZERO,
            (0, false) => SEND_EVERY,
            (failures, false) => doubled(PAUSE_FIRST, failures - 1, PAUSE_MOST),
            (_, true) => {
                let times = self.last_failures.saturating_sub(1);
                doubled(LAST_PAUSE_FIRST, times, LAST_PAUSE_MOST)
            }
        };
        backoff.max(self.retry_after.unwrap_or_default())
    }

    /// The pause that the receiver requested.
    pub(super) const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(failures: usize, is_over: bool) -> PushPace {
        let mut pace = PushPace::default();
        for _ in 0..failures {
            pace.fail(is_over, None);
        }
        pace
    }

    #[test]
    fn a_receiver_that_fails_is_left_alone_longer_and_longer() {
        for (failures, seconds) in [(0, 5), (1, 1), (2, 2), (3, 4), (5, 16), (6, 30), (99, 30)] {
            let pause = after(failures, false).pause(false);
            assert_eq!(pause, Duration::from_secs(seconds), "{failures}");
        }
        // Within the ten seconds that the end of a run waits.
        let pauses = (1..=6).map(|failures| after(failures, true).pause(true).as_millis());
        assert_eq!(
            pauses.collect::<Vec<_>>(),
            [250, 500, 1_000, 2_000, 2_000, 2_000]
        );
        // The run ends during an outage.
        assert_eq!(after(9, false).pause(true), Duration::from_millis(250));
        assert_eq!(after(0, false).pause(true), Duration::ZERO);
    }

    #[test]
    fn a_receiver_is_not_asked_before_it_wants_to_be() {
        let mut pace = PushPace::default();
        pace.fail(false, Some(Duration::from_secs(4)));
        for is_over in [false, true] {
            assert_eq!(pace.pause(is_over), Duration::from_secs(4));
        }
        pace.fail(true, Some(Duration::ZERO));
        assert_eq!(pace.pause(true), Duration::from_millis(250));
        pace.settle(true);
        assert_eq!(pace.pause(false), Duration::ZERO);
    }
}
