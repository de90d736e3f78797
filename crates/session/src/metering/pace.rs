//! The pauses between requests to a receiver.
//!
//! A receiver that works is sent what has gathered every [`SEND_EVERY`], and at once while more
//! waits than fits into a request. A receiver that fails is left alone for twice as long each time,
//! and for as long as it asks, whichever is more. The end of the run has a scale of its own, since
//! the process waits there.

use std::time::Duration;

/// The period at which the gathered snapshots are sent.
const SEND_EVERY: Duration = Duration::from_secs(5);
/// The pause after the first failure.
const PAUSE_FIRST: Duration = Duration::from_secs(1);
/// The longest pause after a failure.
const PAUSE_MOST: Duration = Duration::from_secs(30);
/// The first pause after the end of the run, which waits only for a time for its last figures to be
/// taken.
const LAST_PAUSE_FIRST: Duration = Duration::from_millis(250);
/// The longest pause after the end of the run.
const LAST_PAUSE_MOST: Duration = Duration::from_secs(2);

/// The state that decides about the pause before the next request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pace {
    /// Requests that failed since one was answered for good.
    failures: u32,
    /// The failures among them that came after the end of the run.
    last_failures: u32,
    /// The pause for which the receiver has asked.
    retry_after: Option<Duration>,
    /// Whether more waits than went into the last request.
    is_more: bool,
}

impl Pace {
    /// Notes that a request was taken, or refused for good: the failures before it count no more.
    pub(super) fn settle(&mut self, is_more: bool) {
        *self = Self {
            is_more,
            ..Self::default()
        };
    }

    /// Notes that a request failed, before or after the end of the run.
    pub(super) fn fail(&mut self, is_over: bool, retry_after: Option<Duration>) {
        self.failures = self.failures.saturating_add(1);
        if is_over {
            self.last_failures = self.last_failures.saturating_add(1);
        }
        self.retry_after = retry_after;
    }

    /// The pause between the last request and the next one. It doubles with each failure, and is never
    /// less than the receiver has asked for.
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

    /// The pause for which the receiver has asked.
    pub(super) const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(failures: usize, is_over: bool) -> Pace {
        let mut pace = Pace::default();
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
        // The end of the run comes in an outage.
        assert_eq!(after(9, false).pause(true), Duration::from_millis(250));
        assert_eq!(after(0, false).pause(true), Duration::ZERO);
    }

    #[test]
    fn a_receiver_is_not_asked_before_it_wants_to_be() {
        let mut pace = Pace::default();
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
