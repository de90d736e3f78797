//! Thresholds against merged data: the rule, the measured figure, and whether it passes.
//!
//! An [`Aim`] finds the pool or step of a metric, once and before the run. A [`View`] is the data
//! there, of the whole run or of one window, and the same code turns either into a [`Figure`]. A
//! figure that the data does not support, such as a p99 of twenty samples, is not a number: it ends
//! no run, and at the end the rule fails with the number of samples needed, unless the largest
//! sample is already below the rule's bound.
//!
//! Errors here are texts: they are shown in the threshold's row instead of its figure, and nothing
//! depends on their kind.

use crate::figure::{Certainty, Figure, Judgement};
use crate::form;
use crate::llm::speed;
use crate::quantile::{count_needed, supports};
use crate::{Counts, Figures, Histogram, LlmFigures, Model, Outcome, OutcomeCounts, RunInfo, Step};
use drumfire_plan::{LlmError, Metric, Threshold, Times, suggestion_of};
use drumfire_units::Nanos;

/// The result of one threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdResult {
    /// The threshold in the user's words.
    pub expression: String,
    /// Whether the threshold is a condition that must not occur, instead of a rule that must hold.
    pub is_condition: bool,
    /// Whether the run passed. A rule that cannot be evaluated does not pass, a condition does.
    pub passed: bool,
    /// The measured figure, in the metric's unit (nanoseconds, per second, share, count); with
    /// windows, the worst window's. `None` if it cannot be evaluated.
    pub actual: Option<f64>,
    /// Whether `actual` is exact or a bound.
    pub certainty: Certainty,
    /// The figure as text, or the reason why it cannot be evaluated.
    pub actual_text: String,
    /// When the threshold ended the run, if it did: the end of the interval that showed it, from
    /// the run's start.
    pub ended_run_at: Option<Nanos>,
}

form! {
    struct ThresholdResult {
        expression, is_condition, passed, actual, certainty, actual_text, ended_run_at,
    }
}

/// The data that a metric uses: a pool, or all; a step, or all; and the model that chooses the
/// latency.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Aim {
    /// The metric without its pool and step.
    pub(crate) metric: Metric,
    /// The pool's number; `None` for all pools.
    pool: Option<usize>,
    /// The step of the pool: its index and its name.
    step: Option<(usize, String)>,
    /// The model of the pool, or of all; `None` if they differ.
    model: Option<Model>,
    /// The number of the metric's limits among those that the run counts.
    slo: Option<usize>,
}

form! { struct Aim { metric, pool, step, model, slo } }

impl Aim {
    /// The data for a metric in a run, or a text with the reason why it does not exist. A step
    /// without a pool is looked up in all pools; the first match is used.
    pub(crate) fn resolve(metric: &Metric, info: &RunInfo) -> Result<Self, String> {
        let (pool, metric) = match metric {
            Metric::Pool(name, inner) => {
                let pool = info.pools.iter().position(|pool| pool.name == *name);
                let pool = pool.ok_or_else(|| {
                    let near =
                        suggestion_of(name, info.pools.iter().map(|pool| &*pool.name), "pools");
                    format!("the plan has no pool `{name}`{near}")
                })?;
                (Some(pool), &**inner)
            }
            other => (None, other),
        };
        let (pool, step, metric) = match metric {
            Metric::Step(name, inner) => {
                let (pool, step) = find_step(name, pool, info)?;
                (Some(pool), Some((step, name.clone())), &**inner)
            }
            other => (pool, None, other),
        };
        let models = match pool {
            Some(pool) => std::slice::from_ref(&info.pools[pool]),
            None => &info.pools[..],
        };
        let first = models.first().map(|pool| pool.model);
        let model = first.filter(|first| models.iter().all(|pool| pool.model == *first));
        Ok(Self {
            metric: metric.clone(),
            pool,
            step,
            model,
            slo: metric.slo().and_then(|slo| {
                let mut counted = Threshold::slos(&info.thresholds).into_iter();
                counted.position(|counted| counted == *slo)
            }),
        })
    }
}

impl Aim {
    /// The model that chooses the latency; `None` if pools differ.
    pub(crate) const fn model(&self) -> Option<Model> {
        self.model
    }

    /// The number of the metric's pool; `None` for all.
    pub(crate) const fn pool(&self) -> Option<usize> {
        self.pool
    }

    /// Whether each request of the metric's pools is a separate arrival of the schedule; requests
    /// of scenarios are due when a user reaches them.
    pub(crate) fn is_of_arrivals(&self, info: &RunInfo) -> bool {
        let looked_at = |pool: usize| self.pool.is_none_or(|only| only == pool);
        let mut pools = info.pools.iter().enumerate();
        pools.all(|(at, pool)| !looked_at(at) || !pool.iterations)
    }

    /// Whether the metric is a rate.
    pub(crate) fn is_rate(&self) -> bool {
        match &self.metric {
            Metric::Iteration(inner) => **inner == Metric::Rate,
            metric => matches!(
                metric,
                Metric::Rate | Metric::Tokens | Metric::GoodputRate(_)
            ),
        }
    }

    /// The metric's distribution; `None` for a metric of counts. Pools with different models have
    /// no common *the* latency, so such a metric must contain its pool.
    fn times<'a>(
        &self,
        figures: &'a Figures,
        step: Option<&'a Step>,
    ) -> Result<Option<&'a Histogram>, String> {
        let of_pool = |times: &'a Histogram| match step {
            None => Ok(Some(times)),
            Some(_) => Err("it is not recorded for each step".to_owned()),
        };
        match &self.metric {
            Metric::Of(Times::Lag, _) => of_pool(&figures.latency.lag),
            Metric::Of(Times::FirstByte, _) => of_pool(&figures.latency.first_byte),
            Metric::Of(Times::Connect, _) => of_pool(&figures.connections.connect),
            Metric::Of(Times::Service, _) => Ok(Some(match step {
                Some(step) => &step.service_time,
                None => &figures.latency.service_time,
            })),
            Metric::Of(Times::Response, _) => Ok(Some(match step {
                Some(step) => &step.response_time,
                None => &figures.latency.response_time,
            })),
            Metric::Of(times, _) if times.is_of_answers() => {
                Ok(self.answer_times(*times, llm_of(figures, step)))
            }
            Metric::Speed(_) => Ok(self.answer_times(Times::Tpot, llm_of(figures, step))),
            Metric::Iteration(_) => Ok(figures.iterations.as_ref().map(|all| &all.time)),
            Metric::Quantile(_) | Metric::Mean | Metric::Min | Metric::Max => {
                let Some(model) = self.model else {
                    let why =
                        "the pools have different models; name one pool, as in POOL: p99<50ms";
                    return Err(why.to_owned());
                };
                let kind = model.latency_kind(&figures.latency);
                Ok(Some(match step {
                    Some(step) => step.times(kind),
                    None => kind.histogram(&figures.latency),
                }))
            }
            _ => Ok(None),
        }
    }

    /// The distribution of a time of answers; `None` without answers.
    fn answer_times<'a>(&self, times: Times, llm: Option<&'a LlmFigures>) -> Option<&'a Histogram> {
        let llm = llm?;
        Some(match times {
            Times::Ttft => llm.ttft_of(self.model.unwrap_or(Model::Open)),
            Times::Ttfv => &llm.ttfv,
            Times::Tpot => &llm.tpot,
            Times::Gap => &llm.gap,
            Times::Itl => &llm.itl,
            Times::Stall => &llm.stall,
            _ => return None,
        })
    }

    /// The counts of answers that the metric needs; `None` without answers.
    fn portion(&self, figures: &Figures, step: Option<&Step>) -> Option<Portion> {
        let llm = llm_of(figures, step)?;
        let of_answers = |part| Portion {
            part,
            of: llm.answers,
            open: 0,
        };
        let counts = step.map_or(&figures.counts, |step| &step.counts);
        let outcomes = step.map_or_else(|| figures.outcomes(), |step| &step.errors);
        Some(match &self.metric {
            Metric::Tokens => of_answers(llm.tokens()),
            Metric::Finish(finish) => of_answers(llm.finished(*finish)),
            Metric::Short => of_answers(llm.short),
            Metric::LlmErrors(kind) => of_answers(llm_errors(outcomes, *kind)),
            Metric::Cached => Portion {
                part: llm.cached,
                of: match llm.cache_reports {
                    0 => 0,
                    _ => llm.input,
                },
                open: 0,
            },
            Metric::Goodput(_) | Metric::GoodputRate(_) => {
                let good = self.slo.and_then(|slo| llm.good.get(slo));
                Portion {
                    part: good.copied().unwrap_or(0),
                    of: llm.due(counts),
                    open: llm.open,
                }
            }
            _ => of_answers(0),
        })
    }
}

/// The answers of figures, or of their step.
fn llm_of<'a>(figures: &'a Figures, step: Option<&'a Step>) -> Option<&'a LlmFigures> {
    step.map_or_else(|| figures.llm(), Step::llm)
}

/// The number of answers with an error of this kind, or of any kind.
fn llm_errors(outcomes: &OutcomeCounts, kind: Option<LlmError>) -> u64 {
    let kinds = LlmError::ALL.into_iter();
    let kinds = kinds.filter(|it| kind.is_none_or(|only| only == *it));
    kinds.fold(0, |sum, kind| {
        sum + outcomes.get(Outcome::of_llm_error(kind))
    })
}

/// The first pool with this step, among all or the given one, and the step's index in it.
fn find_step(name: &str, pool: Option<usize>, info: &RunInfo) -> Result<(usize, usize), String> {
    let pools = info.pools.iter().enumerate();
    let mut pools = pools.filter(|(index, _)| pool.is_none_or(|pool| pool == *index));
    let found = pools.find_map(|(index, pool)| {
        let step = pool.steps.iter().position(|step| **step == *name)?;
        Some((index, step))
    });
    found.ok_or_else(|| {
        let looked_at = match pool {
            None => &info.pools[..],
            Some(pool) => std::slice::from_ref(&info.pools[pool]),
        };
        let steps = looked_at.iter().flat_map(|pool| &pool.steps);
        let near = suggestion_of(name, steps.map(|step| &**step), "steps");
        match pool {
            None => format!("the plan has no step `{name}`{near}"),
            Some(pool) => format!(
                "pool `{}` has no step `{name}`{near}",
                info.pools[pool].name
            ),
        }
    })
}

/// The reason why a figure of answers does not exist.
const NO_ANSWERS: &str = "no answer of a language model was read; set `read: chat` or another API";

/// The merged data for one metric: of a whole run, of a step, or of a window.
pub(crate) struct View<'a> {
    /// The metric's distribution; `None` for a metric of counts.
    pub(crate) times: Option<&'a Histogram>,
    /// Requests, or iterations.
    pub(crate) counts: Counts,
    /// Responses with the metric's status.
    pub(crate) responses: u64,
    /// Requests of all steps that became due, or iterations: the rate of a window without due
    /// requests is not judged.
    pub(crate) due: u64,
    pub(crate) span: Nanos,
    /// The counts of answers that the metric needs; `None` without answers.
    pub(crate) answers: Option<Portion>,
}

/// A count of answers or tokens, and the count of which it is a part.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Portion {
    pub(crate) part: u64,
    pub(crate) of: u64,
    /// Running answers, which may still become part of it.
    pub(crate) open: u64,
}

impl Portion {
    /// What is neither part of it nor may become so.
    pub(crate) const fn missed(self) -> u64 {
        self.of.saturating_sub(self.part.saturating_add(self.open))
    }

    /// Adds `other`.
    pub(crate) const fn merge(&mut self, other: Self) {
        self.part = self.part.saturating_add(other.part);
        self.of = self.of.saturating_add(other.of);
        self.open = self.open.saturating_add(other.open);
    }
}

impl<'a> View<'a> {
    /// The data of a metric in figures with this span, `total` and each pool's; or the reason why
    /// the data are missing.
    pub(crate) fn select(
        aim: &Aim,
        total: &'a Figures,
        pools: &'a [Figures],
        span: Nanos,
    ) -> Result<Self, String> {
        let figures = match aim.pool {
            Some(pool) => pools.get(pool).ok_or("the pool has no figures")?,
            None => total,
        };
        // A single step's figures are its pool's.
        let step = aim.step.as_ref().filter(|_| !figures.steps.is_empty());
        let step = match step {
            None => None,
            Some((step, name)) => {
                let found = figures.steps.get(*step).filter(|step| *step.name == **name);
                Some(found.ok_or_else(|| format!("step `{name}` has no separate figures"))?)
            }
        };
        let iterations = match (&aim.metric, &figures.iterations) {
            (Metric::Iteration(_), None) => {
                return Err(
                    "an iteration is a single request here; leave out `iteration.`".to_owned(),
                );
            }
            (Metric::Iteration(_), Some(iterations)) => Some(iterations.counts),
            _ => None,
        };
        let requests = step.map_or(figures.counts, |step| step.counts);
        let status = step.map_or_else(|| figures.status_counts(), |step| &step.status);
        Ok(Self {
            times: aim.times(figures, step)?,
            counts: iterations.unwrap_or(requests),
            responses: match aim.metric {
                Metric::Status(code) => status.get(code),
                Metric::StatusClass(class) => status.of_class(class),
                _ => 0,
            },
            due: iterations.unwrap_or(figures.counts).intended,
            span,
            answers: aim.portion(figures, step),
        })
    }

    /// The figure of a metric, or the reason why it cannot be computed: shares need a total, times
    /// need samples.
    pub(crate) fn figure(&self, metric: &Metric) -> Result<Figure, String> {
        match metric {
            Metric::Iteration(inner) => self.figure_of(inner, "iteration"),
            metric => self.figure_of(metric, "request"),
        }
    }

    fn figure_of(&self, metric: &Metric, what: &str) -> Result<Figure, String> {
        let counts = &self.counts;
        let share = |part: u64, of: u64| Ok(Figure::Exact(part as f64 / of as f64));
        match metric {
            Metric::Rate if self.span == Nanos::ZERO => Err("the run had no length".to_owned()),
            Metric::Rate => Ok(Figure::Exact(
                counts.finished() as f64 / self.span.as_secs_f64(),
            )),
            Metric::Failed | Metric::TimedOut if counts.finished() == 0 => {
                Err(format!("no {what} ended"))
            }
            Metric::Failures => Ok(Figure::Exact(counts.failed as f64)),
            Metric::Failed => share(counts.failed, counts.sent),
            Metric::TimedOut => share(counts.timed_out, counts.sent),
            Metric::Dropped | Metric::Unsent if counts.intended == 0 => {
                Err(format!("no {what} was due"))
            }
            Metric::Dropped => share(counts.dropped, counts.intended),
            Metric::Unsent => {
                let unsent = counts.dropped.saturating_add(counts.pending);
                share(unsent, counts.intended)
            }
            Metric::Status(_) | Metric::StatusClass(_) => Ok(Figure::Exact(self.responses as f64)),
            Metric::Tokens
            | Metric::Cached
            | Metric::Finish(_)
            | Metric::Short
            | Metric::LlmErrors(_)
            | Metric::Goodput(_)
            | Metric::GoodputRate(_)
            | Metric::Speed(_) => self.answer_figure(metric),
            Metric::Of(times, _) if times.is_of_answers() && self.times.is_none() => {
                Err(NO_ANSWERS.to_owned())
            }
            Metric::Of(_, inner) => self.time_figure(inner),
            times => self.time_figure(times),
        }
    }

    /// A figure of answers.
    fn answer_figure(&self, metric: &Metric) -> Result<Figure, String> {
        let Portion { part, of, open } = self.answers.ok_or_else(|| NO_ANSWERS.to_owned())?;
        let share = |of: u64, none: &str| match of {
            0 => Err(none.to_owned()),
            of => Ok(part as f64 / of as f64),
        };
        let per_second = || match self.span {
            Nanos::ZERO => Err("the run had no length".to_owned()),
            span => Ok(part as f64 / span.as_secs_f64()),
        };
        Ok(match metric {
            Metric::Tokens => Figure::Exact(per_second()?),
            Metric::Cached => Figure::Exact(share(of, "the server reports no cached tokens")?),
            Metric::Finish(_) | Metric::Short => Figure::Exact(share(of, "no answer ended")?),
            Metric::LlmErrors(_) => Figure::Exact(part as f64),
            Metric::Goodput(_) => Figure::bounded(share(of, "no answer was due")?, open > 0),
            Metric::GoodputRate(_) => Figure::bounded(per_second()?, open > 0),
            Metric::Speed(inner) => self.speed_figure(inner)?,
            _ => return Err("it is not a figure of answers".to_owned()),
        })
    }

    /// A quantile of the speed of answers, in tokens per second.
    fn speed_figure(&self, metric: &Metric) -> Result<Figure, String> {
        let q = match metric {
            Metric::Quantile(q) => *q,
            Metric::Min => 0.0,
            Metric::Max => 1.0,
            _ => return Err("it is not a speed".to_owned()),
        };
        let tpot = self.times.filter(|times| !times.is_empty());
        let tpot = tpot.ok_or("no answer has a known speed")?;
        Ok(match (speed(tpot, q), speed(tpot, 1.0)) {
            (Some(speed), _) => Figure::Exact(speed),
            (None, _) if supports(tpot.count(), q) => {
                return Err("the answers came in one read, without time between tokens".to_owned());
            }
            (None, most) => {
                let most = most.unwrap_or(f64::INFINITY);
                Figure::scarce(q, count_needed(q), tpot.count(), most)
            }
        })
    }

    /// A figure of times. It is a lower bound if requests whose end was not seen may have made it
    /// too small.
    fn time_figure(&self, metric: &Metric) -> Result<Figure, String> {
        let times = self.times.ok_or("it has no distribution of times")?;
        let count = times.count();
        if count == 0 {
            return Err("there were no samples".to_owned());
        }
        let has_bounds = times.at_least_from().is_some();
        let quantile = |q, time: Nanos| Figure::bounded(time.0 as f64, times.is_at_least(q));
        match metric {
            Metric::Quantile(q) => Ok(match times.quantile(*q) {
                Some(time) => quantile(*q, time),
                None => {
                    // If one of them has no end yet, the maximum is unknown.
                    let most = match has_bounds {
                        true => f64::INFINITY,
                        false => times.max().0 as f64,
                    };
                    Figure::scarce(*q, count_needed(*q), count, most)
                }
            }),
            Metric::Mean => Ok(Figure::bounded(times.mean(), has_bounds)),
            Metric::Min => Ok(quantile(0.0, times.min())),
            Metric::Max => Ok(quantile(1.0, times.max())),
            _ => Err("it is not a time".to_owned()),
        }
    }
}

impl ThresholdResult {
    /// The result for one figure over the whole run.
    pub(crate) fn from_figure(threshold: &Threshold, figure: Result<Figure, String>) -> Self {
        let figure = match figure {
            Ok(figure) => figure,
            Err(why) => return Self::unknown(threshold, why),
        };
        let judgement = figure.judge(threshold);
        let text = figure.text(threshold);
        let text = match (&figure, undecided_text(threshold, judgement)) {
            (Figure::Scarce { why, .. }, _) if judgement == Judgement::Undecided => {
                return Self::unknown(threshold, why.clone());
            }
            (Figure::Scarce { why, .. }, _) => format!("{text} ({why})"),
            (_, Some(why)) => format!("{text}, {why}"),
            (_, None) => text,
        };
        Self {
            expression: threshold.expression.clone(),
            is_condition: threshold.is_condition(),
            passed: judgement.passes(threshold),
            actual: Some(figure.value()),
            certainty: figure.certainty(),
            actual_text: text,
            ended_run_at: None,
        }
    }

    /// The result without a figure.
    pub(crate) fn unknown(threshold: &Threshold, why: String) -> Self {
        Self {
            expression: threshold.expression.clone(),
            is_condition: threshold.is_condition(),
            passed: Judgement::Undecided.passes(threshold),
            actual: None,
            certainty: Certainty::Exact,
            actual_text: why,
            ended_run_at: None,
        }
    }
}

/// The reason why a rule fails that may be true; `None` if its judgement is certain, or if it is a
/// condition.
pub(crate) fn undecided_text(threshold: &Threshold, judgement: Judgement) -> Option<&'static str> {
    let is_undecided = judgement == Judgement::Undecided && !threshold.is_condition();
    is_undecided.then_some("a lower bound, which can't decide the rule")
}
