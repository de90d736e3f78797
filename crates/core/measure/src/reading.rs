//! The reading of an active run: accumulates its intervals, and closes its summary.
//!
//! A run has one complete reading, which makes its summary. Each observer may have a small reading
//! of sums, which [`Reading::observe`] updates from the run's events.
//!
//! A reading receives, in order of time, the intervals ([`Reading::absorb`]), and, before the
//! interval within which they take effect, the changes of the load ([`Reading::note_change`]) and
//! the further parts of a resumed run ([`Reading::begin_part`]). Between these calls
//! [`Reading::so_far`] is the run's summary up to now, without judgements, and
//! [`Reading::ends_run`] returns once whether a threshold ends the run. [`Reading::close`] closes
//! the summary of a run that was observed to its end, with the machine's data, and
//! [`Reading::restore`] closes it for a run whose ending was stored; both consume the reading.

use crate::figure::{Figure, Judgement};
use crate::overview::Aspect;
use crate::threshold::{Aim, View};
use crate::{
    Changed, Doubt, Ending, ErrorRow, FailedBody, GeneratorHealth, Interval, IntervalRow, Overview,
    PrevailingFailure, Rows, RunEvent, RunInfo, SlowRequest, Summary, ThresholdResult,
    WindowedThresholds,
};
use drumfire_plan::{StopReason, Threshold, Warmup};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The reading of an active run; the module documentation has its protocol.
///
/// Each interval costs a merge of histograms: of every step for a complete reading, of each pool
/// for one of sums. Workers are not delayed, because a reading is on the collector's thread or on
/// an observer's. Its memory does not grow with the length of the run, except for thresholds with
/// windows, which keep the intervals of one window.
#[derive(Clone, Debug)]
pub struct Reading {
    detail: Detail,
    summary: Summary,
    /// The figures since the last window was taken, if windows are used.
    window: Option<Window>,
    state: RunState,
    /// The plan's thresholds, in order; empty in a reading of sums.
    thresholds: Vec<Threshold>,
    /// The thresholds with a window, with the data of the newest one.
    windows: WindowedThresholds,
    /// The threshold that ended the run, if any.
    ended_by: Option<EndedBy>,
    /// The number of exchanges that were to be transcribed, but did not fit.
    lost_transcripts: u64,
}

/// The part of each interval that is kept for the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    Everything,
    /// The sums of pools, without their steps and scenarios.
    Sums,
}

/// The current phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Requests start.
    Load,
    /// No further request starts, for this reason; a signal replaces an earlier reason.
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
    /// The index of the threshold in the plan.
    index: usize,
    /// The result at that moment: exchanges in flight end later, and may improve it.
    result: ThresholdResult,
}

impl Reading {
    /// The reading of a new run, with the thresholds of its plan.
    #[must_use]
    pub fn new(info: Arc<RunInfo>, thresholds: &[Threshold]) -> Self {
        let windows = WindowedThresholds::new(thresholds, &info);
        Self {
            thresholds: thresholds.to_vec(),
            windows,
            ..Self::with(Detail::Everything, Summary::new(info))
        }
    }

    /// The reading of a new run, of its sums only: without steps, rows and thresholds.
    #[must_use]
    pub fn of_sums(info: Arc<RunInfo>) -> Self {
        Self::with(Detail::Sums, Summary::of_sums(info))
    }

    fn with(detail: Detail, summary: Summary) -> Self {
        let info = &summary.info;
        Self {
            detail,
            window: None,
            state: RunState::Load,
            thresholds: Vec::new(),
            windows: WindowedThresholds::new(&[], info),
            ended_by: None,
            lost_transcripts: 0,
            summary,
        }
    }

    /// Sets the beginning of the run's load, in nanoseconds since 1970-01-01 00:00 UTC, which is
    /// later than the collection of the facts.
    pub fn start_at(&mut self, unix_ns: u64) {
        let info = Arc::make_mut(&mut self.summary.info);
        info.started_at_unix_ns = unix_ns;
        if let Some(window) = &mut self.window {
            window.rows = Rows::new(info);
        }
    }

    /// This reading with windows, for [`Self::take_window`].
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

    /// Adds an event of the run, in the order of publication: intervals, changes, the bodies of
    /// failures, and phases. Samples and transcripts are ignored, because every figure is in the
    /// intervals.
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

    /// Sets the time at which the load ended, from the run's start.
    pub const fn end_load(&mut self, at: Nanos) {
        self.summary.load_end.at = Some(at);
    }

    /// Sets the reason why the load ends. The first reason is kept, unless all processes that carry
    /// the run out are lost later: then the load did not end as requested. A later signal means
    /// that the drain is cut short; the state shows both.
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

    /// The summary of the run so far: its sums, its rows and its stages, without judgements.
    #[must_use]
    pub const fn so_far(&self) -> &Summary {
        &self.summary
    }

    /// Merges one interval, which must be summed up.
    ///
    /// Sums, rows and stages do not depend on the order of intervals. The figures of windows and
    /// [`Self::take_window`] do: pass the intervals in order of time if any of these is read.
    pub fn absorb(&mut self, interval: &Interval) {
        match self.detail {
            Detail::Everything => self.summary.absorb(interval),
            Detail::Sums => self.summary.absorb_sums(interval),
        }
        self.windows.absorb(interval);
        if let Some(window) = &mut self.window {
            window.add(interval, &self.summary.info);
        }
    }

    /// Merges an interval that arrives after later ones, as the record of a lost machine may. Sums,
    /// rows and stages include it; windows do not, because they have passed.
    pub fn absorb_late(&mut self, interval: &Interval) {
        match self.detail {
            Detail::Everything => self.summary.absorb(interval),
            Detail::Sums => self.summary.absorb_sums(interval),
        }
    }

    /// The current phase of the run.
    #[must_use]
    pub const fn state(&self) -> RunState {
        self.state
    }

    /// The most frequent kind of failure so far.
    #[must_use]
    pub fn failure(&self) -> Option<PrevailingFailure> {
        self.summary.total.outcomes().prevailing()
    }

    /// The most frequent failure, if no exchange has met the plan's expectation so far, not even in
    /// the warm-up: shown to a person who watches the run.
    #[must_use]
    pub fn trouble(&self) -> Option<ErrorRow> {
        let total = &self.summary.total;
        let worked = total.counts.ok.saturating_add(total.warmup.ok);
        let failure = self.failure().filter(|_| worked == 0)?;
        let mut rows = total.errors().into_iter();
        rows.find(|row| row.outcome == failure.outcome)
    }

    /// Exchanges that have begun and not ended, at the end of the newest interval.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.summary.total.under_way.max(0).cast_unsigned()
    }

    /// Requests that were sent, including the warm-up's.
    #[must_use]
    pub fn sent(&self) -> u64 {
        let total = &self.summary.total;
        let ended = total.counts.sent.saturating_add(total.warmup.sent);
        ended.saturating_add(self.in_flight())
    }

    /// Arrivals that are due and were not sent or dropped, at the end of the newest interval. In a
    /// pool whose iterations contain several requests, only due requests count, not those that an
    /// iteration will send later.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        let counts = &self.summary.total.counts;
        let gone = counts.sent.saturating_add(counts.dropped);
        let due = counts.intended.saturating_sub(gone);
        due.saturating_sub(self.in_flight())
    }

    /// The figures of all pools together since the last call, as one row; `None` if no interval was
    /// absorbed since, or the reading has no windows. Each caller needs a separate reading, because
    /// the call empties the window.
    pub fn take_window(&mut self) -> Option<IntervalRow> {
        self.window.as_mut()?.take_row()
    }

    /// Notes a change of the load of one pool or of all, before the interval within which it takes
    /// effect.
    pub fn note_change(&mut self, changed: &Changed) {
        self.summary.note_change(changed);
    }

    /// Begins a further part of the run, at this time with these pools. Running exchanges of the
    /// previous part are accounted for.
    pub fn begin_part(&mut self, at: Nanos, info: &RunInfo) {
        self.summary.begin_part(at, info);
    }

    /// Adds the number of further exchanges that were to be transcribed, but did not fit.
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

    /// Adds a reason for doubt that no interval shows.
    pub fn doubt(&mut self, doubt: Doubt) {
        self.summary.verdict.doubts.push(doubt);
    }

    /// Unaccounted requests also have no end in any interval.
    fn settle_unknown(&mut self) {
        let doubts = &self.summary.verdict.doubts;
        if doubts.iter().any(|doubt| doubt.unknown > 0.0) {
            self.summary.break_off();
        }
    }

    /// Accounts for running requests at the end of an incomplete record: of the due requests
    /// without a record, those running then are in flight, and the others are pending. They have no
    /// times.
    pub fn break_off(&mut self) {
        self.summary.break_off();
    }

    /// Whether a threshold ends the run now, at the end of the last absorbed interval; `true` at
    /// most once.
    ///
    /// The result of the threshold stays unchanged from this moment, so that exchanges that end
    /// during the drain cannot turn a rule that ended the run into one that passed. A rule that
    /// cannot be evaluated yet ends nothing.
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

    /// Closes the summary of a run that was observed to its end.
    ///
    /// `duration` is the time from the end of the warm-up to the last end or the stop,
    /// `steal_share` the share of this machine's CPU time that the hypervisor took, from 0 to 1. If
    /// the warm-up is determined automatically, `duration` is the whole run's and is shortened
    /// here.
    #[must_use]
    pub fn close(self, duration: Nanos, steal_share: f64) -> Summary {
        let generator = self.generator(steal_share);
        self.close_with(duration, generator)
    }

    /// [`Self::close`] with other health data of the generator, for tests and for programs that
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

    /// Closes the summary as [`Self::close`] did for the run with this ending. All its intervals
    /// must have been absorbed, and all changes and parts noted in between.
    ///
    /// Thresholds are not evaluated again: the run's results are kept. The verdict is judged again,
    /// by the current rules.
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
        summary.inference = ending.inference.map(Box::new);
        summary.close(ending.duration, generator, ending.thresholds)
    }

    /// The generator's health: merged from the workers' measurements, with the facts that these
    /// lack.
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
            ..GeneratorHealth::from_figures(total, health, info.threads)
        }
    }

    /// A threshold's result for the absorbed intervals, which cover this span.
    fn evaluate(&self, index: usize, threshold: &Threshold, span: Nanos) -> ThresholdResult {
        match threshold.window {
            Some(_) => self.windows.result(index, threshold),
            None => ThresholdResult::from_figure(threshold, self.figure(threshold, span)),
        }
    }

    /// The figure of a threshold without a window, or the reason why it cannot be computed.
    fn figure(&self, threshold: &Threshold, span: Nanos) -> Result<Figure, String> {
        let summary = &self.summary;
        let aim = Aim::resolve(&threshold.metric, &summary.info)?;
        let view = View::select(&aim, &summary.total, summary.pool_figures(), span)?;
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

    fn take_row(&mut self) -> Option<IntervalRow> {
        let is_empty = std::mem::replace(&mut self.is_empty, true);
        (!is_empty).then(|| self.rows.next_row_of(&self.cell))
    }
}
