//! Thresholds over sliding windows: every span of a given length in whole intervals.

use crate::threshold::{Aim, figure_text, holds};
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
pub struct WindowedThresholds {
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
    /// Whether the last window failed.
    last_failed: bool,
    actual: Option<f64>,
    why_not: Option<String>,
}

impl WindowedThresholds {
    /// Follows those of `thresholds` that have a window, in a run of which this is known.
    #[must_use]
    pub fn new(thresholds: &[Threshold], info: &RunInfo) -> Self {
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
    pub fn absorb(&mut self, interval: &Interval) {
        for tracker in &mut self.trackers {
            tracker.absorb(interval);
        }
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
        if let Ok(series) = &mut self.series {
            series.absorb(interval, |window, figure| {
                worst.see(threshold, window, figure)
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
            expression: threshold.expression.clone(),
            passed: failed == 0,
            actual: Some(actual),
            actual_text: match evaluated {
                1 => format!("{figure} in the only window"),
                _ => format!("{figure} in the worst of {evaluated} windows, {failed} failed"),
            },
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
        let failed = !holds(threshold, actual);
        if window == Window::Next || self.evaluated == 0 {
            self.evaluated += 1;
        } else if self.last_failed {
            self.failed -= 1;
        }
        self.last_failed = failed;
        let worse = self.actual.is_none_or(|worst| {
            use drumfire_plan::Comparison as Is;
            match threshold.comparison {
                Is::Less | Is::AtMost => actual > worst,
                Is::Greater | Is::AtLeast => actual < worst,
                // Any figure that fails is as bad as another: the first one is reported.
                Is::Equal | Is::NotEqual => failed && self.failed == 0,
            }
        });
        if worse {
            self.actual = Some(actual);
        }
        self.failed += u64::from(failed);
    }
}
