//! The number of system calls per request.

use crate::support::program::{LIMIT, PATH, neutral, words};
use crate::support::{Folder, Process, Report, Serve, alone, drumfire, lab};
use std::collections::HashMap;

/// The numbers of calls per name in a run of `requests` requests, and their `total`, as `strace -c`
/// counts them.
fn calls(folder: &Folder, line: &str, requests: u64) -> HashMap<String, f64> {
    let table = folder.at("table");
    let mut command = neutral(lab::program("strace"));
    command.args([
        "-f",
        "-c",
        "-U",
        "calls,name",
        "-o",
        &table,
        PATH,
        "http",
        "--json",
        "-",
    ]);
    command.args(words(&format!("-c 64 --threads 1 -n {requests} {line}")));
    let report = Report::from_run(Process::start(&mut command).finish(LIMIT));
    report.balances();
    assert_eq!(report.n("requests.ok"), requests, "{:#}", report.short());
    let text = std::fs::read_to_string(&table).unwrap();
    let rows = text.lines().filter_map(|line| {
        let (count, name) = line.trim().split_once(' ')?;
        Some((name.trim().to_owned(), count.parse().ok()?))
    });
    rows.collect()
}

/// The numbers of calls with these names per additional request. The difference of two runs
/// excludes the cost of the start.
fn each(folder: &Folder, line: &str, [few, many]: [u64; 2], names: &[&str]) -> Vec<f64> {
    let calls = [few, many].map(|requests| calls(folder, line, requests));
    let count = |run: usize, name: &str| calls[run].get(name).copied().unwrap_or_default();
    let each = |name: &&str| (count(1, name) - count(0, name)) / (many - few) as f64;
    names.iter().map(each).collect()
}

/// The number of calls that look at files while the runs of this folder are listed. Only these grow
/// with the number of runs.
fn looks(folder: &Folder, list: &str) -> usize {
    let calls = folder.at("calls");
    let mut command = neutral(lab::program("strace"));
    command.args(["-f", "-e", "trace=file", "-o", &calls, PATH, "runs"]);
    command
        .args(words(list))
        .env("XDG_STATE_HOME", folder.at("state"));
    let run = Process::start(&mut command).finish(LIMIT);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    std::fs::read_to_string(&calls).unwrap().lines().count()
}

/// A list of the newest runs looks at no other runs. A list of all runs looks at each run twice: at
/// its log, and for labels.
#[test]
fn a_list_of_runs_looks_at_those_that_it_shows() {
    if !lab::has("strace") {
        return;
    }
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let runs = folder.path().join("state/drumfire/runs");
    std::fs::create_dir_all(&runs).unwrap();
    let (first, line) = (
        folder.at("first"),
        format!("http -q -n 5 -o {}", folder.at("first")),
    );
    let run = Process::start(&mut drumfire(words(&format!("{line} {}", serve.url)))).finish(LIMIT);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let copy_to = |until: usize| {
        let there = std::fs::read_dir(&runs).unwrap().count();
        for number in there..until {
            let run = runs.join(format!("{number:08x}"));
            std::fs::create_dir(&run).unwrap();
            for entry in std::fs::read_dir(&first).unwrap() {
                let entry = entry.unwrap();
                std::fs::hard_link(entry.path(), run.join(entry.file_name())).unwrap();
            }
        }
        // The index is created.
        looks(&folder, "--limit 5");
    };
    copy_to(20);
    let [few, few_all] = ["--limit 5", "--json"].map(|list| looks(&folder, list));
    copy_to(220);
    let [many, many_all] = ["--limit 5", "--json"].map(|list| looks(&folder, list));
    assert_eq!(many, few);
    assert_eq!(many_all, few_all + 2 * 200);
}

/// One call to send, one to receive, and a wait that all ready connections share.
///
/// The number of ready connections depends on the machine, too. If the server rarely gets a core,
/// and only for one response at a time, each connection needs a separate wait. So three calls are
/// the limit of every measurement, and one of five measurements must show the sharing.
#[track_caller]
fn costs_two_and_a_bit(flags: &str) {
    if !lab::has("strace") {
        return;
    }
    let _turn = alone();
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let line = format!("{flags} {}", serve.url);
    let mut measured = Vec::new();
    while measured.len() < 5 && !measured.iter().any(|each| *each <= 2.1) {
        let each = each(&folder, &line, [2_000, 10_000], &["total"])[0];
        assert!((2.0..=3.01).contains(&each), "{each} calls a request");
        measured.push(each);
    }
    let last = measured.last().unwrap();
    assert!(*last <= 2.1, "{measured:?} system calls a request");
}

#[test]
fn a_request_costs_two_system_calls_and_a_bit() {
    costs_two_and_a_bit("--clock program --wait sleep");
}

/// Polling looks for responses more often than a sleep does, but sends and receives as usual.
#[test]
fn adaptive_waiting_costs_nothing_but_looks() {
    if !lab::has("strace") {
        return;
    }
    let _turn = alone();
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let line = format!("--wait adaptive {}", serve.url);
    let names = ["sendto", "recvfrom", "pread64"];
    let each = each(&folder, &line, [2_000, 10_000], &names);
    assert!((each[0] - 1.0).abs() < 0.01, "{each:?}");
    assert!((each[1] - 1.0).abs() < 0.01, "{each:?}");
    assert!(each[2] < 0.1, "{each:?}");
}

/// An open load waits for due times, so it does not poll.
#[test]
fn adaptive_waiting_does_not_poll_for_an_open_load() {
    if !lab::has("strace") {
        return;
    }
    let _turn = alone();
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let line = format!("-r 500/s --wait adaptive {}", serve.url);
    let each = each(&folder, &line, [200, 1_200], &["epoll_pwait2"]);
    assert!(each[0] < 2.05, "{each:?}");
}

/// A timestamp arrives with its bytes, and the clocks are read without the kernel.
#[test]
fn the_kernel_s_stamps_cost_no_system_call() {
    costs_two_and_a_bit("--clock receive --wait sleep");
}

/// A departure time costs one call, which takes it from the error queue, in addition to the
/// receiving call. It ends no wait: a request has at most two waits, for its due time and for its
/// response.
#[test]
fn a_departure_costs_one_system_call() {
    if !lab::has("strace") {
        return;
    }
    let _turn = alone();
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let line = format!("-r 500/s --clock wire {}", serve.url);
    let names = ["sendmsg", "recvmsg", "epoll_pwait2"];
    let each = each(&folder, &line, [200, 1_200], &names);
    let near = |found: f64, expected: f64| (found - expected).abs() < 0.05;
    assert!(near(each[0], 1.0) && near(each[1], 2.0), "{each:?}");
    assert!(each[2] < 2.05, "{each:?}");
}
