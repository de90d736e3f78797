//! The results of a run as JSON: for `--summary-export`, and for the script's `handleSummary`.

use drumfire_units::Nanos;
use md5::{Digest, Md5};
use serde_json::{Map, Value, json};

use super::{Summary, TrendStat, by_name, is_shown, json_number, suffix};
use crate::metric::{Kind, Sink};
use crate::metrics::{Check, Group, Metric, Part};

/// What the object of `handleSummary` has beside the results.
#[derive(Clone, Debug)]
pub struct Surroundings<'a> {
    /// What `setup` returned, if the script has one.
    pub setup_data: Option<&'a Value>,
    /// Whether the standard output is a terminal.
    pub stdout: Output,
    /// Whether the standard error is a terminal.
    pub stderr: Output,
    /// Whether the user asked for a summary without colours.
    pub no_color: bool,
}

/// Where a stream goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// To a terminal.
    Terminal,
    /// To a file or a program.
    Other,
}

/// What the machine-readable results have beside the results.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The time at which the results are written: nanoseconds since 1970-01-01T00:00:00Z.
    pub written: Nanos,
    /// The version of the program.
    pub version: &'a str,
    /// The text of the script.
    pub script: &'a str,
}

impl Summary<'_> {
    /// The object of `--summary-export`. A threshold is true if it failed.
    #[must_use]
    pub fn export(&self, setup_data: Option<&Value>) -> Value {
        let metrics = self.listed(|name, _, part| {
            let mut values = self.values(&part.sink, "value");
            if !part.rules.is_empty() {
                let failed = self.verdicts(part, |holds| Value::Bool(!holds));
                values.insert("thresholds".to_owned(), failed);
            }
            (name, Value::Object(values))
        });
        let root = group(&self.registry.run().root, "", Form::Objects);
        let mut export = Map::from_iter([
            ("root_group".to_owned(), root),
            (
                "metrics".to_owned(),
                Value::Object(metrics.into_iter().collect()),
            ),
        ]);
        if let Some(data) = setup_data {
            export.insert("setup_data".to_owned(), data.clone());
        }
        Value::Object(export)
    }

    /// The object that `handleSummary` receives.
    #[must_use]
    pub fn data(&self, around: &Surroundings<'_>) -> Value {
        let metrics = self.listed(|name, metric, part| {
            let mut entry = Map::from_iter([
                ("type".to_owned(), metric.kind.word().into()),
                ("contains".to_owned(), metric.contains.word().into()),
                ("values".to_owned(), self.values(&part.sink, "rate").into()),
            ]);
            if !part.rules.is_empty() {
                let verdicts = self.verdicts(part, |holds| json!({ "ok": holds }));
                entry.insert("thresholds".to_owned(), verdicts);
            }
            (name, Value::Object(entry))
        });
        let stats: Vec<String> = self.stats.iter().map(ToString::to_string).collect();
        let mut data = Map::from_iter([
            (
                "root_group".to_owned(),
                group(&self.registry.run().root, "", Form::Lists),
            ),
            (
                "options".to_owned(),
                json!({
                    "summaryTrendStats": stats,
                    "summaryTimeUnit": self.unit.map_or("", |unit| unit.word()),
                    "noColor": around.no_color,
                }),
            ),
            (
                "state".to_owned(),
                json!({
                    "isStdOutTTY": around.stdout == Output::Terminal,
                    "isStdErrTTY": around.stderr == Output::Terminal,
                    "testRunDurationMs": json_number(self.seconds * 1000.0),
                }),
            ),
            (
                "metrics".to_owned(),
                Value::Object(metrics.into_iter().collect()),
            ),
        ]);
        if let Some(value) = around.setup_data {
            data.insert("setup_data".to_owned(), value.clone());
        }
        Value::Object(data)
    }

    /// The object of `--new-machine-readable-summary`.
    #[must_use]
    pub fn machine_readable(&self, origin: &Origin<'_>) -> Value {
        let metrics = self.listed(|name, metric, part| {
            let values = self.machine_values(&part.sink);
            (
                name.clone(),
                machine_metric(&name, metric.kind, metric.contains.word(), values),
            )
        });
        let metrics: Vec<Value> = metrics
            .into_iter()
            .filter(|(name, _)| self.is_machine_readable(name))
            .map(|(_, metric)| metric)
            .collect();
        let mut results = json!({ "metrics": metrics });
        let checks = &self.registry.run().checks;
        if !checks.is_empty() {
            results["checks"] = self.machine_checks(checks);
        }
        json!({
            "version": "1.0.0",
            "metadata": { "generated_at": time(origin.written), "k6_version": origin.version },
            "config": { "duration": json_number(self.seconds), "execution": "local", "script": origin.script },
            "results": results,
        })
    }

    /// Whether the machine-readable results have a metric: those that the text shows.
    fn is_machine_readable(&self, name: &str) -> bool {
        let name = name.split('{').next().unwrap_or(name);
        is_shown(name, self.mode)
    }

    fn machine_checks(&self, checks: &[Check]) -> Value {
        let passes: u64 = checks.iter().map(|check| check.passes).sum();
        let fails: u64 = checks.iter().map(|check| check.fails).sum();
        let total = passes + fails;
        let rate = |passes| self.machine_values(&Sink::Rate { passes, total });
        let rows: Vec<Value> = checks
            .iter()
            .map(
                |check| json!({ "name": check.name, "passes": check.passes, "fails": check.fails }),
            )
            .collect();
        json!({
            "metrics": [
                machine_metric("checks_total", Kind::Counter, "default", self.machine_values(&Sink::Counter(total as f64))),
                machine_metric("checks_succeeded", Kind::Rate, "default", rate(passes)),
                machine_metric("checks_failed", Kind::Rate, "default", rate(fails)),
            ],
            "results": rows,
        })
    }

    /// An entry for each metric and each part that is shown.
    fn listed<T>(&self, entry: impl Fn(String, &Metric, &Part) -> T) -> Vec<T> {
        let mut metrics: Vec<&Metric> = self.registry.metrics().collect();
        metrics.sort_by(|one, other| by_name(&one.name, &other.name));
        let mut list = Vec::new();
        for metric in metrics {
            if metric.total.is_shown {
                list.push(entry(metric.name.clone(), metric, &metric.total));
            }
            for (selection, part) in &metric.parts {
                if part.is_shown {
                    let name = format!("{}{{{}}}", metric.name, suffix(selection));
                    list.push(entry(name, metric, part));
                }
            }
        }
        list
    }

    fn verdicts(&self, part: &Part, verdict: impl Fn(bool) -> Value) -> Value {
        let rules = part.rules.iter().map(|rule| {
            let holds = rule.threshold.holds(&part.sink, self.seconds);
            (rule.threshold.text.clone(), verdict(holds))
        });
        Value::Object(rules.collect())
    }

    /// The values of a metric. The share of a rate has the name that is given.
    fn values(&self, sink: &Sink, share_name: &str) -> Map<String, Value> {
        let pairs: Vec<(String, f64)> = match sink {
            Sink::Counter(sum) => {
                let rate = if self.seconds > 0.0 {
                    sum / self.seconds
                } else {
                    0.0
                };
                vec![("count".to_owned(), *sum), ("rate".to_owned(), rate)]
            }
            Sink::Gauge { last, min, max, .. } => vec![
                ("value".to_owned(), *last),
                ("min".to_owned(), *min),
                ("max".to_owned(), *max),
            ],
            Sink::Rate { passes, total } => {
                vec![
                    (share_name.to_owned(), share(*passes, *total)),
                    ("passes".to_owned(), *passes as f64),
                    ("fails".to_owned(), (total - passes) as f64),
                ]
            }
            Sink::Trend(values) => self
                .stats
                .iter()
                .map(|stat| (stat.to_string(), stat.value(values)))
                .collect(),
        };
        numbers(pairs)
    }

    fn machine_values(&self, sink: &Sink) -> Map<String, Value> {
        match sink {
            Sink::Counter(sum) => numbers([("count".to_owned(), *sum)]),
            Sink::Rate { passes, total } => numbers([
                ("matches".to_owned(), *passes as f64),
                ("total".to_owned(), *total as f64),
                ("rate".to_owned(), share(*passes, *total)),
            ]),
            Sink::Trend(values) => {
                // These results have the same figures, whatever the user wants to see; those that the
                // user does not want are null.
                let defaults = TrendStat::defaults().into_iter();
                let figures = defaults.map(|stat| {
                    let is_wanted = self.stats.contains(&stat);
                    let value = if is_wanted {
                        json_number(stat.value(values))
                    } else {
                        Value::Null
                    };
                    (stat.plain_name(), value)
                });
                figures.collect()
            }
            Sink::Gauge { .. } => self.values(sink, "rate"),
        }
    }
}

fn machine_metric(name: &str, kind: Kind, contains: &str, values: Map<String, Value>) -> Value {
    json!({ "name": name, "type": kind.word(), "contains": contains, "values": values })
}

fn numbers(pairs: impl IntoIterator<Item = (String, f64)>) -> Map<String, Value> {
    pairs
        .into_iter()
        .map(|(name, value)| (name, json_number(value)))
        .collect()
}

fn share(part: u64, total: u64) -> f64 {
    if total == 0 {
        0.0
    } else {
        part as f64 / total as f64
    }
}

/// How groups and checks are collected.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Objects by name.
    Objects,
    /// Lists.
    Lists,
}

impl Form {
    fn collect(self, list: Vec<(String, Value)>) -> Value {
        match self {
            Self::Objects => Value::Object(list.into_iter().collect()),
            Self::Lists => list.into_iter().map(|(_, value)| value).collect(),
        }
    }
}

/// A group with its checks and groups.
fn group(group: &Group, path: &str, form: Form) -> Value {
    let checks = group.checks.iter().map(|check| {
        let path = format!("{path}::{}", check.name);
        let entry = json!({
            "name": check.name, "id": id(&path), "path": path, "passes": check.passes, "fails": check.fails,
        });
        (check.name.clone(), entry)
    });
    let groups = group.groups.iter().map(|inner| {
        let path = format!("{path}::{}", inner.name);
        (inner.name.clone(), self::group(inner, &path, form))
    });
    json!({
        "name": group.name,
        "path": path,
        "id": id(path),
        "groups": form.collect(groups.collect()),
        "checks": form.collect(checks.collect()),
    })
}

/// The MD5 digest of a path, in hexadecimal digits.
fn id(path: &str) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    for byte in Md5::digest(path.as_bytes()) {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// A time of RFC 3339 with as many digits as it has.
pub(crate) fn time(since_1970: Nanos) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(since_1970.0))
        .map_or_else(|_| since_1970.0.to_string(), |time| time.to_string())
}

#[cfg(test)]
mod tests;
