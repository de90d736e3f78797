//! OpenTelemetry's protocol (opentelemetry-proto, metrics/v1): the messages of it that are needed.
//!
//! Names follow its conventions: they contain dots, and the unit is separate. A receiver that
//! converts names to Prometheus names gets the names on our page.

use super::{END_BEHIND_NS, Series};
use crate::{BOUNDS, Family, Label, MetricKind, Snapshot, TimeDistribution, Unit, Value};
use prost::{Message, Oneof};

/// opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest.
#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(message, repeated, tag = "1")]
    resource_metrics: Vec<ResourceMetrics>,
}

/// opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceResponse.
#[derive(Clone, PartialEq, Message)]
struct Response {
    #[prost(message, optional, tag = "1")]
    partial_success: Option<PartialSuccess>,
}

#[derive(Clone, PartialEq, Message)]
struct PartialSuccess {
    #[prost(int64, tag = "1")]
    rejected_data_points: i64,
    #[prost(string, tag = "2")]
    error_message: String,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceMetrics {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_metrics: Vec<ScopeMetrics>,
}

#[derive(Clone, PartialEq, Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<OtlpAttribute>,
}

#[derive(Clone, PartialEq, Message)]
struct OtlpAttribute {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    #[prost(oneof = "AnyKind", tags = "1")]
    value: Option<AnyKind>,
}

#[derive(Clone, PartialEq, Oneof)]
enum AnyKind {
    #[prost(string, tag = "1")]
    Text(String),
}

#[derive(Clone, PartialEq, Message)]
struct ScopeMetrics {
    #[prost(message, optional, tag = "1")]
    scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    metrics: Vec<Metric>,
}

#[derive(Clone, PartialEq, Message)]
struct Scope {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    version: String,
}

#[derive(Clone, PartialEq, Message)]
struct Metric {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    description: String,
    #[prost(string, tag = "3")]
    unit: String,
    #[prost(oneof = "Data", tags = "5, 7, 9")]
    data: Option<Data>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Data {
    #[prost(message, tag = "5")]
    Gauge(Gauge),
    #[prost(message, tag = "7")]
    Sum(Sum),
    #[prost(message, tag = "9")]
    Histogram(Buckets),
}

#[derive(Clone, PartialEq, Message)]
struct Gauge {
    #[prost(message, repeated, tag = "1")]
    data_points: Vec<NumberPoint>,
}

#[derive(Clone, PartialEq, Message)]
struct Sum {
    #[prost(message, repeated, tag = "1")]
    data_points: Vec<NumberPoint>,
    #[prost(int32, tag = "2")]
    aggregation_temporality: i32,
    #[prost(bool, tag = "3")]
    is_monotonic: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Buckets {
    #[prost(message, repeated, tag = "1")]
    data_points: Vec<BucketsPoint>,
    #[prost(int32, tag = "2")]
    aggregation_temporality: i32,
}

#[derive(Clone, PartialEq, Message)]
struct NumberPoint {
    #[prost(fixed64, tag = "2")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "3")]
    time_unix_nano: u64,
    #[prost(message, repeated, tag = "7")]
    attributes: Vec<OtlpAttribute>,
    #[prost(uint32, tag = "8")]
    flags: u32,
    #[prost(oneof = "Number", tags = "4, 6")]
    value: Option<Number>,
}

#[derive(Clone, Copy, PartialEq, Oneof)]
enum Number {
    #[prost(double, tag = "4")]
    Double(f64),
    #[prost(sfixed64, tag = "6")]
    Int(i64),
}

#[derive(Clone, PartialEq, Message)]
struct BucketsPoint {
    #[prost(fixed64, tag = "2")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "3")]
    time_unix_nano: u64,
    #[prost(fixed64, tag = "4")]
    count: u64,
    #[prost(double, optional, tag = "5")]
    sum: Option<f64>,
    #[prost(fixed64, repeated, tag = "6")]
    bucket_counts: Vec<u64>,
    #[prost(double, repeated, tag = "7")]
    explicit_bounds: Vec<f64>,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<OtlpAttribute>,
    #[prost(uint32, tag = "10")]
    flags: u32,
}

/// AGGREGATION_TEMPORALITY_CUMULATIVE: counted from the start.
const CUMULATIVE: i32 = 2;
/// DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK: the series has ended.
const ENDED: u32 = 1;

/// The snapshots as one request. Each metric occurs once, with its points in all snapshots. If the
/// run is over, one more point without a value follows.
pub(super) fn request(snapshots: &[&Snapshot], series: Series) -> Vec<u8> {
    let mut metrics: Vec<Metric> = Vec::new();
    for snapshot in snapshots {
        for family in &snapshot.families {
            let own = metric(family, snapshot);
            match metrics.iter_mut().find(|metric| metric.name == own.name) {
                Some(metric) => metric.append(own),
                None => metrics.push(own),
            }
        }
    }
    if series == Series::End {
        metrics.iter_mut().for_each(Metric::push_end);
    }
    let (run, version) = snapshots
        .last()
        .map_or(("", ""), |last| (&*last.run, &*last.version));
    let resource = Resource {
        attributes: vec![
            attribute("job", super::JOB),
            attribute("service.name", super::JOB),
            attribute("service.version", version),
            attribute("service.instance.id", run),
            attribute("run", run),
        ],
    };
    let scope = Scope {
        name: super::JOB.to_owned(),
        version: version.to_owned(),
    };
    Request {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(resource),
            scope_metrics: vec![ScopeMetrics {
                scope: Some(scope),
                metrics,
            }],
        }],
    }
    .encode_to_vec()
}

fn attribute(key: &str, value: &str) -> OtlpAttribute {
    OtlpAttribute {
        key: key.to_owned(),
        value: Some(AnyValue {
            value: Some(AnyKind::Text(value.to_owned())),
        }),
    }
}

fn attributes(labels: &[Label]) -> Vec<OtlpAttribute> {
    let labels = labels.iter();
    labels
        .map(|label| attribute(label.name, &label.value))
        .collect()
}

impl Metric {
    /// Adds the points of a later snapshot.
    fn append(&mut self, later: Self) {
        match (&mut self.data, later.data) {
            (Some(Data::Gauge(mine)), Some(Data::Gauge(theirs))) => {
                mine.data_points.extend(theirs.data_points);
            }
            (Some(Data::Sum(mine)), Some(Data::Sum(theirs))) => {
                mine.data_points.extend(theirs.data_points);
            }
            (Some(Data::Histogram(mine)), Some(Data::Histogram(theirs))) => {
                mine.data_points.extend(theirs.data_points);
            }
            _ => debug_assert!(false, "a metric is of one kind"),
        }
    }

    /// Adds a point without a value after the newest ones.
    fn push_end(&mut self) {
        match &mut self.data {
            Some(Data::Gauge(Gauge { data_points }) | Data::Sum(Sum { data_points, .. })) => {
                let newest = data_points.iter().map(|point| point.time_unix_nano).max();
                let last = |point: &&NumberPoint| Some(point.time_unix_nano) == newest;
                let last = data_points.iter().filter(last);
                let ends: Vec<NumberPoint> = last.map(NumberPoint::end_point).collect();
                data_points.extend(ends);
            }
            Some(Data::Histogram(Buckets { data_points, .. })) => {
                let newest = data_points.iter().map(|point| point.time_unix_nano).max();
                let last = |point: &&BucketsPoint| Some(point.time_unix_nano) == newest;
                let last = data_points.iter().filter(last);
                let ends: Vec<BucketsPoint> = last.map(BucketsPoint::end_point).collect();
                data_points.extend(ends);
            }
            None => {}
        }
    }
}

impl NumberPoint {
    /// The end of its series.
    fn end_point(&self) -> Self {
        Self {
            time_unix_nano: self.time_unix_nano.saturating_add(END_BEHIND_NS),
            flags: ENDED,
            value: None,
            ..self.clone()
        }
    }
}

impl BucketsPoint {
    /// The end of its series. Receivers make one series of each bucket, so the bounds are kept.
    fn end_point(&self) -> Self {
        Self {
            time_unix_nano: self.time_unix_nano.saturating_add(END_BEHIND_NS),
            flags: ENDED,
            count: 0,
            sum: None,
            bucket_counts: vec![0; self.bucket_counts.len()],
            ..self.clone()
        }
    }
}

/// A metric with its points in one snapshot.
fn metric(family: &Family, snapshot: &Snapshot) -> Metric {
    let numbers = || {
        let points = family.points.iter().map(|point| NumberPoint {
            start_time_unix_nano: snapshot.started_at_unix_ns,
            time_unix_nano: snapshot.at_unix_ns,
            attributes: attributes(&point.labels),
            flags: 0,
            value: Some(match &point.value {
                Value::Count(count) => Number::Int(i64::try_from(*count).unwrap_or(i64::MAX)),
                value => Number::Double(value.number()),
            }),
        });
        points.collect()
    };
    let data = match family.kind {
        MetricKind::Gauge | MetricKind::Info => Data::Gauge(Gauge {
            data_points: numbers(),
        }),
        MetricKind::Counter => Data::Sum(Sum {
            data_points: numbers(),
            aggregation_temporality: CUMULATIVE,
            is_monotonic: true,
        }),
        MetricKind::Histogram => Data::Histogram(Buckets {
            data_points: distributions(family, snapshot),
            aggregation_temporality: CUMULATIVE,
        }),
    };
    let (name, unit) = name_and_unit(family);
    Metric {
        name,
        description: family.help.to_owned(),
        unit: unit.to_owned(),
        data: Some(data),
    }
}

/// The points of a distribution.
fn distributions(family: &Family, snapshot: &Snapshot) -> Vec<BucketsPoint> {
    let points = family.points.iter();
    let times = points.filter_map(|point| match &point.value {
        Value::Distribution(times) => Some((point, times)),
        Value::Count(_) | Value::Number(_) => None,
    });
    times
        .map(|(point, times)| BucketsPoint {
            start_time_unix_nano: snapshot.started_at_unix_ns,
            time_unix_nano: snapshot.at_unix_ns,
            count: times.count,
            sum: Some(times.sum),
            bucket_counts: each_alone(times),
            explicit_bounds: BOUNDS.map(|bound| bound.ns as f64 / 1e9).to_vec(),
            attributes: attributes(&point.labels),
            flags: 0,
        })
        .collect()
}

/// The counts of the buckets, not cumulative.
fn each_alone(times: &TimeDistribution) -> Vec<u64> {
    let ends = times.within.iter().chain(std::iter::once(&times.count));
    let mut before = 0;
    ends.map(|end| end - std::mem::replace(&mut before, *end))
        .collect()
}

/// Converts `drumfire_sent_bytes` to `drumfire.sent` in `By`.
fn name_and_unit(family: &Family) -> (String, &'static str) {
    let unit = match family.unit {
        Some(Unit::Seconds) => "s",
        Some(Unit::Bytes) => "By",
        Some(Unit::Ratio) => "1",
        None => "",
    };
    let suffix = family.unit.map_or("", Unit::name);
    let name = match family.kind {
        MetricKind::Info => family.sample_name().into_owned(),
        _ => family.name.trim_end_matches(suffix).to_owned(),
    };
    let name = name.trim_end_matches('_');
    (name.replacen('_', ".", 1), unit)
}

/// The part of a request that a receiver left out although it accepted the rest. A message about
/// zero omitted points is only advice.
pub(super) fn left_out(answer: &[u8]) -> Option<String> {
    let partial = Response::decode(answer).ok()?.partial_success?;
    let PartialSuccess {
        rejected_data_points: count,
        error_message,
    } = partial;
    (count > 0).then(|| format!("{count} points rejected: {error_message}"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::snapshot;
    use super::*;

    #[test]
    fn every_series_of_a_run_that_is_over_ends() {
        let snapshots = [&snapshot(7, 2), &snapshot(8, 3)];
        let sent = Request::decode(&*request(&snapshots, Series::End)).unwrap();
        let scope = &sent.resource_metrics[0].scope_metrics[0];
        assert_eq!(scope.scope.as_ref().unwrap().version, "1.2.3");
        for metric in &scope.metrics {
            let ends: Vec<(u64, u32)> = match metric.data.as_ref().unwrap() {
                Data::Gauge(Gauge { data_points }) | Data::Sum(Sum { data_points, .. }) => {
                    let points = data_points.iter();
                    points.map(|p| (p.time_unix_nano, p.flags)).collect()
                }
                Data::Histogram(Buckets { data_points, .. }) => {
                    let points = data_points.iter();
                    points.map(|p| (p.time_unix_nano, p.flags)).collect()
                }
            };
            let ends: Vec<_> = ends
                .iter()
                .map(|(ns, flags)| (ns / 1_000_000_000, *flags))
                .collect();
            assert_eq!(ends, [(7, 0), (8, 0), (9, ENDED)], "{}", metric.name);
        }
    }

    #[test]
    fn what_a_receiver_leaves_out_is_told() {
        let answer = |rejected_data_points, error_message: &str| {
            let partial_success = Some(PartialSuccess {
                rejected_data_points,
                error_message: error_message.to_owned(),
            });
            Response { partial_success }.encode_to_vec()
        };
        let told = left_out(&answer(300, "too old"));
        assert_eq!(told.as_deref(), Some("300 points rejected: too old"));
        for answer in [answer(0, "use gzip"), vec![], b"{}".to_vec(), vec![0xff; 9]] {
            assert_eq!(left_out(&answer), None, "{answer:?}");
        }
    }
}
