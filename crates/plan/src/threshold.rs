//! Thresholds: what the result must satisfy.

use drumfire_units::Nanos;

/// What a threshold looks at. Times are nanoseconds, rates per second, shares from 0 to 1.
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
    /// How many responses had this status.
    Status(u16),
    /// The metric on the lag instead of the latency.
    Lag(Box<Self>),
    /// The metric on one step.
    Step(String, Box<Self>),
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
    /// What is looked at.
    pub metric: Metric,
    /// How it is compared.
    pub comparison: Comparison,
    /// With what, in the metric's unit.
    pub bound: f64,
    /// The length of the sliding window; the whole run when `None`.
    pub window: Option<Nanos>,
}

/// Why a text is not a threshold: what is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThresholdError {
    /// The byte at which it goes wrong.
    pub at: usize,
    /// What is wrong and what would be right.
    pub message: String,
}
