//! The effects of signals on a run, as a person at a terminal sees them.

use crate::support::process::Signal;
use crate::support::{
    Folder, PATIENCE, Process, Serve, alone, drumfire, in_time, punctually, signalled, wait_until,
};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// The time that a person does not notice, plus a margin for a busy machine.
const NOTICED: Duration = Duration::from_millis(100);

/// A terminal, and the text on it.
struct Terminal {
    /// The program's end.
    line: OwnedFd,
    text: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn open() -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let name = name.to_str().unwrap();
        let line = OpenOptions::new().read(true).write(true).open(name);
        let text: Arc<Mutex<Vec<u8>>> = Arc::default();
        let seen = Arc::clone(&text);
        let mut ours = File::from(ours);
        thread::spawn(move || {
            let mut piece = [0; 4096];
            // Reading ends with an error when the other end is closed.
            while let Ok(read @ 1..) = ours.read(&mut piece) {
                seen.lock().unwrap().extend_from_slice(&piece[..read]);
            }
        });
        Self {
            line: line.unwrap().into(),
            text,
        }
    }

    fn shows(&self, part: &str) -> bool {
        String::from_utf8_lossy(&self.text.lock().unwrap()).contains(part)
    }
}

/// Starts four requests that get no response, with intervals of half a minute.
fn start(serve: &Serve, stderr: OwnedFd, stdout: Option<OwnedFd>) -> Process {
    let before = serve.count("requests");
    let line = format!("http -c 4 -z 2m --interval 30s {}", serve.url);
    let mut command = drumfire(line.split(' '));
    command.env("TERM", "xterm").stderr(stderr);
    match stdout {
        Some(stdout) => command.stdout(stdout),
        None => command.stdout(std::process::Stdio::piped()),
    };
    let process = Process::start_as_it_is(&mut command);
    serve.await_requests(before + 4);
    process
}

/// The first signal is acknowledged at once, with any interval. The second prints the report at
/// once, with the requests in flight counted as such.
#[test]
fn the_first_is_acknowledged_and_the_second_reports_at_once() {
    let _turn = alone();
    punctually(NOTICED, first_and_second);
}

fn first_and_second() -> Result<(), String> {
    let serve = Serve::new("--delay const:5m");
    let mut noticed = Vec::new();
    for (first, second) in [
        (Signal::INT, Signal::INT),
        (Signal::TERM, Signal::INT),
        (Signal::INT, Signal::TERM),
        (Signal::TERM, Signal::HUP),
    ] {
        let terminal = Terminal::open();
        let line = terminal.line.try_clone().unwrap();
        let mut process = start(&serve, line, None);
        assert!(!terminal.shows("stopping"));
        let asked = Instant::now();
        process.signal(first);
        wait_until("it is acknowledged", || {
            terminal.shows("in flight (again to report now)")
        });
        noticed.push(asked.elapsed());
        sleep(Duration::from_millis(200));
        assert!(process.is_running(), "it waits for what is in flight");
        process.signal(second);
        let run = process.finish(PATIENCE);
        assert_eq!(run.code, Some(1), "nothing was answered");
        for part in [
            "4 in flight",
            "the run was interrupted before its planned end",
        ] {
            assert!(run.stdout.contains(part), "no `{part}` in {}", run.stdout);
        }
    }
    // Each should be fast. On a busy machine, one fast case is enough to show that nothing waits.
    let is_noticed = noticed.iter().any(|time| *time < NOTICED);
    in_time(is_noticed, || format!("{noticed:?}"))
}

/// The kernel and the shell may each send SIGHUP when a terminal is closed: the second one is the
/// same request.
#[test]
fn a_second_hangup_does_not_hurry_the_end() {
    let serve = Serve::new("--delay const:5m");
    let terminal = Terminal::open();
    let line = terminal.line.try_clone().unwrap();
    let mut process = start(&serve, line, None);
    process.signal(Signal::HUP);
    wait_until("it is acknowledged", || terminal.shows("stopping"));
    process.signal(Signal::HUP);
    sleep(Duration::from_millis(500));
    assert!(process.is_running(), "it waits for what is in flight");
    process.signal(Signal::INT);
    assert_eq!(process.finish(PATIENCE).code, Some(1));
}

/// Nothing was sent, so nothing could fail: the run was cut short.
#[test]
fn a_run_that_ends_before_its_first_request_was_cut_short() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let stored = folder.at("stored");
    let law = "const(0,5m) const(5,1s)";
    let process = Process::start(&mut drumfire([
        "http", "-o", &stored, "-r", law, &serve.url,
    ]));
    wait_until("the load has begun", || {
        fs::read_dir(&stored).is_ok_and(|files| files.count() > 1)
    });
    process.signal(Signal::INT);
    let ended = process.finish(PATIENCE);
    assert!(ended.stdout.contains("0 sent"), "{}", ended.stdout);
    assert_eq!(ended.code, Some(4), "{ended:?}");
    let reported = Process::start(&mut drumfire(["report", &stored])).finish(PATIENCE);
    assert_eq!(reported.code, Some(4), "{reported:?}");
}

/// A pipe that accepts no more data.
fn full_pipe() -> (File, OwnedFd) {
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    let nonblocking = rustix::fs::OFlags::NONBLOCK;
    rustix::fs::fcntl_setfl(&writer, nonblocking).unwrap();
    let mut file = File::from(writer);
    while file.write(&[b'x'; 4096]).is_ok() {}
    while file.write(b"x").is_ok() {}
    let writer = OwnedFd::from(file);
    rustix::fs::fcntl_setfl(&writer, rustix::fs::OFlags::empty()).unwrap();
    (reader.into(), writer)
}

/// The third signal ends the program, even if the report is not read.
#[test]
fn the_third_ends_the_program() {
    let serve = Serve::new("--delay const:5m");
    let terminal = Terminal::open();
    let (_reader, stdout) = full_pipe();
    let line = terminal.line.try_clone().unwrap();
    let mut process = start(&serve, line, Some(stdout));
    process.signal(Signal::INT);
    wait_until("it is acknowledged", || terminal.shows("stopping"));
    process.signal(Signal::INT);
    sleep(Duration::from_millis(500));
    assert!(process.is_running(), "its report is not read");
    process.signal(Signal::INT);
    assert_eq!(process.finish(PATIENCE).code, Some(130));
}

/// With a pipe, too, one signal is acknowledged, and a run that was cut short is not a success.
#[test]
fn a_run_that_was_cut_short_has_a_code_of_its_own() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let dir = folder.at("run");
    let line = format!("http -r 50 -z 2m -o {dir} {}", serve.url);
    let run = signalled(&serve, &line, 5, Signal::INT);
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    let said = "in flight (again to report now)";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    // The stored run has the same exit code.
    let report = Process::start(&mut drumfire(["report", &dir])).finish(PATIENCE);
    assert_eq!(report.code, Some(4), "{}", report.stderr);
    let whole = format!("http -n 5 {}", serve.url);
    let run = Process::start(&mut drumfire(whole.split(' '))).finish(PATIENCE);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

/// Unread lines block neither the end of the program nor its other results.
#[test]
fn the_second_ends_a_run_whose_lines_are_not_read() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let json = folder.at("result.json");
    for flag in ["--json-lines", "--csv-intervals"] {
        let (_reader, stdout) = full_pipe();
        let line = format!(
            "http -r 50 -z 2m --interval 100ms --no-store {flag} - --json {json} {}",
            serve.url
        );
        let mut command = drumfire(line.split(' '));
        command.stdout(stdout).stderr(std::process::Stdio::piped());
        let before = serve.count("requests");
        let process = Process::start_as_it_is(&mut command);
        serve.await_requests(before + 10);
        process.signal(Signal::INT);
        sleep(Duration::from_millis(300));
        process.signal(Signal::INT);
        let run = process.finish(PATIENCE);
        assert_eq!(run.code, Some(1), "{flag}: {}", run.stderr);
        assert!(run.stderr.contains("stopped reading"), "{}", run.stderr);
        let json = fs::read_to_string(&json).expect("the other result");
        assert!(json.contains("the run was interrupted"), "{json}");
    }
}

/// The program ends after the second signal, even if something blocks it.
#[test]
fn the_second_ends_the_program_in_any_case() {
    let serve = Serve::new("--delay const:5m");
    let terminal = Terminal::open();
    let (_reader, stdout) = full_pipe();
    let line = terminal.line.try_clone().unwrap();
    let process = start(&serve, line, Some(stdout));
    process.signal(Signal::INT);
    wait_until("it is acknowledged", || terminal.shows("stopping"));
    process.signal(Signal::INT);
    assert_eq!(process.finish(PATIENCE).code, Some(130));
    wait_until("its end is said", || {
        terminal.shows("exiting without the last results")
    });
}

/// A program puts no load on a server after the reader of its lines has closed the pipe.
#[test]
fn a_reader_of_lines_that_goes_ends_the_run() {
    let serve = Serve::new("");
    let url = &serve.url;
    for (line, code) in [
        (
            format!("http -r 50 -z 2m --interval 100ms --no-store --lines=- {url}"),
            Some(4),
        ),
        (
            format!("http -r 50 -z 2m --interval 100ms --no-store --json-lines - {url}"),
            Some(4),
        ),
        (
            format!("slow_cooker -qps 10 -interval 200ms -noLatencySummary {url}"),
            None,
        ),
    ] {
        let mut command = drumfire(line.split(' '));
        let cloexec = rustix::pipe::PipeFlags::CLOEXEC;
        let (reader, stdout) = rustix::pipe::pipe_with(cloexec).unwrap();
        command.stdout(stdout).stderr(std::process::Stdio::piped());
        let before = serve.count("requests");
        let process = Process::start_as_it_is(&mut command);
        drop(command);
        serve.await_requests(before + 3);
        drop(reader);
        let run = process.finish(PATIENCE);
        assert_eq!(run.code, code, "{line}: {}", run.stderr);
        if code.is_none() {
            assert_eq!(run.signal, Some(Signal::PIPE.as_raw()), "{line}");
        }
    }
}

#[test]
fn signals_that_mean_nothing_end_no_run() {
    let serve = Serve::new("");
    let line = format!("http -r 20 -z 1500ms {}", serve.url);
    let process = Process::start(&mut drumfire(line.split(' ')));
    serve.await_requests(5);
    for signal in [Signal::USR1, Signal::USR2, Signal::ALARM] {
        process.signal(signal);
    }
    let run = process.finish(PATIENCE);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(serve.count("requests"), 30);
}
