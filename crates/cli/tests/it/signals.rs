//! The effects of signals on a run, as a person at a terminal sees them.

use crate::support::process::Signal;
use crate::support::{PATIENCE, Process, Serve, alone, drumfire, wait_until};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// How long a person does not notice, and a little more for a machine that is busy.
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
            // It ends with an error when the other end is closed.
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

/// Starts four requests that no answer comes to, with intervals of half a minute.
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

/// One signal is acknowledged at once, with any interval, and the second brings the report at once,
/// with the requests in flight counted as such.
#[test]
fn the_first_is_acknowledged_and_the_second_reports_at_once() {
    let _turn = alone();
    let serve = Serve::new("--delay const:5m");
    let mut noticed = Vec::new();
    for (first, second) in [
        (Signal::INT, Signal::INT),
        (Signal::TERM, Signal::INT),
        (Signal::INT, Signal::TERM),
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
        let asked = Instant::now();
        process.signal(second);
        let run = process.finish(PATIENCE);
        let took = asked.elapsed();
        assert!(took < Duration::from_secs(2), "the report came in {took:?}");
        assert_eq!(run.code, Some(1), "nothing was answered");
        for part in ["4 in flight", "a signal ended the run before its plan did"] {
            assert!(run.stdout.contains(part), "no `{part}` in {}", run.stdout);
        }
    }
    // Each should be; on a busy machine one of three is enough to see that nothing is waited for.
    assert!(noticed.iter().any(|time| *time < NOTICED), "{noticed:?}");
}

/// A pipe that takes nothing more.
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

/// The third ends the program, even while the report is not read.
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
