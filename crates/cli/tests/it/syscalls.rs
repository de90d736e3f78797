//! How many system calls a request costs.

use crate::support::program::{LIMIT, PATH, neutral, words};
use crate::support::{Folder, Process, Report, Serve, alone, lab};

/// Total calls of a run of `requests` requests, as `strace -c` counts them.
fn calls(folder: &Folder, url: &str, requests: u64) -> f64 {
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
    command.args(words(&format!("-c 64 --threads 1 -n {requests} {url}")));
    let report = Report::of(Process::start(&mut command).finish(LIMIT));
    report.balances();
    assert_eq!(report.n("requests.ok"), requests, "{:#}", report.short());
    let text = std::fs::read_to_string(&table).unwrap();
    let total = text
        .lines()
        .find(|line| line.trim_end().ends_with("total"))
        .unwrap();
    total.split_whitespace().next().unwrap().parse().unwrap()
}

/// One to send, one to receive, and a wait shared by all ready connections. The difference of two
/// runs leaves out the cost of the start.
///
/// The number of ready connections depends on the machine, too: where it has a core for the server
/// only now and then, for one answer at a time, each has a wait of its own. So three calls are the
/// bound of every measurement, and of five one must show the sharing.
#[test]
fn a_request_costs_two_system_calls_and_a_bit() {
    if !lab::has("strace") {
        return;
    }
    let _turn = alone();
    let (folder, serve) = (Folder::new(), Serve::new(""));
    let (few, many) = (5_000, 25_000);
    let mut measured = Vec::new();
    while measured.len() < 5 && !measured.iter().any(|each| *each <= 2.1) {
        let calls = [few, many].map(|requests| calls(&folder, &serve.url, requests));
        let each = (calls[1] - calls[0]) / (many - few) as f64;
        assert!((2.0..=3.01).contains(&each), "{each} calls a request");
        measured.push(each);
    }
    let last = measured.last().unwrap();
    assert!(*last <= 2.1, "{measured:?} system calls a request");
}
