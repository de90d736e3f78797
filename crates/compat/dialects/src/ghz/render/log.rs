//! The log of `--debug`: one JSON object per line, with ghz's keys. The log is written from the
//! measurements after the run, so it contains no messages of calls.

use super::super::report::{End, Report};
use super::super::result::CallResult;
use crate::go_time;
use crate::grammar::go_json::{push_float, push_string};

/// The line with the settings of the run.
pub(super) fn head(report: &Report) -> String {
    let config = report.settings.json();
    entry(report, report.started, "Start Run", &[("config", config)])
}

/// The line for the end of one call.
pub(super) fn line(report: &Report, result: &CallResult) -> String {
    let end = report.started + result.end.0;
    let text = |text: &str| {
        let mut out = String::new();
        push_string(&mut out, text);
        out
    };
    let time = |at: u64| text(&go_time::nanos(&*report.machine, at));
    let error = match result.is_ok() {
        true => "null".to_owned(),
        false => text(&result.error),
    };
    let mut duration = String::new();
    push_float(&mut duration, result.latency.0 as f64 / 1e9);
    let stats = format!(
        "{{\"Client\":true,\"BeginTime\":{},\"EndTime\":{},\"Error\":{error}}}",
        time(end - result.latency.0),
        time(end)
    );
    let fields = [
        ("code", text(result.status())),
        ("error", error),
        ("duration", duration),
        ("stats", stats),
    ];
    entry(report, end, "Received RPC Stats", &fields)
}

/// The lines for the end of the run, with the reason unless all calls were made.
pub(super) fn tail(report: &Report) -> String {
    let say = |message: &str| entry(report, report.date, message, &[]);
    let why = match report.end {
        End::Normal => String::new(),
        end => say(&format!("Stopping with reason: {}", end.name())),
    };
    why + &say("Run finished")
}

/// One line; the fields contain JSON.
fn entry(report: &Report, at: u64, message: &str, fields: &[(&str, String)]) -> String {
    let mut out = String::from("{\"level\":\"debug\",\"time\":");
    push_string(&mut out, &go_time::nanos(&*report.machine, at));
    out.push_str(",\"message\":");
    push_string(&mut out, message);
    for (key, json) in fields {
        out.push_str(",\"");
        out.push_str(key);
        out.push_str("\":");
        out.push_str(json);
    }
    out.push_str("}\n");
    out
}
