//! InfluxDB's line protocol: one line for the run, or one for each result.

use super::super::report::Report;
use super::super::result::CallResult;
use super::super::settings::{LOAD_KEYS, Setting, WORKER_KEYS, is_const};
use crate::grammar::go_json::push_string;
use drumfire_report::untrusted::Untrusted;
use std::fmt::Write as _;

/// The line of the run.
pub(super) fn summary(report: &Report) -> String {
    let errors = report.error_count();
    let mut out = format!(
        "ghz_run,{},errors={errors},has_errors={} ",
        tags(report),
        errors > 0
    );
    // Writing to a String can't fail.
    let _ = write!(
        out,
        "count={},total={},average={},fastest={},slowest={},rps={:.2}",
        report.count, report.total, report.average, report.fastest, report.slowest, report.rate
    );
    for (name, percentage) in [("median", 50), ("p95", 95)] {
        if let Some(time) = report.percentile(percentage) {
            let _ = write!(out, ",{name}={time}");
        }
    }
    let _ = write!(out, ",errors={errors} {}", report.date);
    out
}

/// The line of one result; `tags` comes from [`tags`].
pub(super) fn detail(report: &Report, tags: &str, result: &CallResult) -> String {
    format!(
        "ghz_detail,{tags},hasError={} latency={},error=\"{}\",status=\"{}\" {}\n",
        !result.is_ok(),
        result.latency.0,
        text_field(&result.error),
        result.status(),
        report.started + result.end.0
    )
}

/// Escapes a text field's value, without its quotes. A line end would end the point. The text may
/// come from a server, so control characters are escaped.
fn text_field(text: &str) -> String {
    Untrusted::new(&text.replace(['\n', '\r'], " "))
        .escaped_lines()
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
}

/// The settings as tags, in ghz's order.
pub(super) fn tags(report: &Report) -> String {
    let settings = &report.settings;
    let mut tags: Vec<String> = Vec::new();
    let text = |key: &str, text: &str| format!("{key}=\"{}\"", tag_value(text));
    if !report.name.is_empty() {
        tags.push(text("name", &report.name));
    }
    if settings.find("proto").is_some() {
        tags.push(text("proto", settings.text_of("proto")));
    } else if settings.find("protoset").is_some() {
        tags.push(text("Protoset", settings.text_of("protoset")));
    }
    tags.push(text("call", settings.text_of("call")));
    tags.push(text("host", settings.text_of("host")));
    tags.push(format!("n={}", settings.number_of("total")));
    numbers(&mut tags, report, ("c", "concurrency"), &WORKER_KEYS);
    numbers(&mut tags, report, ("rps", "rps"), &LOAD_KEYS);
    tags.push(format!("z={}", settings.number_of("duration")));
    for (tag, key) in [
        ("timeout", "timeout"),
        ("dial_timeout", "dial-timeout"),
        ("keepalive", "keepalive"),
    ] {
        tags.push(format!("{tag}={}", settings.number_of(key) / 1_000_000_000));
    }
    // JSON inside a JSON text, as in ghz.
    let data = match settings.text_of("data") {
        "" => "null",
        data => data,
    };
    tags.push(format!("data={}", escaped(&json_string(data))));
    for key in ["metadata", "tags"] {
        let mut json = String::new();
        match (key, settings.find(key)) {
            // Absent tags become an empty text instead of an empty object.
            ("tags", _) if report.tags.is_empty() => {}
            ("tags", _) => Setting::Texts(report.tags.clone()).push_json(&mut json),
            (_, Some(setting)) => setting.push_json(&mut json),
            (_, None) => {}
        }
        tags.push(format!("{key}={}", escaped(&json_string(&json))));
    }
    tags.join(",")
}

/// One number, or the settings of the schedule that replaces it.
fn numbers(tags: &mut Vec<String>, report: &Report, (tag, key): (&str, &str), keys: &[&str; 6]) {
    let settings = &report.settings;
    if is_const(settings, keys) {
        tags.push(format!("{tag}={}", settings.number_of(key)));
        return;
    }
    tags.push(format!("{}={}", keys[0], settings.text_of(keys[0])));
    for key in &keys[1..] {
        let number = settings.number_of(key);
        tags.push(match key.ends_with("duration") {
            true => {
                let span = drumfire_units::Nanos(u64::try_from(number).unwrap_or(0));
                format!("{key}={}", crate::go_text::duration(span))
            }
            false => format!("{key}={number}"),
        });
    }
}

fn json_string(text: &str) -> String {
    let mut out = String::new();
    push_string(&mut out, text);
    out
}

/// A tag's value; a line end can't be represented.
fn tag_value(text: &str) -> String {
    escaped(&text.replace(['\n', '\r'], " "))
}

/// Escapes a tag's value; a backslash before any other character is literal.
fn escaped(text: &str) -> String {
    text.replace(' ', "\\ ")
        .replace(',', "\\,")
        .replace('=', "\\=")
}
