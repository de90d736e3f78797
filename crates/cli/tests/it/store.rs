//! Stored runs: what a directory gives back, and what survives.

use crate::support::process::Run;
use crate::support::program::{LIMIT, PATH, neutral, words};
use crate::support::{
    Folder, Process, Report, Serve, Signal, drumfire, in_time, punctually, wait_until,
};
use drumfire_measure::RunEvent;
use drumfire_store::{Beginning, Directory, Record, Recording};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

fn run(line: &str) -> Run {
    Process::start(&mut drumfire(words(line))).finish(LIMIT)
}

/// Runs a line with `-o`, and compares every output with what `report` makes of the directory.
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
    // Whatever was cut: the same run up to there.
    let log = format!("{dir}/intervals.log");
    let whole = fs::read(&log).unwrap();
    fs::write(&log, &whole[..whole.len() - 1]).unwrap();
    let report = run(&format!("report {dir} --json {json}"));
    assert_eq!(report.code, Some(0), "{}", report.stderr);
    assert!(Report::read(&json).n("requests.sent") < sent);
    // An interval of 50 requests, and those of a disk that took some time.
    in_time(came - sent <= 250, || format!("{sent} of {came}"))
}

#[test]
fn a_full_disk_ends_the_storing_and_not_the_run() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let dir = folder.at("run");
    // Files of this process end at 4 KiB, and a longer one is an error and no signal.
    let script = format!(
        "trap '' XFSZ; ulimit -f 8; exec $D http -q -r 300 -z 600ms --interval 100ms -o {dir} {}",
        serve.url
    );
    let mut command = neutral(Command::new("sh"));
    command.args(["-c", &script]).env("D", PATH);
    let live = Process::start(&mut command).finish(LIMIT);
    assert_eq!(live.code, Some(0), "{}", live.stderr);
    assert_eq!(
        live.stderr.matches("the stored run is incomplete").count(),
        1,
        "{}",
        live.stderr
    );
    assert!(
        live.stdout.contains("the stored run is incomplete"),
        "{}",
        live.stdout
    );
    assert_eq!(serve.count("requests"), 180);
    let cut = run(&format!("report {dir}"));
    assert!(
        cut.stdout.contains("cut off"),
        "{}{}",
        cut.stdout,
        cut.stderr
    );
}

/// Where not even the facts of a run find room, a run that was to be stored is not sent, and neither
/// way leaves a directory that would pass for the newest run.
#[test]
fn a_disk_that_is_full_at_the_start_has_no_run() {
    for (place, code, requests) in [("-o DIR", 2, 0), ("", 0, 3)] {
        let serve = Serve::new("");
        let folder = Folder::new();
        let dir = folder.at("run");
        // No file of this process takes a byte.
        let script = format!(
            "trap '' XFSZ; ulimit -f 0; exec $D http -q -n 3 {} {}",
            place.replace("DIR", &dir),
            serve.url
        );
        let mut command = neutral(Command::new("sh"));
        command
            .args(["-c", &script])
            .env("D", PATH)
            .env("XDG_STATE_HOME", folder.at("state"));
        let run = Process::start(&mut command).finish(LIMIT);
        assert_eq!(run.code, Some(code), "{place}: {}", run.stderr);
        assert!(
            run.stderr.contains("can't write"),
            "{place}: {}",
            run.stderr
        );
        assert_eq!(serve.count("requests"), requests, "{place}");
        assert!(!Path::new(&dir).exists(), "{place}");
        let listed = fs::read_dir(folder.at("state/drumfire/runs"));
        let listed = listed.map_or(0, Iterator::count);
        assert_eq!(listed, 0, "{place}");
    }
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
        "cannot be used with",
    );
}

#[test]
fn runs_are_stored_below_the_user_s_state() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let at_home = |line: &str| {
        let mut command = drumfire(words(line));
        command.env("XDG_STATE_HOME", folder.path());
        Process::start(&mut command).finish(LIMIT)
    };
    let stored = || {
        let runs = fs::read_dir(folder.path().join("drumfire/runs"));
        runs.map_or(0, Iterator::count)
    };
    assert_eq!(at_home("report last").code, Some(2));
    at_home(&format!("http -n 3 --no-store {}", serve.url));
    at_home(&format!("http -n 1 --show {}", serve.url));
    at_home(&format!("go-wrk -c 1 -n 2 {}", serve.url));
    assert_eq!(stored(), 0);
    let live = at_home(&format!("http -q -n 3 {}", serve.url));
    assert_eq!((stored(), live.stderr.as_str()), (1, ""));
    let again = at_home("report last");
    assert_eq!(again.stdout, live.stdout);
    let last = at_home(&format!("http -q -n 4 {}", serve.url));
    assert_eq!(at_home("report last").stdout, last.stdout);
    assert_eq!(stored(), 2);
}

#[test]
fn a_state_that_can_t_be_written_is_noted_and_the_run_goes_on() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let file = folder.write("file", "");
    let mut command = drumfire(words(&format!("http -q -n 3 {}", serve.url)));
    command.env("XDG_STATE_HOME", file);
    let run = Process::start(&mut command).finish(LIMIT);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stderr.contains("the run is not stored"),
        "{}",
        run.stderr
    );
    assert!(
        run.stdout.contains("the run is not stored"),
        "{}",
        run.stdout
    );
}

#[test]
fn no_secret_is_stored() {
    let serve = Serve::new("--status 503:1");
    let folder = Folder::new();
    let dir = folder.at("run");
    let plan = folder.write(
        "plan.yaml",
        format!(
            "drumfire: 1\nvars: {{ token: CANARY-1, sign: \"${{secret:env:SIGN}}\" }}\nstop: {{ requests: 8 }}\n\
             defaults: {{ target: {} }}\npools:\n  main:\n    headers: {{ Authorization: Bearer CANARY-2, \
             X-Sign: \"${{sign}}\" }}\n    requests: [{{ post: '/echo?token=CANARY-3', body: \
             '{{\"password\":\"CANARY-4\",\"sign\":\"${{sign}}\"}}' }}]\n",
            serve.url
        ),
    );
    let mut command = drumfire(words(&format!("run -q -o {dir} {plan}")));
    command.env("SIGN", "CANARY-5-long");
    let live = Process::start(&mut command).finish(LIMIT);
    assert!(
        live.stdout.contains("503"),
        "{}{}",
        live.stdout,
        live.stderr
    );
    for entry in fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        let content = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        assert!(!content.contains("CANARY"), "{}: {content}", path.display());
    }
    let again = run(&format!("report {dir}"));
    assert_eq!(again.stdout, live.stdout);
}

/// A program with a state folder of its own.
fn at_home(folder: &Folder, line: &str) -> Run {
    let mut command = drumfire(words(line));
    command.env("XDG_STATE_HOME", folder.path());
    Process::start(&mut command).finish(LIMIT)
}

#[test]
fn runs_are_listed_tagged_and_pruned() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let home = |line: &str| at_home(&folder, line);
    assert_eq!(home("runs").stderr, "no run is stored yet\n");
    for n in 1..=3 {
        home(&format!("http -q -n {n} {}", serve.url));
    }
    let ids = || -> Vec<String> {
        let list = home("runs").stdout;
        let lines = list.lines().skip(1);
        lines
            .filter_map(|line| Some(line.split_whitespace().next()?.to_owned()))
            .collect()
    };
    let all = ids();
    assert_eq!(all.len(), 3, "{}", home("runs").stdout);
    assert_eq!(
        home(&format!("runs tag {} nightly v2", all[2])).code,
        Some(0)
    );
    assert_eq!(
        home(&format!("runs note {} 'before the upgrade'", all[2])).code,
        Some(0)
    );
    assert_eq!(
        home(&format!("runs tag {} v2 --remove", all[2])).code,
        Some(0)
    );
    let list = home("runs").stdout;
    let line = list.lines().last().unwrap();
    assert!(line.ends_with("nightly (before the upgrade)"), "{list}");
    let row: Vec<&str> = line.split_whitespace().collect();
    assert!(
        row.windows(3).any(|cells| cells[1..] == ["kept", "ok"]),
        "{list}"
    );
    assert!(list.contains(&serve.url) && list.contains("p99"), "{list}");
    let dry = home("runs prune --keep 1");
    assert_eq!(
        dry.stderr,
        "1 run would be deleted; use --yes to delete\n1 run kept: tagged\n"
    );
    let pruned = dry.stdout.lines().nth(1).unwrap();
    assert!(pruned.starts_with(&all[1]), "{}", dry.stdout);
    assert_eq!(ids().len(), 3);
    assert_eq!(
        home("runs prune --older-than 1d --yes").stderr,
        "0 runs deleted\n"
    );
    assert_eq!(
        home("runs prune --older-than 0s --yes").stderr,
        "2 runs deleted\n1 run kept: tagged\n"
    );
    assert_eq!(ids(), all[2..]);
    for no_rule in ["runs prune", "runs prune --yes"] {
        assert_eq!(home(no_rule).code, Some(2));
    }
    let kept = home(&format!("runs rm {}", all[2]));
    assert_eq!(kept.code, Some(2));
    assert!(
        kept.stderr.contains("it is tagged nightly"),
        "{}",
        kept.stderr
    );
    let removed = home(&format!("runs rm {} --tagged", all[2]));
    assert!(removed.stderr.ends_with(&format!("{} deleted\n", all[2])));
    assert_eq!(removed.code, Some(0));
    assert_eq!(ids().len(), 0);
}

#[test]
fn a_list_tells_how_each_run_went() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let home = |line: &str| at_home(&folder, line);
    let url = &serve.url;
    home(&format!("http -q -n 3 {url}?status=404"));
    home(&format!("http -q -n 3 --threshold 'max<1ns' {url}"));
    home(&format!(
        "http -q -r 40 -c 1 -z 1s --timeout 1m {url}?delay=100ms"
    ));
    let list = home("runs").stdout;
    let rows: Vec<&str> = list.lines().skip(1).collect();
    let has = |row: &str, words: &[&str]| words.iter().all(|word| row.contains(word));
    assert!(has(rows[0], &[" sent", " ok"]), "{list}");
    assert!(has(rows[1], &["✗ 1 of 1", " 99 "]), "{list}");
    assert!(has(rows[2], &["kept", "failed", "100 %", " 1 "]), "{list}");
    // What does not fit is left out.
    let newest = home("runs --limit 1");
    assert_eq!(newest.stdout.lines().count(), 2);
    assert_eq!(
        newest.stderr,
        "2 older runs not shown; --limit 3 shows all\n"
    );
    let json: serde_json::Value = serde_json::from_str(&home("runs --json").stdout).unwrap();
    assert_eq!(json["schema"], "drumfire.runs.v1");
    let failed = &json["runs"][2];
    assert_eq!(failed["exit_code"], 1);
    assert_eq!((&failed["failed"], &failed["sent"]), (&3.into(), &3.into()));
    assert_eq!(failed["target_state"], "failed");
    assert_eq!(json["runs"][1]["thresholds_failed"], 1);
    assert_eq!(json["runs"][0]["load_kept"], false);
}

#[test]
fn runs_in_directories_of_their_own_are_listed_and_not_pruned() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let home = |line: &str| at_home(&folder, line);
    let own = folder.path().join("own");
    home(&format!("http -q -n 1 {}", serve.url));
    home(&format!("http -q -n 7 -o {} {}", own.display(), serve.url));
    let rows = || -> serde_json::Value {
        let list: serde_json::Value = serde_json::from_str(&home("runs --json").stdout).unwrap();
        list["runs"].clone()
    };
    assert_eq!(rows()[0]["sent"], 7);
    assert_eq!(rows()[0]["is_elsewhere"], true);
    assert!(home("report last").stdout.contains("7 sent"));
    let pruned = home("runs prune --older-than 0s --yes").stderr;
    assert_eq!(pruned, "1 run deleted\n1 run kept: stored with -o\n");
    assert!(own.join("intervals.log").exists());
    assert_eq!(home("runs rm last").code, Some(0));
    assert!(!own.exists());
    assert_eq!(rows().as_array().unwrap().len(), 0);
}

/// A directory that the user has deleted and named again has one run, the second: what is said of the
/// first one must not be done to it.
#[test]
fn a_directory_that_another_run_has_taken_is_no_longer_the_first_ones() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let home = |line: &str| at_home(&folder, line);
    let own = folder.path().join("own");
    let ids = || -> Vec<String> {
        let list: serde_json::Value = serde_json::from_str(&home("runs --json").stdout).unwrap();
        let rows = list["runs"].as_array().unwrap().iter();
        rows.map(|row| row["id"].as_str().unwrap().to_owned())
            .collect()
    };
    home(&format!("http -q -n 1 -o {} {}", own.display(), serve.url));
    let first = ids().remove(0);
    fs::remove_dir_all(&own).unwrap();
    home(&format!("http -q -n 2 -o {} {}", own.display(), serve.url));
    let listed = ids();
    assert_eq!(listed.len(), 1);
    assert_ne!(listed[0], first);
    for line in ["report", "runs rm"] {
        let refused = home(&format!("{line} {first}"));
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(
            refused.stderr.contains("nor the id of a stored run"),
            "{}",
            refused.stderr
        );
    }
    assert!(home("report last").stdout.contains("2 sent"));
    assert_eq!(home(&format!("runs rm {}", listed[0])).code, Some(0));
    assert!(!own.exists());
}

#[test]
fn a_report_of_a_run_that_cannot_be_read_empties_no_file() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let dir = folder.at("run");
    run(&format!("http -q -n 1 -o {dir} {}", serve.url));
    let log = format!("{dir}/intervals.log");
    let mut bytes = fs::read(&log).unwrap();
    bytes[7] = 200;
    fs::write(&log, bytes).unwrap();
    let kept = folder.at("kept.jsonl");
    fs::write(&kept, "of another run").unwrap();
    let report = run(&format!("report {dir} --json-lines {kept}"));
    assert_eq!(report.code, Some(2), "{}", report.stderr);
    assert_eq!(fs::read_to_string(&kept).unwrap(), "of another run");
}

#[test]
fn a_run_that_cannot_be_read_is_never_pruned() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let home = |line: &str| at_home(&folder, line);
    home(&format!("http -q -n 1 {}", serve.url));
    home(&format!("http -q -n 1 {}", serve.url));
    let json: serde_json::Value = serde_json::from_str(&home("runs --json").stdout).unwrap();
    let id = json["runs"][0]["id"].as_str().unwrap();
    let log = folder.at(&format!("drumfire/runs/{id}/intervals.log"));
    let mut bytes = fs::read(&log).unwrap();
    bytes[7] = 200;
    fs::write(&log, bytes).unwrap();
    let pruned = home("runs prune --older-than 0s --yes");
    assert_eq!(pruned.stderr, "1 run deleted\n1 run kept: unreadable\n");
    let list = home("runs").stdout;
    assert!(list.contains(id) && list.contains("unreadable"), "{list}");
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
    let process = Process::start(&mut drumfire(words(&line)));
    serve.await_requests(60);
    process.signal(Signal::KILL);
    process.finish(LIMIT);
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
    // What was sent in the interval that the crash cost is sent again, however long it was.
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
    let process = Process::start(&mut drumfire(words(&line)));
    serve.await_requests(20);
    process.signal(Signal::INT);
    process.finish(LIMIT);
    let rest = run(&format!("resume {dir} -q"));
    assert_eq!(rest.code, Some(0), "{}", rest.stderr);
    let all = serve.count("requests");
    assert_eq!(all, 300, "each arrival of the law is one of either part");
    assert!(rest.stdout.contains("was resumed"), "{}", rest.stdout);
}

/// A run is resumed with the plan of its log, and with no other.
#[test]
fn a_plan_that_is_not_the_runs_is_not_resumed() {
    let (serve, other) = (Serve::new(""), Serve::new(""));
    let folder = Folder::new();
    let dir = folder.at("run");
    let line = format!(
        "http -q -r 100 -n 300 --interval 100ms -o {dir} {}",
        serve.url
    );
    let process = Process::start(&mut drumfire(words(&line)));
    serve.await_requests(60);
    process.signal(Signal::KILL);
    process.finish(LIMIT);
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

/// A run that was killed or stopped and resumed to its end is compared, from the store and from JSON.
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
        let before = serve.count("requests");
        let process = Process::start(&mut drumfire(words(&line(&dir))));
        serve.await_requests(before + 60);
        process.signal(signal);
        process.finish(LIMIT);
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

/// Of 400 requests, none is lost for the second in which the first part of the run drained.
#[test]
fn a_drain_is_no_time_of_the_load() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let dir = folder.at("run");
    let line = format!(
        "http -q -r 100 -z 4s --interval 100ms -o {dir} {}?delay=1s",
        serve.url
    );
    let process = Process::start(&mut drumfire(words(&line)));
    serve.await_requests(50);
    process.signal(Signal::INT);
    process.finish(LIMIT);
    let rest = run(&format!("resume {dir} -q"));
    assert_eq!(rest.code, Some(0), "{}", rest.stderr);
    let all = serve.count("requests");
    assert_eq!(all, 400);
}

#[test]
fn what_happened_is_a_line_each() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let dir = folder.at("run");
    run(&format!("http -q -n 3 -o {dir} {}", serve.url));
    let events = fs::read_to_string(format!("{dir}/events.jsonl")).unwrap();
    let names: Vec<String> = events
        .lines()
        .map(|line| {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            event["event"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(names, ["started", "stopping", "finished"]);
}

/// Every text of a log, as somebody else may have written it: nothing of it reaches a terminal raw.
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
        let mut recording = Recording::begin(directory, beginning).unwrap();
        for interval in &intervals {
            recording.interval(interval).unwrap();
        }
        if !is_cut {
            let ending = summary.ending(None).with_texts(&hostile);
            recording.end(&ending).unwrap();
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
