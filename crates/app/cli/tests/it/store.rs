//! Stored runs: the contents of a directory, and crashes.

use crate::support::program::{LIMIT, words};
use crate::support::{
    Folder, Process, Report, Serve, Signal, drumfire, in_time, punctually, run, signalled,
    wait_until,
};
use drumfire_measure::RunEvent;
use drumfire_store::{Beginning, Directory, Record, Recording};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Runs a line with `-o`, and compares every output with the output of `report` for the directory.
#[track_caller]
fn check(line: &str) {
    let folder = Folder::new();
    let [dir, live_json, live_csv] = ["run", "live.json", "live.csv"].map(|name| folder.at(name));
    let [json, csv] = ["again.json", "again.csv"].map(|name| folder.at(name));
    let intervals = |of: &str| {
        let [lines, json, csv] = ["lines", "jsonl", "csv"].map(|end| folder.at(of) + "." + end);
        let flags = format!("--lines={lines} --json-lines {json} --csv-intervals {csv}");
        (flags, [lines, json, csv])
    };
    let (live_flags, live_intervals) = intervals("live-intervals");
    let (flags, again_intervals) = intervals("again-intervals");
    let live = run(&format!(
        "{line} -q -o {dir} --json {live_json} --csv {live_csv} {live_flags}"
    ));
    let again = run(&format!("report {dir} --json {json} --csv {csv} {flags}"));
    assert_eq!(again.stdout, live.stdout, "{line}: {}", live.stderr);
    assert!(live.stdout.contains("Verdict"), "{line}: {}", live.stderr);
    assert_eq!(again.code, live.code, "{line}");
    assert_eq!(again.stderr, "", "{line}");
    let read = |path: &str| fs::read_to_string(path).unwrap();
    assert_eq!(read(&json), read(&live_json), "{line}");
    assert_eq!(read(&csv), read(&live_csv), "{line}");
    for (again, live) in again_intervals.iter().zip(&live_intervals) {
        assert!(!read(live).is_empty(), "{line}: {live}");
        assert_eq!(read(again), read(live), "{line}");
    }
    assert_eq!(
        read(&format!("{dir}/summary.json")),
        read(&live_json),
        "{line}"
    );
    let explained = run(&format!("report {dir} --explain --color always")).stdout;
    assert!(explained.len() > live.stdout.len(), "{line}");
    let plan = run(&format!("check {dir}/plan.yaml"));
    assert_eq!(plan.code, Some(0), "{line}: {}", plan.stderr);
}

#[test]
fn a_report_is_what_the_run_printed() {
    let serve = Serve::new("--grpc");
    let (url, address) = (&serve.url, serve.address());
    let rules = "--threshold p50<1s --threshold 'p50<1ns over 100ms' --abort-on 'failed>90%'";
    check(&format!(
        "http -r 300 -z 400ms --interval 100ms {rules} {url}"
    ));
    check(&format!(
        "http -c 3 -n 300 --warmup 20ms --interval 100ms {url} {url}a?b=c"
    ));
    check(&format!(
        "http -c 2 -n 20 -H 'X: 1' {url} http://127.0.0.1:1/"
    ));
    let call = "--call helloworld.Greeter/SayHello -d '{\"name\":\"Ada\"}'";
    check(&format!(
        "grpc {address} --plaintext -c 2 -n 50 --interval 100ms {call}"
    ));
}

const PLAN: &str = "\
drumfire: 1
defaults: { target: \"${env:TARGET}\" }
stop: { after: 400ms, abort: ['failed>99%'] }
thresholds: ['p50<10s', 'buy/a: p50<10s']
pools:
  browse:
    rate: 100
    requests: [{ get: / }, { get: /status/503, name: broken }]
  buy:
    users: 3
    scenarios:
      login:
        steps: [{ get: /a, name: a }, { pause: 5ms }, { post: /b, body: x, name: b }]
      look:
        steps: [{ get: /c, name: c, expect: { status: 404 } }]
";

#[test]
fn a_report_of_pools_and_scenarios_is_what_the_run_printed() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let plan = PLAN.replace("${env:TARGET}", &serve.url);
    let plan = folder.write("plan.yaml", plan);
    check(&format!("run --interval 100ms {plan}"));
}

/// A run that is killed in its first interval sent requests that no record shows.
#[test]
fn a_run_without_an_interval_has_no_answer_on_its_load() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let dir = folder.at("run");
    let line = format!("http -r 100 -z 1h --interval 1h -o {dir} {}", serve.url);
    let process = Process::start(&mut drumfire(words(&line)));
    serve.await_requests(3);
    process.signal(Signal::KILL);
    process.finish(LIMIT);
    let json = folder.at("cut.json");
    let report = run(&format!("report {dir} --json {json}"));
    assert_eq!(report.code, Some(1), "{}", report.stderr);
    assert!(
        report.stdout.contains("? load not judged"),
        "{}",
        report.stdout
    );
    let cut = Report::read(&json);
    assert!(cut.at("load.kept").is_null());
    let reasons = cut.at("load.reasons");
    assert_eq!(reasons[0].as_str(), Some("no request was due"));
}

#[test]
fn a_run_that_is_killed_is_stored_up_to_its_last_interval() {
    punctually(Duration::from_millis(300), killed_run);
}

fn killed_run() -> Result<(), String> {
    let serve = Serve::new("");
    let folder = Folder::new();
    let dir = folder.at("run");
    let line = format!("http -r 500 -z 1h --interval 100ms -o {dir} {}", serve.url);
    let process = Process::start(&mut drumfire(words(&line)));
    serve.await_requests(300);
    let so_far = run(&format!("report {dir}"));
    assert_eq!(so_far.code, Some(0), "{}", so_far.stderr);
    assert!(
        so_far.stdout.contains("the run is in progress"),
        "{}",
        so_far.stdout
    );
    assert!(!so_far.stdout.contains("cut off"), "{}", so_far.stdout);
    process.signal(Signal::KILL);
    process.finish(LIMIT);
    let json = folder.at("cut.json");
    let report = run(&format!("report {dir} --json {json}"));
    assert_eq!(report.code, Some(0), "{}", report.stderr);
    assert!(report.stdout.contains("cut off"), "{}", report.stdout);
    let cut = Report::read(&json);
    cut.balances_up_to_the_cut();
    assert_ne!(cut.validity(), "valid");
    let (sent, came) = (cut.n("requests.sent"), serve.count("requests"));
    assert!(sent <= came, "{sent} of {came}");
    assert!(!Path::new(&format!("{dir}/summary.json")).exists());
    // After any cut, the report covers the run up to the cut.
    let log = format!("{dir}/intervals.log");
    let whole = fs::read(&log).unwrap();
    fs::write(&log, &whole[..whole.len() - 1]).unwrap();
    let report = run(&format!("report {dir} --json {json}"));
    assert_eq!(report.code, Some(0), "{}", report.stderr);
    assert!(Report::read(&json).n("requests.sent") < sent);
    // An interval of 50 requests, plus the requests during a slow write to the disk.
    in_time(came - sent <= 250, || format!("{sent} of {came}"))
}

#[test]
fn a_directory_that_is_removed_ends_the_storing_and_not_the_run() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let dir = folder.at("run");
    let line = format!(
        "http -q -r 100 -z 3s --interval 100ms -o {dir} {}",
        serve.url
    );
    let process = Process::start(&mut drumfire(words(&line)));
    serve.await_requests(20);
    fs::remove_dir_all(&dir).unwrap();
    let live = process.finish(LIMIT);
    assert_eq!(live.code, Some(0), "{}", live.stderr);
    assert!(
        live.stdout.contains("the stored run is incomplete"),
        "{}",
        live.stdout
    );
    assert_eq!(serve.count("requests"), 300);
}

#[test]
fn directories_that_can_t_be_used_are_refused_before_the_run() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let url = &serve.url;
    let dir = folder.at("run");
    let first = Process::start(&mut drumfire(words(&format!(
        "http -q -r 50 -z 1h -o {dir} {url}"
    ))));
    wait_until("a log", || {
        Path::new(&format!("{dir}/intervals.log")).exists()
    });
    let refused = |line: &str, why: &str| {
        let run = run(line);
        assert_eq!(run.code, Some(2), "{line}: {}", run.stderr);
        assert!(run.stderr.contains(why), "{line}: {}", run.stderr);
    };
    let line = format!("http -n 1 -o {dir} {url}");
    refused(&line, "another run is being written to");
    first.signal(Signal::INT);
    first.finish(LIMIT);
    refused(&line, "already contains a run");
    let other = folder.at("");
    refused(
        &format!("http -n 1 -o {other} {url}"),
        "contains other files",
    );
    refused(&format!("http -n 1 -o out.json {url}"), "a file name");
    refused(&format!("report {other}"), "is not a run directory");
    refused(
        "report nothing-of-this-name",
        "neither a directory nor the id",
    );
    refused(
        &format!("http -n 1 --show -o {dir} {url}"),
        "can't be used with",
    );
}

#[test]
fn a_run_that_was_killed_goes_on_with_the_rest() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let dir = folder.at("run");
    let line = format!(
        "http -q -r 100 -n 300 --interval 100ms -o {dir} {}",
        serve.url
    );
    signalled(&serve, &line, 60, Signal::KILL);
    let before = serve.count("requests");
    let json = folder.at("whole.json");
    let rest = run(&format!("resume {dir} -q --json {json}"));
    assert_eq!(rest.code, Some(0), "{}", rest.stderr);
    let whole = Report::read(&json);
    whole.balances_up_to_the_cut();
    assert_eq!(whole.n("requests.sent"), 300);
    assert!(
        whole.notes().contains("was cut off after"),
        "{}",
        whole.notes()
    );
    // The requests of the interval that the crash lost are sent again, however many.
    let all = serve.count("requests");
    assert!(
        (300..=300 + before).contains(&all),
        "{before} and then {all}"
    );
    let read = |path: &str| fs::read_to_string(path).unwrap();
    assert_eq!(read(&format!("{dir}/summary.json")), read(&json));
    assert_eq!(run(&format!("report {dir}")).stdout, rest.stdout);
    let again = run(&format!("resume {dir} -q"));
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("nothing is left"), "{}", again.stderr);
}

#[test]
fn a_run_that_a_signal_ended_goes_on_in_its_time() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let dir = folder.at("run");
    let line = format!(
        "http -q -r 'const(50,3s) const(300,500ms)' --interval 100ms -o {dir} {}",
        serve.url
    );
    signalled(&serve, &line, 20, Signal::INT);
    let rest = run(&format!("resume {dir} -q"));
    assert_eq!(rest.code, Some(0), "{}", rest.stderr);
    let all = serve.count("requests");
    assert_eq!(all, 300, "each arrival of the law is one of either part");
    assert!(rest.stdout.contains("was resumed"), "{}", rest.stdout);
}

/// A run is resumed only with the plan of its log.
#[test]
fn a_plan_that_is_not_the_runs_is_not_resumed() {
    let (serve, other) = (Serve::new(""), Serve::new(""));
    let folder = Folder::new();
    let dir = folder.at("run");
    let line = format!(
        "http -q -r 100 -n 300 --interval 100ms -o {dir} {}",
        serve.url
    );
    signalled(&serve, &line, 60, Signal::KILL);
    let plan = format!("{dir}/plan.yaml");
    let whole = fs::read_to_string(&plan).unwrap();
    for (from, to, reason) in [
        (&*serve.url, &*other.url, "requests http://"),
        ("requests: 300", "requests: 400", "other stop conditions"),
        ("rate: 100", "rate: 110", "other rates or users"),
    ] {
        assert!(whole.contains(from), "{whole}");
        fs::write(&plan, whole.replace(from, to)).unwrap();
        let refused = run(&format!("resume {dir} -q"));
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains(reason), "{}", refused.stderr);
    }
    assert_eq!(other.count("requests"), 0);
    fs::write(&plan, whole).unwrap();
    let rest = run(&format!("resume {dir} -q"));
    assert_eq!(rest.code, Some(0), "{}", rest.stderr);
}

/// A run that was killed or stopped and then resumed to its end can be compared, from the store and
/// from JSON.
#[test]
fn a_run_that_was_resumed_to_its_end_is_compared() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let whole = folder.at("whole");
    let line = |dir: &str| {
        format!(
            "http -q -r 100 -n 200 --interval 100ms -o {dir} {}",
            serve.url
        )
    };
    run(&line(&whole));
    for (name, signal) in [("killed", Signal::KILL), ("stopped", Signal::INT)] {
        let dir = folder.at(name);
        signalled(&serve, &line(&dir), 60, signal);
        let cut = run(&format!("compare {whole} {dir} --least 99%"));
        assert_eq!(cut.code, Some(2), "{}", cut.stdout);
        let json = folder.at(&format!("{name}.json"));
        let rest = run(&format!("resume {dir} -q --json {json}"));
        assert_eq!(rest.code, Some(0), "{}", rest.stderr);
        for resumed in [&dir, &json] {
            let compared = run(&format!("compare {whole} {resumed} --least 99%"));
            assert_eq!(compared.code, Some(0), "{resumed}: {}", compared.stderr);
        }
    }
}

/// None of 400 requests is lost because of the second in which the first part of the run drained.
#[test]
fn a_drain_is_no_time_of_the_load() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let dir = folder.at("run");
    let line = format!(
        "http -q -r 100 -z 4s --interval 100ms -o {dir} {}?delay=1s",
        serve.url
    );
    signalled(&serve, &line, 50, Signal::INT);
    let first = folder.at("first.json");
    let read = run(&format!("report {dir} --json {first}"));
    assert_eq!(read.code, Some(4), "{}", read.stderr);
    let rest = run(&format!("resume {dir} -q"));
    assert_eq!(rest.code, Some(0), "{}", rest.stderr);
    // A request that was due at the signal and late is pending in the first part.
    let pending = Report::read(&first).n("requests.pending");
    assert_eq!(serve.count("requests") + pending, 400);
}

/// Every text in a log, as an attacker may have written it: no control character reaches a
/// terminal.
#[test]
fn the_texts_of_a_stored_log_are_escaped() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let plan = format!(
        "drumfire: 1
pools:
  main:
    target: {}
    users: 2
    scenarios:
      a: {{ steps: [ {{ get: /, name: one, headers: {{ X-A: b }} }}, {{ pause: 1ms }} ] }}
      b: {{ steps: [ {{ post: /echo, name: two, body: hello }} ] }}
    stop: {{ iterations: 20 }}
thresholds: [ p50<1s, \"step(one).max<1s\" ]
",
        serve.url
    );
    let plan = folder.write("plan.yaml", plan);
    let whole = folder.at("whole");
    let stored = run(&format!("run {plan} -q -o {whole}"));
    assert_eq!(stored.code, Some(0), "{}", stored.stderr);

    let hostile = |text: &str| format!("{text}\u{1b}[3m\u{7}\u{9b}2J\u{202e}");
    let mut intervals = Vec::new();
    let record = Record::replay(Path::new(&whole), &mut |event| {
        if let RunEvent::IntervalClosed(interval) = event {
            intervals.push(Arc::clone(interval));
        }
    });
    let summary = record.unwrap().summary;
    let mut info = (*summary.info).clone().with_texts(&hostile);
    info.pools[0].name = hostile("main");
    info.version = hostile("0.1.0");
    for (name, is_cut) in [("changed", false), ("cut", true)] {
        let changed = folder.at(name);
        let directory = Directory::create(Path::new(&changed)).unwrap();
        let beginning = Beginning {
            info: &info,
            info_json: b"{}",
            plan: "",
            caller: "keys",
        };
        let mut recording = Recording::create(directory, beginning).unwrap();
        for interval in &intervals {
            recording.interval(interval).unwrap();
        }
        if !is_cut {
            let ending = summary.ending(None).with_texts(&hostile);
            recording.finish(&ending).unwrap();
        }
        for output in [
            "",
            "--explain",
            "--brief",
            "--csv -",
            "--lines=-",
            "--csv-intervals -",
        ] {
            let shown = run(&format!("report {changed} --color never {output}"));
            let text = shown.stdout + &shown.stderr;
            assert!(text.len() > 100, "{name} {output}: {text}");
            let is_raw = |c: &char| c.is_control() && *c != '\n' || *c == '\u{202e}';
            let raw = text.lines().find(|line| line.chars().any(|c| is_raw(&c)));
            assert_eq!(raw, None, "{name} {output}");
        }
    }
}
