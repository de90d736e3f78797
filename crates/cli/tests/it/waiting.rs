//! Users of the closed model who wait for a connection, in every output.

use crate::support::{Folder, Process, Report, Serve, drumfire, http, load_of};
use std::fs;

#[test]
fn users_who_share_connections_see_the_wait() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let files = ["run.json", "run.md", "run.html"].map(|name| folder.at(name));
    let [json, markdown, html] = &files;
    let line = format!(
        "-u 10 -c 2 -n 200 --explain --threshold p95<40ms --threshold service.p50<1m --json {json} \
         --markdown {markdown} --html {html} {}?delay=20ms",
        serve.url
    );
    let run = http(&line);
    // Each waits for four others.
    assert_eq!(run.code, Some(99), "{}{}", run.stdout, run.stderr);
    assert!(
        run.stdout.contains("1 of 2 thresholds failed"),
        "{}",
        run.stdout
    );
    let rows: Vec<&str> = run.stdout.lines().collect();
    let heads = rows.iter().position(|row| row.starts_with("Latency "));
    let names = rows[heads.unwrap() + 1..][..4].iter();
    let names: Vec<&str> = names.map(|row| row.split(' ').next().unwrap()).collect();
    assert_eq!(
        names,
        ["response", "service", "waiting", "lag"],
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("10 users shared 2 connections; about "),
        "{}",
        run.stdout
    );
    let report = Report::read(json);
    assert_eq!(report.at("run.latency_kind"), "response_time");
    assert_eq!(report.at("load.kept"), true);
    assert!(report.n("load.connections_needed") > 2);
    let slowest = &report.at("slowest").as_array().unwrap()[0];
    let longest = report.n("latency.response_time.max");
    assert_eq!(slowest["response_time_ns"].as_u64(), Some(longest));
    let interval = &report.at("intervals").as_array().unwrap()[0];
    assert!(interval["p50"].as_u64().unwrap() > 60_000_000, "{interval}");
    let markdown = fs::read_to_string(markdown).unwrap();
    for row in [
        "| response time |",
        "| waiting |",
        "10 users shared 2 connections",
    ] {
        assert!(markdown.contains(row), "{row}: {markdown}");
    }
    let html = fs::read_to_string(html).unwrap();
    for words in [
        "Tail latency, response time",
        "10 users shared 2 connections",
    ] {
        assert!(html.contains(words), "{words}");
    }
}

#[test]
fn users_with_connections_of_their_own_have_no_rows_of_waiting() {
    let serve = Serve::new("");
    let run = http(&format!("-c 4 -n 100 --explain {}?delay=2ms", serve.url));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(!run.stdout.contains("waiting"), "{}", run.stdout);
    assert!(!run.stdout.contains("shared"), "{}", run.stdout);
    assert!(
        run.stdout.contains("Service time runs from"),
        "{}",
        run.stdout
    );
}

/// A user who has a connection goes on with it, so that only its first step waits.
#[test]
fn steps_of_users_who_share_connections_have_the_wait() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let plan = folder.at("plan.yaml");
    let url = serve.url.trim_end_matches('/');
    let text = format!(
        "drumfire: 1\n\
         pools:\n\
         \x20 main:\n\
         \x20   target: {url}\n\
         \x20   users: 10\n\
         \x20   connections: 2\n\
         \x20   scenario:\n\
         \x20     - {{ get: '/?delay=20ms', name: a }}\n\
         \x20     - {{ get: '/?delay=20ms', name: b }}\n\
         stop: {{ iterations: 100 }}\n\
         thresholds: [ 'step(a).p50>=60ms', 'step(a).service.p50>=20ms' ]\n"
    );
    fs::write(&plan, text).unwrap();
    let line = ["run", &*plan, "-q", "--json", "-"];
    let report = load_of(Process::start(&mut drumfire(line)));
    let held = report.at("verdict.thresholds").as_array().unwrap();
    assert!(held.iter().all(|rule| rule["passed"] == true), "{held:#?}");
}
