//! Requests with a W3C traceparent, and the slowest of them.

use crate::support::{Folder, Report, Serve, http};
use std::collections::BTreeSet;

#[test]
fn the_slowest_are_named_by_their_traces() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let line = |flags: &str| {
        format!(
            "-c 4 -n 300 {flags} --json {} {}?delay=exp:2ms",
            folder.at("json"),
            serve.url
        )
    };
    let run = http(&line("--traceparent"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = Report::read(&folder.at("json"));
    let slowest = report.at("slowest").as_array().unwrap();
    assert_eq!(slowest.len(), 10);
    let kind = report.at("run.latency_kind").as_str().unwrap();
    let times: Vec<u64> = slowest
        .iter()
        .map(|slow| slow[format!("{kind}_ns")].as_u64().unwrap())
        .collect();
    assert!(times.windows(2).all(|two| two[0] >= two[1]), "{times:?}");
    let longest = report.n(&format!("latency.{kind}.max"));
    assert_eq!(times[0], longest);
    let traces: BTreeSet<&str> = slowest
        .iter()
        .map(|slow| slow["trace_id"].as_str().unwrap())
        .collect();
    assert!(traces.len() == 10 && traces.iter().all(|trace| trace.len() == 32));
    let run = http(&line(""));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = Report::read(&folder.at("json"));
    let slowest = report.at("slowest").as_array().unwrap();
    assert!(slowest.len() == 10 && slowest.iter().all(|slow| slow["trace_id"].is_null()));
    assert!(!run.stdout.contains("Slowest "), "{}", run.stdout);
    let run = http(&line("--explain"));
    assert!(run.stdout.contains("Slowest "), "{}", run.stdout);
}
