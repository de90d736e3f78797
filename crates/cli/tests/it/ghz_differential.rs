//! ghz itself beside `drumfire ghz`: the same command lines to the same servers. What differs on
//! purpose is listed here, each difference with its reason.

mod addresses;
mod arrivals;
mod failures;
mod machine;
mod messages;
mod reports;
mod table;

use crate::support::program::{LIMIT, neutral, words};
use crate::support::{Process, Run, drumfire, lab};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

const HELLO: &str = "--insecure --call helloworld.Greeter/SayHello";
const UNARY: &str = "--insecure --call drumfire.test.v1.TestService/Unary";

/// The same command line, run by ghz and by us.
struct Both<T> {
    ghz: T,
    ours: T,
}

impl<T> Both<T> {
    fn map<U>(self, mut change: impl FnMut(T) -> U) -> Both<U> {
        Both {
            ghz: change(self.ghz),
            ours: change(self.ours),
        }
    }
}

impl<T: PartialEq + std::fmt::Debug> Both<T> {
    fn must_be_equal(&self, what: &str) {
        assert_eq!(self.ours, self.ghz, "ours, ghz's: {what}");
    }
}

/// ghz's program; `None` where it is not installed.
fn original() -> Option<Command> {
    lab::suite("ghz").map(|path| neutral(Command::new(path)))
}

/// Starts the line, which names the server of each side as `HOST`.
fn start(line: &str, hosts: &Both<String>) -> Both<Process> {
    let begin = |mut command: Command, host: &str| {
        command.args(words(&line.replace("HOST", host)));
        Process::start(&mut command)
    };
    Both {
        ghz: begin(original().unwrap(), &hosts.ghz),
        ours: begin(drumfire(["ghz"]), &hosts.ours),
    }
}

/// Runs the line by both, one after the other, to the same server.
fn run(line: &str, host: &str) -> Both<Run> {
    let run = |mut command: Command| {
        command.args(words(&line.replace("HOST", host)));
        Process::start(&mut command).finish(LIMIT)
    };
    Both {
        ghz: run(original().unwrap()),
        ours: run(drumfire(["ghz"])),
    }
}

/// The reports of a line that asks for JSON.
fn reports(runs: Both<Run>) -> Both<Value> {
    runs.map(|run| serde_json::from_str(&run.stdout).expect(&run.stderr))
}

/// Statuses and errors in a report, with how many results had each.
fn results(report: &Value) -> BTreeMap<(String, String), usize> {
    let mut results = BTreeMap::new();
    for detail in report["details"].as_array().unwrap() {
        let text = |key: &str| detail[key].as_str().unwrap().to_owned();
        *results.entry((text("status"), text("error"))).or_default() += 1;
    }
    results
}

/// Runs the line by both, whose results must be the same.
fn check_results(line: &str, host: &str) {
    let both = reports(run(&format!("{line} -O json"), host));
    let both = both.map(|report| results(&report));
    assert!(!both.ghz.is_empty(), "{line}: no results");
    both.must_be_equal(line);
}

/// Our greeter's definition.
fn greeter() -> String {
    let path = lab::repository().join("crates/target/proto/helloworld/greeter.proto");
    path.to_str().unwrap().to_owned()
}
