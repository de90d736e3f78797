use serde_json::{Value, json};

use super::*;
use crate::golden::{Run, seconds};
use crate::metrics::Detail;
use crate::summary::{Colors, Mode, TrendStat};

/// The thresholds of `names.js`.
const NAMES: &str = r#"{ "http_req_waiting": ["p(95)<1000", "p(99.9)<1", "med<2"], "group_duration": ["avg<100"],
    "http_req_receiving{group:::a::b}": ["avg<10"], "vus": ["value>0"], "data_sent": ["count>1", "rate>1"],
    "http_reqs{scenario:only}": ["count>1"], "iterations": ["rate>1"], "ws_sessions": ["count>0"],
    "ws_ping": ["p(95)<1"], "http_reqs{zz:1}": ["count>=0"], "http_req_waiting{zz:1}": ["max<1"] }"#;

/// Whether two values are equal, but for the last digits of numbers.
fn compare(at: &str, one: &Value, other: &Value) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let names = |map: &Map<String, Value>| map.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(one), names(other), "{at}");
            for (name, value) in one {
                compare(&format!("{at}.{name}"), value, &other[name]);
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            assert_eq!(one.len(), other.len(), "{at}");
            for (place, (one, other)) in one.iter().zip(other).enumerate() {
                compare(&format!("{at}[{place}]"), one, other);
            }
        }
        (Value::Number(one), Value::Number(other)) => {
            let (one, other) = (
                one.as_f64().expect("a number"),
                other.as_f64().expect("a number"),
            );
            assert!(
                (one - other).abs() <= 1e-9 * other.abs().max(1e-3),
                "{at}: {one} is not {other}"
            );
        }
        (one, other) => assert_eq!(one, other, "{at}"),
    }
}

fn check(rows: &str, thresholds: &str, mode: Mode, duration: f64, look: impl Fn(&Summary<'_>)) {
    let run = Run::read(rows, thresholds, Detail::Run, duration);
    let stats = TrendStat::defaults();
    look(&Summary {
        registry: &run.registry,
        seconds: run.seconds,
        stats: &stats,
        unit: None,
        mode,
        colors: Colors::Off,
    });
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn exports_are_those_of_k6() {
    let expected = read(include_str!("../../../tests/golden/names-full.json"));
    let rows = include_str!("../../../tests/golden/names-full.jsonl");
    check(rows, NAMES, Mode::Full, seconds(&expected), |summary| {
        compare("", &summary.export(Some(&json!("x"))), &expected);
    });
    let expected = read(include_str!("../../../tests/golden/groups-full.json"));
    let rows = include_str!("../../../tests/golden/groups-full.jsonl");
    check(rows, "{}", Mode::Full, seconds(&expected), |summary| {
        compare("", &summary.export(Some(&json!("x"))), &expected);
    });
}

#[test]
fn scripts_receive_what_k6_gives_them() {
    let expected = read(include_str!("../../../tests/golden/data.txt"));
    let rows = include_str!("../../../tests/golden/data.jsonl");
    let data = json!("x");
    let around = Surroundings {
        setup_data: Some(&data),
        stdout: Output::Other,
        stderr: Output::Other,
        no_color: false,
    };
    check(rows, NAMES, Mode::Compact, seconds(&expected), |summary| {
        compare("", &summary.data(&around), &expected);
    });
}

/// Lists of metrics have no order in k6.
fn sorted(mut results: Value) -> Value {
    let by_name = |list: &mut Value| {
        if let Value::Array(list) = list {
            list.sort_by_key(|metric| metric["name"].to_string());
        }
    };
    by_name(&mut results["results"]["metrics"]);
    by_name(&mut results["results"]["checks"]["metrics"]);
    results
}

#[test]
fn machine_readable_results_are_those_of_k6() {
    for (rows, expected, thresholds, mode, stats) in [
        (
            include_str!("../../../tests/golden/machine-full.jsonl"),
            include_str!("../../../tests/golden/machine-full.json"),
            NAMES,
            Mode::Full,
            "avg,min,med,max,p(90),p(95)",
        ),
        (
            include_str!("../../../tests/golden/machine-compact.jsonl"),
            include_str!("../../../tests/golden/machine-compact.json"),
            "{}",
            Mode::Compact,
            "avg,p(99.9),count",
        ),
    ] {
        let expected = sorted(read(expected));
        let written: jiff::Timestamp = expected["metadata"]["generated_at"]
            .as_str()
            .expect("a time")
            .parse()
            .expect("a time");
        let origin = Origin {
            written: Nanos(u64::try_from(written.as_nanosecond()).expect("a time after 1970")),
            version: "2.2.0",
            script: expected["config"]["script"].as_str().expect("a script"),
        };
        let seconds = expected["config"]["duration"].as_f64().expect("a duration");
        let run = Run::read(rows, thresholds, Detail::Run, seconds);
        let stats: Vec<TrendStat> = stats
            .split(',')
            .map(|stat| TrendStat::parse(stat).expect(stat))
            .collect();
        let summary = Summary {
            registry: &run.registry,
            seconds,
            stats: &stats,
            unit: None,
            mode,
            colors: Colors::Off,
        };
        compare("", &sorted(summary.machine_readable(&origin)), &expected);
    }
}
