//! ghz's command lines against the built-in target: reflection, every format, arrivals by the
//! schedule, ends and exit codes.

use crate::support::program::{LIMIT, words};
use crate::support::{Folder, Process, Run, Serve, drumfire};
use serde_json::Value;

const CALL: &str = "--insecure --call helloworld.Greeter/SayHello";

/// `drumfire ghz LINE` against a server.
fn ghz(line: &str, server: &Serve) -> Run {
    let mut command = drumfire(["ghz"]);
    command.args(words(&format!("{line} {}", server.address())));
    Process::start(&mut command).finish(LIMIT)
}

fn json(run: &Run) -> Value {
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn a_server_tells_its_schema_and_every_call_counts() {
    let server = Serve::new("--grpc");
    let line =
        format!("{CALL} -n 100 -c 5 --connections 2 -O json -d {{\"name\":\"{{{{.WorkerID}}}}\"}}");
    let report = json(&ghz(&line, &server));
    assert_eq!(report["count"], 100);
    assert_eq!(report["endReason"], "normal");
    assert_eq!(report["statusCodeDistribution"]["OK"], 100);
    assert_eq!(report["details"].as_array().unwrap().len(), 100);
    assert_eq!(report["histogram"].as_array().unwrap().len(), 11);
    assert_eq!(report["latencyDistribution"].as_array().unwrap().len(), 7);
    assert_eq!(report["options"]["concurrency"], 5);
}

#[test]
fn a_rate_is_kept_and_time_ends_the_run() {
    let server = Serve::new("--grpc --delay 20ms");
    let line = format!("{CALL} --async -r 50 -z 1s --duration-stop wait -O json");
    let report = json(&ghz(&line, &server));
    assert_eq!(report["endReason"], "timeout");
    // The fiftieth is due when the second is over, and that is too late.
    assert_eq!(report["count"], 49);
    let line = format!("{CALL} -n 20 -r 100 -x 1m -O json");
    let report = json(&ghz(&line, &server));
    assert_eq!(
        (&report["endReason"], &report["count"]),
        (&"normal".into(), &20.into())
    );
    let total = report["total"].as_u64().unwrap();
    assert!((200_000_000..60_000_000_000).contains(&total), "{total}");
}

#[test]
fn several_formats_go_to_several_places() {
    let server = Serve::new("--grpc");
    let folder = Folder::new();
    let formats = "summary,csv,json,pretty,html,influx-summary,influx-details,prometheus";
    let names = [
        "csv", "json", "pretty", "html", "summary", "details", "prom",
    ];
    let paths: Vec<String> = names.iter().map(|name| folder.at(name)).collect();
    let line = format!("{CALL} -n 10 -c 2 -O {formats} -o -,{}", paths.join(","));
    let run = ghz(&line, &server);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stdout.starts_with("\nSummary:\n  Count:\t10\n"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("  [OK]   10 responses   \n"),
        "{}",
        run.stdout
    );
    let read = |name: &str| std::fs::read_to_string(folder.at(name)).unwrap();
    let lines = |name: &str| read(name).lines().count();
    assert_eq!((lines("csv"), lines("details")), (12, 10));
    let compact: Value = serde_json::from_str(&read("json")).unwrap();
    let pretty: Value = serde_json::from_str(&read("pretty")).unwrap();
    assert_eq!(compact, pretty);
}

#[test]
fn failures_are_told_and_change_the_exit_code() {
    let server = Serve::new("--grpc --grpc-status UNAVAILABLE:1");
    let run = ghz(&format!("{CALL} -n 5 -c 1"), &server);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(
        run.stdout.contains("  [Unavailable]   5 responses   \n"),
        "{}",
        run.stdout
    );
    let run = ghz("--insecure --call helloworld.Greeter/SayHelo", &server);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("SayHello"), "{}", run.stderr);
}

/// A command stays one where a file of the same name lies in the working directory.
#[test]
fn a_file_of_its_name_does_not_hide_a_command() {
    let folder = Folder::new();
    for name in ["ghz", "go-wrk"] {
        folder.write(name, "");
        let mut command = drumfire([name, "-v"]);
        let run = Process::start(command.current_dir(folder.path())).finish(LIMIT);
        assert_eq!(run.code, Some(0), "{name}: {}", run.stderr);
    }
}

/// A report of ghz's has no place for rules: what fails the run is said beside it.
#[test]
fn a_threshold_that_does_not_hold_is_named() {
    let server = Serve::new("--grpc");
    let line = |rule: &str| ghz(&format!("{CALL} -n 5 -c 1 --threshold {rule}"), &server);
    let run = line("max<1ns");
    assert_eq!(run.code, Some(99), "{}", run.stderr);
    let words = "--threshold 'max<1ns' failed: ";
    assert!(run.stderr.contains(words), "{}", run.stderr);
    assert!(run.stdout.contains("Summary:"), "{}", run.stdout);
    // Five samples show no 99th percentile.
    let run = line("p99<1us");
    assert_eq!(run.code, Some(99), "{}", run.stderr);
    assert!(run.stderr.contains("samples"), "{}", run.stderr);
    let run = line("max<100s");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
}
