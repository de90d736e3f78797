//! Lines of bodies and messages of calls: each list is gone through by the requests that take its
//! elements, whatever else their pool sends.

use crate::support::program::LIMIT;
use crate::support::{Folder, Process, Report, Run, Script, Serve, Signal, drumfire, wait_until};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// A server that keeps the targets and bodies of requests as `/target body`, in the order in which
/// they arrive.
fn server() -> (Script, Arc<Mutex<Vec<String>>>) {
    Script::keeping(|request| {
        let target = request.head.split(' ').nth(1).unwrap();
        let body = String::from_utf8(request.body).unwrap();
        format!("{target} {body}")
    })
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("four.txt", "a\nb\nc\nd\n");
    folder.write("six.txt", "1\n2\n3\n4\n5\n6\n");
    folder
}

fn run(plan: &str, url: &str, folder: &Folder) -> Run {
    let plan = plan.replace("{url}", url.trim_end_matches('/'));
    let (path, json) = (folder.write("plan.yaml", plan), folder.at("result.json"));
    let mut command = drumfire(["run", &path, "--json", &json, "--no-tui", "--no-store"]);
    Process::start(&mut command).finish(LIMIT)
}

/// What arrives when a pool is run on this many threads.
fn arrives(pool: &str, threads: u32) -> Vec<String> {
    let (server, arrived) = server();
    let folder = folder();
    folder.write(
        "urls.txt",
        format!("{url}one\n{url}two\n", url = server.url()),
    );
    let plan = format!(
        "drumfire: 1\ndefaults: {{ target: \"{{url}}\" }}\npools:\n  p:\n{pool}\n\
         generator: {{ threads: {threads}, seed: 5 }}\n"
    );
    let run = run(&plan, &server.url(), &folder);
    assert_eq!(run.code, Some(0), "{plan}\n{run:?}");
    Report::read(&folder.at("result.json")).balances();
    arrived.lock().unwrap().clone()
}

/// The two requests of most tests.
const BOTH: &str = "
      - { post: /four, body_file: four.txt, body_lines: true ORDER }
      - { post: /six, body_file: six.txt, body_lines: true ORDER }";

fn both(order: &str) -> String {
    BOTH.replace(" ORDER", order)
}

#[test]
fn each_request_goes_through_its_own_lines() {
    let requests = both("");
    let pool = format!(
        "    users: 1\n    connections: 1\n    requests:{requests}\n    stop: {{ requests: 12 }}"
    );
    let arrived = arrives(&pool, 1);
    let of = |target: &str| -> Vec<&str> {
        let bodies = arrived.iter().filter_map(|one| one.strip_prefix(target));
        bodies.map(str::trim).collect()
    };
    assert_eq!(of("/four"), ["a", "b", "c", "d", "a", "b"]);
    assert_eq!(of("/six"), ["1", "2", "3", "4", "5", "6"]);
}

#[test]
fn lines_are_sent_once_each_on_any_number_of_threads() {
    for load in ["users: 4", "rate: 200/s"] {
        for threads in [1, 2, 3] {
            let requests = both(", order: once");
            let pool = format!("    {load}\n    requests:{requests}");
            let mut arrived = arrives(&pool, threads);
            arrived.sort();
            // The shorter list ends the pool when its lines are used up.
            let four = ["/four a", "/four b", "/four c", "/four d"];
            let six = ["/six 1", "/six 2", "/six 3", "/six 4"];
            let all: Vec<&str> = four.into_iter().chain(six).collect();
            assert_eq!(arrived, all, "{load}, {threads} threads");
        }
    }
}

#[test]
fn weights_and_scenarios_keep_all_lines() {
    let once = "body_file: six.txt, body_lines: true, order: once";
    for pool in [
        format!(
            "    users: 2\n    requests:\n      - {{ get: /other, weight: 3 }}\n      \
             - {{ post: /six, {once} }}"
        ),
        format!(
            "    users: 2\n    scenarios:\n      look: [ {{ get: /other }} ]\n      \
             buy: [ {{ post: /six, {once} }} ]"
        ),
    ] {
        let mut arrived = arrives(&pool, 2);
        arrived.retain(|one| one.starts_with("/six"));
        arrived.sort();
        let six = ["/six 1", "/six 2", "/six 3", "/six 4", "/six 5", "/six 6"];
        assert_eq!(arrived, six, "{pool}");
    }
}

/// A list of URLs is one request with one file, and so is the body of a pool.
#[test]
fn requests_that_share_lines_go_through_them_together() {
    let lines = "body_file: four.txt";
    for pool in [
        format!(
            "    users: 1\n    requests:\n      - {{ list: urls.txt, method: POST, {lines}, \
             body_lines: true, order: once }}\n      - {{ get: /other, body: '' }}"
        ),
        format!(
            "    users: 1\n    {lines}\n    body_lines: true\n    order: once\n    \
             requests: [ {{ post: /one }}, {{ post: /two }}, {{ get: /other, body: '' }} ]"
        ),
    ] {
        let mut arrived = arrives(&pool, 1);
        arrived.retain(|one| !one.starts_with("/other"));
        assert_eq!(arrived, ["/one a", "/two b", "/one c", "/two d"], "{pool}");
    }
}

/// Where nothing counts requests, each thread goes through the list by itself.
#[test]
fn no_line_is_left_out_of_a_load_without_a_count() {
    let requests = both("");
    let (server, arrived) = server();
    let folder = folder();
    let url = server.url();
    for users in [1, 2, 5] {
        arrived.lock().unwrap().clear();
        let plan = format!(
            "drumfire: 1\ndefaults: {{ target: \"{}\" }}\npools:\n  p:\n    users: {users}\n    \
             requests:{requests}\n    stop: {{ after: 1h }}\ngenerator: {{ threads: 2, seed: 5 }}\n",
            url.trim_end_matches('/')
        );
        let path = folder.write("plan.yaml", plan);
        let process = Process::start(&mut drumfire(["run", &path, "-q", "--no-store"]));
        wait_until("all lines", || {
            let all: BTreeSet<String> = arrived.lock().unwrap().iter().cloned().collect();
            all.len() == 10
        });
        process.signal(Signal::INT);
        let run = process.finish(LIMIT);
        assert_eq!(run.code, Some(4), "{users} users: {run:?}");
    }
}

#[test]
fn calls_of_a_list_send_all_of_their_messages() {
    let serve = Serve::new("--grpc");
    let folder = Folder::new();
    let call = "call: drumfire.test.v1.TestService/Unary";
    let data = "data: [ { text: a }, { wish: { status: { code: 5 } } } ]";
    let plan = format!(
        "drumfire: 1\npools:\n  p:\n    target: {}\n    plaintext: true\n    users: 1\n    \
         requests:\n      - {{ {call}, {data} }}\n      - {{ {call}, {data}, name: other }}\n\
         stop: {{ requests: 8 }}\n",
        serve.address()
    );
    run(&plan, "", &folder);
    let report = Report::read(&folder.at("result.json"));
    assert_eq!(report.n("requests.sent"), 8);
    assert_eq!(report.n("requests.failed"), 4);
}

#[test]
fn lines_that_are_sent_once_can_not_be_drawn() {
    let folder = folder();
    let requests = both(", order: once");
    let plan = format!(
        "drumfire: 1\ndefaults: {{ target: 'http://127.0.0.1:9' }}\npools:\n  p:\n    users: 1\n    \
         mix: random\n    requests:{requests}\n"
    );
    let run = run(&plan, "", &folder);
    assert_eq!(run.code, Some(2));
    let part = "with `mix: random`, the turns of a request are not known";
    assert_eq!(run.stderr.matches(part).count(), 2, "{}", run.stderr);
}

/// A run that was interrupted goes on with the rows and lines that it has not sent yet.
#[test]
fn rows_and_lines_go_on_where_a_run_stopped() {
    let (server, arrived) = server();
    let folder = Folder::new();
    let rows: String = (0..40).map(|row| format!("r{row:02}\n")).collect();
    folder.write("rows.txt", &rows);
    let plan = "drumfire: 1\nfeeds: { f: { lines: rows.txt, order: once } }\npools:\n  p:\n    \
                target: '{url}'\n    LOAD\n    requests:\n      - { get: '/{{ f }}' }\n      \
                - { post: '/line/{{ f }}', body_file: rows.txt, body_lines: true, order: once }\n\
                generator: { threads: 2, interval: 100ms }\n";
    for load in ["rate: 20/s", "users: 2\n    think: 100ms"] {
        arrived.lock().unwrap().clear();
        let plan = plan.replace("{url}", server.url().trim_end_matches('/'));
        let path = folder.write("plan.yaml", plan.replace("LOAD", load));
        let dir = folder.at(load.split(':').next().unwrap());
        let mut command = drumfire(["run", &path, "-q", "--no-tui", "-o", &dir]);
        let process = Process::start(&mut command);
        wait_until("a load", || arrived.lock().unwrap().len() >= 9);
        process.signal(Signal::INT);
        process.finish(LIMIT);
        let before = arrived.lock().unwrap().len();
        assert!(before < 40, "{before}");
        let rest = Process::start(&mut drumfire(["resume", &dir, "-q"])).finish(LIMIT);
        assert_eq!(rest.code, Some(0), "{rest:?}");
        let mut all = arrived.lock().unwrap().clone();
        all.sort();
        let gets = (0..40).step_by(2).map(|row| format!("/r{row:02} "));
        let posts = (1..40)
            .step_by(2)
            .map(|row| format!("/line/r{row:02} r{:02}", row / 2));
        let mut expected: Vec<String> = gets.chain(posts).collect();
        expected.sort();
        assert_eq!(all, expected, "{load}: {before} before");
    }
}
