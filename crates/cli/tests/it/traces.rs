//! Requests that carry a W3C traceparent, and the slowest of them.

use crate::support::program::{LIMIT, words};
use crate::support::{Folder, Process, Report, Serve, drumfire, http};
use std::collections::BTreeSet;

/// The value of the one traceparent that `--show` shows.
fn shown(line: &str) -> String {
    let run = Process::start(&mut drumfire(words(line))).finish(LIMIT);
    let fields = run.stdout.lines().filter_map(|line| {
        let (name, value) = line.strip_prefix("> ")?.split_once(": ")?;
        (name == "traceparent").then(|| value.to_owned())
    });
    let fields: Vec<String> = fields.collect();
    assert_eq!(fields.len(), 1, "{line}: {}{}", run.stdout, run.stderr);
    fields[0].clone()
}

#[test]
fn requests_and_calls_carry_a_traceparent() {
    let serve = Serve::new("--grpc");
    let address = serve.address();
    let call = "--plaintext --call helloworld.Greeter/SayHello -d '{\"name\":\"Ada\"}'";
    let mut seen = BTreeSet::new();
    for line in [
        format!("http --show --traceparent {}", serve.url),
        format!("http --show --traceparent --http2 --seed 2 {}", serve.url),
        format!("grpc {address} --show --seed 3 --traceparent {call}"),
    ] {
        let value = shown(&line);
        let parts: Vec<&str> = value.split('-').collect();
        assert_eq!(
            (parts[0], parts[1].len(), parts[2].len(), parts[3]),
            ("00", 32, 16, "01")
        );
        assert!(seen.insert(parts[1].to_owned()), "{value}");
    }
    let own = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    let line = format!(
        "http --show --traceparent -H 'traceparent: {own}' {}",
        serve.url
    );
    assert_eq!(shown(&line), own);
}

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

#[test]
fn a_stored_run_names_the_same() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let line = format!(
        "http -c 2 -n 50 --traceparent --no-tui -o {} {}",
        folder.at("run"),
        serve.url
    );
    let live = Process::start(&mut drumfire(words(&line))).finish(LIMIT);
    assert!(live.stdout.contains("Slowest "), "{}", live.stdout);
    let line = format!("report {}", folder.at("run"));
    let stored = Process::start(&mut drumfire(words(&line))).finish(LIMIT);
    assert_eq!(live.stdout, stored.stdout);
}
