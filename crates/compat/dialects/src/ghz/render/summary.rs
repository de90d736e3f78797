//! The summary for people.

use super::super::report::Report;
use super::super::time_text::span;
use drumfire_report::style::Unicode;
use drumfire_report::untrusted::Untrusted;
use std::fmt::Write as _;

/// The number of bars in the longest row of the histogram.
const BARS: u64 = 40;

/// The summary.
pub(super) fn render(report: &Report) -> String {
    let mut out = String::from("\nSummary:\n");
    // Writing to a String can't fail.
    if !report.name.is_empty() {
        let _ = writeln!(out, "  Name:\t\t{}", shown(&report.name));
    }
    let _ = writeln!(out, "  Count:\t{}", report.count);
    let _ = writeln!(out, "  Total:\t{}", span(report.total));
    let _ = writeln!(out, "  Slowest:\t{}", span(report.slowest));
    let _ = writeln!(out, "  Fastest:\t{}", span(report.fastest));
    let _ = writeln!(out, "  Average:\t{}", span(report.average));
    let _ = writeln!(out, "  Requests/sec:\t{:.2}", report.rate);
    out.push_str("\nResponse time histogram:\n");
    histogram(&mut out, report);
    out.push_str("\nLatency distribution:\n");
    for (percentage, time) in &report.percentiles {
        let _ = writeln!(out, "  {percentage} % in {} ", span(*time));
    }
    out.push('\n');
    if !report.statuses.is_empty() {
        out.push_str("Status code distribution:\n");
        let cells =
            |(name, count): (&str, u64)| (format!("[{name}]"), format!("{count} responses"));
        columns(
            &mut out,
            report.status_rows().into_iter().map(cells).collect(),
        );
    }
    out.push('\n');
    if !report.errors.is_empty() {
        out.push_str("Error distribution:\n");
        let cells = |(text, count): (&str, u64)| (format!("[{count}]"), shown(text));
        columns(
            &mut out,
            report.error_rows().into_iter().map(cells).collect(),
        );
    }
    out.push('\n');
    out
}

/// A text that may come from a server, on one line, with control characters escaped.
fn shown(text: &str) -> String {
    Untrusted::new(text).escaped(Unicode::On)
}

fn histogram(out: &mut String, report: &Report) {
    let rows = &report.histogram;
    let marks: Vec<String> = rows
        .iter()
        .map(|row| format!("{:.3}", row.mark / 1e6))
        .collect();
    let widest = marks.iter().map(String::len).max().unwrap_or(0);
    let most = rows.iter().map(|row| row.count).max().unwrap_or(0);
    let digits = most.to_string().len();
    for (row, mark) in rows.iter().zip(&marks) {
        let gap = " ".repeat(digits - row.count.to_string().len());
        let bars = (row.count * BARS + most / 2) / most.max(1);
        let bar = "∎".repeat(bars as usize);
        let _ = writeln!(out, "  {mark:widest$} [{}]{gap} |{bar}", row.count);
    }
}

/// Two columns, each as wide as its widest cell plus three spaces.
fn columns(out: &mut String, rows: Vec<(String, String)>) {
    let width = |text: &String| text.chars().count();
    let left = rows.iter().map(|(text, _)| width(text)).max().unwrap_or(0) + 3;
    let right = rows.iter().map(|(_, text)| width(text)).max().unwrap_or(0) + 3;
    for (first, second) in rows {
        let _ = writeln!(out, "  {first:left$}{second:right$}");
    }
}
