//! Service times on the wire are those of a packet capture, which knows nothing of the load tester.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A quantile may differ from the capture's by this and one in [`PART`] of it, on a machine that others use
/// as well. By the program's clock the median does by some forty microseconds.
const SLACK_NS: i64 = 10_000;
/// One part in this many.
const PART: i64 = 100;
/// The program's answer where this system refuses namespaces or packets.
const REFUSED: i32 = 3;

/// The runs of a program, each an object of JSON; `None` where a capture lacks requests, since its
/// reader had no core for long.
fn whole(output: &str) -> Option<Vec<Value>> {
    let runs = output.lines().map(serde_json::from_str);
    let runs: Vec<Value> = runs.collect::<Result<_, _>>().ok()?;
    let is_whole = runs.iter().all(|run| run["captured"] == run["requests"]);
    is_whole.then_some(runs)
}

#[test]
fn service_times_on_the_wire_are_those_of_a_capture() {
    let skip = |needed: &str| {
        let text = format!("this test needs {needed}");
        assert!(
            std::env::var_os("CI").is_none_or(|ci| ci != "true"),
            "{text}"
        );
        eprintln!("skipped: {text}");
    };
    let capture = Path::new(env!("CARGO_BIN_EXE_capture"));
    for needed in ["drumfire", "floor", "answer"] {
        if !capture.with_file_name(needed).is_file() {
            return skip(&format!("`{needed}` beside `capture`"));
        }
    }
    let mut runs = None;
    for _ in 0..3 {
        let mut command = Command::new(capture);
        command.args(["--json", "--seconds", "1", "--rate", "2000"]);
        let output = command.output().unwrap();
        let wrong = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(REFUSED) {
            return skip(&format!("a network namespace: {wrong}"));
        }
        assert!(output.status.success(), "{wrong}");
        runs = whole(&String::from_utf8_lossy(&output.stdout));
        if runs.is_some() {
            break;
        }
    }
    let runs = runs.expect("a whole capture");
    assert_eq!(runs.len(), 6);
    for run in &runs {
        let asked = run["asked"].as_str().unwrap();
        for q in ["p50", "p99"] {
            let of = |what: &str| run[what][q].as_i64().unwrap();
            let (more, captured) = (of("reported_ns") - of("captured_ns"), of("captured_ns"));
            let slack = SLACK_NS + captured / PART;
            // A clock that counts more, the hand-over or the program's own waking, shows more and
            // never less.
            assert!(more > -slack, "{q} of {run}");
            assert!(asked != "wire" || more < slack, "{q} of {run}");
        }
        let clock = match asked {
            "receive" => "kernel",
            asked => asked,
        };
        assert_eq!(run["clock"], clock, "{run}");
    }
}
