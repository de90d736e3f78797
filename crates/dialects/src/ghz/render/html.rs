//! The report as one page that needs nothing else: its styles, its bars and its data are in it.

use super::super::report::Report;
use super::super::result::CallResult;
use super::super::time_text::{nanos, seconds, span};
use crate::grammar::go_json::Indent;
use std::fmt::Write as _;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#222}\
table{border-collapse:collapse;margin:.5rem 0 1.5rem}td,th{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top}\
th{color:#666;font-weight:600}td.n{text-align:right;font-variant-numeric:tabular-nums}h2{margin:1.5rem 0 0;font-size:1.15rem}\
.bar{background:#3273dc;height:.9rem;min-width:1px}.tag{background:#eee;border-radius:1rem;padding:.1rem .7rem;margin-right:.4rem}\
pre{background:#f6f6f6;padding:1rem;overflow:auto}nav a{margin-right:1rem}td.e{overflow-wrap:anywhere}";

/// Everything before the rows of the results.
pub(super) fn head(report: &Report) -> String {
    let mut out = String::new();
    let name = match report.name.as_str() {
        "" => report.settings.text_of("call"),
        name => name,
    };
    // Writing to a String can't fail.
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>ghz - {name}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n<p>{}</p>\n",
        seconds(&*report.world, report.date),
        name = text(name),
    );
    out.push_str("<nav><a href=\"#summary\">Summary</a><a href=\"#histogram\">Histogram</a><a href=\"#latency\">Latency Distribution</a><a href=\"#status\">Status Distribution</a>");
    if !report.errors.is_empty() {
        out.push_str("<a href=\"#errors\">Errors</a>");
    }
    out.push_str("<a href=\"#options\">Options</a><a href=\"#data\">Data</a></nav>\n");
    if !report.tags.is_empty() {
        out.push_str("<p>");
        for (key, value) in &report.tags {
            let _ = write!(
                out,
                "<span class=\"tag\">{}: {}</span>",
                text(key),
                text(value)
            );
        }
        out.push_str("</p>\n");
    }
    summary(&mut out, report);
    histogram(&mut out, report);
    latency(&mut out, report);
    let statuses = report.status_rows();
    shares(
        &mut out,
        ("status", "Status distribution", "Status"),
        &statuses,
        report.count,
    );
    if !report.errors.is_empty() {
        let errors = report.error_rows();
        shares(
            &mut out,
            ("errors", "Errors", "Error"),
            &errors,
            report.count,
        );
    }
    options(&mut out, report);
    out.push_str("<h2 id=\"data\">Data</h2>\n<details>\n<summary>Every result</summary>\n<table>\n<tr><th>Timestamp</th><th>Latency</th><th>Status</th><th>Error</th></tr>\n");
    out
}

/// One result's row.
pub(super) fn row(report: &Report, result: &CallResult) -> String {
    format!(
        "<tr><td>{}</td><td class=\"n\">{}</td><td>{}</td><td class=\"e\">{}</td></tr>\n",
        nanos(&*report.world, report.started + result.end.0),
        span(result.latency.0),
        result.status(),
        text(&result.error)
    )
}

/// Everything after the rows.
pub(super) const TAIL: &str = "</table>\n</details>\n</body>\n</html>\n";

fn summary(out: &mut String, report: &Report) {
    out.push_str("<h2 id=\"summary\">Summary</h2>\n<table>\n");
    for (name, value) in [
        ("Count", report.count.to_string()),
        ("Total", span(report.total)),
        ("Slowest", span(report.slowest)),
        ("Fastest", span(report.fastest)),
        ("Average", span(report.average)),
        ("Requests / sec", format!("{:.2}", report.rate)),
    ] {
        let _ = writeln!(out, "<tr><th>{name}</th><td class=\"n\">{value}</td></tr>");
    }
    out.push_str("</table>\n");
}

fn histogram(out: &mut String, report: &Report) {
    out.push_str("<h2 id=\"histogram\">Histogram</h2>\n<table style=\"width:100%\">\n");
    let most = report.histogram.iter().map(|row| row.count).max();
    for row in &report.histogram {
        let width = row.count as f64 * 100.0 / most.unwrap_or(1).max(1) as f64;
        let _ = writeln!(
            out,
            "<tr><td class=\"n\">{:.3}&nbsp;ms</td><td class=\"n\">{}</td><td style=\"width:75%\"><div class=\"bar\" style=\"width:{width:.2}%\" title=\"{}\"></div></td></tr>",
            row.mark / 1e6,
            row.count,
            row.count
        );
    }
    out.push_str("</table>\n");
}

fn latency(out: &mut String, report: &Report) {
    out.push_str("<h2 id=\"latency\">Latency distribution</h2>\n<table>\n<tr>");
    for (percentage, _) in &report.percentiles {
        let _ = write!(out, "<th>{percentage} %</th>");
    }
    out.push_str("</tr>\n<tr>");
    for (_, time) in &report.percentiles {
        let _ = write!(out, "<td>{}</td>", span(*time));
    }
    out.push_str("</tr>\n</table>\n");
}

/// A table of names with how many results there are of each.
fn shares(
    out: &mut String,
    (id, title, column): (&str, &str, &str),
    rows: &[(&str, u64)],
    all: u64,
) {
    let _ = write!(
        out,
        "<h2 id=\"{id}\">{title}</h2>\n<table>\n<tr><th>{column}</th><th>Count</th><th>% of Total</th></tr>\n"
    );
    for (name, count) in rows {
        let share = *count as f64 * 100.0 / all.max(1) as f64;
        let _ = writeln!(
            out,
            "<tr><td class=\"e\">{}</td><td class=\"n\">{count}</td><td class=\"n\">{share:.2} %</td></tr>",
            text(name)
        );
    }
    out.push_str("</table>\n");
}

fn options(out: &mut String, report: &Report) {
    let mut pretty = String::new();
    Indent::default().push(&report.settings.json(), &mut pretty);
    let _ = write!(
        out,
        "<h2 id=\"options\">Options</h2>\n<pre>{}</pre>\n",
        text(&pretty)
    );
}

/// A text inside of an element or an attribute.
fn text(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
