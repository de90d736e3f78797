//! The reading of a run under way: the one accumulation of its intervals, and the one place where
//! its books are closed.
//!
//! A run has a reading with everything, from which its summary is made; each of its observers may
//! have one of sums, which is small, and which [`Reading::observe`] keeps from the run's events.
//!
//! In order of time, a reading takes the intervals by [`Reading::absorb`], and before the interval
//! within which they hold the changes of the load by [`Reading::note_change`] and the further parts
//! of a run that was resumed by [`Reading::begin_part`]. Between two of these calls
//! [`Reading::so_far`] is the run's summary up to now, in which nothing is judged yet, and
//! [`Reading::ends_run`] says once whether a threshold ends the run. The books are closed by
//! [`Reading::close`] for a run that was seen to its end, with what the machine adds to it, and by
//! [`Reading::restore`] for one whose ending was stored; either consumes the reading.

use crate::figure::{Figure, Judgement};
use crate::overview::Aspect;
use crate::threshold::{Aim, View};
use crate::{
    Changed, Doubt, Ending, FailedBody, GeneratorHealth, Interval, IntervalRow, Outcome, Overview,
    Rows, RunEvent, RunInfo, SlowRequest, Summary, ThresholdResult, WindowedThresholds,
};
use drumfire_plan::{StopReason, Threshold, Warmup};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The reading of a run under way; the head of this file has its protocol.
///
/// Its cost for each interval is a merge of histograms: of every step for a reading with
/// everything, of each pool for one of sums. It takes no time from workers, since it lives on the
/// collector's thread or on an observer's. Its memory does not grow with the length of the run, but
/// for thresholds with windows, which hold the intervals of one window.
#[derive(Clone, Debug)]
pub struct Reading {
    detail: Detail,
    summary: Summary,
    /// The figures since the last window was taken, where windows are.
    window: Option<Window>,
    /// The first kind of failure.
    failure: Option<Outcome>,
    state: RunState,
    /// The plan's thresholds, in its order; none in a reading of sums.
    thresholds: Vec<Threshold>,
    /// The thresholds among them that have a window, with the data of the newest one.
    windows: WindowedThresholds,
    /// The threshold that ended the run, if one did.
    ended_by: Option<EndedBy>,
    /// Exchanges that were to be written down in full, and for which there was no room.
    lost_transcripts: u64,
}

/// The part of each interval that is kept, of which the summary is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    Everything,
    /// The sums of pools, without their steps and scenarios.
    Sums,
}

/// The phase that a run has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Requests start.
    Load,
    /// No request starts any more, for this reason; a signal counts more than what came before.
    Drain(StopReason),
    /// The run is over.
    Over,
}

/// The figures of a span that ends with the newest interval.
#[derive(Clone, Debug)]
struct Window {
    rows: Rows,
    cell: Overview,
    is_empty: bool,
}

/// The threshold that ended a run.
#[derive(Clone, Debug, PartialEq)]
struct EndedBy {
    /// Its place in the plan.
    index: usize,
    /// Its result at that moment: what is in flight then ends later, and may better it.
    result: ThresholdResult,
}

impl Reading {
    /// The reading of a run that begins, with the thresholds of its plan.
    #[must_use]
    pub fn new(info: Arc<RunInfo>, thresholds: &[Threshold]) -> Self {
        let windows = WindowedThresholds::new(thresholds, &info);
        Self {
            thresholds: thresholds.to_vec(),
            windows,
            ..Self::with(Detail::Everything, Summary::new(info))
        }
    }

    /// The reading of a run that begins, of its sums alone: without steps, rows and thresholds.
    #[must_use]
    pub fn of_sums(info: Arc<RunInfo>) -> Self {
        Self::with(Detail::Sums, Summary::of_sums(info))
    }

    fn with(detail: Detail, summary: Summary) -> Self {
        let info = &summary.info;
        Self {
            detail,
            window: None,
            failure: None,
            state: RunState::Load,
            thresholds: Vec::new(),
            windows: WindowedThresholds::new(&[], info),
            ended_by: None,
            lost_transcripts: 0,
            summary,
        }
    }

    /// Takes the moment at which the run's load begins, in nanoseconds since 1970-01-01 00:00 UTC:
    /// the facts were put together before that.
    pub fn start_at(&mut self, unix_ns: u64) {
        let info = Arc::make_mut(&mut self.summary.info);
        info.started_at_unix_ns = unix_ns;
        if let Some(window) = &mut self.window {
            window.rows = Rows::new(info);
        }
    }

    /// The same with the windows that [`Self::take_window`] takes.
    #[must_use]
    pub fn with_windows(self) -> Self {
        let window = Window {
            rows: Rows::new(&self.summary.info),
            cell: Overview::new(),
            is_empty: true,
        };
        Self {
            window: Some(window),
            ..self
        }
    }

    /// Takes an event of the run, in the order in which the run published it: intervals, changes,
    /// the bodies of failures, and the phases that it reaches. Samples and transcripts are passed over, for every figure is
    /// in the intervals.
    pub fn observe(&mut self, event: &RunEvent) {
        match event {
            RunEvent::IntervalClosed(interval) => self.absorb(interval),
            RunEvent::Changed(command) => {
                self.note_change(&Changed::by(command));
            }
            RunEvent::Stopping { reason } => self.note_stop(*reason),
            RunEvent::Failed(body) => self.add_failed_body((**body).clone()),
            RunEvent::Finished(_) => self.state = RunState::Over,
            RunEvent::Started(_) | RunEvent::Kept(_) | RunEvent::Transcripts(_) => {}
        }
    }

    /// Takes the time at which the load ended, from the run's start.
    pub const fn end_load(&mut self, at: Nanos) {
        self.summary.load_end.at = Some(at);
    }

    /// Takes the reason for which the load ends. The first one is the run's, unless everything that
    /// carried it out is lost later: then the load did not end as it was asked to. A later signal means
    /// that the drain is cut short; both are shown as the state.
    pub fn note_stop(&mut self, reason: StopReason) {
        match reason {
            StopReason::Lost => self.summary.load_end.reason = Some(reason),
            _ => {
                self.summary.load_end.reason.get_or_insert(reason);
            }
        }
        match (self.state, reason) {
            (RunState::Drain(_), StopReason::Signal | StopReason::Lost) | (RunState::Load, _) => {
                self.state = RunState::Drain(reason);
            }
            (RunState::Drain(_) | RunState::Over, _) => {}
        }
    }

    /// The summary of the run so far: its sums, its rows and its stages. Nothing is judged yet.
    #[must_use]
    pub const fn so_far(&self) -> &Summary {
        &self.summary
    }

    /// Merges one interval that is summed up.
    ///
    /// Sums, rows and stages do not depend on the order of intervals. The figures of windows,
    /// [`Self::take_window`] and the first kind of failure do: give the intervals in order of time
    /// where any of them is read.
    pub fn absorb(&mut self, interval: &Interval) {
        match self.detail {
            Detail::Everything => self.summary.absorb(interval),
            Detail::Sums => self.summary.absorb_sums(interval),
        }
        self.windows.absorb(interval);
        if let Some(window) = &mut self.window {
            window.add(interval, &self.summary.info);
        }
        let mut failures = interval.total.outcomes().failures();
        let first = failures.find(|(outcome, _)| *outcome != Outcome::LocalCancelled);
        self.failure = self.failure.or_else(|| first.map(|(outcome, _)| outcome));
    }

    /// The same of an interval that comes behind later ones, as the record of a lost machine may:
    /// sums, rows and stages have it, and windows do not, for they have gone by.
    pub fn absorb_late(&mut self, interval: &Interval) {
        match self.detail {
            Detail::Everything => self.summary.absorb(interval),
            Detail::Sums => self.summary.absorb_sums(interval),
        }
    }

    /// The phase that the run has reached.
    #[must_use]
    pub const fn state(&self) -> RunState {
        self.state
    }

    /// The first kind of failure.
    #[must_use]
    pub const fn failure(&self) -> Option<Outcome> {
        self.failure
    }

    /// The first kind of failure of a run in which no exchange has met the plan's expectation so
    /// far, not even in its warm-up: what a person who watches it should be shown.
    #[must_use]
    pub fn trouble(&self) -> Option<Outcome> {
        let total = &self.summary.total;
        let worked = total.counts.ok.saturating_add(total.warmup.ok);
        self.failure.filter(|_| worked == 0)
    }

    /// Exchanges that have begun and not ended, at the end of the newest interval.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.summary.total.under_way.max(0).cast_unsigned()
    }

    /// Requests that were sent, those of the warm-up included.
    #[must_use]
    pub fn sent(&self) -> u64 {
        let total = &self.summary.total;
        let ended = total.counts.sent.saturating_add(total.warmup.sent);
        ended.saturating_add(self.in_flight())
    }

    /// Arrivals that are due and were not sent or dropped, at the end of the newest interval. In a
    /// pool whose iterations are several requests, only requests that are due count, not the ones
    /// that an iteration will send later.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        let counts = &self.summary.total.counts;
        let gone = counts.sent.saturating_add(counts.dropped);
        let due = counts.intended.saturating_sub(gone);
        due.saturating_sub(self.in_flight())
    }

    /// The figures of all pools together since the last call, as one row; `None` where no interval
    /// was absorbed since, and of a reading without windows. Each caller needs a reading of its own,
    /// for the window is emptied.
    pub fn take_window(&mut self) -> Option<IntervalRow> {
        self.window.as_mut()?.take()
    }

    /// Takes a change of one pool's load, or of all, before the interval within which it holds.
    pub fn note_change(&mut self, changed: &Changed) {
        self.summary.note_change(changed);
    }

    /// Goes on with a further part of the run, which began at this time with these pools. What was
    /// under way in the part before is accounted for.
    pub fn begin_part(&mut self, at: Nanos, info: &RunInfo) {
        self.summary.begin_part(at, info);
    }

    /// Takes the number of further exchanges that were to be written down in full, and for which a
    /// worker had no room.
    pub const fn note_lost_transcripts(&mut self, count: u64) {
        self.lost_transcripts = self.lost_transcripts.saturating_add(count);
    }

    /// Adds the body of a failure.
    pub fn add_failed_body(&mut self, body: FailedBody) {
        self.summary.failed_bodies.add(body);
    }

    /// Adds a request that may be one of the slowest.
    pub fn add_slow(&mut self, request: SlowRequest) {
        self.summary.slowest.add(&request);
    }

    /// Adds a reason against the run that no interval shows.
    pub fn doubt(&mut self, doubt: Doubt) {
        self.summary.verdict.doubts.push(doubt);
    }

    /// What has no account has no end in any interval either.
    fn settle_unknown(&mut self) {
        let doubts = &self.summary.verdict.doubts;
        if doubts.iter().any(|doubt| doubt.unknown > 0.0) {
            self.summary.break_off();
        }
    }

    /// Accounts for what was under way where the record of a run breaks off: of the requests that
    /// were due and of which nothing is recorded, those under way then are in flight, and the rest
    /// is pending. It has no times.
    pub fn break_off(&mut self) {
        self.summary.break_off();
    }

    /// Whether a threshold that may end the run does so now, at the end of the interval that was
    /// absorbed last; `true` at most once.
    ///
    /// Its result stays as it is at this moment, so that exchanges that end during the drain can't
    /// turn a rule that ended the run into one that held. A rule that can't be evaluated yet ends
    /// nothing.
    pub fn ends_run(&mut self, now: Nanos) -> bool {
        if self.ended_by.is_some() {
            return false;
        }
        let span = now - self.summary.info.warmup.span();
        let mut thresholds = self.thresholds.iter().enumerate();
        let found = thresholds.find_map(|(index, threshold)| {
            threshold.role.ends_from().filter(|from| *from <= now)?;
            let fails = match threshold.window {
                Some(_) => self.windows.fails_now(index),
                None => {
                    let figure = self.figure(threshold, span);
                    figure.is_ok_and(|figure| figure.judge(threshold) == Judgement::Fails)
                }
            };
            fails.then(|| EndedBy {
                index,
                result: ThresholdResult {
                    ended_run_at: Some(now),
                    ..self.evaluate(index, threshold, span)
                },
            })
        });
        self.ended_by = found;
        self.ended_by.is_some()
    }

    /// Closes the books of a run that was seen to its end.
    ///
    /// `duration` spans from the end of the warm-up to the last end or the stop, `steal_share` is
    /// the share of this machine's CPU time that the hypervisor took, 0 to 1. Of a run whose
    /// warm-up is found, `duration` spans the whole run and is shortened here.
    #[must_use]
    pub fn close(self, duration: Nanos, steal_share: f64) -> Summary {
        let generator = self.generator(steal_share);
        self.close_with(duration, generator)
    }

    /// [`Self::close`] with another account of the generator, as tests and programs have it that
    /// measure without our workers.
    #[must_use]
    pub fn close_with(mut self, duration: Nanos, generator: GeneratorHealth) -> Summary {
        self.settle_unknown();
        self.summary.settle();
        let duration = match self.summary.info.warmup {
            Warmup::Span(_) => duration,
            Warmup::Auto => duration - self.summary.left_out(),
        };
        let thresholds = self.thresholds.iter().enumerate();
        let results = thresholds.map(|(index, threshold)| match &self.ended_by {
            Some(ended) if ended.index == index => ended.result.clone(),
            _ => self.evaluate(index, threshold, duration),
        });
        let results = results.collect();
        if self.lost_transcripts > 0 {
            Arc::make_mut(&mut self.summary.info).notes.push(format!(
                "{} exchanges were not recorded in full: there were too many in one interval",
                self.lost_transcripts
            ));
        }
        self.summary.close(duration, generator, results)
    }

    /// Closes the books as [`Self::close`] did for the summary whose ending this is. All its
    /// intervals must have been absorbed, and all changes and parts noted between them.
    ///
    /// Thresholds are not evaluated again: their results are those that the run reported. The
    /// verdict is judged again, by today's rules.
    #[must_use]
    pub fn restore(mut self, ending: Ending) -> Summary {
        self.summary.verdict.doubts = ending.doubts;
        self.settle_unknown();
        self.summary.settle();
        let generator = self.generator(ending.steal_share);
        let mut summary = self.summary;
        Arc::make_mut(&mut summary.info).notes = ending.notes;
        summary.failed_bodies = ending.failed_bodies;
        summary.slowest = ending.slowest;
        summary.load_end = ending.load_end;
        summary.close(ending.duration, generator, ending.thresholds)
    }

    /// The generator's health: merged from the workers' measurements, with the facts that are not
    /// in them.
    fn generator(&self, steal_share: f64) -> GeneratorHealth {
        let Summary {
            total,
            health,
            info,
            ..
        } = &self.summary;
        GeneratorHealth {
            spin: info.spin,
            steal_share,
            ..GeneratorHealth::of(total, health, info.threads)
        }
    }

    /// A threshold's result on what was absorbed, which spans this long.
    fn evaluate(&self, index: usize, threshold: &Threshold, span: Nanos) -> ThresholdResult {
        match threshold.window {
            Some(_) => self.windows.result(index, threshold),
            None => ThresholdResult::of(threshold, self.figure(threshold, span)),
        }
    }

    /// The figure of a threshold without a window, or why there is none.
    fn figure(&self, threshold: &Threshold, span: Nanos) -> Result<Figure, String> {
        let summary = &self.summary;
        let aim = Aim::of(&threshold.metric, &summary.info)?;
        let view = View::of(&aim, &summary.total, summary.pool_figures(), span)?;
        view.figure(&aim.metric)
    }
}

impl Window {
    fn add(&mut self, interval: &Interval, info: &RunInfo) {
        if self.is_empty {
            self.cell.reset(interval.start);
        }
        self.cell.add(interval, Aspect::of_run(info));
        self.is_empty = false;
    }

    fn take(&mut self) -> Option<IntervalRow> {
        let is_empty = std::mem::replace(&mut self.is_empty, true);
        (!is_empty).then(|| self.rows.next_row_of(&self.cell))
    }
}
