//! Service times on the wire are equal to those in an independent packet capture.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The maximum difference of a quantile from the capture's, plus one part in [`PART`] of it, on a
/// machine that is shared. With the program's clock, the median differs by about 40 µs.
const SLACK_NS: i64 = 10_000;
/// The divisor of the relative slack.
const PART: i64 = 100;
/// The program's exit code if the system refuses namespaces or packet sockets.
const REFUSED: i32 = 3;

/// The maximum number of runs of the program until each case has passed: on a shared machine, the
/// capture's reader or the load may be without a core for long. A wrong clock fails every time.
const TRIES: usize = 4;
/// The cases: three clocks, each without and with a busy loop.
const CASES: usize = 6;

/// The runs of the program, each a JSON object.
fn runs(output: &str) -> Vec<Value> {
    let runs = output.lines().map(serde_json::from_str);
    runs.collect::<Result<_, _>>().expect("objects of JSON")
}

/// The mistake in a run.
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
        // A clock that includes more, the hand-over or the program's wake-up, gives longer times
        // and never shorter ones.
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
