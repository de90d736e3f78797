//! Thresholds over sliding windows: every span of a given length in whole intervals.
//!
//! [`WindowedThresholds::absorb`] takes the intervals in order of time. After each,
//! [`WindowedThresholds::fails_now`] says whether the newest window breaks a rule, by which a run
//! is ended; the result at the end is that of the worst window.

use crate::threshold::{Aim, figure_text};
use crate::window_series::{Series, Window};
use crate::{Interval, RunInfo, ThresholdResult};
use drumfire_plan::Threshold;

/// Follows the thresholds that have a window through a run, one interval at a time.
///
/// A window is as many whole intervals as its length takes, rounded up, and moves by one. Its cost
/// does not depend on its length, except for the memory: a few kilobytes for each interval within
/// the window. A window in which the metric cannot be evaluated (too few samples for a quantile) is
/// passed over; a threshold of which no window could be evaluated fails.
#[derive(Clone, Debug)]
pub(crate) struct WindowedThresholds {
    trackers: Vec<Tracker>,
}

/// One threshold with a window.
#[derive(Clone, Debug)]
struct Tracker {
    /// The threshold's place in the plan.
    index: usize,
    threshold: Threshold,
    /// The content of the windows, or why there is none.
    series: Result<Series, String>,
    worst: Worst,
}

/// The result of the windows so far.
#[derive(Clone, Debug, Default)]
struct Worst {
    evaluated: u64,
    failed: u64,
    /// Whether the last window that could be evaluated failed.
    last_failed: bool,
    /// Whether the window that ended with the last interval failed.
    fails_now: bool,
    actual: Option<f64>,
    why_not: Option<String>,
}

impl WindowedThresholds {
    /// Follows those of `thresholds` that have a window, in a run of which this is known.
    pub(crate) fn new(thresholds: &[Threshold], info: &RunInfo) -> Self {
        let mut trackers = Vec::new();
        for (index, threshold) in thresholds.iter().enumerate() {
            if let Some(window) = threshold.window {
                let aim = Aim::of(&threshold.metric, info);
                trackers.push(Tracker {
                    index,
                    threshold: threshold.clone(),
                    series: aim.map(|aim| Series::new(aim, window, info.interval)),
                    worst: Worst::default(),
                });
            }
        }
        Self { trackers }
    }

    /// Takes the next interval, merged over all workers, in order of time.
    pub(crate) fn absorb(&mut self, interval: &Interval) {
        for tracker in &mut self.trackers {
            tracker.absorb(interval);
        }
    }

    /// Whether the window that has just ended failed the threshold at `index` of the plan.
    pub(crate) fn fails_now(&self, index: usize) -> bool {
        let mut trackers = self.trackers.iter();
        trackers.any(|tracker| tracker.index == index && tracker.worst.fails_now)
    }

    /// The result of the threshold at `index` of the plan.
    pub(crate) fn result(&self, index: usize, threshold: &Threshold) -> ThresholdResult {
        let mut trackers = self.trackers.iter();
        let tracker = trackers.find(|tracker| tracker.index == index);
        match tracker {
            Some(tracker) => tracker.result(),
            None => ThresholdResult::of(threshold, Err("its windows were not followed".to_owned())),
        }
    }
}

impl Tracker {
    fn absorb(&mut self, interval: &Interval) {
        let (threshold, worst) = (&self.threshold, &mut self.worst);
        // A condition is not looked at before its time; a rule must hold then, too.
        let from = threshold
            .role
            .ends_from()
            .filter(|_| threshold.is_condition());
        let counts = from.is_none_or(|from| from <= interval.end);
        worst.fails_now = false;
        if let Ok(series) = &mut self.series {
            series.absorb(interval, |window, figure| {
                if counts {
                    worst.see(threshold, window, figure);
                }
            });
        }
    }

    fn result(&self) -> ThresholdResult {
        let threshold = &self.threshold;
        if let Err(why) = &self.series {
            return ThresholdResult::of(threshold, Err(why.clone()));
        }
        let Some(actual) = self.worst.actual else {
            let why = match &self.worst.why_not {
                Some(why) => format!("no window could be evaluated: {why}"),
                None => "the run was shorter than the window".to_owned(),
            };
            return ThresholdResult::of(threshold, Err(why));
        };
        let figure = figure_text(&threshold.metric, actual);
        let Worst {
            evaluated, failed, ..
        } = self.worst;
        ThresholdResult {
            passed: failed == 0,
            actual_text: match evaluated {
                1 => format!("{figure} in the only window"),
                _ => format!("{figure} in the worst of {evaluated} windows, {failed} failed"),
            },
            ..ThresholdResult::of(threshold, Ok(actual))
        }
    }
}

impl Worst {
    /// Takes one window's figure.
    fn see(&mut self, threshold: &Threshold, window: Window, figure: Result<f64, String>) {
        let actual = match figure {
            Ok(actual) => actual,
            Err(why) => {
                self.why_not = Some(why);
                return;
            }
        };
        let failed = !threshold.passes(actual);
        if window == Window::Next || self.evaluated == 0 {
            self.evaluated += 1;
        } else if self.last_failed {
            self.failed -= 1;
        }
        self.last_failed = failed;
        self.fails_now = failed;
        let worse = self.actual.is_none_or(|worst| match threshold.worse() {
            Some(worse) => actual.partial_cmp(&worst) == Some(worse),
            // Any figure that fails is as bad as another: the first one is reported.
            None => failed && self.failed == 0,
        });
        if worse {
            self.actual = Some(actual);
        }
        self.failed += u64::from(failed);
    }
}
