//! The formats in which snapshots are sent to a receiver.

mod influx;
mod otlp;
mod remote_write;

use crate::{Label, Snapshot};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;

/// The time from the last snapshot of a run to the end of its series, in nanoseconds.
const END_BEHIND_NS: u64 = 1_000_000_000;

/// A format in which snapshots are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Push {
    /// Prometheus' remote write, version 1: protobuf, compressed by Snappy.
    RemoteWrite,
    /// InfluxDB's line protocol.
    Influx,
    /// OpenTelemetry's protocol: protobuf over HTTP.
    Otlp,
}

/// What follows the newest snapshot of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Series {
    /// Further snapshots.
    GoOn,
    /// Nothing: the snapshot is the last one of its run, whose series end a second later.
    End,
}

/// The content coding of a request, if the format leaves the choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// By gzip.
    Gzip,
    /// None, for a receiver that supports no coding.
    Identity,
}

/// A request to a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushRequest {
    /// The header fields that describe the content.
    pub fields: Vec<(&'static str, &'static str)>,
    /// The content.
    pub content: Vec<u8>,
}

impl Push {
    /// The path and query of the request; `given` is their value in the user's URL.
    #[must_use]
    pub fn target(self, given: &str) -> String {
        let (path, query) = given.split_once('?').unwrap_or((given, ""));
        let with = |path: &str| match query {
            "" => path.to_owned(),
            query => format!("{path}?{query}"),
        };
        match (self, path) {
            (Self::RemoteWrite, "/") => with("/api/v1/write"),
            (Self::Otlp, "/") => with("/v1/metrics"),
            (Self::Influx, "/") => with("/write"),
            // `http://host:8086/loads` contains the name of a database, as in k6.
            (Self::Influx, path) if !path.ends_with("/write") && !path[1..].contains('/') => {
                let further = if query.is_empty() { "" } else { "&" };
                format!("/write?db={}{further}{query}", &path[1..])
            }
            _ => given.to_owned(),
        }
    }

    /// The snapshots, oldest first, as one request.
    ///
    /// # Errors
    /// If the snapshots are too large for one request.
    pub fn request(
        self,
        snapshots: &[&Snapshot],
        series: Series,
        coding: Coding,
    ) -> Result<PushRequest, String> {
        const PROTOBUF: (&str, &str) = ("Content-Type", "application/x-protobuf");
        const LINES: (&str, &str) = ("Content-Type", "text/plain; charset=utf-8");
        let (mut fields, content) = match self {
            Self::RemoteWrite => {
                let content = remote_write::request(snapshots, series)?;
                let version = ("X-Prometheus-Remote-Write-Version", "0.1.0");
                let fields = vec![PROTOBUF, ("Content-Encoding", "snappy"), version];
                return Ok(PushRequest { fields, content });
            }
            Self::Influx => (vec![LINES], influx::lines(snapshots).into_bytes()),
            Self::Otlp => (vec![PROTOBUF], otlp::request(snapshots, series)),
        };
        let content = match coding {
            Coding::Identity => content,
            Coding::Gzip => {
                fields.push(("Content-Encoding", "gzip"));
                gzip(&content)?
            }
        };
        Ok(PushRequest { fields, content })
    }

    /// Whether a request with this response status may be accepted when it is sent again.
    ///
    /// Remote write allows repetition only for 429 and 5xx, OTLP for 429, 502, 503 and 504. A
    /// request of lines is also worth another try after a timeout of the receiver.
    #[must_use]
    pub const fn may_be_repeated(self, status: u16) -> bool {
        match self {
            Self::RemoteWrite => matches!(status, 429 | 500..600),
            Self::Influx => matches!(status, 408 | 429 | 500..600),
            Self::Otlp => matches!(status, 429 | 502..=504),
        }
    }

    /// The part of a request that a receiver left out despite a successful response, in its own
    /// words.
    #[must_use]
    pub fn left_out(self, answer: &[u8]) -> Option<String> {
        match self {
            Self::RemoteWrite | Self::Influx => None,
            Self::Otlp => otlp::left_out(answer),
        }
    }
}

fn gzip(content: &[u8]) -> Result<Vec<u8>, String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let written = encoder.write_all(content);
    let written = written.and_then(|()| encoder.finish());
    written.map_err(|error| error.to_string())
}

/// The name of the job; scraped metrics get it from their scraper.
const JOB: &str = "drumfire";

/// The label that distinguishes the metrics of one run from those in other runs; a page gets it
/// from its scraper.
fn run_label(snapshot: &Snapshot) -> Label {
    Label::new("run", &snapshot.run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Family, MetricKind, Point, TimeDistribution, Unit, Value};
    use drumfire_measure::Histogram;
    use drumfire_units::Nanos;

    /// A snapshot with one metric of each kind, at this second since 1970.
    pub(super) fn snapshot(second: u64, count: u64) -> Snapshot {
        let mut times = Histogram::new();
        for _ in 0..count {
            times.record(Nanos(3_000_000));
        }
        let labels = vec![Label::new("pool", "a b,c=\"d\"\\")];
        let point = |value| Point {
            labels: labels.clone(),
            value,
        };
        let times = Value::Distribution(Box::new(TimeDistribution::from_histogram(&times)));
        let counted = vec![point(Value::Count(count))];
        let share = Family::alone(
            "drumfire_busy_ratio",
            "A.",
            MetricKind::Gauge,
            Value::Number(0.5),
        );
        Snapshot {
            at_unix_ns: second * 1_000_000_000,
            started_at_unix_ns: 1_000_000_000,
            elapsed: Nanos(second * 1_000_000_000),
            run: "r1".to_owned(),
            version: "1.2.3".to_owned(),
            families: vec![
                Family::new(
                    "drumfire_requests",
                    "Requests.",
                    MetricKind::Counter,
                    counted,
                ),
                share.with_unit(Unit::Ratio),
                Family::alone(
                    "drumfire_run",
                    "The run.",
                    MetricKind::Info,
                    Value::Count(1),
                ),
                Family::new(
                    "drumfire_x_seconds",
                    "X.",
                    MetricKind::Histogram,
                    vec![point(times)],
                )
                .with_unit(Unit::Seconds),
            ],
        }
    }

    #[test]
    fn lines_and_otlp_may_be_compressed() {
        use std::io::Read as _;
        let snapshots = [&snapshot(7, 2)];
        for push in [Push::Influx, Push::Otlp] {
            let request = |coding| push.request(&snapshots, Series::GoOn, coding).unwrap();
            let (plain, gzip) = (request(Coding::Identity), request(Coding::Gzip));
            let mut content = Vec::new();
            let mut decoder = flate2::read::GzDecoder::new(&*gzip.content);
            decoder.read_to_end(&mut content).unwrap();
            assert_eq!(content, plain.content);
            assert!(gzip.fields.contains(&("Content-Encoding", "gzip")));
            assert!(gzip.content.len() < content.len());
            assert_eq!(plain.fields.len() + 1, gzip.fields.len());
        }
    }

    #[test]
    fn each_form_has_its_own_rule_for_sending_again() {
        use Push::{Influx, Otlp, RemoteWrite};
        for (status, again) in [
            (400, [false; 3]),
            (408, [false, true, false]),
            (413, [false; 3]),
            (429, [true; 3]),
            (500, [true, true, false]),
            (501, [true, true, false]),
            (503, [true; 3]),
            (504, [true; 3]),
            (599, [true, true, false]),
        ] {
            let seen = [RemoteWrite, Influx, Otlp].map(|push| push.may_be_repeated(status));
            assert_eq!(seen, again, "{status}");
        }
    }

    #[test]
    fn a_url_without_a_path_leads_where_receivers_listen() {
        use Push::{Influx, Otlp, RemoteWrite};
        for (push, given, target) in [
            (RemoteWrite, "/", "/api/v1/write"),
            (RemoteWrite, "/api/v1/push", "/api/v1/push"),
            (Otlp, "/?tenant=1", "/v1/metrics?tenant=1"),
            (Otlp, "/otlp/v1/metrics", "/otlp/v1/metrics"),
            (Influx, "/?db=x", "/write?db=x"),
            (Influx, "/loads", "/write?db=loads"),
            (Influx, "/loads?u=me&p=x", "/write?db=loads&u=me&p=x"),
            (Influx, "/write?db=x", "/write?db=x"),
            (
                Influx,
                "/api/v2/write?bucket=b&org=o",
                "/api/v2/write?bucket=b&org=o",
            ),
        ] {
            assert_eq!(push.target(given), target, "{push:?} {given}");
        }
    }
}
