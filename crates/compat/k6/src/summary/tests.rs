use super::*;
use crate::golden::{Run, seconds};
use crate::metrics::Detail;

const NAMES: &str = r#"{ "http_req_waiting": ["p(95)<1000", "p(99.9)<1", "med<2"], "group_duration": ["avg<100"],
    "http_req_receiving{group:::a::b}": ["avg<10"], "vus": ["value>0"], "data_sent": ["count>1", "rate>1"],
    "http_reqs{scenario:only}": ["count>1"], "iterations": ["rate>1"], "ws_sessions": ["count>0"],
    "ws_ping": ["p(95)<1"], "http_reqs{zz:1}": ["count>=0"], "http_req_waiting{zz:1}": ["max<1"] }"#;

const SCENARIOS: &str = r#"{ "http_req_duration": ["p(95)<500", "avg<1"],
    "http_req_duration{name:A}": ["p(99)<1000", "max<0.001"], "http_req_duration{group:::g1}": ["p(99)<1000"],
    "checks": ["rate>0.5"], "my_counter": ["count<100", "rate>1000"], "my_gauge": ["value<100"],
    "my_trend{k:v}": ["med>0"], "my_rate": ["rate>0.9"], "http_req_failed{status:777}": ["rate<0.1"] }"#;

const ORDER: &str = r#"{ "vus_max{a:b}": ["value<1"], "zz{b:c}": ["count>1"], "AB": ["count>0"], "a_b": ["count>0"],
    "ab": ["count>0"], "aB": ["count>0"], "ab{z:z}": ["count>0"] }"#;

const LATE: &str = r#"{ "checks": ["rate>0.5", "rate<=1"], "checks{group:::a}": ["rate==1"], "checks{nope:1}": ["rate==1"] }"#;

/// The text that a file shows of a rate tells the run's duration, if the run has no other results.
fn seconds_of(text: &str) -> f64 {
    let line = text
        .lines()
        .find(|line| line.trim_start().starts_with("iterations."))
        .expect("iterations");
    let cells: Vec<&str> = line
        .split(": ")
        .nth(1)
        .expect("values")
        .split_whitespace()
        .collect();
    let rate: f64 = cells[1].trim_end_matches("/s").parse().expect("a rate");
    cells[0].parse::<f64>().expect("a count") / rate
}

fn check(rows: &str, thresholds: &str, mode: Mode, seconds: f64, expected: &str) {
    let detail = if mode == Mode::Full {
        Detail::Sections
    } else {
        Detail::Run
    };
    let run = Run::read(rows, thresholds, detail, seconds);
    check_with(&run, &TrendStat::defaults(), None, mode, expected);
}

fn check_with(run: &Run, stats: &[TrendStat], unit: Option<TimeUnit>, mode: Mode, expected: &str) {
    let summary = Summary {
        registry: &run.registry,
        seconds: run.seconds,
        stats,
        unit,
        mode,
        colors: Colors::Off,
    };
    let text = summary.text();
    for (line, expected) in text.lines().zip(expected.lines()) {
        assert_eq!(line, expected);
    }
    assert_eq!(text, expected);
}

macro_rules! golden {
    ($name:literal, $end:literal) => {
        include_str!(concat!("../../tests/golden/", $name, ".", $end))
    };
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn a_full_summary_has_scenarios_and_groups() {
    let seconds = seconds(&json(golden!("scenarios-full", "json")));
    check(
        golden!("scenarios-full", "jsonl"),
        SCENARIOS,
        Mode::Full,
        seconds,
        golden!("scenarios-full", "txt"),
    );
}

#[test]
fn each_metric_has_its_section() {
    let rows = golden!("names-compact", "jsonl");
    let duration = seconds(&json(golden!("names-compact", "json")));
    check(
        rows,
        NAMES,
        Mode::Compact,
        duration,
        golden!("names-compact", "txt"),
    );
    let rows = golden!("names-full", "jsonl");
    let duration = seconds(&json(golden!("names-full", "json")));
    check(
        rows,
        NAMES,
        Mode::Full,
        duration,
        golden!("names-full", "txt"),
    );
}

#[test]
fn names_are_in_the_order_of_a_dictionary() {
    let expected = golden!("order-full", "txt");
    check(
        golden!("order-full", "jsonl"),
        ORDER,
        Mode::Full,
        seconds(&json(golden!("order-full", "json"))),
        expected,
    );
}

#[test]
fn groups_of_the_stages_are_apart() {
    let duration = seconds(&json(golden!("groups-full", "json")));
    check(
        golden!("groups-full", "jsonl"),
        "{}",
        Mode::Full,
        duration,
        golden!("groups-full", "txt"),
    );
    let expected = golden!("late-full", "txt");
    check(
        golden!("late-full", "jsonl"),
        LATE,
        Mode::Full,
        seconds(&json(golden!("late-full", "json"))),
        expected,
    );
}

#[test]
fn units_and_stats_are_the_user_s() {
    let duration = seconds(&json(golden!("groups-ms", "json")));
    let run = Run::read(golden!("groups-ms", "jsonl"), "{}", Detail::Run, duration);
    let stats = [
        "avg", "min", "med", "max", "count", "p(0)", "p(50)", "p(99.9)", "p(100)",
    ];
    let stats = stats.map(|stat| TrendStat::parse(stat).expect(stat));
    check_with(
        &run,
        &stats,
        Some(TimeUnit::Milliseconds),
        Mode::Compact,
        golden!("groups-ms", "txt"),
    );
}

#[test]
fn a_part_without_a_sample_is_left_out() {
    let expected = golden!("failures", "txt");
    check(
        golden!("failures", "jsonl"),
        "{}",
        Mode::Compact,
        seconds_of(expected),
        expected,
    );
    let expected = golden!("slow", "txt");
    // Nine seconds, so that rates of bytes are small.
    check(
        golden!("slow", "jsonl"),
        "{}",
        Mode::Compact,
        seconds_of(expected),
        expected,
    );
}

#[test]
fn colors_do_not_move_the_columns() {
    let rows = golden!("names-full", "jsonl");
    let run = Run::read(rows, NAMES, Detail::Sections, 0.07);
    let stats = TrendStat::defaults();
    let mut summary = Summary {
        registry: &run.registry,
        seconds: run.seconds,
        stats: &stats,
        unit: None,
        mode: Mode::Full,
        colors: Colors::On,
    };
    let colored = summary.text();
    summary.colors = Colors::Off;
    let mut plain = String::new();
    let mut is_code = false;
    for letter in colored.chars() {
        match letter {
            '\u{1b}' => is_code = true,
            'm' if is_code => is_code = false,
            _ if is_code => {}
            _ => plain.push(letter),
        }
    }
    assert_eq!(plain, summary.text());
    for part in [
        "  █ \u{1b}[1mTHRESHOLDS\u{1b}[0m \n",
        "    \u{1b}[32m✓\u{1b}[0m \u{1b}[37m'count>1'\u{1b}[0m \u{1b}[37mcount\u{1b}[0m=\u{1b}[36m222 B\u{1b}[0m\n",
        "    \u{1b}[31m✗ x\u{1b}[0m\n      \u{1b}[31m↳  0% — ✓ 0 / ✗ 1\u{1b}[0m\n",
        "    checks_total\u{1b}[2;37m.......:\u{1b}[0m \u{1b}[36m4\u{1b}[0m      \u{1b}[2;36m",
    ] {
        assert!(colored.contains(part), "{part:?} in {colored}");
    }
}
