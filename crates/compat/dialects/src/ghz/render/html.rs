//! The report as one self-contained page, with its styles, bars and data.

use super::super::report::Report;
use super::super::result::CallResult;
use super::super::time_text::span;
use crate::go_time::{nanos, seconds};
use crate::grammar::go_json::Indent;
use drumfire_report::untrusted::Untrusted;
use std::fmt::Write as _;

/// Light or dark, following the reader's system. Tables that are too wide scroll separately.
const STYLE: &str = ":root{color-scheme:light dark;--ink:#222;--faint:#5f6368;--ground:#fff;--raised:#f3f4f6;--bar:#3273dc;--link:#1a4fb4}\
@media(prefers-color-scheme:dark){:root{--ink:#e4e6ea;--faint:#a0a6b0;--ground:#16181c;--raised:#24272d;--bar:#5b93ea;--link:#8ab4f8}}\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:var(--ink);background:var(--ground)}\
h1{overflow-wrap:anywhere}h2{margin:1.5rem 0 0;font-size:1.15rem}a{color:var(--link)}\
div.t{overflow-x:auto;margin:.5rem 0 1.5rem}table{border-collapse:collapse}\
td,th{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top}th{color:var(--faint);font-weight:600;white-space:nowrap}\
.d{white-space:nowrap}.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}td.e{overflow-wrap:anywhere;min-width:8rem}\
table.h{width:100%}table.h td{vertical-align:middle}.bar{background:var(--bar);height:.9rem;min-width:1px}\
.tag{display:inline-block;background:var(--raised);border-radius:1rem;padding:.1rem .7rem;margin:0 .4rem .3rem 0}\
pre{background:var(--raised);padding:1rem;overflow:auto}nav{display:flex;flex-wrap:wrap;gap:0 1rem}";

/// The part before the rows of the results.
pub(super) fn head(report: &Report) -> String {
    let mut out = String::new();
    let name = match report.name.as_str() {
        "" => report.settings.text_of("call"),
        name => name,
    };
    // Writing to a String can't fail.
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>ghz - {name}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n<p>{}</p>\n",
        seconds(&*report.machine, report.date),
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
    out.push_str("<h2 id=\"data\">Data</h2>\n<p><button data-as=\"json\">JSON</button> <button data-as=\"csv\">CSV</button></p>\n<details id=\"results\">\n<summary>Every result</summary>\n<div class=\"t\"><table>\n<tr><th>Timestamp</th><th class=\"n\">Latency</th><th>Status</th><th>Error</th></tr>\n");
    out
}

/// One result's row.
pub(super) fn row(report: &Report, result: &CallResult) -> String {
    format!(
        "<tr data-ns=\"{}\"><td class=\"d\">{}</td><td class=\"n\">{}</td><td>{}</td><td class=\"e\">{}</td></tr>\n",
        result.latency.0,
        nanos(&*report.machine, report.started + result.end.0),
        span(result.latency.0),
        result.status(),
        text(&result.error)
    )
}

/// The part after the rows, with the script of the download buttons.
pub(super) const TAIL: &str = concat!(
    "</table></div>\n</details>\n<script>\n",
    "const results=()=>[...document.querySelectorAll('#results tr[data-ns]')].map(row=>{\n",
    "const [timestamp,,status,error]=[...row.cells].map(cell=>cell.textContent);\n",
    "return {timestamp,latency:Number(row.dataset.ns),error,status}});\n",
    "const cell=value=>/[\",\\r\\n]/.test(value)?'\"'+value.replaceAll('\"','\"\"')+'\"':value;\n",
    "const csv=rows=>['timestamp,latency,error,status',...rows.map(row=>Object.values(row).map(String)\n",
    ".map(cell).join(','))].join('\\r\\n');\n",
    "for(const button of document.querySelectorAll('button[data-as]'))button.onclick=()=>{\n",
    "const json=button.dataset.as==='json',link=document.createElement('a');\n",
    "const text=json?JSON.stringify(results()):csv(results());\n",
    "link.href=URL.createObjectURL(new Blob([text],{type:json?'application/json':'text/csv'}));\n",
    "link.download='results.'+button.dataset.as;link.click()};\n",
    "</script>\n</body>\n</html>\n",
);

fn summary(out: &mut String, report: &Report) {
    out.push_str("<h2 id=\"summary\">Summary</h2>\n<div class=\"t\"><table>\n");
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
    out.push_str("</table></div>\n");
}

fn histogram(out: &mut String, report: &Report) {
    out.push_str("<h2 id=\"histogram\">Histogram</h2>\n<div class=\"t\"><table class=\"h\">\n");
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
    out.push_str("</table></div>\n");
}

fn latency(out: &mut String, report: &Report) {
    out.push_str("<h2 id=\"latency\">Latency distribution</h2>\n<div class=\"t\"><table>\n<tr>");
    for (percentage, _) in &report.percentiles {
        let _ = write!(out, "<th class=\"n\">{percentage} %</th>");
    }
    out.push_str("</tr>\n<tr>");
    for (_, time) in &report.percentiles {
        let _ = write!(out, "<td class=\"n\">{}</td>", span(*time));
    }
    out.push_str("</tr>\n</table></div>\n");
}

/// A table of names with the number of results for each.
fn shares(
    out: &mut String,
    (id, title, column): (&str, &str, &str),
    rows: &[(&str, u64)],
    all: u64,
) {
    let _ = write!(
        out,
        "<h2 id=\"{id}\">{title}</h2>\n<div class=\"t\"><table>\n<tr><th>{column}</th><th class=\"n\">Count</th><th class=\"n\">% of Total</th></tr>\n"
    );
    for (name, count) in rows {
        let share = *count as f64 * 100.0 / all.max(1) as f64;
        let _ = writeln!(
            out,
            "<tr><td class=\"e\">{}</td><td class=\"n\">{count}</td><td class=\"n\">{share:.2} %</td></tr>",
            text(name)
        );
    }
    out.push_str("</table></div>\n");
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

/// A text inside an element or an attribute. The text may come from a server, so control characters
/// and characters that reverse the direction of text are escaped.
fn text(text: &str) -> String {
    Untrusted::new(text)
        .escaped_lines()
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
