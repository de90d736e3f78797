//! A row for each request, the report as one line, and the properties of single requests.

use crate::support::{Folder, Report, Serve, run_in};
use std::fs;

/// The rows agree with the summary, in CSV and in JSON.
#[test]
fn each_request_is_a_row() {
    let (server, folder) = (Serve::new("--status 503:0.3"), Folder::new());
    let line = format!(
        "http -n 200 -c 4 -q --json out.json --rows rows.csv {}",
        server.url
    );
    let ran = run_in(&folder, &line);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let report = Report::read(&folder.at("out.json"));
    let text = fs::read_to_string(folder.at("rows.csv")).unwrap();
    // No cell of these rows contains a comma.
    let mut records = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let headers = records.next().unwrap();
    let at = |name: &str| headers.iter().position(|header| *header == name).unwrap();
    let records: Vec<Vec<&str>> = records.collect();
    assert_eq!(records.len() as u64, report.n("requests.sent"));
    let count = |outcome: &str| {
        let of = |record: &&Vec<&str>| record[at("outcome")] == outcome;
        records.iter().filter(of).count() as u64
    };
    assert_eq!(count("ok"), report.n("requests.ok"));
    assert_eq!(count("http_status"), report.n("requests.failed"));
    let ok = records
        .iter()
        .filter(|record| record[at("outcome")] == "ok");
    let longest = ok.map(|record| record[at("service_time_ns")].parse::<u64>().unwrap());
    assert_eq!(longest.max(), Some(report.n("latency.service_time.max")));
    let line = format!("http -n 20 -c 2 --rows - {}", server.url);
    let streamed = run_in(&folder, &line);
    assert_eq!(streamed.stdout.lines().count(), 21, "{}", streamed.stdout);
    let line = format!("http -n 20 -c 2 -q --rows rows.jsonl {}", server.url);
    let _ran = run_in(&folder, &line);
    let text = fs::read_to_string(folder.at("rows.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 20);
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(row["pool"], "main");
        assert!(row["service_time_ns"].as_u64().unwrap() > 0, "{row}");
    }
}

/// The warm-up has no rows, and a secret in the detail of a failure appears in no row.
#[test]
fn rows_are_those_of_the_figures() {
    let (server, folder) = (Serve::new(""), Folder::new());
    let line = format!(
        "http -r 100 -z 600ms --warmup 300ms -q --json out.json --rows rows.csv {}",
        server.url
    );
    let ran = run_in(&folder, &line);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let report = Report::read(&folder.at("out.json"));
    let text = fs::read_to_string(folder.at("rows.csv")).unwrap();
    assert_eq!(text.lines().count() as u64 - 1, report.n("requests.sent"));
    assert!(report.n("warmup.sent") > 0);
}
