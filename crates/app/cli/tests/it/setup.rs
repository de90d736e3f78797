//! Setup and teardown of a plan: steps before and after its load.

use crate::support::process::Signal;
use crate::support::program::{LIMIT, words};
use crate::support::{Folder, Process, Report, Script, Serve, drumfire, wait_until};
use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

const PLAN: &str = r#"
drumfire: 1
defaults:
  target: "URL"
  headers: { Authorization: "Bearer ${secret:setup:token}", X-Who: "${setup:who}" }
setup:
  - post: /shop/login
    name: log in
    json: { user: ada, password: ada-pw }
    take: { token: json $.token, who: json $.user }
  - get: /shop/cart
    name: cart before
    headers: { Authorization: "Bearer {{ token }}" }
    expect: { json: { $.count: "=0" } }
pools:
  shop:
    users: 2
    connections: 2
    scenario:
      - { post: /shop/cart, json: { product: 7 }, expect: { status: 201 } }
      - { post: /echo, body: "${setup:who}", expect: { body: "contains x-who: ada" } }
teardown:
  - { delete: /shop/cart, name: empty, expect: { status: 204 } }
stop: { iterations: 6 }
"#;

fn plan(folder: &Folder, server: &Serve, change: impl Fn(&str) -> String) {
    let url = server.url.trim_end_matches('/');
    folder.write("plan.yaml", change(PLAN).replace("URL", url));
}

/// A signal during a setup ends the run, even if the setup's last request is answered.
#[test]
fn no_load_follows_a_setup_in_which_a_signal_came() {
    let (load, folder) = (Serve::new(""), Folder::new());
    // The server answers after the signal was sent.
    let has_come = Arc::new(AtomicBool::new(false));
    let answers = Arc::clone(&has_come);
    let slow = Script::new(move |peer| {
        while peer.request().is_some() {
            while !answers.load(Ordering::Relaxed) && !peer.is_over() {
                sleep(Duration::from_millis(5));
            }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let text = format!(
        "drumfire: 1\nsetup: [ {{ get: \"{}x\" }} ]\npools: {{ p: {{ target: \"{}\", users: 1, requests: [ {{ get: / }} ] }} }}\nstop: {{ requests: 3 }}\n",
        slow.url(),
        load.url.trim_end_matches('/')
    );
    folder.write("plan.yaml", text);
    let mut command = drumfire(words("run plan.yaml --no-store"));
    command.current_dir(folder.at("."));
    let process = Process::start(&mut command);
    wait_until("the setup's request", || !slow.heads().is_empty());
    process.signal(Signal::INT);
    wait_until("it is acknowledged", || {
        let said = "waiting for the setup's request in flight";
        process.stderr().contains(said)
    });
    has_come.store(true, Ordering::Relaxed);
    let ended = process.finish(LIMIT);
    assert_eq!(ended.code, Some(4), "{ended:?}");
    let said = "the setup was interrupted; no load was sent";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
    assert_eq!(load.count("requests"), 0);
}

/// A plan with a setup is compiled twice, but a pipe in it can be read only once.
#[test]
fn a_pipe_of_a_plan_with_a_setup_is_read_once() {
    let (server, folder) = (Serve::new("--arrival-log 10"), Folder::new());
    let text = format!(
        "drumfire: 1\ndefaults: {{ target: \"{}\" }}\nsetup: [ {{ get: /setup }} ]\n\
         feeds: {{ f: {{ lines: pipe, order: once }} }}\n\
         pools: {{ p: {{ users: 1, requests: [ {{ get: '/{{{{ f }}}}' }} ] }} }}\n",
        server.url.trim_end_matches('/')
    );
    folder.write("plan.yaml", text);
    let made = Command::new("mkfifo").arg(folder.at("pipe")).status();
    assert!(made.unwrap().success());
    let mut command = drumfire(words("run plan.yaml --no-store"));
    command.current_dir(folder.at("."));
    let process = Process::start(&mut command);
    fs::write(folder.at("pipe"), "one\ntwo\n").unwrap();
    let ended = process.finish(LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("2 sent"), "{}", ended.stdout);
    assert_eq!(server.count("requests"), 3);
}

/// No load follows if the signal arrives between setup and load, here while a pipe for the lines
/// waits for its reader.
#[test]
fn a_signal_between_a_setup_and_its_load_is_not_lost() {
    let (server, folder) = (Serve::new(""), Folder::new());
    let text = format!(
        "drumfire: 1\ndefaults: {{ target: \"{}\" }}\nsetup: [ {{ get: /setup }} ]\n\
         pools: {{ p: {{ users: 1, requests: [ {{ get: /load }} ] }} }}\nstop: {{ after: 5m }}\n",
        server.url.trim_end_matches('/')
    );
    folder.write("plan.yaml", text);
    for pipe in ["lines", "points"] {
        let made = Command::new("mkfifo").arg(folder.at(pipe)).status();
        assert!(made.unwrap().success());
    }
    let mut command = drumfire(words(
        "run plan.yaml --no-store --json-lines lines --csv-intervals points",
    ));
    command.current_dir(folder.at("."));
    let process = Process::start(&mut command);
    // Opening returns when the setup is over; the program then waits for the reader of the other
    // pipe.
    let _lines = fs::File::open(folder.at("lines")).unwrap();
    process.signal(Signal::INT);
    let _points = fs::File::open(folder.at("points")).unwrap();
    let ended = process.finish(LIMIT);
    // If the signal is handled after the load started, it ends the load, perhaps before its first
    // request.
    assert!(matches!(ended.code, Some(1 | 4)), "{ended:?}");
}

/// The rest of a run executes the setup again.
#[test]
fn a_resumed_run_has_a_setup_of_its_own() {
    let (server, folder) = (Serve::new("--shop"), Folder::new());
    plan(&folder, &server, |plan| {
        plan.replace("iterations: 6", "iterations: 400")
            .replace("users: 2", "users: 2\n    think: 20ms")
    });
    let mut command = drumfire(words("run plan.yaml -q -o stored --interval 100ms"));
    command.current_dir(folder.at("."));
    let process = Process::start(&mut command);
    server.await_requests(40);
    process.signal(Signal::INT);
    let cut = process.finish(LIMIT);
    assert_eq!(cut.code, Some(4), "{cut:?}");
    // The password is a secret because of its name, so a stored plan refers to a variable.
    let mut command = drumfire(words("resume stored -q --json out.json"));
    command
        .current_dir(folder.at("."))
        .env("DRUMFIRE_SECRET_1", "ada-pw");
    let resumed = Process::start(&mut command).finish(LIMIT);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    let report = Report::read(&folder.at("out.json"));
    assert_eq!(report.n("requests.ok"), 800);
    assert_eq!(server.count("requests"), 800 + 2 * 3);
}

/// A phase whose response does not come confirms a signal at once, and ends on the second one.
#[test]
fn a_signal_in_a_stalled_phase_is_acknowledged_at_once() {
    const STALLED: &str = r#"
drumfire: 1
defaults: { target: "URL", timeout: 5m }
PHASE: [ { get: /boot } ]
pools: { main: { requests: [ { get: "LOAD/" } ] } }
stop: { requests: 1 }
"#;
    let (load, folder) = (Serve::new(""), Folder::new());
    for (phase, code) in [("setup", 4), ("teardown", 4)] {
        let stalled = Serve::new("--delay const:5m");
        let text = STALLED.replace("PHASE", phase);
        let text = text.replace("URL", stalled.url.trim_end_matches('/'));
        folder.write(
            "plan.yaml",
            text.replace("LOAD", load.url.trim_end_matches('/')),
        );
        let mut command = drumfire(words("run plan.yaml --no-store"));
        command.current_dir(folder.at("."));
        let process = Process::start(&mut command);
        stalled.await_requests(1);
        process.signal(Signal::INT);
        let said = format!("waiting for the {phase}'s request in flight");
        wait_until("it is acknowledged", || process.stderr().contains(&said));
        process.signal(Signal::INT);
        let ended = process.finish(LIMIT);
        assert_eq!(ended.code, Some(code), "{phase}: {ended:?}");
        let said = format!("the {phase} was interrupted");
        assert!(ended.stderr.contains(&said), "{phase}: {}", ended.stderr);
    }
    assert_eq!(
        load.count("requests"),
        1,
        "only behind a setup that succeeded"
    );
}
