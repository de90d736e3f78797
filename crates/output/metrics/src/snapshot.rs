//! All metrics of a run at one moment.

use crate::TimeDistribution;
use drumfire_units::Nanos;
use std::borrow::Cow;
use std::sync::Arc;

/// All metrics of a run at one moment. Counters and distributions count from the run's start, so a
/// receiver that misses a snapshot gets all of its figures with the next one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The time of the snapshot, in nanoseconds since 1970-01-01 00:00 UTC.
    pub at_unix_ns: u64,
    /// The start of the run, in nanoseconds since 1970-01-01 00:00 UTC.
    pub started_at_unix_ns: u64,
    /// The time of the run up to which the metrics count.
    pub elapsed: Nanos,
    /// The name of the run.
    pub run: String,
    /// The version of the program.
    pub version: String,
    /// The metrics, each with all its points.
    pub families: Vec<Family>,
}

/// A metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The name, without `_total` and `_info`.
    pub name: &'static str,
    /// The meaning, as a sentence.
    pub help: &'static str,
    /// A counter, a gauge or a histogram.
    pub kind: MetricKind,
    /// The unit with which the name ends, if there is one.
    pub unit: Option<Unit>,
    /// The values, each with different labels.
    pub points: Vec<Point>,
}

/// The kind of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A number that only grows.
    Counter,
    /// A number that goes up and down.
    Gauge,
    /// A distribution that only grows.
    Histogram,
    /// Facts as labels; the value is 1.
    Info,
}

/// The unit of a metric, which is a part of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// A share from 0 to 1.
    Ratio,
}

impl Unit {
    /// The unit as a part of a metric's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Bytes => "bytes",
            Self::Ratio => "ratio",
        }
    }
}

/// One value of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The labels that distinguish the point from the others, in the same order for all points of a
    /// metric.
    pub labels: Vec<Label>,
    /// The value.
    pub value: Value,
}

/// One label of a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The name.
    pub name: &'static str,
    /// The value: any text.
    pub value: Arc<str>,
}

impl Label {
    /// A label with this name and value.
    #[must_use]
    pub fn new(name: &'static str, value: &str) -> Self {
        Self {
            name,
            value: Arc::from(value),
        }
    }
}

/// A value of a metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Count(u64),
    /// Any number.
    Number(f64),
    /// A distribution; boxed, because most values are numbers.
    Distribution(Box<TimeDistribution>),
}

impl Value {
    /// The value as one number; for a distribution, the number of its times.
    #[must_use]
    pub fn number(&self) -> f64 {
        match self {
            Self::Count(count) => *count as f64,
            Self::Number(number) => *number,
            Self::Distribution(distribution) => distribution.count as f64,
        }
    }
}

impl Family {
    /// A metric without a unit.
    pub(crate) const fn new(
        name: &'static str,
        help: &'static str,
        kind: MetricKind,
        points: Vec<Point>,
    ) -> Self {
        Self {
            name,
            help,
            kind,
            unit: None,
            points,
        }
    }

    /// A metric with one value and no labels.
    pub(crate) fn alone(
        name: &'static str,
        help: &'static str,
        kind: MetricKind,
        value: Value,
    ) -> Self {
        let labels = Vec::new();
        Self::new(name, help, kind, vec![Point { labels, value }])
    }

    /// Sets the unit, with which the name must end.
    pub(crate) fn with_unit(self, unit: Unit) -> Self {
        debug_assert!(self.name.ends_with(unit.name()), "{}", self.name);
        Self {
            unit: Some(unit),
            ..self
        }
    }

    /// The name of the metric's samples in Prometheus, where the names of counters end with
    /// `_total`.
    #[must_use]
    pub fn sample_name(&self) -> Cow<'static, str> {
        let suffix = match self.kind {
            MetricKind::Counter => "_total",
            MetricKind::Info => "_info",
            MetricKind::Gauge | MetricKind::Histogram => return Cow::Borrowed(self.name),
        };
        Cow::Owned(format!("{}{suffix}", self.name))
    }
}
