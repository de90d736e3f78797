//! Adds samples to intervals, and sends intervals to the collector.
//!
//! An interval belongs to one worker and contains all its pools. Before the worker records anything
//! with a time of [`edge`](Recorder::edge) or later, it takes the tally of each pool and calls
//! [`Recorder::close`], so every record is in the interval of its time. Intervals circulate between
//! the worker and the collector, and none is allocated after there are enough.
//!
//! All workers count intervals from the run's start and with the same length, so that the collector
//! can merge the intervals with the same number. Edges are multiples of the length, because sums
//! would drift with each late close. A close that is late by more than a length is followed by
//! empty intervals, so that no number is missing.
//!
//! Exchanges of the warm-up are counted separately and not added to histograms. All data kept per
//! sample has a bound, since details are servers' text: [`DETAIL_BYTES`] each for the figures,
//! [`KEPT_DETAIL_BYTES`] each with a kept sample, and the latter only until an interval has
//! [`KEPT_DETAILS_BYTES`] of them.

use crate::prepare::PreparedPool;
use drumfire_measure::{
    Cause, Detail, Figures, Interval, Kept, KeptAnswer, Particulars, PoolSeries, Sample,
    WorkerHealth, Written,
};
use drumfire_net::ThreadTimes;
use drumfire_plan::{Plan, Pool, Samples};
use drumfire_units::Nanos;
use std::sync::Arc;

use crate::id::PoolId;
use crate::limits::{DETAIL_BYTES, KEPT_DETAIL_BYTES, KEPT_DETAILS_BYTES, KEPT_GAPS_BYTES};

/// The series of a pool: the names under which its figures are kept.
pub(crate) struct Series {
    steps: Vec<Arc<str>>,
    /// Whether iterations have their own figures, in addition to the requests'.
    iterations: bool,
    scenarios: Vec<Arc<str>>,
}

impl Series {
    pub(crate) fn for_pool(pool: &PreparedPool) -> Self {
        Self {
            steps: pool.steps.clone(),
            iterations: pool.pool().program.has_steps(),
            scenarios: pool.pool().program.scenario_names().to_vec(),
        }
    }
}

/// The destination of closed intervals, which returns used ones. For one interval the calls are:
/// any number of `written`, `spare`, `kept` if there are samples, `closed`.
pub(crate) trait Sink {
    /// Receives a closed interval.
    fn closed(&mut self, interval: Box<Interval>);
    /// Receives every sample of the interval that closes next.
    fn kept(&mut self, samples: Vec<Kept>);
    /// Receives the records of exchanges in addition to their figures.
    fn written(&mut self, written: Written);
    /// An emptied interval, if one has been returned. Otherwise the recorder allocates one.
    fn spare(&mut self) -> Option<Box<Interval>>;
}

/// One worker's current interval, and the sink for closed ones.
pub(crate) struct Recorder<S> {
    sink: S,
    /// The series of each pool.
    series: Vec<Series>,
    current: Box<Interval>,
    /// The end of the current interval, or of the warm-up if that is earlier.
    edge: Nanos,
    /// Whether the warm-up is running, whose connections are left out.
    warms_up: bool,
    length: Nanos,
    measure_from: Nanos,
    /// Whether the samples of any pool are kept.
    samples: Samples,
    /// The kept samples of the current interval.
    kept: Vec<Kept>,
    /// The bytes of their details, which come from servers.
    kept_bytes: usize,
    /// The bytes of the gaps of their answers.
    kept_gap_bytes: usize,
    /// The thread's times when the current interval began.
    times: ThreadTimes,
}

impl<S: Sink> Recorder<S> {
    /// A recorder of a plan whose pools have these series.
    pub(crate) fn new(sink: S, series: Vec<Series>, plan: &Plan) -> Self {
        let keeps = |pool: &Pool| pool.samples == Samples::Keep;
        let samples = match plan.pools().iter().any(keeps) {
            true => Samples::Keep,
            false => Samples::Forget,
        };
        let length = plan.generator().interval;
        let measure_from = plan.generator().warmup.span();
        let first_edge = match measure_from {
            Nanos::ZERO => length,
            span => span.min(length),
        };
        let current = Box::new(interval_of(&series));
        let times = ThreadTimes::default();
        Self {
            sink,
            series,
            current,
            edge: first_edge,
            warms_up: measure_from > Nanos::ZERO,
            length,
            measure_from,
            samples,
            kept: Vec::new(),
            kept_bytes: 0,
            kept_gap_bytes: 0,
            times,
        }
    }

    /// A pool's figures in the current interval.
    #[inline]
    pub(crate) fn figures(&mut self, pool: PoolId) -> &mut Figures {
        self.current.pool_mut(pool.index())
    }

    /// The current interval's figures of the worker itself.
    #[inline]
    pub(crate) fn health(&mut self) -> &mut WorkerHealth {
        &mut self.current.health
    }

    /// The end of the current interval, or of the warm-up if that is earlier.
    #[inline]
    pub(crate) fn edge(&self) -> Nanos {
        self.edge
    }

    /// Records one finished exchange in the interval of its end.
    #[inline(always)]
    pub(crate) fn record(
        &mut self,
        pool: PoolId,
        sample: &Sample,
        beside: impl FnOnce() -> (Particulars, Option<Box<KeptAnswer>>),
    ) {
        if sample.intended >= self.measure_from {
            self.figures(pool).record(sample);
            if self.samples == Samples::Keep {
                self.keep(pool, sample, beside());
            }
        } else {
            self.figures(pool).record_warmup(sample);
        }
    }

    #[cold]
    fn keep(
        &mut self,
        pool: PoolId,
        sample: &Sample,
        (particulars, mut answer): (Particulars, Option<Box<KeptAnswer>>),
    ) {
        if let Some(answer) = &mut answer {
            let bytes = size_of_val(&*answer.gaps);
            match self.kept_gap_bytes < KEPT_GAPS_BYTES {
                true => self.kept_gap_bytes += bytes,
                false => answer.gaps = Vec::new(),
            }
        }
        self.kept.push(Kept {
            sample: *sample,
            particulars,
            detail: None,
            answer,
            pool: pool.0,
        });
    }

    /// Keeps the cause and the text of a failure, in addition to its class. Call it after
    /// [`Self::record`] for the same sample.
    #[cold]
    pub(crate) fn detail(
        &mut self,
        pool: PoolId,
        sample: &Sample,
        cause: Option<Cause>,
        text: &str,
    ) {
        if sample.intended < self.measure_from {
            return;
        }
        self.figures(pool)
            .record_error_detail(sample.outcome, cause, start(text, DETAIL_BYTES));
        if self.samples == Samples::Keep
            && let Some(kept) = self.kept.last_mut()
        {
            let bytes = match self.kept_bytes < KEPT_DETAILS_BYTES {
                true => KEPT_DETAIL_BYTES,
                false => DETAIL_BYTES,
            };
            let text = start(text, bytes);
            self.kept_bytes += text.len();
            kept.detail = Some(Box::new(Detail::new(text, cause)));
        }
    }

    /// Passes on the records of exchanges in addition to their figures; usually they are empty.
    pub(crate) fn hand_over(&mut self, written: Written) {
        if !written.is_empty() {
            self.sink.written(written);
        }
    }

    /// Begins the recording at time `from` of the run, within the interval that contains it.
    pub(crate) fn begin_from(&mut self, from: Nanos) {
        let index = from.0 / self.length.0.max(1);
        let current = &mut self.current;
        (current.index, current.start, current.end) = (index, from, from);
        self.warms_up = from < self.measure_from;
        self.edge = self.length_times(index + 1);
        if self.warms_up {
            self.edge = self.edge.min(self.measure_from);
        }
    }

    /// Sets the thread's times at the start of the run.
    pub(crate) fn begin_run(&mut self, times: ThreadTimes) {
        self.times = times;
    }

    /// Ends the warm-up if it ends at the current edge, and returns whether it did. Later exchanges
    /// are measured.
    pub(crate) fn end_warmup(&mut self) -> bool {
        let ends = self.warms_up && self.edge == self.measure_from;
        if ends {
            self.current.leave_out_connections();
            self.warms_up = false;
            self.edge = self.length_times(self.current.index + 1);
        }
        ends
    }

    /// Closes the current interval at its edge, or earlier at the end of the run. `times` are the
    /// thread's times at that moment.
    pub(crate) fn close(&mut self, at: Nanos, times: ThreadTimes) {
        self.account_health(at, times);
        self.current.end = at;
        let index = self.current.index + 1;
        let mut next = self
            .sink
            .spare()
            .unwrap_or_else(|| Box::new(interval_of(&self.series)));
        next.index = index;
        next.start = at;
        next.end = at;
        self.edge = self.length_times(index + 1);
        if self.warms_up {
            self.current.leave_out_connections();
            self.edge = self.edge.min(self.measure_from);
        }
        self.hand_over_kept();
        self.sink.closed(std::mem::replace(&mut self.current, next));
    }

    /// Ends the recording and returns the sink.
    pub(crate) fn finish(mut self, at: Nanos, times: ThreadTimes) -> S {
        self.account_health(at, times);
        self.current.end = at;
        if self.warms_up {
            self.current.leave_out_connections();
        }
        self.hand_over_kept();
        self.sink.closed(self.current);
        self.sink
    }

    fn hand_over_kept(&mut self) {
        self.kept_bytes = 0;
        self.kept_gap_bytes = 0;
        if !self.kept.is_empty() {
            self.sink.kept(std::mem::take(&mut self.kept));
        }
    }

    fn length_times(&self, index: u64) -> Nanos {
        Nanos(self.length.0.saturating_mul(index))
    }

    /// Adds the thread's CPU time and its wait for a core to the current interval, as differences
    /// of the kernel's counters.
    fn account_health(&mut self, at: Nanos, times: ThreadTimes) {
        let health = &mut self.current.health;
        health.wall = at - self.current.start;
        health.cpu = times.cpu - self.times.cpu;
        health.run_queue_delay = times.run_queue_delay - self.times.run_queue_delay;
        let (stamps, before) = (times.stamps, self.times.stamps);
        health.stamps.taken += stamps.taken - before.taken;
        health.stamps.missing += stamps.missing - before.missing;
        health.stamps.refused += stamps.refused - before.refused;
        let (departures, before) = (times.departures, self.times.departures);
        health.departures.taken += departures.taken - before.taken;
        health.departures.missing += departures.missing - before.missing;
        health.departures.refused += departures.refused - before.refused;
        health.departures.passed += departures.passed - before.passed;
        let (waits, before) = (times.waits, self.times.waits);
        let polled = waits.polled - before.polled;
        health.waits.polled += polled;
        health.waits.found += waits.found - before.found;
        health.waits.slept += waits.slept - before.slept;
        // For a short last interval the share is meaningless. A thread that polls has time.
        if health.wall.0 * 2 >= self.length.0 {
            let share = ((health.cpu - polled).0 as f64 / health.wall.0.max(1) as f64).min(1.0);
            health.busiest_share_ppm = (share * 1e6) as u32;
        }
        self.times = times;
    }
}

/// The start of a text, at most this many bytes long.
fn start(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// An empty interval for pools with these series.
fn interval_of(series: &[Series]) -> Interval {
    Interval::of_pools(series.iter().map(|series| PoolSeries {
        steps: &series.steps,
        iterations: series.iterations,
        scenarios: &series.scenarios,
    }))
}
