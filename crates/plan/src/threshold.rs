//! Thresholds: rules that the result must satisfy.

use crate::threshold_text::share;
use drumfire_units::Nanos;
use std::fmt;

/// The figure that a threshold compares. Times are nanoseconds, rates per second, shares from 0 to
/// 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Metric {
    /// A quantile of latency, from 0 to 1.
    Quantile(f64),
    /// The mean latency.
    Mean,
    /// The least latency.
    Min,
    /// The greatest latency.
    Max,
    /// Finished requests per second.
    Rate,
    /// Failed requests as a share of those sent.
    Failed,
    /// Requests whose time was up as a share of those sent.
    TimedOut,
    /// Requests dropped by the late policy as a share of those that were due.
    Dropped,
    /// Requests that were due and never sent, dropped or not, as a share of those that were due.
    Unsent,
    /// How many responses had this status.
    Status(u16),
    /// How many responses had a status with this first digit.
    StatusClass(u8),
    /// The metric, which must be one of times, on other times than the latency.
    Of(Times, Box<Self>),
    /// The metric, which must be one of latency, of the rate or of a share, on iterations in place
    /// of requests.
    Iteration(Box<Self>),
    /// The metric on one step.
    Step(String, Box<Self>),
    /// The metric on one pool, or on one of its steps.
    Pool(String, Box<Self>),
}

/// Times that a metric may be about in place of the latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// The generator's own lateness.
    Lag,
    /// From sent to the first byte of the response.
    FirstByte,
    /// The opening of a connection.
    Connect,
    /// From sent to the end.
    Service,
    /// From the intended start to the end.
    Response,
}

impl Times {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Lag,
        Self::FirstByte,
        Self::Connect,
        Self::Service,
        Self::Response,
    ];

    /// The word in a threshold.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lag => "lag",
            Self::FirstByte => "first_byte",
            Self::Connect => "connect",
            Self::Service => "service",
            Self::Response => "response",
        }
    }
}

/// How the actual value is compared.
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
    /// As the user wrote it.
    pub expression: String,
    /// The figure to compare.
    pub metric: Metric,
    /// How it is compared.
    pub comparison: Comparison,
    /// With what, in the metric's unit.
    pub bound: f64,
    /// The length of the sliding window; the whole run when `None`.
    pub window: Option<Nanos>,
}

/// Why a text is not a threshold: the mistake and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThresholdError {
    /// The byte at which it goes wrong.
    pub at: usize,
    /// The mistake, and what would be right.
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
        Metric::Rate => Unit::PerSecond,
        Metric::Failed | Metric::TimedOut | Metric::Dropped | Metric::Unsent => Unit::Share,
        Metric::Status(_) | Metric::StatusClass(_) => Unit::Count,
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
            Self::Status(status) => write!(f, "status({status})"),
            Self::StatusClass(class) => write!(f, "status({class}xx)"),
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

/// A share as a percentage with at most ten decimals, without the sign.
struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.10}", self.0 * 100.0);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl fmt::Display for Threshold {
    /// The canonical form, which parses back to the same rule.
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
        match self.window {
            Some(window) => write!(f, " over {window}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for ThresholdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.at, self.message)
    }
}

impl std::error::Error for ThresholdError {}
