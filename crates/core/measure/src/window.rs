//! Thresholds over sliding windows: every span of a given length, in whole intervals.
//!
//! [`WindowedThresholds::absorb`] receives the intervals in order of time. After each,
//! [`WindowedThresholds::fails_now`] returns whether the newest window violates a rule, which may
//! end the run. The final result is the worst window's, so a rule passes only if it was true all
//! the time.

use crate::figure::{Figure, Judgement};
use crate::threshold::{Aim, undecided_text};
use crate::window_series::{Series, Window};
use crate::{Interval, RunInfo, ThresholdResult};
use drumfire_plan::Threshold;

/// Tracks the thresholds that have a window, one interval at a time.
///
/// A window has as many whole intervals as its length needs, rounded up, and moves by one. The cost
/// does not depend on the window's length, except for the memory: a few kilobytes for each interval
/// of the window. A window in which the metric cannot be evaluated (too few samples for a quantile)
/// is skipped. A threshold without any evaluated window fails, unless the largest sample of each is
/// below its bound. A window whose figure is an undecided lower bound is not skipped: with it a
/// rule cannot pass.
#[derive(Clone, Debug)]
pub(crate) struct WindowedThresholds {
    trackers: Vec<Tracker>,
}

/// One threshold with a window.
#[derive(Clone, Debug)]
struct Tracker {
    /// The threshold's index in the plan.
    index: usize,
    threshold: Threshold,
    /// The content of the windows, or the reason why it does not exist.
    series: Result<Series, String>,
    worst: Worst,
}

/// The result of the windows so far; windows with a figure and windows with too few samples are
/// separate.
#[derive(Clone, Debug, Default)]
struct Worst {
    /// The windows that could be evaluated.
    evaluated: Judged,
    /// The windows with too few samples.
    scarce: Judged,
    /// Whether the window that ended with the last interval failed.
    fails_now: bool,
    /// The latest reason why a window could not be evaluated.
    why_not: Option<String>,
}

/// Windows of one kind.
#[derive(Clone, Debug, Default)]
struct Judged {
    count: u64,
    failed: u64,
    undecided: u64,
    /// The judgement of the last window.
    last: Option<Judgement>,
    /// The worst figure, with its judgement.
    worst: Option<(Judgement, Figure)>,
}

impl WindowedThresholds {
    /// A tracker for those `thresholds` that have a window, in a run with these facts.
    pub(crate) fn new(thresholds: &[Threshold], info: &RunInfo) -> Self {
        let mut trackers = Vec::new();
        for (index, threshold) in thresholds.iter().enumerate() {
            if let Some(window) = threshold.window {
                let aim = Aim::resolve(&threshold.metric, info);
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

    /// Adds the next interval, merged over all workers, in order of time.
    pub(crate) fn absorb(&mut self, interval: &Interval) {
        for tracker in &mut self.trackers {
            tracker.absorb(interval);
        }
    }

    /// Whether the window that has just ended fails the threshold at `index` of the plan.
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
            None => ThresholdResult::unknown(threshold, "its windows were not tracked".to_owned()),
        }
    }
}

impl Tracker {
    fn absorb(&mut self, interval: &Interval) {
        let (threshold, worst) = (&self.threshold, &mut self.worst);
        // A condition is not checked before its time; a rule must also hold then.
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
            return ThresholdResult::unknown(threshold, why.clone());
        }
        let evaluated = &self.worst.evaluated;
        if let Some((_, figure)) = &evaluated.worst {
            return evaluated.result(threshold, figure);
        }
        let scarce = &self.worst.scarce;
        match (&scarce.worst, &self.worst.why_not) {
            (Some((Judgement::Passes, figure)), _) => scarce.result(threshold, figure),
            (_, Some(why)) => {
                let why = format!("no window could be evaluated: {why}");
                ThresholdResult::unknown(threshold, why)
            }
            (_, None) => {
                let why = "the run was shorter than the window".to_owned();
                ThresholdResult::unknown(threshold, why)
            }
        }
    }
}

impl Worst {
    /// Adds the figure of one window, or the reason why it cannot be computed.
    fn see(&mut self, threshold: &Threshold, window: Window, figure: Result<Figure, String>) {
        match figure {
            Err(why) => self.why_not = Some(why),
            Ok(figure) => {
                if let Figure::Scarce { why, .. } = &figure {
                    self.why_not = Some(why.clone());
                    self.scarce.add(threshold, window, figure);
                } else {
                    let judgement = self.evaluated.add(threshold, window, figure);
                    self.fails_now = judgement == Judgement::Fails;
                }
            }
        }
    }
}

impl Judged {
    /// Judges one more window, or the last one again if it was extended: its previous judgement is
    /// then removed.
    fn add(&mut self, threshold: &Threshold, window: Window, figure: Figure) -> Judgement {
        let judgement = figure.judge(threshold);
        match self.last.filter(|_| window == Window::Extended) {
            None => self.count += 1,
            Some(Judgement::Passes) => {}
            Some(Judgement::Undecided) => self.undecided -= 1,
            Some(Judgement::Fails) => self.failed -= 1,
        }
        self.last = Some(judgement);
        self.failed += u64::from(judgement == Judgement::Fails);
        self.undecided += u64::from(judgement == Judgement::Undecided);
        let is_worse = self.worst.as_ref().is_none_or(|(worst, before)| {
            judgement > *worst
                || judgement == *worst
                    // If the comparison has no direction, the first figure is as bad as any other.
                    && threshold.worse().is_some_and(|worse| {
                        figure.value().partial_cmp(&before.value()) == Some(worse)
                    })
        });
        if is_worse {
            self.worst = Some((judgement, figure));
        }
        judgement
    }

    /// The result of all windows, the worst of which had this figure: one failed window is enough,
    /// and one undecided window keeps a rule from passing.
    fn result(&self, threshold: &Threshold, worst: &Figure) -> ThresholdResult {
        let judgement = match (self.failed, self.undecided) {
            (0, 0) => Judgement::Passes,
            (0, _) => Judgement::Undecided,
            _ => Judgement::Fails,
        };
        let figure = worst.text(threshold);
        let mut text = match (self.count, self.undecided) {
            (1, _) => format!("{figure} in the only window"),
            (count, 0) => format!(
                "{figure} in the worst of {count} windows, {} failed",
                self.failed
            ),
            (count, undecided) => format!(
                "{figure} in the worst of {count} windows, {} failed, {undecided} undecided",
                self.failed
            ),
        };
        if let Some(why) = undecided_text(threshold, judgement) {
            text.push_str(&format!(": {why}"));
        }
        ThresholdResult {
            passed: judgement.passes(threshold),
            actual_text: text,
            ..ThresholdResult::from_figure(threshold, Ok(worst.clone()))
        }
    }
}
