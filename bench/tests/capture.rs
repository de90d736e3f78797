//! Service times on the wire are those of a packet capture, which knows nothing of the load tester.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Half of the requests may differ from the capture by this, on a machine that others use as well. By the
/// program's clock they do by some forty microseconds.
const MEDIAN_NS: i64 = 10_000;
/// All but one in a hundred by this: the kernel is interrupted between two stamps, too.
const TAIL_NS: i64 = 200_000;
/// The program's answer where this system refuses namespaces or packets.
const REFUSED: i32 = 3;

#[test]
fn service_times_on_the_wire_are_those_of_a_capture() {
    let capture = Path::new(env!("CARGO_BIN_EXE_capture"));
    for needed in ["drumfire", "floor", "answer"] {
        if !capture.with_file_name(needed).is_file() {
            return skip(&format!("`{needed}` beside `capture`"));
        }
    }
    // A capture whose reader had no core for long may lack segments: another one is taken then.
    for _ in 0..3 {
        let mut command = Command::new(capture);
        command.args(["--json", "--seconds", "1", "--rate", "2000"]);
        let output = command.output().unwrap();
        let wrong = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(REFUSED) {
            return skip(&format!("a network namespace: {wrong}"));
        }
        assert!(output.status.success(), "{wrong}");
        let runs = String::from_utf8_lossy(&output.stdout);
        let parsed = runs.lines().map(|run| serde_json::from_str(run).unwrap());
        let parsed: Vec<Value> = parsed.collect();
        assert_eq!(parsed.len(), 6);
        if parsed.iter().all(|run| run["captured"] == run["requests"]) {
            return parsed.iter().for_each(is_of_the_capture);
        }
    }
    panic!("no capture was whole");
}

/// What a test needs and this machine lacks: a failure where tests must run.
fn skip(needed: &str) {
    let text = format!("this test needs {needed}");
    assert!(
        std::env::var_os("CI").is_none_or(|ci| ci != "true"),
        "{text}"
    );
    eprintln!("skipped: {text}");
}

/// On the wire each request took what the capture says. A clock that counts more, the hand-over or the
/// program's own waking, shows more and never less.
#[track_caller]
fn is_of_the_capture(run: &Value) {
    let apart = |q: &str| run["difference_ns"][q].as_i64().unwrap();
    assert!(apart("p1") > -TAIL_NS && apart("p50") > -MEDIAN_NS, "{run}");
    if run["asked"] == "wire" {
        assert!(apart("p50") < MEDIAN_NS && apart("p99") < TAIL_NS, "{run}");
    }
    let clock = match run["asked"].as_str().unwrap() {
        "receive" => "kernel",
        asked => asked,
    };
    assert_eq!(run["clock"], clock, "{run}");
}
