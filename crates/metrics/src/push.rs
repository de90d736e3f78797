//! The forms in which snapshots are sent to a receiver.

mod influx;
mod otlp;
mod remote_write;

use crate::{Label, Snapshot};

/// A form in which snapshots are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Push {
    /// Prometheus' remote write, version 1: protobuf, compressed by Snappy.
    RemoteWrite,
    /// InfluxDB's line protocol.
    Influx,
    /// OpenTelemetry's protocol: protobuf over HTTP.
    Otlp,
}

impl Push {
    /// The header fields that say what is sent, each with its CRLF.
    #[must_use]
    pub const fn fields(self) -> &'static str {
        match self {
            Self::RemoteWrite => {
                "Content-Type: application/x-protobuf\r\nContent-Encoding: snappy\r\n\
                 X-Prometheus-Remote-Write-Version: 0.1.0\r\n"
            }
            Self::Influx => "Content-Type: text/plain; charset=utf-8\r\n",
            Self::Otlp => "Content-Type: application/x-protobuf\r\n",
        }
    }

    /// Path and query to send to, where the user's URL has these.
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
            // `http://host:8086/loads` names a database, as k6 has it.
            (Self::Influx, path) if !path.ends_with("/write") && !path[1..].contains('/') => {
                let further = if query.is_empty() { "" } else { "&" };
                format!("/write?db={}{further}{query}", &path[1..])
            }
            _ => given.to_owned(),
        }
    }

    /// The snapshots, the oldest first, as one request's content.
    ///
    /// # Errors
    /// When they are too large for one request.
    pub fn print(self, snapshots: &[&Snapshot]) -> Result<Vec<u8>, String> {
        match self {
            Self::RemoteWrite => remote_write::request(snapshots),
            Self::Influx => Ok(influx::lines(snapshots).into_bytes()),
            Self::Otlp => Ok(otlp::request(snapshots)),
        }
    }
}

impl Push {
    /// The part of a request that a receiver left out though it answered with success, in its words.
    #[must_use]
    pub fn left_out(self, answer: &[u8]) -> Option<String> {
        match self {
            Self::RemoteWrite | Self::Influx => None,
            Self::Otlp => otlp::left_out(answer),
        }
    }
}

/// The name of the job, where scraped metrics have it from their scraper.
const JOB: &str = "drumfire";

/// The label that distinguishes the metrics of one run from those of others, which a page has from
/// its scraper.
fn run_label(snapshot: &Snapshot) -> Label {
    Label::new("run", &snapshot.run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Distribution, Family, MetricKind, Point, Unit, Value};
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
        let times = Value::Distribution(Box::new(Distribution::of(&times)));
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
            run: "r1".to_owned(),
            families: vec![
                Family::new(
                    "drumfire_requests",
                    "Requests.",
                    MetricKind::Counter,
                    counted,
                ),
                share.of(Unit::Ratio),
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
                .of(Unit::Seconds),
            ],
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
