//! A run as a whole: the merge of its intervals and the judgement over them.

use crate::health::limits_reached;
use crate::threshold::View;
use crate::{
    GeneratorHealth, Interval, Model, RunInfo, Step, ThresholdResult, Unfinished, Validity,
    Verdict, WindowedThresholds,
};
use drumfire_plan::{Metric, Threshold};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The merge of all intervals of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// What was known at the start.
    pub info: Arc<RunInfo>,
    /// The measured span: from the end of the warm-up to the last end or the stop.
    pub duration: Nanos,
    /// Everything merged. After [`Self::finish`] `total.counts.sent` also holds what was in
    /// flight at the end.
    pub total: Interval,
    /// What was still open at the end.
    pub unfinished: Unfinished,
    /// Whether the figures can be believed.
    pub verdict: Verdict,
    /// What became of the thresholds, in the plan's order.
    pub thresholds: Vec<ThresholdResult>,
    /// How the generator fared.
    pub generator: GeneratorHealth,
}

impl Summary {
    /// A summary of nothing yet.
    #[must_use]
    pub fn new(info: Arc<RunInfo>) -> Self {
        Self {
            total: Interval::new(&info.pool().steps),
            info,
            duration: Nanos::ZERO,
            unfinished: Unfinished::default(),
            verdict: Verdict {
                validity: Validity::Valid,
                reasons: Vec::new(),
            },
            thresholds: Vec::new(),
            generator: GeneratorHealth::default(),
        }
    }

    /// Merges one interval, in any order.
    pub fn absorb(&mut self, interval: &Interval) {
        self.total.merge(interval);
    }

    /// Closes the books, once: adds what was in flight to what was sent, evaluates the thresholds
    /// and judges. `windows` must have absorbed the same intervals.
    #[must_use]
    pub fn finish(
        mut self,
        duration: Nanos,
        unfinished: Unfinished,
        generator: GeneratorHealth,
        thresholds: &[Threshold],
        windows: &WindowedThresholds,
    ) -> Self {
        self.duration = duration;
        self.unfinished = unfinished;
        self.total.counts.sent += unfinished.in_flight;
        self.generator = generator;
        self.generator.limited_by = limits_reached(&self.total);
        self.thresholds = thresholds
            .iter()
            .enumerate()
            .map(|(index, threshold)| self.evaluate(index, threshold, windows))
            .collect();
        self.verdict = Verdict::judge(&self.info, &self.total, unfinished, &self.generator);
        if let Err(why) = self.conservation() {
            self.verdict.condemn(format!(
                "the books do not balance, which is a mistake of this program: {why}"
            ));
        }
        self
    }

    fn evaluate(
        &self,
        index: usize,
        threshold: &Threshold,
        windows: &WindowedThresholds,
    ) -> ThresholdResult {
        let metric = &threshold.metric;
        if let Metric::Step(name, _) = metric
            && !self.info.pool().steps.iter().any(|step| **step == **name)
        {
            let why = format!("the plan has no step `{name}`");
            return ThresholdResult::of(threshold, Err(why));
        }
        if threshold.window.is_some() {
            return windows.result(index, threshold);
        }
        let figure = View::of(metric, &self.total, self.info.pool().model, self.duration)
            .and_then(|view| view.figure(metric));
        ThresholdResult::of(threshold, figure)
    }

    /// Whether every request is accounted for, exactly, in a finished summary:
    /// intended = sent + dropped + pending, and sent = ok + failed + in flight.
    ///
    /// # Errors
    /// The equation that does not hold, with its figures.
    pub fn conservation(&self) -> Result<(), String> {
        let counts = &self.total.counts;
        let Unfinished { pending, in_flight } = self.unfinished;
        if counts.intended != counts.sent + counts.dropped + pending {
            return Err(format!(
                "{} intended is not {} sent + {} dropped + {pending} pending",
                counts.intended, counts.sent, counts.dropped
            ));
        }
        if counts.sent != counts.ok + counts.failed + in_flight {
            return Err(format!(
                "{} sent is not {} ok + {} failed + {in_flight} in flight",
                counts.sent, counts.ok, counts.failed
            ));
        }
        Ok(())
    }

    /// Exchanges that ended, ok or failed, per second of the measured span; 0 without a span.
    #[must_use]
    pub fn achieved_per_s(&self) -> f64 {
        if self.duration == Nanos::ZERO {
            return 0.0;
        }
        self.total.counts.finished() as f64 / self.duration.as_secs_f64()
    }

    /// The rate that the schedule asked for, per second: the plan's where it is one number, else
    /// what became due over the measured span. `None` in the closed model.
    #[must_use]
    pub fn intended_per_s(&self) -> Option<f64> {
        match self.info.pool().model {
            Model::Closed => None,
            Model::Open if self.duration == Nanos::ZERO => self.info.pool().intended_rate,
            Model::Open => {
                self.info.pool().intended_rate.or_else(|| {
                    Some(self.total.counts.intended as f64 / self.duration.as_secs_f64())
                })
            }
        }
    }

    /// The steps' figures. Of a plan with one step, they are the totals.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        match self.info.pool().steps.first() {
            Some(first) => self.total.steps_named(first),
            None => Vec::new(),
        }
    }
}
