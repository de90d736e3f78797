//! The report as JSON, with ghz's keys in ghz's order.

use super::super::report::Report;
use super::super::result::CallResult;
use super::super::settings::push_texts;
use crate::go_time;
use crate::grammar::go_json::{push_float, push_string};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The part before the details.
pub(super) fn head(report: &Report) -> String {
    let mut out = String::from("{\"date\":");
    push_string(&mut out, &go_time::seconds(&*report.machine, report.date));
    if !report.name.is_empty() {
        out.push_str(",\"name\":");
        push_string(&mut out, &report.name);
    }
    // Writing to a String can't fail.
    let _ = write!(
        out,
        ",\"endReason\":\"{}\",\"options\":{},\"count\":{},\"total\":{},\"average\":{},\"fastest\":{},\"slowest\":{},\"rps\":",
        report.end.name(),
        report.settings.json(),
        report.count,
        report.total,
        report.average,
        report.fastest,
        report.slowest
    );
    push_float(&mut out, report.rate);
    out.push_str(",\"errorDistribution\":");
    push_counts(&mut out, &report.errors);
    out.push_str(",\"statusCodeDistribution\":");
    push_counts(&mut out, &report.statuses);
    out.push_str(",\"latencyDistribution\":");
    push_list(&mut out, &report.percentiles, |out, (percentage, time)| {
        let _ = write!(out, "{{\"percentage\":{percentage},\"latency\":{time}}}");
    });
    out.push_str(",\"histogram\":");
    push_list(&mut out, &report.histogram, |out, bucket| {
        out.push_str("{\"mark\":");
        push_float(out, bucket.mark / 1e9);
        let _ = write!(out, ",\"count\":{},\"frequency\":", bucket.count);
        push_float(out, bucket.count as f64 / report.samples.max(1) as f64);
        out.push('}');
    });
    out.push_str(",\"details\":");
    out
}

/// One result among the details.
pub(super) fn detail(report: &Report, result: &CallResult) -> String {
    let mut out = String::from("{\"timestamp\":");
    push_string(
        &mut out,
        &go_time::nanos(&*report.machine, report.started + result.end.0),
    );
    let _ = write!(out, ",\"latency\":{},\"error\":", result.latency.0);
    push_string(&mut out, &result.error);
    out.push_str(",\"status\":");
    push_string(&mut out, result.status());
    out.push('}');
    out
}

/// The part after the details.
pub(super) fn tail(report: &Report) -> String {
    let mut out = String::new();
    if !report.tags.is_empty() {
        out.push_str(",\"tags\":");
        push_texts(&mut out, &report.tags);
    }
    out.push('}');
    out
}

fn push_counts<K: AsRef<str>>(out: &mut String, counts: &BTreeMap<K, u64>) {
    out.push('{');
    for (n, (key, count)) in counts.iter().enumerate() {
        out.push_str(if n > 0 { "," } else { "" });
        push_string(out, key.as_ref());
        let _ = write!(out, ":{count}");
    }
    out.push('}');
}

/// A list; `null` if it is empty, as in Go.
fn push_list<T>(out: &mut String, list: &[T], mut push: impl FnMut(&mut String, &T)) {
    if list.is_empty() {
        out.push_str("null");
        return;
    }
    out.push('[');
    for (n, part) in list.iter().enumerate() {
        out.push_str(if n > 0 { "," } else { "" });
        push(out, part);
    }
    out.push(']');
}
