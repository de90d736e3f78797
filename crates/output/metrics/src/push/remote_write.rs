//! Prometheus' remote write, version 1 (prometheus.io/docs/specs/prw/remote_write_spec): a protobuf
//! message in Snappy's block format.

use super::{END_BEHIND_NS, JOB, Series, run_label};
use crate::scalar::each;
use crate::{MetricKind, Snapshot, Unit};
use prost::Message;
use std::collections::BTreeMap;

/// prometheus.WriteRequest.
#[derive(Clone, PartialEq, Message)]
struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    timeseries: Vec<TimeSeries>,
    #[prost(message, repeated, tag = "3")]
    metadata: Vec<Metadata>,
}

/// prometheus.TimeSeries.
#[derive(Clone, PartialEq, Message)]
struct TimeSeries {
    #[prost(message, repeated, tag = "1")]
    labels: Vec<RemoteLabel>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<TimedValue>,
}

/// prometheus.Label.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Message)]
struct RemoteLabel {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

/// prometheus.Sample, with its time in milliseconds since 1970.
#[derive(Clone, Copy, PartialEq, Message)]
struct TimedValue {
    #[prost(double, tag = "1")]
    value: f64,
    #[prost(int64, tag = "2")]
    timestamp: i64,
}

/// prometheus.MetricMetadata.
#[derive(Clone, PartialEq, Message)]
struct Metadata {
    /// COUNTER = 1, GAUGE = 2, HISTOGRAM = 3, INFO = 6.
    #[prost(int32, tag = "1")]
    kind: i32,
    #[prost(string, tag = "2")]
    family: String,
    #[prost(string, tag = "4")]
    help: String,
    #[prost(string, tag = "5")]
    unit: String,
}

fn pair(name: &str, value: &str) -> RemoteLabel {
    RemoteLabel {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

/// The value of a stale marker, a special NaN: the series has ended ("Samples" in the
/// specification). Without a marker, a series continues for five minutes after its last sample.
const STALE: u64 = 0x7ff0_0000_0000_0002;

/// The snapshots as one request. As the protocol requires, each series has its samples in order of
/// time, and its labels in order of their names.
pub(super) fn request(snapshots: &[&Snapshot], series: Series) -> Result<Vec<u8>, String> {
    let message = message(snapshots, series).encode_to_vec();
    let mut encoder = snap::raw::Encoder::new();
    encoder
        .compress_vec(&message)
        .map_err(|error| error.to_string())
}

fn message(snapshots: &[&Snapshot], series: Series) -> WriteRequest {
    let mut all: BTreeMap<Vec<RemoteLabel>, Vec<TimedValue>> = BTreeMap::new();
    for snapshot in snapshots {
        let run = run_label(snapshot);
        let timestamp = milliseconds(snapshot.at_unix_ns);
        for family in &snapshot.families {
            each(family, &mut |scalar| {
                let mut labels = vec![
                    pair("__name__", scalar.name),
                    pair("job", JOB),
                    pair(run.name, &run.value),
                ];
                let own = scalar.labels.iter().filter(|label| label.name != run.name);
                labels.extend(own.map(|label| pair(label.name, &label.value)));
                labels.extend(scalar.le.map(|le| pair("le", le)));
                labels.sort();
                let value = scalar.value.number();
                all.entry(labels)
                    .or_default()
                    .push(TimedValue { value, timestamp });
            });
        }
    }
    let end = snapshots.last().filter(|_| series == Series::End);
    let end = end.map(|last| TimedValue {
        value: f64::from_bits(STALE),
        timestamp: milliseconds(last.at_unix_ns.saturating_add(END_BEHIND_NS)),
    });
    let series = |(labels, mut samples): (_, Vec<TimedValue>)| {
        samples.extend(end);
        TimeSeries { labels, samples }
    };
    WriteRequest {
        timeseries: all.into_iter().map(series).collect(),
        metadata: snapshots
            .last()
            .map_or_else(Vec::new, |last| metadata(last)),
    }
}

fn milliseconds(ns: u64) -> i64 {
    i64::try_from(ns / 1_000_000).unwrap_or(i64::MAX)
}

fn metadata(snapshot: &Snapshot) -> Vec<Metadata> {
    let families = snapshot.families.iter();
    families
        .map(|family| Metadata {
            kind: match family.kind {
                MetricKind::Counter => 1,
                MetricKind::Gauge => 2,
                MetricKind::Histogram => 3,
                MetricKind::Info => 6,
            },
            family: family.sample_name().into_owned(),
            help: family.help.to_owned(),
            unit: family.unit.map_or("", Unit::name).to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::snapshot;
    use super::*;

    fn sent(snapshots: &[&Snapshot], series: Series) -> WriteRequest {
        let bytes = request(snapshots, series).unwrap();
        let bytes = snap::raw::Decoder::new().decompress_vec(&bytes).unwrap();
        WriteRequest::decode(&*bytes).unwrap()
    }

    #[test]
    fn every_series_of_a_run_that_is_over_ends() {
        let message = sent(&[&snapshot(7, 2), &snapshot(8, 3)], Series::End);
        assert!(message.timeseries.len() > 20);
        for series in &message.timeseries {
            let [_, last, end] = &series.samples[..] else {
                panic!("{series:?}");
            };
            assert_eq!((last.timestamp, end.timestamp), (8_000, 9_000));
            assert!(!last.value.is_nan());
            assert_eq!(end.value.to_bits(), STALE);
        }
    }

    #[test]
    fn a_series_has_its_samples_in_order() {
        let message = sent(&[&snapshot(7, 2), &snapshot(8, 3)], Series::GoOn);
        let labels = |series: &TimeSeries| {
            let labels = series.labels.iter();
            labels
                .map(|pair| format!("{}={}", pair.name, pair.value))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let requests = message.timeseries.iter().find(|series| {
            labels(series)
                == "__name__=drumfire_requests_total job=drumfire pool=a b,c=\"d\"\\ run=r1"
        });
        let samples = &requests.expect("the requests").samples;
        let samples: Vec<(i64, f64)> = samples.iter().map(|s| (s.timestamp, s.value)).collect();
        assert_eq!(samples, [(7_000, 2.0), (8_000, 3.0)]);
        for series in &message.timeseries {
            assert!(
                series
                    .labels
                    .windows(2)
                    .all(|two| two[0].name < two[1].name)
            );
        }
        assert_eq!(message.metadata.len(), 4);
        assert_eq!(message.metadata[0].family, "drumfire_requests_total");
    }
}
