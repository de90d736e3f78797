//! The screen on a pseudo-terminal: keys, signals, and the restored terminal.

use crate::support::process::Signal;
use crate::support::{Folder, PATIENCE, Process, Serve, drumfire, wait_until};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::Duration;

const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";

/// A way to end a run.
type End = fn(&Terminal, &Process);

/// A terminal that controls the processes started on it.
struct Terminal {
    ours: File,
    line: Option<OwnedFd>,
    text: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn open(columns: u16, rows: u16) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let line = OpenOptions::new()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        let text: Arc<Mutex<Vec<u8>>> = Arc::default();
        let terminal = Self {
            ours: File::from(ours),
            line: Some(line.into()),
            text,
        };
        terminal.resize(columns, rows);
        let seen = Arc::clone(&terminal.text);
        let mut ours = terminal.ours.try_clone().unwrap();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            // Reading ends with an error when the other end is closed everywhere.
            while let Ok(read @ 1..) = ours.read(&mut piece) {
                seen.lock().unwrap().extend_from_slice(&piece[..read]);
            }
        });
        terminal
    }

    fn resize(&self, columns: u16, rows: u16) {
        let size = Winsize {
            ws_col: columns,
            ws_row: rows,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&self.ours, size).unwrap();
    }

    /// Starts a run as the leader of the terminal's session.
    fn start(&self, line: &str) -> Process {
        self.start_with(&[], line)
    }

    /// Starts a run with these environment variables.
    fn start_with(&self, variables: &[(&str, &str)], line: &str) -> Process {
        let plain = drumfire(line.split(' '));
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(plain.get_program());
        command.args(plain.get_args());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let end = || Stdio::from(self.line.as_ref().unwrap().try_clone().unwrap());
        command.env("TERM", "xterm").env("LC_ALL", "C.UTF-8");
        command.envs(variables.iter().copied());
        command.stdin(end()).stdout(end()).stderr(end());
        Process::start_as_it_is(&mut command)
    }

    fn press(&self, keys: &str) {
        (&self.ours).write_all(keys.as_bytes()).unwrap();
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }

    fn await_text(&self, part: &str) {
        wait_until(part, || self.text().contains(part));
    }

    /// Waits until a row of the screen contains this text. Only changed cells are written, so the
    /// raw output may never contain the whole word.
    fn await_shown(&self, part: &str) {
        wait_until(part, || shown(&self.text()).contains(part));
    }

    /// Whether the terminal edits and echoes lines, as a shell needs.
    fn is_cooked(&self) -> bool {
        let modes = tcgetattr(self.line.as_ref().unwrap()).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// The text that was written after the screen was left for the last time.
    fn behind(&self) -> String {
        let text = self.text();
        let (_, behind) = text.rsplit_once(LEAVE).unwrap_or_else(|| {
            panic!("the screen was never left: {text:?}");
        });
        assert!(!behind.contains(ENTER), "{behind:?}");
        behind.to_owned()
    }
}

/// The rows of the screen: applies everything written since the screen was entered, texts and the
/// sequences that move the cursor and clear.
fn shown(written: &str) -> String {
    let (_, written) = written.rsplit_once(ENTER).unwrap_or_default();
    let mut rows = vec![vec![' '; 200]; 60];
    let (mut x, mut y) = (0, 0);
    let mut rest = written;
    while let Some(next) = rest.chars().next() {
        rest = &rest[next.len_utf8()..];
        let Some(sequence) = rest.strip_prefix('[').filter(|_| next == '\u{1b}') else {
            if let Some(cell) = rows
                .get_mut(y)
                .and_then(|row: &mut Vec<char>| row.get_mut(x))
            {
                *cell = next;
            }
            x += 1;
            continue;
        };
        // An incomplete sequence changes nothing yet.
        let Some(end) = sequence.find(|c: char| c.is_ascii_alphabetic()) else {
            break;
        };
        match (&sequence[..end], &sequence[end..=end]) {
            (place, "H") => {
                let (row, column) = place.split_once(';').unwrap();
                y = row.parse::<usize>().unwrap() - 1;
                x = column.parse::<usize>().unwrap() - 1;
            }
            (column, "G") => x = column.parse::<usize>().unwrap() - 1,
            ("2", "J") => rows = vec![vec![' '; 200]; 60],
            _ => {}
        }
        rest = &sequence[end + 1..];
    }
    let rows = rows.iter().map(String::from_iter);
    rows.collect::<Vec<_>>().join("\n")
}

fn running(serve: &Serve, flags: &str) -> (Terminal, Process) {
    let terminal = Terminal::open(100, 30);
    let process = terminal.start(&format!("http -r 100 {flags} {}", serve.url));
    terminal.await_text(ENTER);
    assert!(!terminal.is_cooked());
    (terminal, process)
}

#[test]
fn the_report_follows_the_screen() {
    let serve = Serve::new("");
    let (terminal, process) = running(&serve, "-z 2s");
    terminal.await_shown("target ok");
    let run = process.finish(PATIENCE);
    assert_eq!(run.code, Some(0));
    terminal.await_text("Verdict");
    terminal.await_text("Generator");
    let behind = terminal.behind();
    for part in ["Verdict", "Requests", "200 sent"] {
        assert!(behind.contains(part), "no `{part}` in {behind:?}");
    }
    assert!(behind.contains("\u{1b}[?25h") || terminal.text().contains("\u{1b}[?25h"));
    assert!(terminal.is_cooked());
}

#[test]
fn keys_command_the_run() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let json = folder.at("a.json");
    let (terminal, process) = running(&serve, &format!("-z 60s --json {json}"));
    terminal.await_shown("target ok");
    terminal.press("+");
    terminal.await_shown("rate 110/s from");
    terminal.press("mdeploy\r");
    terminal.await_shown("marked at");
    terminal.press("p");
    terminal.await_shown("load paused from");
    terminal.press(" ");
    terminal.await_shown("load resumed from");
    terminal.press("6");
    terminal.await_shown("Generator lag");
    terminal.resize(60, 14);
    sleep(Duration::from_millis(600));
    terminal.press("?");
    terminal.resize(120, 40);
    terminal.await_shown("select a step");
    terminal.press("qq");
    let run = process.finish(PATIENCE);
    assert_eq!(run.code, Some(4), "it was cut short");
    let report = std::fs::read_to_string(json).unwrap();
    for part in [
        "s: deploy",
        "was paused",
        "resumed",
        "changed to const(110/s)",
    ] {
        assert!(report.contains(part), "no {part} in {report}");
    }
    assert!(terminal.is_cooked());
}

#[test]
fn whatever_ends_the_program_the_terminal_is_as_before() {
    let serve = Serve::new("--delay const:5m");
    let ends: [(&str, End); 5] = [
        ("two keys", |terminal, _| terminal.press("qq")),
        ("the interrupt key", |terminal, _| {
            terminal.press("\u{3}");
            terminal.await_shown("stopping: waiting for");
            terminal.press("\u{3}");
        }),
        ("two signals", |terminal, process| {
            process.signal(Signal::TERM);
            terminal.await_shown("stopping: waiting for");
            process.signal(Signal::INT);
        }),
        ("three signals", |terminal, process| {
            for _ in 0..3 {
                process.signal(Signal::INT);
                sleep(Duration::from_millis(20));
            }
            terminal.await_text(LEAVE);
        }),
        ("the quit signal", |_, process| process.signal(Signal::QUIT)),
    ];
    for (end, act) in ends {
        let (terminal, mut process) = running(&serve, "-z 60s --interval 200ms");
        terminal.await_shown("1 overview");
        act(&terminal, &process);
        process.wait(PATIENCE);
        wait_until("the screen is left", || terminal.text().contains(LEAVE));
        assert!(terminal.is_cooked(), "{end}");
        let _report = terminal.behind();
    }
}

/// After a panic in any thread, the terminal is restored before the message is printed, and no
/// thread takes the terminal again.
#[test]
fn a_panic_is_told_on_the_terminal_as_it_was() {
    let serve = Serve::new("");
    let terminal = Terminal::open(100, 30);
    let line = format!("http -r 100 -z 3s --interval 500ms {}", serve.url);
    let process = terminal.start_with(&[("DRUMFIRE_TEST_PANIC", "1")], &line);
    terminal.await_text("a defect that a test wants");
    assert!(terminal.is_cooked());
    let behind = terminal.behind();
    assert!(behind.contains("a defect that a test wants"), "{behind:?}");
    // A release build has aborted by then. In other builds, the run continues without drawing.
    let run = process.finish(PATIENCE);
    assert_eq!(run.code, Some(101), "{run:?}");
    assert!(terminal.is_cooked());
    assert_eq!(terminal.text().matches(ENTER).count(), 1);
    assert!(terminal.behind().contains("a defect that a test wants"));
}

#[test]
fn failures_are_shown_with_an_example() {
    let serve = Serve::new("--status 503:1");
    let (terminal, process) = running(&serve, "-z 60s --interval 200ms");
    terminal.await_shown("1 overview");
    terminal.press("4");
    terminal.await_shown("503 of ");
    terminal.press("qq");
    assert_eq!(process.finish(PATIENCE).code, Some(1));
}

#[test]
fn a_suspended_run_gives_the_terminal_back_and_takes_it_again() {
    let serve = Serve::new("");
    let (terminal, process) = running(&serve, "-z 60s --interval 200ms");
    terminal.await_shown("1 overview");
    process.signal(Signal::TSTP);
    wait_until("it stands", || process.stands());
    assert!(terminal.is_cooked());
    let before = terminal.text().matches(ENTER).count();
    process.signal(Signal::CONT);
    wait_until("the screen is back", || {
        terminal.text().matches(ENTER).count() > before
    });
    wait_until("keys are taken", || !terminal.is_cooked());
    terminal.press("qq");
    assert_eq!(process.finish(PATIENCE).code, Some(4));
    assert!(terminal.is_cooked());
}

#[test]
fn a_terminal_that_goes_ends_the_run() {
    let serve = Serve::new("");
    let (terminal, mut process) = running(&serve, "-z 60s --interval 200ms");
    terminal.await_shown("1 overview");
    // The signal that the kernel sends as well.
    process.signal(Signal::HUP);
    assert_eq!(process.wait(PATIENCE).code(), Some(4), "it was cut short");
    assert!(terminal.is_cooked());
}

#[test]
fn without_room_or_by_choice_there_is_no_screen() {
    let serve = Serve::new("");
    for (columns, rows, flags) in [
        (79, 24, ""),
        (80, 23, ""),
        (80, 24, "--no-tui "),
        (80, 24, "--live none "),
        (80, 24, "--live line "),
        (80, 24, "-q "),
    ] {
        let terminal = Terminal::open(columns, rows);
        let process = terminal.start(&format!("http {flags}-n 20 {}", serve.url));
        assert_eq!(process.finish(PATIENCE).code, Some(0));
        wait_until("the report", || terminal.text().contains("target ok"));
        assert!(!terminal.text().contains(ENTER), "{columns}x{rows} {flags}");
    }
}

/// A screen that is asked for is shown in a small window, too, and one that stays is left by a key
/// after the run has been stored.
#[test]
fn a_screen_stays_until_a_key() {
    let serve = Serve::new("");
    let folder = Folder::new();
    let run = folder.at("run");
    let terminal = Terminal::open(60, 12);
    let line = format!(
        "http --live screen --stay -r 100 -z 1s -o {run} {}",
        serve.url
    );
    let process = terminal.start(&line);
    terminal.await_text(ENTER);
    terminal.await_shown("the run is over");
    let summary = std::path::Path::new(&run).join("summary.json");
    // The run is stored without a key; the screen may know of its end a little earlier.
    wait_until("the stored run", || summary.exists());
    terminal.press("q");
    assert_eq!(process.finish(PATIENCE).code, Some(0));
    terminal.await_text("Verdict");
    assert!(terminal.behind().contains("100 sent"));
    assert!(terminal.is_cooked());
}

#[test]
fn an_unknown_form_is_refused_before_the_run() {
    let run = Process::start(&mut drumfire(["http", "--live", "tv", "localhost:1"]));
    let run = run.finish(PATIENCE);
    assert_eq!(run.code, Some(2));
    let message = "--live: unknown form `tv`; use screen, line or none";
    assert!(run.stderr.contains(message), "{}", run.stderr);
}
