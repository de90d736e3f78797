//! Pandora's counters of a run, and the line and the JSON that it derives from them every second.

use drumfire_measure::Interval;
use drumfire_units::Nanos;

/// A shorter interval is the rest at the end of the run, and has no line.
const LINE_MIN: Nanos = Nanos::from_millis(950);

/// Counts since the start, and counts of the last second.
#[derive(Debug, Default)]
pub(super) struct LogCounters {
    /// The end of the last interval.
    pub(super) end: Nanos,
    responses: u64,
    requests: u64,
    responses_per_second: u64,
    requests_per_second: u64,
    active: u64,
    started: u64,
    finished: u64,
}

impl LogCounters {
    /// Adds an interval and returns its line; `started` instances had started at the end of the
    /// interval.
    pub(super) fn add(&mut self, interval: &Interval, started: u64) -> Option<String> {
        let mut responses = 0;
        let mut active = i128::from(self.active);
        for figures in interval.pools() {
            let counts = match &figures.iterations {
                Some(iterations) => &iterations.counts,
                None => &figures.counts,
            };
            responses += counts.finished();
            active += i128::from(figures.under_way);
        }
        self.active = u64::try_from(active).unwrap_or(0);
        self.responses += responses;
        let requests = self.responses + self.active;
        self.responses_per_second = responses;
        self.requests_per_second = requests.saturating_sub(self.requests);
        self.requests = requests;
        self.started = started;
        self.end = interval.end;
        (interval.end - interval.start >= LINE_MIN).then(|| self.line())
    }

    /// Marks all instances as finished.
    pub(super) fn finish(&mut self) {
        self.finished = self.started;
    }

    fn line(&self) -> String {
        format!(
            "[ENGINE] {} resp/s; {} req/s; {} users; {} active",
            self.responses_per_second,
            self.requests_per_second,
            self.started - self.finished,
            self.active
        )
    }

    /// The counters under the names that Yandex.Tank reads.
    pub(super) fn json(&self) -> String {
        format!(
            "{{\n\"cmdline\": [\"pandora\"],\n\"engine_ActiveRequests\": {},\n\
             \"engine_ActiveUsers\": {},\n\"engine_ReqPS\": {},\n\"engine_Requests\": {},\n\
             \"engine_ResPS\": {},\n\"engine_Responses\": {},\n\"engine_UsersFinished\": {},\n\
             \"engine_UsersStarted\": {}\n}}\n",
            self.active,
            self.started - self.finished,
            self.requests_per_second,
            self.requests,
            self.responses_per_second,
            self.responses,
            self.finished,
            self.started
        )
    }
}
