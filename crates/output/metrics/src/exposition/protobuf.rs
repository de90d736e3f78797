//! Prometheus' protobuf format (io.prometheus.client.MetricFamily, each preceded by its length).
//! Only this format supports native histograms, which it contains in addition to the classic
//! buckets.

use crate::{
    BOUNDS, ExponentialHistogram, Family, Label, MetricKind, Point, Snapshot, TimeDistribution,
    Unit, Value,
};
use prost::Message;

/// io.prometheus.client.MetricFamily.
#[derive(Clone, PartialEq, Message)]
struct MetricFamily {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(string, optional, tag = "2")]
    help: Option<String>,
    /// COUNTER = 0, GAUGE = 1, HISTOGRAM = 4.
    #[prost(int32, optional, tag = "3")]
    kind: Option<i32>,
    #[prost(message, repeated, tag = "4")]
    metric: Vec<Metric>,
    #[prost(string, optional, tag = "5")]
    unit: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Metric {
    #[prost(message, repeated, tag = "1")]
    label: Vec<LabelPair>,
    #[prost(message, optional, tag = "2")]
    gauge: Option<Number>,
    #[prost(message, optional, tag = "3")]
    counter: Option<Number>,
    #[prost(message, optional, tag = "7")]
    histogram: Option<Buckets>,
}

#[derive(Clone, PartialEq, Message)]
struct LabelPair {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(string, optional, tag = "2")]
    value: Option<String>,
}

/// Counter and Gauge.
#[derive(Clone, Copy, PartialEq, Message)]
struct Number {
    #[prost(double, optional, tag = "1")]
    value: Option<f64>,
}

/// Histogram.
#[derive(Clone, PartialEq, Message)]
struct Buckets {
    #[prost(uint64, optional, tag = "1")]
    sample_count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    sample_sum: Option<f64>,
    #[prost(message, repeated, tag = "3")]
    bucket: Vec<Bucket>,
    /// The number of buckets per doubling, as a power of two.
    #[prost(sint32, optional, tag = "5")]
    schema: Option<i32>,
    #[prost(double, optional, tag = "6")]
    zero_threshold: Option<f64>,
    #[prost(uint64, optional, tag = "7")]
    zero_count: Option<u64>,
    #[prost(message, repeated, tag = "12")]
    positive_span: Vec<Span>,
    /// Each count as its difference from the previous one.
    #[prost(sint64, repeated, tag = "13")]
    positive_delta: Vec<i64>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Bucket {
    #[prost(uint64, optional, tag = "1")]
    cumulative_count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    upper_bound: Option<f64>,
}

/// Consecutive buckets: their distance from the previous span, and their number.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
struct Span {
    #[prost(sint32, optional, tag = "1")]
    offset: Option<i32>,
    #[prost(uint32, optional, tag = "2")]
    length: Option<u32>,
}

/// A native histogram without data has one empty span, as clients of Prometheus send it.
const NO_SPAN: Span = Span {
    offset: Some(0),
    length: Some(0),
};

/// The families of a snapshot, each preceded by its length.
pub(super) fn page(snapshot: &Snapshot) -> Vec<u8> {
    let families = snapshot.families.iter();
    families
        .flat_map(|family| message(family).encode_length_delimited_to_vec())
        .collect()
}

fn message(family: &Family) -> MetricFamily {
    let metric = |point: &Point| Metric {
        label: point.labels.iter().map(pair).collect(),
        ..value(family.kind, &point.value)
    };
    MetricFamily {
        name: Some(family.sample_name().into_owned()),
        help: Some(family.help.to_owned()),
        kind: Some(match family.kind {
            MetricKind::Counter => 0,
            MetricKind::Gauge | MetricKind::Info => 1,
            MetricKind::Histogram => 4,
        }),
        metric: family.points.iter().map(metric).collect(),
        unit: family.unit.map(|unit: Unit| unit.name().to_owned()),
    }
}

fn pair(label: &Label) -> LabelPair {
    LabelPair {
        name: Some(label.name.to_owned()),
        value: Some(label.value.to_string()),
    }
}

/// A point without its labels.
fn value(kind: MetricKind, value: &Value) -> Metric {
    let number = Number {
        value: Some(value.number()),
    };
    match (kind, value) {
        (_, Value::Distribution(times)) => Metric {
            histogram: Some(buckets(times)),
            ..Metric::default()
        },
        (MetricKind::Counter, _) => Metric {
            counter: Some(number),
            ..Metric::default()
        },
        (MetricKind::Gauge | MetricKind::Info | MetricKind::Histogram, _) => Metric {
            gauge: Some(number),
            ..Metric::default()
        },
    }
}

fn buckets(times: &TimeDistribution) -> Buckets {
    let classic = BOUNDS.iter().zip(times.within);
    let classic = classic.map(|(bound, within)| Bucket {
        cumulative_count: Some(within),
        upper_bound: Some(bound.ns as f64 / 1e9),
    });
    let native = NativeBuckets::from_exponential(&times.exponential);
    Buckets {
        sample_count: Some(times.count),
        sample_sum: Some(times.sum),
        bucket: classic.collect(),
        schema: Some(i32::from(ExponentialHistogram::SCALE)),
        zero_threshold: Some(0.0),
        zero_count: Some(times.exponential.zeros),
        positive_span: native.spans,
        positive_delta: native.deltas,
    }
}

/// ExponentialHistogram buckets as spans and differences.
struct NativeBuckets {
    spans: Vec<Span>,
    deltas: Vec<i64>,
}

impl NativeBuckets {
    fn from_exponential(exponential: &ExponentialHistogram) -> Self {
        let mut native = Self {
            spans: Vec::new(),
            deltas: Vec::new(),
        };
        let (mut next, mut before) = (0, 0);
        for bucket in &exponential.buckets {
            match native.spans.last_mut() {
                Some(span) if bucket.index == next => {
                    span.length = span.length.map(|length| length + 1);
                }
                _ => native.spans.push(Span {
                    offset: Some(bucket.index - next),
                    length: Some(1),
                }),
            }
            let count = i64::try_from(bucket.count).unwrap_or(i64::MAX);
            native.deltas.push(count - before);
            (next, before) = (bucket.index + 1, count);
        }
        if native.spans.is_empty() {
            native.spans.push(NO_SPAN);
        }
        native
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ExponentialBucket;

    #[test]
    fn buckets_in_a_row_are_a_span() {
        let bucket = |(index, count)| ExponentialBucket { index, count };
        let of = |buckets: &[(i32, u64)]| {
            let native = NativeBuckets::from_exponential(&ExponentialHistogram {
                zeros: 0,
                buckets: buckets.iter().copied().map(bucket).collect(),
            });
            let spans = native.spans.iter();
            let spans: Vec<_> = spans.map(|span| (span.offset(), span.length())).collect();
            (spans, native.deltas)
        };
        assert_eq!(of(&[]), (vec![(0, 0)], vec![]));
        let (spans, deltas) = of(&[(-5, 2), (-4, 7), (-1, 7), (0, 1), (3, 4)]);
        assert_eq!(spans, [(-5, 2), (2, 2), (2, 1)]);
        assert_eq!(deltas, [2, 5, 0, -6, 3]);
    }
}
