//! What k6 v2.2 printed for the scripts of `tests/golden`: rows of samples, with the summary of the same run.

use drumfire_units::Nanos;
use serde_json::Value;

use crate::metric::Kind;
use crate::metrics::{Contains, Detail, Registry, Sample, Tags};
use crate::options::{Layer, Options};

/// A run of k6: its metrics as the rows tell them, and its duration in seconds.
pub(crate) struct Run {
    pub(crate) registry: Registry,
    pub(crate) seconds: f64,
}

/// A row of `--out json`.
pub(crate) struct Row {
    pub(crate) metric: String,
    pub(crate) time: Nanos,
    pub(crate) value: f64,
    pub(crate) tags: Tags,
    pub(crate) metadata: Tags,
}

impl Run {
    /// A run from its rows and the thresholds of its script.
    pub(crate) fn read(rows: &str, thresholds: &str, detail: Detail, seconds: f64) -> Self {
        let mut registry = registry(rows, thresholds, detail);
        for row in points(rows) {
            registry.add(&row.sample(&registry.clone()));
        }
        Self { registry, seconds }
    }
}

impl Row {
    pub(crate) fn sample(&self, registry: &Registry) -> Sample<'_> {
        Sample {
            metric: registry.id(&self.metric).expect("a metric"),
            time: self.time,
            value: self.value,
            tags: &self.tags,
            metadata: &self.metadata,
        }
    }
}

/// The metrics of a run before its first sample.
pub(crate) fn registry(rows: &str, thresholds: &str, detail: Detail) -> Registry {
    let mut registry = Registry::new(detail);
    for row in json_lines(rows).filter(|row| row["type"] == "Metric") {
        let kind = match row["data"]["type"].as_str() {
            Some("counter") => Kind::Counter,
            Some("gauge") => Kind::Gauge,
            Some("rate") => Kind::Rate,
            _ => Kind::Trend,
        };
        let contains = match row["data"]["contains"].as_str() {
            Some("time") => Contains::Time,
            Some("data") => Contains::Data,
            _ => Contains::Default,
        };
        let name = row["metric"].as_str().expect("a name");
        registry.declare(name, kind, contains).expect("a metric");
    }
    let options = serde_json::json!({ "thresholds": serde_json::from_str::<Value>(thresholds).expect("JSON") });
    let Value::Object(options) = options else {
        unreachable!("an object was made")
    };
    let options = Options::consolidate(&[(Layer::Script, options)]).expect("options");
    registry.judge_by(&options.thresholds).expect("thresholds");
    registry
}

/// The samples.
pub(crate) fn points(rows: &str) -> impl Iterator<Item = Row> + '_ {
    json_lines(rows)
        .filter(|row| row["type"] == "Point")
        .map(|row| {
            let data = &row["data"];
            let time: jiff::Timestamp = data["time"]
                .as_str()
                .expect("a time")
                .parse()
                .expect("a time");
            Row {
                metric: row["metric"].as_str().expect("a name").to_owned(),
                time: Nanos(u64::try_from(time.as_nanosecond()).expect("a time after 1970")),
                value: data["value"].as_f64().expect("a value"),
                tags: tags(&data["tags"]),
                metadata: tags(&data["metadata"]),
            }
        })
}

fn tags(value: &Value) -> Tags {
    let Value::Object(map) = value else {
        return Tags::default();
    };
    map.iter()
        .map(|(name, value)| (name.as_str(), value.as_str().expect("a text")))
        .collect()
}

fn json_lines(text: &str) -> impl Iterator<Item = Value> + '_ {
    text.lines()
        .map(|line| serde_json::from_str(line).expect(line))
}

/// The duration of a run in seconds, from a counter and its rate in the run's own results.
pub(crate) fn seconds(export: &Value) -> f64 {
    let iterations = &export["metrics"]["iterations"];
    let values = iterations.get("values").unwrap_or(iterations);
    values["count"].as_f64().expect("a count") / values["rate"].as_f64().expect("a rate")
}
