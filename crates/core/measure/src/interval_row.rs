//! The figures of one closed interval for a line or a row of any output.
//!
//! The live line, text, CSV, JSON and the dialects all show rows, so that an interval has the same
//! rate and tail in every output. [`Rows`] makes them and must receive the intervals of one run in
//! order of time, each once: a row has the number of exchanges running at its end, which is the sum
//! of all earlier changes, and its mark compares its tail with earlier rows' tails.
//!
//! A row is a few hundred bytes and has no histogram, so outputs can keep many rows.

use crate::llm::LlmOverview;
use crate::overview::Tally;
use crate::{Change, Histogram, Interval, LlmRow, Model, Overview, RunInfo, Spread, Tails};
use drumfire_units::Nanos;
use std::ops::Range;

/// The figures of one interval, or of several merged ones.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalRow {
    /// The beginning, from the run's start.
    pub start: Nanos,
    /// The end, from the run's start.
    pub end: Nanos,
    /// The beginning, in nanoseconds since 1970-01-01 00:00 UTC, by the run's own clock, which
    /// ignores steps of the machine's.
    pub started_at_unix_ns: u64,
    /// Exchanges that met the plan's expectation.
    pub good: u64,
    /// Exchanges with an answer that does not meet the expectation: its status, or a check.
    pub bad: u64,
    /// Exchanges without a usable answer: refused, timed out, malformed.
    pub failed: u64,
    /// The exchanges of `bad` whose headers, body or time did not pass a check.
    pub checks_failed: u64,
    /// Exchanges of the warm-up, which are left out of everything else.
    pub warmup: u64,
    /// Requests that became due; `None` in a closed model, where users determine when a request is
    /// due.
    pub goal: Option<u64>,
    /// Requests that were due and will not be sent.
    pub dropped: u64,
    /// Requests running at the end.
    pub in_flight: u64,
    /// *The* latency of the run's model: of good exchanges, and as "at least this long" of
    /// exchanges whose end was not seen.
    pub latency: Spread,
    /// The 99th percentile of the generator's lag.
    pub lag_p99: Option<Nanos>,
    /// The maximum of the generator's lag.
    pub lag_max: Option<Nanos>,
    /// The change of the tail of the latency relative to earlier intervals.
    pub change: Change,
    /// Answers of language models, if there are any.
    pub llm: Option<Box<LlmRow>>,
}

impl IntervalRow {
    /// The length of the interval.
    #[must_use]
    pub fn length(&self) -> Nanos {
        self.end - self.start
    }

    /// Whether this is the short rest of a run with intervals of this length, in which nothing
    /// happened. No output shows such a row.
    #[must_use]
    pub fn is_remnant(&self, interval: Nanos) -> bool {
        let counts = [self.good, self.bad, self.failed, self.warmup, self.dropped];
        self.length() < interval
            && counts.iter().all(|count| *count == 0)
            && self.goal.unwrap_or(0) == 0
            && self.in_flight == 0
    }

    /// Exchanges that were answered, per request that became due; above 1 if earlier requests were
    /// answered too. `None` if no request was due.
    #[must_use]
    pub fn goal_share(&self) -> Option<f64> {
        let goal = self.goal.filter(|goal| *goal > 0)?;
        Some(self.good.saturating_add(self.bad) as f64 / goal as f64)
    }

    /// Exchanges that ended, with any outcome.
    #[must_use]
    pub fn ended(&self) -> u64 {
        let answered = self.good.saturating_add(self.bad);
        answered.saturating_add(self.failed)
    }

    /// Exchanges that ended, with any outcome, per second; 0 for an interval without length.
    #[must_use]
    pub fn ended_per_s(&self) -> f64 {
        match self.length() {
            Nanos::ZERO => 0.0,
            length => self.ended() as f64 / length.as_secs_f64(),
        }
    }
}

/// Makes the rows of a run's intervals, in order of time.
#[derive(Clone, Debug)]
pub struct Rows {
    model: Model,
    has_goal: bool,
    started_at_unix_ns: u64,
    under_way: i64,
    tails: Tails,
}

impl Rows {
    /// The rows of a run, over all its pools. There is a goal if all of them have one.
    #[must_use]
    pub fn new(info: &RunInfo) -> Self {
        let mut pools = info.pools.iter();
        let is_open = |model: Model| model == Model::Open;
        Self {
            model: info.model(),
            has_goal: pools.all(|pool| is_open(pool.model)),
            started_at_unix_ns: info.started_at_unix_ns,
            under_way: 0,
            tails: Tails::default(),
        }
    }

    /// The rows of one pool's figures.
    #[must_use]
    pub fn of_pool(info: &RunInfo, model: Model) -> Self {
        Self {
            model,
            has_goal: model == Model::Open,
            ..Self::new(info)
        }
    }

    /// The row of the next interval, which must be summed up.
    pub fn next_row(&mut self, interval: &Interval) -> IntervalRow {
        let latency = &interval.total.latency;
        let times = self.model.latency(latency);
        let tally = Tally::from_figures(&interval.total);
        let mut row = self.row(interval.start..interval.end, &tally, times, &latency.lag);
        row.llm = interval.total.llm().map(|llm| {
            let mut overview = LlmOverview::small();
            overview.add(llm, self.model);
            Box::new(overview.row())
        });
        row
    }

    /// The row of the next cell of a timeline. A cell of several intervals gives one row.
    pub fn next_row_of(&mut self, cell: &Overview) -> IntervalRow {
        let mut row = self.row(cell.start..cell.end, &cell.tally, &cell.latency, &cell.lag);
        row.llm = cell.llm.as_ref().map(|llm| Box::new(llm.row()));
        row
    }

    fn row(
        &mut self,
        span: Range<Nanos>,
        tally: &Tally,
        times: &Histogram,
        lag: &Histogram,
    ) -> IntervalRow {
        self.under_way = self.under_way.saturating_add(tally.under_way);
        // The mark is based only on the p99 that the line also shows, if the count supports it.
        let tail = times.quantile(0.99);
        let change = tail.map_or_else(Change::default, |tail| self.tails.compare(tail.0));
        IntervalRow {
            start: span.start,
            end: span.end,
            started_at_unix_ns: self.started_at_unix_ns.saturating_add(span.start.0),
            good: tally.good,
            bad: tally.bad,
            failed: tally.failed,
            checks_failed: tally.checks_failed,
            warmup: tally.warmup,
            goal: self.has_goal.then_some(tally.intended),
            dropped: tally.dropped,
            in_flight: self.under_way.max(0).cast_unsigned(),
            latency: Spread::from_histogram(times),
            lag_p99: lag.quantile(0.99),
            lag_max: lag.quantile(1.0),
            change,
            llm: None,
        }
    }
}
