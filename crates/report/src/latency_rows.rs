//! The times of a run's requests in the order in which tables have them: *the* latency first, then
//! the times that it is made of.

use drumfire_measure::{Histogram, LatencyKind, Model, Summary};
use drumfire_units::Nanos;

/// A row of a table of latencies.
pub(crate) struct LatencyRow<'a> {
    /// Its name beside others in a narrow column.
    pub(crate) name: &'static str,
    pub(crate) times: &'a Histogram,
}

impl<'a> LatencyRow<'a> {
    /// The rows that have samples. Where the service time is *the* latency, response time and
    /// waiting are rows only if a request waited: otherwise they say the same.
    pub(crate) fn of(summary: &'a Summary) -> Vec<Self> {
        let latency = &summary.total.latency;
        let (response, service) = (&latency.response_time, &latency.service_time);
        let (waiting, lag) = (&latency.waiting, &latency.lag);
        let has_waited = summary.model() == Model::Open || waiting.max() > Nanos::ZERO;
        let rows = match summary.latency_kind() {
            LatencyKind::Response => vec![
                ("response", response),
                ("service", service),
                ("waiting", waiting),
                ("lag", lag),
            ],
            LatencyKind::Service if has_waited => vec![
                ("service", service),
                ("response", response),
                ("waiting", waiting),
                ("lag", lag),
            ],
            LatencyKind::Service => vec![("service", service), ("lag", lag)],
        };
        let rows = rows.into_iter().filter(|(_, times)| times.count() > 0);
        rows.map(|(name, times)| Self { name, times }).collect()
    }

    /// Its name alone.
    pub(crate) fn words(&self) -> &'static str {
        let kinds = LatencyKind::ALL.map(LatencyKind::words).into_iter();
        let mut kinds = kinds.filter(|words| words.starts_with(self.name));
        kinds.next().unwrap_or(self.name)
    }
}
