//! `k6 inspect`: the options of a script as JSON, with null for each that is not set.

use drumfire_units::Nanos;
use serde_json::{Map, Value};

/// The options in the order of the output.
const OPTIONS: [&str; 41] = [
    "paused",
    "vus",
    "duration",
    "iterations",
    "stages",
    "scenarios",
    "executionSegment",
    "executionSegmentSequence",
    "noSetup",
    "setupTimeout",
    "noTeardown",
    "teardownTimeout",
    "handleSummaryTimeout",
    "rps",
    "dns",
    "maxRedirects",
    "userAgent",
    "batch",
    "batchPerHost",
    "httpDebug",
    "insecureSkipTLSVerify",
    "tlsCipherSuites",
    "tlsVersion",
    "tlsAuth",
    "throw",
    "thresholds",
    "blacklistIPs",
    "blockHostnames",
    "hosts",
    "noConnectionReuse",
    "noVUConnectionReuse",
    "minIterationDuration",
    "ext",
    "summaryTrendStats",
    "summaryTimeUnit",
    "systemTags",
    "tags",
    "metricSamplesBufferSize",
    "noCookiesReset",
    "discardResponseBodies",
    "features",
];

/// The options that are durations, also within scenarios and stages.
const DURATIONS: [&str; 12] = [
    "duration",
    "setupTimeout",
    "teardownTimeout",
    "handleSummaryTimeout",
    "minIterationDuration",
    "startTime",
    "gracefulStop",
    "gracefulRampDown",
    "maxDuration",
    "timeUnit",
    "delayAbortEval",
    "ttl",
];

/// The options of all executors, and of each, in the order of the output.
const COMMON: [&str; 6] = [
    "executor",
    "startTime",
    "gracefulStop",
    "env",
    "exec",
    "tags",
];
const EXECUTORS: [(&str, &[&str]); 6] = [
    ("shared-iterations", &["vus", "iterations", "maxDuration"]),
    ("per-vu-iterations", &["vus", "iterations", "maxDuration"]),
    ("constant-vus", &["vus", "duration"]),
    ("ramping-vus", &["startVUs", "stages", "gracefulRampDown"]),
    (
        "constant-arrival-rate",
        &["rate", "timeUnit", "duration", "preAllocatedVUs", "maxVUs"],
    ),
    (
        "ramping-arrival-rate",
        &[
            "startRate",
            "timeUnit",
            "stages",
            "preAllocatedVUs",
            "maxVUs",
        ],
    ),
];

/// The options that a script exports, as `k6 inspect` prints them: indented by two blanks, without a line end.
/// Options that have no place here, such as `cloud`, follow after the others.
#[must_use]
pub fn inspect(options: &Map<String, Value>) -> String {
    let mut out = String::new();
    let known = OPTIONS.iter().map(|name| (*name, options.get(*name)));
    let others = options
        .iter()
        .filter(|(name, _)| !OPTIONS.contains(&name.as_str()));
    let others = others.map(|(name, value)| (name.as_str(), Some(value)));
    let fields = known.chain(others).map(|(name, value)| {
        let text = match (name, value) {
            ("scenarios", Some(Value::Object(scenarios))) => scenarios_text(scenarios),
            ("dns", value) => {
                let dns = |key: &str| value.and_then(|dns| dns.get(key));
                object(
                    ["ttl", "select", "policy"].map(|key| (key, text(key, dns(key), 2))),
                    2,
                )
            }
            ("systemTags", Some(Value::Array(tags))) => {
                let mut tags: Vec<&str> = tags.iter().filter_map(Value::as_str).collect();
                tags.sort_unstable();
                text(name, Some(&Value::from(tags)), 1)
            }
            (name, value) => text(name, value, 1),
        };
        (name, text)
    });
    out.push_str(&object(fields, 1));
    out
}

fn scenarios_text(scenarios: &Map<String, Value>) -> String {
    let list = scenarios.iter().map(|(name, scenario)| {
        let executor = scenario.get("executor").and_then(Value::as_str);
        let own = EXECUTORS.iter().find(|(name, _)| Some(*name) == executor);
        let own = own.map_or(&[][..], |(_, keys)| *keys);
        let fields = COMMON
            .iter()
            .chain(own)
            .map(|key| (*key, text(key, scenario.get(*key), 3)));
        (name.as_str(), object(fields, 3))
    });
    object(list, 2)
}

/// The text of a value within so many braces.
fn text(name: &str, value: Option<&Value>, depth: usize) -> String {
    match value {
        None | Some(Value::Null) => "null".to_owned(),
        Some(value) if DURATIONS.contains(&name) => {
            let duration = crate::scenario::duration(value);
            quoted(&duration.map_or_else(
                |_| value.as_str().unwrap_or_default().to_owned(),
                go_duration,
            ))
        }
        Some(Value::Object(map)) => {
            // The text of a threshold is first.
            let mut sorted: Vec<_> = map.iter().collect();
            sorted.sort_by_key(|(name, _)| *name != "threshold");
            let fields = sorted
                .iter()
                .map(|(name, value)| (name.as_str(), text(name, Some(value), depth + 1)));
            object(fields, depth + 1)
        }
        Some(Value::Array(list)) if list.is_empty() => "[]".to_owned(),
        Some(Value::Array(list)) => {
            let (inner, outer) = ("  ".repeat(depth + 1), "  ".repeat(depth));
            let parts: Vec<String> = list
                .iter()
                .map(|part| format!("{inner}{}", text("", Some(part), depth + 1)))
                .collect();
            format!("[\n{}\n{outer}]", parts.join(",\n"))
        }
        Some(Value::String(text)) => quoted(text),
        Some(other) => other.to_string(),
    }
}

fn object<'a>(fields: impl IntoIterator<Item = (&'a str, String)>, depth: usize) -> String {
    let (inner, outer) = ("  ".repeat(depth), "  ".repeat(depth - 1));
    let fields: Vec<String> = fields
        .into_iter()
        .map(|(name, value)| format!("{inner}{}: {value}", quoted(name)))
        .collect();
    if fields.is_empty() {
        return "{}".to_owned();
    }
    format!("{{\n{}\n{outer}}}", fields.join(",\n"))
}

/// A text of JSON in which the letters of HTML are escaped, as Go's encoder does.
fn quoted(text: &str) -> String {
    let text = Value::from(text).to_string();
    let text = text.replace('<', "\\u003c").replace('>', "\\u003e");
    text.replace('&', "\\u0026")
}

/// A duration as Go writes it: `1m0s`, `1.5s`, `500ms`, `0s`.
#[must_use]
pub fn go_duration(duration: Nanos) -> String {
    const SECOND: u64 = 1_000_000_000;
    let nanos = duration.0;
    let part = |nanos: u64, unit: u64, name: &str| {
        let digits = unit.ilog10() as usize;
        let fraction = format!("{:0digits$}", nanos % unit);
        let fraction = fraction.trim_end_matches('0');
        let point = if digits == 0 || fraction.is_empty() {
            ""
        } else {
            "."
        };
        let fraction = if point.is_empty() { "" } else { fraction };
        format!("{}{point}{fraction}{name}", nanos / unit)
    };
    match nanos {
        0 => "0s".to_owned(),
        1..1_000 => format!("{nanos}ns"),
        1_000..1_000_000 => part(nanos, 1_000, "µs"),
        1_000_000..SECOND => part(nanos, 1_000_000, "ms"),
        _ => {
            let minutes = nanos / (60 * SECOND);
            let seconds = part(nanos % (60 * SECOND), SECOND, "s");
            match (minutes / 60, minutes % 60) {
                (0, 0) => seconds,
                (0, minutes) => format!("{minutes}m{seconds}"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(options: &str, expected: &str) {
        let options = serde_json::from_str(options).expect("JSON");
        let text = inspect(&options);
        for (line, expected) in text.lines().zip(expected.lines()) {
            assert_eq!(line, expected);
        }
        assert_eq!(text, expected);
    }

    #[test]
    fn the_output_is_that_of_k6() {
        let options = r#"{ "vus": 3, "stages": [{ "duration": "10s", "target": 5 }],
            "thresholds": { "checks": ["rate>0.5", { "threshold": "rate>0.1", "abortOnFail": true, "delayAbortEval": "10s" }],
                "http_reqs{a:b}": ["count>1"] },
            "tags": { "a": "b" }, "hosts": { "a.test": "1.2.3.4" }, "discardResponseBodies": true, "userAgent": "x",
            "summaryTrendStats": ["avg", "p(99)"], "systemTags": ["url", "name"] }"#;
        let thresholds_in_order = include_str!("../tests/golden/inspect-options.json");
        check(options, thresholds_in_order);
        let scenarios = r#"{ "scenarios": {
            "a": { "executor": "constant-arrival-rate", "rate": 5, "duration": "1m", "preAllocatedVUs": 2, "maxVUs": 10,
                "tags": { "x": "y" }, "env": { "E": "1" } },
            "b": { "executor": "ramping-vus", "stages": [{ "duration": "1m30s", "target": 3 }], "exec": "foo",
                "startTime": "5s", "gracefulStop": "0s" },
            "c": { "executor": "per-vu-iterations" } } }"#;
        check(
            scenarios,
            include_str!("../tests/golden/inspect-scenarios.json"),
        );
    }

    #[test]
    fn durations() {
        for (nanos, text) in [
            (0, "0s"),
            (7, "7ns"),
            (1_500, "1.5µs"),
            (500_000_000, "500ms"),
            (1_500_000_000, "1.5s"),
            (60_000_000_000, "1m0s"),
            (90_000_000_001, "1m30.000000001s"),
            (93_600_000_000_000, "26h0m0s"),
        ] {
            assert_eq!(go_duration(Nanos(nanos)), text);
        }
    }
}
