//! A row for each request, the report as one line, and what single requests have of their own.

use crate::support::program::{LIMIT, words};
use crate::support::{Folder, Process, Report, Run, Serve, drumfire};
use std::fs;

fn run(folder: &Folder, line: &str) -> Run {
    let mut command = drumfire(words(line));
    command.current_dir(folder.at("."));
    Process::start(&mut command).finish(LIMIT)
}

/// The rows are those of the summary, in CSV and in JSON.
#[test]
fn each_request_is_a_row() {
    let (server, folder) = (Serve::new("--status 503:0.3"), Folder::new());
    let line = format!(
        "http -n 200 -c 4 -q --json out.json --rows rows.csv {}",
        server.url
    );
    let ran = run(&folder, &line);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let report = Report::read(&folder.at("out.json"));
    let text = fs::read_to_string(folder.at("rows.csv")).unwrap();
    // No cell of these rows has a comma in it.
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
    let streamed = run(&folder, &line);
    assert_eq!(streamed.stdout.lines().count(), 21, "{}", streamed.stdout);
    let line = format!("http -n 20 -c 2 -q --rows rows.jsonl {}", server.url);
    let _ran = run(&folder, &line);
    let text = fs::read_to_string(folder.at("rows.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 20);
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(row["pool"], "main");
        assert!(row["service_time_ns"].as_u64().unwrap() > 0, "{row}");
    }
}

/// The warm-up has no rows, and a secret that a failure's detail quotes stands in none.
#[test]
fn rows_are_those_of_the_figures() {
    let (server, folder) = (Serve::new(""), Folder::new());
    let line = format!(
        "http -r 100 -z 600ms --warmup 300ms -q --json out.json --rows rows.csv {}",
        server.url
    );
    let ran = run(&folder, &line);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let report = Report::read(&folder.at("out.json"));
    let text = fs::read_to_string(folder.at("rows.csv")).unwrap();
    assert_eq!(text.lines().count() as u64 - 1, report.n("requests.sent"));
    assert!(report.n("warmup.sent") > 0);
}

#[test]
fn a_brief_report_is_one_line() {
    let (server, folder) = (Serve::new(""), Folder::new());
    let ran = run(
        &folder,
        &format!("http -n 500 -c 4 --brief -o stored {}", server.url),
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
    for text in ["load kept", "500 sent", "0 failed", "p50 ", "p99 ", "max "] {
        assert!(ran.stdout.contains(text), "{text}: {}", ran.stdout);
    }
    let stored = run(&folder, "report stored --brief");
    assert_eq!(stored.stdout, ran.stdout);
}

/// The timeout of a request stands above its pool's, in either direction.
#[test]
fn a_request_has_a_timeout_of_its_own() {
    let (server, folder) = (Serve::new(""), Folder::new());
    let plan = r#"
drumfire: 1
defaults: { target: "URL", timeout: 300ms }
pools:
  main:
    connections: 3
    requests:
      - { get: "/?delay=600ms", name: patient, timeout: 1m }
      - { get: "/?delay=1m", name: usual }
      - { get: "/?delay=1m", name: hasty, timeout: 100ms }
stop: { requests: 6 }
"#;
    folder.write(
        "plan.yaml",
        plan.replace("URL", server.url.trim_end_matches('/')),
    );
    let ran = run(&folder, "run plan.yaml -q --rows rows.csv");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let rows = fs::read_to_string(folder.at("rows.csv")).unwrap();
    let outcomes = |step: &str| {
        let of = rows
            .lines()
            .filter(|row| row.contains(&format!(",{step},")));
        of.map(|row| row.split(',').nth(3).unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(outcomes("patient"), ["ok"; 2]);
    for step in ["usual", "hasty"] {
        let outcomes = outcomes(step);
        assert!(
            outcomes
                .iter()
                .all(|outcome| outcome.starts_with("timeout")),
            "{step}: {outcomes:?}"
        );
        assert_eq!(outcomes.len(), 2);
    }
    let wrong = plan.replace(
        "{ get: \"/?delay=1m\", name: usual }",
        "{ call: a.B/C, timeout: 1s }",
    );
    folder.write("wrong.yaml", wrong);
    let refused = run(&folder, "check wrong.yaml");
    assert!(
        refused.stderr.contains("for a call, use `deadline`"),
        "{}",
        refused.stderr
    );
}

/// A body of several parts, from flags and from a plan.
#[test]
fn a_body_has_parts() {
    let (server, folder) = (Serve::new(""), Folder::new());
    folder.write("photo.png", [0x89, b'P', b'N', b'G', 0xff]);
    folder.write("note.txt", "{{ as it is }}");
    let line = format!(
        "http --show -F user={{{{user}}}} -F note=@note.txt;type=text/plain;filename=n.txt {}echo",
        server.url
    );
    let shown = run(&folder, &line);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    for text in [
        "> POST /echo HTTP/1.1",
        "Content-Type: multipart/form-data; boundary=----drumfire0boundary",
        "Content-Disposition: form-data; name=\"user\"",
        "    0",
        "Content-Disposition: form-data; name=\"note\"; filename=\"n.txt\"",
        "Content-Type: text/plain",
        "    {{ as it is }}",
    ] {
        assert!(shown.stdout.contains(text), "{text}\n{}", shown.stdout);
    }
    let line = format!(
        "http -n 3 -F a=1 -F photo=@photo.png --print-plan {}echo",
        server.url
    );
    let printed = run(&folder, &line);
    assert_eq!(printed.code, Some(0), "{printed:?}");
    folder.write("plan.yaml", &printed.stdout);
    let ran = run(&folder, "run plan.yaml");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // A file that is no text may stand beside a template.
    let line = format!("http -n 1 -F n={{{{user}}}} -F a=@photo.png {}", server.url);
    let ran = run(&folder, &line);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for (line, message) in [
        ("-F a", "`a` is not of the form NAME=VALUE or NAME=@FILE"),
        ("-F a=@none.txt", "can't read none.txt"),
        (
            "-F a=@note.txt;size=3",
            "unknown option `size=3` after a file",
        ),
    ] {
        let refused = run(&folder, &format!("http -n 1 {line} {}", server.url));
        assert_eq!(refused.code, Some(2), "{line}: {refused:?}");
        assert!(
            refused.stderr.contains(message),
            "{line}: {}",
            refused.stderr
        );
    }
}
