//! The output for each interval during a run: lines of text, of JSON, of CSV.

use crate::support::program::{LIMIT, PATH, neutral};
use crate::support::{Folder, Process, Report, Run, Serve, http, in_time, lab, punctually};
use serde_json::Value;
use std::fs;
use std::process::Command;
use std::time::Duration;

/// Runs a line in a shell; `$D` is the program.
fn shell(line: &str) -> Run {
    let mut command = neutral(Command::new("sh"));
    command.args(["-c", line]).env("D", PATH);
    Process::start(&mut command).finish(LIMIT)
}

fn number(object: &Value, key: &str) -> u64 {
    object[key].as_u64().unwrap()
}

#[test]
fn every_output_tells_the_same_intervals() {
    punctually(Duration::from_millis(50), same_intervals);
}

fn same_intervals() -> Result<(), String> {
    let serve = Serve::new("");
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let run = http(&format!(
        "-r 400 -z 700ms --interval 100ms --lines={} --json-lines {} --csv-intervals {} --json {} {}",
        at("lines"),
        at("jsonl"),
        at("csv"),
        at("json"),
        serve.url
    ));
    assert_eq!((run.code, &*run.stderr), (Some(0), ""));
    let report = Report::read(&at("json"));
    let text = |name: &str| fs::read_to_string(at(name)).unwrap();

    let objects = text("jsonl");
    let objects: Vec<Value> = objects
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let intervals = report.at("intervals").as_array().unwrap().clone();
    let good = objects.iter().map(|it| number(it, "good")).sum::<u64>();
    assert_eq!(good, report.n("requests.ok"));
    let mut edge = 0;
    for object in &objects {
        assert_eq!(object["schema"], "drumfire.interval.v1");
        assert_eq!(number(object, "start_ns"), edge, "edges are exact");
        assert!(edge.is_multiple_of(100_000_000), "{edge}");
        edge += number(object, "length_ns");
        assert_eq!(object["run"], report.at("run")["id"]);
        // A delayed object may cover several intervals of the summary.
        let is_same = |of: &&Value| {
            ["start_ns", "length_ns"]
                .iter()
                .all(|k| of[*k] == object[*k])
        };
        let of_summary = intervals.iter().find(is_same);
        for key in ["good", "goal", "in_flight", "max", "lag_p99"] {
            let of_summary = of_summary.map_or(&object[key], |of| &of[key]);
            assert_eq!(&object[key], of_summary, "{key} at {edge}");
        }
    }
    let rows = text("csv");
    let rows: Vec<Vec<&str>> = rows.lines().map(|row| row.split(',').collect()).collect();
    assert_eq!((rows.len(), rows[0][3]), (objects.len() + 1, "good"));
    let lines = text("lines");
    let lines: Vec<_> = lines
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    assert_eq!(lines.len(), objects.len());
    for ((object, row), line) in objects.iter().zip(&rows[1..]).zip(lines) {
        assert_eq!(row[3], number(object, "good").to_string());
        let counts = format!("{}/0/0", row[3]);
        assert_eq!(line.split_whitespace().nth(2), Some(&*counts), "{line}");
    }
    let starts = |of: &[Value]| {
        of.iter()
            .map(|it| number(it, "start_ns"))
            .collect::<Vec<_>>()
    };
    let is_whole = (7..=8).contains(&objects.len()) && starts(&objects) == starts(&intervals);
    in_time(is_whole, || format!("{objects:#?}"))
}

#[test]
fn lines_can_be_kept_by_tee_and_cut() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let log = folder.at("run.log");
    let run = shell(&format!(
        "$D http -r 200 -n 100 --interval 100ms --lines=- {} | tee {log} | grep -v '^#' | \
         tr -s ' ' | cut -d ' ' -f 3 | grep / | cut -d / -f 1 | awk '{{s += $1}} END {{print s}}'",
        serve.url
    ));
    assert_eq!(run.stdout.trim(), "100", "{}", run.stderr);
    let log = fs::read_to_string(log).unwrap();
    let (lines, report) = log
        .split_once("Verdict")
        .expect("the report stands below the lines");
    assert!(lines.contains("good/bad/failed") && !report.contains("good/bad/failed"));
    // On standard error, the lines replace the heartbeat, and no heading follows them.
    let run = http(&format!(
        "-r 200 -n 40 --interval 100ms --lines {}",
        serve.url
    ));
    assert!(
        run.stderr.lines().any(|line| line.starts_with("20")),
        "{}",
        run.stderr
    );
    assert!(!run.stdout.contains("good/bad/failed"), "{}", run.stdout);
    let quiet = http(&format!("-r 200 -n 40 -q --json-lines - {}", serve.url));
    assert!(
        quiet.stdout.lines().all(|line| line.starts_with('{')),
        "{}",
        quiet.stdout
    );
}

/// Runs a command into a pipe of minimum size, and reads it only after the run.
const LATE_READER: &str = "python3 -c 'import fcntl, os, subprocess, sys, time; \
    r, w = os.pipe(); fcntl.fcntl(w, 1031, 4096); \
    run = subprocess.Popen(sys.argv[1:], stdout=w); os.close(w); \
    time.sleep(2.5); sys.stdout.write(os.fdopen(r).read()); run.wait()'";

#[test]
fn a_reader_touches_nothing() {
    if lab::has("python3") {
        punctually(Duration::from_millis(500), late_reader_and_none);
    }
}

fn late_reader_and_none() -> Result<(), String> {
    let serve = Serve::new("");
    let folder = Folder::new();
    let json = folder.at("run.json");
    let line = format!("$D http -r 100 -z 1500ms --interval 100ms --json-lines - --json {json}");
    let slow = shell(&format!("{LATE_READER} {line} {}", serve.url));
    let report = Report::read(&json);
    report.balances();
    assert_eq!(report.n("requests.ok"), 150);
    let duration = report.n("run.duration_ns");
    // A slow observer gets longer intervals with the same totals.
    let told = slow.stdout.lines().map(|line| {
        let object: Value = serde_json::from_str(line).unwrap();
        number(&object, "good")
    });
    assert_eq!(told.sum::<u64>(), 150, "{}", slow.stderr);

    fs::remove_file(&json).unwrap();
    let line = line.replace("-z 1500ms", "-z 1h");
    let gone = shell(&format!(
        "{{ {line} {}; echo code $? >&2; }} | head -1",
        serve.url
    ));
    // A reader that closes the pipe ends the load.
    assert_eq!(gone.stdout.lines().count(), 1);
    assert!(gone.stderr.ends_with("code 4\n"), "{}", gone.stderr);
    let cut = Report::read(&json);
    cut.balances();
    let note = "the reader of the results closed the pipe";
    assert!(cut.notes().contains(note), "{}", cut.notes());
    // The run waited for no reader.
    in_time(duration < 2_200_000_000, || format!("{:#}", report.short()))
}
