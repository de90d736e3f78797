//! Request logs in plans: when their requests arrive.

use crate::support::program::LIMIT;
use crate::support::{Folder, Process, Report, Script, drumfire, in_time, punctually};
use std::time::{Duration, Instant};

/// A log of three requests, half a second apart.
const LOG: &str = "{\"ts\": 100.0, \"uri\": \"/a\"}\n{\"ts\": 100.5, \"uri\": \"/b\"}\n{\"ts\": 101.0, \"uri\": \"/c\"}\n";

/// The arrival times of the log's requests at a server.
fn arrivals(keys: &str, flags: &[&str]) -> Vec<Instant> {
    let folder = Folder::new();
    folder.write("a.log", LOG);
    let (server, arrived) = Script::keeping(|_| Instant::now());
    let plan = format!(
        "drumfire: 1\npools:\n  p:\n    target: \"{}\"\n    connections: 1\n    \
         requests: [ {{ ammo: a.log{keys} }} ]\ngenerator: {{ threads: 1 }}\n",
        server.url().trim_end_matches('/')
    );
    let (path, json) = (folder.write("plan.yaml", plan), folder.at("result.json"));
    let mut command = drumfire(["run", &path, "--json", &json, "--no-tui"]);
    let run = Process::start(command.args(flags)).finish(LIMIT);
    assert_eq!(run.code, Some(0), "{run:?}");
    let report = Report::read(&json);
    report.balances();
    assert_eq!(report.n("requests.ok"), 3);
    arrived.lock().unwrap().clone()
}

#[test]
fn logs_are_replayed_with_their_own_timing() {
    for (keys, flags, apart) in [
        (", speed: 1", &[][..], 500),
        (", speed: 2", &[], 250),
        (", speed: 0.5", &[], 1000),
        ("", &["--speed", "4"], 125),
    ] {
        punctually(Duration::from_millis(100), || {
            arrivals(keys, flags).windows(2).try_for_each(|pair| {
                let took = pair[1].duration_since(pair[0]).as_millis() as u64;
                let is_right = (apart - 100..apart + 400).contains(&took);
                in_time(is_right, || format!("{keys} {flags:?}: {took} ms"))
            })
        });
    }
}
