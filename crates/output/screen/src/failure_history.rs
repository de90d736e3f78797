//! The failures of each kind over the time of a run, in bounded memory: neighbours are merged if
//! there are too many spans.

use drumfire_measure::Interval;
use drumfire_report::figure::FailureSpan;
use std::sync::Arc;

/// The maximum number of spans, more than a terminal has columns for.
const SPANS_MAX: usize = 240;

/// The outcomes of consecutive spans of a run's time. A copy shares the spans until one of both
/// grows.
#[derive(Clone, Default)]
pub(crate) struct FailureHistory {
    spans: Arc<Vec<FailureSpan>>,
    /// The number of intervals in each span; 0 means 1.
    each: u32,
    /// The number of intervals in the last span.
    last: u32,
}

impl FailureHistory {
    /// Adds the next interval of the run.
    pub(crate) fn absorb(&mut self, interval: &Interval) {
        let each = self.each.max(1);
        let spans = Arc::make_mut(&mut self.spans);
        let outcomes = interval.total.outcomes();
        match spans.last_mut().filter(|_| self.last < each) {
            Some(span) => {
                span.end = interval.end;
                span.outcomes.merge(outcomes);
                self.last += 1;
            }
            None => {
                spans.push(FailureSpan {
                    start: interval.start,
                    end: interval.end,
                    outcomes: outcomes.clone(),
                });
                self.last = 1;
            }
        }
        if spans.len() > SPANS_MAX {
            let pairs = spans.chunks(2).map(|pair| {
                let mut span = pair[0].clone();
                if let Some(next) = pair.get(1) {
                    span.end = next.end;
                    span.outcomes.merge(&next.outcomes);
                }
                span
            });
            *spans = pairs.collect();
            self.each = each * 2;
        }
    }

    /// The spans, in order of time.
    pub(crate) fn spans(&self) -> &[FailureSpan] {
        &self.spans
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_measure::{Leniencies, Outcome, Sample};
    use drumfire_units::Nanos;

    fn interval(at: u64) -> Interval {
        let mut interval = Interval::new(&[]);
        interval.reset(at, Nanos::from_secs(at));
        interval.end = Nanos::from_secs(at + 1);
        let time = interval.start;
        interval.total.record(&Sample {
            intended: time,
            due: time,
            sent: time,
            first_byte: time,
            end: time,
            bytes_sent: 1,
            bytes_received: 0,
            status: 0,
            step: 0,
            outcome: Outcome::Reset,
            leniencies: Leniencies::default(),
        });
        interval
    }

    #[test]
    fn a_long_run_has_few_spans_and_every_failure() {
        let mut history = FailureHistory::default();
        for at in 0..1_000 {
            history.absorb(&interval(at));
        }
        let spans = history.spans();
        assert!(spans.len() <= SPANS_MAX, "{}", spans.len());
        let counts = spans.iter().map(|span| span.outcomes.get(Outcome::Reset));
        assert_eq!(counts.sum::<u64>(), 1_000);
        assert!(spans.windows(2).all(|two| two[0].end == two[1].start));
        assert_eq!(spans[0].end - spans[0].start, Nanos::from_secs(8));
    }
}
