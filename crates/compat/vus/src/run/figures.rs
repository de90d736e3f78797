//! drumfire's own figures of a run: requests and iterations from when they were due, and how late this program was.
//!
//! k6's metrics time a request from when it was sent. Here its response time counts from when its user could have
//! sent it: from the end of what the user waited for, or from when the iteration was due. What the script computes
//! or waits for itself is not part of it. The requests of `setup` and `teardown` are left out.

use drumfire_measure::{
    Interval, IterationSample, Leniencies, Model, Outcome, PoolInfo, PoolSeries, Reading, RunInfo,
    Sample, Summary,
};
use drumfire_net::{StealTimes, ThreadTimes, resident_memory, steal_times};
use drumfire_plan::StopReason;
use drumfire_units::Nanos;
use std::sync::Arc;

/// The length of an interval.
const LENGTH: Nanos = Nanos::from_secs(1);

/// The figures of a run.
pub(super) struct RunFigures {
    reading: Reading,
    current: Interval,
    /// The start of the scenarios by the run's clock.
    start: Nanos,
    /// The thread's times when the current interval began.
    times: ThreadTimes,
    /// The machine's times at the start.
    steal: Option<StealTimes>,
    /// Whether the scenarios have begun.
    is_on: bool,
}

/// The times of a request by the run's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestTimes {
    /// The time of the script's call.
    pub(super) began: Nanos,
    /// How late the user's turn began.
    pub(super) late: Nanos,
    /// The start of sending; [`Nanos::MAX`] if nothing was sent.
    pub(super) sent: Nanos,
    /// The first byte of the response; [`Nanos::MAX`] if none arrived.
    pub(super) first_byte: Nanos,
    pub(super) end: Nanos,
}

/// The result of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestResult<'a> {
    pub(super) outcome: Outcome,
    pub(super) detail: Option<&'a str>,
    pub(super) status: u16,
    pub(super) bytes_sent: u64,
    pub(super) bytes_received: u64,
    /// The time to open the connection; zero if it was open.
    pub(super) connect: Nanos,
}

impl RunFigures {
    /// The figures of a run with these facts, one pool for each scenario.
    pub(super) fn new(info: RunInfo) -> Self {
        let info = Arc::new(info);
        let pools: Vec<PoolSeries<'_>> = info.pools.iter().map(Into::into).collect();
        Self {
            current: Interval::of_pools(pools),
            reading: Reading::new(Arc::clone(&info), &[]),
            start: Nanos::ZERO,
            times: ThreadTimes::default(),
            steal: None,
            is_on: false,
        }
    }

    /// Begins at a time of the run's clock.
    pub(super) fn begin(&mut self, at: Nanos, unix: Nanos, times: ThreadTimes) {
        self.start = at;
        self.times = times;
        self.steal = steal_times();
        self.reading.start_at(unix.0);
        self.is_on = true;
    }

    /// Whether the scenarios have begun.
    pub(super) const fn is_on(&self) -> bool {
        self.is_on
    }

    /// Counts a request that begins.
    pub(super) fn request_begins(&mut self, scenario: usize) {
        let figures = self.current.pool_mut(scenario);
        figures.record_intended(1);
        figures.under_way += 1;
    }

    /// Counts a request that has ended.
    pub(super) fn request_ended(
        &mut self,
        scenario: usize,
        times: &RequestTimes,
        result: &RequestResult<'_>,
    ) {
        let sample = self.sample(times, result);
        let figures = self.current.pool_mut(scenario);
        figures.under_way -= 1;
        figures.record(&sample);
        if let Some(detail) = result.detail {
            figures.record_error_detail(result.outcome, None, detail);
        }
        if result.connect > Nanos::ZERO {
            figures.connections.opened += 1;
            figures.connections.connect.record(result.connect);
        }
    }

    /// Counts a request that is given up because its iteration is interrupted.
    pub(super) fn request_cut(&mut self, scenario: usize, times: &RequestTimes) {
        let result = RequestResult {
            outcome: Outcome::Ok,
            detail: None,
            status: 0,
            bytes_sent: 0,
            bytes_received: 0,
            connect: Nanos::ZERO,
        };
        let sample = self.sample(times, &result);
        let figures = self.current.pool_mut(scenario);
        figures.under_way -= 1;
        figures.record_in_flight(&sample);
    }

    fn sample(&self, times: &RequestTimes, result: &RequestResult<'_>) -> Sample {
        let end = times.end.max(times.began);
        let sent = times.sent.min(end);
        let intended = times.began - times.late;
        // The lateness of the turn is lag, and the time until a connection was open is waiting.
        let due = (sent - times.late).max(intended);
        let first_byte = match times.first_byte {
            Nanos::MAX => Nanos::MAX,
            at => at.max(sent).min(end) - self.start,
        };
        Sample {
            intended: intended - self.start,
            due: due - self.start,
            sent: sent - self.start,
            first_byte,
            end: end - self.start,
            bytes_sent: u32::try_from(result.bytes_sent).unwrap_or(u32::MAX),
            outcome: result.outcome,
            leniencies: Leniencies::default(),
            bytes_received: result.bytes_received,
            status: result.status,
            step: 0,
        }
    }

    /// Counts an iteration that is due.
    pub(super) fn iteration_due(&mut self, scenario: usize) {
        self.current
            .pool_mut(scenario)
            .record_iterations_intended(1);
    }

    /// Counts iterations that were due and will not start.
    pub(super) fn iterations_dropped(&mut self, scenario: usize, count: u64) {
        let figures = self.current.pool_mut(scenario);
        figures.record_iterations_intended(count);
        figures.record_iterations_dropped(count);
    }

    /// Counts an iteration that has ended, with its first failure.
    pub(super) fn iteration_ended(
        &mut self,
        scenario: usize,
        due: Nanos,
        end: Nanos,
        outcome: Outcome,
    ) {
        let sample = self.iteration(due, end, outcome);
        self.current.pool_mut(scenario).record_iteration(&sample);
    }

    /// Counts an iteration that is interrupted.
    pub(super) fn iteration_cut(&mut self, scenario: usize, due: Nanos, end: Nanos) {
        let sample = self.iteration(due, end, Outcome::Ok);
        let figures = self.current.pool_mut(scenario);
        figures.record_iteration_in_flight(&sample);
    }

    fn iteration(&self, due: Nanos, end: Nanos, outcome: Outcome) -> IterationSample {
        IterationSample {
            scenario: 0,
            intended: due - self.start,
            end: end.max(due) - self.start,
            outcome,
        }
    }

    /// Counts a turn of the loop: the time from the end of a wait to the next one.
    pub(super) fn turn(&mut self, time: Nanos) {
        self.current.health.loop_turn.record(time);
    }

    /// Counts how late a wait for a timer returned.
    pub(super) fn wake(&mut self, late: Nanos) {
        self.current.health.wake_lateness.record(late);
    }

    /// The time at which the current interval ends.
    pub(super) fn edge(&self) -> Nanos {
        self.start + Nanos(LENGTH.0.saturating_mul(self.current.index + 1))
    }

    /// Ends the current interval.
    pub(super) fn close(&mut self, at: Nanos, times: ThreadTimes) {
        let at = at - self.start;
        let current = &mut self.current;
        current.end = at;
        let health = &mut current.health;
        health.wall = at - current.start;
        health.cpu = times.cpu - self.times.cpu;
        health.run_queue_delay = times.run_queue_delay - self.times.run_queue_delay;
        health.memory = resident_memory().unwrap_or(0);
        // For a short last interval the share is meaningless.
        if health.wall.0 * 2 >= LENGTH.0 {
            let share = (health.cpu.0 as f64 / health.wall.0 as f64).min(1.0);
            health.busiest_share_ppm = (share * 1e6) as u32;
        }
        self.times = times;
        current.sum_up();
        self.reading.absorb(current);
        let next = (at.0 / LENGTH.0).max(current.index + 1);
        current.reset(next, at);
    }

    /// The summary, after the last interval.
    pub(super) fn finish(mut self, at: Nanos, times: ThreadTimes, reason: StopReason) -> Summary {
        self.close(at, times);
        self.reading.end_load(at - self.start);
        self.reading.note_stop(reason);
        let steal = self.steal.zip(steal_times());
        let steal = steal.map_or(0.0, |(before, after)| {
            let total = after.total.saturating_sub(before.total);
            after.steal.saturating_sub(before.steal) as f64 / total.max(1) as f64
        });
        let span = at - self.start;
        self.reading.close(span, steal)
    }
}

/// The facts of a scenario.
pub(super) fn pool(name: &str, model: Model, users: u64, rate: Option<f64>) -> PoolInfo {
    let users = u32::try_from(users).unwrap_or(u32::MAX);
    PoolInfo {
        intended_rate: rate,
        connections: users.saturating_mul(8),
        users: Some(users),
        iterations: true,
        ..PoolInfo::new(name, model, ["requests"])
    }
}
