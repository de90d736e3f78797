//! ghz itself compared with `drumfire ghz`: the same command lines for the same servers. Intended
//! differences are listed here, each with its reason.

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

/// Results of one command line, run by ghz and by us.
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

/// ghz's program; `None` if it is not installed.
fn original() -> Option<Command> {
    lab::suite("ghz").map(|path| neutral(Command::new(path)))
}

/// Starts the line in both programs; `HOST` in it is replaced with the server of each side.
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

/// Runs the line in both programs, one after the other, against the same server.
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

/// The reports of a line that requests JSON.
fn reports(runs: Both<Run>) -> Both<Value> {
    runs.map(|run| serde_json::from_str(&run.stdout).expect(&run.stderr))
}

/// Statuses and errors in a report, with the number of results of each.
fn results(report: &Value) -> BTreeMap<(String, String), usize> {
    let mut results = BTreeMap::new();
    for detail in report["details"].as_array().unwrap() {
        let text = |key: &str| detail[key].as_str().unwrap().to_owned();
        *results.entry((text("status"), text("error"))).or_default() += 1;
    }
    results
}

/// Runs the line in both programs, whose results must be equal.
fn check_results(line: &str, host: &str) {
    let both = reports(run(&format!("{line} -O json"), host));
    let both = both.map(|report| results(&report));
    assert!(!both.ghz.is_empty(), "{line}: no results");
    both.must_be_equal(line);
}

/// The definition of our greeter service.
fn greeter() -> String {
    let path = lab::repository().join("crates/testing/target/proto/helloworld/greeter.proto");
    path.to_str().unwrap().to_owned()
}
