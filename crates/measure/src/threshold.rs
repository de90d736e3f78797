//! Thresholds against merged data: the rule, the measured figure, and whether it passes.

use crate::words::{quantile_text, share_text, three_digits, time_text};
use crate::{Counts, Figures, Histogram, Model, StatusCounts, Step};
use drumfire_plan::{Comparison, Metric, Threshold};
use drumfire_units::Nanos;

/// What became of one threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdResult {
    /// As the user wrote it.
    pub expression: String,
    /// Whether it holds. One that cannot be evaluated does not.
    pub passed: bool,
    /// The figure that was seen, in the metric's unit (nanoseconds, per second, share, count); of
    /// a windowed one, the worst window's. `None` when it cannot be evaluated.
    pub actual: Option<f64>,
    /// The same in words, or why it cannot be evaluated.
    pub actual_text: String,
}

/// The merged data that one metric looks at: of a whole run, of a step, or of a window.
pub(crate) struct View<'a> {
    /// The distribution it is about; `None` for a metric of counts.
    pub(crate) times: Option<&'a Histogram>,
    pub(crate) counts: Counts,
    /// Responses with the status it asks for.
    pub(crate) responses: u64,
    pub(crate) span: Nanos,
}

/// What of a pool or of a step a metric can look at.
struct Source<'a> {
    latency: &'a Histogram,
    /// Steps keep no lag of their own.
    lag: Option<&'a Histogram>,
    counts: Counts,
    status: &'a StatusCounts,
}

impl<'a> Source<'a> {
    fn of(total: &'a Figures, model: Model) -> Self {
        Self {
            latency: model.latency(&total.latency),
            lag: Some(&total.latency.lag),
            counts: total.counts,
            status: total.status_counts(),
        }
    }

    fn of_step(step: &'a Step, model: Model) -> Self {
        Self {
            latency: model.step_latency(step),
            lag: None,
            counts: step.counts,
            status: &step.status,
        }
    }
}

impl<'a> View<'a> {
    /// What `metric` looks at in figures that span this long, usually a whole run's, or why
    /// there is nothing to look at. The caller has checked that the plan has the step it names.
    pub(crate) fn of(
        metric: &Metric,
        total: &'a Figures,
        model: Model,
        span: Nanos,
    ) -> Result<Self, String> {
        let source = match metric {
            Metric::Step(name, _) if !total.steps.is_empty() => {
                let step = total.steps.iter().find(|step| *step.name == **name);
                let step =
                    step.ok_or_else(|| format!("step `{name}` has no figures of its own"))?;
                Source::of_step(step, model)
            }
            _ => Source::of(total, model),
        };
        let metric = innermost(metric);
        let times = match metric {
            Metric::Lag(_) => Some(source.lag.ok_or("lag is not kept for single steps")?),
            Metric::Quantile(_) | Metric::Mean | Metric::Min | Metric::Max => Some(source.latency),
            Metric::Rate | Metric::Failed | Metric::Status(_) | Metric::Step(..) => None,
        };
        let responses = match metric {
            Metric::Status(status) => source.status.get(*status),
            _ => 0,
        };
        Ok(Self {
            times,
            counts: source.counts,
            responses,
            span,
        })
    }

    /// The figure of `metric`, in its unit, or why there is none.
    pub(crate) fn figure(&self, metric: &Metric) -> Result<f64, String> {
        match innermost(metric) {
            Metric::Rate if self.span == Nanos::ZERO => Err("the run had no length".to_owned()),
            Metric::Rate => Ok(self.counts.finished() as f64 / self.span.as_secs_f64()),
            Metric::Failed if self.counts.finished() == 0 => Err("no request ended".to_owned()),
            Metric::Failed => Ok(self.counts.failed as f64 / self.counts.sent as f64),
            Metric::Status(_) => Ok(self.responses as f64),
            Metric::Step(..) => Err("a step has no steps".to_owned()),
            Metric::Lag(inner) => self.time_figure(inner),
            of_latency => self.time_figure(of_latency),
        }
    }

    fn time_figure(&self, metric: &Metric) -> Result<f64, String> {
        let times = self.times.ok_or("it has no distribution of times")?;
        let count = times.count();
        if count == 0 {
            return Err("there were no samples".to_owned());
        }
        match metric {
            Metric::Quantile(q) => times.quantile(*q).map(|time| time.0 as f64).ok_or_else(|| {
                format!(
                    "{} needs {} samples and there were {count}",
                    quantile_text(*q),
                    Histogram::count_needed(*q)
                )
            }),
            Metric::Mean => Ok(times.mean()),
            Metric::Min => Ok(times.min().0 as f64),
            Metric::Max => Ok(times.max().0 as f64),
            _ => Err("lag has only times".to_owned()),
        }
    }
}

/// The metric itself, without the step that it is asked of.
pub(crate) fn innermost(metric: &Metric) -> &Metric {
    match metric {
        Metric::Step(_, inner) => inner,
        other => other,
    }
}

/// Whether `actual` satisfies the threshold.
pub(crate) fn holds(threshold: &Threshold, actual: f64) -> bool {
    let bound = threshold.bound;
    match threshold.comparison {
        Comparison::Less => actual < bound,
        Comparison::AtMost => actual <= bound,
        Comparison::Greater => actual > bound,
        Comparison::AtLeast => actual >= bound,
        Comparison::Equal => actual == bound,
        Comparison::NotEqual => actual != bound,
    }
}

/// The figure with its unit.
pub(crate) fn figure_text(metric: &Metric, actual: f64) -> String {
    match metric {
        Metric::Quantile(_) | Metric::Mean | Metric::Min | Metric::Max | Metric::Lag(_) => {
            time_text(actual)
        }
        Metric::Rate => format!("{}/s", three_digits(actual)),
        Metric::Failed => share_text(actual),
        Metric::Status(_) => format!("{actual:.0}"),
        Metric::Step(_, inner) => figure_text(inner, actual),
    }
}

impl ThresholdResult {
    /// The result for one figure over the whole run.
    pub(crate) fn of(threshold: &Threshold, actual: Result<f64, String>) -> Self {
        let (passed, actual, actual_text) = match actual {
            Ok(actual) => (
                holds(threshold, actual),
                Some(actual),
                figure_text(&threshold.metric, actual),
            ),
            Err(why) => (false, None, why),
        };
        Self {
            expression: threshold.expression.clone(),
            passed,
            actual,
            actual_text,
        }
    }
}
