//! Thresholds: rules that the result must satisfy.

mod text;

use crate::{Finish, LlmError, Slo};
use drumfire_units::Nanos;
use std::cmp::Ordering;
use std::fmt;
use text::{condition, rule, share};

/// The figure that a threshold compares. Times are in nanoseconds, rates per second, shares from 0
/// to 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Metric {
    /// A quantile of latency, from 0 to 1.
    Quantile(f64),
    /// The mean latency.
    Mean,
    /// The minimum latency.
    Min,
    /// The maximum latency.
    Max,
    /// Finished requests per second.
    Rate,
    /// Failed requests as a share of the requests sent.
    Failed,
    /// Requests that timed out, as a share of the requests sent.
    TimedOut,
    /// Requests dropped by the late policy, as a share of the requests due.
    Dropped,
    /// Requests that were due and never sent, dropped or not, as a share of the requests due.
    Unsent,
    /// The number of failed requests.
    Failures,
    /// The number of responses with this status.
    Status(u16),
    /// The number of responses whose status has this first digit.
    StatusClass(u8),
    /// Generated tokens per second.
    Tokens,
    /// Prompt tokens that servers had in their caches, as a share of the prompt tokens.
    Cached,
    /// Answers that ended for this reason, as a share of the answers that ended.
    Finish(Finish),
    /// Answers that ended at a limit with fewer tokens than asked for, as a share of the answers
    /// that ended.
    Short,
    /// The number of answers that failed with an error of this kind; `None` for all kinds.
    LlmErrors(Option<LlmError>),
    /// Answers that met these limits, as a share of the requests due.
    Goodput(Slo),
    /// Answers that met these limits, per second.
    GoodputRate(Slo),
    /// The metric, which must be about times, of the speed of an answer in tokens per second.
    Speed(Box<Self>),
    /// The metric, which must be about times, applied to times other than the latency.
    Of(Times, Box<Self>),
    /// The metric, which must be about latency, the rate or a share, applied to iterations instead
    /// of requests.
    Iteration(Box<Self>),
    /// The metric for one step.
    Step(String, Box<Self>),
    /// The metric for one pool, or for one of its steps.
    Pool(String, Box<Self>),
}

impl Metric {
    /// Whether the figure counts failed requests, as a number or as a share.
    #[must_use]
    pub fn is_of_failures(&self) -> bool {
        match self {
            Self::Failed
            | Self::TimedOut
            | Self::Failures
            | Self::LlmErrors(_)
            | Self::Status(_)
            | Self::StatusClass(_) => true,
            Self::Of(_, inner)
            | Self::Iteration(inner)
            | Self::Step(_, inner)
            | Self::Pool(_, inner) => inner.is_of_failures(),
            _ => false,
        }
    }

    /// The limits of a good answer, if the figure depends on them.
    #[must_use]
    pub fn slo(&self) -> Option<&Slo> {
        match self {
            Self::Goodput(slo) | Self::GoodputRate(slo) => Some(slo),
            Self::Step(_, inner) | Self::Pool(_, inner) => inner.slo(),
            _ => None,
        }
    }

    fn rewrite_steps(&mut self, rewrite: &dyn Fn(&str) -> String) {
        match self {
            Self::Step(name, inner) => {
                *name = rewrite(name);
                inner.rewrite_steps(rewrite);
            }
            Self::Of(_, inner) | Self::Iteration(inner) | Self::Pool(_, inner) => {
                inner.rewrite_steps(rewrite);
            }
            _ => {}
        }
    }
}

/// The times of a metric that is not about the latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// The generator's own lag.
    Lag,
    /// From sent to the first byte of the response.
    FirstByte,
    /// The opening of a connection.
    Connect,
    /// From sent to the end.
    Service,
    /// From the intended start to the end.
    Response,
    /// The time to the first token of an answer.
    Ttft,
    /// The time to the first visible token of an answer.
    Ttfv,
    /// The time per token after the first.
    Tpot,
    /// The time from one event with tokens to the next.
    Gap,
    /// The time from one token to the next.
    Itl,
    /// The longest gap of an answer.
    Stall,
}

impl Times {
    /// All times.
    pub const ALL: [Self; 11] = [
        Self::Lag,
        Self::FirstByte,
        Self::Connect,
        Self::Service,
        Self::Response,
        Self::Ttft,
        Self::Ttfv,
        Self::Tpot,
        Self::Gap,
        Self::Itl,
        Self::Stall,
    ];

    /// Whether only answers of language models have these times.
    #[must_use]
    pub const fn is_of_answers(self) -> bool {
        matches!(
            self,
            Self::Ttft | Self::Ttfv | Self::Tpot | Self::Gap | Self::Itl | Self::Stall
        )
    }

    /// The word in a threshold.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lag => "lag",
            Self::FirstByte => "first_byte",
            Self::Connect => "connect",
            Self::Service => "service",
            Self::Response => "response",
            Self::Ttft => "ttft",
            Self::Ttfv => "ttfv",
            Self::Tpot => "tpot",
            Self::Gap => "gap",
            Self::Itl => "itl",
            Self::Stall => "stall",
        }
    }
}

/// How the actual value is compared with the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

/// One rule, such as `p99<50ms over 60s`.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// The text that the user wrote.
    pub expression: String,
    /// The figure to compare.
    pub metric: Metric,
    /// The comparison.
    pub comparison: Comparison,
    /// The bound, in the metric's unit.
    pub bound: f64,
    /// The length of the sliding window; if `None`, the whole run.
    pub window: Option<Nanos>,
    /// Whether the threshold is a rule or a condition, and whether it ends the run.
    pub role: Role,
}

/// The role of a threshold in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// A rule that the result must satisfy.
    #[default]
    Rule,
    /// A rule that also ends the run as soon as an interval violates it.
    Abort {
        /// Intervals that end before this time of the run do not end the run.
        after: Nanos,
    },
    /// A condition that must not occur: if it holds, the run ends and has failed.
    AbortOn {
        /// Intervals that end before this time of the run do not end the run.
        after: Nanos,
    },
}

impl Role {
    /// The time of the run from which the threshold may end the run; `None` if it never does.
    #[must_use]
    pub const fn ends_from(self) -> Option<Nanos> {
        match self {
            Self::Rule => None,
            Self::Abort { after } | Self::AbortOn { after } => Some(after),
        }
    }
}

impl Threshold {
    /// Parses a condition that ends a run, such as `failed>50% over 30s after 1m`.
    ///
    /// # Errors
    /// As for a rule's text; also if the text contains `abort`, which every condition implies.
    pub fn abort_on(text: &str) -> Result<Self, ThresholdError> {
        condition(text, &[])
    }

    /// Parses a rule of a plan with these pools, whose names may contain slashes and colons: `a/b:`
    /// is the pool `a/b` if it exists, otherwise the step `b` of the pool `a`.
    ///
    /// # Errors
    /// As [`Threshold::from_str`](std::str::FromStr::from_str). The pool need not be one of these.
    pub fn rule_of(text: &str, pools: &[&str]) -> Result<Self, ThresholdError> {
        rule(text, pools)
    }

    /// Parses a condition of a plan with these pools, with names as in [`Threshold::rule_of`].
    ///
    /// # Errors
    /// As [`Threshold::abort_on`].
    pub fn abort_on_of(text: &str, pools: &[&str]) -> Result<Self, ThresholdError> {
        condition(text, pools)
    }

    /// The condition that more than `count` requests have failed.
    #[must_use]
    pub fn failures_above(count: u64) -> Self {
        Self {
            expression: format!("failures>{count}"),
            metric: Metric::Failures,
            comparison: Comparison::Greater,
            bound: count as f64,
            window: None,
            role: Role::AbortOn { after: Nanos::ZERO },
        }
    }

    /// The distinct limits of good answers in these rules, in their order. A run counts the answers
    /// that meet each of them.
    #[must_use]
    pub fn slos(rules: &[Self]) -> Vec<Slo> {
        let mut slos: Vec<Slo> = Vec::new();
        for slo in rules.iter().filter_map(|rule| rule.metric.slo()) {
            if !slos.contains(slo) {
                slos.push(slo.clone());
            }
        }
        slos
    }

    /// The rule with its text and the names of steps rewritten by `rewrite`. The names of pools
    /// stay.
    #[must_use]
    pub fn with_texts(mut self, rewrite: &dyn Fn(&str) -> String) -> Self {
        self.expression = rewrite(&self.expression);
        self.metric.rewrite_steps(rewrite);
        self
    }

    /// Whether the run passes with this figure, in the metric's unit.
    #[must_use]
    pub fn passes(&self, actual: f64) -> bool {
        let bound = self.bound;
        let holds = match self.comparison {
            Comparison::Less => actual < bound,
            Comparison::AtMost => actual <= bound,
            Comparison::Greater => actual > bound,
            Comparison::AtLeast => actual >= bound,
            Comparison::Equal => actual == bound,
            Comparison::NotEqual => actual != bound,
        };
        holds != self.is_condition()
    }

    /// Whether the threshold is a condition, which fails the run if it holds, instead of a rule.
    #[must_use]
    pub const fn is_condition(&self) -> bool {
        matches!(self.role, Role::AbortOn { .. })
    }

    /// Which of two figures is worse; `None` if the comparison does not determine it.
    #[must_use]
    pub const fn worse(&self) -> Option<Ordering> {
        let larger = match self.comparison {
            Comparison::Less | Comparison::AtMost => true,
            Comparison::Greater | Comparison::AtLeast => false,
            Comparison::Equal | Comparison::NotEqual => return None,
        };
        Some(match larger != self.is_condition() {
            true => Ordering::Greater,
            false => Ordering::Less,
        })
    }
}

/// Why a text is not a threshold: the mistake and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThresholdError {
    /// The byte position of the mistake.
    pub at: usize,
    /// The mistake, and a correction.
    pub message: String,
}

/// The unit of a metric's bound.
pub(crate) enum Unit {
    Time,
    PerSecond,
    Share,
    Count,
}

pub(crate) fn unit_of(metric: &Metric) -> Unit {
    match metric {
        Metric::Quantile(_) | Metric::Mean | Metric::Min | Metric::Max | Metric::Of(..) => {
            Unit::Time
        }
        Metric::Rate | Metric::Tokens | Metric::Speed(_) | Metric::GoodputRate(_) => {
            Unit::PerSecond
        }
        Metric::Failed
        | Metric::TimedOut
        | Metric::Dropped
        | Metric::Unsent
        | Metric::Cached
        | Metric::Finish(_)
        | Metric::Short
        | Metric::Goodput(_) => Unit::Share,
        Metric::Failures | Metric::LlmErrors(_) | Metric::Status(_) | Metric::StatusClass(_) => {
            Unit::Count
        }
        Metric::Iteration(inner) | Metric::Step(_, inner) | Metric::Pool(_, inner) => {
            unit_of(inner)
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
        })
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quantile(q) => write!(f, "p{}", Percent(*q)),
            Self::Mean => f.write_str("avg"),
            Self::Min => f.write_str("min"),
            Self::Max => f.write_str("max"),
            Self::Rate => f.write_str("rate"),
            Self::Failed => f.write_str("failed"),
            Self::TimedOut => f.write_str("timed_out"),
            Self::Dropped => f.write_str("dropped"),
            Self::Unsent => f.write_str("unsent"),
            Self::Failures => f.write_str("failures"),
            Self::Status(status) => write!(f, "status({status})"),
            Self::StatusClass(class) => write!(f, "status({class}xx)"),
            Self::Tokens => f.write_str("tokens"),
            Self::Cached => f.write_str("cached"),
            Self::Finish(reason) => write!(f, "finish({})", reason.name()),
            Self::Short => f.write_str("short"),
            Self::LlmErrors(None) => f.write_str("llm_errors"),
            Self::LlmErrors(Some(kind)) => write!(f, "llm_errors({})", kind.name()),
            Self::Goodput(slo) | Self::GoodputRate(slo) => write!(f, "goodput({slo})"),
            Self::Speed(metric) => write!(f, "speed.{metric}"),
            Self::Of(times, metric) => write!(f, "{}.{metric}", times.name()),
            Self::Iteration(metric) => write!(f, "iteration.{metric}"),
            Self::Step(name, metric) => write!(f, "step({name}).{metric}"),
            Self::Pool(pool, metric) => match &**metric {
                Self::Step(name, metric) => write!(f, "{pool}/{name}: {metric}"),
                metric => write!(f, "{pool}: {metric}"),
            },
        }
    }
}

/// A share as a percentage with at most ten decimals, without the percent sign.
struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.10}", self.0 * 100.0);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl fmt::Display for Threshold {
    /// Prints the canonical form, which parses back to the same rule.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.metric, self.comparison)?;
        match unit_of(&self.metric) {
            Unit::Time => write!(f, "{}", Nanos(self.bound as u64))?,
            Unit::PerSecond => write!(f, "{}/s", self.bound)?,
            Unit::Count => write!(f, "{}", self.bound)?,
            Unit::Share => {
                let percent = Percent(self.bound).to_string();
                if share(&percent) == Some(self.bound) {
                    write!(f, "{percent}%")?;
                } else {
                    write!(f, "{}", self.bound)?;
                }
            }
        }
        if let Some(window) = self.window {
            write!(f, " over {window}")?;
        }
        if matches!(self.role, Role::Abort { .. }) {
            f.write_str(" abort")?;
        }
        match self.role.ends_from() {
            None | Some(Nanos::ZERO) => Ok(()),
            Some(after) => write!(f, " after {after}"),
        }
    }
}

impl fmt::Display for ThresholdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.at, self.message)
    }
}

impl std::error::Error for ThresholdError {}
