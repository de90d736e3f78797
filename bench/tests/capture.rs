//! Service times on the wire are those of a packet capture, which knows nothing of the load tester.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A quantile may differ from the capture's by this and one in [`PART`] of it, on a machine that others use
/// as well. By the program's clock the median does by some forty microseconds.
const SLACK_NS: i64 = 10_000;
/// One part in this many.
const PART: i64 = 100;
/// The program's answer where this system refuses namespaces or packets.
const REFUSED: i32 = 3;

/// How often the program is run until each of its cases is as it has to be: on a machine that others
/// use, a capture's reader or the load may be without a core for long. A clock that is wrong is so each
/// time.
const TRIES: usize = 4;
/// Its cases: three clocks, each beside nothing and beside a busy loop.
const CASES: usize = 6;

/// The runs of a program, each an object of JSON.
fn runs(output: &str) -> Vec<Value> {
    let runs = output.lines().map(serde_json::from_str);
    runs.collect::<Result<_, _>>().expect("objects of JSON")
}

/// What a run has that it must not have.
fn wrong(run: &Value) -> Option<String> {
    if run["captured"] != run["requests"] {
        return Some(format!("the capture lacks requests: {run}"));
    }
    let asked = run["asked"].as_str().expect("a clock");
    let clock = match asked {
        "receive" => "kernel",
        asked => asked,
    };
    if run["clock"] != clock {
        return Some(format!("another clock: {run}"));
    }
    for q in ["p50", "p99"] {
        let of = |what: &str| run[what][q].as_i64().expect("a time");
        let (more, captured) = (of("reported_ns") - of("captured_ns"), of("captured_ns"));
        let slack = SLACK_NS + captured / PART;
        // A clock that counts more, the hand-over or the program's own waking, shows more and
        // never less.
        if more <= -slack || asked == "wire" && more >= slack {
            return Some(format!("{q} of {run}"));
        }
    }
    None
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
    let mut left: BTreeMap<String, String> = BTreeMap::new();
    for attempt in 0..TRIES {
        let mut command = Command::new(capture);
        command.args(["--json", "--seconds", "1", "--rate", "2000"]);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(REFUSED) {
            return skip(&format!("a network namespace: {said}"));
        }
        assert!(output.status.success(), "{said}");
        let runs = runs(&String::from_utf8_lossy(&output.stdout));
        assert_eq!(runs.len(), CASES);
        for run in &runs {
            let case = format!("{} {}", run["asked"], run["busy"]);
            match wrong(run) {
                None => drop(left.remove(&case)),
                Some(wrong) if attempt == 0 || left.contains_key(&case) => {
                    left.insert(case, wrong);
                }
                Some(_) => {}
            }
        }
        if left.is_empty() {
            return;
        }
    }
    panic!("{left:#?}");
}
