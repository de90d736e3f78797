//! The reading of a run under way: the one accumulation of its intervals, and the one place where
//! its books are closed.
//!
//! In order of time, a reading takes the intervals by [`Reading::absorb`], and before the interval
//! within which they hold the changes of the load by [`Reading::note_change`] and the further parts
//! of a run that was resumed by [`Reading::begin_part`]. Between two of these calls
//! [`Reading::so_far`] is the run's summary up to now, in which nothing is judged yet, and
//! [`Reading::ends_run`] says once whether a threshold ends the run. The books are closed by
//! [`Reading::close`] for a run that was seen to its end, with what the machine adds to it, and by
//! [`Reading::restore`] for one whose ending was stored; either consumes the reading.

use crate::threshold::{Aim, View};
use crate::{
    Changed, Ending, FailedBody, GeneratorHealth, Interval, RunInfo, SlowRequest, Summary,
    ThresholdResult, WindowedThresholds,
};
use drumfire_plan::{Threshold, Warmup};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The reading of a run under way.
#[derive(Clone, Debug)]
pub struct Reading {
    summary: Summary,
    thresholds: Vec<Threshold>,
    windows: WindowedThresholds,
    /// The threshold that ended the run, if one did.
    ended_by: Option<EndedBy>,
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
        Self {
            windows: WindowedThresholds::new(thresholds, &info),
            thresholds: thresholds.to_vec(),
            summary: Summary::new(info),
            ended_by: None,
        }
    }

    /// The summary of the run so far: its sums, its rows and its stages. Nothing is judged yet.
    #[must_use]
    pub const fn so_far(&self) -> &Summary {
        &self.summary
    }

    /// Merges one interval that is summed up. Without windowed thresholds, in any order.
    pub fn absorb(&mut self, interval: &Interval) {
        self.summary.absorb(interval);
        self.windows.absorb(interval);
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

    /// Adds the body of a failure.
    pub fn add_failed_body(&mut self, body: FailedBody) {
        self.summary.failed_bodies.add(body);
    }

    /// Adds a request that may be one of the slowest.
    pub fn add_slow(&mut self, request: SlowRequest) {
        self.summary.slowest.add(request);
    }

    /// Accounts for what was under way where the record of a run breaks off: of the requests that
    /// were due and of which nothing is recorded, those under way then are in flight, and the rest
    /// is pending. It has no times.
    pub fn break_off(&mut self) {
        self.summary.break_off();
    }

    /// Whether a threshold that may end the run does so now, at the end of the interval that was
    /// absorbed last. Its result stays as it is at this moment. A rule that can't be evaluated yet
    /// ends nothing.
    pub fn ends_run(&mut self, now: Nanos) -> bool {
        if self.ended_by.is_some() {
            return false;
        }
        let span = now - self.summary.info.warmup.span();
        let mut thresholds = self.thresholds.iter().enumerate();
        let found = thresholds.find_map(|(index, threshold)| {
            threshold.role.ends_from().filter(|from| *from <= now)?;
            let result = self.evaluate(index, threshold, span);
            let fails = match threshold.window {
                Some(_) => self.windows.fails_now(index),
                None => result.actual.is_some() && !result.passed,
            };
            fails.then_some(EndedBy {
                index,
                result: ThresholdResult {
                    ended_run_at: Some(now),
                    ..result
                },
            })
        });
        self.ended_by = found;
        self.ended_by.is_some()
    }

    /// Closes the books, once, of a run that ended after this span from the end of its warm-up, on
    /// a machine of which this share of CPU time was stolen.
    #[must_use]
    pub fn close(self, duration: Nanos, steal_share: f64) -> Summary {
        let generator = self.generator(steal_share);
        self.close_with(duration, generator)
    }

    /// [`Self::close`] with another account of the generator, as tests and programs have it that
    /// measure without our workers.
    #[must_use]
    pub fn close_with(mut self, duration: Nanos, generator: GeneratorHealth) -> Summary {
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
        self.summary.close(duration, generator, results)
    }

    /// Closes the books as [`Self::close`] did for the summary that this is the ending of. All its
    /// intervals must have been absorbed.
    #[must_use]
    pub fn restore(mut self, ending: Ending) -> Summary {
        self.summary.settle();
        let generator = self.generator(ending.steal_share);
        let mut summary = self.summary;
        Arc::make_mut(&mut summary.info).notes = ending.notes;
        summary.failed_bodies = ending.failed_bodies;
        summary.slowest = ending.slowest;
        summary.close(ending.duration, generator, ending.thresholds)
    }

    /// The generator's own account.
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
        if threshold.window.is_some() {
            return self.windows.result(index, threshold);
        }
        let summary = &self.summary;
        let figure = Aim::of(&threshold.metric, &summary.info).and_then(|aim| {
            let view = View::of(&aim, &summary.total, summary.pool_figures(), span)?;
            view.figure(&aim.metric)
        });
        ThresholdResult::of(threshold, figure)
    }
}
