//! Lines of bodies and messages of calls: requests use the elements of their own list in order,
//! regardless of the other requests of their pool.

use crate::support::program::LIMIT;
use crate::support::{Folder, Process, Script, Signal, drumfire, wait_until};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// A server that records the targets and bodies of requests as `/target body`, in order of arrival.
fn server() -> (Script, Arc<Mutex<Vec<String>>>) {
    Script::keeping(|request| {
        let target = request.head.split(' ').nth(1).unwrap();
        let body = String::from_utf8(request.body).unwrap();
        format!("{target} {body}")
    })
}

/// Two requests, each with its own lines.
const BOTH: &str = "
      - { post: /four, body_file: four.txt, body_lines: true }
      - { post: /six, body_file: six.txt, body_lines: true }";

/// If nothing counts requests, each thread reads the whole list.
#[test]
fn no_line_is_left_out_of_a_load_without_a_count() {
    let (server, arrived) = server();
    let folder = Folder::new();
    folder.write("four.txt", "a\nb\nc\nd\n");
    folder.write("six.txt", "1\n2\n3\n4\n5\n6\n");
    let url = server.url();
    for users in [1, 2, 5] {
        arrived.lock().unwrap().clear();
        let plan = format!(
            "drumfire: 1\ndefaults: {{ target: \"{}\" }}\npools:\n  p:\n    users: {users}\n    \
             requests:{BOTH}\n    stop: {{ after: 1h }}\ngenerator: {{ threads: 2, seed: 5 }}\n",
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

/// An interrupted run continues with the rows and lines that it has not sent yet.
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
