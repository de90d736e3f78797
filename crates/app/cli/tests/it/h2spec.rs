//! HTTP/2 and HPACK checked by an independent suite: a server that violates the rules in many ways,
//! and the reactions of `drumfire http --http2`.

use crate::support::{Folder, in_time, lab, punctually, turn};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, BufRead as _, BufReader};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// The number of cases in the suite, each on its own port.
const CASES: u16 = 57;
/// The maximum time of the suite in seconds: each case takes half a second, on a very busy machine.
const SECONDS_MAX: &str = "1000";

/// The maximum delay of drumfire or of the suite.
const SLACK: Duration = Duration::from_millis(300);

/// The suite waits for our reaction for one second, and we stay connected for less than that after
/// our request. If the machine delays either side that long, a case fails by chance, and the suite
/// runs again. A wrong case fails every time.
#[test]
fn every_case_of_h2spec() {
    let Some(suite) = lab::suite("h2specd") else {
        return;
    };
    let listed = lab::repository().join("conformance/http2/known-failing.txt");
    let known = known_failing(&std::fs::read_to_string(listed).unwrap());
    let always: RefCell<Option<BTreeSet<String>>> = RefCell::default();
    punctually(SLACK, || {
        let report = run_suite(&suite);
        if !report.contains(&format!("{CASES} tests, ")) {
            return Err(format!("the suite gave up: {report}"));
        }
        let failed = failing(&report);
        let before = always.take().unwrap_or_else(|| failed.clone());
        let each_time = &before & &failed;
        always.replace(Some(each_time.clone()));
        in_time(failed == known || each_time == known, || {
            format!("{each_time:?} failed each time, known are {known:?}: {report}")
        })
    });
}

/// Runs all cases once, and returns the suite's output.
fn run_suite(suite: &Path) -> String {
    let ports = Ports::free();
    for case in 0..CASES {
        relay(ports.ours + case, ports.suite + case);
    }
    let folder = Folder::new();
    let client = folder.write("client.sh", client(&ports));
    let mut command = Command::new("timeout");
    command.arg(SECONDS_MAX).arg(suite);
    command.args(["--timeout", "1", "--exec", &format!("sh {client}")]);
    command.args(["--from-port", &ports.suite.to_string()]);
    run(&mut command)
}

/// One request on one connection that stays open for a while afterwards, because the suite watches
/// the reaction.
fn client(ports: &Ports) -> String {
    format!(
        "port=${{1##*:}}\nport=${{port%/}}\n\
         exec {} http --http2 -q --no-tui --no-store -c 1 -u 1 \
         --think-time 10s -z 400ms --timeout 2s http://127.0.0.1:$((port - {} + {}))/\n",
        env!("CARGO_BIN_EXE_drumfire"),
        ports.suite,
        ports.ours
    )
}

/// The first ports on which the suite and our relay listen; each has one port per case.
struct Ports {
    suite: u16,
    ours: u16,
}

impl Ports {
    /// Free ports outside of the range from which the kernel assigns ports.
    fn free() -> Self {
        let is_free = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
        let tries = 0..30;
        let start = std::process::id() as u16 % 30;
        tries
            .map(|n| 28_200 + (start + n) % 30 * 150)
            .find(|first| (*first..first + 2 * CASES).all(is_free))
            .map(|first| Self {
                suite: first,
                ours: first + CASES,
            })
            .expect("free ports")
    }
}

/// Forwards one connection to the suite and refuses the next one. A load tester opens a second
/// connection when it has lost the first. The suite would use it for another verdict on the same
/// case, and the result would depend on which side is faster.
fn relay(from: u16, to: u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, from)).unwrap();
    thread::spawn(move || {
        let Ok((client, _)) = listener.accept() else {
            return;
        };
        drop(listener);
        let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)) else {
            return;
        };
        let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let answers = thread::spawn(move || copy(&back.0, &back.1));
        copy(&client, &server);
        let _done = answers.join();
    });
}

/// Copies until the end, and forwards the end.
fn copy(mut from: &TcpStream, mut to: &TcpStream) {
    let _copied = io::copy(&mut from, &mut to);
    let _closed = to.shutdown(Shutdown::Write);
}

/// The suite's output, without the endless repetition at its end.
fn run(command: &mut Command) -> String {
    turn::share();
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let mut report = String::new();
    for line in stdout.split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        if !line.contains("use of closed network connection") {
            report.push_str(&line);
            report.push('\n');
        }
    }
    child.wait().unwrap();
    report
}

/// The failed cases in a report, as `6.9.1 2`. In the report, a line with a section's number is
/// followed by its failed cases, each marked with a cross.
fn failing(report: &str) -> BTreeSet<String> {
    let mut section = "";
    let mut failed = BTreeSet::new();
    for line in report.lines().map(str::trim) {
        // A line may be overwritten: only the text after the last carriage return counts.
        let line = line.rsplit('\r').next().unwrap_or(line).trim();
        if let Some(case) = line.split("× ").nth(1) {
            let number = case.split(':').next().unwrap_or(case);
            failed.insert(format!("{section} {number}"));
        } else if let Some((number, _)) = line.split_once(". ")
            && number
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
        {
            section = number;
        }
    }
    failed
}

/// The cases in the list; each must have its reason.
fn known_failing(list: &str) -> BTreeSet<String> {
    let entries = list
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let case = |line: &str| {
        let (case, reason) = line.split_once(" # ").unwrap_or((line, ""));
        assert!(!reason.trim().is_empty(), "no reason: {line}");
        case.trim().to_owned()
    };
    entries.map(case).collect()
}

#[test]
fn reports_and_lists_are_read() {
    let report = "Generic tests\n  6. Frame Definitions\n    6.9. WINDOW_UPDATE\n\
        \x20     \u{2714} 1: Sends this\n      6.9.1. The Flow-Control Window\n\
        \x20       × 2: Sends that\n        Error: EOF\n    6.10. CONTINUATION\n      × 1: Sends\n";
    let expected = BTreeSet::from(["6.10 1".to_owned(), "6.9.1 2".to_owned()]);
    assert_eq!(failing(report), expected);
    let list = "# words\n\n6.10 1 # the suite is wrong\n6.9.1 2 # so is this\n";
    assert_eq!(known_failing(list), expected);
    assert!(std::panic::catch_unwind(|| known_failing("6.10 1\n")).is_err());
}
