//! Prometheus' text exposition. Labels have a fixed order; the histogram is cumulative, in seconds,
//! and its sum is in seconds.

use super::super::report::Report;
use super::super::settings::{LOAD_KEYS, Setting, WORKER_KEYS, is_const};
use std::fmt::Write as _;

/// Settings that are labels, in their order.
const LABELS: [&str; 17] = [
    "call",
    "host",
    "proto",
    "protoset",
    "import-paths",
    "insecure",
    "enable-compression",
    "skipTLS",
    "async",
    "binary",
    "count-errors",
    "rps",
    "concurrency",
    "total",
    "connections",
    "CPUs",
    "skipFirst",
];

/// Further labels, followed by the labels of the schedules.
const MORE_LABELS: [&str; 9] = [
    "duration",
    "timeout",
    "dial-timeout",
    "keepalive",
    "cacert",
    "cert",
    "key",
    "cname",
    "authority",
];

/// The whole exposition.
pub(super) fn render(report: &Report) -> String {
    let labels = labels(report);
    let mut out = String::new();
    for (name, value) in [
        ("count", report.count),
        ("total", report.total),
        ("average", report.average),
        ("fastest", report.fastest),
        ("slowest", report.slowest),
    ] {
        gauge(&mut out, name, &labels, &value.to_string());
    }
    gauge(&mut out, "rps", &labels, &report.rate.to_string());
    histogram(&mut out, report, &labels);
    latency(&mut out, report, &labels);
    gauge(
        &mut out,
        "errors",
        &labels,
        &report.error_count().to_string(),
    );
    out
}

fn gauge(out: &mut String, name: &str, labels: &str, value: &str) {
    // Writing to a String can't fail.
    let _ = writeln!(
        out,
        "# TYPE ghz_run_{name} gauge\nghz_run_{name}{{{labels}}} {value}"
    );
}

/// The sum of times in nanoseconds, computed from the average.
fn sum(report: &Report) -> f64 {
    report.average as f64 * report.count as f64
}

fn histogram(out: &mut String, report: &Report, labels: &str) {
    out.push_str("# TYPE ghz_run_histogram histogram\n");
    let mut below = 0;
    let mut last = None;
    for bucket in &report.histogram {
        below += bucket.count;
        let mark = bucket.mark / 1e9;
        // If all times are equal, so are the bounds, and each bound may occur only once.
        if last == Some(mark.to_bits()) {
            let line = out
                .trim_end_matches('\n')
                .rfind('\n')
                .map_or(0, |at| at + 1);
            out.truncate(line);
        }
        last = Some(mark.to_bits());
        let _ = writeln!(
            out,
            "ghz_run_histogram_bucket{{{labels},le=\"{mark}\"}} {below}"
        );
    }
    let _ = writeln!(
        out,
        "ghz_run_histogram_bucket{{{labels},le=\"+Inf\"}} {count}\nghz_run_histogram_sum{{{labels}}} {}\nghz_run_histogram_count{{{labels}}} {count}",
        report.sum_timed as f64 / 1e9,
        count = report.samples
    );
}

fn latency(out: &mut String, report: &Report, labels: &str) {
    out.push_str("# TYPE ghz_run_latency summary\n");
    for (percentage, time) in &report.percentiles {
        let quantile = f64::from(*percentage) / 100.0;
        let _ = writeln!(
            out,
            "ghz_run_latency{{{labels},quantile=\"{quantile}\"}} {time}"
        );
    }
    let _ = writeln!(
        out,
        "ghz_run_latency_sum{{{labels}}} {}\nghz_run_latency_count{{{labels}}} {}",
        sum(report),
        report.count
    );
}

/// The settings as labels.
fn labels(report: &Report) -> String {
    let settings = &report.settings;
    let mut labels = Vec::new();
    let mut add = |key: &str, value: &str| {
        let key = key.replace('-', "_");
        labels.push(format!("{key}=\"{}\"", label_value(value)));
    };
    if !report.name.is_empty() {
        add("name", &report.name);
    }
    add("end_reason", report.end.name());
    let schedules = [&WORKER_KEYS, &LOAD_KEYS];
    let changing = schedules
        .into_iter()
        .filter(|keys| !is_const(settings, keys));
    let keys = LABELS.iter().chain(&MORE_LABELS).chain(changing.flatten());
    for key in keys {
        match settings.find(key) {
            Some(Setting::Text(text)) => add(key, text),
            Some(Setting::Number(number)) => add(key, &number.to_string()),
            Some(Setting::Switch(on)) => add(key, if *on { "true" } else { "false" }),
            Some(Setting::List(parts)) => add(key, &parts.join(",")),
            Some(Setting::Texts(_) | Setting::Json(_)) => {}
            None if ["skipTLS", "async", "count-errors"].contains(key) => add(key, "false"),
            None if ["rps", "skipFirst", "duration", "keepalive"].contains(key) => add(key, "0"),
            None => {}
        }
    }
    labels.join(",")
}

fn label_value(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
